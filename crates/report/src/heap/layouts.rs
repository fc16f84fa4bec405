//! One object in every layout.

use super::places::{SameLayout, alike, fields};
use super::{layout_picture, layout_text};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Answer, Block, Document, Figure, Line, Section};
use assay_kit::page::drawings;
use assay_kit::text::clean;
use assay_kit::{Cell, Table, key};
use assay_model::{ClassLayout, FieldPlace, HeapLayouts, LayoutPart, Problem};

/// An object of a class in every layout: to scale, and the place of each field.
pub fn document(layouts: &HeapLayouts) -> Document {
    let class = layouts.layouts.first().map_or("no class".to_owned(), |layout| clean(&layout.class));
    let answer = Answer {
        sentence: format!("{}.", headline(layouts)),
        action: "→ To see what that is worth for a whole heap: assay heap DUMP (or PID).".to_owned(),
        chart: sizes(&layouts.layouts),
        ..Answer::default()
    };
    Document {
        lines: vec![Line { text: format!("Found in {}", clean(&layouts.source)), class: "more" }],
        sections: vec![Section::new("layout", "One object in every layout", to_scale(&layouts.layouts))],
        page: super::page_parts(env!("CARGO_PKG_VERSION")),
        ..Document::new("An object in every layout, by Assay", class, answer)
            .with_problems(Problem::listed(&layouts.problems))
    }
}

/// How large an instance is in each layout.
fn sizes(layouts: &[ClassLayout]) -> Option<Figure> {
    let bar = |group: &SameLayout| {
        let bytes = group.layout.instance_bytes;
        Bar::whole(&group.names, format!("{bytes} bytes"), bytes as f64, "f0 area")
    };
    let bars: Vec<Bar> = alike(layouts).iter().map(bar).collect();
    let name = "Size of an instance in each layout";
    let pictures = drawings("sizes", |width, id| bar_rows::bars(&bars, (None, None), width, (id, name)));
    let caption = "Bytes of one instance, from zero. Layouts that are alike are one bar.";
    (!bars.is_empty())
        .then(|| Figure::new("sizes", "size of an instance in each layout", pictures).caption(caption))
}

/// The picture of a class in every layout, and the places of its fields; nothing without a layout.
pub(super) fn to_scale(layouts: &[ClassLayout]) -> Vec<Block> {
    let Some(class) = layouts.first().map(|layout| clean(&layout.class)) else { return Vec::new() };
    let groups = alike(layouts);
    let caption =
        format!("An object of {class}, each byte as wide as another. Layouts that are alike are shown once.");
    let pictures = drawings("layout", |width, id| layout_picture::draw(&groups, &class, width, id));
    let of_text: Vec<ClassLayout> = layouts.to_vec();
    let figure = Figure::new("object", "one object in every layout", pictures)
        .key(key::fills(layout_picture::key(&groups)))
        .caption(caption)
        .in_text(move |columns, ink| layout_text::draw(&of_text, columns, ink));
    vec![figure.into(), places(layouts, &class).into()]
}

/// Offset and size of every field in each group of layouts.
fn places(layouts: &[ClassLayout], class: &str) -> Table {
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
            places[index].map(|p| format!("{} + {}", p.offset_bytes, p.bytes))
        });
    }
    let mut table = rows.class("dense offsets");
    let row = |name: &str, cell: &dyn Fn(&ClassLayout) -> String| {
        let cells = groups.iter().map(|group| cell(group.layout));
        let cells = [name.to_owned(), String::new()].into_iter().chain(cells).map(Cell::from);
        assay_kit::table::Row { cells: cells.collect(), ..Default::default() }
    };
    let part = layout_text::bytes_of;
    table.rows.insert(0, row("header", &|l| format!("0 + {}", part(l, LayoutPart::Header))));
    table.rows.push(row("padding in all", &|l| part(l, LayoutPart::Padding).to_string()));
    table.rows.push(row("instance", &|l| l.instance_bytes.to_string()));
    table
}

/// The size of an instance in a sentence, without its full stop: in the layouts that the release has.
fn headline(layouts: &HeapLayouts) -> String {
    const NAMED: usize = 2;
    let in_release = || layouts.layouts.iter().filter(|layout| layout.is_in_release);
    let sizes = in_release().map(|l| l.instance_bytes);
    let of = |bytes: u64| {
        let with = in_release().filter(|l| l.instance_bytes == bytes);
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
