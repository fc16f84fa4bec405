//! What GC logs say, for the terminal: the verdict first, then the tables that it rests on, then what was not understood.

use super::words;
use assay_findings::to_terminal;
use assay_kit::ink::{Ink, fit};
use assay_kit::number::{count, significant, size};
use assay_kit::text::{clean, shorten};
use assay_kit::{Terminal, TerminalView};
use assay_model::{GcDurations, GcReport, GcRow, Problem};

/// Widths of the columns of figures.
const COUNT: usize = 8;
const FIGURE: usize = 8;
/// A total has its own unit: `14 days 23 h`.
const TOTAL: usize = 13;
/// Name of a line of figures.
const LABEL: usize = 22;
const NAME_MAX: usize = 48;
/// Rows of a table; `--json` and `--csv` have all.
const ROWS_SHOWN: usize = 16;
const SHAPES_SHOWN: usize = 6;
const JVMS_SHOWN: usize = 4;
const FLAGS_CHARS: usize = 600;

/// What a log says: who wrote it, the verdict, findings with their lines, tables of pauses, what was not understood. `name` is what
/// the log is called. Its lines are at most as wide as the terminal, from 72 columns on.
pub fn render(report: &GcReport, name: &str, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.line(&out.ink.bold(&shorten(&clean(name), out.width)));
    head(&mut out, report);
    out.blank();
    out.paragraph(0, &words::headline(report), Ink::bold);
    findings(&mut out, report);
    let tables: [(&str, &[GcRow]); 7] = [
        ("Pauses, by kind", &report.pauses_by_phase),
        ("Pauses, by cause", &report.pauses_by_cause),
        ("Full collections, by cause", &report.full_by_cause),
        ("Concurrent phases", &report.concurrent_by_phase),
        ("Concurrent cycles", &report.cycles_by_phase),
        ("Threads that waited for memory", &report.stalls_by_phase),
        ("Safepoints, by operation", &report.safepoints_by_operation),
    ];
    for (index, (title, rows)) in tables.into_iter().enumerate() {
        let all = (index == 0 && rows.len() > 1).then_some(&report.pauses);
        table(&mut out, report, (title, rows, all));
    }
    triggers(&mut out, report);
    figures(&mut out, report);
    mmu(&mut out, report);
    reconciliations(&mut out, report);
    not_understood(&mut out, report);
    out.problems(&Problem::listed(&report.problems));
    out.finish()
}

fn head(out: &mut Terminal, report: &GcReport) {
    out.paragraph(0, &words::subject(report), Ink::dim);
    let many = report.jvms.len() > 1;
    for (number, jvm) in (1_usize..).zip(report.jvms.iter().take(JVMS_SHOWN)) {
        let begun = words::place(report, (jvm.source, jvm.line));
        let pieces = words::jvm(jvm).join(" · ");
        let before = number.checked_sub(2).and_then(|index| report.jvms.get(index));
        if before.is_some_and(|before| words::jvm(before) == words::jvm(jvm) && before.flags == jvm.flags) {
            out.line(&format!("{number} of {} (from {begun}): the same", report.jvms.len()));
            continue;
        }
        let which =
            if many { format!("{number} of {} (from {begun}): ", report.jvms.len()) } else { String::new() };
        out.paragraph(0, &format!("{which}{pieces}"), Ink::plain);
        if !jvm.flags.is_empty() {
            let flags = shorten(&clean(&jvm.flags.join(" ")), FLAGS_CHARS);
            out.paragraph(2, &flags, Ink::dim);
        }
    }
    out.more((report.jvms.len(), JVMS_SHOWN), "", "more JVMs (--json has them)");
}

fn findings(out: &mut Terminal, report: &GcReport) {
    let all = words::told(report);
    if !all.is_empty() {
        out.blank();
    }
    to_terminal(out, &all);
}

fn table(out: &mut Terminal, report: &GcReport, (title, rows, all): (&str, &[GcRow], Option<&GcDurations>)) {
    if rows.is_empty() {
        return;
    }
    // The unit of the others stands behind the last heading.
    let name = (out.width - COUNT - TOTAL - 4 * FIGURE - 4).min(NAME_MAX);
    let place = out.width - name - COUNT - TOTAL - 4 * FIGURE;
    let columns = ["median", "p95", "p99", "longest"];
    let heads: String = columns.iter().map(|c| format!("{c:>FIGURE$}")).collect();
    let heads = format!("{:>TOTAL$}{heads}", "total");
    out.blank();
    let heads = out.ink.dim(&format!("{:>COUNT$}{heads}  ms", "count"));
    if name < title.chars().count() {
        out.line(&out.ink.bold(title));
        out.line(&format!("{}{heads}", " ".repeat(name)));
    } else {
        out.line(&format!("{}{heads}", out.ink.bold(&fit(title, name))));
    }
    for row in rows.iter().take(ROWS_SHOWN) {
        out.line(&line(report, &row.name, &row.durations, (name, place)));
    }
    out.more((rows.len(), ROWS_SHOWN), "", "more (--csv and --json have them)");
    if let Some(all) = all {
        out.line(&out.ink.bold(&line(report, "all", all, (name, place))));
    }
}

/// Of collectors that work beside the application, the causes: their pauses have none.
fn triggers(out: &mut Terminal, report: &GcReport) {
    if report.triggers.is_empty() {
        return;
    }
    let name = (out.width - COUNT).min(NAME_MAX);
    out.blank();
    let head = out.ink.dim(&format!("{:>COUNT$}", "count"));
    out.line(&format!("{}{head}", out.ink.bold(&fit("Why cycles began", name))));
    let mut rows: Vec<(&String, &u64)> = report.triggers.iter().collect();
    rows.sort_by_key(|(_, cycles)| std::cmp::Reverse(**cycles));
    for (trigger, cycles) in rows.iter().take(ROWS_SHOWN) {
        out.line(&format!("{}{:>COUNT$}", fit(&clean(trigger), name), count(**cycles)));
    }
    out.more((rows.len(), ROWS_SHOWN), "", "more (--csv and --json have them)");
}

/// A row, with the place of the longest where there is room.
fn line(report: &GcReport, name: &str, of: &GcDurations, (columns, room): (usize, usize)) -> String {
    let figure = |value: Option<f64>| format!("{:>FIGURE$}", words::figure(value));
    let figures: String = [of.p50_ms, of.p95_ms, of.p99_ms, of.max_ms].into_iter().map(figure).collect();
    let total = words::ms(of.total_ms);
    let at = of.max_at.map_or_else(String::new, |at| words::place(report, at));
    let at = if at.chars().count() + 2 <= room { format!("  {at}") } else { String::new() };
    format!("{}{:>COUNT$}{total:>TOTAL$}{figures}{at}", fit(&clean(name), columns), count(of.count))
}

fn figures(out: &mut Terminal, report: &GcReport) {
    let rows = words::figures(report);
    if rows.is_empty() && report.spaces.is_empty() {
        return;
    }
    out.heading("Memory and time");
    for (name, words) in rows {
        labelled(out, name, &words);
    }
    for (space, of) in &report.spaces {
        let part = |what: &str, bytes: Option<u64>| bytes.map(|b| format!("{what}{}", size(b)));
        let parts = [
            part("", of.last_bytes),
            part("at most ", of.max_bytes),
            part("room for ", of.capacity_bytes_max),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            labelled(out, words::space(*space), &parts.join(", "));
        }
    }
}

fn labelled(out: &mut Terminal, name: &str, text: &str) {
    out.hanging(&format!("  {}", fit(name, LABEL)), LABEL + 2, text, Ink::plain);
}

fn mmu(out: &mut Terminal, report: &GcReport) {
    if report.mmu.is_empty() {
        return;
    }
    let title = "Minimum mutator utilisation (MMU) by window";
    out.heading(&shorten(title, out.width));
    let cell = 11;
    for part in report.mmu.chunks((out.width - 10) / cell) {
        let windows: String = part.iter().map(|m| format!("{:>cell$}", words::window(m.window_ms))).collect();
        let shares: String = part
            .iter()
            .map(|m| format!("{:>cell$}", format!("{} %", words::percent(m.utilisation_percent))))
            .collect();
        out.line(&format!("  {}", out.ink.dim(&format!("{:<8}{windows}", "within"))));
        out.line(&format!("  {:<8}{shares}", "left"));
    }
}

fn reconciliations(out: &mut Terminal, report: &GcReport) {
    let wrong: Vec<_> = report.reconciliations.iter().filter(|r| !words::agrees(r)).collect();
    if report.reconciliations.is_empty() {
        return;
    }
    let all = report.reconciliations.len() as u64;
    let told =
        words::counted(all, "figure that the log gives itself was", "figures that the log gives itself were");
    let agree = match wrong.len() {
        0 => "all agree with what was read".to_owned(),
        n => format!("{n} do not agree with what was read"),
    };
    out.blank();
    out.paragraph(0, &format!("{told} checked: {agree}."), Ink::plain);
    for r in wrong.iter().take(ROWS_SHOWN) {
        let (said, read) = (significant(r.logged), significant(r.read));
        let text = format!("{}: said {said}, read {read} [{}]", clean(&r.what), words::place(report, r.at));
        out.paragraph(2, &text, Ink::warn);
    }
}

fn not_understood(out: &mut Terminal, report: &GcReport) {
    out.blank();
    let strange = report.not_understood.lines > 0;
    let style = if strange { Ink::warn } else { Ink::dim };
    out.paragraph(0, &words::not_understood(report), style);
    for shape in report.not_understood.shapes.iter().take(SHAPES_SHOWN) {
        let at = words::place(report, shape.at);
        let head = format!("  {:>6} like {at}: ", count(shape.lines));
        let room = out.width.saturating_sub(head.chars().count()).max(20);
        out.line(&format!("{head}{}", shorten(&clean(&shape.quote), room)));
    }
    let dropped: u64 = report.sources.iter().fold(0, |sum, s| sum.saturating_add(s.messages_dropped));
    if dropped > 0 {
        let what =
            format!("The JVM says that it dropped {}.", words::counted(dropped, "message", "messages"));
        out.paragraph(0, &what, Ink::warn);
    }
}
