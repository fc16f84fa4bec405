//! What `jcmd` would print, without starting a JVM for it: the same request through the same socket.
//!
//! The protocol is that of HotSpot's `attachListener`: a file and SIGQUIT ask the JVM to listen. A request is the version of the protocol, a
//! command and three arguments, each ended by a zero byte; the first line of the answer is a result code.

use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a busy JVM may take until it listens.
const LISTENS_WITHIN: Duration = Duration::from_secs(30);

/// What a JVM answers to a diagnostic command, such as `["GC.class_histogram", "-all"]`; where it refuses it, the reason.
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
