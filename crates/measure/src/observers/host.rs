//! Observes whether the machine was ours while a window was measured.

use super::{Observer, Seen, Target};
use crate::config::Limits;
use assay_host::{HostGauge, HostInterval, HostReading};
use assay_model::{Disturbance, Problem, Window};

/// Reads the gauges several times a second, so that readings lie close to both ends of a window.
pub(crate) struct HostObserver {
    gauge: HostGauge,
    limits: Limits,
    readings: Vec<HostReading>,
}

impl HostObserver {
    pub fn new(limits: Limits) -> Self {
        HostObserver { gauge: HostGauge::new(), limits, readings: Vec::new() }
    }
}

/// Gauges that this machine does not have, for the conditions of the run.
pub fn no_host_gauges() -> Vec<Problem> {
    HostGauge::new().problems().to_vec()
}

impl Observer for HostObserver {
    fn name(&self) -> &'static str {
        "host"
    }

    fn sample(&mut self, _: &Target) -> Result<(), String> {
        self.readings.push(self.gauge.read());
        Ok(())
    }

    fn end_window(&mut self, _: &Target, seen: &Seen<'_>, window: &mut Window) -> Result<(), String> {
        let (from, to) = (seen.first.monotonic_ns, seen.last.monotonic_ns);
        let readings = std::mem::take(&mut self.readings);
        let mut inside = readings.iter().filter(|r| (from..=to).contains(&r.monotonic_ns));
        let (Some(first), Some(last)) = (inside.next(), inside.next_back()) else {
            window
                .problems
                .push(Problem::new("host", "the window is too short to judge whether it was disturbed"));
            return Ok(());
        };
        // The gauges are read just after the CPU clocks, so both differences cover the same time but for microseconds.
        let ours = |s: &super::CpuSample| s.server_ns + s.own_ns;
        let our_cpu_ns = ours(&seen.last).saturating_sub(ours(&seen.first));
        window.disturbances.extend(judge(&last.since(first), our_cpu_ns, self.limits));
        Ok(())
    }
}

/// What the gauges say against a stretch of measuring. Our CPU time is that of all that belongs to the trial.
pub fn judge(interval: &HostInterval, our_cpu_ns: u64, limits: Limits) -> Vec<Disturbance> {
    let over = |kind: &str, what: &str, share: Option<f64>, limit: f64| {
        share.filter(|share| *share > limit).map(|share| Disturbance {
            kind: kind.to_owned(),
            evidence: format!("{what}: {:.1} %, limit {:.1} %", share * 100.0, limit * 100.0),
        })
    };
    let foreign = interval.foreign_cpu_share(our_cpu_ns);
    [
        over("cpu-pressure", "processors used by others, of the machine", foreign, limits.foreign_cpu_share),
        over(
            "steal",
            "time taken by the hypervisor, of the machine",
            interval.steal_share,
            limits.steal_share,
        ),
        over(
            "throttled",
            "time held by a CPU limit",
            interval.throttled_share,
            limits.throttled_share.unwrap_or(0.0),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits =
        Limits { foreign_cpu_share: 0.1, steal_share: 0.03, throttled_share: None, error_share: 0.01 };

    #[test]
    fn each_gauge_over_its_limit_is_a_disturbance_and_absent_ones_are_none() {
        let quiet = HostInterval { duration_ns: 1_000_000_000, cpus: Some(2), ..HostInterval::default() };
        assert_eq!(judge(&quiet, 0, LIMITS), []);
        let loud = HostInterval {
            busy_ns: Some(1_500_000_000),
            steal_share: Some(0.05),
            throttled_share: Some(0.001),
            ..quiet
        };
        let kinds: Vec<String> = judge(&loud, 1_000_000_000, LIMITS).into_iter().map(|d| d.kind).collect();
        assert_eq!(kinds, ["cpu-pressure", "steal", "throttled"]);
        let all_ours = HostInterval { busy_ns: Some(1_500_000_000), ..quiet };
        assert_eq!(judge(&all_ours, 1_400_000_000, LIMITS), []);
    }
}
