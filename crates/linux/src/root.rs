//! The folders in which the kernel's files lie: `/proc` and `/sys`, or a fixture.

use crate::LinuxError;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest text file that is read whole. `/proc/stat` with 4,096 processors and `mountinfo` with 50,000 mounts stay
/// below; `smaps`, which can be larger, is streamed.
const TEXT_BYTES_MAX: u64 = 16 << 20;

/// A folder that looks like `/proc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcRoot {
    root: PathBuf,
}

impl Default for ProcRoot {
    /// The machine's own `/proc`.
    fn default() -> Self {
        ProcRoot::at("/proc")
    }
}

impl ProcRoot {
    /// A folder that looks like `/proc`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        ProcRoot { root: root.into() }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.root
    }

    pub(crate) fn file_of(&self, pid: u32, name: &str) -> PathBuf {
        self.root.join(pid.to_string()).join(name)
    }

    pub(crate) fn read_text(&self, name: &str) -> Result<(PathBuf, String), LinuxError> {
        let path = self.root.join(name);
        let text = read_text(&path)?;
        Ok((path, text))
    }

    pub(crate) fn read_text_of(&self, pid: u32, name: &str) -> Result<(PathBuf, String), LinuxError> {
        let path = self.file_of(pid, name);
        let text = read_text(&path)?;
        Ok((path, text))
    }
}

/// A folder that looks like `/sys`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SysRoot {
    root: PathBuf,
}

impl Default for SysRoot {
    /// The machine's own `/sys`.
    fn default() -> Self {
        SysRoot::at("/sys")
    }
}

impl SysRoot {
    /// A folder that looks like `/sys`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        SysRoot { root: root.into() }
    }

    /// Where an absolute path lies: below this root if it is below `/sys`, else where it says.
    pub fn place(&self, absolute: &Path) -> PathBuf {
        absolute.strip_prefix("/sys").map_or_else(|_| absolute.to_owned(), |below| self.root.join(below))
    }

    /// The text of a file below the root; `None` where the kernel does not have it.
    pub(crate) fn read_optional(&self, name: &str) -> Result<Option<String>, LinuxError> {
        optional(read_text(&self.root.join(name)))
    }
}

/// Turns "no such file" into `None`.
pub(crate) fn optional<T>(read: Result<T, LinuxError>) -> Result<Option<T>, LinuxError> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(e) if e.is_absent() => Ok(None),
        Err(e) => Err(e),
    }
}

/// Reads a whole file of bounded size. Bytes that are not UTF-8 (a command name may hold any) are replaced.
pub(crate) fn read_text(path: &Path) -> Result<String, LinuxError> {
    let file = File::open(path).map_err(|e| LinuxError::read(path, e))?;
    let mut bytes = Vec::new();
    file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|e| LinuxError::read(path, e))?;
    if TEXT_BYTES_MAX < bytes.len() as u64 {
        return Err(LinuxError::TooLarge { path: path.to_owned(), bytes_max: TEXT_BYTES_MAX });
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
}
