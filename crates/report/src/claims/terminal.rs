//! Checked claims for the terminal: what is wrong first.

use assay_kit::TerminalView;
use assay_kit::ink::{Ink, paragraph};
use assay_kit::terminal::usable;
use assay_kit::text::{clean, shorten};
use assay_model::{CheckedClaim, ClaimReport, ClaimVerdict};

/// Characters of a sentence that are shown.
const SENTENCE_MAX: usize = 400;

/// Every claim with its judgement, the wrong ones first, and a line that counts them. Lines are at most as wide as the
/// terminal, from 72 columns on.
pub fn render_claims_terminal(report: &ClaimReport, view: TerminalView) -> String {
    let (ink, width) = (Ink(view.color), usable(view.width));
    let mut out = String::new();
    let against = match &report.study {
        Some(study) => format!("held against their own numbers and the run of {}", clean(study)),
        None => "held against their own numbers".to_owned(),
    };
    paragraph(&mut out, 0, width, &format!("Claims of {}, {against}", clean(&report.text)), |l| ink.dim(l));
    let (wrong, rest): (Vec<&CheckedClaim>, Vec<&CheckedClaim>) =
        report.claims.iter().partition(|c| c.verdict.is_wrong());
    for claim in wrong.iter().chain(&rest) {
        row(&mut out, claim, ink, width);
    }
    let of = |verdict: ClaimVerdict| report.claims.iter().filter(|c| c.verdict == verdict).count();
    let (unknown, unchecked) = (of(ClaimVerdict::NotUnderstood), of(ClaimVerdict::NotChecked));
    let good = report.claims.len() - wrong.len() - unknown - unchecked;
    let sum =
        format!("{} wrong, {good} right, {unchecked} not checked, {unknown} not understood", wrong.len());
    out += &format!("\n{}\n", ink.bold(&sum));
    for problem in &report.problems {
        paragraph(&mut out, 0, width, &format!("problem: {}", clean(&problem.text)), |l| ink.warn(l));
    }
    out
}

fn row(out: &mut String, claim: &CheckedClaim, ink: Ink, width: usize) {
    let mark = match claim.verdict {
        v if v.is_wrong() => "✗",
        ClaimVerdict::NotChecked | ClaimVerdict::NotUnderstood => "-",
        _ => "✓",
    };
    let what = if claim.claim.is_empty() { String::new() } else { format!(", {}", clean(&claim.claim)) };
    let names = match (&claim.variant, &claim.baseline) {
        (Some(variant), Some(baseline)) => format!(" ({} against {})", clean(variant), clean(baseline)),
        _ => String::new(),
    };
    let head = format!("{mark} {}: line {}{what}{names}", words(claim.verdict), claim.line);
    out.push('\n');
    let style = |line: &str| match mark {
        "✗" => ink.warn(line),
        "✓" => ink.good(line),
        _ => line.to_owned(),
    };
    paragraph(out, 0, width, &head, style);
    let sentence = shorten(&clean(&claim.sentence), SENTENCE_MAX);
    paragraph(out, 4, width, &format!("“{sentence}”"), |l| ink.dim(l));
    paragraph(out, 4, width, &clean(&claim.evidence), str::to_owned);
}

/// A judgement in words.
fn words(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Right => "right",
        ClaimVerdict::WithinRounding => "right within rounding",
        ClaimVerdict::WithinInterval => "within the interval",
        ClaimVerdict::NotChecked => "not checked",
        ClaimVerdict::NotUnderstood => "not understood",
        ClaimVerdict::NotShown => "not shown: noise",
        ClaimVerdict::OutsideInterval => "outside the interval",
        ClaimVerdict::WrongArithmetic => "wrong arithmetic",
        ClaimVerdict::WrongDirection => "wrong way round",
        ClaimVerdict::Conflicts => "contradicts another line",
    }
}
