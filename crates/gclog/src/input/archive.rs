//! Archives of logs: zip, and tar, packed or not.

use assay_lines::{is_packed, unpacked};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// A zip archive begins with a member, or is empty and begins with its end.
pub(super) const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// What every tar since 1988 has in the head of a member, and where.
const TAR: (usize, &[u8]) = (257, b"ustar");
/// Of the head of a member of tar.
const TAR_HEAD_BYTES: u64 = 512;

/// The name and the bytes of a member, or why it cannot be read.
type Member<'a> = io::Result<(&'a Path, &'a mut dyn Read)>;

/// Whether an input that begins so is an archive, or, where the first bytes of a packed one do not show it, may be one.
pub(super) fn may_be_archive(first: &[u8]) -> bool {
    if ZIP.iter().any(|magic| first.starts_with(magic)) {
        return true;
    }
    let head = head_of(first);
    is_tar(&head) || is_packed(first) && (head.len() as u64) < TAR_HEAD_BYTES
}

fn is_tar(head: &[u8]) -> bool {
    head.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1))
}

/// The first bytes, unpacked, as far as that goes: a packed file that is damaged is a matter of reading it.
fn head_of(mut packed: impl BufRead) -> Vec<u8> {
    let mut head = Vec::new();
    let _ = unpacked(&mut packed, &mut |reader| reader.take(TAR_HEAD_BYTES).read_to_end(&mut head).map(drop));
    head
}

/// An archive.
pub(super) enum Archive {
    /// Its members are found by its directory.
    Zip(Box<ZipArchive<BufReader<File>>>),
    /// Its members stand one after the other, in a stream that may be packed.
    Tar(PathBuf),
}

impl Archive {
    /// The archive that a regular file is; absent when it is something else.
    pub fn of(path: &Path) -> io::Result<Option<Archive>> {
        let mut file = BufReader::new(File::open(path)?);
        let mut head = Vec::new();
        file.by_ref().take(4).read_to_end(&mut head)?;
        file.seek(SeekFrom::Start(0))?;
        if ZIP.contains(&&head[..]) {
            return ZipArchive::new(file).map(|zip| Some(Archive::Zip(Box::new(zip)))).map_err(|error| {
                io::Error::other(format!(
                    "the zip archive breaks off or is damaged: {error}\n  copy it again; `zip -FF FILE --out mended.zip` may mend it"
                ))
            });
        }
        Ok(is_tar(&head_of(file)).then(|| Archive::Tar(path.to_owned())))
    }

    /// Calls `take` with each of the first members that is a file: its index, its name and its bytes, as far as it can be read; a
    /// member that cannot has a reason instead. Says whether there are more.
    pub fn each_member(
        &mut self,
        members_max: usize,
        take: &mut dyn FnMut(usize, Member<'_>),
    ) -> io::Result<bool> {
        match self {
            Archive::Zip(zip) => {
                for index in 0..zip.len().min(members_max) {
                    match zip.by_index(index).map_err(io::Error::other) {
                        Ok(member) if member.is_dir() => {}
                        Ok(mut member) => match member.name().map(|name| PathBuf::from(name.into_owned())) {
                            Ok(name) => take(index, Ok((&name, &mut member))),
                            Err(error) => take(index, Err(io::Error::other(error))),
                        },
                        Err(error) => take(index, Err(error)),
                    }
                }
                Ok(members_max < zip.len())
            }
            Archive::Tar(path) => {
                let mut has_more = false;
                each_of_tar(path, &mut |index, name, bytes| {
                    has_more = index >= members_max;
                    match name.filter(|_| !has_more) {
                        Some(Ok(name)) => take(index, Ok((&name, bytes))),
                        Some(Err(error)) => take(index, Err(error)),
                        None => {}
                    }
                    Ok(!has_more)
                })?;
                Ok(has_more)
            }
        }
    }

    /// Calls `read` with the bytes of a member.
    pub fn with_member(
        &mut self,
        wanted: usize,
        read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Archive::Zip(zip) => read(&mut zip.by_index(wanted).map_err(io::Error::other)?),
            Archive::Tar(path) => each_of_tar(path, &mut |index, _, bytes| {
                if index == wanted {
                    read(bytes)?;
                }
                Ok(index < wanted)
            }),
        }
    }
}

/// Takes the index of an entry, its name if it is a file, and its bytes; says whether it wants more.
type TakeEntry<'a> = &'a mut dyn FnMut(usize, Option<io::Result<PathBuf>>, &mut dyn Read) -> io::Result<bool>;

/// Hands on the entries of a tar in their order, until no more are wanted.
fn each_of_tar(path: &Path, take: TakeEntry<'_>) -> io::Result<()> {
    let mut file = BufReader::new(File::open(path)?);
    unpacked(&mut file, &mut |reader| {
        let mut archive = tar::Archive::new(reader);
        for (index, entry) in archive.entries()?.enumerate() {
            let mut entry = entry?;
            let is_file = entry.header().entry_type().is_file();
            let name = is_file.then(|| entry.path().map(|name| name.into_owned()));
            if !take(index, name, &mut entry)? {
                return Ok(());
            }
        }
        Ok(())
    })
}
