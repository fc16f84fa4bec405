//! Whether a window was disturbed: one judge, with one table of thresholds ([`Bounds`]), for every window of load.
//!
//! What others do to the machine, and what the generator could not do, makes a window useless whatever the server did. What the
//! server itself does, such as losing responses or keeping all connections busy, is no disturbance: a window that were left out for
//! it would hide what was to be measured.

use crate::config::Bounds;
use crate::observation::Observation;
use assay_load::{Measured, is_of_generator};
use assay_model::{Check, Disturbance};

fn disturbance(kind: Check, evidence: String) -> Disturbance {
    Disturbance { kind, evidence }
}

/// Disturbances of the machine; `knows_server` says whether the server's own use of the processors is known.
pub fn of_machine(bounds: &Bounds, seen: &Observation, knows_server: bool) -> Vec<Disturbance> {
    let over = |kind: Check, what: &str, share: Option<f64>, bound: f64| {
        let share = share.filter(|share| bound < *share)?;
        let evidence = format!("{what}: {:.1} %, limit {:.1} %", 100.0 * share, 100.0 * bound);
        Some(disturbance(kind, evidence))
    };
    let foreign = seen.foreign_cpu_share.filter(|_| knows_server);
    let steal = seen.host.and_then(|host| host.steal_share);
    let held = seen.host.and_then(|host| host.throttled_share);
    let (foreign_max, steal_max) = (bounds.foreign_cpu_share, bounds.steal_share);
    let mut found: Vec<Disturbance> = [
        over(
            Check::CpuPressure,
            "share of the machine's processors used by other processes",
            foreign,
            foreign_max,
        ),
        over(Check::Steal, "time taken by the hypervisor, of the machine", steal, steal_max),
        over(
            Check::Throttled,
            "time that a CPU limit held the generator",
            seen.own_throttled_share,
            bounds.own_throttled_share,
        ),
        bounds
            .throttled_share
            .and_then(|bound| over(Check::Throttled, "time held by a CPU limit", held, bound)),
    ]
    .into_iter()
    .flatten()
    .collect();
    // One limit that holds both is reported once.
    found.dedup_by(|a, b| a.kind == b.kind);
    if let Some(step_s) = seen.clock_step_s.filter(|step_s| bounds.clock_step_s < step_s.abs()) {
        found.push(disturbance(Check::Clock, format!("the wall clock was set by {:.0} ms", 1e3 * step_s)));
    }
    found.extend(seen.restart.iter().map(|why| disturbance(Check::Restart, why.clone())));
    found
}

/// The same for a program that measures itself and then ends: a sample may be taken after its end and before the end is noticed.
pub fn of_program(bounds: &Bounds, seen: Observation, knows_program: bool) -> Vec<Disturbance> {
    of_machine(bounds, &Observation { restart: None, ..seen }, knows_program)
}

/// Disturbances of a window of load. Whether the generator's lag leaves an answer is asked besides: of each limit by itself where
/// there are limits, of the window as a whole where there are none (`validity`).
pub fn disturbances(
    bounds: &Bounds,
    measured: &Measured,
    seen: &Observation,
    knows_server: bool,
) -> Vec<Disturbance> {
    let mut found = of_machine(bounds, seen, knows_server);
    // An injector's use of its core is that of the load, which is the busiest one's.
    let faults = measured.faults.iter().filter(|fault| !is_of_generator(fault));
    found.extend(faults.map(|fault| disturbance(Check::Load, format!("{}: {}", fault.about, fault.text))));
    if !is_offered(measured, bounds) {
        let lag_ms = measured.send_lag.value_at_quantile(0.99) as f64 / 1e6;
        let cpu = measured
            .generator_cpu_share()
            .map_or_else(String::new, |share| format!(" and it used {:.0} % of a core", 100.0 * share));
        let what = format!("the generator could not offer the rate: its send lag p99 is {lag_ms:.0} ms{cpu}");
        found.push(disturbance(Check::GeneratorLag, what));
    }
    found
}

/// Whether requests were sent at the rate that was asked for. A request that is sent late by a share of the window's length moves
/// the count of those sent in it by at most that share, at either end; one in a hundred may be later. A lag of answers that kept
/// the generator waiting is none: it counts from when a request could be sent. A generator that used its core up may have been
/// too slow in other ways.
pub(crate) fn is_offered(measured: &Measured, bounds: &Bounds) -> bool {
    let lag_s = measured.send_lag.value_at_quantile(0.99) as f64 / 1e9;
    let has_cpu = measured.generator_cpu_share().is_none_or(|share| share <= bounds.generator_cpu_share);
    has_cpu && lag_s <= bounds.sent_rate_share * measured.seconds()
}

/// Whether answers kept up with requests. Of a window whose server keeps up so many may lack: 1 % of the requests, and three times
/// the root of their number, by which a window's requests differ from those of the one before by chance.
pub(crate) fn is_sustained(measured: &Measured) -> bool {
    let requests = measured.requests as f64;
    0.0 < requests && requests <= measured.completed as f64 + 0.01 * requests + 3.0 * requests.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_host::HostInterval;
    use assay_load::Load;

    #[test]
    fn a_window_is_sustained_up_to_a_percent_and_chance() {
        let load = Load::Closed { users: 1, think: None };
        let is_sustained = |requests, completed| {
            is_sustained(&Measured { requests, completed, ..Measured::empty(load, 1, (0, 1)) })
        };
        assert!(is_sustained(10_000, 9_600));
        assert!(!is_sustained(10_000, 9_599));
        assert!(is_sustained(10, 5) && !is_sustained(0, 0) && !is_sustained(1_000_000, 980_000));
    }

    fn kinds(seen: &Observation, bounds: &Bounds) -> Vec<&'static str> {
        of_machine(bounds, seen, true).into_iter().map(|d| d.kind.word()).collect()
    }

    fn host(steal_share: f64, throttled_share: f64) -> HostInterval {
        HostInterval {
            steal_share: Some(steal_share),
            throttled_share: Some(throttled_share),
            ..HostInterval::default()
        }
    }

    #[test]
    fn the_end_of_a_program_that_measures_itself_is_no_disturbance_and_that_of_a_server_is() {
        let ended = Observation {
            restart: Some("process 5 has ended".to_owned()),
            foreign_cpu_share: Some(0.25),
            ..Observation::default()
        };
        assert_eq!(kinds(&ended, &Bounds::default()), ["cpu-pressure", "restart"]);
        let of_program = of_program(&Bounds::default(), ended, true);
        assert_eq!(of_program.iter().map(|d| d.kind).collect::<Vec<_>>(), [Check::CpuPressure]);
    }

    #[test]
    fn each_gauge_over_its_limit_is_a_disturbance_and_absent_ones_are_none() {
        let bounds = Bounds { throttled_share: Some(0.0), ..Bounds::default() };
        assert_eq!(kinds(&Observation::default(), &bounds), [""; 0]);
        let quiet = Observation {
            host: Some(host(0.03, 0.0)),
            foreign_cpu_share: Some(0.1),
            ..Observation::default()
        };
        assert_eq!(kinds(&quiet, &bounds), [""; 0], "a bound itself is accepted");
        let loud = Observation {
            host: Some(host(0.05, 0.001)),
            foreign_cpu_share: Some(0.25),
            ..Observation::default()
        };
        assert_eq!(kinds(&loud, &bounds), ["cpu-pressure", "steal", "throttled"]);
        assert_eq!(
            kinds(&loud, &Bounds::default()),
            ["cpu-pressure", "steal"],
            "a CPU limit of both is the machine that a search looks for the capacity of"
        );
        let unknown = of_machine(&bounds, &loud, false);
        assert!(
            unknown.iter().all(|d| d.kind != Check::CpuPressure),
            "other processes' use cannot be distinguished from the server's"
        );
    }

    #[test]
    fn a_clock_that_was_set_and_another_process_are_disturbances() {
        let seen = Observation {
            clock_step_s: Some(-2.0),
            restart: Some("gone".to_owned()),
            ..Observation::default()
        };
        assert_eq!(kinds(&seen, &Bounds::default()), ["clock", "restart"]);
    }
}
