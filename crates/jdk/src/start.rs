//! Starting a JVM that exits at once, to hear from itself what it makes of its options.
//!
//! It gets exactly these options and none of the caller's environment: variables such as `JAVA_TOOL_OPTIONS` would add
//! options behind our back. It runs in a process group of its own, which is killed when the time is over, when the user
//! stops, and when [`StartedJvm`] is dropped. Its output is bounded.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use rustix::time::Timespec;
use std::ffi::OsStr;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a JVM's output that are kept; the rest is read and discarded.
const OUTPUT_BYTES_MAX: usize = 512 << 10;
/// How often the user's wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// Where a variable is not an option of the JVM but needed to find its libraries.
const KEPT_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "PATH"];
/// The JVM writes `hs_err` files and cores into the folder it starts in, and its counters into `/tmp`.
const QUIET_OPTIONS: [&str; 1] = ["-XX:-UsePerfData"];

/// How a start ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JvmOutput {
    /// What it wrote to standard output and standard error, at most 512 KiB of it.
    pub text: String,
    /// Its exit code; absent when a signal ended it.
    pub exit_code: Option<i32>,
}

/// Why there is no output.
#[derive(Debug)]
pub enum StartError {
    /// It could not be started, or its output not be read.
    Io(io::Error),
    /// It took longer than it was given, and was killed.
    TimeOver(Duration),
    /// The user stopped.
    Stopped,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Io(error) => write!(f, "cannot be started: {error}"),
            StartError::TimeOver(time) => write!(f, "did not end within {} s and was killed", time.as_secs()),
            StartError::Stopped => f.write_str("stopped by the user"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<io::Error> for StartError {
    fn from(error: io::Error) -> Self {
        StartError::Io(error)
    }
}

/// Starts `java` with these options and waits for its end.
///
/// # Errors
/// When it cannot be started, does not end in time, or `stop` is set meanwhile. An exit code other than 0 is none.
pub fn run_java(
    java: &Path,
    options: &[String],
    time: Duration,
    stop: &AtomicBool,
) -> Result<JvmOutput, StartError> {
    let mut jvm = StartedJvm::start(java, options, time)?;
    while jvm.read_more(stop)? {}
    loop {
        if let Some(status) = jvm.child.try_wait()? {
            let text = String::from_utf8_lossy(&jvm.output).into_owned();
            return Ok(JvmOutput { text, exit_code: status.code() });
        }
        jvm.check(stop)?;
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A JVM that was started. Its output is read only when asked for: a JVM whose pipe is full waits, so that one that is
/// made to write much stands still at a known point of its start, and its mappings can be read.
#[derive(Debug)]
pub struct StartedJvm {
    child: Child,
    group: Option<Pid>,
    pipe: PipeReader,
    output: Vec<u8>,
    deadline: Instant,
    time: Duration,
}

impl StartedJvm {
    /// Starts it; it is killed once `time` is over.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(java: &Path, options: &[String], time: Duration) -> io::Result<StartedJvm> {
        let (pipe, writer) = io::pipe()?;
        let mut command = Command::new(java);
        command.args(options).args(QUIET_OPTIONS).arg("-version").env_clear();
        for name in KEPT_VARIABLES {
            if let Some(value) = std::env::var_os(name).filter(|v: &std::ffi::OsString| v != OsStr::new("")) {
                command.env(name, value);
            }
        }
        command
            .current_dir(std::env::temp_dir())
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        let child = command.spawn()?;
        // The command holds the writing ends of the pipe: without them the end of the output is noticed.
        drop(command);
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            without_core(group);
        }
        Ok(StartedJvm { child, group, pipe, output: Vec::new(), deadline: Instant::now() + time, time })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote and was read.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).into_owned()
    }

    /// Reads until this stands in the output, and no further than one piece; whether it came before the end.
    ///
    /// # Errors
    /// When the time is over, the user stops, or reading fails.
    pub fn read_until(&mut self, marker: &str, stop: &AtomicBool) -> Result<bool, StartError> {
        loop {
            if self.text().contains(marker) {
                return Ok(true);
            }
            if self.output.len() >= OUTPUT_BYTES_MAX || !self.read_more(stop)? {
                return Ok(false);
            }
        }
    }

    /// Reads the next piece; whether there may be more.
    fn read_more(&mut self, stop: &AtomicBool) -> Result<bool, StartError> {
        loop {
            self.check(stop)?;
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
            let mut waiting = [PollFd::new(&self.pipe, PollFlags::IN)];
            match poll(&mut waiting, Some(&timeout)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let mut piece = [0; 4096];
            return match self.pipe.read(&mut piece) {
                Ok(0) => Ok(false),
                Ok(read) => {
                    let room = OUTPUT_BYTES_MAX.saturating_sub(self.output.len());
                    self.output.extend_from_slice(&piece[..read.min(room)]);
                    Ok(true)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error.into()),
            };
        }
    }

    fn check(&self, stop: &AtomicBool) -> Result<(), StartError> {
        if stop.load(Ordering::SeqCst) {
            return Err(StartError::Stopped);
        }
        if self.deadline <= Instant::now() { Err(StartError::TimeOver(self.time)) } else { Ok(()) }
    }
}

/// One that crashes on its options leaves no core. A JVM that has ended already needs no limit.
#[cfg(target_os = "linux")]
fn without_core(pid: Pid) {
    use rustix::process::{Resource, Rlimit, prlimit};
    let _ = prlimit(Some(pid), Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

/// Other systems cannot limit another process. They write core files only where that is switched on.
#[cfg(not(target_os = "linux"))]
fn without_core(_: Pid) {}

impl Drop for StartedJvm {
    fn drop(&mut self) {
        // Not waited for yet, so the number of the group is still its own. A group that has ended already is fine.
        if let (Ok(None), Some(group)) = (self.child.try_wait(), self.group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[path = "start_tests.rs"]
mod tests;
