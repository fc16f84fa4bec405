//! Files that appear whole or not at all: written beside their place under another name, then renamed; and texts that people
//! wrote.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is not yet in its place. Dropped, it leaves nothing.
#[derive(Debug)]
pub struct NewFile {
    temporary: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file, readable by its owner alone.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn begin(path: &Path) -> io::Result<NewFile> {
        // Mode 0600.
        Ok(NewFile { temporary: NamedTempFile::new_in(folder_of(path))?, path: path.to_owned() })
    }

    /// To be written and locked.
    pub fn file(&mut self) -> &mut File {
        self.temporary.as_file_mut()
    }

    /// Puts it in its place, over what was there.
    ///
    /// # Errors
    /// The kernel's error; nothing has changed then.
    pub fn finish(self) -> io::Result<File> {
        // On the disk before its name is: after a power cut there is the old file or the new one.
        self.temporary.as_file().sync_all()?;
        self.temporary.persist(&self.path).map_err(|e| e.error)
    }
}

/// Writes a file, readable by its owner alone, that appears whole or not at all.
///
/// # Errors
/// The error of the kernel or of `write`; nothing has changed then.
pub fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut new = NewFile::begin(path)?;
    let mut out = BufWriter::new(new.file());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    new.finish().map(|_| ())
}

/// Why a text cannot be read.
#[derive(Debug)]
pub enum TextError {
    /// The kernel's answer, or that it is too large.
    File(io::Error),
    /// It is not text from this line on.
    Line(usize, &'static str),
}

/// Reads a text that a person wrote, of bounded size.
///
/// # Errors
/// Why it cannot be read, or which line is not UTF-8.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String, TextError> {
    if bytes_max < std::fs::metadata(path).map_err(TextError::File)?.len() {
        let what = format!("it is larger than {bytes_max} bytes; is it the right file?");
        return Err(TextError::File(io::Error::other(what)));
    }
    String::from_utf8(std::fs::read(path).map_err(TextError::File)?).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        TextError::Line(line, "this line is not UTF-8: save the file in that encoding")
    })
}

/// The folder that a file is in; `.` where its path names none.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_failed_write_leaves_the_file_that_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("page.html");
        assert!(write_whole(&path, |out| out.write_all(b"hello")).is_ok());
        assert!(write_whole(&path, |_| Err(io::Error::other("the disk is full"))).is_err());
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "hello");
        assert_eq!(path.metadata().expect("it is there").permissions().mode() & 0o777, 0o600);
        assert_eq!(folder.path().read_dir().expect("readable").count(), 1, "nothing half-written beside it");
    }
}
