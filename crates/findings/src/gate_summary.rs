//! What conditions come to, as the Markdown that CI systems show as the summary of a build.

use super::gates::{Judged, Judgement, verdict_word};
use assay_kit::Table;
use assay_kit::number::counted;
use assay_kit::text::markdown;
use assay_model::GateVerdict;
use std::io;

/// Writes the verdict, a row for each condition, and the result in its own Markdown below.
///
/// # Errors
/// Those of the writer.
pub fn render_gate_summary(judged: &Judged<'_>, result: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "# {}: {}\n", markdown(judged.suite), verdict(judged))?;
    if let Some(why) = &judged.not_usable {
        writeln!(out, "The result cannot be used: {}.\n", markdown(why))?;
    }
    let table = Table::of("Conditions", judged.cases)
        .words("Verdict", |case: &&Judgement| verdict_word(case.verdict).to_owned())
        .words("Condition", |case| case.name.clone())
        .words("What was found", |case| case.found.clone())
        .table()
        .unless_empty();
    if let Some(table) = table {
        writeln!(out, "{}", table.markdown())?;
    }
    out.write_all(result.as_bytes())
}

/// The gravest of the verdicts, in the order of the exit codes.
fn verdict(judged: &Judged<'_>) -> String {
    let number = |verdict| judged.cases.iter().filter(|case| case.verdict == verdict).count() as u64;
    let conditions = |number| counted(number, "condition", "conditions");
    match (number(GateVerdict::Holds), number(GateVerdict::Undecided), judged.not_usable.is_some()) {
        (0, 0, false) => "passes".to_owned(),
        (0, 0, true) => "fails, since the result cannot be used".to_owned(),
        (0, undecided, _) => format!("undecided, {}", conditions(undecided)),
        (failed, ..) => format!("fails, {failed} of {}", conditions(judged.cases.len() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_stands_over_its_conditions_and_the_result_below() {
        let case = |verdict| Judgement {
            name: "rss > 1".to_owned(),
            verdict,
            found: "a|b".to_owned(),
            line: format!("{}: rss > 1: a|b", verdict_word(verdict)),
        };
        let of = |verdicts: &[GateVerdict], not_usable: Option<&str>| {
            let cases: Vec<Judgement> = verdicts.iter().copied().map(case).collect();
            let judged = Judged { suite: "a*b", not_usable: not_usable.map(str::to_owned), cases: &cases };
            let mut out = Vec::new();
            render_gate_summary(&judged, "# Result\n", &mut out).expect("a vector takes all");
            String::from_utf8(out).expect("UTF-8")
        };
        use GateVerdict::{Holds, NotShown, Passes, Undecided};
        let text = of(&[Passes, Holds], None);
        assert!(text.starts_with("# a\\*b: fails, 1 of 2 conditions\n"), "{text}");
        assert!(text.contains("| fails | rss &gt; 1 | a\\|b |"), "{text}");
        assert!(text.ends_with("\n# Result\n"), "{text}");
        assert!(of(&[Passes, NotShown], None).starts_with("# a\\*b: passes\n"));
        assert!(of(&[Passes, Undecided], None).starts_with("# a\\*b: undecided, 1 condition\n"));
        let unusable = of(&[], Some("nothing counts"));
        assert!(unusable.contains(
            "fails, since the result cannot be used\n\nThe result cannot be used: nothing counts."
        ));
    }
}
