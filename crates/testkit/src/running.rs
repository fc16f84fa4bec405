//! Programs that tests start, talk to, stop and look at; gone when the test ends, however it ends.

use crate::{java_classes, jcmd};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A child that has said that it is ready.
pub struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    /// What it said before it was ready, and the line that said so.
    pub said: String,
}

impl Running {
    /// Starts a program, and waits for a line with this text on its standard output. Its input stays open until it is
    /// dropped; what it says on standard error is lost.
    ///
    /// # Panics
    /// When it cannot be started or ends before it is ready.
    pub fn start(command: &mut Command, ready: &str) -> Running {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the program starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut running = Running { child, out, said: String::new() };
        loop {
            let line = running.line();
            running.said.push_str(&line);
            running.said.push('\n');
            if line.contains(ready) {
                return running;
            }
        }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that it says.
    ///
    /// # Panics
    /// When it has ended.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.out.read_line(&mut line).expect("text");
        assert!(read != 0, "the program ended; it said: {}", self.said);
        line.trim_end().to_owned()
    }

    /// Says a line to it, and gives the line that it answers.
    ///
    /// # Panics
    /// When it has ended.
    pub fn ask(&mut self, line: &str) -> String {
        let input = self.child.stdin.as_mut().expect("a pipe");
        writeln!(input, "{line}").and_then(|()| input.flush()).expect("a program that listens");
        self.line()
    }

    /// Stops it, and waits until all of its threads stand still: if it can be had, at a moment when none of them is at
    /// work, since a thread that stands still in the middle of `malloc` or of a collection leaves torn what it was
    /// changing. A program that never rests is stopped as it is.
    ///
    /// # Panics
    /// When it has ended.
    pub fn freeze(&self) {
        for _ in 0..100 {
            self.stop();
            if self.threads().all(|task| waits(&task)) {
                return;
            }
            self.thaw();
            std::thread::sleep(Duration::from_millis(10));
        }
        self.stop();
    }

    /// Waits until it rests: a JVM that has started compiles for a while, later on a busy machine. All threads are asleep at each of so many
    /// looks one after the other; one that is kept from a processor is not.
    ///
    /// # Panics
    /// When it has ended, or does not rest within a minute.
    pub fn rest(&self) {
        const LOOKS: u32 = 20;
        let (mut asleep, begun) = (0, Instant::now());
        while asleep < LOOKS {
            assert!(begun.elapsed() < Duration::from_secs(60), "process {} does not rest", self.pid());
            std::thread::sleep(Duration::from_millis(10));
            asleep =
                if self.threads().all(|task| matches!(state(&task), 'S' | 'I')) { asleep + 1 } else { 0 };
        }
    }

    /// Stops it in its tracks.
    fn stop(&self) {
        self.signal(Signal::STOP);
        while !self.threads().all(|task| stands_still(&task)) {
            std::thread::yield_now();
        }
    }

    /// The folders of its threads in `/proc`.
    fn threads(&self) -> impl Iterator<Item = PathBuf> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).expect("its threads");
        tasks.flatten().map(|task| task.path())
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// When it has ended.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("our child takes signals");
    }

    /// What `jcmd` would say of it, a JVM.
    ///
    /// # Panics
    /// When it does not listen.
    pub fn jcmd(&self, arguments: &[&str]) -> String {
        jcmd(self.pid(), arguments)
    }
}

/// Whether a thread is stopped or has ended.
fn stands_still(task: &Path) -> bool {
    matches!(state(task), 'T' | 't' | 'X' | 'Z')
}

/// The kernel's letter for what a thread does; `X` of one that is gone.
fn state(task: &Path) -> char {
    let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
    // It stands behind the name, which is in parentheses and may hold any letter.
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('X')
}

/// Whether a stopped thread was waiting in the kernel for something to happen, and for nothing that an allocator asks.
fn waits(task: &Path) -> bool {
    const OF_ALLOCATORS: [i64; 7] = [
        libc::SYS_brk,
        libc::SYS_madvise,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_sched_yield,
    ];
    // The number of the call, -1 in the program's own code, "running"; nothing where the kernel does not tell.
    let call = fs::read_to_string(task.join("syscall")).unwrap_or_default();
    match call.split_whitespace().next() {
        None => true,
        Some(number) => {
            number.parse().is_ok_and(|number: i64| number != -1 && !OF_ALLOCATORS.contains(&number))
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A killed JVM that was asked for something leaves its socket.
        let _ = fs::remove_file(format!("/tmp/.java_pid{}", self.pid()));
    }
}

/// A JVM with these options that runs `testdata/java/Waiting.java` or another program of one file there, and is ready
/// (has said "waiting").
///
/// # Panics
/// When there is no compiler.
pub fn start_java(java: &Path, options: &[&str], environment: &[(&str, &str)], class: &str) -> Running {
    Running::start(java_command(java, options, class).envs(environment.iter().copied()), "waiting")
}

/// The command that starts such a JVM.
///
/// # Panics
/// When there is no compiler.
pub fn java_command(java: &Path, options: &[&str], class: &str) -> Command {
    let mut command = Command::new(java);
    command.args(options).arg("-cp").arg(java_classes(&format!("java/{class}.java"))).arg(class);
    command
}

/// A JVM that has filled malloc from several threads, and given most of it back: so many direct buffers of
/// `testdata/allocators/Buffers.java`. Nothing of the environment changes how malloc works.
///
/// # Panics
/// When there is no compiler.
pub fn start_buffers(java: &Path, options: &[&str], buffers: u32) -> Running {
    start_buffers_with(java, options, buffers, None)
}

/// The same with another allocator: a library that is preloaded.
///
/// # Panics
/// When there is no compiler.
pub fn start_buffers_with(java: &Path, options: &[&str], buffers: u32, preloaded: Option<&Path>) -> Running {
    let mut command = Command::new(java);
    command.args(options).arg("-XX:MaxDirectMemorySize=1g");
    command.arg("-cp").arg(java_classes("allocators/Buffers.java")).args(["Buffers", &buffers.to_string()]);
    command.env_remove("LD_PRELOAD").env_remove("MALLOC_ARENA_MAX").env_remove("GLIBC_TUNABLES");
    command.envs(preloaded.map(|library| ("LD_PRELOAD", library)));
    Running::start(&mut command, "ready")
}

/// Runs a program that this test has just written or copied, to its end.
///
/// Folklore: a test beside this one forks while the file is being written; its child has the file open for an instant, and Linux does not
/// run such a file (`ETXTBSY`).
///
/// # Panics
/// It does not start for another reason.
pub fn output_of_copy(command: &mut Command) -> Output {
    loop {
        match command.output() {
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            output => return output.expect("the program starts"),
        }
    }
}
