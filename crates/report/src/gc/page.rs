//! The page of a GC log.

use super::{csv, length_pictures, page_tables, timeline_picture, words};
use assay_findings::{next_step, to_html};
use assay_kit::key::{mark, marker, marks};
use assay_kit::number::count;
use assay_kit::page::{absent, copied_text, drawings_if_any, figure, panels};
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Page, Section, Table};
use assay_model::{GcDurations, GcReport, GcRow, GcSeries, Problem};
use std::io;

const STYLE: &str = include_str!("../../../../web/gc.css");
/// JVMs that the head of the page names; the section on them has all.
const JVMS_SHOWN: usize = 1;

/// What a log says as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &GcReport, name: &str, out: &mut impl io::Write) -> io::Result<()> {
    let found = words::told(report);
    let answer = Answer {
        sentence: words::headline(report),
        action: next_step(&found, "No rule found a setting to change."),
        chart: timeline_html(&report.series),
        rest: to_html(&found, "No rule found anything that costs time or memory."),
        ..Answer::default()
    };
    let sections = vec![
        answer.section(),
        Section::new("pauses", "Pauses", pauses_html(report)),
        Section::new("mmu", "Minimum mutator utilisation (MMU)", mmu_html(report)).called("MMU"),
        Section::new("memory", "Memory and time", page_tables::figures(report)),
        Section::new("beside", "Concurrent work and safepoints", beside_html(report)).called("Concurrent"),
        Section::new("jvms", "JVM and options", page_tables::jvms(report)),
        Section::new("read", "Input and parsing", read_html(report)),
        Section::new("figures", "Figures as CSV", csv_html(report)?).called("CSV").on_screen(),
        Section::problems(&Problem::listed(&report.problems)),
    ];
    let mut lines = vec![("", words::subject(report))];
    lines.extend(report.jvms.iter().take(JVMS_SHOWN).map(|jvm| ("more", words::jvm(jvm).join(" · "))));
    Page {
        style: STYLE,
        script: include_str!("../../../../web/csv.js"),
        lines,
        sections,
        ..Page::new("What a GC log says, by Assay", clean(name))
    }
    .write(out)
}

fn timeline_html(series: &GcSeries) -> String {
    let Some(pictures) = drawings_if_any("timeline", |width, id| timeline_picture::draw(series, width, id))
    else {
        return absent("the log has no times, or nothing happened in it");
    };
    let mut items = vec![
        (mark("M1 6H29", "s5 ln d1"), "capacity".to_owned()),
        (mark("M1 6H29", "s0 thin"), "heap in use before a collection".to_owned()),
        (mark("M1 6H29", "s2 ln"), "after it".to_owned()),
    ];
    for (name, look) in timeline_picture::occurring(series) {
        items.push((marker(look), format!("pause: {name}")));
    }
    if series.points.iter().any(|p| p.stalled_ms > 0.0) {
        items.push((mark("M13 0H17V12H13Z", "s1 band stall"), "threads waited for memory".to_owned()));
    }
    if series.points.iter().any(|p| p.is_start && p.at_s > 0.0) {
        items.push((mark("M15 0V12", "step start"), "another JVM begins".to_owned()));
    }
    figure("gc-timeline", "answer", &marks(&items), &pictures, &timeline_picture::caption(series))
}

fn pauses_html(report: &GcReport) -> String {
    if report.pauses.count == 0 {
        return format!("<p>{}.</p>", words::NO_PAUSE);
    }
    let mut out = String::new();
    let pictures = length_pictures::histograms(&report.pauses_by_phase);
    if !pictures.is_empty() {
        let left = report.pauses_by_phase.len().saturating_sub(pictures.len());
        let more = if left > 0 { format!(" {left} more kinds are in the table.") } else { String::new() };
        let caption = format!("How long pauses of each kind took, all on the same logarithmic axis.{more}");
        out += &figure("lengths", "pauses", "", &panels(pictures.into_iter()), &caption);
    }
    let tables: [(&str, &str, &[GcRow], Option<&GcDurations>); 3] = [
        ("Pauses by kind", "Kind", &report.pauses_by_phase, Some(&report.pauses)),
        ("Pauses by cause", "Cause", &report.pauses_by_cause, None),
        ("Full collections by cause", "Cause", &report.full_by_cause, None),
    ];
    out += &tables_html(report, &tables);
    let draw = |width: f64, id: &str| length_pictures::causes(&report.pauses_by_cause, width, id);
    if let Some(pictures) = drawings_if_any("causes", draw) {
        out += &figure("causes", "pauses", "", &pictures, "Time in pauses by their cause, from zero.");
    }
    out
}

/// Tables of lengths that have a row: title, first heading, rows, the sum of all.
fn tables_html(report: &GcReport, tables: &[(&str, &str, &[GcRow], Option<&GcDurations>)]) -> String {
    let told = tables.iter().filter(|(_, _, rows, all)| !rows.is_empty() || all.is_some());
    told.map(|(title, first, rows, all)| page_tables::lengths(title, first, report, rows, *all).html())
        .collect()
}

fn mmu_html(report: &GcReport) -> String {
    let Some(pictures) = drawings_if_any("mmu", |width, id| length_pictures::mmu(&report.mmu, width, id))
    else {
        return absent("the log has no times of pauses");
    };
    let caption = "Minimum mutator utilisation (MMU) by window: of any window of this length in the log, at least this share was not \
                   spent in collection pauses. Where it is 0 a pause was as long as the window. Non-GC safepoints are not \
                   included.";
    let table = page_tables::mmu(report).html();
    figure("mmu-curve", "mmu", "", &pictures, caption)
        + &format!("<details><summary>Figures behind it</summary>{table}</details>")
}

fn beside_html(report: &GcReport) -> String {
    let tables: [(&str, &str, &[GcRow], Option<&GcDurations>); 4] = [
        ("Concurrent cycles", "Cycle", &report.cycles_by_phase, None),
        ("Concurrent phases", "Phase", &report.concurrent_by_phase, None),
        ("Threads that waited for memory", "Wait", &report.stalls_by_phase, None),
        ("Safepoints by operation", "Operation", &report.safepoints_by_operation, None),
    ];
    let mut out = tables_html(report, &tables);
    if !report.triggers.is_empty() {
        let table = Table::of("Why cycles began", &report.triggers)
            .words("Trigger", |(name, _)| clean(name))
            .figures("Cycles", |(_, cycles)| count(**cycles));
        out += &table.table().html();
    }
    if out.is_empty() { absent("the log has no cycle, wait or safepoint") } else { out }
}

fn read_html(report: &GcReport) -> String {
    let mut out = format!("<p>{}</p>", html(&words::not_understood(report)));
    if !report.not_understood.shapes.is_empty() {
        out += &page_tables::strange(report).html();
    }
    out += &page_tables::sources(report).html();
    if !report.reconciliations.is_empty() {
        out += &page_tables::reconciliations(report).html();
    }
    out
}

fn csv_html(report: &GcReport) -> io::Result<String> {
    let mut text = Vec::new();
    csv::render(report, &mut text)?;
    let text = copied_text("gc-csv", "Figures as CSV", "Show", &String::from_utf8_lossy(&text));
    Ok(format!(
        "<p>A row for each figure, in full. A spreadsheet opens it; <code>assay gc LOG --csv</code> prints it.</p>{text}"
    ))
}
