//! Whether a window of a duet was disturbed on one side: what hits both sides alike spoils no ratio between them.
//!
//! The evidence is by half of the processors: what others used there, and what the hypervisor took there. A CPU limit that holds this
//! program holds both sides, which are its children, and the clock is one; a limit of one side's own is a setting of its variant. What a
//! side does by itself, such as a generator that lags, is judged with its own window ([`crate::judge`]).

use crate::config::Bounds;
use assay_model::{Check, Disturbance, DuetWindow, Window};

/// Adds to each of two windows, measured at the same time, what disturbed it more than the other by more than is accepted.
pub fn judge(bounds: &Bounds, windows: [&mut Window; 2]) {
    let [first, second] = windows;
    let (Some(of_first), Some(of_second)) = (first.duet, second.duet) else { return };
    first.disturbances.extend(one_sided(bounds, of_first, of_second));
    second.disturbances.extend(one_sided(bounds, of_second, of_first));
}

/// What hit a side more than the other. Nothing where either is not known.
fn one_sided(bounds: &Bounds, own: DuetWindow, other: DuetWindow) -> Vec<Disturbance> {
    let more = |kind: Check, what: &str, of: fn(&DuetWindow) -> Option<f64>, bound: f64| {
        let (own, other) = (of(&own)?, of(&other)?);
        let evidence = format!(
            "{what}: {:.1} % of its half, {:.1} % of the other side's, limit {:.1} % more",
            100.0 * own,
            100.0 * other,
            100.0 * bound
        );
        (other + bound < own).then_some(Disturbance { kind, evidence })
    };
    let foreign = more(
        Check::CpuPressure,
        "processors used by other processes",
        |side| side.foreign_cpu_share,
        bounds.foreign_cpu_share,
    );
    let steal =
        more(Check::Steal, "time taken by the hypervisor", |side| side.steal_share, bounds.steal_share);
    foreign.into_iter().chain(steal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(half: u32, foreign: Option<f64>, steal: Option<f64>) -> Window {
        let duet =
            DuetWindow { number: 1, half, by_group: false, foreign_cpu_share: foreign, steal_share: steal };
        Window { duet: Some(duet), ..Window::default() }
    }

    const NONE: [Vec<&str>; 2] = [Vec::new(), Vec::new()];

    /// The kinds of disturbances of either side.
    fn kinds(mut first: Window, mut second: Window) -> [Vec<&'static str>; 2] {
        judge(&Bounds::default(), [&mut first, &mut second]);
        [first, second].map(|window| window.disturbances.iter().map(|d| d.kind.word()).collect())
    }

    #[test]
    fn what_hits_both_sides_alike_disturbs_neither() {
        let busy = |half| window(half, Some(0.6), Some(0.2));
        assert_eq!(kinds(busy(1), busy(2)), NONE);
        assert_eq!(kinds(window(1, Some(0.60), None), window(2, Some(0.51), None)), NONE);
    }

    #[test]
    fn what_hits_one_side_disturbs_that_one() {
        let (busy, quiet) = (window(1, Some(0.5), Some(0.1)), window(2, Some(0.3), Some(0.0)));
        assert_eq!(kinds(busy.clone(), quiet.clone()), [vec!["cpu-pressure", "steal"], vec![]]);
        assert_eq!(kinds(quiet, busy), [vec![], vec!["cpu-pressure", "steal"]]);
    }

    #[test]
    fn where_one_side_is_not_known_nothing_is_said() {
        assert_eq!(kinds(window(1, Some(0.9), Some(0.9)), window(2, None, None)), NONE);
        let alone = Window::default();
        assert_eq!(kinds(window(1, Some(0.9), None), alone), NONE);
    }

    #[test]
    fn the_evidence_names_both_sides() {
        let (mut busy, mut quiet) = (window(1, Some(0.5), None), window(2, Some(0.25), None));
        judge(&Bounds::default(), [&mut busy, &mut quiet]);
        let want = "processors used by other processes: 50.0 % of its half, 25.0 % of the other side's, limit 10.0 % more";
        assert_eq!(busy.disturbances[0].evidence, want);
    }
}
