//! Waiting for sockets and for instants: epoll with a timer of nanoseconds beside it.
//!
//! epoll's own timeout counts in milliseconds on kernels before 5.11, and a sleeping thread's timers may be late by
//! their slack of 50 µs. A timerfd has neither fault, needs no spinning (which would take a core from the server on a
//! small machine), and costs one system call for each instant that is waited for.

use crate::LoadError;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::io;

/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 256;
const TIMER: u64 = u64::MAX;
const NEVER_NS: u64 = u64::MAX;

/// A socket to which something happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ready {
    pub token: u64,
    /// The server closed its side.
    pub hung_up: bool,
}

pub(crate) struct Poll {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// When the timer will go off; `NEVER_NS` when it is not set.
    armed_ns: u64,
}

/// What a wait brought. Not part of [`Poll`], which may go to another thread between two loads: the kernel's records, which could hold
/// pointers, may not.
pub(crate) struct Events {
    of_kernel: Vec<epoll::Event>,
    /// Sockets to which something happened.
    pub ready: Vec<Ready>,
}

impl Events {
    pub fn new() -> Events {
        Events { of_kernel: Vec::with_capacity(EVENTS_MAX), ready: Vec::new() }
    }
}

impl Poll {
    pub fn new() -> Result<Self, LoadError> {
        let system = |what| {
            move |cause: rustix::io::Errno| LoadError::System {
                what,
                cause: cause.into(),
                fix: "raise the limit of open files (ulimit -n)",
            }
        };
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(system("create an epoll instance"))?;
        // Blocking: `sleep` waits on it.
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
            .map_err(system("create a timer"))?;
        // Edge-triggered: setting the timer anew is enough, its counter never needs to be read.
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN | EventFlags::ET)
            .map_err(system("watch a timer"))?;
        Ok(Poll { epoll, timer, armed_ns: NEVER_NS })
    }

    /// Watches a socket for all that happens to it, until it is closed.
    pub fn watch(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token), flags)?)
    }

    /// Waits until something happens or the monotonic clock reads `until_ns`; returns at once if that has passed.
    /// It may return early. `events` then lists the sockets.
    pub fn wait(&mut self, now_ns: u64, until_ns: u64, events: &mut Events) -> io::Result<()> {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = if until_ns <= now_ns {
            Some(&at_once)
        } else {
            if until_ns < self.armed_ns || self.armed_ns <= now_ns {
                self.arm(until_ns)?;
            }
            None
        };
        let Events { of_kernel, ready } = events;
        of_kernel.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(of_kernel), timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        };
        ready.clear();
        for event in of_kernel {
            match event.data.u64() {
                TIMER => self.armed_ns = NEVER_NS,
                token => {
                    // Copied first, since the kernel's record is packed.
                    let flags = event.flags;
                    let hang_up = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
                    ready.push(Ready { token, hung_up: flags.intersects(hang_up) });
                }
            }
        }
        Ok(())
    }

    /// Sleeps until the monotonic clock reads `until_ns`, whatever happens to sockets. It may return early.
    pub fn sleep(&mut self, until_ns: u64) -> io::Result<()> {
        if until_ns != self.armed_ns {
            self.arm(until_ns)?;
        }
        let slept = rustix::io::read(&self.timer, &mut [0; 8]);
        self.armed_ns = NEVER_NS;
        match slept {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn arm(&mut self, at_ns: u64) -> io::Result<()> {
        let at = Timespec { tv_sec: (at_ns / 1_000_000_000) as i64, tv_nsec: (at_ns % 1_000_000_000) as _ };
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timer = Itimerspec { it_interval: zero, it_value: at };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &timer)?;
        self.armed_ns = at_ns;
        Ok(())
    }
}
