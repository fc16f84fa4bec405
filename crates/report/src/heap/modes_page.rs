//! The page of modes: thresholds, matrix, address map, advice.

use super::mode_words::{self, mode_class, mode_of, short};
use super::page::{self, Reasons};
use super::{address_picture, thresholds_picture};
use askama::Template;
use assay_findings::{next_step, to_html, told};
use assay_kit::number::xmx;
use assay_kit::page::{drawings, figure};
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Section, Table, key};
use assay_model::{HeapModes, Problem, ReferenceMode};
use std::fmt::Write as _;
use std::io;

/// Which mode each heap size gets as one HTML file: thresholds, address map, matrix.
///
/// # Errors
/// Those of the writer.
pub fn render(modes: &HeapModes, out: &mut impl io::Write) -> io::Result<()> {
    let mut sections = Vec::new();
    if !modes.thresholds.is_empty() {
        sections.push(Section::new(
            "thresholds",
            "The largest heap of each mode",
            thresholds_table(modes).html(),
        ));
    }
    if !modes.address_map.is_empty() {
        sections.push(Section::new("addresses", "Where a heap may lie", addresses_html(modes)));
    }
    if !modes.cells.is_empty() {
        sections.push(Section::new("cells", "Mode of each heap size", cells_html(modes)));
    }
    if !modes.read.is_empty() {
        let read: String = modes
            .read
            .iter()
            .map(|r| format!("<li><bdi>{}</bdi></li>", html(&mode_words::read_sentence(r))))
            .collect();
        sections.push(Section::new("read", "Modes that were read", format!("<ul>{read}</ul>")));
    }
    sections.push(Section::problems(&Problem::listed(&modes.problems)));
    let mut evidence = Vec::new();
    if !modes.cells.is_empty() {
        evidence.push(format!("{}.", mode_words::proofs(modes)));
    }
    let advice = told(&modes.advice, "");
    let reasons = Reasons { findings: to_html(&advice, ""), claims: Vec::new(), evidence };
    let answer = Answer {
        sentence: format!("{}.", mode_words::headline(modes)),
        action: next_step(&advice, mode_words::next_step(modes)),
        chart: if modes.thresholds.is_empty() { String::new() } else { thresholds_html(modes) },
        rest: reasons.render().map_err(io::Error::other)?,
        ..Answer::default()
    };
    let head = [
        "Which reference mode a heap size gets".to_owned(),
        "Reference modes of this host".to_owned(),
        subject(modes),
    ];
    page::write(head, &modes.assay_version, &answer, sections, out)
}

fn subject(modes: &HeapModes) -> String {
    let mut javas: Vec<String> = Vec::new();
    for cell in &modes.cells {
        let name = format!("JDK {} ({})", cell.jdk, clean(&cell.java));
        if !javas.contains(&name) {
            javas.push(name);
        }
    }
    javas.join(", ")
}

/// Key of the modes that occur in cells or thresholds.
fn mode_key(modes: &HeapModes) -> String {
    let occurs = |mode: &ReferenceMode| {
        modes.cells.iter().any(|c| mode_of(c) == Some(*mode))
            || modes.thresholds.iter().any(|c| c.mode == *mode)
    };
    let item = |m| (format!("{} area", mode_class(m)), format!("{}: {}", short(m), mode_words::decoding(m)));
    key::fills(ReferenceMode::ALL.into_iter().filter(occurs).map(item))
}

/// The largest heap of each mode.
pub(super) fn thresholds_table(modes: &HeapModes) -> Table {
    let thresholds = mode_words::thresholds(modes);
    let steps =
        thresholds.iter().flat_map(|threshold| threshold.steps.iter().map(move |step| (threshold, step)));
    Table::of("Modes and their largest heaps", steps)
        .words("JVM and collectors", |(c, _)| {
            format!("{}: {}", clean(&c.java), clean(&c.collectors.join(", ")))
        })
        .words("Alignment (B)", |(c, _)| c.alignment_bytes.to_string())
        .words("Mode", |(_, step)| step.0.name().to_owned())
        .words("Largest -Xmx", |(_, step)| xmx(step.1))
        .words("Verified", |(_, step)| {
            if step.2 { "by JVMs on both sides" } else { "computed only" }.to_owned()
        })
        .table()
}

fn thresholds_html(modes: &HeapModes) -> String {
    let caption = "-Xmx on a logarithmic axis. Each bar changes where the JVM changes its mode; ✓ marks a threshold on both sides \
                   of which JVMs were started.";
    let pictures = drawings("thresholds", |width, id| thresholds_picture::draw(modes, width, id));
    figure("threshold-bars", "answer", &mode_key(modes), &pictures, caption)
}

fn addresses_html(modes: &HeapModes) -> String {
    let numbered = address_picture::numbered(&modes.address_map);
    let table = Table::of("The first 64 GiB of addresses of a JVM on this host", numbered)
        .words("Addresses", |(range, number)| {
            let number = number.map_or_else(String::new, |n| format!("{n}: "));
            format!("{number}{:#x} - {:#x}", range.start_address, range.end_address)
        })
        .words("Size", |(r, _)| mode_words::range_size(r.start_address, r.end_address))
        .words("What", |(range, _)| clean(&range.what))
        .words("Heap may lie there", |(r, _)| if r.may_hold_heap { "yes" } else { "no" }.to_owned());
    format!(
        "<figure id=\"address-map\" aria-labelledby=\"addresses-h\">{}{}<figcaption>{}</figcaption></figure>{}",
        key::fills(address_picture::key(&modes.address_map)),
        drawings("addresses", |width, id| address_picture::draw(&modes.address_map, width, id)),
        addresses_caption(modes),
        table.table().html()
    )
}

/// Whose addresses they are, and how the picture is read.
fn addresses_caption(modes: &HeapModes) -> String {
    let whose = match modes.address_map_java.as_deref() {
        Some(java) => format!("Addresses in <bdi>{}</bdi>, to scale", html(java)),
        None => "Addresses to scale".to_owned(),
    };
    format!(
        "{whose}: the first 64 GiB, and the first 4 GiB once more, enlarged. A heap needs one free range of its size; the bars \
         over the map show how far each mode reaches."
    )
}

fn cells_html(modes: &HeapModes) -> String {
    let mut out = mode_key(modes);
    out += "<p class=\"how\">✓ a JVM started so says the same, ✗ it says another mode than was computed, • seen but not computed; without a mark: computed only. Point at a cell to see what decides it.</p>";
    let list = |lines: Vec<String>| -> String {
        lines.iter().map(|line| format!("<li><bdi>{}</bdi></li>", html(line))).collect()
    };
    let told = list(mode_words::contradictions(modes)) + &list(mode_words::reasons(modes));
    if !told.is_empty() {
        let _ = write!(out, "<ul>{told}</ul>");
    }
    out + &mode_words::matrices(modes).iter().filter_map(|matrix| matrix.render().ok()).collect::<String>()
}
