//! Windows of one load, measured one after the other on a server that is warm.

use crate::config::Bounds;
use crate::measurement::{Context, Measurement, MeasurementId, Procedure};
use crate::warm_up::WarmUpPhase;
use crate::window::{self, Common};
use assay_load::{Load, LoadError, LoadWindow};
use assay_model::{Check, Disturbance, DuetWindow, WarmUp};
use std::time::Duration;

/// Requests that take longer than this part of the 99th percentile of warm-up are kept, so that the slowest hundredth of a window is
/// among them also where a window is twice as fast.
const KEPT_PART: f64 = 0.5;
/// Where there was no warm-up.
const KEPT_ABOVE: Duration = Duration::from_millis(1);

/// Checks that make a window useless when they fail: what was loaded was not what was asked for, or no answers were right. The
/// others say something of the server, and the window counts with that mark. Not so on the way to a capacity, where all windows
/// are judged together.
const SPOILING: [Check; 6] =
    [Check::Errors, Check::GeneratorLag, Check::Mix, Check::Operations, Check::Arrivals, Check::SentRate];

/// What follows from faults that were asked for: requests that fail, sessions that end before their usual mix, another process of the
/// server. In a window with such faults they are marks.
const OF_FAULTS: [Check; 4] = [Check::Errors, Check::Mix, Check::Operations, Check::Restart];

/// Windows of one load.
#[derive(Debug, Clone)]
pub struct Windows {
    /// The load.
    pub load: Load,
    /// Load before each window that is not counted.
    pub settle: Duration,
    /// Length of a window.
    pub length: Duration,
    /// How the server is warmed up.
    pub warm_up: WarmUpPhase,
    /// What is accepted.
    pub bounds: Bounds,
    /// Connections of the load source at most.
    pub connections: u32,
    /// Whether something is done to the server or to what stands beside it in each window, because that is asked for.
    pub has_faults: bool,
}

impl Procedure for Windows {
    fn warm_up(&mut self, with: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError> {
        self.warm_up.run(with)
    }

    fn measure(
        &mut self,
        with: &mut Context<'_>,
        turn: MeasurementId,
    ) -> Result<Option<Measurement>, LoadError> {
        let warmed_up = self.warm_up.done.as_ref();
        let p99_ms = warmed_up.and_then(|w| w.response_p99_ms);
        let kept_above = p99_ms.map_or(KEPT_ABOVE, |ms| Duration::from_secs_f64(KEPT_PART * ms / 1e3));
        let wanted = LoadWindow {
            load: self.load,
            settle: self.settle,
            length: self.length,
            slow_above: Some(kept_above),
        };
        let ran = window::run(&wanted, with.source, with.watcher, with.stop, with.on_event)?;
        let Some((measured, seen)) = ran else {
            return Ok(None);
        };
        let bounds = if turn.duet.is_some() { self.bounds.of_one_side() } else { self.bounds };
        let common = Common {
            bounds: &bounds,
            limits: &[],
            kept_above,
            connections: self.connections,
            warmed_up,
            knows_server: with.watcher.knows_server(),
            turn,
        };
        let (mut window, _) = window::judged(&measured, &seen, &common);
        let is_expected = |kind: Check| self.has_faults && OF_FAULTS.contains(&kind);
        window.disturbances.retain(|disturbance| !is_expected(disturbance.kind));
        let spoils = |kind: Check| SPOILING.contains(&kind) && !is_expected(kind);
        let spoiling = window.marks().filter(|check| spoils(check.check));
        let spoiling: Vec<Disturbance> =
            spoiling.map(|c| Disturbance { kind: c.check, evidence: c.evidence.clone() }).collect();
        window.disturbances.extend(spoiling);
        window.duet = turn.duet.map(|place| DuetWindow {
            number: place.number,
            half: place.half,
            by_group: false,
            foreign_cpu_share: seen.foreign_cpu_share,
            steal_share: seen.host.and_then(|host| host.steal_share),
        });
        with.watcher.end_window(&measured, &mut window);
        Ok(Some(Measurement { window, capacity: None, audit: None }))
    }
}
