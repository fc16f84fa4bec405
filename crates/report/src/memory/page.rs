//! The page of one snapshot: tree map, areas over time, findings, limit, entries, and all that stands beside them.

use super::facts;
use super::over_time::over_time;
use super::page_tables;
use super::tree::{self, AreaNode, Node};
use askama::Template;
use assay_findings::{next_step, to_html, told};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::number::{bytes, percent};
use assay_kit::stack::fill_class;
use assay_kit::text::clean;
use assay_kit::tree_map::{View, views};
use assay_kit::{Answer, Page, Row, Section, Table, key};
use assay_model::{Advice, Area, MemoryReport, Problem, SourceBytes};
use std::io;

pub(super) const STYLE: &str = include_str!("../../../../web/memory.css");
pub(super) const SCRIPT: &str = include_str!("../../../../web/memory.js");

/// Width of a panel in user units; the page shows about as many pixels.
const PANEL_WIDTH: f64 = 370.0;

/// Causes named in the answer.
const CAUSES_TOLD: usize = 3;

#[derive(Template)]
#[template(
    path = "memory.html",
    blocks = ["answer", "map", "limit", "entries", "established", "beside"]
)]
struct Content {
    left_out: Option<String>,
    causes: Vec<String>,
    closure: String,
    unknown_line: String,
    key: String,
    views: Vec<View>,
    advice: Option<(String, Table, String)>,
    entries: Table,
    unknown: Option<Table>,
    sources: (String, Table),
    jvm: Vec<Row>,
    flags: Option<Table>,
    beside: Vec<Row>,
    cgroup: Option<(String, Vec<Row>)>,
    allocator: Option<(String, Table)>,
    threads: Option<(String, Table)>,
}

/// The page of one snapshot, as one HTML file that opens without a network: a tree map to walk through, areas over the
/// `snapshots` of a record (empty for none), findings, the limit that the process needs, every entry.
///
/// # Errors
/// Those of the writer.
pub fn render(
    report: &MemoryReport,
    snapshots: &[MemoryReport],
    advice: Option<&Advice>,
    out: &mut impl io::Write,
) -> io::Result<()> {
    let areas = tree::areas(report);
    let has = |area: &Area| areas.iter().any(|a| a.area == *area && a.node.bytes > 0);
    let shown = Area::ALL.into_iter().filter(has);
    let content = Content {
        left_out: report.owners_left_out.as_ref().map(facts::owners_left_out),
        causes: causes(&areas, report),
        closure: facts::closure(report, tree::sum_of_entries(report)),
        unknown_line: unknown_line(&areas, report),
        key: key::fills(shown.map(|area| (fill_class(area.look()), area.title()))),
        views: views(&tree::map(&tree::tiles(&areas), report.rss_bytes)),
        advice: advice.map(|a| {
            (facts::advice_sentence(a), facts::advice(a), to_html(&told(&a.settings, "lowers it by"), ""))
        }),
        entries: page_tables::entries(&areas, report.rss_bytes),
        unknown: page_tables::unknown(report),
        sources: sources(report),
        jvm: facts::jvm(report),
        flags: page_tables::flags(report),
        beside: facts::beside(report),
        cgroup: report.cgroup.as_ref().map(|g| (clean(&g.path), facts::cgroup(g))),
        allocator: report.allocator.as_ref().map(|a| (facts::allocator_sentence(a), facts::arenas(a))),
        threads: page_tables::threads(report),
    };
    let found = told(&report.findings, "gives back");
    let answer = Answer {
        sentence: format!("{}.", facts::headline(report, tree::area_bytes(&areas, Area::JavaHeap))),
        action: next_step(&found, "No setting is known that would give memory back."),
        chart: content.as_map().render().map_err(io::Error::other)?,
        rest: content.as_answer().render().map_err(io::Error::other)?,
        ..Answer::default()
    };
    Page {
        style: STYLE,
        script: SCRIPT,
        lines: vec![("", facts::subject(report))],
        sections: sections(&content, &answer, report, snapshots).map_err(io::Error::other)?,
        made_by: clean(&report.provenance.assay_version),
        ..Page::new(
            "Every resident byte, by Assay",
            format!("Memory of {} ({})", clean(&report.program), report.pid),
        )
    }
    .write(out)
}

fn sections(
    content: &Content,
    answer: &Answer,
    report: &MemoryReport,
    snapshots: &[MemoryReport],
) -> askama::Result<Vec<Section>> {
    let mut sections = vec![answer.section()];
    sections.extend(over_time(snapshots));
    let findings =
        to_html(&told(&report.findings, "gives back"), "Nothing was found that a setting would give back.");
    let title = "Potential savings";
    sections.push(Section::new("findings", title, findings).called("Savings"));
    if content.advice.is_some() {
        let limit = content.as_limit().render()?;
        sections.push(Section::new("limit", "Memory limit", limit).called("Limit"));
    }
    sections.push(Section::new("entries", "Every entry", content.as_entries().render()?));
    let established = content.as_established().render()?;
    sections.push(Section::new("established", "Sources of the figures", established).called("Sources"));
    sections.push(Section::new("beside", "Other figures of the kernel", content.as_beside().render()?));
    sections.push(Section::problems(&Problem::listed(&report.problems)));
    Ok(sections)
}

/// The biggest causes besides the Java heap, each with what it is.
fn causes(areas: &[AreaNode], report: &MemoryReport) -> Vec<String> {
    let beyond = areas.iter().filter(|a| a.area != Area::JavaHeap);
    let tell = |a: &AreaNode| {
        let biggest: Option<&Node> = a.node.children.first();
        let most =
            biggest.map_or_else(String::new, |b| format!("; most of it: {}, {}", b.name, bytes(b.bytes)));
        let share = percent(a.node.bytes, report.rss_bytes);
        let what = facts::unknown_explanation(a.area, report);
        format!("{}, {} ({share}): {what}{most}.", a.node.name, bytes(a.node.bytes))
    };
    beyond.take(CAUSES_TOLD).map(tell).collect()
}

fn unknown_line(areas: &[AreaNode], report: &MemoryReport) -> String {
    let part = |area: Area| format!("{} {}", bytes(tree::area_bytes(areas, area)), area.title());
    format!(
        "Unknown: {}, {} of RSS ({}, {}). {} of RSS is inferred.",
        bytes(report.unknown_bytes),
        percent(report.unknown_bytes, report.rss_bytes),
        part(Area::MallocHeap),
        part(Area::NativeAnonymous),
        percent(report.inferred_bytes, report.rss_bytes)
    )
}

fn sources(report: &MemoryReport) -> (String, Table) {
    let bar = |t: &SourceBytes| {
        let value = format!("{}, {}", bytes(t.resident_bytes), percent(t.resident_bytes, report.rss_bytes));
        let class = if t.source.is_inference() { "bar pale s1" } else { "bar s0" };
        Bar::whole(t.source.title(), value, t.resident_bytes as f64, class)
    };
    let bars: Vec<Bar> = report.sources.iter().map(bar).collect();
    let name = ("sources-bars", "Sources of the figures");
    let svg = bar_rows::bars(&bars, (None, None), PANEL_WIDTH, name);
    (svg, page_tables::sources(report))
}
