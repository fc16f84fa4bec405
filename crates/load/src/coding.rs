//! Content codings (RFC 9110 section 8.4.1): bodies that servers compress, decoded for checks and for values that are taken from them. That
//! happens when the end of the answer is stamped, and only where a scenario needs the body.

use crate::protocol::{Answer, BODY_KEPT_BYTES_MAX};
use assay_scenario::{UnaryMethod, message_of};
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, Read};

/// A body that fills what is kept of one from fewer bytes than its part of this is made to fill memory. Pages and JSON shrink to a tenth or
/// a thirtieth; deflate goes to a thousandth, the others beyond.
const GROWTH_MAX: usize = 256;
/// Codings of one answer.
const CODINGS_MAX: usize = 4;
/// Largest window of zstd: RFC 9659.
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 << 20;
/// What the decoder of brotli reads at once.
const BROTLI_BYTES: usize = 1024;

/// Why a body cannot be decoded.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Undecodable {
    #[error("its body is coded by {0:?}, which is none of gzip, deflate, br and zstd")]
    Unknown(String),
    #[error("its body is not {0}, as its Content-Encoding says: {1}")]
    Damaged(&'static str, String),
    #[error(
        "its {coding} body grows from {from} bytes to more than 1 MiB, {GROWTH_MAX} times as many: it is not decoded"
    )]
    Bomb { coding: &'static str, from: usize },
    #[error("its body has more than {CODINGS_MAX} codings")]
    TooMany,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
        }
    }

    /// None for `identity`.
    fn parse(name: &str) -> Result<Option<Coding>, Undecodable> {
        Ok(Some(match name.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            "identity" => return Ok(None),
            _ => return Err(Undecodable::Unknown(name.chars().take(40).collect())),
        }))
    }

    /// Decodes what is kept of a body, as far as that goes where it is cut.
    fn decode(self, body: &[u8], is_cut: bool, out: &mut Vec<u8>) -> Result<(), Undecodable> {
        out.clear();
        let mut rest = body;
        let read = self.read(&mut rest, out);
        let from = body.len() - rest.len();
        match read {
            Err(error) if !is_cut => Err(Undecodable::Damaged(self.name(), error.to_string())),
            _ if out.len() == BODY_KEPT_BYTES_MAX && from.saturating_mul(GROWTH_MAX) <= out.len() => {
                Err(Undecodable::Bomb { coding: self.name(), from })
            }
            _ => Ok(()),
        }
    }

    fn read(self, rest: &mut &[u8], out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Coding::Gzip => append(&mut MultiGzDecoder::new(rest), out),
            // Some servers leave out the frame of zlib that RFC 9110 asks for.
            Coding::Deflate if is_zlib(rest) => append(&mut ZlibDecoder::new(rest), out),
            Coding::Deflate => append(&mut DeflateDecoder::new(rest), out),
            Coding::Brotli => append(&mut brotli_decompressor::Decompressor::new(rest, BROTLI_BYTES), out),
            Coding::Zstd => {
                // One frame after another; each has four bytes of its own at least.
                while !rest.is_empty() {
                    let frame = StreamingDecoder::new_with_max_window_size(&mut *rest, ZSTD_WINDOW_BYTES_MAX);
                    append(&mut frame.map_err(io::Error::other)?, out)?;
                    if out.len() == BODY_KEPT_BYTES_MAX {
                        break;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Appends what is kept of a body.
fn append(reader: &mut dyn Read, out: &mut Vec<u8>) -> io::Result<()> {
    let room = BODY_KEPT_BYTES_MAX - out.len();
    reader.take(room as u64).read_to_end(out).map(drop)
}

/// RFC 1950 section 2.2.
fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [method, flags, ..] if method & 15 == 8 && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31))
}

/// Decodes bodies. Its buffers live on between answers.
#[derive(Default)]
pub(crate) struct Decoder {
    decoded: Vec<u8>,
    spare: Vec<u8>,
}

impl Decoder {
    /// The body of an answer without its codings: at most the first mebibyte.
    ///
    /// # Errors
    /// It is not what its `Content-Encoding` says.
    pub fn body<'a>(&'a mut self, answer: &'a Answer) -> Result<&'a [u8], Undecodable> {
        if answer.coding.is_empty() || answer.body.is_empty() {
            return Ok(&answer.body);
        }
        let named = String::from_utf8_lossy(&answer.coding);
        let mut is_cut = answer.is_cut;
        let mut is_coded = false;
        // The last one was applied last.
        for (number, name) in named.rsplit(',').map(str::trim).filter(|name| !name.is_empty()).enumerate() {
            if CODINGS_MAX <= number {
                return Err(Undecodable::TooMany);
            }
            let Some(coding) = Coding::parse(name)? else { continue };
            std::mem::swap(&mut self.decoded, &mut self.spare);
            let body = if is_coded { &self.spare } else { &answer.body };
            coding.decode(body, is_cut, &mut self.decoded)?;
            is_cut |= self.decoded.len() == BODY_KEPT_BYTES_MAX;
            is_coded = true;
        }
        Ok(if is_coded { &self.decoded } else { &answer.body })
    }
}

impl Decoder {
    /// The message of an answer of gRPC as JSON.
    ///
    /// # Errors
    /// Its body is no message of the method, or longer than what is kept.
    pub fn message<'a>(&'a mut self, answer: &Answer, method: &UnaryMethod) -> Result<&'a [u8], String> {
        let message = unpacked(answer, &mut self.spare)?;
        self.decoded.clear();
        method.read(message, &mut self.decoded)?;
        Ok(&self.decoded)
    }
}

/// The message of an answer of gRPC; one that is compressed, whether or not that was asked for, is unpacked into `out`.
///
/// # Errors
/// Its body is no message, or longer than what is kept.
pub(crate) fn unpacked<'a>(answer: &'a Answer, out: &'a mut Vec<u8>) -> Result<&'a [u8], String> {
    if answer.is_cut {
        return Err("its message has more than 1 MiB and cannot be checked".to_owned());
    }
    let (is_compressed, message) = message_of(&answer.body)?;
    if !is_compressed {
        return Ok(message);
    }
    let named = String::from_utf8_lossy(&answer.grpc.encoding);
    let named = if named.is_empty() { "identity" } else { &*named };
    let coding = Coding::parse(named).map_err(|error| error.to_string())?;
    let coding = coding.ok_or("its message is compressed, and no grpc-encoding says how")?;
    coding.decode(message, false, out).map_err(|error| error.to_string())?;
    if out.len() == BODY_KEPT_BYTES_MAX {
        return Err("its unpacked message has more than 1 MiB and cannot be checked".to_owned());
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    const TEXT: &[u8] = br#"{"id":17,"token":"tok-778","state":"ordered"}"#;
    /// `TEXT` by Google's brotli 1.2.1 and by zstd 1.5.4, as they are called without options.
    const BROTLI: &[u8] =
        b"\x1b,\0h\x9d\x07v3S\xde3\x0cO\x10U3\xb5HK\xcc\xde\xbc!KK\x16\x11\x9c\xd2\xe9kI:\x99e \xa9\xe3\xe20w\x0cB\xa8q<\x01@";
    const ZSTD: &[u8] =
        b"(\xb5/\xfd$-i\x01\0{\"id\":17,\"token\":\"tok-778\",\"state\":\"ordered\"}\xbe'\x8d\x13";
    /// 30 MiB of spaces.
    const BROTLI_BOMB: &[u8] = b"\xcb\xff\xff?\xf8%@\xe2\xb1@ \xf7\xfe\x8f\xff\xff\x7f\xf0K\0\xc4a\x11\x80\xee\xfd\x1f\xff\xff\xff\xe0\x97\0\x88\xc3\x02\0\xdd\xfb\xbf\xfc\xff\xff\xc2/\x01\x10\x87\x05\0\xba\xf7_";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    fn answer(coding: &str, body: &[u8]) -> Answer {
        let mut answer = Answer::default();
        answer.begin(true);
        answer.set_coding(coding.as_bytes());
        answer.keep(body);
        answer
    }

    fn decoded(coding: &str, body: &[u8]) -> Result<Vec<u8>, Undecodable> {
        Decoder::default().body(&answer(coding, body)).map(<[u8]>::to_vec)
    }

    #[test]
    fn each_coding_is_decoded() {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        let mut raw = DeflateEncoder::new(Vec::new(), Compression::default());
        zlib.write_all(TEXT).and_then(|()| raw.write_all(TEXT)).expect("memory");
        let [zlib, raw] = [zlib.finish(), raw.finish()].map(|bytes| bytes.expect("memory"));
        for (coding, body) in [
            ("", TEXT.to_vec()),
            ("identity", TEXT.to_vec()),
            ("gzip", gzip(TEXT)),
            ("X-GZIP", gzip(TEXT)),
            ("gzip", [gzip(&TEXT[..9]), gzip(&TEXT[9..])].concat()),
            ("deflate", zlib),
            ("deflate", raw),
            ("br", BROTLI.to_vec()),
            ("zstd", ZSTD.to_vec()),
            ("br, gzip", gzip(BROTLI)),
            ("zstd, identity ,gzip, ", gzip(ZSTD)),
        ] {
            assert_eq!(decoded(coding, &body).as_deref(), Ok(TEXT), "{coding}");
        }
        let twice = decoded("zstd", &[ZSTD, ZSTD].concat());
        assert_eq!(twice, Ok([TEXT, TEXT].concat()));
        assert_eq!(decoded("gzip", b""), Ok(Vec::new()), "an answer to HEAD, or a 304");
    }

    #[test]
    fn what_is_not_as_it_says_is_named() {
        for (coding, body) in [("gzip", TEXT), ("br", TEXT), ("zstd", TEXT), ("deflate", b"\xff\xff\xff")] {
            assert!(matches!(decoded(coding, body), Err(Undecodable::Damaged(..))), "{coding}");
        }
        for (coding, body) in [("gzip", &gzip(TEXT)[..]), ("br", BROTLI), ("zstd", ZSTD)] {
            let cut = decoded(coding, &body[..body.len() - 5]);
            assert!(matches!(cut, Err(Undecodable::Damaged(..))), "{coding}: {cut:?}");
        }
        assert_eq!(decoded("compress", b"x"), Err(Undecodable::Unknown("compress".to_owned())));
        assert_eq!(decoded(&["identity"; 5].join(","), b"x"), Err(Undecodable::TooMany));
    }

    #[test]
    fn a_body_that_was_cut_is_decoded_as_far_as_it_goes() {
        let text: Vec<u8> =
            (0..200_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let long = [TEXT, &text, &text].concat();
        let mut cut = answer("gzip", &gzip(&long));
        assert!(cut.is_cut);
        assert!(Decoder::default().body(&cut).is_ok_and(|body| body.starts_with(TEXT)));
        cut.is_cut = false;
        assert!(Decoder::default().body(&cut).is_err());
    }

    #[test]
    fn a_bomb_is_an_error_that_says_so_and_a_long_page_is_not() {
        let zeros = gzip(&vec![b' '; 30 << 20]);
        for (coding, bomb) in [("gzip", &zeros[..]), ("br", BROTLI_BOMB)] {
            let error = decoded(coding, bomb).expect_err("a bomb").to_string();
            let begins = error.starts_with(&format!("its {coding} body grows from "));
            assert!(begins && error.ends_with("it is not decoded"), "{error}");
        }
        let page: Vec<u8> = (0..300_000_u32).flat_map(|n| format!("<li>{n}</li>").into_bytes()).collect();
        let decoded = decoded("gzip", &gzip(&page)).expect("no bomb");
        assert!(decoded.len() == BODY_KEPT_BYTES_MAX && page.starts_with(&decoded));
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_an_error(body in proptest::collection::vec(any::<u8>(), 0..300), at in 0..4_usize) {
            let coding = ["gzip", "deflate", "br", "zstd"][at];
            let _ = decoded(coding, &body);
            // Beyond the magic numbers.
            let start: &[u8] = [&b"\x1f\x8b\x08\0"[..], b"\x78\x9c", b"\x1b", b"\x28\xb5\x2f\xfd"][at];
            let _ = decoded(coding, &[start, &body].concat());
        }
    }
}
