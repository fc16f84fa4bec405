//! Modes of heap sizes for the terminal: matrix, thresholds, advice, address map.

use super::mode_words::{self, Matrix, Proof, mode_of, range_size, short};
use assay_findings::{to_terminal, told};
use assay_kit::ink::{Ink, fit};
use assay_kit::number::xmx;
use assay_kit::text::{clean, shorten};
use assay_kit::{Terminal, TerminalView};
use assay_model::{AddressRange, HeapModes, Problem};

const SIZE: usize = 10;
const CELL: usize = 13;
const GIB: u64 = 1 << 30;
/// Ranges of the address space that are listed.
const RANGES_SHOWN: usize = 40;

/// Which mode each heap size gets, for the terminal: matrix, thresholds, advice, address map.
pub fn render(modes: &HeapModes, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &format!("{}.", mode_words::headline(modes)), Ink::bold);
    for matrix in mode_words::matrices(modes) {
        draw(&mut out, &matrix);
        for line in mode_words::deciding(modes, &matrix) {
            out.paragraph(2, &line, Ink::dim);
        }
    }
    if !modes.cells.is_empty() {
        let key = "✓ a JVM started so says the same, ✗ it says another mode or place, • seen but not computed, no mark: computed";
        out.paragraph(0, key, Ink::dim);
        out.paragraph(0, &format!("{}.", mode_words::proofs(modes)), Ink::plain);
        for line in mode_words::contradictions(modes) {
            out.paragraph(2, &line, Ink::warn);
        }
        for line in mode_words::reasons(modes) {
            out.paragraph(2, &line, Ink::dim);
        }
    }
    thresholds(&mut out, modes);
    advice(&mut out, modes);
    address_map(&mut out, modes);
    if !modes.read.is_empty() {
        out.heading("Modes that were read");
        for read in &modes.read {
            out.paragraph(2, &mode_words::read_sentence(read), Ink::plain);
        }
    }
    out.problems(&Problem::listed(&modes.problems));
    out.finish()
}

fn draw(out: &mut Terminal, matrix: &Matrix) {
    out.heading(&shorten(&matrix.title, out.width));
    let fitting = ((out.width - SIZE) / CELL).max(1);
    for (index, collectors) in matrix.collectors.chunks(fitting).enumerate() {
        let mut heading = format!("{:>SIZE$}", "-Xmx");
        collectors.iter().for_each(|c| heading += &format!("  {}", fit(&shorten(c, CELL - 2), CELL - 2)));
        out.line(&out.ink.dim(heading.trim_end()));
        let mut above: Vec<_> = vec![None; collectors.len()];
        for (max_heap_bytes, cells) in &matrix.rows {
            let mut line = format!("{:>SIZE$}", xmx(*max_heap_bytes));
            for (column, before) in above.iter_mut().enumerate() {
                let cell = cells.get(index * fitting + column).copied().flatten();
                let (mode, proof) = (cell.and_then(mode_of), cell.map(Proof::of));
                let name = mode.map_or(if cell.is_some() { "?" } else { "" }, short);
                let text = fit(&format!("{name}{}", proof.map_or("", Proof::mark)), CELL - 2);
                let is_threshold = before.is_some() && mode.is_some() && *before != mode;
                let text = match proof {
                    Some(Proof::Contradicted) => out.ink.warn(&text),
                    _ if is_threshold => out.ink.bold(&text),
                    _ => text,
                };
                line += &format!("  {text}");
                *before = mode.or(*before);
            }
            out.line(&line);
        }
    }
}

fn thresholds(out: &mut Terminal, modes: &HeapModes) {
    let all = mode_words::thresholds(modes);
    if all.is_empty() {
        return;
    }
    out.heading("Thresholds: the largest heap of each mode");
    let mut java = None;
    for threshold in all {
        if java.as_ref() != Some(&threshold.java) {
            out.line(&format!("  {}", shorten(&clean(&threshold.java), out.width - 2)));
            java = Some(threshold.java.clone());
        }
        let steps: Vec<String> = threshold
            .steps
            .iter()
            .map(|(mode, largest, verified)| {
                format!("{} -Xmx{}{}", short(*mode), xmx(*largest), if *verified { "✓" } else { "" })
            })
            .collect();
        let alignment = if threshold.alignment_bytes == 8 {
            String::new()
        } else {
            format!(", alignment {}", threshold.alignment_bytes)
        };
        let text = format!("{}{alignment}: {}", clean(&threshold.collectors.join(", ")), steps.join(", "));
        out.paragraph(4, &text, Ink::plain);
    }
}

fn advice(out: &mut Terminal, modes: &HeapModes) {
    if modes.advice.is_empty() {
        return;
    }
    out.heading("Advice");
    to_terminal(out, &told(&modes.advice, ""));
}

/// One column for each GiB: where a heap may lie, and what is in the way.
fn strip(map: &[AddressRange]) -> String {
    let column = |gib: u64| {
        let (from, to) = (gib * GIB, (gib + 1) * GIB);
        let inside = |r: &&AddressRange| r.start_address < to && r.end_address > from;
        let mut here = map.iter().filter(inside).peekable();
        if here.peek().is_none() {
            return ' ';
        }
        let (mut may, mut not) = (false, false);
        here.for_each(|r| if r.may_hold_heap { may = true } else { not = true });
        match (may, not) {
            (true, false) => '░',
            (true, true) => '▒',
            _ => '█',
        }
    };
    (0..64).map(column).collect()
}

fn address_map(out: &mut Terminal, modes: &HeapModes) {
    let map = &modes.address_map;
    if map.is_empty() {
        return;
    }
    let java = modes.address_map_java.as_deref();
    let java = java.map_or_else(String::new, |java| format!(", in {}", clean(java)));
    let title = format!("The first 64 GiB of addresses on this host{java}");
    out.heading(&shorten(&title, out.width));
    out.line(&format!("  {}", strip(map)));
    let mut marks = " ".repeat(64);
    for (gib, label) in [(0, "0"), (4, "4 GiB"), (32, "32 GiB"), (58, "64 GiB")] {
        marks.replace_range(gib..gib + label.len(), label);
    }
    out.line(&format!("  {}", out.ink.dim(&marks)));
    out.line(&format!(
        "  {}",
        out.ink.dim("░ a heap may lie there, ▒ in part, █ something is in the way, 1 GiB a column")
    ));
    for range in map.iter().take(RANGES_SHOWN) {
        let (from, to) = (range.start_address, range.end_address);
        let addresses = format!("{from:>#13x} - {to:>#13x} {:>12}", range_size(from, to));
        let may = if range.may_hold_heap { "heap may lie here" } else { "" };
        let line = format!("  {addresses}  {:<18}{}", may, clean(&range.what));
        let line = fit(&line, out.width);
        let style = if range.may_hold_heap { Ink::good } else { Ink::plain };
        out.line(&style(out.ink, line.trim_end()));
    }
    out.more((map.len(), RANGES_SHOWN), "  ", "more ranges (--json has them)");
}
