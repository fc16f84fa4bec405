//! The beginning of a dump, and why one cannot be read.

use std::io::{self, Read};

/// Why a dump gives no class histogram.
#[derive(Debug, thiserror::Error)]
pub enum HprofError {
    /// The source cannot be read.
    #[error("{name}: cannot be read at byte {offset}: {source}")]
    Read {
        /// The dump.
        name: String,
        /// Bytes read before.
        offset: u64,
        /// The system's answer, or the decompressor's.
        source: io::Error,
    },
    /// It does not begin as a dump does.
    #[error("{name} is not an HPROF heap dump: {what}")]
    NotHprof {
        /// The file.
        name: String,
        /// What it begins with instead.
        what: String,
    },
    /// A dump in which no object could be read.
    #[error("{name}: no object could be read up to byte {offset}: {what}")]
    NoObjects {
        /// The dump.
        name: String,
        /// Where reading ended, in bytes from the (unpacked) dump's start.
        offset: u64,
        /// The first of what is wrong with it.
        what: String,
    },
}

/// How a dump begins.
pub(super) struct Header {
    pub(super) version: Version,
    /// Bytes of an identifier: 4 or 8.
    pub(super) id_bytes: usize,
    /// Bytes of the header itself.
    pub(super) bytes: u64,
}

/// Dialects that are read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 1.0: types are signature letters, arrays of numbers are arrays of "class" 4 to 11.
    First,
    /// 1.0.1 and 1.0.2.
    Hotspot,
    /// 1.0.3.
    Android,
}

impl Header {
    /// Longest known: "JAVA PROFILE 1.0.2" and a NUL.
    pub(super) const TEXT_BYTES_MAX: u64 = 32;

    pub(super) fn read(source: &mut dyn Read) -> Result<Header, Result<io::Error, String>> {
        let mut text = Vec::new();
        let mut byte = [0];
        loop {
            match source.read(&mut byte) {
                Ok(0) if text.is_empty() => return Err(Err("it is empty".to_owned())),
                Ok(0) => return Err(Err("it ends within the header".to_owned())),
                Ok(_) if byte[0] == 0 => break,
                Ok(_) => text.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Ok(error)),
            }
            if text.len() as u64 > Self::TEXT_BYTES_MAX
                || !b"JAVA PROFILE ".starts_with(&text[..text.len().min(13)])
            {
                return Err(Err(format!("it begins with {:?}", String::from_utf8_lossy(&text))));
            }
        }
        let version = match text.as_slice() {
            b"JAVA PROFILE 1.0" => Version::First,
            b"JAVA PROFILE 1.0.1" | b"JAVA PROFILE 1.0.2" => Version::Hotspot,
            b"JAVA PROFILE 1.0.3" => Version::Android,
            _ => return Err(Err(format!("its version is unknown: {:?}", String::from_utf8_lossy(&text)))),
        };
        let mut rest = [0; 12];
        source.read_exact(&mut rest).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Err("it ends within the header".to_owned()),
            _ => Ok(error),
        })?;
        let id_bytes = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]);
        if id_bytes != 4 && id_bytes != 8 {
            return Err(Err(format!("its identifiers have {id_bytes} bytes, not 4 or 8")));
        }
        Ok(Header { version, id_bytes: id_bytes as usize, bytes: text.len() as u64 + 13 })
    }
}
