//! Real JVMs for tests: `Waiting` in a JVM with options of the test's choice.

pub mod flipped;

use assay_jdk::Release;
use assay_linux::{LiveProcess, ProcRoot};
use assay_testkit::{Running, each_java, find_java, find_tool, java_classes, jcmd, start_java};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// A JVM with the serial collector that is stopped as long as it is kept, and its memory.
pub fn stopped(java: &Path) -> (Running, LiveProcess) {
    let jvm = start_java(java, &["-Xmx128m", "-XX:+UseSerialGC"], &[], "Waiting");
    jvm.freeze();
    let process = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
    (jvm, process)
}

/// A JVM whose program has made its objects and threads, and waits.
pub struct Jvm {
    child: Child,
    /// The program ends when this is closed.
    _stdin: ChildStdin,
    /// What it printed before it said that it waits.
    pub log: String,
}

impl Jvm {
    /// Starts `Waiting` with these options; `None` when the JVM refuses them (a collector that was not built in).
    pub fn start(java: &Path, options: &[&str]) -> Option<Jvm> {
        Jvm::start_program(java, options, "Waiting", &[])
    }

    /// Starts a program of `testdata/java`, which must print `waiting` and end when its input ends.
    pub fn start_program(java: &Path, options: &[&str], program: &str, arguments: &[&str]) -> Option<Jvm> {
        let mut child = Command::new(java)
            .arg("-Xmx256m")
            .args(options)
            .arg("-cp")
            .arg(java_classes(&format!("java/{program}.java")))
            .arg(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("java starts");
        let stdin = child.stdin.take().expect("a pipe");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (mut log, mut line) = (String::new(), String::new());
        while line.trim() != "waiting" {
            line.clear();
            if out.read_line(&mut line).expect("text") == 0 {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            log.push_str(&line);
        }
        // The pipe stays open, so that the JVM does not fail to write to it.
        std::mem::forget(out);
        Some(Jvm { child, _stdin: stdin, log })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its memory as it is now.
    pub fn process(&self) -> LiveProcess {
        LiveProcess::open(&ProcRoot::default(), self.pid()).expect("our child's memory")
    }

    /// Stops it, and waits until all of its threads stand still.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
        let threads = ProcRoot::at(format!("/proc/{}/task", self.pid()));
        let deadline = Instant::now() + Duration::from_secs(120);
        while Instant::now() < deadline {
            let threads = threads.read_processes().expect("our child's threads");
            if threads.iter().all(|t| t.state == 'T' || t.has_ended()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the JVM did not stop");
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("our child takes signals");
    }

    /// What `jcmd` would answer.
    pub fn jcmd(&self, command: &[&str]) -> String {
        jcmd(self.pid(), command)
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The JVMs of this machine with a word of so many bits whose private offsets are known.
pub fn javas(bits: u8) -> Vec<(u32, PathBuf)> {
    if find_tool("javac").is_none() {
        return Vec::new();
    }
    let pack = |release: &'static Release| if bits == 64 { &release.pack } else { &release.pack_32 };
    let has_pack = |feature: u32| Release::exactly(feature).is_some_and(|release| pack(release).is_some());
    each_java(bits).into_iter().filter(|(feature, _)| has_pack(*feature)).collect()
}

/// Those for tests of one collector. JDK 11 exports less of Shenandoah than any later release: most of it comes from the pack.
pub fn javas_for(collector: &str, bits: u8) -> Vec<(u32, PathBuf)> {
    let mut javas = javas(bits);
    if collector == "Shenandoah" {
        javas.extend(find_java(11, bits).map(|java| (11, java)));
    }
    javas
}
