//! Conditions of a build: a line each for the terminal, and the JUnit XML that CI systems show.
//!
//! The form is that of Ant's JUnit task, <https://github.com/windyroad/JUnit-Schema>: `failure` is a condition that holds, `error` one
//! that the run does not decide.

use askama::Template;
use assay_kit::number::{count, significant};
use assay_model::{Estimate, GateCase, GateVerdict};
use std::io;

/// Unit of what is counted one by one.
const COUNTED: &str = "requests";

#[derive(Template)]
#[template(path = "junit.xml")]
struct Suite<'a> {
    suite: &'a str,
    failures: usize,
    errors: usize,
    cases: &'a [Case],
}

struct Case {
    name: String,
    failure: Option<String>,
    error: Option<String>,
}

/// What a result comes to for a build.
pub struct Judged<'a> {
    /// What was judged: a study, a log, a server, a machine.
    pub suite: &'a str,
    /// Why the result cannot be used; absent where it can.
    pub not_usable: Option<String>,
    /// The conditions.
    pub cases: &'a [Judgement],
}

/// A condition, and what became of it.
pub struct Judgement {
    /// The condition, and what it is about.
    pub name: String,
    /// What the result says.
    pub verdict: GateVerdict,
    /// The figures, on a line.
    pub found: String,
    /// Verdict, condition and figures, on a line.
    pub line: String,
}

impl From<&GateCase> for Judgement {
    fn from(gate: &GateCase) -> Self {
        let about = gate.variant.as_ref().map_or_else(String::new, |variant| format!(": {variant}"));
        let name = format!("{}{about}", gate.condition);
        Judgement { name, verdict: gate.verdict, found: found_by_gate(gate), line: line_of_gate(gate) }
    }
}

/// Writes a suite with a case for whether the result can be used, and one for each condition.
///
/// # Errors
/// Those of the writer.
pub fn render_junit(judged: &Judged<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let usable =
        Case { name: "the result can be used".to_owned(), failure: judged.not_usable.clone(), error: None };
    let of_gate = |gate: &Judgement| {
        let when = |verdict| (gate.verdict == verdict).then(|| gate.line.clone());
        Case {
            name: gate.name.clone(),
            failure: when(GateVerdict::Holds),
            error: when(GateVerdict::Undecided),
        }
    };
    let cases: Vec<Case> = std::iter::once(usable).chain(judged.cases.iter().map(of_gate)).collect();
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let errors = cases.iter().filter(|case| case.error.is_some()).count();
    let suite = Suite { suite: judged.suite, failures, errors, cases: &cases };
    writeln!(out, "{}", suite.render().map_err(io::Error::other)?)
}

/// The name of a verdict.
pub const fn verdict_word(verdict: GateVerdict) -> &'static str {
    match verdict {
        GateVerdict::Holds => "fails",
        GateVerdict::Passes => "passes",
        GateVerdict::NotShown => "not shown",
        GateVerdict::Undecided => "undecided",
    }
}

/// What a run says about a condition for one variant, on a line.
pub fn line_of_gate(gate: &GateCase) -> String {
    format!("{}: {}: {}", verdict_word(gate.verdict), gate.condition, found_by_gate(gate))
}

/// What was measured, of what, and what would decide more.
fn found_by_gate(gate: &GateCase) -> String {
    let about = match (&gate.variant, &gate.baseline) {
        (Some(variant), Some(baseline)) => format!("{variant} against {baseline} "),
        (Some(variant), None) => format!("{variant} "),
        (None, _) => String::new(),
    };
    let is_change = gate.baseline.is_some();
    let measured =
        gate.measured.map_or_else(|| "not measured".to_owned(), |value| shown(value, is_change, gate.unit));
    let again = gate.again.map_or_else(String::new, |value| {
        format!(", fresh blocks alone {}", shown(value, is_change, gate.unit))
    });
    let has_ends = gate.measured.is_some_and(|value| value.ends().is_some());
    let hint = match gate.verdict {
        GateVerdict::Holds | GateVerdict::Passes if gate.remedy.is_empty() || has_ends => String::new(),
        _ => format!("; {}", gate.remedy),
    };
    format!("{about}{measured}{again}{hint}")
}

fn shown(value: Estimate, is_change: bool, unit: &str) -> String {
    let number = |value: f64| match unit {
        _ if is_change => format!("{value:+.1}"),
        COUNTED if 0.0 <= value && value.fract() == 0.0 => count(value as u64),
        _ => significant(value),
    };
    let estimate = number(value.estimate);
    match value.ends() {
        Some((low, high)) if low == high => format!("{estimate} {unit}"),
        Some((low, high)) => format!("{estimate} {unit} [{}, {}]", number(low), number(high)),
        None => format!("{estimate} {unit}, without an interval"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(verdict: GateVerdict, measured: Option<Estimate>) -> GateCase {
        GateCase {
            condition: "cpu_ms_per_request > +3 %".to_owned(),
            variant: Some("<new>".to_owned()),
            baseline: Some("old".to_owned()),
            measured,
            again: None,
            unit: "%",
            verdict,
            remedy: "the interval contains the threshold: more blocks would narrow it".into(),
        }
    }

    #[test]
    fn a_line_has_the_change_and_its_interval() {
        let change = Estimate { estimate: 5.04, low: Some(4.0), high: Some(6.04) };
        assert_eq!(
            line_of_gate(&gate(GateVerdict::Holds, Some(change))),
            "fails: cpu_ms_per_request > +3 %: <new> against old +5.0 % [+4.0, +6.0]"
        );
        let exact = Estimate { low: Some(5.0), high: Some(5.0), estimate: 5.0 };
        let of_log = GateCase { baseline: None, unit: "ms", ..gate(GateVerdict::Passes, Some(exact)) };
        assert_eq!(line_of_gate(&of_log), "passes: cpu_ms_per_request > +3 %: <new> 5.00 ms");
        let six = Estimate { low: Some(6.0), high: Some(6.0), estimate: 6.0 };
        let counted = GateCase { baseline: None, unit: "requests", ..gate(GateVerdict::Passes, Some(six)) };
        assert_eq!(line_of_gate(&counted), "passes: cpu_ms_per_request > +3 %: <new> 6 requests");
        let remedy = "the log does not have it".into();
        let none = GateCase { variant: None, baseline: None, remedy, ..gate(GateVerdict::Undecided, None) };
        let line = "undecided: cpu_ms_per_request > +3 %: not measured; the log does not have it";
        assert_eq!(line_of_gate(&none), line);
        let wide = Estimate { estimate: 5.0, low: Some(-1.0), high: Some(11.0) };
        assert_eq!(
            line_of_gate(&gate(GateVerdict::NotShown, Some(wide))),
            "not shown: cpu_ms_per_request > +3 %: <new> against old +5.0 % [-1.0, +11.0]; the interval contains the threshold: more \
             blocks would narrow it"
        );
    }

    #[test]
    fn what_recurs_is_shown_with_both_sets() {
        let estimate = |of: f64| Estimate { estimate: of, low: Some(of - 1.0), high: Some(of + 1.0) };
        let again = Some(estimate(4.8));
        let case = GateCase { again, ..gate(GateVerdict::Holds, Some(estimate(5.0))) };
        assert_eq!(
            line_of_gate(&case),
            "fails: cpu_ms_per_request > +3 %: <new> against old +5.0 % [+4.0, +6.0], fresh blocks alone +4.8 % [+3.8, +5.8]"
        );
    }

    #[test]
    fn names_are_escaped_in_xml() {
        let cases = [
            Case { name: "a < b & \"c\"".to_owned(), failure: None, error: None },
            Case { name: "d".to_owned(), failure: Some("1 > 0".to_owned()), error: None },
        ];
        let suite = Suite { suite: "x", failures: 1, errors: 0, cases: &cases };
        let text = suite.render().expect("it renders");
        assert!(text.contains("a &#60; b &#38; &#34;c&#34;"), "{text}");
        assert!(text.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{text}");
        assert!(text.contains("<failure message=\"1 &#62; 0\"/>"), "{text}");
    }
}
