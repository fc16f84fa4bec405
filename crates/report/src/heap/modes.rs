//! Which reference mode each heap size gets.

use super::mode_words::{self, Matrix, Proof, mode_class, mode_of, range_size, short};
use super::{address_picture, address_text, thresholds_picture};
use assay_findings::{next_step, told};
use assay_kit::document::{Answer, Block, Document, Figure, Line, Section, Tone};
use assay_kit::number::xmx;
use assay_kit::page::drawings;
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table, key};
use assay_model::{HeapModes, ModeCell, Problem, ReferenceMode};

/// Thresholds, addresses, the mode of each heap size with each collector, and what was read of processes and logs.
pub fn document(modes: &HeapModes) -> Document {
    let advice = told(&modes.advice, "");
    let action = next_step(&advice, mode_words::next_step(modes));
    let proofs =
        (!modes.cells.is_empty()).then(|| Block::explanation(format!("{}.", mode_words::proofs(modes))));
    let answer = Answer {
        sentence: format!("{}.", mode_words::headline(modes)),
        action,
        chart: (!modes.thresholds.is_empty()).then(|| threshold_bars(modes)),
        rest: [Block::Findings(advice, String::new())].into_iter().chain(proofs).collect(),
        ..Answer::default()
    };
    let addresses = if modes.address_map.is_empty() { Vec::new() } else { addresses(modes) };
    let read = modes.read.iter().map(mode_words::read_sentence).collect();
    Document {
        lines: vec![Line { text: subject(modes), class: "more" }],
        sections: vec![
            Section::new("thresholds", "The largest heap of each mode", [thresholds(modes).into()]),
            Section::new("addresses", "Where a heap may lie", addresses),
            Section::new("cells", "Mode of each heap size", cells(modes)),
            Section::new("read", "Modes that were read", [Block::Items(Tone::Plain, read)]),
        ],
        page: super::page_parts(&modes.assay_version),
        ..Document::new(
            "Which reference mode a heap size gets, by Assay",
            "Reference modes of this host",
            answer,
        )
        .with_problems(Problem::listed(&modes.problems))
    }
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

fn threshold_bars(modes: &HeapModes) -> Figure {
    let caption = "-Xmx on a logarithmic axis. Each bar changes where the JVM changes its mode. ✓ marks a \
        threshold verified by starting JVMs on both sides.";
    let pictures = drawings("thresholds", |width, id| thresholds_picture::draw(modes, width, id));
    Figure::new("threshold-bars", "modes by heap size", pictures).key(mode_key(modes)).caption(caption)
}

/// The largest heap of each mode.
fn thresholds(modes: &HeapModes) -> Table {
    let thresholds = mode_words::thresholds(modes);
    let steps =
        thresholds.iter().flat_map(|threshold| threshold.steps.iter().map(move |step| (threshold, step)));
    Table::of("Modes and their largest heaps", steps)
        .words("JVM and collectors", |(c, _)| {
            format!("{}: {}", clean(&c.java), clean(&c.collectors.join(", ")))
        })
        .words("Alignment (B)", |(c, _)| c.alignment_bytes.to_string())
        .if_room()
        .words("Mode", |(_, step)| step.0.name())
        .words("Largest -Xmx", |(_, step)| xmx(step.1))
        .words("Verified", |(_, step)| if step.2 { "by JVMs on both sides" } else { "computed only" })
        .if_room()
        .table()
}

/// The map of addresses, and what its numbers are.
fn addresses(modes: &HeapModes) -> Vec<Block> {
    let numbered = address_picture::numbered(&modes.address_map);
    let table = Table::of("The first 64 GiB of addresses of a JVM on this host", numbered)
        .words("Addresses", |(range, number)| {
            let number = number.map_or_else(String::new, |n| format!("{n}: "));
            format!("{number}{:#x} - {:#x}", range.start_address, range.end_address)
        })
        .figures("Size", |(r, _)| range_size(r.start_address, r.end_address))
        .words("What", |(range, _)| clean(&range.what))
        .words("Free for a heap", |(r, _)| if r.may_hold_heap { "yes" } else { "no" })
        .table();
    let whose = match modes.address_map_java.as_deref() {
        Some(java) => format!("Addresses in {}, to scale", clean(java)),
        None => "Addresses to scale".to_owned(),
    };
    let caption = format!(
        "{whose}: the first 64 GiB, and the first 4 GiB once more, enlarged. A heap needs one free range of \
            its size. The bars over the map show how far each mode reaches."
    );
    let pictures = drawings("addresses", |width, id| address_picture::draw(&modes.address_map, width, id));
    let of_text = modes.address_map.clone();
    let map = Figure::new("address-map", "the first 64 GiB of addresses", pictures)
        .key(key::fills(address_picture::key(&modes.address_map)))
        .caption(caption)
        .in_text(move |_, ink| address_text::draw(&of_text, ink));
    vec![map.into(), table.into()]
}

/// What marks mean, what contradicts what was computed, then a matrix for each JVM.
fn cells(modes: &HeapModes) -> Vec<Block> {
    if modes.cells.is_empty() {
        return Vec::new();
    }
    let marks = "✓ confirmed by starting a JVM, ✗ the started JVM had another mode than computed, • read but \
        not computed, no mark: computed only.";
    let point = Block::explanation("Point at a cell to see what decides it.").page_only();
    let mut blocks = vec![
        Block::Key(mode_key(modes)),
        Block::explanation(marks),
        point,
        Block::Items(Tone::Warning, mode_words::contradictions(modes)),
        Block::Items(Tone::Plain, mode_words::reasons(modes)),
    ];
    for of in mode_words::matrices(modes) {
        let deciding = mode_words::deciding(modes, &of);
        blocks.push(matrix(&of).into());
        blocks.push(Block::Items(Tone::Plain, deciding));
    }
    blocks
}

/// A row for each heap size, a column for each collector, with a mark for how well a mode is known.
fn matrix(of: &Matrix<'_>) -> Table {
    let mut rows =
        Table::of(of.title.clone(), of.rows.iter().enumerate()).words("-Xmx", |(_, row)| xmx(row.0));
    for (at, collector) in of.collectors.iter().enumerate() {
        rows = rows.words(collector, move |(number, (_, cells))| {
            let above = number.checked_sub(1).and_then(|above| of.rows[above].1.get(at).copied().flatten());
            cells.get(at).copied().flatten().map_or_else(|| Cell::from(""), |cell| mode_cell(cell, above))
        });
    }
    rows.class("cells")
}

fn mode_cell(cell: &ModeCell, above: Option<&ModeCell>) -> Cell {
    let proof = Proof::of(cell);
    let is_wrong = proof == Proof::Contradicted;
    let mode = mode_of(cell);
    let is_threshold = above.is_some_and(|above| mode.is_some() && mode_of(above) != mode);
    Cell::Styled {
        text: format!("{} {}", mode.map_or("not known", short), proof.mark()).trim_end().to_owned(),
        class: format!("m-{}{}", mode.map_or("", mode_class), if is_wrong { " wrong" } else { "" }),
        tip: mode_words::cell_sentence(cell),
        look: match (is_wrong, is_threshold) {
            (true, _) => Look::Bad,
            (false, true) => Look::Strong,
            (false, false) => Look::Plain,
        },
    }
}
