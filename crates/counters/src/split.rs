//! How much of CPU time was user and how much kernel time.
//!
//! Folklore: with tick accounting the kernel notes at each timer interrupt in which mode the running thread is. `utime` and `stime` in
//! `/proc` are the exact run time, divided by these notes (`cputime_adjust` in `kernel/sched/cputime.c`), and cut to whole ticks of 10 ms.
//! So their ratio is a sample: as many draws as there were timer interrupts. A kernel that accounts each switch between modes exactly
//! (`CONFIG_VIRT_CPU_ACCOUNTING_GEN`) does not say so; its intervals are wider here than need be.
//!
//! Folklore: the interval is that of the samples alone. A thread that meets more contention in its user mode phases than in the others gets
//! more samples in the latter, and the kernel scales both alike: with eight programs on each processor, 45 % were given for the 33 % of a
//! program that was only looked at before and after. The kernel never takes back user or kernel time that it has reported,
//! so that a reading every half second keeps phases apart.
//! Held by: `the_split_of_a_known_program_lies_within_its_interval`.

use assay_model::Estimate;

/// Standard errors on either side of an estimate for 95 %.
const Z: f64 = 1.96;

/// The split as the kernel gives it, in ticks or in timer interrupts, as time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sampled {
    pub(crate) user_ns: u64,
    pub(crate) kernel_ns: u64,
    /// CPU time in which these were sampled.
    pub(crate) cpu_ns: u64,
    /// Pairs of figures that were each cut to whole ticks: threads that ran.
    pub(crate) cut: u64,
}

/// Frequencies that the split depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clocks {
    /// Ticks of `utime` and `stime` in a second.
    pub(crate) ticks_per_s: u64,
    /// Timer interrupts in a second.
    pub(crate) interrupts_per_s: u64,
}

impl Clocks {
    /// Between two timer interrupts.
    pub(crate) fn interrupt_ns(self) -> u64 {
        1_000_000_000 / self.interrupts_per_s.max(1)
    }
}

/// The share of kernel time with its 95 % interval: Wilson's for the samples, and the cutting of each figure to whole ticks on top.
/// `None` if there are no ticks.
pub(crate) fn kernel_share(of: Sampled, clocks: Clocks) -> Option<Estimate> {
    let sampled_ns = of.user_ns.saturating_add(of.kernel_ns);
    if sampled_ns == 0 {
        return None;
    }
    let share = of.kernel_ns as f64 / sampled_ns as f64;
    let cpu_s = of.cpu_ns.max(sampled_ns) as f64 / 1e9;
    let (center, sampled) = wilson(share, (cpu_s * clocks.interrupts_per_s as f64).max(1.0));
    // The difference of two figures that are cut to a tick has a variance of a sixth of a tick squared.
    let ticks = sampled_ns as f64 / 1e9 * clocks.ticks_per_s as f64;
    let cut = Z * (of.cut as f64 / 6.0).sqrt() / ticks;
    Some(around(share, center, sampled.hypot(cut)))
}

/// The share that so many of all samples are, with Wilson's 95 % interval. `None` without samples.
pub(crate) fn share_of(some: u64, all: u64) -> Option<Estimate> {
    let share = some as f64 / all as f64;
    let (center, half) = wilson(share, all as f64);
    (all != 0).then(|| around(share, center, half))
}

/// Middle and half width of Wilson's interval for a share of so many samples.
fn wilson(share: f64, samples: f64) -> (f64, f64) {
    let shrink = 1.0 + Z * Z / samples;
    let center = (share + Z * Z / (2.0 * samples)) / shrink;
    let half = Z / shrink * (share * (1.0 - share) / samples + Z * Z / (4.0 * samples * samples)).sqrt();
    (center, half)
}

fn around(share: f64, center: f64, half: f64) -> Estimate {
    let ends = ((center - half).clamp(0.0, share), (center + half).clamp(share, 1.0));
    Estimate { estimate: share, low: Some(ends.0), high: Some(ends.1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCKS: Clocks = Clocks { ticks_per_s: 100, interrupts_per_s: 250 };

    fn share(user_ticks: u64, system_ticks: u64, cut: u64) -> Option<(f64, f64, f64)> {
        let (user_ns, kernel_ns) = (user_ticks * 10_000_000, system_ticks * 10_000_000);
        let of = Sampled { user_ns, kernel_ns, cpu_ns: user_ns + kernel_ns, cut };
        let share = kernel_share(of, CLOCKS)?;
        let (low, high) = share.ends()?;
        Some((share.estimate, low, high))
    }

    #[test]
    fn without_a_tick_nothing_is_known() {
        assert_eq!(share(0, 0, 3), None);
    }

    #[test]
    fn the_interval_is_that_of_the_samples() {
        // 4 s at 250 samples a second: 1,000 draws of a half give 0.5 ± 0.031.
        let (estimate, low, high) = share(200, 200, 0).expect("ticks");
        assert!(
            (estimate - 0.5).abs() < 1e-9
                && (0.5 - low - 0.031).abs() < 0.001
                && (high - 0.531).abs() < 0.001
        );
    }

    #[test]
    fn no_sample_in_the_kernel_is_not_known_to_be_none() {
        let (estimate, low, high) = share(400, 0, 0).expect("ticks");
        assert!(estimate == 0.0 && low == 0.0 && (0.001..0.01).contains(&high), "{high}");
    }

    #[test]
    fn figures_cut_to_ticks_widen_the_interval() {
        let (_, low, _) = share(200, 200, 0).expect("ticks");
        let (_, wider, _) = share(200, 200, 1000).expect("ticks");
        assert!(wider < low - 0.01, "{wider} {low}");
        let (_, low, high) = share(1, 0, 1).expect("ticks");
        assert!(low == 0.0 && 0.6 < high, "one tick says next to nothing: {low} to {high}");
    }
}
