//! `testdata/linux/hostile.c`, compiled and run; and limits on what a reader may take.

use assay_testkit::c_program;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The program at work; it ends with the test.
pub struct Program {
    child: Child,
    /// The number that it told when it was ready.
    pub told: u64,
}

impl Program {
    /// Starts it, and waits until it is ready; `None` where there is no C compiler.
    pub fn start(kind: &str, argument: &str) -> Option<Program> {
        let mut command = Command::new(c_program("linux/hostile.c", &[])?);
        command.arg(kind).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a program that was just compiled");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("text");
        let told = line.trim().strip_prefix("ready ").and_then(|number| number.parse().ok());
        Some(Program { child, told: told.expect("it says that it is ready") })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.pid());
        while !std::fs::read_to_string(&stat).expect("our child").contains(") T ") {
            std::thread::yield_now();
        }
    }

    pub fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("our child takes signals");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs something, and ends the whole test binary when it does not come back: a thread that hangs cannot be ended.
pub fn within<T>(seconds: u64, work: impl FnOnce() -> T) -> T {
    let (done, wait) = channel::<()>();
    let watchdog = std::thread::spawn(move || {
        if wait.recv_timeout(Duration::from_secs(seconds)) == Err(RecvTimeoutError::Timeout) {
            println!("no answer within {seconds} s: the reader hangs");
            std::process::abort();
        }
    });
    let result = work();
    drop(done);
    watchdog.join().expect("a watchdog that only waits");
    result
}

/// The largest resident size of this test binary so far (`VmHWM`).
pub fn own_peak_bytes() -> u64 {
    let proc = assay_linux::ProcRoot::default();
    let status = proc.read_memory_status(std::process::id()).expect("this process");
    status.rss_bytes_max.expect("with memory")
}
