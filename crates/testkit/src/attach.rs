//! What `jcmd` would print, without the JVM that it is: the same words through the same socket, at a tenth of the CPU time.
//!
//! `docs/reference` of the JDK does not tell the protocol; `attachListener_posix.cpp` of JDK 17 does: a file asks the JVM, by SIGQUIT, to
//! listen; a request is the number of the protocol, a command and three arguments, each with a zero behind it; the answer begins with a
//! line that is `0` where it was understood.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A JVM that is stopped, or as busy as a test may make it, is waited for.
const LISTENS_WITHIN: Duration = Duration::from_secs(30);

/// What a JVM answers to a diagnostic command, such as `["GC.class_histogram", "-all"]`; why, where it refuses it.
///
/// # Panics
/// When it does not listen.
pub fn jcmd(pid: u32, arguments: &[&str]) -> String {
    let mut socket = connect(pid);
    let request = format!("1\0jcmd\0{}\0\0\0", arguments.join(" "));
    socket.write_all(request.as_bytes()).expect("a JVM that reads");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("a JVM that answers");
    let answer = String::from_utf8_lossy(&answer);
    answer.split_once('\n').expect("a line with a code").1.to_owned()
}

fn connect(pid: u32) -> UnixStream {
    let socket = PathBuf::from(format!("/tmp/.java_pid{pid}"));
    let asked = PathBuf::from(format!("/proc/{pid}/cwd/.attach_pid{pid}"));
    let began = Instant::now();
    loop {
        if let Ok(stream) = UnixStream::connect(&socket) {
            let _ = fs::remove_file(&asked);
            return stream;
        }
        assert!(began.elapsed() < LISTENS_WITHIN, "the JVM {pid} does not listen");
        if File::create_new(&asked).is_ok() {
            let pid = Pid::from_raw(pid.try_into().expect("a pid")).expect("not 0");
            kill_process(pid, Signal::QUIT).expect("our child takes signals");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
