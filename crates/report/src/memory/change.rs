//! What changed between two snapshots, by cause.

use super::over_time::over_time;
use super::{SCRIPT, STYLE, growth};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Answer, Block, Document, Figure, PageParts, Section, Tone};
use assay_kit::number::{bytes, count, duration, less, signed_bytes};
use assay_kit::page::drawings;
use assay_kit::stack::fill_class;
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{Area, Cause, GrowthKind, MemoryChange, MemoryReport, Problem};

/// Causes that the chart shows; the table has all.
const CAUSES_DRAWN: usize = 10;
/// Parts of a path that are shown.
const PATH_PARTS_MAX: usize = 8;

/// The change by cause, with areas over the `snapshots` between (empty for none).
pub fn document(change: &MemoryChange, snapshots: &[MemoryReport]) -> Document {
    let of = change.pid.map_or_else(String::new, |pid| format!(" of process {pid}"));
    let explained = Block::Text(Tone::Strong, format!("{}.", explained(change)));
    // The verdict is what people record for; without one, how the RSS changed is the answer.
    let rss = format!("{}.", sentence(change));
    let verdict = change.growth.as_ref().map(|verdict| format!("{}.", growth::sentence(verdict)));
    let lines: Vec<_> = verdict.is_some().then(|| rss.clone().into()).into_iter().collect();
    let answer = Answer {
        sentence: verdict.unwrap_or(rss),
        action: largest_growth(change),
        chart: Some(chart(change)),
        rest: vec![explained],
        ..Answer::default()
    };
    let causes = causes(change);
    let growth = change.growth.as_ref().map(growth::section);
    let causes = Section::new("causes", "Causes", [causes.into()]);
    let sections = growth.into_iter().chain(over_time(snapshots)).chain([causes]);
    Document {
        lines,
        sections: sections.collect(),
        page: PageParts { style: STYLE, script: SCRIPT, ..PageParts::default() },
        ..Document::new("Growth by cause, by Assay", format!("What changed in the memory{of}"), answer)
            .with_problems(Problem::listed(&change.problems))
    }
}

/// The RSS before and after, and how fast it grew, in a sentence.
fn sentence(change: &MemoryChange) -> String {
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
fn explained(change: &MemoryChange) -> String {
    match change.explained_share {
        Some(share) => format!(
            "Causes with a known owner explain {} of it, {:.1} %",
            signed_bytes(change.explained_bytes),
            share * 100.0
        ),
        None => "No net change of the RSS: growth and shrinkage cancel out".to_owned(),
    }
}

/// Where to begin: with what grows on, else with the cause that grew most.
fn largest_growth(change: &MemoryChange) -> String {
    if let Some(grower) = change.growth.as_ref().and_then(|verdict| verdict.growing.first()) {
        return format!("→ Begin with the continuing growth: {}.", growth::path_of(grower));
    }
    let grown = change.causes.iter().filter(|cause| cause.change_bytes() > 0);
    let Some(most) = grown.max_by_key(|cause| cause.change_bytes()) else {
        return "Nothing grew.".to_owned();
    };
    let (path, by) = (path_of(most), signed_bytes(most.change_bytes()));
    let kind = change.growth.as_ref().map(|verdict| verdict.kind);
    if matches!(kind, Some(GrowthKind::LevelledOff | GrowthKind::Garbage)) {
        return format!("Nothing to do. The largest growth was {path}, {by}.");
    }
    format!("→ Begin with the largest growth: {path}, {by}.")
}

/// The biggest changes to either side.
fn chart(change: &MemoryChange) -> Figure {
    let mut causes: Vec<&Cause> = change.causes.iter().collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.change_bytes().unsigned_abs()));
    causes.truncate(CAUSES_DRAWN);
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.change_bytes()));
    let bar = |cause: &Cause| {
        let (by, area) = (cause.change_bytes(), Area::of_path(&cause.path).unwrap_or(Area::Other));
        Bar::whole(&path_of(cause), signed_bytes(by), by as f64, &fill_class(area.look()))
    };
    let bars: Vec<Bar> = causes.into_iter().map(bar).collect();
    let draw = |width: f64, id: &str| bar_rows::bars(&bars, (None, None), width, (id, "Causes by growth"));
    Figure::new("growth", "causes by growth", drawings("causes-bars", draw))
        .caption("Change of resident memory by cause, growth to the right.")
}

/// Every cause.
fn causes(change: &MemoryChange) -> Table {
    let largest = change.causes.iter().map(|cause| cause.change_bytes().unsigned_abs()).max().unwrap_or(0);
    let causes = change.causes.iter().take(super::ROWS_MAX);
    Table::of("Causes, the biggest growth first", causes)
        .words("Cause", |cause| path_of(cause))
        .figures("Growth", |cause| growth(cause))
        .bars(|cause| Some(cause.change_bytes().unsigned_abs() as f64 / largest.max(1) as f64))
        .figures("Before", |cause| bytes(cause.before_bytes))
        .figures("After", |cause| bytes(cause.after_bytes))
        .figures("Number", |cause| number_of(cause))
        .if_room()
        .words("Source", |cause| cause.source.title())
        .if_room()
        .words("What it means", |cause| clean(&cause.explanation))
        .below()
        .class("entries")
}

fn path_of(cause: &Cause) -> String {
    cause.path.iter().take(PATH_PARTS_MAX).map(|part| clean(part)).collect::<Vec<_>>().join(": ")
}

fn growth(cause: &Cause) -> Cell {
    let by = cause.change_bytes();
    Cell::looks(signed_bytes(by), if by > 0 { Look::Bad } else { Look::Good })
}

fn number_of(cause: &Cause) -> String {
    let sign = |n: i64| if n < 0 { "-" } else { "+" };
    cause.count_change.map_or_else(String::new, |n| format!("{}{}", sign(n), count(n.unsigned_abs())))
}
