//! What changed between two snapshots, and the limit that a process needs, for the terminal and as a page.

use super::facts;
use super::over_time::over_time;
use super::page::{SCRIPT, STYLE};
use super::page_tables;
use super::terminal::findings;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::ink::{Ink, bar, fit};
use assay_kit::number::{bytes, count, duration, less, signed_bytes};
use assay_kit::page::{self, drawings, figure};
use assay_kit::stack::fill_class;
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Page, Section, Table, Terminal, TerminalView};
use assay_model::{Advice, Area, Cause, MemoryChange, MemoryReport, Problem};
use std::io;

/// Causes drawn on the page.
const CAUSES_DRAWN: usize = 10;

/// What grew, and what that explains, in a sentence.
pub(super) fn sentence(change: &MemoryChange) -> String {
    let difference = less(change.after_bytes, change.before_bytes);
    let elapsed = change.elapsed_ns.filter(|ns| *ns > 0);
    let per_minute = elapsed.map(|ns| (difference as f64 / (ns as f64 / 60e9)) as i64);
    let over = elapsed.map_or_else(String::new, |ns| format!(" in {}", duration(ns)));
    let rate = per_minute.map_or_else(String::new, |rate| format!(" ({} a minute)", signed_bytes(rate)));
    format!(
        "RSS {} → {}: {}{over}{rate}",
        bytes(change.before_bytes),
        bytes(change.after_bytes),
        signed_bytes(difference)
    )
}

/// How much of the change has a known owner.
pub(super) fn explained(change: &MemoryChange) -> String {
    match change.explained_share {
        Some(share) => format!(
            "Causes with a known owner explain {} of it, {:.1} %",
            signed_bytes(change.explained_bytes),
            share * 100.0
        ),
        None => "The RSS did not change; what grew and what shrank are level".to_owned(),
    }
}

fn path_of(cause: &Cause) -> String {
    cause.path.iter().take(8).map(|part| clean(part)).collect::<Vec<_>>().join(": ")
}

fn number_of(cause: &Cause) -> String {
    let sign = |n: i64| if n < 0 { "-" } else { "+" };
    cause.count_change.map_or_else(String::new, |n| format!("{}{}", sign(n), count(n.unsigned_abs())))
}

/// Growth between two snapshots by cause, the biggest first.
pub fn render_terminal(change: &MemoryChange, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &sentence(change), Ink::bold);
    out.paragraph(0, &format!("{}.", explained(change)), Ink::plain);
    out.blank();
    let shown = view.entries.most();
    let largest = change.causes.iter().map(|c| c.change_bytes().unsigned_abs()).max().unwrap_or(0);
    let name_columns = (out.width - 46).clamp(26, 60);
    for cause in change.causes.iter().take(shown) {
        let by = cause.change_bytes();
        let filled = bar(by.unsigned_abs() as f64 / largest.max(1) as f64, 14);
        let change_text = format!("{:>13}", signed_bytes(by));
        let change_text = if by > 0 { out.ink.warn(&change_text) } else { out.ink.good(&change_text) };
        let line =
            format!("{}{change_text}{:>10}  {filled}", fit(&path_of(cause), name_columns), number_of(cause));
        out.line(&line);
        let told = format!(
            "{} → {}, {}. {}",
            bytes(cause.before_bytes),
            bytes(cause.after_bytes),
            cause.source.title(),
            clean(&cause.explanation)
        );
        out.paragraph(2, &told, Ink::dim);
    }
    let folded = change.causes.get(shown..).unwrap_or_default();
    if !folded.is_empty() {
        let sum = folded.iter().fold(0i64, |sum, c| sum.saturating_add(c.change_bytes()));
        let line = format!("{} more, {} together (--entries all)", folded.len(), signed_bytes(sum));
        out.line(&out.ink.dim(&line));
    }
    out.problems(&Problem::listed(&change.problems));
    out.finish()
}

/// The limit that a process needs, with its arithmetic and the settings that would lower it.
pub fn render_advice_terminal(advice: &Advice, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.line(&out.ink.bold(&format!("{} (pid {})", clean(&advice.program), advice.pid)));
    out.paragraph(0, &facts::advice_sentence(advice), Ink::plain);
    out.blank();
    let name_columns = (out.width - 44).clamp(28, 50);
    let heading = format!("{}{:>13}{:>13}{:>15}", fit("", name_columns), "now", "highest seen", "budgeted");
    out.line(&out.ink.dim(&heading));
    for line in &advice.lines {
        let name = fit(&clean(&line.name), name_columns);
        let peak = line.peak_bytes.map_or("-".to_owned(), bytes);
        out.line(&format!("{name}{:>13}{peak:>13}{:>15}", bytes(line.now_bytes), bytes(line.bound_bytes)));
        out.paragraph(2, &facts::bound_from(line), Ink::dim);
    }
    let (now, bound) = facts::advice_sums(advice);
    let sum = format!("{}{:>13}{:>13}{:>15}", fit("Total", name_columns), bytes(now), "", bytes(bound));
    out.line(&out.ink.bold(&sum));
    let limit =
        format!("{}{:>41}", fit("limit, rounded up to a MiB", name_columns), bytes(advice.limit_bytes));
    out.line(&out.ink.bold(&limit));
    findings(&mut out, "Settings that would lower it", "lowers it by", &advice.settings);
    out.problems(&Problem::listed(&advice.problems));
    out.finish()
}

/// The same as one HTML file, with areas over the `snapshots` between (empty for none).
///
/// # Errors
/// Those of the writer.
pub fn render_html(
    change: &MemoryChange,
    snapshots: &[MemoryReport],
    out: &mut impl io::Write,
) -> io::Result<()> {
    let of = change.pid.map_or_else(String::new, |pid| format!(" of process {pid}"));
    let bars = bars(change);
    let draw = |width: f64, id: &str| bar_rows::bars(&bars, (None, None), width, (id, "Causes by growth"));
    let caption = "Change of resident memory by cause; growth to the right.";
    let answer = Answer {
        sentence: format!("{}.", sentence(change)),
        action: largest_growth(change),
        chart: figure("growth", "answer", "", &drawings("causes-bars", draw), caption),
        rest: format!("<p class=\"sum\">{}.</p>", html(&explained(change))),
        ..Answer::default()
    };
    let mut sections = vec![answer.section()];
    sections.extend(over_time(snapshots));
    sections.push(Section::new("causes", "Causes", causes(change).html()));
    let problems = page::problems_html(&Problem::listed(&change.problems), "compared");
    sections.push(Section::new("problems", "Problems", problems));
    Page {
        style: STYLE,
        script: SCRIPT,
        sections,
        ..Page::new("Growth by cause, by Assay", format!("What changed in the memory{of}"))
    }
    .write(out)
}

/// Where to begin: what grew most. The table says what it means.
pub(super) fn largest_growth(change: &MemoryChange) -> String {
    let grown = change.causes.iter().filter(|cause| cause.change_bytes() > 0);
    let Some(most) = grown.max_by_key(|cause| cause.change_bytes()) else {
        return "Nothing grew.".to_owned();
    };
    let (path, by) = (path_of(most), signed_bytes(most.change_bytes()));
    format!("→ Begin with what grew most: {path}, {by}.")
}

/// The biggest changes to either side.
fn bars(change: &MemoryChange) -> Vec<Bar> {
    let mut causes: Vec<&Cause> = change.causes.iter().collect();
    causes.sort_by_key(|c| std::cmp::Reverse(c.change_bytes().unsigned_abs()));
    causes.truncate(CAUSES_DRAWN);
    causes.sort_by_key(|c| std::cmp::Reverse(c.change_bytes()));
    let bar = |cause: &Cause| {
        let (by, area) = (cause.change_bytes(), Area::of_path(&cause.path).unwrap_or(Area::Other));
        Bar::whole(&path_of(cause), signed_bytes(by), by as f64, &fill_class(area.look()))
    };
    causes.into_iter().map(bar).collect()
}

/// Every cause.
pub(super) fn causes(change: &MemoryChange) -> Table {
    let causes = change.causes.iter().take(page_tables::ROWS_MAX);
    Table::of("Causes, the biggest growth first", causes)
        .words("Cause", |cause| path_of(cause))
        .figures("Growth", |cause| signed_bytes(cause.change_bytes()))
        .figures("Before", |cause| bytes(cause.before_bytes))
        .figures("After", |cause| bytes(cause.after_bytes))
        .figures("Number", |cause| number_of(cause))
        .words("Source", |cause| cause.source.title().to_owned())
        .words("What it means", |cause| clean(&cause.explanation))
        .class("entries")
}
