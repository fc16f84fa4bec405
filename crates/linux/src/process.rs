//! What the kernel counts for one process: `stat`, `status` and `schedstat` below `/proc/PID`.

use crate::fields::{At, lines};
use crate::{LinuxError, ParseError, ProcRoot};
use std::path::Path;

/// `/proc/PID/stat`, as far as it is used; `proc_pid_stat(5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Process identifier.
    pub pid: u32,
    /// Command name, at most 15 bytes; the process chooses it and may put anything in it.
    pub command: String,
    /// State: `R`, `S`, `D`, `T`, `Z`, ...
    pub state: char,
    /// Parent.
    pub parent_pid: i64,
    /// Process group; 0 or below where it lies in another pid namespace.
    pub group_id: i64,
    /// Session.
    pub session_id: i64,
    /// Page faults that needed no read from a disk, all threads.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// User time of all threads, ticks.
    pub user_ticks: u64,
    /// System time of all threads, ticks.
    pub system_ticks: u64,
    /// User and system time of children that have ended and were waited for, and of theirs, ticks.
    pub children_ticks: u64,
    /// Threads.
    pub threads: u64,
    /// Start, ticks since boot.
    pub start_ticks: u64,
    /// Time blocked on block devices, ticks; 0 unless the kernel accounts delays. Absent before Linux 2.6.18.
    pub block_io_ticks: Option<u64>,
}

impl ProcessStat {
    /// Whether it has ended: a zombie that was not waited for, or on its way out.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Parses `/proc/PID/stat`.
///
/// # Errors
/// When the command's parentheses or a field is missing.
pub fn parse_process_stat(path: &Path, text: &str) -> Result<ProcessStat, ParseError> {
    let at = At { path, line: 1 };
    // The command may hold blanks, parentheses and line ends: it goes from the first `(` to the last `)`.
    let (pid, rest) = text.split_once(" (").ok_or_else(|| at.error("command", "no opening parenthesis"))?;
    let (command, rest) =
        rest.rsplit_once(')').ok_or_else(|| at.error("command", "no closing parenthesis"))?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().take(40).collect();
    // Numbers of the manual page, in which the state is field 3.
    let field = |number: usize| fields.get(number - 3).copied();
    Ok(ProcessStat {
        pid: at.number("pid", Some(pid))?,
        command: command.to_owned(),
        state: field(3).and_then(|s| s.chars().next()).ok_or_else(|| at.error("state", "missing"))?,
        parent_pid: at.number("ppid", field(4))?,
        group_id: at.number("pgrp", field(5))?,
        session_id: at.number("session", field(6))?,
        minor_faults: at.number("minflt", field(10))?,
        major_faults: at.number("majflt", field(12))?,
        user_ticks: at.number("utime", field(14))?,
        system_ticks: at.number("stime", field(15))?,
        children_ticks: at
            .number::<u64>("cutime", field(16))?
            .saturating_add(at.number::<u64>("cstime", field(17))?),
        threads: at.number("num_threads", field(20))?,
        start_ticks: at.number("starttime", field(22))?,
        block_io_ticks: field(42).map(|ticks| at.number("delayacct_blkio_ticks", Some(ticks))).transpose()?,
    })
}

/// `/proc/PID/status`, as far as it is used. Sizes are bytes.
///
/// Folklore: the kernel counts resident pages per processor and adds them up in batches, so `rss_bytes` may lag behind
/// by some tens of pages per processor on a busy process. `smaps` and `smaps_rollup` walk the pages and are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessStatus {
    /// `VmRSS`; absent for a process without memory (a kernel thread, a zombie).
    pub rss_bytes: Option<u64>,
    /// `VmHWM`: the largest `VmRSS` so far.
    pub rss_bytes_max: Option<u64>,
    /// `VmSize`: addresses taken.
    pub virtual_bytes: Option<u64>,
    /// `VmPTE`: page tables, which are not in the RSS.
    pub page_table_bytes: Option<u64>,
    /// `VmSwap`.
    pub swap_bytes: Option<u64>,
    /// `Threads`.
    pub threads: Option<u64>,
    /// `voluntary_ctxt_switches`: of a thread, times that it gave its processor up to wait for something.
    pub voluntary_switches: Option<u64>,
    /// `nonvoluntary_ctxt_switches`: times that the kernel took the processor away.
    pub involuntary_switches: Option<u64>,
}

/// Parses `/proc/PID/status`.
///
/// # Errors
/// When a value is not a number.
pub fn parse_process_status(path: &Path, text: &str) -> Result<ProcessStatus, ParseError> {
    let mut status = ProcessStatus::default();
    for (at, line) in lines(path, text) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let bytes = || at.kib_as_bytes(key, value).map(Some);
        match key {
            "VmRSS" => status.rss_bytes = bytes()?,
            "VmHWM" => status.rss_bytes_max = bytes()?,
            "VmSize" => status.virtual_bytes = bytes()?,
            "VmPTE" => status.page_table_bytes = bytes()?,
            "VmSwap" => status.swap_bytes = bytes()?,
            "Threads" => status.threads = Some(at.number(key, Some(value))?),
            "voluntary_ctxt_switches" => status.voluntary_switches = Some(at.number(key, Some(value))?),
            "nonvoluntary_ctxt_switches" => status.involuntary_switches = Some(at.number(key, Some(value))?),
            _ => {}
        }
    }
    Ok(status)
}

/// `/proc/PID/task/TID/schedstat`: what the scheduler counts for one thread. See [`crate::process_cpu`] for a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedstat {
    /// Time on a processor.
    pub run_ns: u64,
    /// Time runnable but waiting for a processor.
    pub wait_ns: u64,
    /// Times that it was put on a processor.
    pub slices: u64,
}

impl Schedstat {
    /// Of a thread that was never on a processor, and of every thread where the kernel does not count.
    pub const NEVER_RAN: Schedstat = Schedstat { run_ns: 0, wait_ns: 0, slices: 0 };
}

/// Parses a `schedstat` file of a thread.
///
/// # Errors
/// When it does not hold three numbers.
pub fn parse_schedstat(path: &Path, text: &str) -> Result<Schedstat, ParseError> {
    let at = At { path, line: 1 };
    let mut fields = text.split_ascii_whitespace();
    Ok(Schedstat {
        run_ns: at.number("run time", fields.next())?,
        wait_ns: at.number("wait time", fields.next())?,
        slices: at.number("slices", fields.next())?,
    })
}

impl ProcRoot {
    /// The path of the program that a process runs, as its mappings name it; ` (deleted)` stands behind one that was.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else.
    pub fn read_program_path(&self, pid: u32) -> Result<std::path::PathBuf, LinuxError> {
        let path = self.file_of(pid, "exe");
        std::fs::read_link(&path).map_err(|e| LinuxError::read_of(self, pid, &path, e))
    }

    /// Reads `/proc/PID/stat`.
    ///
    /// # Errors
    /// When the process is gone, or the text is not in the documented form.
    pub fn read_process_stat(&self, pid: u32) -> Result<ProcessStat, LinuxError> {
        let (path, text) = self.read_text_of(pid, "stat")?;
        Ok(parse_process_stat(&path, &text)?)
    }

    /// Whether a process is stopped, by a signal or a tracer; one that cannot be read is not known to be.
    pub fn is_stopped(&self, pid: u32) -> bool {
        self.read_process_stat(pid).is_ok_and(|stat| matches!(stat.state, 'T' | 't'))
    }

    /// Reads `/proc/PID/status`.
    ///
    /// # Errors
    /// When the process is gone, or the text is not in the documented form.
    pub fn read_process_status(&self, pid: u32) -> Result<ProcessStatus, LinuxError> {
        let (path, text) = self.read_text_of(pid, "status")?;
        Ok(parse_process_status(&path, &text)?)
    }

    /// Reads `schedstat` of one thread of a process; `None` where the kernel does not count it.
    ///
    /// # Errors
    /// When the text is not in the documented form.
    pub fn read_thread_schedstat(&self, pid: u32, thread: u32) -> Result<Option<Schedstat>, LinuxError> {
        let name = format!("task/{thread}/schedstat");
        match crate::root::optional(self.read_text_of(pid, &name))? {
            Some((path, text)) => Ok(Some(parse_schedstat(&path, &text)?)),
            None => Ok(None),
        }
    }
}
