//! What rules say of a machine, in words.

use assay_kit::document::Finding;
use assay_kit::number::{count, counted, grouped, size};
use assay_kit::text::{clean, to_the_second};
use assay_model::{HostReport, HostRuling, HostVerdict, Severity};

/// JVMs that are named where a rule says the same of many.
const JVMS_NAMED: usize = 4;

/// The machine, and when it was read.
pub fn subject(report: &HostReport) -> String {
    let of = &report.provenance;
    let parts = [
        of.os.as_deref().map(clean),
        of.kernel.as_deref().map(|kernel| format!("kernel {}", clean(kernel))),
        of.cpus.map(|cpus| counted(u64::from(cpus), "processor", "processors")),
        of.memory_bytes.map(size),
        Some(counted(report.jvms as u64, "JVM", "JVMs")),
        (report.not_readable != 0).then(|| {
            format!("{} could not be read", counted(report.not_readable as u64, "process", "processes"))
        }),
        Some(to_the_second(&report.taken_at)),
    ];
    parts.into_iter().flatten().collect::<Vec<String>>().join(" · ")
}

/// How many rules say what.
pub fn headline(report: &HostReport) -> String {
    let number = |verdict| groups(report, verdict).len() as u64;
    let grave = groups(report, HostVerdict::Bad)
        .iter()
        .filter(|group| group[0].finding.severity == Severity::Error)
        .count();
    let errors =
        if grave == 0 { String::new() } else { format!(" ({})", counted(grave as u64, "error", "errors")) };
    format!(
        "{} bad{errors}, {} unknown, {} good, {} not applicable",
        counted(number(HostVerdict::Bad), "rule", "rules"),
        count(number(HostVerdict::Unknown)),
        count(number(HostVerdict::Good)),
        count(number(HostVerdict::NotApplicable))
    )
}

/// What has this verdict, in the report's order; what a rule says of several JVMs together.
pub fn groups(report: &HostReport, verdict: HostVerdict) -> Vec<Vec<&HostRuling>> {
    let mut groups: Vec<Vec<&HostRuling>> = Vec::new();
    for ruling in report.rulings.iter().filter(|ruling| ruling.verdict == verdict) {
        match groups.iter_mut().find(|group| group[0].finding.rule == ruling.finding.rule) {
            Some(group) => group.push(ruling),
            None => groups.push(vec![ruling]),
        }
    }
    groups
}

/// What is bad, of several JVMs in one.
pub fn finding(group: &[&HostRuling]) -> Finding {
    let first = group[0];
    let mut of = assay_findings::in_words(&first.finding, "");
    of.claim = clean(&first.fault());
    of.evidence = group.iter().take(JVMS_NAMED).map(|ruling| found(ruling)).collect();
    if JVMS_NAMED < group.len() {
        let more = count((group.len() - JVMS_NAMED) as u64);
        of.evidence.push(format!("{more} more JVMs (--json has them)"));
    }
    of.effects.extend(first.conflicts.iter().map(|conflict| format!("but: {}", clean(conflict))));
    of
}

/// The value and what it is of.
pub fn found(ruling: &HostRuling) -> String {
    let value =
        ruling.value.as_deref().map(|value| format!("{}: ", clean(&grouped(value)))).unwrap_or_default();
    format!("{}{value}{}", jvm(ruling), clean(&ruling.finding.evidence_line()))
}

fn jvm(ruling: &HostRuling) -> String {
    let program = ruling.program.as_deref().map(|program| format!(" {}", clean(program))).unwrap_or_default();
    ruling.pid.map(|pid| format!("JVM {pid}{program}: ")).unwrap_or_default()
}
