//! Observes the server's control group: what it is charged for, and how its limits held the server in each window.

use super::contract::{Observer, Target};
use assay_linux::{Cgroups, ProcRoot, Resource, SysRoot, monotonic_ns};
use assay_load::Measured;
use assay_model::{Problem, Window, metric};

const INTERVAL_NS: u64 = 200_000_000;
/// The period of CPU limits, which the kernel has by default and Assay sets.
const PERIOD_NS: f64 = 1e8;

/// Counts of the group at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    monotonic_ns: u64,
    throttled_periods: Option<u64>,
    refaults: Option<u64>,
    stalled_us: Option<u64>,
}

#[derive(Default)]
pub(crate) struct GroupObserver {
    groups: Option<Cgroups>,
    next_ns: u64,
    counts: Vec<Counts>,
}

impl GroupObserver {
    fn groups(&self) -> Result<&Cgroups, String> {
        self.groups.as_ref().ok_or_else(|| "the server's control group is not known".to_owned())
    }

    fn find(&mut self, target: &Target) -> Result<(), String> {
        let groups = ProcRoot::default().read_cgroups(&SysRoot::default(), Some(target.known_pid()?));
        self.groups = Some(groups.map_err(|e| e.to_string())?);
        Ok(())
    }

    fn read(&self) -> Result<Counts, String> {
        let groups = self.groups()?;
        let throttling = groups.read_throttling().map_err(|e| e.to_string())?;
        let reclaim = groups.read_reclaim().map_err(|e| e.to_string())?.unwrap_or_default();
        // Version 1 does not count it by group: what the whole machine waited is at least as much.
        let of_machine =
            || ProcRoot::default().read_pressure(Resource::Memory).ok().flatten().map(|of| of.some.total_us);
        Ok(Counts {
            monotonic_ns: monotonic_ns(),
            throttled_periods: throttling.map(|of| of.periods),
            refaults: reclaim.refaults,
            stalled_us: reclaim.stalled_us.or_else(of_machine),
        })
    }
}

/// Metrics from the first to the last counts within the window.
fn add(counts: &[Counts], window: &mut Window) {
    let inside = window.start_monotonic_ns..=window.end_monotonic_ns;
    let mut counts = counts.iter().filter(|of| inside.contains(&of.monotonic_ns));
    let between = counts.next().and_then(|first| Some((first, counts.next_back()?)));
    let Some((first, last)) = between.filter(|(first, last)| first.monotonic_ns < last.monotonic_ns) else {
        let what = "the window is too short to count twice";
        window.problems.push(Problem::new(metric::THROTTLED_PERCENT, what));
        return;
    };
    let ns = (last.monotonic_ns - first.monotonic_ns) as f64;
    let grown = |of: fn(&Counts) -> Option<u64>| Some(of(last)?.saturating_sub(of(first)?) as f64);
    let of_each = [
        (metric::THROTTLED_PERCENT, grown(|of| of.throttled_periods), PERIOD_NS / ns * 100.0),
        (metric::MEMORY_STALL_PERCENT, grown(|of| of.stalled_us), 1e3 / ns * 100.0),
        (metric::REFAULTS_PER_S, grown(|of| of.refaults), 1e9 / ns),
    ];
    for (id, grown, factor) in of_each {
        let share = if id == metric::REFAULTS_PER_S { f64::INFINITY } else { 100.0 };
        match grown {
            Some(grown) => {
                window.metrics.insert(id.to_owned(), (grown * factor).min(share));
            }
            None => window.problems.push(Problem::new(id, "the kernel does not count it for this group")),
        }
    }
}

impl Observer for GroupObserver {
    fn name(&self) -> &'static str {
        "group"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        self.find(target)
    }

    fn replaced(&mut self, target: &Target, _role: &str, pid: u32) -> Result<(), String> {
        if target.pid == Some(pid) { self.find(target) } else { Ok(()) }
    }

    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        let now_ns = monotonic_ns();
        if now_ns < self.next_ns {
            return Ok(());
        }
        self.next_ns = now_ns + INTERVAL_NS;
        self.counts.push(self.read()?);
        Ok(())
    }

    fn end_window(
        &mut self,
        _target: &Target,
        _measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        add(&std::mem::take(&mut self.counts), window);
        let memory = self.groups()?.read_memory(&ProcRoot::default(), &mut window.problems);
        let charged = memory.map_err(|e| e.to_string())?.and_then(|memory| memory.current_bytes);
        if let Some(bytes) = charged {
            window.metrics.insert(metric::GROUP_MEMORY_BYTES.to_owned(), bytes as f64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(at_s: u64, throttled_periods: Option<u64>, refaults: u64, stalled_us: u64) -> Counts {
        Counts {
            monotonic_ns: at_s * 1_000_000_000,
            throttled_periods,
            refaults: Some(refaults),
            stalled_us: Some(stalled_us),
        }
    }

    fn window() -> Window {
        Window { start_monotonic_ns: 2_000_000_000, end_monotonic_ns: 12_000_000_000, ..Window::default() }
    }

    #[test]
    fn shares_are_of_the_time_between_the_first_and_the_last_counts_within_the_window() {
        let all = [
            counts(1, Some(500), 900, 0),
            counts(2, Some(1000), 1000, 0),
            counts(7, Some(1010), 1000, 100_000),
            counts(12, Some(1025), 1500, 300_000),
            counts(13, Some(9999), 9999, 9_999_999),
        ];
        let mut of = window();
        add(&all, &mut of);
        assert_eq!(of.metrics[metric::THROTTLED_PERCENT], 25.0);
        assert!((of.metrics[metric::MEMORY_STALL_PERCENT] - 3.0).abs() < 1e-9);
        assert_eq!(of.metrics[metric::REFAULTS_PER_S], 50.0);
        assert_eq!(of.problems, []);
    }

    #[test]
    fn what_is_not_counted_is_absent_with_a_problem() {
        let mut of = window();
        add(&[counts(3, None, 0, 0), counts(9, None, 0, 0)], &mut of);
        assert!(!of.metrics.contains_key(metric::THROTTLED_PERCENT));
        assert_eq!(of.metrics[metric::REFAULTS_PER_S], 0.0);
        assert_eq!(of.problems.len(), 1);
        let mut short = window();
        add(&[counts(3, Some(1), 0, 0)], &mut short);
        assert!(short.metrics.is_empty() && short.problems.len() == 1);
    }
}
