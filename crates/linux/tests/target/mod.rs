//! Programs to look at. A test binary starts itself again as one of them: `as_child` is a test that does nothing
//! unless it was started so.
#![expect(unsafe_code, reason = "the program maps memory in ways that no safe library offers")]

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

pub mod worker;

const KIND: &str = "ASSAY_LINUX_TARGET";
pub const MIB: usize = 1 << 20;
/// Bytes of the region of which every other page is touched.
pub const ALTERNATING_BYTES: usize = 16 * MIB;
pub const UNTOUCHED_BYTES: usize = 64 * MIB;

/// A child that is one of the programs, with the addresses that it told. It ends with the test.
pub struct Target {
    pub child: Child,
    pub told: BTreeMap<String, u64>,
}

impl Target {
    /// Starts a program and waits until it says that it is ready.
    pub fn start(kind: &str) -> Target {
        Target::start_with(kind, "")
    }

    /// The same with an argument.
    pub fn start_with(kind: &str, argument: &str) -> Target {
        Target::start_test("target::as_child", kind, argument)
    }

    /// The same for a program that is another test, which asks [`asked_for`] what it is to do.
    pub fn start_test(test: &str, kind: &str, argument: &str) -> Target {
        let child = Target::command(test, kind, argument).spawn().expect("a test binary can be started");
        Target::wait_until_ready(child, kind)
    }

    /// The same as another user, for root; `None` where that user cannot start this test binary.
    pub fn start_as(uid: u32, test: &str, kind: &str, argument: &str) -> Option<Target> {
        let child = Target::command(test, kind, argument).uid(uid).gid(uid).spawn().ok()?;
        Some(Target::wait_until_ready(child, kind))
    }

    fn command(test: &str, kind: &str, argument: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
        command.env(KIND, format!("{kind} {argument}"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    fn wait_until_ready(mut child: Child, kind: &str) -> Target {
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut told = BTreeMap::new();
        for line in output.lines().map_while(Result::ok) {
            if let Some((key, value)) = line.strip_prefix("target ").and_then(|l| l.split_once('=')) {
                told.insert(key.to_owned(), value.parse().expect("a number"));
            } else if line == "target ready" {
                return Target { child, told };
            }
        }
        panic!("the program {kind} ended before it was ready: {:?}", child.wait());
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops it with SIGSTOP and waits until it has.
    pub fn stop(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).expect("our child");
        self.wait_for_state('T');
    }

    /// Waits until every thread has this state.
    pub fn wait_for_state(&self, state: char) {
        let folder = format!("/proc/{}/task", self.pid());
        let is_there = |stat: &str| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(state));
        while !std::fs::read_dir(&folder).expect("our child").flatten().all(|thread| {
            std::fs::read_to_string(thread.path().join("stat")).is_ok_and(|stat| is_there(&stat))
        }) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program and its argument that this process was started as.
pub fn asked_for() -> Option<(String, String)> {
    let asked = std::env::var(KIND).ok()?;
    // The test harness has begun a line.
    println!();
    asked.split_once(' ').map(|(kind, argument)| (kind.to_owned(), argument.to_owned()))
}

#[test]
fn as_child() {
    let Some((kind, argument)) = asked_for() else { return };
    match kind.as_str() {
        "memory" => memory(),
        "threads" => threads(argument.parse().expect("a number")),
        "waiter" => {}
        "file" => file(&argument),
        "grouped" => {
            // What it touches from now on is charged to this group.
            std::fs::write(argument, std::process::id().to_string()).expect("a group");
            memory();
        }
        "worker" => worker::start(argument.parse().expect("a number")),
        _ => panic!("no program {kind}"),
    }
    ready_until_the_test_ends();
}

pub fn ready_until_the_test_ends() {
    println!("target ready");
    std::io::stdout().flush().expect("a pipe");
    // Until the test has ended.
    while std::io::stdin().read(&mut [0]).is_err() {}
    std::process::exit(0);
}

pub fn tell(key: &str, address: usize) {
    println!("target {key}={address}");
}

fn anonymous(bytes: usize) -> usize {
    // SAFETY: new memory at an address that the kernel chooses.
    let at = unsafe {
        mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
    };
    at.expect("memory") as usize
}

fn fill(at: usize, bytes: usize, value: u8) {
    // SAFETY: memory that this program has mapped for this, and to which nothing else refers.
    unsafe { std::ptr::write_bytes(at as *mut u8, value, bytes) }
}

fn look(at: usize) {
    // SAFETY: readable memory that this program has mapped.
    let _ = unsafe { std::ptr::read_volatile(at as *const u8) };
}

/// Memory of every kind.
fn memory() {
    let page = rustix::param::page_size();
    let alternating = anonymous(ALTERNATING_BYTES);
    for (i, at) in (alternating..alternating + ALTERNATING_BYTES).step_by(2 * page).enumerate() {
        fill(at, page, i as u8);
    }
    tell("alternating", alternating);
    tell("untouched", anonymous(UNTOUCHED_BYTES));
    // Only read: the page of zeros.
    let zeros = anonymous(MIB);
    (zeros..zeros + MIB).step_by(page).for_each(look);
    tell("zeros", zeros);
    // Huge pages, if the machine gives any: one written to, one only read.
    for (name, is_written) in [("huge", true), ("huge_zeros", false)] {
        let at = anonymous(6 * MIB).next_multiple_of(2 * MIB);
        // SAFETY: advice for memory of this program.
        let _ = unsafe { madvise(at as *mut _, 4 * MIB, Advice::LinuxHugepage) };
        if is_written {
            fill(at, 2 * MIB, 7);
        } else {
            look(at);
        }
        tell(name, at);
    }
    // More regions than the kernel notes at a time, then a huge page, if the machine gives one.
    let at = anonymous(10 * MIB).next_multiple_of(2 * MIB);
    // SAFETY: advice for memory of this program.
    let _ = unsafe { madvise((at + 6 * MIB) as *mut _, 2 * MIB, Advice::LinuxHugepage) };
    (at..at + 6 * MIB).step_by(2 * page).for_each(|at| fill(at, page, 5));
    fill(at + 6 * MIB, 2 * MIB, 5);
    tell("regions_then_huge", at);
    // A page of hugetlbfs, if the machine has set any aside.
    let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::HUGETLB);
    // SAFETY: new memory at an address that the kernel chooses.
    if let Ok(at) = unsafe { mmap_anonymous(std::ptr::null_mut(), 2 * MIB, access, flags) } {
        fill(at as usize, 2 * MIB, 3);
        tell("hugetlb", at as usize);
    }
    // Touched, and then without access: a guard page.
    let guard = anonymous(2 * page);
    fill(guard, 2 * page, 9);
    // SAFETY: memory of this program that nothing uses.
    unsafe { mprotect(guard as *mut _, page, MprotectFlags::empty()) }.expect("our own");
    tell("guard", guard);
    files(page);
}

fn files(page: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data");
    std::fs::write(&path, vec![5; 32 * MIB]).expect("a file");
    let data = std::fs::File::open(&path).expect("a file");
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let shared = std::fs::File::from(rustix::fs::memfd_create("shared", flags).expect("a memory file"));
    shared.set_len(MIB as u64).expect("our own");
    // SAFETY: new mappings at addresses that the kernel chooses, of files that nobody cuts off.
    let (file, memfd) = unsafe {
        let map = |bytes, protection, flags, file: &std::fs::File| {
            mmap(std::ptr::null_mut(), bytes, protection, flags, file, 0).expect("a mapping") as usize
        };
        // Without read-ahead around it, a page that is touched makes only its own folio resident.
        let file = map(32 * MIB, ProtFlags::READ, MapFlags::PRIVATE, &data);
        madvise(file as *mut _, 32 * MIB, Advice::Random).expect("advice");
        (file, map(MIB, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &shared))
    };
    look(file + 3 * page);
    fill(memfd, 10 * page, 6);
    tell("file", file);
    tell("memfd", memfd);
}

/// Threads that wait; one more that runs.
fn threads(number: usize) {
    for i in 0..number {
        let name = format!("waits-{i}");
        let thread = std::thread::Builder::new().name(name).stack_size(32 << 10);
        thread.spawn(std::thread::park).expect("a thread");
    }
}

/// Maps a file, whatever it is.
fn file(path: &str) {
    let data = std::fs::File::open(path).expect("a file");
    // SAFETY: a new mapping at an address that the kernel chooses; it is not read.
    let at = unsafe { mmap(std::ptr::null_mut(), 4096, ProtFlags::READ, MapFlags::PRIVATE, &data, 0) };
    tell("file", at.expect("a mapping") as usize);
}
