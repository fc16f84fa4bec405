//! The pages of heaps: what a prediction and a class's layouts show, gathered from the other modules.

use super::places::{SameLayout, alike, fields};
use super::words::{self, PARTS};
use super::{class_bars, layout_picture, layout_text, totals};
use askama::Template;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::number::{MIB, percent, significant, size, xmx};
use assay_kit::page::{drawings, figure};
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Page, Section, Table, key};
use assay_model::{ClassLayout, CrossOver, FieldPlace, HeapLayouts, HeapPrediction, LayoutPart, Problem};
use std::io;

const STYLE: &str = include_str!("../../../../web/heap.css");

/// What stands below the first screen.
#[derive(Template)]
#[template(path = "heap.html")]
pub(super) struct Reasons {
    /// A list, or nothing.
    pub findings: String,
    pub claims: Vec<Claim>,
    pub evidence: Vec<String>,
}

/// A claim of the answer.
pub(super) struct Claim {
    pub claim: String,
    pub facts: String,
}

/// Writes a page about heaps: `kind` and `title` over the `subject`, the answer, then the sections.
pub(super) fn write(
    [kind, title, subject]: [String; 3],
    assay_version: &str,
    answer: &Answer,
    mut sections: Vec<Section>,
    out: &mut impl io::Write,
) -> io::Result<()> {
    sections.insert(0, answer.section());
    Page {
        style: STYLE,
        script: include_str!("../../../../web/heap.js"),
        lines: vec![("more", subject)],
        sections,
        made_by: clean(assay_version),
        ..Page::new(format!("{kind}, by Assay"), title)
    }
    .write(out)
}

/// A prediction as one HTML file that opens without a network: weight by model and by what the bytes are, classes in two
/// models that the reader chooses, one object laid out in every model.
///
/// # Errors
/// Those of the writer.
pub fn render_prediction(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    let claims: Vec<Claim> = words::cross_overs_told(heap)
        .into_iter()
        .map(|over| Claim { claim: clean(&over.claim), facts: words::cross_over(over) })
        .collect();
    let weights = Section::new("totals", "Size by layout", totals::table(heap).html());
    let mut sections = vec![weights];
    if let Some(html) = class_bars::render(heap) {
        sections.push(Section::new("classes", "Classes", html));
    }
    if let Some(html) = layouts_html(&heap.example) {
        sections.push(Section::new("layout", "One object in every layout", html));
    }
    if !heap.cross_overs.is_empty() {
        sections.push(Section::new("cross-overs", "Break-even heap sizes", cross_overs(heap).html()));
    }
    if !heap.garbage.is_empty() {
        sections.push(Section::new("garbage", "Garbage", garbage_html(heap)));
    }
    sections.push(Section::problems(&Problem::listed(&heap.problems)));
    let evidence = words::evidence(heap).map(|e| format!("Evidence for the current layout: {e}."));
    let action = words::next_step(heap);
    let reasons = Reasons { findings: String::new(), claims, evidence: evidence.into_iter().collect() };
    let answer = Answer {
        sentence: format!("{}.", words::headline(heap)),
        action,
        chart: totals_html(heap),
        rest: reasons.render().map_err(io::Error::other)?,
        ..Answer::default()
    };
    let head = [
        "Size of a heap in every object layout".to_owned(),
        format!("Heap of {}", clean(&heap.source)),
        words::subject(heap),
    ];
    write(head, &heap.assay_version, &answer, sections, out)
}

fn totals_html(heap: &HeapPrediction) -> String {
    let items = PARTS.iter().map(|(name, class, what)| (*class, format!("{name}: {what}")));
    figure(
        "weights",
        "answer",
        &key::fills(items),
        &drawings("totals", |width, id| totals::draw(heap, width, id)),
        "Bytes of all objects, from zero, stacked by what they are. The line is the current heap.",
    )
}

/// How large an instance is in each layout.
fn sizes_figure(layouts: &[ClassLayout]) -> String {
    let bar = |group: &SameLayout| {
        let bytes = group.layout.instance_bytes;
        Bar::whole(&group.names, format!("{bytes} bytes"), bytes as f64, "f0 area")
    };
    let bars: Vec<Bar> = alike(layouts).iter().map(bar).collect();
    if bars.is_empty() {
        return String::new();
    }
    let name = "Size of an instance in each layout";
    let pictures = drawings("sizes", |width, id| bar_rows::bars(&bars, (None, None), width, (id, name)));
    figure(
        "sizes",
        "answer",
        "",
        &pictures,
        "Bytes of one instance, from zero. Layouts that are alike are one bar.",
    )
}

/// The picture of a class in every model, with its table; absent without a layout.
fn layouts_html(layouts: &[ClassLayout]) -> Option<String> {
    let class = clean(&layouts.first()?.class);
    let groups = alike(layouts);
    let picture = figure(
        "object",
        "layout",
        &key::fills(layout_picture::key(&groups)),
        &drawings("layout", |width, id| layout_picture::draw(&groups, &class, width, id)),
        &format!(
            "An object of {class}, each byte as wide as another. Layouts that are alike are shown once."
        ),
    );
    Some(picture + &layout_table(layouts, &class).html())
}

/// Offset and size of every field in each group of models.
pub(super) fn layout_table(layouts: &[ClassLayout], class: &str) -> Table {
    let groups = alike(layouts);
    let added = |f: &FieldPlace| if f.part == LayoutPart::Injected { " (added by the JVM)" } else { "" };
    let by = |f: &FieldPlace| match clean(&f.declared_by) {
        by if by.is_empty() || by == class => String::new(),
        by => format!(", of {by}"),
    };
    let fields = fields(&groups);
    let mut rows = Table::of(format!("Offset + size of the fields of {class} (bytes)"), &fields)
        .words("Field", |(f, _)| format!("{}{}{}", clean(&f.name), added(f), by(f)))
        .words("Type", |(field, _)| clean(&field.kind));
    for (index, group) in groups.iter().enumerate() {
        rows = rows.figures(format!("{}: {}", group.letter, group.names), |(_, places)| {
            places[index].map_or("-".to_owned(), |p| format!("{} + {}", p.offset_bytes, p.bytes))
        });
    }
    let mut table = rows.class("dense offsets");
    let row = |name: &str, cell: &dyn Fn(&ClassLayout) -> String| {
        let cells = groups.iter().map(|group| cell(group.layout));
        let cells = [name.to_owned(), String::new()].into_iter().chain(cells).map(Into::into);
        assay_kit::table::Row { cells: cells.collect(), ..Default::default() }
    };
    let part = layout_text::bytes_of;
    table.rows.insert(0, row("header", &|l| format!("0 + {}", part(l, LayoutPart::Header))));
    table.rows.push(row("padding in all", &|l| part(l, LayoutPart::Padding).to_string()));
    table.rows.push(row("instance", &|l| l.instance_bytes.to_string()));
    table
}

/// Heap sizes from which another layout pays.
pub(super) fn cross_overs(heap: &HeapPrediction) -> Table {
    let dash = || "-".to_owned();
    let decoding =
        |over: &CrossOver| over.decoding.as_ref().map_or_else(String::new, |d| format!(" ({})", clean(d)));
    Table::of("Break-even heap size of each layout", &heap.cross_overs)
        .words("Layout", |over| over.name.name().to_owned())
        .figures("Size", |over| size(over.total_bytes))
        .figures("Largest -Xmx", |over| {
            over.max_heap_bytes.map_or_else(dash, |max| format!("{}{}", xmx(max), decoding(over)))
        })
        .figures("Share of it", |over| {
            over.max_heap_bytes.map_or_else(dash, |max| percent(over.total_bytes, max))
        })
        .figures("Break-even -Xmx", |over| over.break_even_bytes.map_or_else(dash, xmx))
        .words("What it means", |over| clean(&over.claim))
        .class("weights")
}

/// Garbage by layout.
pub(super) fn garbage(heap: &HeapPrediction) -> Table {
    Table::of("Freed by the collector in each layout", &heap.garbage)
        .words("Layout", |model| model.name.name().to_owned())
        .figures("Freed (MiB/s)", |model| significant(model.freed_bytes_per_s / MIB))
        .figures("Ratio to now", |model| significant(model.ratio))
        .table()
}

fn garbage_html(heap: &HeapPrediction) -> String {
    format!("<p><bdi>{}</bdi></p>{}", html(&words::garbage_basis(heap)), garbage(heap).html())
}

/// One object in every model as one HTML file.
///
/// # Errors
/// Those of the writer.
pub fn render_layouts(layouts: &HeapLayouts, out: &mut impl io::Write) -> io::Result<()> {
    let class = layouts.layouts.first().map_or("no class".to_owned(), |l| clean(&l.class));
    let mut sections = Vec::new();
    if let Some(html) = layouts_html(&layouts.layouts) {
        sections.push(Section::new("layout", "One object in every layout", html));
    }
    sections.push(Section::problems(&Problem::listed(&layouts.problems)));
    let answer = Answer {
        sentence: format!("{}.", layouts_headline(layouts)),
        action: "→ To see what that is worth for a whole heap: assay heap DUMP (or PID).".to_owned(),
        chart: sizes_figure(&layouts.layouts),
        ..Answer::default()
    };
    let head =
        ["An object in every layout".to_owned(), class, format!("Found in {}", clean(&layouts.source))];
    write(head, env!("CARGO_PKG_VERSION"), &answer, sections, out)
}

/// The size of an instance in a sentence, without its full stop.
pub(super) fn layouts_headline(layouts: &HeapLayouts) -> String {
    const NAMED: usize = 2;
    let sizes = layouts.layouts.iter().map(|l| l.instance_bytes);
    let of = |bytes: u64| {
        let with = layouts.layouts.iter().filter(|l| l.instance_bytes == bytes);
        let more = with.clone().count().saturating_sub(NAMED);
        let names: Vec<&str> = with.take(NAMED).map(|l| l.model.name.name()).collect();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{bytes} bytes ({}{more})", names.join(", "))
    };
    match sizes.clone().min().zip(sizes.max()) {
        Some((least, most)) if least != most => format!("An instance takes {} to {}", of(least), of(most)),
        Some((least, _)) => format!("An instance takes {least} bytes in every layout"),
        None => "No layout is known".to_owned(),
    }
}
