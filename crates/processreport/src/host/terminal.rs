//! The check of a machine on a terminal: what is bad first, with what to do; then what is unknown, with the reason.

use super::words::{found, groups, headline, subject, told};
use assay_findings::{FindingText, to_terminal};
use assay_kit::ink::{Ink, fit};
use assay_kit::number::counted;
use assay_kit::text::{clean, to_the_second};
use assay_kit::{Terminal, TerminalView};
use assay_model::{HostComparison, HostReport, HostRuling, HostVerdict, Problem, SettingChange};

/// What is bad and what is unknown; with `all` also what is good, and what does not apply.
pub fn render(report: &HostReport, all: bool, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &subject(report), Ink::plain);
    out.paragraph(0, &headline(report), Ink::bold);
    let bad: Vec<FindingText> = groups(report, HostVerdict::Bad).iter().map(|group| told(group)).collect();
    if !bad.is_empty() {
        out.blank();
    }
    to_terminal(&mut out, &bad);
    brief(&mut out, "Unknown", &groups(report, HostVerdict::Unknown), Ink::warn);
    if all {
        brief(&mut out, "Good", &groups(report, HostVerdict::Good), Ink::good);
        brief(&mut out, "Not applicable", &groups(report, HostVerdict::NotApplicable), Ink::dim);
    }
    out.problems(&Problem::listed(&report.problems));
    out.finish()
}

/// One line for each JVM that a rule speaks of.
fn brief(out: &mut Terminal, title: &str, groups: &[Vec<&HostRuling>], style: fn(Ink, &str) -> String) {
    if groups.is_empty() {
        return;
    }
    out.blank();
    out.line(&style(out.ink, title));
    let widest = groups.iter().map(|group| group[0].finding.rule.word().len()).max().unwrap_or(0);
    for group in groups {
        let head = format!("  {}  ", fit(group[0].finding.rule.word(), widest));
        let others = match group.len() {
            1 => String::new(),
            more => format!(" (and {})", counted(more as u64 - 1, "other JVM", "other JVMs")),
        };
        out.hanging(&head, widest + 4, &format!("{}{others}", found(group[0])), Ink::plain);
    }
}

/// What differs between two machines, or between one before and after.
pub fn render_comparison(comparison: &HostComparison, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    let [before, after] = comparison.taken_at.each_ref().map(|at| to_the_second(at));
    out.paragraph(0, &format!("{before} → {after}"), Ink::plain);
    if comparison.rulings.is_empty() && comparison.settings.is_empty() && comparison.machine.is_empty() {
        out.paragraph(0, "no difference in machine, settings and verdicts", Ink::bold);
        return out.finish();
    }
    changes(&mut out, "Machine", &comparison.machine);
    if !comparison.rulings.is_empty() {
        out.heading("Verdicts about the machine");
    }
    for change in &comparison.rulings {
        let [before, after] = change.verdicts;
        out.paragraph(
            2,
            &format!("{}: {before} → {after}  ({})", change.rule, clean(&change.title)),
            Ink::plain,
        );
    }
    changes(&mut out, "Settings", &comparison.settings);
    out.finish()
}

fn changes(out: &mut Terminal, heading: &str, changes: &[SettingChange]) {
    if changes.is_empty() {
        return;
    }
    out.heading(heading);
    for SettingChange { name, values } in changes {
        let [before, after] = values.each_ref().map(|value| value.as_deref().map_or("-".to_owned(), clean));
        out.paragraph(2, &format!("{}: {before} → {after}", clean(name)), Ink::plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_kit::EntriesShown;

    const VIEW: TerminalView = TerminalView { width: 80, color: false, entries: EntriesShown::All };

    fn stored<T: serde::de::DeserializeOwned>(text: &str) -> T {
        serde_json::from_str(text).expect("a kept result")
    }

    #[test]
    fn bad_verdicts_come_first_with_what_to_do_and_every_line_fits() {
        let report: HostReport = stored(include_str!("../../../../testdata/formats/host-check-1.json"));
        let text = render(&report, true, VIEW);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part:?} in {text}"));
        assert!(at("6 rules bad (2 errors)") < at("accept-overflow"));
        assert!(at("accept-overflow") < at("→ sysctl -w net.core.netdev_max_backlog"));
        assert!(at("undo: sysctl") < at("note     Not met: Collections are logged"));
        assert!(at("Unknown") < at("Good") && at("Good") < at("Not applicable"));
        assert!(!render(&report, false, VIEW).contains("Not applicable"));
    }

    #[test]
    fn a_comparison_names_what_differs() {
        let comparison: HostComparison =
            stored(include_str!("../../../../testdata/formats/host-comparison-1.json"));
        let text = render_comparison(&comparison, VIEW);
        assert!(
            text.contains("accept-queue: good → bad") && text.contains("somaxconn: 4096 → 128"),
            "{text}"
        );
    }
}
