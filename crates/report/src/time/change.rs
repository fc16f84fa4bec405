//! What changed between two accounts of CPU time: a table for the terminal, differential flame graphs for the page.

use super::flames::NOT_LISTED;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::flame_diff::{ChangedFlame, changed_flames, key_of_changes};
use assay_kit::ink::{Ink, fit};
use assay_kit::number::{bytes, counted, duration, percent_share, significant};
use assay_kit::page::{drawings, figure};
use assay_kit::text::{clean, html, to_the_second};
use assay_kit::{Answer, Page, Section, Table, Terminal, TerminalView};
use assay_model::{ChangedPart, ChangedStacks, Problem, StackSource, TimeChange, TimeSubject, WeightUnit};
use std::io;

/// Frames whose own change is listed.
const LISTED_MAX: usize = 30;
/// Roles whose change is drawn.
const ROLES_DRAWN: usize = 8;
const LINES_MAX: usize = 12;
const NAME: usize = 50;
const FIGURE: usize = 15;

/// For the terminal.
pub fn render_terminal(change: &TimeChange, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &headline(change), Ink::bold);
    out.paragraph(0, &subjects(change), Ink::plain);
    let name = out.width.saturating_sub(3 * FIGURE).min(NAME);
    let line = |out: &mut Terminal, of: &str, unit: WeightUnit, before: f64, after: f64| {
        let change = signed(unit, after - before);
        out.line(&format!(
            "{}{:>FIGURE$}{:>FIGURE$}{change:>FIGURE$}",
            fit(of, name),
            said(unit, before),
            said(unit, after)
        ));
    };
    out.heading("By role");
    out.line(&out.ink.dim(&format!(
        "{}{:>FIGURE$}{:>FIGURE$}{:>FIGURE$}",
        fit("", name),
        "before",
        "after",
        "change"
    )));
    for part in &change.roles {
        line(&mut out, &part.name, change.unit, part.before, part.after);
    }
    for stacks in &change.stacks {
        out.heading(own_title(stacks.source));
        out.paragraph(2, &quality(stacks), Ink::dim);
        for (of, before, after) in tree_of(stacks).own_changes().into_iter().take(LINES_MAX) {
            line(&mut out, &of, stacks.unit, before, after);
        }
    }
    out.problems(&Problem::listed(&change.problems));
    out.finish()
}

/// As one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render_html(change: &TimeChange, out: &mut impl io::Write) -> io::Result<()> {
    let mut sections = vec![
        answer(change).section(),
        Section::new("roles", "Every role", roles(change).html()).called("Roles"),
    ];
    for stacks in &change.stacks {
        let (id, title, short) = match stacks.source {
            StackSource::RecordedJava => ("java", "Java methods, by the flight recorder", "Java methods"),
            StackSource::RecordedAllocation => {
                ("allocation", "Who allocated, by the flight recorder", "Allocation")
            }
            StackSource::Samples | StackSource::Other => {
                ("flames", "Differential flame graph", "Flame graph")
            }
        };
        sections.push(Section::new(id, title, stacks_section(id, stacks)).called(short));
    }
    sections.push(Section::problems(&Problem::listed(&change.problems)));
    Page {
        lines: vec![("", subjects(change))],
        sections,
        ..Page::new(
            "Every CPU second, compared, by Assay",
            format!("CPU time of {}: what changed", clean(&change.after.program)),
        )
    }
    .write(out)
}

fn answer(change: &TimeChange) -> Answer {
    let by = |part: &ChangedPart| part.after - part.before;
    let mut changed: Vec<&ChangedPart> = change.roles.iter().filter(|part| by(part) != 0.0).collect();
    changed.sort_by(|a, b| by(b).abs().total_cmp(&by(a).abs()));
    let action = changed.first().map_or_else(String::new, |most| {
        format!("→ Begin with the role that changed most: {}, {}.", most.name, signed(change.unit, by(most)))
    });
    let bar = |part: &&ChangedPart| {
        let class = if by(part) < 0.0 { "bar s2" } else { "bar s1" };
        Bar::whole(&part.name, signed(change.unit, by(part)), by(part), class)
    };
    let bars: Vec<Bar> = changed.iter().take(ROLES_DRAWN).map(bar).collect();
    let title = "Change of CPU time by role";
    let pictures =
        drawings("roles-change", |width, id| bar_rows::bars(&bars, (None, None), width, (id, title)));
    let caption = "Change of CPU time by role, the largest first; more to the right.";
    Answer {
        sentence: format!("{}.", headline(change)),
        action,
        chart: if bars.is_empty() {
            String::new()
        } else {
            figure("roles-figure", "answer", "", &pictures, caption)
        },
        ..Answer::default()
    }
}

/// What changed, in a sentence.
pub(super) fn headline(change: &TimeChange) -> String {
    let ChangedPart { before, after, .. } = &change.total;
    match change.unit {
        WeightUnit::NsPerRequest | WeightUnit::BytesPerRequest => {
            let part = if 0.0 < *before {
                format!(" ({:+.1} %)", 100.0 * (after - before) / before)
            } else {
                String::new()
            };
            format!(
                "CPU time per request: {} before, {} after{part}",
                said(change.unit, *before),
                said(change.unit, *after)
            )
        }
        WeightUnit::Share | WeightUnit::Other => {
            "Shares of CPU time are compared, since not both accounts know their requests \
             (--requests-per-second)"
                .to_owned()
        }
    }
}

/// The two accounts.
pub(super) fn subjects(change: &TimeChange) -> String {
    let one = |of: &TimeSubject| {
        format!(
            "{} (pid {}, {} in {}, {})",
            clean(&of.program),
            of.pid,
            duration(of.cpu_ns),
            duration(of.duration_ns),
            to_the_second(&of.taken_at)
        )
    };
    format!("before: {}; after: {}", one(&change.before), one(&change.after))
}

/// Every role.
pub(super) fn roles(change: &TimeChange) -> Table {
    let unit = change.unit;
    Table::of("CPU time by role", &change.roles)
        .words("Role", |part| part.name.clone())
        .figures("Before", move |part| said(unit, part.before))
        .figures("After", move |part| said(unit, part.after))
        .figures("Change", move |part| signed(unit, part.after - part.before))
        .table()
}

/// What changed most of stacks' own time.
pub(super) fn own(stacks: &ChangedStacks) -> Table {
    let unit = stacks.unit;
    let mut own = tree_of(stacks).own_changes();
    own.truncate(LISTED_MAX);
    Table::of(own_title(stacks.source), &own)
        .words("Function", |(name, _, _)| name.clone())
        .figures("Before", move |(_, before, _)| said(unit, *before))
        .figures("After", move |(_, _, after)| said(unit, *after))
        .figures("Change", move |(_, before, after)| signed(unit, after - before))
        .table()
}

fn stacks_section(id: &str, stacks: &ChangedStacks) -> String {
    let tree = tree_of(stacks);
    let unit = stacks.unit;
    let say = |weight| said(unit, weight);
    let title = "Stacks of both accounts, coloured by their change";
    let pictures =
        drawings(&format!("{id}-diff"), |width, id| changed_flames(&tree, &say, width, (id, title)));
    let key = key_of_changes();
    let caption = "Callers above what they called. A frame is as wide as both accounts have of it together, so that what has gone still has its \
                   place; its colour and sign are its change. A pointer shows both figures.";
    format!("<p class=\"how\">{}</p>", html(&quality(stacks)))
        + &figure(&format!("{id}-figure"), id, &key, &pictures, caption)
        + &own(stacks).html()
}

const fn own_title(source: StackSource) -> &'static str {
    match source {
        StackSource::RecordedJava => "Java methods whose own time changed most",
        StackSource::RecordedAllocation => "What was allocated more or less",
        StackSource::Samples | StackSource::Other => "Functions whose own CPU time changed most",
    }
}

fn quality(stacks: &ChangedStacks) -> String {
    let (before, after) = stacks.samples;
    format!(
        "{} before and {} after; a change is one run against another, and no interval is known of it",
        counted(before, "sample", "samples"),
        counted(after, "sample", "samples")
    )
}

fn tree_of(stacks: &ChangedStacks) -> ChangedFlame {
    let names: Vec<String> = stacks.frames.iter().map(|frame| clean(&frame.name)).collect();
    let mut tree = ChangedFlame::default();
    for stack in &stacks.stacks {
        let known = stack.frames.iter().filter_map(|number| names.get(*number as usize));
        tree.add(known.map(String::as_str), (stack.before, stack.after));
    }
    tree.add([NOT_LISTED].into_iter(), stacks.other);
    tree
}

/// A weight in words.
fn said(unit: WeightUnit, weight: f64) -> String {
    match unit {
        WeightUnit::NsPerRequest => match weight / 1e3 {
            us if us < 0.05 && 0.0 < us => "<0.1 µs".to_owned(),
            us if us < 1000.0 => format!("{} µs", significant(us)),
            us => format!("{} ms", significant(us / 1e3)),
        },
        WeightUnit::BytesPerRequest => bytes(weight.max(0.0).round() as u64),
        WeightUnit::Share | WeightUnit::Other => percent_share(weight),
    }
}

fn signed(unit: WeightUnit, change: f64) -> String {
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{}", said(unit, change.abs()))
}
