//! A capacity for the terminal.

use super::words;
use assay_kit::ink::{Ink, fit};
use assay_kit::number::{count, half_width_percent, percent, significant};
use assay_kit::quantity::{figure, seconds};
use assay_kit::text::{clean, shorten};
use assay_kit::{Terminal, TerminalView};
use assay_model::{CapacityMethod, CapacityReport, Estimate, LimitAttribution};

const NAME: usize = 11;
const FIGURE: usize = 11;
const INTERVAL: usize = 17;
const CAUSE: usize = 36;
/// Causes of fewer misses are not worth a line.
const CAUSE_SHARE_MIN: f64 = 0.005;

/// The answer, the table of limits, what made requests late, and the checks that failed. Its lines are at most as wide as the
/// terminal, from 72 columns on.
pub fn render(report: &CapacityReport, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &head(report), Ink::dim);
    out.blank();
    let warning = match report.valid {
        Some(true) => "",
        Some(false) => "NOT VALID: do not use these figures. What is wrong stands below.",
        None => "VALIDITY UNKNOWN: why stands below.",
    };
    if !warning.is_empty() {
        out.paragraph(0, warning, Ink::warn);
    }
    for sentence in words::answer(report) {
        out.paragraph(0, &clean(&sentence), Ink::bold);
    }
    table(&mut out, report);
    if let Some(attribution) = report.attribution.iter().find(|attribution| attribution.misses > 0) {
        draw_attribution(&mut out, report, attribution);
    }
    checks(&mut out, report);
    out.problems(&words::other_problems(report));
    out.finish()
}

fn head(report: &CapacityReport) -> String {
    let method = match report.method {
        CapacityMethod::Search => "search",
        CapacityMethod::Sweep => "sweep",
    };
    let (target, windows) = (clean(&report.target), report.windows.len());
    format!(
        "{target}: {method} of {windows} windows, {} in all, seed {}",
        seconds(report.duration_s),
        report.seed
    )
}

fn table(out: &mut Terminal, report: &CapacityReport) {
    let head = format!(
        "{:NAME$}{:>FIGURE$}{:>INTERVAL$}{:>7}   {}",
        words::percentile(report) + " under",
        "requests/s",
        "interval",
        "± %",
        "tried"
    );
    out.blank();
    out.line(&out.ink.dim(head.trim_end()));
    for limit in &report.limits {
        let tried = match &limit.rate_per_s {
            None => words::absent(report, limit),
            Some(_) => {
                let [kept, missed] = [limit.last_success_per_s, limit.first_failure_per_s].map(figure);
                format!("kept at {kept}, missed at {missed}")
            }
        };
        line(out, &words::limit(limit.limit_ms), limit.rate_per_s.as_ref(), &tried);
    }
    if report.limits.len() > 1 {
        let what = "geometric mean of the rates above";
        line(out, "critical", report.critical_rate_per_s.as_ref(), what);
    }
    line(out, "sustained", report.max_rate_per_s.as_ref(), "whatever the response time");
    if words::has_interval(report) {
        out.paragraph(0, words::HOW_SURE, Ink::dim);
    }
}

fn line(out: &mut Terminal, name: &str, rate: Option<&Estimate>, note: &str) {
    let point = rate.map_or_else(|| "-".to_owned(), |r| significant(r.estimate));
    let interval = rate.and_then(words::interval).unwrap_or_else(|| "-".to_owned());
    let half = rate.and_then(|r| half_width_percent(r.estimate, r.ends())).unwrap_or_else(|| "-".to_owned());
    let figures = format!("{}{point:>FIGURE$}{interval:>INTERVAL$}{half:>7}", fit(name, NAME));
    let room = out.width.saturating_sub(figures.chars().count() + 3);
    out.line(&format!("{figures}   {}", out.ink.dim(&shorten(note, room))));
}

fn draw_attribution(out: &mut Terminal, report: &CapacityReport, attribution: &LimitAttribution) {
    let title = format!(
        "Why {} requests took longer than {}, in windows that the server kept up with",
        count(attribution.misses),
        words::limit(attribution.limit_ms)
    );
    out.blank();
    out.paragraph(0, &title, Ink::bold);
    let share_min = CAUSE_SHARE_MIN * attribution.misses as f64;
    for cause in attribution.causes.iter().filter(|c| share_min <= c.misses as f64 && c.misses > 0) {
        let by_chance = cause.expected.map_or_else(String::new, |expected| {
            format!(", {} by chance", percent(expected.round().max(0.0) as u64, attribution.misses))
        });
        let note = format!("met {}{by_chance}", percent(cause.overlapped, attribution.misses));
        let name = fit(words::cause(cause.cause), CAUSE);
        out.line(&format!(
            "  {name}{:>8}   {}",
            percent(cause.misses, attribution.misses),
            out.ink.dim(&note)
        ));
    }
    let none = fit(words::UNEXPLAINED, CAUSE);
    out.line(&format!("  {none}{:>8}", percent(attribution.unexplained, attribution.misses)));
    let key = "A cause counts where the request would have kept the limit without the time that it took; one request may have several.";
    out.paragraph(2, key, Ink::dim);
    if report.attribution.iter().filter(|b| b.misses > 0).count() > 1 {
        out.paragraph(2, "--json has the other limits.", Ink::dim);
    }
}

fn checks(out: &mut Terminal, report: &CapacityReport) {
    let of = |passed: Option<bool>| report.checks.iter().filter(move |c| c.passed == passed);
    let (good, failed, unknown) = (of(Some(true)).count(), of(Some(false)).count(), of(None).count());
    let title = match failed {
        0 => format!("Checks: {good} passed"),
        _ => format!("Checks: {failed} failed, {good} passed"),
    };
    let rest = if unknown > 0 { format!(", {unknown} without a verdict") } else { String::new() };
    out.heading(&format!("{title}{rest}"));
    for check in of(Some(false)).chain(of(None)) {
        let failed = check.passed.is_some();
        let text = format!("{} {}: {}", if failed { "✗" } else { "-" }, check.check, clean(&check.evidence));
        out.paragraph(2, &text, if failed { Ink::warn } else { Ink::dim });
    }
}
