//! One file, pipe or member of an archive as plain bytes.

use super::set::Origin;
use assay_lines::unpacked as without_packing;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use zip::ZipArchive;

/// A zip archive begins with a member, or is empty and begins with its end.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const BUFFER_BYTES: usize = 64 << 10;

/// Something opened.
pub(super) enum Input {
    /// Bytes as they come, perhaps gzip.
    Plain(Box<dyn BufRead>),
    /// A member of an archive.
    Member(Box<ZipArchive<BufReader<File>>>, usize),
}

impl Input {
    pub fn open(origin: &Origin) -> io::Result<Self> {
        Ok(match origin {
            Origin::File(path) | Origin::Once(path) => Input::Plain(Box::new(buffered(File::open(path)?))),
            Origin::StandardInput => Input::Plain(Box::new(buffered(io::stdin()))),
            Origin::Member(path, index) => Input::Member(Box::new(archive(path)?), *index),
        })
    }

    /// Calls `read` with the bytes, unpacked: gzip within a zip archive is unpacked too.
    pub fn with_reader(&mut self, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> io::Result<()> {
        match self {
            Input::Plain(plain) => unpacked(plain, read),
            Input::Member(archive, index) => {
                let member = archive.by_index(*index).map_err(io::Error::other)?;
                unpacked(&mut buffered(member), read)
            }
        }
    }
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(BUFFER_BYTES, reader)
}

fn unpacked(
    plain: &mut dyn BufRead,
    read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let first = plain.fill_buf()?;
    if ZIP.iter().any(|magic| first.starts_with(magic)) {
        return Err(io::Error::other("a zip archive is read only as a file of its own"));
    }
    without_packing(plain, read)
}

/// The archive that a regular file is; absent when it is something else.
pub(super) fn archive_of(path: &Path) -> io::Result<Option<ZipArchive<BufReader<File>>>> {
    let mut file = File::open(path)?;
    let mut magic = [0; 4];
    let is_zip = match file.read_exact(&mut magic) {
        Ok(()) => ZIP.contains(&&magic[..]),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(error),
    };
    if !is_zip {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(0))?;
    ZipArchive::new(buffered(file)).map(Some).map_err(|error| {
        io::Error::other(format!(
            "the zip archive breaks off or is damaged: {error}\n  copy it anew; `zip -FF FILE --out mended.zip` may mend it"
        ))
    })
}

fn archive(path: &Path) -> io::Result<ZipArchive<BufReader<File>>> {
    archive_of(path)?.ok_or_else(|| io::Error::other("it is not a zip archive any more"))
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
