//! The threads of a process: number, name, stack pointer.
//!
//! Folklore: `comm` and `syscall` take 10 µs of CPU time for a thread, 0.1 s for 10,000 (benchmark `reading`); `status`
//! takes as much again, and is read only where the process lies in another PID namespace, to learn the numbers that it
//! knows itself.

use crate::root::optional;
use crate::{LinuxError, ProcRoot, ThreadFacts};
use assay_model::Problem;
use rustix::fs::{Mode, OFlags, openat};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;

/// Threads that are looked at; `threads-max` of a machine of 100 GiB is 800,000, but nobody reads them one by one.
const THREADS_MAX: usize = 100_000;
/// `status` of a thread is about 1.5 KiB, with `NSpid` in its first half; the other files are a line.
const BYTES_MAX: usize = 4096;

/// Reads the threads of a process. One that ends meanwhile is left out.
pub(crate) fn read_threads(
    proc: &ProcRoot,
    pid: u32,
) -> Result<(Vec<ThreadFacts>, Vec<Problem>), LinuxError> {
    let Tasks { folder, path, tids, mut problems } = list_tasks(proc, pid)?;
    let failed = |e| LinuxError::read_of(proc, pid, &path, e);
    let is_nested =
        optional(proc.read_text_of(pid, "status"))?.is_some_and(|(_, text)| 1 < pids_of(&text).len());
    let mut denied = None;
    let mut threads = Vec::with_capacity(tids.len());
    for tid in tids {
        match read_thread(folder.as_fd(), tid, is_nested, &mut denied) {
            Ok(thread) => threads.push(thread),
            Err(e) if has_gone(&e) => {}
            Err(e) => return Err(failed(e)),
        }
    }
    if let Some(e) = denied {
        problems.push(Problem::new(
            path.display().to_string(),
            format!("no stack pointers: cannot read syscall: {e}"),
        ));
    }
    Ok((threads, problems))
}

/// The number of the calling thread.
pub fn own_thread_number() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

impl ProcRoot {
    /// The numbers of all threads of a process, in their order.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn read_thread_ids(&self, pid: u32) -> Result<Vec<u32>, LinuxError> {
        Ok(list_tasks(self, pid)?.tids)
    }

    /// The system call that a thread waits in; `Some(None)` when it runs or waits in none. `None` when it is unknown.
    pub fn read_thread_call(&self, pid: u32, tid: u32) -> Option<Option<i64>> {
        let folder = File::open(self.file_of(pid, "task")).ok()?;
        let text = read_file(folder.as_fd(), &format!("{tid}/syscall")).ok()?;
        let word = text.split_whitespace().next()?;
        if word == "running" {
            return Some(None);
        }
        let number: i64 = word.parse().ok()?;
        Some((number != -1).then_some(number))
    }

    /// The stack pointer of a thread; `None` while it runs, and where the kernel does not report it.
    ///
    /// # Errors
    /// When the thread has ended, or must not be looked at.
    pub fn read_thread_stack_pointer(&self, pid: u32, tid: u32) -> Result<Option<u64>, LinuxError> {
        let (_, text) = self.read_text_of(pid, &format!("task/{tid}/syscall"))?;
        Ok(stack_pointer_of(&text))
    }

    /// The kernel's name of a thread; `None` when it has ended.
    ///
    /// # Errors
    /// When the name cannot be read.
    pub fn read_thread_name(&self, pid: u32, tid: u32) -> Result<Option<String>, LinuxError> {
        let text = optional(self.read_text_of(pid, &format!("task/{tid}/comm")))?;
        Ok(text.map(|(_, name)| name.trim_end().to_owned()))
    }

    /// The kernel's names of all threads of a process.
    ///
    /// # Errors
    /// When the process is gone. A thread that ends meanwhile is left out.
    pub fn read_thread_names(&self, pid: u32) -> Result<Vec<String>, LinuxError> {
        let Tasks { folder, tids, .. } = list_tasks(self, pid)?;
        let name = |tid| read_file(folder.as_fd(), &format!("{tid}/comm")).ok();
        Ok(tids.into_iter().filter_map(name).map(|name| name.trim_end().to_owned()).collect())
    }
}

/// The threads of a process, and the folder with their files.
pub(crate) struct Tasks {
    pub(crate) folder: File,
    pub(crate) path: PathBuf,
    /// In the order of their numbers.
    pub(crate) tids: Vec<u32>,
    pub(crate) problems: Vec<Problem>,
}

pub(crate) fn list_tasks(proc: &ProcRoot, pid: u32) -> Result<Tasks, LinuxError> {
    let path = proc.file_of(pid, "task");
    let failed = |e| LinuxError::read_of(proc, pid, &path, e);
    let folder = File::open(&path).map_err(failed)?;
    let names = path.read_dir().map_err(failed)?.flatten().map(|entry| entry.file_name());
    let mut tids: Vec<u32> =
        names.filter_map(|name| name.to_str()?.parse().ok()).take(THREADS_MAX + 1).collect();
    tids.sort_unstable();
    let mut problems = Vec::new();
    if THREADS_MAX < tids.len() {
        tids.truncate(THREADS_MAX);
        let told = format!("more than {THREADS_MAX} threads: the rest is left out");
        problems.push(Problem::new(path.display().to_string(), told));
    }
    Ok(Tasks { folder, path, tids, problems })
}

fn read_thread(
    folder: BorrowedFd<'_>,
    tid: u32,
    is_nested: bool,
    denied: &mut Option<io::Error>,
) -> io::Result<ThreadFacts> {
    let name = read_file(folder, &format!("{tid}/comm"))?;
    let tid_inside = if is_nested {
        let status = read_file(folder, &format!("{tid}/status"))?;
        pids_of(&status).last().copied().unwrap_or(tid)
    } else {
        tid
    };
    // Without the right to it there will be none for the next thread either.
    let stack_pointer = if denied.is_some() {
        None
    } else {
        match read_file(folder, &format!("{tid}/syscall")) {
            Ok(text) => stack_pointer_of(&text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) if has_gone(&e) => return Err(e),
            Err(e) => {
                *denied = Some(e);
                None
            }
        }
    };
    let name = name.strip_suffix('\n').unwrap_or(&name).to_owned();
    Ok(ThreadFacts { tid, tid_inside, name, stack_pointer })
}

/// Reads a file that the kernel gives in one piece. Asking again for its end, as the standard library does, would double
/// the cost.
pub(crate) fn read_file(folder: BorrowedFd<'_>, name: &str) -> io::Result<String> {
    let file = openat(folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = [0; BYTES_MAX];
    let read = rustix::io::read(&file, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

pub(crate) fn has_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

/// `NSpid: 4711 12 1`: the number in the reader's namespace and in each one down to the process's own.
pub(crate) fn pids_of(status: &str) -> Vec<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    line.into_iter()
        .flat_map(str::split_ascii_whitespace)
        .take(33)
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// `202 0x7f.. 0x80 .. 0x7ffd2b8b6a58 0x7f3c`: number and arguments of the call, stack pointer, program counter. A thread
/// that waits outside of a call gives `-1`, stack pointer, program counter; one that runs gives `running`.
fn stack_pointer_of(syscall: &str) -> Option<u64> {
    let mut from_end = syscall.split_ascii_whitespace().rev();
    let _program_counter = from_end.next()?;
    let digits = from_end.next()?.strip_prefix("0x")?;
    // The kernel gives 0 for a thread that has no user mode.
    u64::from_str_radix(digits, 16).ok().filter(|address| *address != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_of_the_kernel_gives_its_stack_pointer_or_none() {
        let waiting = "202 0x7f5c3c0008c8 0x189 0x0 0x0 0x0 0xffffffff 0x7ffd2b8b6a58 0x7f5c3e1a2f16\n";
        assert_eq!(stack_pointer_of(waiting), Some(0x7ffd_2b8b_6a58));
        assert_eq!(stack_pointer_of("-1 0x7ffd2b8b6a58 0x7f5c3e1a2f16\n"), Some(0x7ffd_2b8b_6a58));
        for none in ["running\n", "", "0 0x0 0x0\n", "\n", "1 zz 0x0\n", "0xffffffffffffffffff 0x0"] {
            assert_eq!(stack_pointer_of(none), None, "{none:?}");
        }
    }

    #[test]
    fn numbers_of_all_namespaces_are_read() {
        assert_eq!(pids_of("Name:\tx\nNSpid:\t4711\t12\t1\nNSpgid:\t4711\n"), [4711, 12, 1]);
        assert!(pids_of("Name:\tNSpid:\n").is_empty());
    }
}
