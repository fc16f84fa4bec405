//! A function of another process, called in one of its own threads: for what a process can only do itself, such as giving freed memory back.
//!
//! The thread waits in `futex(2)` without a time limit, as the main thread of a `java` launcher does. It is stopped for some milliseconds
//! (`PTRACE_SEIZE`), gets a signal frame below its stack's red zone, and goes on in the function. The function returns to the C library's
//! `rt_sigreturn`, and the kernel restores all registers and the signal mask from the frame; then the wait begins anew. So there is nothing to
//! undo from outside, whenever Assay ends: the thread restores itself. All signals are blocked meanwhile, but those of faults.
//!
//! It is refused wherever something is unexpected: another system call, a wait for one of the allocator's own locks, a lock that is held,
//! a traced or stopped process, a shadow stack. The thread's `errno` is the one thing that the function may change.

mod frame;

pub use frame::CallArgument;

use crate::ptrace::{self, RegisterSet, TraceeState};
use crate::{FreezeError, ProcRoot, monotonic_ns};
use frame::Registers;
use std::fs::OpenOptions;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(1);
/// A thread that waits is stopped within microseconds; on a machine that is busy it waits its turn first.
const STOP_LIMIT: Duration = Duration::from_secs(2);
/// For how long a thread that does something else is given to come to its wait.
const WAIT_LIMIT: Duration = Duration::from_secs(5);
/// How often a lock that is held is looked at again: threads hold it for microseconds.
const TRIES_MAX: u32 = 50;
const FUTEX: u64 = 202;
const NOT_WAITING: &str =
    "its main thread does not wait in futex(2) without a time limit, as a launcher of Java does";
/// `syscall`, the instruction.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV: a fault whose signal is blocked ends the process without a word.
const OF_FAULTS: u64 = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10;

/// A function, and what it must not meet.
#[derive(Debug, Clone, Default)]
pub struct FunctionCall<'a> {
    /// Its address in the process.
    pub function: u64,
    /// Its arguments, at most six.
    pub arguments: Vec<CallArgument<'a>>,
    /// Address of the C library's code that calls `rt_sigreturn(2)`.
    pub restore: u64,
    /// Addresses of locks (32 bits, 0: free) that must all be free at the moment of the stop.
    pub locks: Vec<u64>,
    /// The allocator's own memory: a thread that waits for a word in it is inside the allocator.
    pub own: Vec<Range<u64>>,
}

/// A call that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCalled {
    /// The thread.
    pub thread: u32,
    /// For how long the thread was stopped, nanoseconds. The others ran on.
    pub stopped_ns: u64,
    /// Until the thread waited again, nanoseconds; absent if it had not returned when the time was over: it goes on, and restores itself.
    pub took_ns: Option<u64>,
}

/// Why a function was not called. The process is as it was in every case.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The thread could not be stopped.
    #[error(transparent)]
    NotStopped(#[from] FreezeError),
    /// The thread is not where it is safe.
    #[error("no function is called in process {pid}: {why}")]
    Unsafe {
        /// The process.
        pid: u32,
        /// The reason, as a clause.
        why: String,
    },
}

impl ProcRoot {
    /// Calls a function in the main thread of a process, and waits up to `limit` for its return.
    ///
    /// # Errors
    /// When the thread cannot be stopped, or is not where that is safe. Nothing was changed then.
    pub fn call_function(
        &self,
        pid: u32,
        call: &FunctionCall<'_>,
        limit: Duration,
    ) -> Result<FunctionCalled, CallError> {
        let refuse = |why: &str| CallError::Unsafe { pid, why: why.to_owned() };
        if !cfg!(target_arch = "x86_64") {
            return Err(refuse("that is built for x86-64 alone"));
        }
        let status = self.read_text_of(pid, "status").map_err(FreezeError::from)?.1;
        if status.lines().any(|line| line.starts_with("x86_Thread_features:") && line.contains("shstk")) {
            return Err(refuse("its threads have shadow stacks, to which nothing can be added from outside"));
        }
        if self.is_stopped(pid) {
            return Err(refuse(&format!("it is stopped: kill -CONT {pid} continues it")));
        }
        let deadline_ns = monotonic_ns() + WAIT_LIMIT.as_nanos() as u64;
        let mut tries = 0;
        loop {
            std::thread::sleep(PAUSE);
            // A stop ends other waits, such as that of epoll_wait: it is not tried.
            if self.read_thread_call(pid, pid) != Some(Some(FUTEX as i64)) {
                if deadline_ns <= monotonic_ns() {
                    return Err(refuse(NOT_WAITING));
                }
                continue;
            }
            tries += 1;
            // On a thread of its own: the kernel lets its tracee go when it ends, whatever came between.
            let once = std::thread::scope(|scope| scope.spawn(|| self.call_once(pid, call)).join());
            match once.unwrap_or_else(|_| Err(refuse("the thread that stops it ended early")))? {
                Begun::Yes { before, stopped_ns } => {
                    let took_ns = self.returned(pid, before, limit);
                    return Ok(FunctionCalled { thread: pid, stopped_ns, took_ns });
                }
                Begun::NotNow(why) if tries == TRIES_MAX => return Err(refuse(&why)),
                Begun::NotNow(_) => {}
            }
        }
    }

    fn call_once(&self, pid: u32, call: &FunctionCall<'_>) -> Result<Begun, CallError> {
        let began_ns = monotonic_ns();
        let failed = |name| move |source| CallError::from(FreezeError::System { pid, call: name, source });
        ptrace::seize(pid).map_err(|e| FreezeError::of_seize(self, pid, pid, e))?;
        let stopped = Stopped { tid: pid };
        ptrace::interrupt(pid).map_err(failed("PTRACE_INTERRUPT"))?;
        let deadline_ns = began_ns + STOP_LIMIT.as_nanos() as u64;
        loop {
            match ptrace::look(pid) {
                TraceeState::Stopped { signal: 0 } => break,
                TraceeState::Stopped { .. } => {
                    return Ok(Begun::NotNow("its main thread is about to get a signal".to_owned()));
                }
                TraceeState::Running if monotonic_ns() < deadline_ns => std::thread::sleep(PAUSE / 20),
                TraceeState::Running => return Ok(Begun::NotNow("its main thread did not stop".to_owned())),
                TraceeState::Ended | TraceeState::Gone => {
                    return Ok(Begun::NotNow("its main thread has ended".to_owned()));
                }
            }
        }
        let registers = Registers::read(pid).map_err(failed("PTRACE_GETREGSET"))?;
        let path = self.file_of(pid, "mem");
        let memory = OpenOptions::new().read(true).write(true).open(&path);
        let memory = memory.map_err(failed("its memory cannot be written"))?;
        let word = |address: u64| {
            let mut bytes = [0; 4];
            memory.read_exact_at(&mut bytes, address).map(|()| u32::from_le_bytes(bytes))
        };
        let mut instruction = [0; 2];
        let code = memory.read_exact_at(&mut instruction, registers.call_address());
        let why = if !registers.is_64_bit() {
            "it is not a 64-bit process"
        } else if registers.restarted_call() != Some(FUTEX) || code.is_err() || instruction != SYSCALL {
            NOT_WAITING
        } else if call.own.iter().any(|own| own.contains(&registers.first_argument())) {
            "its main thread waits inside the allocator"
        } else if call.locks.iter().any(|lock| !matches!(word(*lock), Ok(0))) {
            "its threads were inside malloc each time"
        } else {
            ""
        };
        if !why.is_empty() {
            return Ok(Begun::NotNow(why.to_owned()));
        }
        let prepared = registers.prepare(call.function, call.restore, &call.arguments);
        let prepared =
            prepared.ok_or_else(|| failed("its stack")(io::Error::other("there is no room for a frame")))?;
        memory
            .write_all_at(&prepared.bytes, prepared.address)
            .map_err(failed("its stack cannot be written"))?;
        ptrace::set_registers(pid, RegisterSet::General, &prepared.general)
            .map_err(failed("PTRACE_SETREGSET"))?;
        // The thread is whole from here on. Without this it would run signal handlers within the function.
        let blocked = registers.blocked_signals() | !OF_FAULTS;
        let masked = ptrace::set_blocked_signals(pid, blocked);
        drop(stopped);
        masked.map_err(failed("PTRACE_SETSIGMASK"))?;
        let stopped_ns = monotonic_ns().saturating_sub(began_ns);
        Ok(Begun::Yes { before: registers.stack_pointer(), stopped_ns })
    }

    /// Waits until the thread has left the frame; gives how long that took.
    fn returned(&self, pid: u32, stack_pointer: u64, limit: Duration) -> Option<u64> {
        let began_ns = monotonic_ns();
        loop {
            let pointer = self.read_thread_stack_pointer(pid, pid);
            let took_ns = monotonic_ns().saturating_sub(began_ns);
            let Ok(pointer) = pointer else { return Some(took_ns) };
            if pointer.is_some_and(|pointer| stack_pointer <= pointer) {
                return Some(took_ns);
            }
            if limit.as_nanos() <= u128::from(took_ns) {
                return None;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

enum Begun {
    /// With the stack pointer of before.
    Yes {
        before: u64,
        stopped_ns: u64,
    },
    NotNow(String),
}

/// A tracee, let go when this is dropped.
struct Stopped {
    tid: u32,
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let signal = match ptrace::look(self.tid) {
            TraceeState::Stopped { signal } => signal,
            _ => 0,
        };
        // One that has not stopped yet cannot be let go: it is when this thread ends.
        let _ = ptrace::detach(self.tid, signal);
    }
}
