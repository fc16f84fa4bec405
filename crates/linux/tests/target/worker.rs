//! A program with threads that wait in each way that a stop may disturb, and that count what they do.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is counted, by its place in [`COUNTERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Spins,
    Sleeps,
    Polls,
    Parks,
    /// Real-time signals handled: the kernel queues each one.
    Signals,
    /// Anything that must not happen: a wrong error, a sleep that ended early.
    Wrong,
    /// Short-lived threads that were started and joined.
    Threads,
}

pub const WORKING: [Count; 5] = [Count::Spins, Count::Sleeps, Count::Polls, Count::Parks, Count::Threads];
static COUNTERS: [AtomicU64; 7] = [const { AtomicU64::new(0) }; 7];

fn add(count: Count) {
    COUNTERS[count as usize].fetch_add(1, Ordering::Relaxed);
}

fn must(is_right: bool) {
    if !is_right {
        add(Count::Wrong);
    }
}

extern "C" fn on_signal(_: i32) {
    add(Count::Signals);
}

/// Sends the signal that is counted.
pub fn send_counted_signal(pid: u32) {
    // SAFETY: a call without memory.
    assert_eq!(unsafe { libc::kill(pid as i32, libc::SIGRTMIN()) }, 0);
}

/// Starts one thread of each kind, and idle ones.
pub fn start(idle: usize) {
    let handler: extern "C" fn(i32) = on_signal;
    // SAFETY: the handler adds to an atomic, and nothing else.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGRTMIN(), &raw const action, std::ptr::null_mut()), 0);
    }
    let works: [fn(); 5] = [spin, sleep, poll, park, threads];
    for work in works {
        std::thread::spawn(move || {
            loop {
                work();
            }
        });
    }
    for _ in 0..idle {
        let thread = std::thread::Builder::new().stack_size(32 << 10);
        thread.spawn(std::thread::park).expect("a thread");
    }
    super::tell("counters", COUNTERS.as_ptr() as usize);
}

fn spin() {
    add(Count::Spins);
    std::thread::yield_now();
}

fn sleep() {
    let (began, asked) = (Instant::now(), libc::timespec { tv_sec: 0, tv_nsec: 2_000_000 });
    // SAFETY: reads the time asked for. Not by the standard library, which would hide an interruption.
    let answer = unsafe { libc::nanosleep(&raw const asked, std::ptr::null_mut()) };
    let is_signal = answer == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
    // Only a handled signal ends a sleep early; a stop must not.
    must(
        is_signal && COUNTERS[Count::Signals as usize].load(Ordering::Relaxed) != 0
            || 2_000_000 <= began.elapsed().as_nanos(),
    );
    add(Count::Sleeps);
}

fn poll() {
    // SAFETY: a new descriptor, and a buffer of one event as it says.
    unsafe {
        let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
        let mut event: libc::epoll_event = std::mem::zeroed();
        for _ in 0..100 {
            let found = libc::epoll_wait(epoll, &raw mut event, 1, 2);
            // A stop of any kind may wake it so.
            let is_interrupted = || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR);
            must(found == 0 || found == -1 && is_interrupted());
            add(Count::Polls);
        }
        libc::close(epoll);
    }
}

fn park() {
    std::thread::park_timeout(Duration::from_millis(2));
    add(Count::Parks);
}

fn threads() {
    must(std::thread::spawn(|| 7).join().is_ok_and(|seven| seven == 7));
    add(Count::Threads);
}
