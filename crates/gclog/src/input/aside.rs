//! Standard input that is an archive: its members are found before one of them is read, so that it is put aside first.

use super::archive::may_be_archive;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;

/// More is not put aside: it takes room in the folder for temporary files.
const BYTES_MAX: u64 = 16 << 30;

/// A file without a name, which is gone with the last who has it.
#[derive(Debug, Clone)]
pub(crate) struct PutAside(Arc<File>);

impl PutAside {
    /// Puts standard input aside if it is an archive, or may be one; else nothing of it is consumed.
    pub fn standard_input() -> io::Result<Option<PutAside>> {
        let mut stdin = io::stdin().lock();
        if !may_be_archive(stdin.fill_buf()?) {
            return Ok(None);
        }
        let mut file = tempfile::tempfile()?;
        if BYTES_MAX < io::copy(&mut stdin.take(BYTES_MAX + 1), &mut file)? {
            return Err(io::Error::other("an archive of more than 16 GiB is read only as a file of its own"));
        }
        Ok(Some(PutAside(Arc::new(file))))
    }

    /// Where it can be opened while this is there.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.0.as_raw_fd()).into()
    }
}

impl PartialEq for PutAside {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for PutAside {}
