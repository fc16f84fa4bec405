//! What a recording of the flight recorder says: flame graphs, and what ran or was allocated most.

use super::flames::{class_of, key_of};
use assay_kit::Table;
use assay_kit::document::{Block, Figure, Section, Tone};
use assay_kit::flame::{Flame, flames};
use assay_kit::number::{bytes, count, counted, duration, percent};
use assay_kit::page::drawings;
use assay_kit::text::clean;
use assay_model::{FrameKind, RecordedStacks, RecordingOrigin, StackUnit, TimeRecording, TimeReport};
use std::collections::HashMap;

/// Methods and sites that are listed.
const LISTED_MAX: usize = 30;

/// Java methods, allocations, threads in native methods.
pub fn sections(recording: &TimeRecording, report: &TimeReport) -> Vec<Section> {
    let of = |id: &'static str, title: &'static str, short, stacks: &Option<RecordedStacks>| {
        let stacks = stacks.as_ref().filter(|stacks| stacks.weight != 0)?;
        Some(Section::new(id, title, blocks((id, title), stacks, recording, report)).called(short))
    };
    let sections = [
        of("java", "Java methods, by the flight recorder", "Java methods", &recording.cpu),
        of("allocation", "Who allocated, by the flight recorder", "Allocation", &recording.allocation),
        of(
            "native",
            "Threads in native methods, by the flight recorder",
            "Native methods",
            &recording.native,
        ),
    ];
    sections.into_iter().flatten().collect()
}

fn blocks(
    (id, title): (&str, &str),
    stacks: &RecordedStacks,
    recording: &TimeRecording,
    report: &TimeReport,
) -> [Block; 3] {
    let names: Vec<(String, &str)> =
        stacks.frames.iter().map(|frame| (clean(&frame.name), class_of(frame.kind))).collect();
    let mut whole = Flame::default();
    for stack in &stacks.stacks {
        let known = stack.frames.iter().filter_map(|frame| names.get(*frame as usize));
        whole.add(known.map(|(name, class)| (name.as_str(), *class)), stack.weight);
    }
    let say = |weight| in_words(stacks.unit, weight);
    let pictures = drawings(&format!("{id}-flames"), |width, id| flames(&whole, &say, width, (id, title)));
    let figure = Figure::new(format!("{id}-figure"), title, pictures)
        .key(key_of(&stacks.frames))
        .caption(caption(stacks));
    let quality = Block::Text(Tone::Strong, quality(stacks, recording, report));
    [quality, figure.into(), leaves_table(stacks).into()]
}

fn caption(stacks: &RecordedStacks) -> String {
    let what = match stacks.unit {
        StackUnit::Bytes => "as wide as the bytes that they allocated, the class of the object last",
        StackUnit::Samples | StackUnit::Other => "as wide as their samples are many",
    };
    format!("Callers above what they called, {what}; a pointer shows the figures.")
}

/// A weight in words.
fn in_words(unit: StackUnit, weight: u64) -> String {
    match unit {
        StackUnit::Bytes => bytes(weight),
        StackUnit::Samples | StackUnit::Other => counted(weight, "sample", "samples"),
    }
}

/// What the stacks rest on, and what is missing in them.
fn quality(stacks: &RecordedStacks, recording: &TimeRecording, report: &TimeReport) -> String {
    let events = stacks.events.iter().map(|event| clean(event)).collect::<Vec<_>>().join(", ");
    let origin = match recording.origin {
        RecordingOrigin::Started => {
            "recorded during the measurement; the recorder's threads are included, under VM and JDK"
        }
        RecordingOrigin::File | RecordingOrigin::Other => {
            "of a file, whose time need not be that of the account"
        }
    };
    let mut text = format!(
        "{} of {events} in {}, {origin}",
        counted(stacks.count, "event", "events"),
        duration(recording.duration_ns)
    );
    if stacks.unit == StackUnit::Bytes {
        text += &format!(". They stand for {}", bytes(stacks.weight));
        if let Some(requests) =
            report.requests.filter(|n| 0.0 < *n && recording.origin == RecordingOrigin::Started)
        {
            // A recording begins before the account and ends after it: its rate is that of the requests, its sum is not.
            let part = report.duration_ns as f64 / recording.duration_ns.max(1) as f64;
            let each = (stacks.weight as f64 * part / requests).round() as u64;
            text += &format!(", at this rate {} for each request", bytes(each));
        }
    }
    let share = |n: u64| percent(n, stacks.count);
    if stacks.without_stack != 0 {
        text += &format!(". {} have no stack", share(stacks.without_stack));
    }
    if stacks.truncated != 0 {
        text += &format!(
            ". Of {} the recorder cut the callers (-XX:FlightRecorderOptions=stackdepth=256)",
            share(stacks.truncated)
        );
    }
    text + "."
}

/// The leaf of a stack: what ran, or what was allocated and where.
fn leaf_of(stacks: &RecordedStacks, frames: &[u32]) -> Option<String> {
    let mut named = frames.iter().rev().filter_map(|number| stacks.frames.get(*number as usize));
    let leaf = named.next()?;
    match (leaf.kind, named.next()) {
        (FrameKind::Allocated, Some(site)) if site.kind != FrameKind::Pool => {
            Some(format!("{} in {}", clean(&leaf.name), clean(&site.name)))
        }
        (FrameKind::Role | FrameKind::Pool, _) => None,
        _ => Some(clean(&leaf.name)),
    }
}

fn leaves(stacks: &RecordedStacks) -> Vec<(String, u64)> {
    let mut by_leaf: HashMap<String, u64> = HashMap::new();
    for stack in &stacks.stacks {
        if let Some(leaf) = leaf_of(stacks, &stack.frames) {
            let sum = by_leaf.entry(leaf).or_default();
            *sum = sum.saturating_add(stack.weight);
        }
    }
    let mut sorted: Vec<_> = by_leaf.into_iter().collect();
    sorted.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    sorted
}

fn leaves_table(stacks: &RecordedStacks) -> Table {
    let mut leaves = leaves(stacks);
    leaves.truncate(LISTED_MAX);
    let (title, figure) = match stacks.unit {
        StackUnit::Bytes => ("What was allocated most", "Bytes"),
        StackUnit::Samples | StackUnit::Other => ("Methods that ran most", "Samples"),
    };
    let unit = stacks.unit;
    Table::of(title, &leaves)
        .words("Method", |(name, _)| name.clone())
        .figures(
            figure,
            move |(_, weight)| if unit == StackUnit::Bytes { bytes(*weight) } else { count(*weight) },
        )
        .figures("Share", |(_, weight)| percent(*weight, stacks.weight))
        .table()
        .brief(6)
}
