//! Time in the kernel that the programs do not see.
//!
//! The programs see a system call from their own end at its entry to their begin at its exit; before and after that the processor is in the
//! kernel, too: saving registers, guards against speculation, the programs themselves. It counts as user mode until the time of that many
//! calls is moved: the median of several rounds of a loop on this thread. In a loop all that is in the caches, so that it is rather too little.
//! The same holds for page faults.
//!
//! Samples of the same interval say more where they are enough. Folklore: the kernel acknowledges an interrupt before its tracepoint, which in
//! a virtual machine leaves to the hypervisor (6 µs for each were measured), and where it takes the processor away from a thread on the way back to
//! user mode no tracepoint says when it began. A server with 50,000 system calls in a second of CPU time had a fifth of its kernel time there.

use super::kinds::{FAULTS, INTERRUPTS, USER, kind_of};
use super::record::Sums;
use super::refused::Refusal;
use assay_linux::thread_cpu_ns;
use assay_model::{KernelActivity, TimeSamples};
use std::hint::black_box;

const ROUNDS: usize = 15;
const CALLS: u64 = 2000;
/// More than a C library ever keeps for the next one, so that each is mapped anew.
const ROOM_BYTES: usize = 64 << 20;
const PAGES: usize = 256;
const PAGE_BYTES: usize = 4096;
/// The parts of a loop add up to this thread's clock within this share, or the programs are not used.
const OFF_MAX: f64 = 0.1;
/// Samples of an activity that say more than a loop: with 50 of them the 95 % interval is ± 28 %.
const SAMPLES_MIN: u64 = 50;

/// What each event takes beyond what the programs see of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Unseen {
    /// Of each system call.
    pub(crate) call_ns: f64,
    /// Of each page fault of user mode; `None` where that could not be measured.
    pub(crate) fault_ns: Option<f64>,
    /// Of each interrupt; `None` without samples.
    pub(crate) interrupt_ns: Option<f64>,
    /// Of each time that the processor is taken away; `None` without samples.
    pub(crate) preemption_ns: Option<f64>,
    /// The samples that `call_ns` comes from; `None` where it comes from the loop.
    pub(crate) call_samples: Option<u64>,
}

/// What the events of some threads took unseen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UnseenTime {
    /// Entering and leaving: system calls, page faults, interrupts.
    pub(crate) crossing_ns: u64,
    /// Those of which it is the time.
    pub(crate) crossings: u64,
    /// Giving the processor to another thread that did not have to wait for this one.
    pub(crate) preemption_ns: u64,
}

impl Unseen {
    /// Tries the programs on this thread: whether they count its calls, and whether their parts add up to its clock. `read`: its sums.
    pub(crate) fn measure(mut read: impl FnMut() -> Result<Sums, Refusal>) -> Result<Unseen, Refusal> {
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
        let call_ns = median(rounds).unwrap_or(0.0);
        Ok(Unseen { call_ns, fault_ns: median(faults), ..Unseen::default() })
    }

    /// Adds the samples of the same interval; `seen` is what the programs traced in it.
    ///
    /// Where interrupts are off a sample is taken a little later, mostly on the way out of one, and what the programs timed is there once
    /// more: together it is at most the kernel time of all samples. Without that bound it was up to 11 % more.
    pub(crate) fn by_samples(self, samples: &TimeSamples, seen: &Sums) -> Unseen {
        let ns_of = |share: f64| share * seen.cpu_ns() as f64;
        // Samples, and time beyond the traced one.
        let beyond = |activity: KernelActivity| {
            let part = samples.kernel.iter().find(|part| part.activity == Some(activity))?;
            let seen_ns = match activity {
                KernelActivity::Interrupts => seen.spent(INTERRUPTS).ns as f64,
                _ => 0.0,
            };
            let ns = ns_of(part.samples as f64 / samples.samples as f64) - seen_ns;
            (SAMPLES_MIN <= part.samples).then_some((part.samples, ns.max(0.0)))
        };
        let (_, preemptions) = seen.switches();
        let crossing = beyond(KernelActivity::Crossing).filter(|_| seen.calls() != 0);
        let interrupts = beyond(KernelActivity::Interrupts).filter(|_| seen.spent(INTERRUPTS).count != 0);
        let preemption = beyond(KernelActivity::Scheduling).filter(|_| preemptions != 0);
        let all_ns: f64 = [crossing, interrupts, preemption].into_iter().flatten().map(|(_, ns)| ns).sum();
        let timed_ns = (seen.cpu_ns() - seen.spent(USER).ns) as f64;
        let faults_ns = seen.spent(FAULTS).count as f64 * self.fault_ns.unwrap_or(0.0);
        let kernel_ns = ns_of(samples.kernel_share.map_or(0.0, |share| share.estimate));
        let part = ((kernel_ns - timed_ns - faults_ns).max(0.0) / all_ns.max(1.0)).min(1.0);
        let of_each = |found: Option<(u64, f64)>, count: u64| found.map(|(_, ns)| part * ns / count as f64);
        Unseen {
            call_ns: of_each(crossing, seen.calls()).map_or(self.call_ns, |ns| ns.max(self.call_ns)),
            fault_ns: self.fault_ns,
            interrupt_ns: of_each(interrupts, seen.spent(INTERRUPTS).count),
            preemption_ns: of_each(preemption, preemptions),
            call_samples: crossing.map(|(samples, _)| samples),
        }
    }

    /// What the events of some threads took, of at most what counts as user mode so far. `times_faults`: whether faults were timed.
    pub(crate) fn of(&self, seen: &Sums, times_faults: bool) -> UnseenTime {
        let faults = if times_faults { seen.spent(FAULTS).count } else { 0 };
        let interrupts = self.interrupt_ns.map_or(0, |_| seen.spent(INTERRUPTS).count);
        let (_, preemptions) = seen.switches();
        let crossing = seen.calls() as f64 * self.call_ns
            + faults as f64 * self.fault_ns.unwrap_or(0.0)
            + interrupts as f64 * self.interrupt_ns.unwrap_or(0.0);
        let preemption = preemptions as f64 * self.preemption_ns.unwrap_or(0.0);
        let user_ns = seen.spent(USER).ns;
        let crossing_ns = (crossing as u64).min(user_ns);
        UnseenTime {
            crossing_ns,
            crossings: seen.calls().saturating_add(faults).saturating_add(interrupts),
            preemption_ns: (preemption as u64).min(user_ns - crossing_ns),
        }
    }
}

fn median(mut of: Vec<f64>) -> Option<f64> {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::record::{FORCED, SUMS_AT, WORDS};
    use super::*;
    use assay_model::{Estimate, SampledPart};

    /// So many calls, faults, interrupts and preemptions; 1 µs of user mode each, and 1 µs in each interrupt.
    fn seen(calls: u64, faults: u64, interrupts: u64, preemptions: u64) -> Sums {
        let mut words = [0; WORDS];
        let mut put = |kind: usize, count: u64, ns: u64| {
            (words[SUMS_AT + 2 * kind], words[SUMS_AT + 2 * kind + 1]) = (count, ns);
        };
        put(usize::from(kind_of(KernelActivity::OtherCalls)), calls, 0);
        put(FAULTS, faults, 0);
        put(INTERRUPTS, interrupts, 1000 * interrupts);
        put(USER, 0, 1000 * (calls + faults + interrupts + preemptions));
        words[SUMS_AT + FORCED] = preemptions;
        Sums::of(&words, 0)
    }

    const LOOP: Unseen = Unseen {
        call_ns: 100.0,
        fault_ns: Some(200.0),
        interrupt_ns: None,
        preemption_ns: None,
        call_samples: None,
    };

    fn time(crossing_ns: u64, crossings: u64, preemption_ns: u64) -> UnseenTime {
        UnseenTime { crossing_ns, crossings, preemption_ns }
    }

    #[test]
    fn no_more_is_moved_than_there_is() {
        assert_eq!(LOOP.of(&seen(10, 5, 7, 3), true), time(2000, 15, 0));
        assert_eq!(LOOP.of(&seen(10, 5, 7, 3), false), time(1000, 10, 0));
        let dear = Unseen { interrupt_ns: Some(2000.0), preemption_ns: Some(3000.0), ..LOOP };
        assert_eq!(dear.of(&seen(10, 0, 5, 1), true), time(11_000, 15, 3000));
        assert_eq!(dear.of(&seen(10, 0, 5, 9), true), time(11_000, 15, 13_000), "all of 24 µs");
        assert_eq!(dear.of(&seen(1, 0, 100, 0), true), time(101_000, 101, 0));
    }

    #[test]
    fn samples_say_what_is_unseen_where_there_are_enough() {
        let part = |activity, samples| SampledPart {
            activity: Some(activity),
            place: None,
            library: None,
            samples,
            cpu_ns: 0,
            share: Estimate { estimate: 0.0, low: None, high: None },
        };
        let share = |estimate: f64| Estimate { estimate, low: None, high: None };
        let of = |samples: u64, kernel: f64| TimeSamples {
            samples: 1000,
            kernel_share: Some(share(kernel)),
            kernel: [KernelActivity::Crossing, KernelActivity::Interrupts, KernelActivity::Scheduling]
                .map(|activity| part(activity, samples))
                .to_vec(),
            ..TimeSamples::default()
        };
        // 1 ms of CPU time, of which 10 µs were traced in interrupts: 50 of 1,000 samples are 50 µs.
        let sums = seen(500, 0, 10, 480);
        let told = Unseen {
            call_ns: 100.0,
            fault_ns: Some(200.0),
            interrupt_ns: Some(4000.0),
            preemption_ns: Some(50_000.0 / 480.0),
            call_samples: Some(50),
        };
        assert_eq!(LOOP.by_samples(&of(50, 0.5), &sums), told);
        assert_eq!(LOOP.by_samples(&of(49, 0.5), &sums), LOOP);
        assert_eq!(LOOP.by_samples(&TimeSamples::default(), &sums), LOOP);
        assert_eq!(LOOP.by_samples(&of(50, 0.5), &Sums::default()), LOOP, "nothing was seen");
        // All samples in the kernel leave half of the 140 µs; a call takes no less than in the loop.
        let bounded = LOOP.by_samples(&of(50, 0.08), &sums);
        assert_eq!((bounded.call_ns, bounded.interrupt_ns), (100.0, Some(2000.0)));
        assert_eq!(LOOP.by_samples(&of(50, 0.0), &sums).interrupt_ns, Some(0.0));
    }

    #[test]
    fn programs_that_count_too_little_are_not_trusted() {
        let nothing = || Ok(Sums::default());
        assert!(matches!(Unseen::measure(nothing), Err(Refusal::Wrong(_))));
    }
}
