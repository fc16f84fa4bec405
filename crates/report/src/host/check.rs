//! The check of a machine: what is bad with what to do, what is unknown and why, what is good.

use super::counts;
use super::words::{finding, found, groups, headline, subject};
use assay_findings::next_step;
use assay_kit::Table;
use assay_kit::document::{Answer, Block, Document, Figure, Finding, PageParts, Section};
use assay_kit::text::clean;
use assay_model::{HostReport, HostVerdict, Problem, Severity};

/// The check. Rules that hold or do not apply are on the page alone, unless `all` is asked for.
pub fn document(report: &HostReport, all: bool) -> Document {
    let bad: Vec<Finding> = groups(report, HostVerdict::Bad).iter().map(|group| finding(group)).collect();
    let answer = Answer {
        sentence: format!("{}.", headline(report)),
        action: next_step(&bad, "No rule found a setting to change."),
        chart: Some(verdicts(report)),
        rest: vec![Block::Findings(
            bad,
            "No rule found anything that costs memory, time or connections.".to_owned(),
        )],
        ..Answer::default()
    };
    let part =
        |id, title, short, verdict| Section::new(id, title, [rulings(report, verdict).into()]).called(short);
    let unknown = part("unknown", "What is unknown", "Unknown", HostVerdict::Unknown);
    let others = [
        part("good", "What is good", "Good", HostVerdict::Good).on_screen(),
        part("other", "What does not apply", "Other", HostVerdict::NotApplicable).on_screen(),
    ];
    let others = others.into_iter().map(|section| if all { section } else { section.page_only() });
    Document {
        lines: vec![subject(report).into()],
        sections: std::iter::once(unknown).chain(others).collect(),
        page: PageParts { made_by: clean(&report.provenance.assay_version), ..PageParts::default() },
        ..Document::new("Check of a machine and its JVMs, by Assay", "Check of a machine", answer)
            .with_problems(Problem::listed(&report.problems))
    }
}

/// How many rules have each verdict; what is bad by how grave it is.
fn verdicts(report: &HostReport) -> Figure {
    let bad = groups(report, HostVerdict::Bad);
    let grave = |severity| bad.iter().filter(|group| group[0].finding.severity == severity).count();
    let number = |verdict| groups(report, verdict).len();
    let rows = [
        ("bad: error", grave(Severity::Error), "bar s7"),
        ("bad: warning", grave(Severity::Warning), "bar s1"),
        ("bad: note", grave(Severity::Note), "bar s4"),
        ("unknown", number(HostVerdict::Unknown), "bar s5"),
        ("good", number(HostVerdict::Good), "bar s2"),
        ("not applicable", number(HostVerdict::NotApplicable), "bar s5 pale"),
    ];
    counts::figure(
        &rows,
        ("verdicts", "rules by verdict"),
        "Number of rules with each verdict.",
        "no rule was applied",
    )
}

/// What each rule with this verdict found, of each JVM.
fn rulings(report: &HostReport, verdict: HostVerdict) -> Table {
    let caption = match verdict {
        HostVerdict::Bad => "Rules that are broken",
        HostVerdict::Good => "Rules that are kept",
        HostVerdict::NotApplicable => "Rules that do not apply",
        HostVerdict::Unknown | HostVerdict::Other => "Rules without a verdict",
    };
    Table::of(caption, report.rulings.iter().filter(|ruling| ruling.verdict == verdict))
        .words("Rule", |ruling| ruling.finding.rule.to_string())
        .words("What was found", |ruling| found(ruling))
        .words("Read from", |ruling| clean(&ruling.reads.join(", ")))
        .if_room()
        .table()
}
