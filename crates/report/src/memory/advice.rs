//! The limit that a process needs: what it is made of, where each part's bound comes from, settings that would lower it.

use super::STYLE;
use assay_findings::{next_step, told};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Answer, Block, Document, Figure, Finding, PageParts, Section, Tone};
use assay_kit::number::bytes;
use assay_kit::page::drawings;
use assay_kit::stack::fill_class;
use assay_kit::text::clean;
use assay_kit::{Table, key};
use assay_model::{Advice, AdviceLine, Certainty, Problem};

/// Fills of what a part holds now, and of what its budget adds to that.
const LOOKS: [usize; 2] = [0, 7];
/// Parts that the chart shows; the table has all.
const PARTS_DRAWN: usize = 10;

/// The limit.
pub fn document(advice: &Advice) -> Document {
    let settings = settings(advice);
    let keep = format!("→ Set the limit to at least {}.", bytes(advice.limit_bytes));
    let answer = Answer {
        sentence: headline(advice),
        action: next_step(&settings, &keep),
        chart: Some(chart(advice)),
        rest: vec![Block::Text(Tone::Strong, sentence(advice))],
        ..Answer::default()
    };
    let none = "No setting is known that would lower it.".to_owned();
    let sections = vec![
        Section::new("parts", "Parts of the limit", [parts(advice).into()]).called("Parts"),
        Section::new("settings", "Settings that would lower it", [Block::Findings(settings, none)])
            .called("Settings"),
    ];
    Document {
        sections,
        page: PageParts {
            style: STYLE,
            made_by: clean(&advice.provenance.assay_version),
            ..PageParts::default()
        },
        ..Document::new(
            "The memory limit that a process needs, by Assay",
            format!("Memory limit of {} ({})", clean(&advice.program), advice.pid),
            answer,
        )
        .with_problems(Problem::listed(&advice.problems))
    }
}

/// Settings that would lower the limit.
pub fn settings(advice: &Advice) -> Vec<Finding> {
    told(&advice.settings, "lowers it by")
}

/// The limit, and that in force, in one sentence.
fn headline(advice: &Advice) -> String {
    let needed = advice.limit_bytes;
    let in_force = match advice.current_limit_bytes {
        Some(limit) if limit < needed => {
            format!("the limit in force, {}, is {} too small", bytes(limit), bytes(needed - limit))
        }
        Some(limit) => format!("the limit in force, {}, is enough", bytes(limit)),
        None => "no limit is in force".to_owned(),
    };
    format!("The process needs a limit of {}, {in_force}.", bytes(needed))
}

fn chart(advice: &Advice) -> Figure {
    let (id, name) = ("parts-figure", "parts of the limit");
    let mut lines: Vec<&AdviceLine> = advice.lines.iter().filter(|line| line.bound_bytes > 0).collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.bound_bytes));
    lines.truncate(PARTS_DRAWN);
    if lines.is_empty() {
        return Figure::absent(id, name, "no part of the limit is known");
    }
    let bar = |line: &&AdviceLine| {
        let (name, now) = (clean(&line.name), line.now_bytes.min(line.bound_bytes));
        let parts = [("now", now), ("beyond that", line.bound_bytes - now)].into_iter().zip(LOOKS);
        let part = |((which, size), look): ((&str, u64), usize)| {
            (size as f64, fill_class(look), format!("{name}, {which}: {}", bytes(size)))
        };
        Bar {
            value: format!("{} of {}", bytes(line.now_bytes), bytes(line.bound_bytes)),
            parts: parts.map(part).collect(),
            name: name.clone(),
        }
    };
    let bars: Vec<Bar> = lines.iter().map(bar).collect();
    let title = "Parts of the limit";
    let pictures =
        drawings("parts-bars", |width, id| bar_rows::bars(&bars, (None, None), width, (id, title)));
    let names = ["in use now", "budgeted beyond that"];
    let key = key::fills(LOOKS.into_iter().zip(names).map(|(look, name)| (fill_class(look), name)));
    Figure::new(id, name, pictures)
        .key(key)
        .caption("Current size of each part and its share of the limit, the largest first.")
}

/// The arithmetic of the limit.
pub fn parts(advice: &Advice) -> Table {
    let (now, bound) = sums(advice);
    let rounded = format!("rounded up to a MiB: {}", bytes(advice.limit_bytes));
    let mut table = Table::of("How the limit is computed", &advice.lines)
        .words("Part", |line| clean(&line.name))
        .figures("Now", |line| bytes(line.now_bytes))
        .figures("Peak", |line| line.peak_bytes.map(bytes))
        .if_room()
        .figures("Budgeted", |line| bytes(line.bound_bytes))
        .words("Where the bound comes from", |line| bound_from(line))
        .below()
        .table();
    table.push_total(["Total".to_owned(), bytes(now), String::new(), bytes(bound), rounded]);
    table
}

/// Sums of what is there now and of the bounds, in bytes.
fn sums(advice: &Advice) -> (u64, u64) {
    let add = |(now, bound): (u64, u64), line: &AdviceLine| {
        (now.saturating_add(line.now_bytes), bound.saturating_add(line.bound_bytes))
    };
    advice.lines.iter().fold((0, 0), add)
}

/// Where a bound comes from, and how certain it is.
fn bound_from(line: &AdviceLine) -> String {
    let kind = match line.certainty {
        Some(Certainty::Known) => "known, a bound of the JVM",
        Some(Certainty::Inferred) => "inferred",
        Some(Certainty::Unknown) => "no known bound: observed peak plus headroom",
        Some(Certainty::Other) | None if line.is_hard => "a bound of the JVM",
        Some(Certainty::Other) | None => "observed peak plus headroom",
    };
    format!("{}; {kind}", clean(&line.bound_from))
}

/// What the advice comes to.
pub fn sentence(advice: &Advice) -> String {
    let current = match advice.current_limit_bytes {
        Some(limit) if limit < advice.limit_bytes => format!(
            "The limit in force, {}, is {} too small for that.",
            bytes(limit),
            bytes(advice.limit_bytes - limit)
        ),
        Some(limit) => format!(
            "The limit in force is {}: {} more than that.",
            bytes(limit),
            bytes(limit - advice.limit_bytes)
        ),
        None => "No limit is in force.".to_owned(),
    };
    let beyond = advice.direct_beyond_bytes;
    let but = if beyond.is_some() { ", but for direct buffers beyond their budget" } else { "" };
    let beyond = beyond.map_or_else(String::new, |beyond| {
        format!(
            "Direct buffers may take {} more than is budgeted, while no -XX:MaxDirectMemorySize is set. ",
            bytes(beyond)
        )
    });
    let sum = |of: fn(&AdviceLine) -> bool| {
        let lines = advice.lines.iter().filter(|line| of(line));
        lines.fold(0u64, |sum, line| sum.saturating_add(line.bound_bytes))
    };
    let inferred = match sum(|line| line.certainty == Some(Certainty::Inferred)) {
        0 => String::new(),
        inferred => format!(", {} are inferred", bytes(inferred)),
    };
    format!(
        "This process needs a limit of {} in the worst case, every configured limit reached{but}. {} are \
            bounds that the JVM keeps{inferred}, the rest are observed peaks plus headroom. {beyond}{}In use \
            now: {}{}. {current}",
        bytes(advice.limit_bytes),
        bytes(sum(|line| line.is_hard)),
        observed(advice),
        bytes(advice.now_bytes),
        advice.group_bytes.map_or_else(String::new, charged)
    )
}

/// What was enough so far, beside the worst case.
fn observed(advice: &Advice) -> String {
    let Some((limit, peak)) = advice.observed_limit_bytes.zip(advice.observed_peak_bytes) else {
        return String::new();
    };
    format!(
        "By observation {} is enough: it has needed {} at most so far, and load or data beyond that are not provided for. ",
        bytes(limit),
        bytes(peak)
    )
}

fn charged(group_bytes: u64) -> String {
    format!("; its control group is charged {}, page cache and other processes included", bytes(group_bytes))
}
