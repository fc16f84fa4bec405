//! A thread's record as the programs keep it: words of 64 bits, in the order of `struct thread` in `bpf/threads.bpf.c`.

use super::kinds::{FAULTS, INTERRUPTS, KINDS, SOFTIRQ, USER};

/// Words of a record.
pub(crate) const WORDS: usize = SUMS_AT + SUMS;
/// A record as it is read.
pub(crate) type Words = [u64; WORDS];

/// Where the sums begin; before them stands what the programs need.
pub(crate) const SUMS_AT: usize = 13;
const SUMS: usize = 2 * 2 * KINDS + 3 * 2 + 2;
const BLOCKED: usize = 2 * KINDS;
const FAULTS_USER: usize = 2 * BLOCKED;
const FAULTS_KERNEL: usize = FAULTS_USER + 2;
const DELAY: usize = FAULTS_KERNEL + 2;
const VOLUNTARY: usize = DELAY + 2;
pub(crate) const FORCED: usize = VOLUNTARY + 1;

/// Words before the sums.
const LAST_NS: usize = 0;
const OFF_SINCE_NS: usize = 1;
const UNKNOWN_NS: usize = 3;
const FLAGS: usize = 10;
const OFF_KIND: usize = 11;
pub(crate) const TID: usize = 12;
/// Time since a running thread's last event that is believed: longer than between two timer interrupts it was not on a processor.
const RUNNING_NS_MAX: u64 = 10_000_000;

/// How often, and for how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) count: u64,
    pub(crate) ns: u64,
}

/// The sums of one thread, or of some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sums([u64; SUMS]);

impl Default for Sums {
    fn default() -> Sums {
        Sums([0; SUMS])
    }
}

impl Sums {
    /// Those of a record; what it is in just now is counted until `now_ns`.
    pub(crate) fn of(words: &Words, now_ns: u64) -> Sums {
        let mut sums = [0; SUMS];
        sums.copy_from_slice(&words[SUMS_AT..]);
        let [kind, fault, irqs, softirq, is_known, is_blocked, ..] = words[FLAGS].to_le_bytes();
        let kind = usize::from(kind) % KINDS;
        if words[LAST_NS] != 0 {
            let since = now_ns.saturating_sub(words[LAST_NS]);
            if since <= RUNNING_NS_MAX && [fault, irqs, softirq] == [0; 3] && is_known != 0 {
                sums[2 * kind + 1] = sums[2 * kind + 1].saturating_add(since);
            }
        } else if is_blocked != 0 && words[OFF_SINCE_NS] != 0 {
            let off_kind = usize::from(words[OFF_KIND].to_le_bytes()[0]) % KINDS;
            let at = BLOCKED + 2 * off_kind + 1;
            sums[at] = sums[at].saturating_add(now_ns.saturating_sub(words[OFF_SINCE_NS]));
        }
        // CPU time of a thread before its first event: a loop without system calls, mostly.
        sums[2 * USER + 1] = sums[2 * USER + 1].saturating_add(words[UNKNOWN_NS]);
        Sums(sums)
    }

    fn sum(&self, at: usize) -> Sum {
        Sum { count: self.0[at], ns: self.0[at + 1] }
    }

    /// CPU time of a kind, and how often it began.
    pub(crate) fn spent(&self, kind: usize) -> Sum {
        self.sum(2 * kind)
    }

    /// Time for which it waited in system calls of a kind without being ready to run.
    pub(crate) fn blocked(&self, kind: usize) -> Sum {
        self.sum(BLOCKED + 2 * kind)
    }

    /// Page faults of user mode.
    pub(crate) fn faults_user(&self) -> Sum {
        self.sum(FAULTS_USER)
    }

    /// Page faults in the middle of system calls.
    pub(crate) fn faults_kernel(&self) -> Sum {
        self.sum(FAULTS_KERNEL)
    }

    /// Waits for a processor.
    pub(crate) fn delay(&self) -> Sum {
        self.sum(DELAY)
    }

    /// Switches to another thread: because it waits, and because the kernel took its processor away.
    pub(crate) fn switches(&self) -> (u64, u64) {
        (self.0[VOLUNTARY], self.0[FORCED])
    }

    /// CPU time of all kinds.
    pub(crate) fn cpu_ns(&self) -> u64 {
        (0..KINDS).fold(0, |sum: u64, kind| sum.saturating_add(self.spent(kind).ns))
    }

    /// System calls of all kinds.
    pub(crate) fn calls(&self) -> u64 {
        let is_call = |kind: &usize| ![USER, FAULTS, SOFTIRQ, INTERRUPTS].contains(kind);
        (0..KINDS).filter(is_call).fold(0, |sum: u64, kind| sum.saturating_add(self.spent(kind).count))
    }

    /// Less what there was before.
    pub(crate) fn since(&self, before: &Sums) -> Sums {
        let mut less = self.0;
        less.iter_mut().zip(&before.0).for_each(|(now, before)| *now = now.saturating_sub(*before));
        Sums(less)
    }

    /// Adds those of another thread.
    pub(crate) fn add(&mut self, other: &Sums) {
        self.0.iter_mut().zip(&other.0).for_each(|(sum, one)| *sum = sum.saturating_add(*one));
    }
}

/// The thread ID in a record's word [`TID`]; 0 if the record is not in use.
pub(crate) fn tid_of(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// Whether the thread has ended, so that its record changes no more.
pub(crate) fn has_ended(words: &Words) -> bool {
    words[FLAGS].to_le_bytes()[6] != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(flags: [u8; 8]) -> Words {
        let mut words = [0; WORDS];
        words[FLAGS] = u64::from_le_bytes(flags);
        words
    }

    #[test]
    fn what_a_thread_is_in_just_now_counts_until_now() {
        let mut words = record([4, 0, 0, 0, 1, 0, 0, 1]);
        words[LAST_NS] = 1000;
        words[SUMS_AT + 2 * 4 + 1] = 7;
        assert_eq!(Sums::of(&words, 1500).spent(4).ns, 507);
        assert_eq!(
            Sums::of(&words, 1000 + RUNNING_NS_MAX + 1).spent(4).ns,
            7,
            "that was no reading of one moment"
        );
        assert_eq!(Sums::of(&words, 900).spent(4).ns, 7);
        words[FLAGS] = u64::from_le_bytes([4, 0, 1, 0, 1, 0, 0, 1]);
        assert_eq!(Sums::of(&words, 1500).spent(4).ns, 7, "it is in an interrupt");
    }

    #[test]
    fn a_thread_that_still_waits_has_waited_until_now_and_one_that_is_ready_has_not() {
        let mut words = record([0, 0, 0, 0, 1, 1, 0, 1]);
        words[OFF_SINCE_NS] = 1000;
        words[OFF_KIND] = 5;
        assert_eq!(Sums::of(&words, 5000).blocked(5), Sum { count: 0, ns: 4000 });
        words[FLAGS] = u64::from_le_bytes([0, 0, 0, 0, 1, 0, 0, 1]);
        assert_eq!(Sums::of(&words, 5000).blocked(5).ns, 0);
    }

    #[test]
    fn any_bytes_are_a_record() {
        let words = [u64::MAX; WORDS];
        let sums = Sums::of(&words, u64::MAX);
        assert_eq!(sums.since(&sums), Sums::default());
        assert_eq!((sums.cpu_ns(), sums.calls()), (u64::MAX, u64::MAX));
        assert!(has_ended(&words));
        let mut all = sums;
        all.add(&sums);
    }
}
