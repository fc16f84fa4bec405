//! One file, pipe or member of an archive as plain bytes.

use super::archive::{Archive, ZIP};
use super::set::Origin;
use assay_lines::unpacked;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

const BUFFER_BYTES: usize = 64 << 10;

/// Something opened.
pub(super) enum Input {
    /// Bytes as they come, perhaps packed.
    Plain(Box<dyn BufRead>),
    /// A member of an archive.
    Member(PathBuf, usize),
}

impl Input {
    pub fn open(origin: &Origin) -> io::Result<Self> {
        Ok(match origin {
            Origin::File(path) | Origin::Once(path) => Input::Plain(Box::new(buffered(File::open(path)?))),
            Origin::StandardInput => Input::Plain(Box::new(buffered(io::stdin()))),
            Origin::Aside(aside) => Input::Plain(Box::new(buffered(File::open(aside.path())?))),
            Origin::Member(path, index) => Input::Member(path.clone(), *index),
            Origin::MemberAside(aside, index) => Input::Member(aside.path(), *index),
        })
    }

    /// Calls `read` with the bytes, unpacked: what is packed within an archive is unpacked, too.
    pub fn with_reader(&mut self, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        match self {
            Input::Plain(plain) => plain_bytes(plain, read),
            Input::Member(path, index) => {
                let archive = Archive::of(path)?;
                let mut archive = archive.ok_or_else(|| io::Error::other("it is not an archive any more"))?;
                archive.with_member(*index, &mut |member| plain_bytes(&mut buffered(member), read))
            }
        }
    }
}

/// A reader with a buffer.
pub(super) fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER_BYTES, reader)
}

/// Calls `read` with the bytes of something opened, unpacked.
pub(super) fn plain_bytes(
    plain: &mut dyn BufRead,
    read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    if ZIP.iter().any(|magic| plain.fill_buf().is_ok_and(|first| first.starts_with(magic))) {
        return Err(io::Error::other("a zip archive is read only as a file of its own"));
    }
    unpacked(plain, read)
}

/// Why reading broke off.
pub(super) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the packed file breaks off; what stands before was read".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            format!("cannot be unpacked further: {error}; what stands before was read")
        }
        _ => format!("cannot be read: {error}"),
    }
}
