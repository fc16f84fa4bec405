//! The page of modes: cliffs, matrix, address map, advice.

use super::mode_words::{self, Matrix, Proof, cell_sentence, mode_class, mode_of, short};
use super::page::{self, Answer, Claim};
use super::{address_picture, cliffs_picture};
use assay_kit::number::xmx;
use assay_kit::page::both;
use assay_kit::text::{clean, html};
use assay_kit::{Section, Table, key};
use assay_model::{HeapModes, Problem, ReferenceMode};
use std::fmt::Write as _;
use std::io;

/// Writes the page.
pub fn render(modes: &HeapModes, out: &mut impl io::Write) -> io::Result<()> {
    let claims = modes.advice.iter().map(|advice| Claim {
        claim: clean(&advice.claim),
        facts: clean(&advice.rule),
        options: advice.options.iter().map(|o| clean(o)).collect::<Vec<_>>().join(" "),
    });
    let mut sections = Vec::new();
    if !modes.cliffs.is_empty() {
        sections.push(Section::new("cliffs", "Cliffs", cliffs_html(modes)));
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
    let answer = Answer { headline: mode_words::headline(modes), claims: claims.collect(), evidence };
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

/// Key of the modes that occur in cells or cliffs.
fn mode_key(modes: &HeapModes) -> String {
    let occurs = |mode: &ReferenceMode| {
        modes.cells.iter().any(|c| mode_of(c) == Some(*mode)) || modes.cliffs.iter().any(|c| c.mode == *mode)
    };
    let item = |m| (format!("{} area", mode_class(m)), format!("{}: {}", short(m), mode_words::decoding(m)));
    key::fills(ReferenceMode::ALL.into_iter().filter(occurs).map(item))
}

fn cliffs_html(modes: &HeapModes) -> String {
    let columns = ["JVM and collectors", "Alignment (B)", "Mode", "Largest -Xmx", "Verified"];
    let mut table = Table::new("The largest heap of each mode", &columns, 1);
    table.text_from = 1;
    for cliff in mode_words::cliffs(modes) {
        for (mode, largest, verified) in &cliff.steps {
            table.rows.push(vec![
                format!("{}: {}", clean(&cliff.java), clean(&cliff.collectors)),
                cliff.alignment_bytes.to_string(),
                mode.name().to_owned(),
                xmx(*largest),
                if *verified { "by JVMs on both sides" } else { "computed alone" }.to_owned(),
            ]);
        }
    }
    let draw = |width, id| cliffs_picture::draw(modes, width, id);
    format!(
        "<figure id=\"cliff-bars\" aria-labelledby=\"cliffs-h\">{}{}<figcaption>{}</figcaption>\
         <details class=\"print-open\"><summary>Figures behind it: cliffs</summary>{}</details></figure>",
        mode_key(modes),
        both(&draw(960.0, "cliffs-wide"), &draw(344.0, "cliffs-narrow")),
        "-Xmx on a logarithmic axis. Each bar changes where the JVM changes its mode; ✓ marks a cliff on both sides of which JVMs were started.",
        table.html()
    )
}

fn addresses_html(modes: &HeapModes) -> String {
    let columns = ["Addresses", "Size", "What", "Heap may lie there"];
    let mut table = Table::new("The first 64 GiB of addresses of a JVM on this host", &columns, 1);
    table.text_from = 1;
    for (range, number) in address_picture::numbered(&modes.address_map) {
        let number = number.map_or_else(String::new, |n| format!("{n}: "));
        table.rows.push(vec![
            format!("{number}{:#x} - {:#x}", range.start_address, range.end_address),
            mode_words::range_size(range.start_address, range.end_address),
            clean(&range.what),
            if range.may_hold_heap { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let draw = |width, id| address_picture::draw(&modes.address_map, width, id);
    format!(
        "<figure id=\"address-map\" aria-labelledby=\"addresses-h\">{}{}<figcaption>{}</figcaption></figure>{}",
        key::fills(address_picture::key(&modes.address_map)),
        both(&draw(960.0, "addresses-wide"), &draw(344.0, "addresses-narrow")),
        addresses_caption(modes),
        table.html()
    )
}

/// Whose addresses they are, and how the picture is read.
fn addresses_caption(modes: &HeapModes) -> String {
    let whose = match modes.address_map_java.as_deref() {
        Some(java) => format!("Addresses in <bdi>{}</bdi>, to scale", html(java)),
        None => "Addresses to scale".to_owned(),
    };
    format!(
        "{whose}: the first 64 GiB, and the first 4 GiB once more, enlarged. A heap needs one stretch of its size; the bars over \
         the map say how far each mode reaches."
    )
}

fn cells_html(modes: &HeapModes) -> String {
    let mut out = mode_key(modes);
    out += "<p class=\"how\">✓ a JVM started so says the same, ✗ it says another mode than was computed, • seen but not computed; without a mark: computed alone. Point at a cell to see what decides it.</p>";
    let list = |lines: Vec<String>| -> String {
        lines.iter().map(|line| format!("<li><bdi>{}</bdi></li>", html(line))).collect()
    };
    let told = list(mode_words::contradictions(modes)) + &list(mode_words::reasons(modes));
    if !told.is_empty() {
        let _ = write!(out, "<ul>{told}</ul>");
    }
    mode_words::matrices(modes).iter().for_each(|matrix| push_matrix(&mut out, matrix));
    out
}

fn push_matrix(out: &mut String, matrix: &Matrix) {
    let title = html(&matrix.title);
    let _ = write!(
        out,
        "<h3><bdi>{title}</bdi></h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
         <table class=\"cells\"><thead><tr><th scope=\"col\" class=\"n\">-Xmx</th>"
    );
    for collector in &matrix.collectors {
        let _ = write!(out, "<th scope=\"col\">{}</th>", html(collector));
    }
    *out += "</tr></thead><tbody>\n";
    for (max_heap_bytes, cells) in &matrix.rows {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th>", xmx(*max_heap_bytes));
        for cell in cells {
            let Some(cell) = cell else {
                *out += "<td></td>";
                continue;
            };
            let (mode, proof) = (mode_of(cell), Proof::of(cell));
            let class = mode.map_or("", mode_class);
            let wrong = if proof == Proof::Contradicted { " wrong" } else { "" };
            let name = mode.map_or("not known", short);
            let tip = html(&cell_sentence(cell));
            let mark = proof.mark();
            let _ = write!(out, "<td class=\"m-{class}{wrong}\" title=\"{tip}\">{name} {mark}</td>");
        }
        *out += "</tr>\n";
    }
    *out += "</tbody></table></div>";
}
