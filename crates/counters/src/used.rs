//! What threads used, and sums of it.

use crate::reading::ticks_ns;
use crate::split::Sampled;
use assay_linux::{ExitRecord, ThreadCounters};

/// What some threads used.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Used {
    pub(crate) threads: u64,
    pub(crate) cpu_ns: u64,
    /// CPU time that it may have used on top of `cpu_ns` just before its end.
    pub(crate) room_ns: u64,
    pub(crate) sampled: Sampled,
    pub(crate) run_delay_ns: Option<u64>,
    pub(crate) voluntary_switches: Option<u64>,
    pub(crate) involuntary_switches: Option<u64>,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) block_io_ns: Option<u64>,
}

impl Used {
    /// CPU time of one thread since it started.
    pub(crate) fn of(counters: &ThreadCounters) -> Used {
        let (user_ns, kernel_ns) = (ticks_ns(counters.user_ticks), ticks_ns(counters.system_ticks));
        let cpu_ns = counters.schedstat.map_or(user_ns.saturating_add(kernel_ns), |s| s.run_ns);
        Used {
            threads: 1,
            cpu_ns,
            room_ns: 0,
            sampled: Sampled { user_ns, kernel_ns, cpu_ns, cut: u64::from(cpu_ns != 0) },
            run_delay_ns: counters.schedstat.map(|s| s.wait_ns),
            voluntary_switches: counters.voluntary_switches,
            involuntary_switches: counters.involuntary_switches,
            minor_faults: counters.minor_faults,
            major_faults: counters.major_faults,
            block_io_ns: counters.block_io_ticks.map(ticks_ns),
        }
    }

    /// CPU time of one thread from its start to its end; `interrupt_ns` is the time between two timer interrupts. The split is that of the
    /// timer interrupts, not scaled to the CPU time: the sum over many short threads, most of which no interrupt met, is right only so.
    pub(crate) fn of_ended(record: &ExitRecord, interrupt_ns: u64) -> Used {
        let (user_ns, kernel_ns) = (record.sampled_user_ns, record.sampled_kernel_ns);
        let sampled_ns = user_ns.saturating_add(kernel_ns);
        let run_ns = record.run_ns(interrupt_ns).unwrap_or(sampled_ns..=sampled_ns);
        Used {
            threads: 1,
            cpu_ns: *run_ns.start(),
            room_ns: run_ns.end() - run_ns.start(),
            sampled: Sampled { user_ns, kernel_ns, cpu_ns: sampled_ns, cut: 0 },
            run_delay_ns: record.run.map(|run| run.wait_ns),
            voluntary_switches: Some(record.voluntary_switches),
            involuntary_switches: Some(record.involuntary_switches),
            minor_faults: record.minor_faults,
            major_faults: record.major_faults,
            block_io_ns: Some(record.block_io_ns),
        }
    }

    /// The same of a thread that was read before: its split continues that of `/proc`, which is scaled and never goes back.
    pub(crate) fn of_ended_after(record: &ExitRecord, interrupt_ns: u64, last: &ThreadCounters) -> Used {
        let mut used = Used::of_ended(record, interrupt_ns);
        let Sampled { user_ns, kernel_ns, cpu_ns: sampled_ns, .. } = used.sampled;
        let scale = if sampled_ns == 0 { 0.0 } else { used.cpu_ns as f64 / sampled_ns as f64 };
        let scaled = |ns: u64, ticks| ((ns as f64 * scale) as u64).max(ticks_ns(ticks));
        used.sampled = Sampled {
            user_ns: scaled(user_ns, last.user_ticks),
            kernel_ns: scaled(kernel_ns, last.system_ticks),
            cpu_ns: used.cpu_ns,
            cut: 1,
        };
        used
    }

    /// Less what it had used before, of the same thread.
    pub(crate) fn since(&self, before: &Used) -> Used {
        let less = |of: fn(&Used) -> u64| of(self).saturating_sub(of(before));
        let less_if_counted = |of: fn(&Used) -> Option<u64>| Some(of(self)?.saturating_sub(of(before)?));
        let cpu_ns = less(|u| u.cpu_ns);
        Used {
            threads: self.threads,
            cpu_ns,
            room_ns: self.room_ns,
            sampled: Sampled {
                user_ns: less(|u| u.sampled.user_ns),
                kernel_ns: less(|u| u.sampled.kernel_ns),
                cpu_ns: less(|u| u.sampled.cpu_ns),
                cut: u64::from(cpu_ns != 0),
            },
            run_delay_ns: less_if_counted(|u| u.run_delay_ns),
            voluntary_switches: less_if_counted(|u| u.voluntary_switches),
            involuntary_switches: less_if_counted(|u| u.involuntary_switches),
            minor_faults: less(|u| u.minor_faults),
            major_faults: less(|u| u.major_faults),
            block_io_ns: less_if_counted(|u| u.block_io_ns),
        }
    }

    /// Adds what other threads used. One thread without a figure makes that of all unknown.
    pub(crate) fn add(&mut self, other: &Used) {
        if self.threads == 0 {
            *self = *other;
            return;
        }
        let sum = |sum: &mut u64, one: u64| *sum = sum.saturating_add(one);
        let both = |sum: &mut Option<u64>, one: Option<u64>| {
            *sum = sum.zip(one).map(|(sum, one)| sum.saturating_add(one));
        };
        sum(&mut self.threads, other.threads);
        sum(&mut self.cpu_ns, other.cpu_ns);
        sum(&mut self.room_ns, other.room_ns);
        sum(&mut self.sampled.user_ns, other.sampled.user_ns);
        sum(&mut self.sampled.kernel_ns, other.sampled.kernel_ns);
        sum(&mut self.sampled.cpu_ns, other.sampled.cpu_ns);
        sum(&mut self.sampled.cut, other.sampled.cut);
        both(&mut self.run_delay_ns, other.run_delay_ns);
        both(&mut self.voluntary_switches, other.voluntary_switches);
        both(&mut self.involuntary_switches, other.involuntary_switches);
        sum(&mut self.minor_faults, other.minor_faults);
        sum(&mut self.major_faults, other.major_faults);
        both(&mut self.block_io_ns, other.block_io_ns);
    }
}
