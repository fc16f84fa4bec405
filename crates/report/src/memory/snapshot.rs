//! A snapshot: tree map, areas over time, potential savings, limit, every entry, and the figures beside them.

use super::over_time::over_time;
use super::tree::{self, AreaNode};
use super::{SCRIPT, STYLE, advice, entries, facts, growth, live, map, words};
use assay_findings::{next_step, told};
use assay_kit::Table;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Answer, Block, Document, Figure, PageParts, Section, Tone};
use assay_kit::number::{bytes, percent};
use assay_kit::text::clean;
use assay_model::{Advice, Area, MemoryReport, Problem, SourceBytes};

/// Width of the bars of sources in user units; the page shows about as many pixels.
const PANEL_WIDTH: f64 = 370.0;
/// Causes that the answer names.
const CAUSES_NAMED: usize = 3;

/// The snapshot, with areas over the `snapshots` of its record (empty for none) and the limit that the process needs.
pub fn document(report: &MemoryReport, snapshots: &[MemoryReport], advice: Option<&Advice>) -> Document {
    let areas = tree::areas(report);
    let mut found = told(&report.findings, "gives back");
    let action = next_step(&found, "No setting is known that would give memory back.");
    let first = (!found.is_empty()).then(|| found.remove(0));
    let answer = Answer {
        sentence: format!("{}.", words::headline(report, tree::area_bytes(&areas, Area::JavaHeap))),
        action,
        chart: Some(map::figure(&areas, report)),
        finding: first,
        rest: explained(&areas, report),
        ..Answer::default()
    };
    let further = Section::new("findings", "Further findings", [Block::Findings(found, String::new())]);
    let ended = growth::end_sentence(report).map(|said| Block::Text(Tone::Strong, format!("{said}.")));
    let mut sections = vec![Section::new("end", "How it ended", ended)];
    sections.extend(report.growth.as_ref().map(growth::section));
    sections.extend(over_time(snapshots));
    sections.push(further.called("Findings"));
    sections.extend(advice.map(limit));
    let live_heap = report.jvm.as_ref().and_then(|jvm| jvm.heap_live.as_ref());
    sections.extend(live_heap.map(live::section));
    sections.push(every_entry(&areas, report));
    let sources = [sources_drawn(report).into(), sources(report).into()];
    sections.push(Section::new("established", "Sources of the figures", sources).called("Sources"));
    sections.push(Section::new("beside", "Other figures of the kernel", beside(report)));
    Document {
        lines: vec![words::subject(report).into()],
        sections,
        page: PageParts {
            style: STYLE,
            script: SCRIPT,
            made_by: clean(&report.provenance.assay_version),
            ..PageParts::default()
        },
        ..Document::new(
            "Every resident byte, by Assay",
            format!("Memory of {} ({})", words::name(report), report.pid),
            answer,
        )
        .with_problems(Problem::listed(&report.problems))
    }
}

/// The biggest areas besides the Java heap, and the line that says that the entries add up.
fn explained(areas: &[AreaNode], report: &MemoryReport) -> Vec<Block> {
    let left_out =
        report.owners_left_out.as_ref().map(|left_out| Block::text(words::owners_left_out(left_out)));
    let blocks = [
        // A terminal has a line for each area above.
        Block::Items(Tone::Plain, causes(areas, report)).in_full(),
        Block::Text(Tone::Strong, format!("{}.", words::closure(report, tree::sum_of_entries(report)))),
        Block::text(words::pages(report).unwrap_or_default()),
        // It stands below every entry, too.
        Block::explanation(words::unknown(areas, report)).page_only(),
    ];
    left_out.into_iter().chain(blocks).collect()
}

fn causes(areas: &[AreaNode], report: &MemoryReport) -> Vec<String> {
    let beyond = areas.iter().filter(|area| area.area != Area::JavaHeap);
    let cause = |area: &AreaNode| {
        let most = area.node.children.first().map_or_else(String::new, |biggest| {
            format!("; most of it: {}, {}", biggest.name, bytes(biggest.bytes))
        });
        let share = percent(area.node.bytes, report.rss_bytes);
        let what = words::explanation(area.area, report);
        format!("{}, {} ({share}): {what}{most}.", area.node.name, bytes(area.node.bytes))
    };
    beyond.take(CAUSES_NAMED).map(cause).collect()
}

/// The limit; `assay memory advise` has it in every form.
fn limit(of: &Advice) -> Section {
    let mut blocks = vec![Block::text(advice::sentence(of)), advice::parts(of).into()];
    let settings = advice::settings(of);
    if !settings.is_empty() {
        blocks.push(Block::heading("Settings that would lower it"));
        blocks.push(Block::Findings(settings, String::new()));
    }
    Section::new("limit", "Memory limit", blocks).called("Limit").page_only()
}

fn every_entry(areas: &[AreaNode], report: &MemoryReport) -> Section {
    let mut blocks = vec![
        entries::table(areas, report).into(),
        Block::heading("The unknown"),
        Block::text(words::unknown(areas, report)),
    ];
    if !report.has_owners() {
        blocks.push(Block::explanation(words::A_QUICK_SAMPLE));
    }
    blocks.extend(entries::unknown(report).map(Block::from));
    blocks.extend(threads(report));
    if let Some(allocator) = &report.allocator {
        blocks.push(Block::heading("Allocator"));
        blocks.push(Block::text(format!("{}.", words::allocator(allocator))));
        blocks.push(facts::arenas(allocator).into());
    }
    Section::new("entries", "Every entry", blocks).of_entries()
}

fn threads(report: &MemoryReport) -> Vec<Block> {
    let Some(table) = facts::threads(report).unless_empty() else { return Vec::new() };
    vec![
        Block::heading("Threads"),
        Block::text(words::threads(report)),
        Block::Folded("Stacks of threads".to_owned(), vec![table.into()]).page_only(),
    ]
}

fn sources_drawn(report: &MemoryReport) -> Figure {
    let (id, name) = ("sources-figure", "resident bytes by source");
    if report.sources.is_empty() {
        return Figure::absent(id, name, "no source is known");
    }
    let bar = |of: &SourceBytes| {
        let value = format!("{}, {}", bytes(of.resident_bytes), percent(of.resident_bytes, report.rss_bytes));
        let class = if of.source.is_inference() { "bar pale s1" } else { "bar s0" };
        Bar::whole(of.source.title(), value, of.resident_bytes as f64, class)
    };
    let bars: Vec<Bar> = report.sources.iter().map(bar).collect();
    let title = ("sources-bars", "Sources of the figures");
    let bars = bar_rows::bars(&bars, (None, None), PANEL_WIDTH, title);
    Figure::new(id, name, format!("<div class=\"panels\"><div class=\"panel\">{bars}</div></div>")).caption(
        "Pale bars are inferred, from the memory's content or from pointers to it. All other bars come from \
            the bookkeeping of the kernel, the JVM or the allocator.",
    )
}

fn sources(report: &MemoryReport) -> Table {
    let kind = |is_inference| if is_inference { "inferred" } else { "bookkeeping" };
    Table::of("Resident bytes by source", &report.sources)
        .words("Source", |of| of.source.title())
        .figures("Resident", |of| bytes(of.resident_bytes))
        .figures("Share of RSS", |of| percent(of.resident_bytes, report.rss_bytes))
        .words("Kind", |of| kind(of.source.is_inference()))
        .table()
}

/// The figures of kernel and JVM beside the entries.
fn beside(report: &MemoryReport) -> Vec<Block> {
    let mut blocks = vec![Block::Terms(facts::kernel(report))];
    if let Some(group) = &report.cgroup {
        blocks.push(Block::heading(format!("Control group {}", clean(&group.path))));
        blocks.push(Block::Terms(facts::cgroup(group)));
    }
    let of_jvm = facts::jvm(report);
    if !of_jvm.is_empty() {
        blocks.push(Block::heading("The JVM's own figures"));
        blocks.push(Block::Terms(of_jvm));
    }
    let flags = facts::flags(report).map(|flags| Block::Folded("Flags".to_owned(), vec![flags.into()]));
    blocks.extend(flags.map(Block::page_only));
    blocks
}
