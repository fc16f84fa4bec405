//! Whether machine and server were as fast in each window as in the others: what a capacity can at best be known to.
//!
//! On a machine that is shared, a neighbour may slow memory down for a minute without taking any time that is counted. Work that is
//! always the same, done between windows, shows that ([`assay_host::SpeedProbe`]); the server's own CPU time for an answer shows
//! what it does to the server, and what the server's state does besides.

use super::drift::Drift;
use super::facts::{RunFacts, WindowFacts};
use super::verdict::verdict;
use assay_model::{Check, Problem, ValidityCheck};

/// Fewer figures say nothing of how far they move.
const FIGURES_MIN: usize = 5;
/// Windows whose CPU time for an answer is compared: of rates from this part of the highest sustained one up to it. Far below,
/// the same answer takes more, since threads and collections start for each anew; beyond, much goes to what is not answered.
const COMPARED_FROM: f64 = 0.7;

/// How far figures are from their median: the middle nine tenths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    /// In the unit of the figures.
    median: f64,
    /// Ends of the nine tenths, less the median, as shares of it.
    low: f64,
    high: f64,
    figures: usize,
}

impl Moved {
    fn of(figures: &[f64]) -> Option<Moved> {
        let at = |p: f64| assay_stats::quantile(figures, p);
        let median = at(0.5).filter(|median| 0.0 < *median && FIGURES_MIN <= figures.len())?;
        let from_median = |p: f64| Some(at(p)? / median - 1.0);
        Some(Moved { median, low: from_median(0.05)?, high: from_median(0.95)?, figures: figures.len() })
    }

    /// The larger way from the median.
    fn most(&self) -> f64 {
        self.high.max(-self.low)
    }

    fn words(&self) -> String {
        format!("{:+.1} to {:+.1} %", 100.0 * self.low, 100.0 * self.high)
    }
}

/// How far the speed of machine and server moved; what was not measured is absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steadiness {
    compute: Option<Moved>,
    memory: Option<Moved>,
    server: Option<Moved>,
}

impl Steadiness {
    pub(crate) fn of(windows: &[WindowFacts], sustained_per_s: Option<f64>) -> Steadiness {
        let counted = || windows.iter().filter(|w| w.disturbances.is_empty());
        let moved = |figure: &dyn Fn(&WindowFacts) -> Option<f64>| {
            Moved::of(&counted().filter_map(figure).collect::<Vec<f64>>())
        };
        let is_compared = |w: &WindowFacts| {
            sustained_per_s.is_some_and(|most| {
                w.is_sustained && (COMPARED_FROM * most..=most).contains(&w.offered_rate_per_s)
            })
        };
        Steadiness {
            compute: moved(&|w| w.machine?.arithmetic_ns),
            memory: moved(&|w| Some(w.machine?.memory_ns)),
            server: moved(&|w| w.server_cpu_ms.filter(|_| is_compared(w))),
        }
    }

    /// Why an interval may be wider than asked, if machine or server moved by more than that.
    pub(crate) fn why_not(&self, half_width_share: f64) -> Option<String> {
        let beyond = |moved: Option<Moved>| moved.filter(|moved| half_width_share < moved.most());
        let asked = 100.0 * half_width_share;
        if let Some((kind, moved)) = beyond(self.compute)
            .map(|moved| ("arithmetic", moved))
            .or_else(|| beyond(self.memory).map(|moved| ("walk through memory", moved)))
        {
            return Some(format!(
                "this machine does not allow ±{asked:.0} %: between windows the same {kind} took {} of its \
                    median CPU time, measured {} times. Other users of the same host may be the cause",
                moved.words(),
                moved.figures
            ));
        }
        beyond(self.server).map(|moved| {
            format!(
                "the server does not allow ±{asked:.0} %: just below its highest rate, CPU time per answer \
                    was {} of the median in {} windows. The machine was as fast as before",
                moved.words(),
                moved.figures
            )
        })
    }
}

/// How wide the interval of the maximum is taken to be where it has none, as in a sweep: twice what a search is asked for.
const WIDTH_WITHOUT_INTERVAL: f64 = 0.1;

/// What moves to and fro makes intervals wider, and that they show. The medians say how like each other the machines of two results
/// were: of ten searches on one server the lowest critical rate was 4,810 with 151 ns a read from memory, the highest 7,330 with 131.
///
/// A figure that moves one way fails where it moves by more than the interval of the maximum is wide: then no figure in it holds for the server
/// as it was at the beginning and as it was at the end. Within it the interval holds both, and the result stands; the drift is a problem
/// of it all the same.
pub(super) fn check(facts: &RunFacts<'_>) -> ValidityCheck {
    let Steadiness { compute, memory, server } = Steadiness::of(&facts.windows, facts.sustained_per_s);
    let of_machine = compute.zip(memory).map(|(compute, memory)| {
        format!(
            "the same work took {:.2} ns a step of arithmetic ({}) and {:.0} ns a read from memory ({}), {} times between windows",
            compute.median,
            compute.words(),
            memory.median,
            memory.words(),
            memory.figures
        )
    });
    let of_server = server.map(|server| {
        format!(
            "the server took {:.3} ms for an answer ({}), {} windows just below its highest rate",
            server.median,
            server.words(),
            server.figures
        )
    });
    let known: Vec<String> = of_machine.into_iter().chain(of_server).collect();
    let evidence = match known.as_slice() {
        [] => "not known of five windows that count (--pid names the server's process)".to_owned(),
        known => format!("{}, CPU time, medians with the middle nine tenths, not judged", known.join("; ")),
    };
    let Some(drift) = Drift::of(facts) else { return verdict(Check::Steadiness, None, evidence) };
    let width = facts.sustained_interval.map_or(WIDTH_WITHOUT_INTERVAL, |(low, high)| (high / low).ln());
    let (is_within, words) = (drift.is_within(width), drift.words());
    let than = match facts.sustained_interval {
        Some(_) => format!("the interval of the max rate, which is {:.0} % wide", 100.0 * width.exp_m1()),
        None => "what the interval of a search would hold".to_owned(),
    };
    let drifted = match is_within {
        true => format!("{words}, that is within {than}"),
        false => format!(
            "{words}, that is beyond {than}, and the figures are an average of servers that differ: {}",
            drift.remedy()
        ),
    };
    verdict(Check::Steadiness, Some(is_within), format!("{drifted}; {evidence}"))
}

/// A drift that does not make the result invalid, which is a problem of it.
pub(crate) fn drift_within_interval(checks: &[ValidityCheck]) -> Option<Problem> {
    let passed = |check: &&ValidityCheck| check.check == Check::Steadiness && check.passed == Some(true);
    checks.iter().find(passed).map(|check| Problem::new(check.check.word(), check.evidence.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(figures: &[f64]) -> Option<Moved> {
        Moved::of(figures)
    }

    fn steadiness(compute: &[f64], memory: &[f64], server: &[f64]) -> Steadiness {
        Steadiness { compute: moved(compute), memory: moved(memory), server: moved(server) }
    }

    const STEADY: [f64; 6] = [1.0, 1.01, 0.99, 1.0, 1.02, 1.0];
    const MOVED: [f64; 6] = [1.0, 1.01, 0.99, 1.0, 1.2, 1.15];

    #[test]
    fn a_few_figures_say_nothing() {
        assert_eq!(moved(&STEADY[..4]), None);
        assert_eq!(moved(&[0.0; 9]), None);
        assert!(moved(&[f64::NAN; 9]).is_none());
    }

    #[test]
    fn the_middle_nine_tenths_are_told() {
        let figures: Vec<f64> = (0..=100).map(|i| 0.9 + 0.002 * f64::from(i)).collect();
        let moved = moved(&figures).expect("figures enough");
        assert_eq!((moved.words().as_str(), moved.figures), ("-9.0 to +9.0 %", 101));
        assert!((moved.most() - 0.09).abs() < 1e-9);
    }

    #[test]
    fn who_moved_is_why() {
        let why = |steadiness: Steadiness| steadiness.why_not(0.05);
        assert_eq!(why(steadiness(&STEADY, &STEADY, &STEADY)), None);
        assert_eq!(why(steadiness(&[], &[], &[])), None);
        let of_memory = why(steadiness(&STEADY, &MOVED, &MOVED)).expect("memory moved");
        assert!(
            of_memory
                .contains("this machine does not allow ±5 %: between windows the same walk through memory"),
            "{of_memory}"
        );
        let of_server = why(steadiness(&STEADY, &STEADY, &MOVED)).expect("the server moved");
        assert!(of_server.starts_with("the server does not allow ±5 %"), "{of_server}");
        assert_eq!(steadiness(&STEADY, &STEADY, &MOVED).why_not(0.2), None);
    }
}
