//! Several logs: a row for each, the worst first.

use super::log::STYLE;
use super::words;
use assay_kit::document::{Answer, Document, PageParts, Section};
use assay_kit::number::counted;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{GcFigure, GcReport, Severity, gc_figure};

/// What of a log stands in a table of several.
#[derive(Debug, Clone)]
pub struct LogRow {
    name: String,
    worst: Option<(Severity, String)>,
    stopped_percent: Option<f64>,
    longest_ms: Option<f64>,
    throughput: Cell,
    p99: Cell,
    longest: Cell,
    full: Cell,
    live_set: Cell,
}

/// The row of a log, which is called `name`.
pub fn log_row(report: &GcReport, name: &str) -> LogRow {
    let value = |id: &str| GcFigure::by_id(id).and_then(|figure| figure.read(report));
    let cell = |id: &str| Cell::from(words::figure_of(id, value(id)));
    let throughput = value(gc_figure::THROUGHPUT_PERCENT);
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    let claim = |severity| {
        let first = report.findings.iter().find(|finding| finding.severity == severity)?;
        Some((severity, first.claim.clone()))
    };
    LogRow {
        name: name.to_owned(),
        worst: worst.and_then(claim),
        stopped_percent: throughput.map(|throughput| 100.0 - throughput),
        longest_ms: value(gc_figure::PAUSE_MAX_MS),
        throughput: throughput.map(words::percent).into(),
        p99: cell(gc_figure::PAUSE_P99_MS),
        longest: cell(gc_figure::PAUSE_MAX_MS),
        full: value(gc_figure::FULL_COLLECTIONS).map(|count| format!("{count:.0}")).into(),
        live_set: cell(gc_figure::LIVE_SET_BYTES),
    }
}

/// The log to look at first, with the command where it can be named: a member of an archive cannot.
fn worst_first(row: &LogRow) -> String {
    let name = clean(&row.name);
    if name.contains('!') {
        format!("→ The worst, in its archive: {name}")
    } else {
        format!("→ The worst first: assay gc {name}")
    }
}

/// All of them: by the gravest finding, then by the share of time that the application stood still, then by the longest pause.
pub fn several(mut rows: Vec<LogRow>) -> Document {
    rows.sort_by(|a, b| {
        let severity = |row: &LogRow| row.worst.as_ref().map(|(severity, _)| *severity);
        let by = |a: Option<f64>, b: Option<f64>| b.unwrap_or(-1.0).total_cmp(&a.unwrap_or(-1.0));
        severity(b)
            .cmp(&severity(a))
            .then_with(|| by(a.stopped_percent, b.stopped_percent))
            .then_with(|| by(a.longest_ms, b.longest_ms))
            .then_with(|| a.name.cmp(&b.name))
    });
    let folder = folder_of_all(&rows);
    let answer = Answer {
        sentence: sentence(&rows),
        action: rows.first().map_or_else(String::new, worst_first),
        ..Answer::default()
    };
    let table = Table::of("Logs, the worst first", &rows)
        .words("Log", |row| clean(&row.name[folder..]))
        .figures("Throughput (%)", |row| row.throughput.clone())
        .figures("p99 pause (ms)", |row| row.p99.clone())
        .figures("Longest pause (ms)", |row| row.longest.clone())
        .figures("Full collections", |row| row.full.clone())
        .called("Full")
        .if_room()
        .figures("Live set", |row| row.live_set.clone())
        .if_room()
        .words("Gravest finding", |row| match &row.worst {
            Some((severity, claim)) => format!("{}: {}", severity.word(), clean(claim)),
            None => "none".to_owned(),
        })
        .if_room();
    let within =
        rows.first().filter(|_| folder > 0).map(|row| format!("in {}", clean(&row.name[..folder])).into());
    Document {
        lines: within.into_iter().collect(),
        sections: vec![Section::new("logs", "Logs", [table.table().into()])],
        page: PageParts { style: STYLE, ..PageParts::default() },
        ..Document::new("Several GC logs, by Assay", "GC logs", answer)
    }
}

fn sentence(rows: &[LogRow]) -> String {
    let of =
        |severity| rows.iter().filter(|row| row.worst.as_ref().is_some_and(|(s, _)| *s == severity)).count();
    let logs = counted(rows.len() as u64, "log", "logs");
    match (of(Severity::Error), of(Severity::Warning)) {
        (0, 0) => format!("{logs}: none has a finding that costs something."),
        (errors, warnings) => format!("{logs}: {errors} with an error, {warnings} with a warning at worst."),
    }
}

/// Length of the folder that all names begin with.
fn folder_of_all(rows: &[LogRow]) -> usize {
    let Some((first, others)) = rows.split_first() else { return 0 };
    let alike = |name: &str| first.name.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let length = others.iter().map(|row| alike(&row.name)).min().unwrap_or(0);
    first.name.as_bytes()[..length]
        .iter()
        .rposition(|byte| matches!(byte, b'/' | b'!'))
        .map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Finding, RuleId};

    fn log(name: &str, severity: Option<Severity>, throughput_percent: f64) -> LogRow {
        let rule = RuleId::of("slow");
        let finding = |severity| Finding::measured(rule, severity, format!("{name} is slow."), "measured");
        let report = GcReport {
            throughput_percent: Some(throughput_percent),
            findings: severity.map(finding).into_iter().collect(),
            ..GcReport::default()
        };
        log_row(&report, name)
    }

    #[test]
    fn the_worst_log_stands_first() {
        let rows = vec![
            log("/logs/b.log", None, 99.0),
            log("/logs/a.log", Some(Severity::Warning), 99.5),
            log("/logs/d.log", Some(Severity::Error), 99.9),
            log("/logs/c.log", Some(Severity::Warning), 80.0),
        ];
        let text = several(rows).markdown();
        let at = |name: &str| text.find(&format!("| {name}")).unwrap_or_else(|| panic!("{name} in {text}"));
        assert!(
            at("d.log") < at("c.log") && at("c.log") < at("a.log") && at("a.log") < at("b.log"),
            "{text}"
        );
        assert!(text.contains("4 logs: 1 with an error, 2 with a warning at worst."), "{text}");
        assert!(
            text.contains("assay gc /logs/d.log") && text.contains("error: /logs/d.log is slow."),
            "{text}"
        );
    }

    #[test]
    fn names_may_share_characters_of_any_length() {
        assert_eq!(folder_of_all(&[log("é/a", None, 1.0), log("è/a", None, 1.0)]), 0);
        assert_eq!(folder_of_all(&[log("x/a", None, 1.0), log("x/ab", None, 1.0)]), 2);
        assert_eq!(folder_of_all(&[]), 0);
    }
}
