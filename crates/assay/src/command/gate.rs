//! What conditions of a build make of the end of a command: the same words and the same rule for `--fail-if` of `assay run`, `load`, `gc` and
//! `gc diff`, and for `assay capacity --at-least`.

use crate::arguments::GateFilesArguments;
use crate::failure::Failure;
use crate::output_file::{can_be_written, write_result};
use assay_findings::{Judged, Judgement, render_gate_summary, render_junit};
use assay_model::{GateCase, GateVerdict};
use std::process::ExitCode;

/// A condition holds, or a result cannot be used.
const FAILS: u8 = 1;
/// A condition cannot be decided.
const UNDECIDED: u8 = 3;

/// Says what each condition comes to, on standard error.
pub fn tell(cases: &[GateCase]) {
    cases.iter().for_each(|case| say!("{}", assay_findings::line_of_gate(case)));
}

/// Refuses files that cannot be written, before anything is measured.
pub fn check_files(files: &GateFilesArguments) -> Result<(), Failure> {
    [&files.junit, &files.summary].into_iter().flatten().try_for_each(|path| can_be_written(path))
}

/// Writes what was judged into the files that were named; `markdown` is the result, for the summary.
pub fn write_files(
    files: &GateFilesArguments,
    judged: &Judged<'_>,
    markdown: &dyn Fn() -> String,
) -> Result<(), Failure> {
    if let Some(path) = &files.junit {
        write_result(path, |out| render_junit(judged, out))?;
    }
    if let Some(path) = &files.summary {
        write_result(path, |out| render_gate_summary(judged, &markdown(), out))?;
    }
    Ok(())
}

/// The same of a result whose conditions have figures.
pub fn write_cases(
    files: &GateFilesArguments,
    (suite, not_usable): (&str, Option<String>),
    cases: &[GateCase],
    markdown: &dyn Fn() -> String,
) -> Result<(), Failure> {
    let cases: Vec<Judgement> = cases.iter().map(Judgement::from).collect();
    write_files(files, &Judged { suite, not_usable, cases: &cases }, markdown)
}

/// What a result can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Usable {
    /// For everything that was asked.
    Yes,
    /// Not for a comparison: only one side has a value.
    OneSide,
    /// For nothing.
    No,
}

impl From<bool> for Usable {
    fn from(is_good: bool) -> Usable {
        if is_good { Usable::Yes } else { Usable::No }
    }
}

/// A failure counts more than an undecided condition, and a condition more than whether the result can be used: where nothing
/// counts, no condition can be decided.
pub fn exit_code(usable: impl Into<Usable>, cases: &[GateCase]) -> ExitCode {
    ExitCode::from(code(usable.into(), cases))
}

fn code(usable: Usable, cases: &[GateCase]) -> u8 {
    let any = |verdict| cases.iter().any(|case| case.verdict == verdict);
    match (any(GateVerdict::Holds), any(GateVerdict::Undecided), usable) {
        (true, _, _) => FAILS,
        (false, true, _) | (false, false, Usable::OneSide) => UNDECIDED,
        (false, false, Usable::No) => FAILS,
        (false, false, Usable::Yes) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(verdict: GateVerdict) -> GateCase {
        GateCase {
            condition: "rss_bytes > 1".to_owned(),
            variant: None,
            baseline: None,
            measured: None,
            again: None,
            unit: "MiB",
            verdict,
            remedy: "".into(),
        }
    }

    #[test]
    fn the_worst_condition_decides_the_exit_code() {
        use GateVerdict::{Holds, NotShown, Passes, Undecided};
        let of = |usable, verdicts: &[GateVerdict]| {
            code(usable, &verdicts.iter().copied().map(case).collect::<Vec<_>>())
        };
        assert_eq!([Usable::Yes, Usable::OneSide, Usable::No].map(|usable| of(usable, &[])), [0, 3, 1]);
        assert_eq!(of(Usable::Yes, &[Passes, NotShown]), 0);
        assert_eq!(of(Usable::Yes, &[Passes, Undecided]), 3);
        assert_eq!(of(Usable::Yes, &[Undecided, Holds]), 1);
        assert_eq!(of(Usable::OneSide, &[Passes]), 3, "nothing is compared");
        assert_eq!(of(Usable::OneSide, &[Holds]), 1);
        assert_eq!(of(Usable::No, &[Passes]), 1, "a result that cannot be used");
        assert_eq!(of(Usable::No, &[Undecided]), 3, "nothing counts");
    }
}
