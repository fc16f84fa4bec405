//! A GC log: the verdict with what to do, then the figures it rests on, then what could not be parsed.

use super::{data, input, jvms, pauses, sizes, timeline_picture, words};
use assay_findings::next_step;
use assay_kit::document::{Answer, Block, Document, Figure, Line, PageParts, Section};
use assay_kit::key::{mark, marker, marks};
use assay_kit::page::drawings_if_any;
use assay_kit::text::clean;
use assay_model::{GcReport, Problem};

pub(super) const STYLE: &str = include_str!("../../../../web/gc.css");
/// JVMs that are named under the heading; the section on them has all.
const JVMS_SHOWN: usize = 1;

/// A log, which is called `name`.
pub fn document(report: &GcReport, name: &str) -> Document {
    let found = words::findings(report);
    let answer = Answer {
        sentence: words::headline(report),
        action: next_step(&found, "No rule found a setting to change."),
        chart: Some(timeline(report)),
        rest: vec![Block::Findings(found, "No rule found anything that costs time or memory.".to_owned())],
        ..Answer::default()
    };
    let sections = vec![
        Section::new("pauses", "Pauses", pauses::blocks(report)),
        Section::new("mmu", "Minimum mutator utilisation (MMU)", [pauses::mmu(report)]).called("MMU"),
        Section::new("memory", "Memory and time", sizes::blocks(report)),
        Section::new("beside", "Concurrent work and safepoints", pauses::beside(report)).called("Concurrent"),
        Section::new("jvms", "JVM and options", jvms::blocks(report)),
        Section::new("read", "Input and parsing", input::blocks(report)),
        csv(report),
    ];
    let mut lines = vec![Line::from(words::subject(report))];
    let jvm = |jvm| Line { text: words::jvm(jvm).join(" · "), class: "more" };
    lines.extend(report.jvms.iter().take(JVMS_SHOWN).map(jvm));
    Document {
        lines,
        sections,
        page: PageParts {
            style: STYLE,
            script: include_str!("../../../../web/csv.js"),
            ..PageParts::default()
        },
        ..Document::new("GC log, read by Assay", clean(name), answer)
            .with_problems(Problem::listed(&report.problems))
    }
}

fn timeline(report: &GcReport) -> Figure {
    let series = &report.series;
    let (id, name) = ("gc-timeline", "heap and pauses over time");
    let draw = |width: f64, id: &str| timeline_picture::draw(report, width, id);
    let Some(drawings) = drawings_if_any("timeline", draw) else {
        return Figure::absent(id, name, "the log has no times, or nothing happened in it");
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
    Figure::new(id, name, drawings).key(marks(&items)).caption(timeline_picture::caption(series))
}

/// The raw figures, so that a page alone is enough for a spreadsheet.
fn csv(report: &GcReport) -> Section {
    let how = "A row for each figure, in full. A spreadsheet opens it. `assay gc LOG --csv` prints it.";
    let text = Block::Verbatim {
        name: "Figures as CSV".to_owned(),
        id: Some("gc-csv"),
        text: data::log(report).csv(),
        language: "csv",
    };
    Section::new("figures", "Figures as CSV", [Block::text(how), text]).called("CSV").on_screen().page_only()
}
