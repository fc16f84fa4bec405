//! The pages of heaps: what a prediction and a class's layouts show, gathered from the other modules.

use super::places::{alike, fields};
use super::words::{self, PARTS};
use super::{class_bars, layout_picture, layout_text, totals};
use crate::memory::page_tables;
use crate::number::{percent, significant, size, xmx};
use crate::table::Table;
use crate::text::{clean, html};
use askama::Template;
use assay_model::{ClassLayout, HeapLayouts, HeapPrediction, LayoutPart, Problem};
use std::fmt::Write as _;
use std::io;

pub(super) const STYLE: &str = concat!(
    include_str!("../../../../web/report.css"),
    include_str!("../../../../web/memory.css"),
    include_str!("../../../../web/heap.css")
);
pub(super) const SCRIPT: &str =
    concat!(include_str!("../../../../web/report.js"), include_str!("../../../../web/heap.js"));

#[derive(Template)]
#[template(path = "heap.html")]
pub(super) struct Page {
    pub style: &'static str,
    pub script: &'static str,
    pub kind: &'static str,
    pub title: String,
    pub subject: String,
    pub headline: String,
    pub answers: Vec<Answer>,
    pub evidence: Vec<String>,
    pub sections: Vec<Section>,
    pub assay_version: String,
}

/// A claim of the answer.
pub(super) struct Answer {
    pub claim: String,
    pub facts: String,
    pub options: String,
}

/// A part of the page. `html` is made of escaped text.
pub(crate) struct Section {
    pub id: &'static str,
    pub title: &'static str,
    pub html: String,
}

impl Section {
    pub fn new(id: &'static str, title: &'static str, html: String) -> Self {
        Section { id, title, html }
    }

    /// What could not be read, or that there is nothing of it.
    pub fn problems(problems: &[Problem]) -> Self {
        let none = "<p>None: all that was looked for could be read.</p>".to_owned();
        let html = page_tables::problems(problems).map_or(none, |table| table.html());
        Section::new("problems", "Problems", html)
    }
}

/// Both drawings of a picture, of which the page shows one.
pub(crate) fn both(wide: &str, narrow: &str) -> String {
    format!("<div class=\"map-wide\">{wide}</div><div class=\"map-narrow\">{narrow}</div>")
}

/// A key: classes of fills with their names.
pub(super) fn key(items: &[(&str, String)]) -> String {
    let mut out = String::from("<ul class=\"key\">");
    for (class, name) in items {
        let _ = write!(
            out,
            "<li><svg aria-hidden=\"true\" width=\"16\" height=\"12\" viewBox=\"0 0 16 12\">\
             <path class=\"{class}\" d=\"M0 0H16V12H0Z\"/></svg>{}</li>",
            html(name)
        );
    }
    out + "</ul>"
}

/// Writes the page of a prediction.
pub fn render_prediction(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    let answers = words::cross_overs_told(heap).into_iter().map(|over| Answer {
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
    sections.push(Section::problems(&heap.problems));
    let page = Page {
        style: STYLE,
        script: SCRIPT,
        kind: "What a heap weighs in every reference mode",
        title: format!("Heap of {}", clean(&heap.source)),
        subject: words::subject(heap),
        headline: words::headline(heap),
        answers: answers.collect(),
        evidence: words::evidence(heap)
            .map(|e| format!("How the model was found: {e}."))
            .into_iter()
            .collect(),
        sections,
        assay_version: clean(&heap.assay_version),
    };
    page.write_into(out)
}

fn totals_html(heap: &HeapPrediction) -> String {
    let items: Vec<(&str, String)> =
        PARTS.iter().map(|(name, class, what)| (*class, format!("{name}: {what}"))).collect();
    let draw = |width, id| totals::draw(heap, width, id);
    format!(
        "<figure id=\"weights\" aria-labelledby=\"totals-h\">{}{}<figcaption>{}</figcaption></figure>{}",
        key(&items),
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
        key(&layout_picture::key(&groups)),
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
    sections.push(Section::problems(&layouts.problems));
    let page = Page {
        style: STYLE,
        script: SCRIPT,
        kind: "An object in every reference mode",
        title: class,
        subject: format!("Found in {}", clean(&layouts.source)),
        headline,
        answers: Vec::new(),
        evidence: Vec::new(),
        sections,
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    page.write_into(out)
}
