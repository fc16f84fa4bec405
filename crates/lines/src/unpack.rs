//! Packed input as plain bytes, recognized by its first bytes, not by its name.

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, Read};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const BZIP2: &[u8] = b"BZh";
/// Largest window of zstd: that of `zstd --ultra -22`, which `zstd -d` takes without being asked to.
const ZSTD_WINDOW_BYTES_MAX: u64 = 128 << 20;
/// Most memory for xz, of which the dictionary is nearly all. `xz -9` needs 65 MiB; a few bytes may ask for 4 GiB.
const XZ_KIB_MAX: u32 = 128 << 10;

/// Whether bytes that begin so are packed.
pub fn is_packed(first: &[u8]) -> bool {
    [GZIP, ZSTD, XZ, BZIP2].iter().any(|magic| first.starts_with(magic))
}

/// Calls `read` with the bytes, unpacked where they are gzip, zstd, xz or bzip2, of one part or of several one after the other. It is
/// unpacked as a stream, so that a file which pretends to be small costs time and not memory.
///
/// # Errors
/// Those of reading, and a packed file that breaks off or is damaged; the bytes before have been read.
pub fn unpacked(
    mut plain: &mut dyn BufRead,
    read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let first = plain.fill_buf()?;
    if first.starts_with(GZIP) {
        read(&mut MultiGzDecoder::new(plain))
    } else if first.starts_with(ZSTD) {
        read(&mut ZstdFrames::new(plain))
    } else if first.starts_with(XZ) {
        read(&mut XzStreams(XzReader::new_mem_limit(plain, true, XZ_KIB_MAX)))
    } else if first.starts_with(BZIP2) {
        read(&mut MultiBzDecoder::new(plain))
    } else {
        read(&mut plain)
    }
}

/// Streams of xz, one after the other.
struct XzStreams<'a>(XzReader<&'a mut dyn BufRead>);

impl Read for XzStreams<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::OutOfMemory => {
                let why = format!(
                    "unpacking it takes more than {} MiB of memory; unpack it first: xz -dk FILE",
                    XZ_KIB_MAX >> 10
                );
                io::Error::new(io::ErrorKind::InvalidData, why)
            }
            _ => error,
        })
    }
}

/// Frames of zstd, one after the other.
struct ZstdFrames<'a> {
    from: &'a mut dyn BufRead,
    decoder: FrameDecoder,
    is_within: bool,
}

impl<'a> ZstdFrames<'a> {
    fn new(from: &'a mut dyn BufRead) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_BYTES_MAX);
        ZstdFrames { from, decoder, is_within: false }
    }
}

impl Read for ZstdFrames<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        loop {
            if !self.is_within {
                if self.from.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                self.decoder.reset(&mut self.from).map_err(damaged)?;
                self.is_within = true;
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.from, one).map_err(damaged)?;
            }
            let length = self.decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            self.is_within = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(packed: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        unpacked(&mut &packed[..], &mut |reader| reader.read_to_string(&mut text).map(drop)).map(|()| text)
    }

    /// `printf 'one\ntwo\n'`, packed by `zstd`, `xz`, `bzip2` and `gzip -n`.
    const PACKED: [&[u8]; 4] = [ZSTD_TEXT, XZ_TEXT, BZIP2_TEXT, GZIP_TEXT];

    const ZSTD_TEXT: &[u8] = &[
        0x28, 0xb5, 0x2f, 0xfd, 0x4, 0x58, 0x41, 0x0, 0x0, 0x6f, 0x6e, 0x65, 0xa, 0x74, 0x77, 0x6f, 0xa,
        0xe6, 0xa6, 0xe, 0x40,
    ];
    const XZ_TEXT: &[u8] = &[
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x0, 0x0, 0x4, 0xe6, 0xd6, 0xb4, 0x46, 0x2, 0x0, 0x21, 0x1, 0x16, 0x0,
        0x0, 0x0, 0x74, 0x2f, 0xe5, 0xa3, 0x1, 0x0, 0x7, 0x6f, 0x6e, 0x65, 0xa, 0x74, 0x77, 0x6f, 0xa, 0x0,
        0x51, 0xab, 0x9e, 0xaf, 0x57, 0x75, 0x70, 0x49, 0x0, 0x1, 0x20, 0x8, 0xbb, 0x19, 0xd9, 0xbb, 0x1f,
        0xb6, 0xf3, 0x7d, 0x1, 0x0, 0x0, 0x0, 0x0, 0x4, 0x59, 0x5a,
    ];
    const BZIP2_TEXT: &[u8] = &[
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xa7, 0x14, 0x2b, 0x77, 0x0, 0x0, 0x2,
        0xc1, 0x80, 0x0, 0x10, 0x2, 0x1, 0x84, 0x80, 0x20, 0x0, 0x21, 0x80, 0xc, 0x2, 0x38, 0xf5, 0x1b, 0x8b,
        0xb9, 0x22, 0x9c, 0x28, 0x48, 0x53, 0x8a, 0x15, 0xbb, 0x80,
    ];
    const GZIP_TEXT: &[u8] = &[
        0x1f, 0x8b, 0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3, 0xcb, 0xcf, 0x4b, 0xe5, 0x2a, 0x29, 0xcf, 0xe7,
        0x2, 0x0, 0xe6, 0xb, 0xba, 0x12, 0x8, 0x0, 0x0, 0x0,
    ];

    #[test]
    fn every_packer_is_recognised_by_its_first_bytes() {
        for packed in PACKED {
            assert_eq!(text_of(packed).expect("whole"), "one\ntwo\n");
            assert_eq!(text_of(&[packed, packed].concat()).expect("two parts"), "one\ntwo\none\ntwo\n");
            for cut in 7..packed.len() {
                text_of(&packed[..cut]).expect_err("a part lacks");
            }
        }
        assert_eq!(text_of(b"one\n").expect("plain"), "one\n");
        assert_eq!(text_of(b"").expect("plain"), "");
        assert!(PACKED.into_iter().all(is_packed) && !is_packed(b"one\n") && !is_packed(b""));
    }

    #[test]
    fn an_xz_head_that_asks_for_gigabytes_is_refused_before_they_are_taken() {
        const HEAD: std::ops::Range<usize> = 12..24;
        // Sizes of dictionaries in the format's own code: 2 or 3, times a power of two.
        let asking = |code: u8| {
            let mut packed = XZ_TEXT.to_vec();
            packed[HEAD.start + 4] = code;
            let mut sum = flate2::Crc::new();
            sum.update(&packed[HEAD.start..HEAD.end - 4]);
            packed[HEAD.end - 4..HEAD.end].copy_from_slice(&sum.sum().to_le_bytes());
            text_of(&packed)
        };
        const MIB_8: u8 = 22;
        const MIB_64: u8 = 28;
        const MIB_128: u8 = 30;
        const MIB_1536: u8 = 37;
        const MIB_4096: u8 = 40;
        assert_eq!(XZ_TEXT[HEAD.start + 4], MIB_8);
        assert_eq!(asking(MIB_64).expect("that of xz -9"), "one\ntwo\n");
        for code in [MIB_128, MIB_1536, MIB_4096] {
            let error = asking(code).expect_err("too much");
            assert!(error.to_string().contains("more than 128 MiB of memory"), "{error}");
        }
    }
}
