//! Decodes header blocks (HPACK, RFC 7541) with nghttp2, which many HTTP/2 programs have relied on and fuzzed for years.
//!
//! Why a C library: of those in Rust that decode HPACK without sockets, `loona-hpack` 0.4.3 builds the table of the Huffman code
//! anew for each string, `httlib-hpack` 0.1.3 was last released in 2021 and allocates for each header, and that of `h2` is private.

use super::fault::Fault;
use libnghttp2_sys as sys;
use std::ptr;

/// Most bytes of names and values in one block, uncompressed: a few bytes can stand for an entry of the table many times over.
const LIST_BYTES_MAX: usize = 1 << 20;

/// The decoder's side of a connection.
pub(super) struct Inflater(ptr::NonNull<sys::nghttp2_hd_inflater>);

// SAFETY: it is a plain structure on the heap that this value alone points to; no thread owns any of it.
#[expect(unsafe_code, reason = "nghttp2 is C")]
unsafe impl Send for Inflater {}

impl Inflater {
    /// With the table of the usual size, 4,096 bytes, that every peer may assume. Absent without memory.
    #[expect(unsafe_code, reason = "nghttp2 is C")]
    pub fn new() -> Option<Inflater> {
        let mut inflater = ptr::null_mut();
        // SAFETY: it writes the pointer, or returns other than 0.
        let made = unsafe { sys::nghttp2_hd_inflate_new(&raw mut inflater) };
        ptr::NonNull::new(inflater).filter(|_| made == 0).map(Inflater)
    }

    /// Gives each header of a whole block. After a fault the table is not that of the server any more.
    #[expect(unsafe_code, reason = "nghttp2 is C")]
    pub fn block(&mut self, mut block: &[u8], mut header: impl FnMut(&[u8], &[u8])) -> Result<(), Fault> {
        let mut list_bytes = 0;
        loop {
            let mut pair = sys::nghttp2_nv {
                name: ptr::null_mut(),
                value: ptr::null_mut(),
                namelen: 0,
                valuelen: 0,
                flags: 0,
            };
            let mut flags = 0;
            // SAFETY: the inflater lives as long as `self`; it reads `block.len()` bytes of the block, and writes the pair and the
            // flags.
            let taken = unsafe {
                let inflater = self.0.as_ptr();
                sys::nghttp2_hd_inflate_hd3(
                    inflater,
                    &raw mut pair,
                    &raw mut flags,
                    block.as_ptr(),
                    block.len(),
                    1,
                )
            };
            let taken = usize::try_from(taken).map_err(|_| Fault::Compression)?;
            block = block.get(taken..).ok_or(Fault::Compression)?;
            if flags as u32 & sys::NGHTTP2_HD_INFLATE_EMIT != 0 {
                list_bytes += pair.namelen + pair.valuelen;
                if LIST_BYTES_MAX < list_bytes {
                    return Err(Fault::HeadTooLong);
                }
                // SAFETY: a pair that was emitted points to so many bytes, in the block or in the inflater, until the next call.
                let [name, value] = unsafe {
                    [(pair.name, pair.namelen), (pair.value, pair.valuelen)].map(|(bytes, count)| match count
                    {
                        0 => &[][..],
                        count => std::slice::from_raw_parts(bytes, count),
                    })
                };
                header(name, value);
            }
            if flags as u32 & sys::NGHTTP2_HD_INFLATE_FINAL != 0 {
                // SAFETY: as above; the block is over.
                unsafe { sys::nghttp2_hd_inflate_end_headers(self.0.as_ptr()) };
                return Ok(());
            }
            if flags == 0 && taken == 0 {
                return Err(Fault::Compression);
            }
        }
    }
}

impl Drop for Inflater {
    #[expect(unsafe_code, reason = "nghttp2 is C")]
    fn drop(&mut self) {
        // SAFETY: it was made by `nghttp2_hd_inflate_new` and nobody else has it.
        unsafe { sys::nghttp2_hd_inflate_del(self.0.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn headers(blocks: &[&[u8]]) -> Result<Vec<String>, Fault> {
        let (mut inflater, mut headers) = (Inflater::new().expect("memory"), Vec::new());
        for block in blocks {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            inflater.block(block, |name, value| headers.push(format!("{}: {}", text(name), text(value))))?;
        }
        Ok(headers)
    }

    /// RFC 7541, appendix C.6.1 and C.6.2, but for the table, which is larger here.
    #[test]
    fn the_examples_of_the_standard_are_read() {
        const FIRST: &[u8] = b"\x48\x82\x64\x02\x58\x85\xae\xc3\x77\x1a\x4b\x61\x96\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\
            \x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff\x6e\x91\x9d\x29\xad\x17\x18\x63\xc7\x8f\x0b\x97\xc8\xe9\xae\x82\xae\x43\xd3";
        const SECOND: &[u8] = b"\x48\x83\x64\x0e\xff\xc1\xc0\xbf";
        let rest = [
            "cache-control: private",
            "date: Mon, 21 Oct 2013 20:13:21 GMT",
            "location: https://www.example.com",
        ];
        let want = [&[":status: 302"][..], &rest, &[":status: 307"]].concat();
        let read = headers(&[FIRST, SECOND]).expect("good blocks");
        assert_eq!(read[..5], want);
        assert_eq!(read.len(), 8);
    }

    #[test]
    fn a_block_that_grows_without_end_is_refused() {
        // An entry of 3,000 bytes, 20,000 times.
        let long = [&[0x40, 1, b'a', 0x7f, 0xb9, 0x16], &[b'x'; 3_000][..], &[0xbe; 20_000]].concat();
        assert_eq!(headers(&[&long]), Err(Fault::HeadTooLong));
        assert_eq!(headers(&[&[0xff, 0xff, 0xff, 0xff, 0x7f]]), Err(Fault::Compression));
        assert_eq!(headers(&[&[0x40]]), Err(Fault::Compression));
    }

    proptest! {
        #[test]
        fn any_bytes_are_headers_or_a_fault(blocks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..100), 1..5)) {
            let blocks: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
            let _ = headers(&blocks);
        }
    }
}
