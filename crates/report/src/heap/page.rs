//! The pages of heaps: what a prediction and a class's layouts show, gathered from the other modules.

use super::places::{alike, fields};
use super::words::{self, PARTS};
use super::{class_bars, layout_picture, layout_text, totals};
use askama::Template;
use assay_kit::number::{percent, significant, size, xmx};
use assay_kit::page::both;
use assay_kit::text::{clean, html};
use assay_kit::{Page, Section, Table, key};
use assay_model::{ClassLayout, HeapLayouts, HeapPrediction, LayoutPart, Problem};
use std::io;

const STYLE: &str =
    concat!(include_str!("../../../../web/memory.css"), include_str!("../../../../web/heap.css"));

#[derive(Template)]
#[template(path = "heap.html")]
pub(super) struct Answer {
    pub headline: String,
    pub claims: Vec<Claim>,
    pub evidence: Vec<String>,
}

/// A claim of the answer.
pub(super) struct Claim {
    pub claim: String,
    pub facts: String,
    pub options: String,
}

/// Writes a page about heaps: `kind` and `title` over the `subject`, the answer, then the sections.
pub(super) fn write(
    [kind, title, subject]: [String; 3],
    assay_version: &str,
    answer: &Answer,
    mut sections: Vec<Section>,
    out: &mut impl io::Write,
) -> io::Result<()> {
    sections.insert(0, Section::answer(answer.render().map_err(io::Error::other)?));
    Page {
        style: STYLE,
        script: include_str!("../../../../web/heap.js"),
        lines: vec![("", subject)],
        sections,
        made_by: clean(assay_version),
        ..Page::new(format!("{kind}, by Assay"), title)
    }
    .write(out)
}

/// Writes the page of a prediction.
pub fn render_prediction(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    let claims = words::cross_overs_told(heap).into_iter().map(|over| Claim {
        claim: clean(&over.claim),
        facts: words::cross_over(over),
        options: String::new(),
    });
    let mut sections = vec![Section::new("totals", "Weight by model", totals_html(heap))];
    if let Some(html) = class_bars::render(heap) {
        sections.push(Section::new("classes", "Classes", html));
    }
    if let Some(html) = layouts_html(&heap.example) {
        sections.push(Section::new("layout", "One object in every model", html));
    }
    if !heap.cross_overs.is_empty() {
        sections.push(Section::new("cross-overs", "Where another model pays", cross_overs(heap).html()));
    }
    if !heap.garbage.is_empty() {
        sections.push(Section::new("garbage", "Garbage", garbage_html(heap)));
    }
    sections.push(Section::problems(&Problem::listed(&heap.problems)));
    let evidence = words::evidence(heap).map(|e| format!("How the model was found: {e}."));
    let answer = Answer {
        headline: words::headline(heap),
        claims: claims.collect(),
        evidence: evidence.into_iter().collect(),
    };
    let head = [
        "What a heap weighs in every reference mode".to_owned(),
        format!("Heap of {}", clean(&heap.source)),
        words::subject(heap),
    ];
    write(head, &heap.assay_version, &answer, sections, out)
}

fn totals_html(heap: &HeapPrediction) -> String {
    let items = PARTS.iter().map(|(name, class, what)| (*class, format!("{name}: {what}")));
    let draw = |width, id| totals::draw(heap, width, id);
    format!(
        "<figure id=\"weights\" aria-labelledby=\"totals-h\">{}{}<figcaption>{}</figcaption></figure>{}",
        key::fills(items),
        both(&draw(960.0, "totals-wide"), &draw(344.0, "totals-narrow")),
        "Bytes of all objects, from zero, stacked by what they are made of. The line is the heap as it is.",
        totals::table(heap).html()
    )
}

/// The picture of a class in every model, with its table; absent without a layout.
fn layouts_html(layouts: &[ClassLayout]) -> Option<String> {
    let class = clean(&layouts.first()?.class);
    let groups = alike(layouts);
    let draw = |width, id| layout_picture::draw(&groups, &class, width, id);
    Some(format!(
        "<p>An object of <code><bdi>{}</bdi></code>, each byte as wide as another. Models that lay it out alike are one.</p>\
         <figure id=\"object\" aria-labelledby=\"layout-h\">{}{}</figure>{}",
        html(&class),
        key::fills(layout_picture::key(&groups)),
        both(&draw(960.0, "layout-wide"), &draw(344.0, "layout-narrow")),
        layout_table(layouts, &class).html()
    ))
}

/// Offset and size of every field in each group of models.
fn layout_table(layouts: &[ClassLayout], class: &str) -> Table {
    let groups = alike(layouts);
    let mut table =
        Table::new(format!("Offset + size of the fields of {class} (bytes)"), &["Field", "Type"], 2);
    table.class = "dense offsets";
    table.columns.extend(groups.iter().map(|g| format!("{}: {}", g.letter, g.names)));
    let mut row = |name: String, kind: String, cells: Vec<String>| {
        let mut row = vec![name, kind];
        row.extend(cells);
        table.rows.push(row);
    };
    let part = |part| groups.iter().map(|g| layout_text::bytes_of(g.layout, part)).collect::<Vec<u64>>();
    let all = |bytes: Vec<u64>| bytes.iter().map(u64::to_string).collect();
    row(
        "header".into(),
        String::new(),
        part(LayoutPart::Header).iter().map(|b| format!("0 + {b}")).collect(),
    );
    for (field, places) in fields(&groups) {
        let of = |p: &Option<&assay_model::FieldPlace>| {
            p.map_or("-".to_owned(), |p| format!("{} + {}", p.offset_bytes, p.bytes))
        };
        let added = if field.part == LayoutPart::Injected { " (added by the JVM)" } else { "" };
        let by = if field.declared_by.is_empty() || clean(&field.declared_by) == class {
            String::new()
        } else {
            format!(", of {}", clean(&field.declared_by))
        };
        row(
            format!("{}{added}{by}", clean(&field.name)),
            clean(&field.kind),
            places.iter().map(of).collect(),
        );
    }
    row("padding in all".into(), String::new(), all(part(LayoutPart::Padding)));
    row(
        "instance".into(),
        String::new(),
        groups.iter().map(|g| g.layout.instance_bytes.to_string()).collect(),
    );
    table
}

fn cross_overs(heap: &HeapPrediction) -> Table {
    let columns = ["Model", "Weight", "Largest -Xmx", "Share of it", "Pays from -Xmx", "What it means"];
    let mut table = Table::new("Heap sizes at which another model pays", &columns, 1);
    table.class = "weights";
    table.text_from = 5;
    for over in &heap.cross_overs {
        let decoding = over.decoding.as_ref().map_or_else(String::new, |d| format!(" ({})", clean(d)));
        table.rows.push(vec![
            over.name.name().to_owned(),
            size(over.total_bytes),
            over.max_heap_bytes.map_or_else(|| "-".to_owned(), |max| format!("{}{decoding}", xmx(max))),
            over.max_heap_bytes.map_or_else(|| "-".to_owned(), |max| percent(over.total_bytes, max)),
            over.pays_from_bytes.map_or_else(|| "-".to_owned(), xmx),
            clean(&over.claim),
        ]);
    }
    table
}

fn garbage_html(heap: &HeapPrediction) -> String {
    let columns = ["Model", "Freed (MiB/s)", "Times as it is"];
    let mut table = Table::new("Freed by the collector in each model", &columns, 1);
    for model in &heap.garbage {
        table.rows.push(vec![
            model.name.name().to_owned(),
            significant(model.freed_bytes_per_s / 1_048_576.0),
            significant(model.ratio),
        ]);
    }
    format!("<p><bdi>{}</bdi></p>{}", html(&words::garbage_basis(heap)), table.html())
}

/// Writes the page of one class in every model.
pub fn render_layouts(layouts: &HeapLayouts, out: &mut impl io::Write) -> io::Result<()> {
    let class = layouts.layouts.first().map_or("no class".to_owned(), |l| clean(&l.class));
    let sizes = layouts.layouts.iter().map(|l| (l.instance_bytes, l.model.name.name()));
    let headline = match sizes.clone().min().zip(sizes.max()) {
        Some((least, most)) if least.0 != most.0 => {
            format!("An instance takes {} bytes ({}) to {} bytes ({})", least.0, least.1, most.0, most.1)
        }
        Some((least, _)) => format!("An instance takes {} bytes in every model", least.0),
        None => "No model lays it out".to_owned(),
    };
    let mut sections = Vec::new();
    if let Some(html) = layouts_html(&layouts.layouts) {
        sections.push(Section::new("layout", "One object in every model", html));
    }
    sections.push(Section::problems(&Problem::listed(&layouts.problems)));
    let answer = Answer { headline, claims: Vec::new(), evidence: Vec::new() };
    let head = [
        "An object in every reference mode".to_owned(),
        class,
        format!("Found in {}", clean(&layouts.source)),
    ];
    write(head, env!("CARGO_PKG_VERSION"), &answer, sections, out)
}
