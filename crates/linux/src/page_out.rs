//! Pages of another process written to swap: `process_madvise(2)` with `MADV_PAGEOUT`, Linux 5.10.
//!
//! The contents are kept: a page comes back, with a fault, when the process touches it. The kernel passes over pages that are
//! locked, of hugetlbfs, or mapped by another process too; without room in swap it leaves a page where it is and reports no error.
//! It asks for `CAP_SYS_NICE` beside the right to read the process.

use crate::ProcRoot;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

/// Ranges that the kernel takes in one call (`UIO_MAXIOV`).
const RANGES_PER_CALL: usize = 1024;
/// Bytes of one call: the kernel cuts a list off at 2 GiB (`MAX_RW_COUNT`), and a signal is noticed between calls.
const BYTES_PER_CALL: u64 = 256 << 20;

/// A process whose pages can be written to swap. A later process with the same number is never mistaken for it.
#[derive(Debug)]
pub struct PageOut {
    handle: OwnedFd,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PagedOut {
    /// Bytes that the kernel looked at; it says of none whether it was written.
    pub advised_bytes: u64,
    /// Bytes that it refused: no longer mapped, or locked.
    pub refused_bytes: u64,
}

impl PageOut {
    /// Holds the process that has this number now.
    ///
    /// # Errors
    /// When there is none, or the kernel has no such handles (before Linux 5.3).
    pub fn open(pid: u32) -> io::Result<PageOut> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let number = number.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
        Ok(PageOut { handle: pidfd_open(number, PidfdFlags::empty())? })
    }

    /// Asks the kernel to write these ranges to swap. They are whole pages; a range that it refuses is counted and passed over.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_NICE` or the right to read the process, `ENOSYS` before Linux 5.10, `ESRCH` when the process has ended.
    pub fn page_out(&self, ranges: &[Range<u64>]) -> io::Result<PagedOut> {
        let mut done = PagedOut::default();
        let mut left = pieces(ranges).peekable();
        let mut batch: Vec<Range<u64>> = Vec::new();
        while left.peek().is_some() {
            let mut bytes = 0;
            batch.clear();
            while let Some(piece) = left.next_if(|piece| {
                batch.len() < RANGES_PER_CALL && bytes + (piece.end - piece.start) <= BYTES_PER_CALL
            }) {
                bytes += piece.end - piece.start;
                batch.push(piece);
            }
            self.batch(&batch, &mut done)?;
        }
        Ok(done)
    }

    /// One batch: anew behind each range that stops the kernel.
    fn batch(&self, batch: &[Range<u64>], done: &mut PagedOut) -> io::Result<()> {
        let mut at = 0;
        while at < batch.len() {
            let rest = &batch[at..];
            let mut advised = match advise(&self.handle, rest) {
                Ok(bytes) => bytes,
                // Of the first range: what is no longer mapped, or locked.
                Err(e) if matches!(e.raw_os_error(), Some(libc::ENOMEM | libc::EINVAL | libc::EFAULT)) => 0,
                Err(e) => return Err(e),
            };
            done.advised_bytes += advised;
            let whole = rest.iter().take_while(|range| {
                let bytes = range.end - range.start;
                let is_done = bytes <= advised;
                advised = if is_done { advised - bytes } else { advised };
                is_done
            });
            at += whole.count();
            if let Some(refused) = batch.get(at) {
                done.refused_bytes += (refused.end - refused.start) - advised;
                at += 1;
            }
        }
        Ok(())
    }
}

/// The ranges in pieces that fit into one call.
fn pieces(ranges: &[Range<u64>]) -> impl Iterator<Item = Range<u64>> + '_ {
    ranges.iter().flat_map(|range| {
        let starts = (range.start..range.end).step_by(BYTES_PER_CALL as usize);
        starts.map(|start| start..range.end.min(start.saturating_add(BYTES_PER_CALL)))
    })
}

fn advise(handle: &OwnedFd, ranges: &[Range<u64>]) -> io::Result<u64> {
    let too_large = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let vector = |range: &Range<u64>| {
        let start = usize::try_from(range.start).map_err(too_large)?;
        let iov_len = usize::try_from(range.end - range.start).map_err(too_large)?;
        Ok(libc::iovec { iov_base: std::ptr::without_provenance_mut(start), iov_len })
    };
    let vectors = ranges.iter().map(vector).collect::<io::Result<Vec<_>>>()?;
    #[expect(unsafe_code, reason = "no library wraps this call")]
    // SAFETY: the kernel reads the list of ranges, which is as long as stated, and no other memory of ours.
    let advised = unsafe {
        libc::syscall(
            libc::SYS_process_madvise,
            handle.as_raw_fd(),
            vectors.as_ptr(),
            vectors.len(),
            libc::MADV_PAGEOUT,
            0,
        )
    };
    u64::try_from(advised).map_err(|_| io::Error::last_os_error())
}

impl ProcRoot {
    /// The user that a process belongs to, if that is another one than the user of this process.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn read_other_owner(&self, pid: u32) -> Result<Option<u32>, crate::LinuxError> {
        let owner = self.read_owner(pid)?;
        let own = rustix::process::geteuid().as_raw();
        Ok(owner.filter(|owner| *owner != own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::Running;
    use std::process::Command;

    #[test]
    fn large_ranges_are_cut_into_pieces_that_add_up() {
        let ranges = [4096..8192, 1 << 30..(1 << 30) + 2 * BYTES_PER_CALL + 4096];
        let cut: Vec<_> = pieces(&ranges).collect();
        assert_eq!(cut.len(), 4);
        assert!(cut.iter().all(|piece| piece.end - piece.start <= BYTES_PER_CALL));
        let sum = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        assert_eq!(sum(&cut), sum(&ranges));
    }

    #[test]
    fn ranges_that_are_not_mapped_are_counted_as_refused_and_the_others_are_advised() {
        let child = Running::start(Command::new("sh").args(["-c", "echo ready; read line"]), "ready");
        let mappings: Vec<_> = ProcRoot::default()
            .open_smaps(child.pid())
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .expect("our child");
        let stack = mappings.iter().find(|mapping| mapping.name == "[stack]").expect("a stack");
        let nowhere = 4096..8192;
        let ranges = [nowhere.clone(), stack.addresses.clone(), nowhere];
        let done = match PageOut::open(child.pid()).expect("our child").page_out(&ranges) {
            Ok(done) => done,
            Err(e) => assay_testkit::skip!("no process_madvise here: {e}"),
        };
        assert_eq!(done, PagedOut { advised_bytes: stack.size_bytes(), refused_bytes: 8192 });
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        assert!(PageOut::open(u32::MAX).is_err());
        assert!(PageOut::open(0).is_err());
    }
}
