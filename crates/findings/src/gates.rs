//! Conditions of a build: a line each for the terminal, and the JUnit XML that CI systems show.
//!
//! The form is that of Ant's JUnit task, <https://github.com/windyroad/JUnit-Schema>: `failure` is a condition that holds, `error` one
//! that the run does not decide.

use askama::Template;
use assay_kit::number::significant;
use assay_model::{Estimate, GateCase, GateVerdict, StoredRun};
use std::io;

#[derive(Template)]
#[template(path = "junit.xml")]
struct Suite<'a> {
    study: &'a str,
    failures: usize,
    errors: usize,
    cases: &'a [Case],
}

struct Case {
    name: String,
    failure: Option<String>,
    error: Option<String>,
}

/// Writes a suite with a case for whether anything counts, and one for each condition and variant.
///
/// # Errors
/// Those of the writer.
pub fn render_junit(run: &StoredRun, gates: &[GateCase], out: &mut dyn io::Write) -> io::Result<()> {
    let primary = &run.plan.primary_metric;
    let nothing = format!("no variant has a value of {primary} that can be used");
    let answer = Case {
        name: format!("{primary} counts"),
        failure: (!run.has_answer()).then_some(nothing),
        error: None,
    };
    let of_gate = |gate: &GateCase| {
        let when = |verdict| (gate.verdict == verdict).then(|| line_of_gate(gate));
        let about = gate.variant.as_ref().map_or_else(String::new, |variant| format!(": {variant}"));
        Case {
            name: format!("{}{about}", gate.condition),
            failure: when(GateVerdict::Holds),
            error: when(GateVerdict::Undecided),
        }
    };
    let cases: Vec<Case> = std::iter::once(answer).chain(gates.iter().map(of_gate)).collect();
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let errors = cases.iter().filter(|case| case.error.is_some()).count();
    let suite = Suite { study: &run.plan.study, failures, errors, cases: &cases };
    writeln!(out, "{}", suite.render().map_err(io::Error::other)?)
}

/// What a run says about a condition for one variant, on a line.
pub fn line_of_gate(gate: &GateCase) -> String {
    let word = match gate.verdict {
        GateVerdict::Holds => "fails",
        GateVerdict::NotShown => "passes",
        GateVerdict::Undecided => "undecided",
    };
    let about = match (&gate.variant, &gate.baseline) {
        (Some(variant), Some(baseline)) => format!("{variant} against {baseline} "),
        (Some(variant), None) => format!("{variant} "),
        (None, _) => String::new(),
    };
    let is_change = gate.baseline.is_some();
    let measured =
        gate.measured.map_or_else(|| "not measured".to_owned(), |value| shown(value, is_change, gate.unit));
    let hint = match (gate.verdict, gate.measured) {
        (GateVerdict::Undecided, Some(_)) => "; more blocks make the interval narrower",
        (GateVerdict::Undecided, None) => {
            "; the study measures what its `observe` names, a change only with two variants"
        }
        _ => "",
    };
    format!("{word}: {}: {about}{measured}{hint}", gate.condition)
}

fn shown(value: Estimate, is_change: bool, unit: &str) -> String {
    let number = |value: f64| if is_change { format!("{value:+.1}") } else { significant(value) };
    let estimate = number(value.estimate);
    match value.ends() {
        Some((low, high)) => format!("{estimate} {unit} [{}, {}]", number(low), number(high)),
        None => format!("{estimate} {unit}, too few blocks for an interval"),
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
            unit: "%",
            verdict,
        }
    }

    #[test]
    fn a_line_has_the_change_and_its_interval() {
        let change = Estimate { estimate: 5.04, low: Some(4.0), high: Some(6.04) };
        assert_eq!(
            line_of_gate(&gate(GateVerdict::Holds, Some(change))),
            "fails: cpu_ms_per_request > +3 %: <new> against old +5.0 % [+4.0, +6.0]"
        );
        let none = GateCase { variant: None, baseline: None, ..gate(GateVerdict::Undecided, None) };
        assert!(
            line_of_gate(&none).starts_with("undecided: cpu_ms_per_request > +3 %: not measured; the study")
        );
        let wide = Estimate { estimate: 5.0, low: Some(-1.0), high: Some(11.0) };
        assert!(
            line_of_gate(&gate(GateVerdict::Undecided, Some(wide)))
                .ends_with("; more blocks make the interval narrower")
        );
    }

    #[test]
    fn names_are_escaped_in_xml() {
        let cases = [
            Case { name: "a < b & \"c\"".to_owned(), failure: None, error: None },
            Case { name: "d".to_owned(), failure: Some("1 > 0".to_owned()), error: None },
        ];
        let suite = Suite { study: "x", failures: 1, errors: 0, cases: &cases };
        let text = suite.render().expect("it renders");
        assert!(text.contains("a &#60; b &#38; &#34;c&#34;"), "{text}");
        assert!(text.contains("tests=\"2\" failures=\"1\" errors=\"0\""), "{text}");
        assert!(text.contains("<failure message=\"1 &#62; 0\"/>"), "{text}");
    }
}
