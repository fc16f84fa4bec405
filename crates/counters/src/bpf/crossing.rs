//! How long entering and leaving the kernel takes beyond what the programs see, measured on this thread.
//!
//! The programs see a system call from their own end at its entry to their begin at its exit; before and after that the processor is in the
//! kernel, too: saving registers, guards against speculation, the programs themselves. It counts as user mode until the time of that many
//! calls is moved: the median of several rounds. In a loop all that is in the caches, so that it is rather too little. The same holds for page
//! faults.

use super::kinds::{USER, kind_of};
use super::record::Sums;
use super::refused::Refusal;
use assay_linux::thread_cpu_ns;
use assay_model::KernelActivity;
use std::hint::black_box;

const ROUNDS: usize = 15;
const CALLS: u64 = 2000;
/// More than a C library ever keeps for the next one, so that each is mapped anew.
const ROOM_BYTES: usize = 64 << 20;
const PAGES: usize = 256;
const PAGE_BYTES: usize = 4096;
/// The parts of a loop add up to this thread's clock within this share, or the programs are not used.
const OFF_MAX: f64 = 0.1;

/// Beyond what the programs see.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Crossing {
    /// Of each system call.
    pub(crate) call_ns: f64,
    /// Of each page fault of user mode; `None` where that could not be measured.
    pub(crate) fault_ns: Option<f64>,
}

impl Crossing {
    /// Tries the programs on this thread: whether they count its calls, and whether their parts add up to its clock. `read`: its sums.
    pub(crate) fn measure(mut read: impl FnMut() -> Result<Sums, Refusal>) -> Result<Crossing, Refusal> {
        let mut rounds = Vec::new();
        let mut off = Vec::new();
        let others = usize::from(kind_of(KernelActivity::OtherCalls));
        for _ in 0..ROUNDS {
            let (before, began_ns) = (read()?, thread_cpu_ns());
            for _ in 0..CALLS {
                black_box(rustix::process::getppid());
            }
            let took_ns = thread_cpu_ns().saturating_sub(began_ns);
            let made = read()?.since(&before);
            if made.spent(others).count < CALLS {
                let counted = made.spent(others).count;
                return Err(Refusal::Wrong(format!("of {CALLS} system calls they counted {counted}")));
            }
            rounds.push(made.spent(USER).ns as f64 / made.calls() as f64);
            off.push((made.cpu_ns() as f64 - took_ns as f64).abs() / took_ns.max(1) as f64);
        }
        let off = median(off).unwrap_or(1.0);
        if OFF_MAX < off {
            let percent = 100.0 * off;
            return Err(Refusal::Wrong(format!("their parts are {percent:.0} % off the clock of a thread")));
        }
        let mut faults = Vec::new();
        for _ in 0..ROUNDS {
            let mut room = vec![0u8; ROOM_BYTES];
            let before = read()?;
            for page in room.chunks_mut(PAGE_BYTES).take(PAGES) {
                page[0] = 1;
            }
            let made = read()?.since(&before);
            black_box(&room);
            let (calls, met) = (made.calls() as f64, made.faults_user());
            // Huge pages take one fault for all of them.
            if PAGES as u64 / 2 <= met.count && met.ns != 0 {
                let own = made.spent(USER).ns as f64 - calls * median(rounds.clone()).unwrap_or(0.0);
                faults.push(own.max(0.0) / met.count as f64);
            }
        }
        Ok(Crossing { call_ns: median(rounds).unwrap_or(0.0), fault_ns: median(faults) })
    }

    /// What so many calls and faults took beyond what the programs saw, of at most `user_ns` that counts as user mode so far.
    pub(crate) fn of(&self, calls: u64, faults: u64, user_ns: u64) -> u64 {
        let ns = calls as f64 * self.call_ns + faults as f64 * self.fault_ns.unwrap_or(0.0);
        (ns as u64).min(user_ns)
    }
}

fn median(mut of: Vec<f64>) -> Option<f64> {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_moved_than_there_is() {
        let crossing = Crossing { call_ns: 100.0, fault_ns: Some(200.0) };
        assert_eq!(crossing.of(10, 5, 10_000), 2000);
        assert_eq!(crossing.of(10, 5, 1500), 1500);
        assert_eq!(Crossing { fault_ns: None, ..crossing }.of(10, 5, 10_000), 1000);
    }

    #[test]
    fn programs_that_count_too_little_are_not_trusted() {
        let nothing = || Ok(Sums::default());
        assert!(matches!(Crossing::measure(nothing), Err(Refusal::Wrong(_))));
    }
}
