//! What changed between two accounts of CPU time: roles, and stacks as differential flame graphs.

use super::flames::NOT_LISTED;
use assay_kit::Table;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Answer, Block, Document, Figure, Section};
use assay_kit::flame::{ChangedFlame, Weight, changed_flames, key_of_changes};
use assay_kit::number::{counted, duration};
use assay_kit::page::drawings;
use assay_kit::text::{clean, to_the_second};
use assay_model::{ChangedPart, ChangedStacks, Problem, StackSource, TimeChange, TimeSubject, WeightUnit};

/// Frames whose own change is listed.
const LISTED_MAX: usize = 30;
/// Roles whose change is drawn.
const ROLES_DRAWN: usize = 8;

/// What changed: CPU time by role, then stacks of both accounts.
pub fn document(change: &TimeChange) -> Document {
    let roles = Section::new("roles", "Every role", [roles(change).into()]).called("Roles");
    let stacks = change.stacks.iter().map(|stacks| {
        let (id, title, short) = match stacks.source {
            StackSource::RecordedJava => ("java", "Java methods, by the flight recorder", "Java methods"),
            StackSource::RecordedAllocation => {
                ("allocation", "Who allocated, by the flight recorder", "Allocation")
            }
            StackSource::Samples | StackSource::Other => {
                ("flames", "Differential flame graph", "Flame graph")
            }
        };
        Section::new(id, title, stacks_blocks(id, stacks)).called(short)
    });
    Document {
        lines: vec![subjects(change).into()],
        sections: std::iter::once(roles).chain(stacks).collect(),
        ..Document::new(
            "Every CPU second, compared, by Assay",
            format!("CPU time of {}: what changed", clean(&change.after.program)),
            answer(change),
        )
        .with_problems(Problem::listed(&change.problems))
    }
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
    let chart = (!bars.is_empty()).then(|| {
        let title = "Change of CPU time by role";
        let pictures =
            drawings("roles-change", |width, id| bar_rows::bars(&bars, (None, None), width, (id, title)));
        let caption = "Change of CPU time by role, the largest first, more to the right.";
        Figure::new("roles-figure", "change of CPU time by role", pictures).caption(caption)
    });
    Answer { sentence: format!("{}.", headline(change)), action, chart, ..Answer::default() }
}

/// What changed, in a sentence.
fn headline(change: &TimeChange) -> String {
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
                in_words(change.unit, *before),
                in_words(change.unit, *after)
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
fn subjects(change: &TimeChange) -> String {
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
fn roles(change: &TimeChange) -> Table {
    let unit = change.unit;
    Table::of("CPU time by role", &change.roles)
        .words("Role", |part| part.name.clone())
        .figures("Before", move |part| in_words(unit, part.before))
        .figures("After", move |part| in_words(unit, part.after))
        .figures("Change", move |part| signed(unit, part.after - part.before))
        .table()
}

/// What changed most of stacks' own time.
fn own(stacks: &ChangedStacks) -> Table {
    let unit = stacks.unit;
    let mut own = tree_of(stacks).own_changes();
    own.truncate(LISTED_MAX);
    Table::of(own_title(stacks.source), &own)
        .words("Function", |(name, _, _)| name.clone())
        .figures("Before", move |(_, before, _)| in_words(unit, *before))
        .figures("After", move |(_, _, after)| in_words(unit, *after))
        .figures("Change", move |(_, before, after)| signed(unit, after - before))
        .table()
}

fn stacks_blocks(id: &str, stacks: &ChangedStacks) -> [Block; 3] {
    let tree = tree_of(stacks);
    let title = "Stacks of both accounts, coloured by their change";
    let pictures = changed_flames(&tree, weight_of(stacks.unit), (&format!("{id}-diff"), title));
    let figure = Figure::new(
        format!("{id}-figure"),
        "stacks of both accounts, coloured by their change",
        pictures,
    )
    .key(key_of_changes())
    .caption(
        "Callers on top. A frame's width is its CPU time in both results together, so that removed frames \
                keep their place. Its colour and sign show the change.",
    );
    [Block::explanation(quality(stacks)), figure.into(), own(stacks).into()]
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
        "{} before and {} after. A change compares two single runs and has no interval",
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

const fn weight_of(unit: WeightUnit) -> Weight {
    match unit {
        WeightUnit::NsPerRequest => Weight::Time,
        WeightUnit::BytesPerRequest => Weight::Bytes,
        WeightUnit::Share | WeightUnit::Other => Weight::Share,
    }
}

/// A weight in words.
fn in_words(unit: WeightUnit, weight: f64) -> String {
    weight_of(unit).words(weight)
}

fn signed(unit: WeightUnit, change: f64) -> String {
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{}", in_words(unit, change.abs()))
}
