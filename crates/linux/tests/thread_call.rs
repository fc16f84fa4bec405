//! A function called in a thread of another process: the thread goes on as if nothing had been, and it is refused where that is not sure.

use assay_linux::{CallArgument, CallError, FunctionCall, FunctionCalled, ProcRoot};
use assay_testkit::{Running, c_program, skip};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(120);
/// glibc's end of a signal handler: `mov $15, %rax; syscall`.
const RESTORE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];

/// The program that checks its own registers, and the addresses that it prints.
struct Waiting {
    running: Running,
    told: BTreeMap<String, u64>,
    restore: u64,
}

impl Waiting {
    /// None where there is no C compiler, or another processor.
    fn start() -> Option<Waiting> {
        let program = c_program("allocators/waiting.c", &[]).filter(|_| cfg!(target_arch = "x86_64"))?;
        let mut running = Running::start(&mut Command::new(program), "waiting");
        let mut told = BTreeMap::new();
        for line in std::iter::from_fn(|| Some(running.line())).take_while(|line| line != "ready") {
            let (name, address) = line.split_once(" 0x").expect("a name and an address");
            told.insert(name.to_owned(), u64::from_str_radix(address, 16).expect("hexadecimal"));
        }
        let restore = restore_of(running.pid());
        Some(Waiting { running, told, restore })
    }

    fn call(
        &self,
        number: u64,
        limit: Duration,
        with: FunctionCall<'_>,
    ) -> Result<FunctionCalled, CallError> {
        let call = FunctionCall {
            function: self.told["scribble"],
            arguments: vec![CallArgument::Word(number), CallArgument::Bytes(b"some words\0")],
            restore: self.restore,
            ..with
        };
        ProcRoot::default().call_function(self.running.pid(), &call, limit)
    }
}

fn restore_of(pid: u32) -> u64 {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("our child");
    let code = maps
        .lines()
        .find(|line| line.contains(" r-xp ") && line.ends_with("/libc.so.6"))
        .expect("a C library");
    let fields: Vec<&str> = code.split_whitespace().collect();
    let number = |text: &str| u64::from_str_radix(text, 16).expect("hexadecimal");
    let (start, end) =
        fields[0].split_once('-').map(|(start, end)| (number(start), number(end))).expect("a range");
    let file = fs::read(fields[5]).expect("the C library");
    let offset = number(fields[2]);
    let bytes = &file[offset as usize..(offset + end - start).min(file.len() as u64) as usize];
    let at =
        bytes.windows(RESTORE.len()).position(|bytes| bytes == RESTORE).expect("an end of signal handlers");
    start + at as u64
}

#[test]
fn every_register_and_the_signal_mask_are_as_before_and_the_thread_waits_on() {
    let Some(mut waiting) = Waiting::start() else { skip!("no C compiler for x86-64") };
    for number in 1..=20 {
        let called = waiting.call(number, LONG, FunctionCall::default()).expect("it waits");
        assert!(called.took_ns.is_some() && 0 < called.stopped_ns, "{called:?}");
        assert_eq!(called.thread, waiting.running.pid());
        // Each answer ends the wait, at which the program checks everything.
        assert_eq!(waiting.running.ask(""), format!("kept {number} {number} some words"));
    }
}

#[test]
fn a_call_that_nobody_waits_for_ends_as_well() {
    let Some(mut waiting) = Waiting::start() else { skip!("no C compiler for x86-64") };
    waiting.call(7, Duration::ZERO, FunctionCall::default()).expect("it waits");
    assert_eq!(waiting.running.ask(""), "kept 1 7 some words");
}

#[test]
fn a_lock_that_is_held_and_a_wait_inside_the_allocator_are_refused_and_nothing_is_called() {
    let Some(mut waiting) = Waiting::start() else { skip!("no C compiler for x86-64") };
    waiting.call(1, LONG, FunctionCall::default()).expect("it waits");
    // Not zero since the first call.
    let (held, word) = (waiting.told["calls"], waiting.told["word"]);
    let refused = |with: FunctionCall<'_>| waiting.call(2, LONG, with).expect_err("unsafe").to_string();
    let of_lock = refused(FunctionCall { locks: vec![held], ..FunctionCall::default() });
    assert!(of_lock.contains("inside malloc"), "{of_lock}");
    let own = std::iter::once(word & !0xfff..word + 8).collect();
    let of_wait = refused(FunctionCall { own, ..FunctionCall::default() });
    assert!(of_wait.contains("waits inside the allocator"), "{of_wait}");
    assert_eq!(waiting.running.ask(""), "kept 1 1 some words");
}

#[test]
fn a_thread_that_does_not_wait_for_a_lock_and_a_stopped_process_are_left_alone() {
    let child = Running::start(Command::new("sh").args(["-c", "echo ready; read line"]), "ready");
    let call = |pid| ProcRoot::default().call_function(pid, &FunctionCall::default(), LONG);
    let Err(CallError::Unsafe { why, .. }) = call(child.pid()) else { panic!("it sleeps") };
    assert!(!cfg!(target_arch = "x86_64") || why.contains("does not wait in futex"), "{why}");
    let Some(waiting) = Waiting::start() else { skip!("no C compiler for x86-64") };
    waiting.running.freeze();
    let stopped = waiting.call(1, LONG, FunctionCall::default()).expect_err("it is stopped").to_string();
    assert!(stopped.contains("kill -CONT"), "{stopped}");
    waiting.running.thaw();
}

#[test]
fn a_process_that_is_not_there_is_an_error() {
    assert!(ProcRoot::default().call_function(u32::MAX - 1, &FunctionCall::default(), LONG).is_err());
}
