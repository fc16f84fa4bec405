//! What a recording of the flight recorder says: flame graphs, and what ran or was allocated most.

use super::figures::SAMPLES_MIN;
use super::flames::{SAMPLES, class_of, key_of};
use assay_kit::Table;
use assay_kit::document::{Block, Figure, Section, Tone};
use assay_kit::flame::{Flame, Weight, flames};
use assay_kit::number::{bytes, count, counted, duration, percent};
use assay_kit::text::clean;
use assay_model::{FrameKind, RecordedStacks, RecordingOrigin, StackUnit, TimeRecording, TimeReport};
use std::collections::HashMap;

/// Methods and sites that are listed.
const LISTED_MAX: usize = 30;

const JAVA: (&str, &str) = ("java", "Java methods, by the flight recorder");

/// Java methods, allocations, threads in native methods. Where no processor was sampled, the answer has the graph of Java methods.
pub fn sections(recording: &TimeRecording, report: &TimeReport) -> Vec<Section> {
    let of = |(id, title), short, stacks: &Option<RecordedStacks>, is_drawn: bool| {
        let stacks = stacks.as_ref().filter(|stacks| stacks.weight != 0)?;
        let quality = Block::Text(Tone::Strong, quality(stacks, recording, report));
        let graph = is_drawn.then(|| Block::from(figure_of((id, title), stacks)));
        let blocks = [Some(quality), graph, Some(leaves_table(stacks).into())];
        Some(Section::new(id, title, blocks.into_iter().flatten()).called(short))
    };
    let has_samples = report.samples.as_ref().is_some_and(|samples| super::flames::figure(samples).is_some());
    let allocation = ("allocation", "Who allocated, by the flight recorder");
    let native = ("native", "Threads in native methods, by the flight recorder");
    let sections = [
        of(JAVA, "Java methods", &recording.cpu, has_samples),
        of(allocation, "Allocation", &recording.allocation, true),
        of(native, "Native methods", &recording.native, true),
    ];
    sections.into_iter().flatten().collect()
}

/// The stacks of Java methods; absent where there are none.
pub fn figure(recording: &TimeRecording) -> Option<Figure> {
    Some(figure_of(JAVA, recording.cpu.as_ref().filter(|stacks| stacks.weight != 0)?))
}

fn figure_of((id, title): (&str, &str), stacks: &RecordedStacks) -> Figure {
    let names: Vec<(String, &str)> =
        stacks.frames.iter().map(|frame| (clean(&frame.name), class_of(frame.kind))).collect();
    let mut whole = Flame::default();
    for stack in &stacks.stacks {
        let known = stack.frames.iter().filter_map(|frame| names.get(*frame as usize));
        whole.add(known.map(|(name, class)| (name.as_str(), *class)), stack.weight);
    }
    let unit = match stacks.unit {
        StackUnit::Bytes => Weight::Bytes,
        StackUnit::Samples | StackUnit::Other => SAMPLES,
    };
    let pictures = flames(&whole, unit, (&format!("{id}-flames"), title));
    Figure::new(format!("{id}-figure"), title, pictures).key(key_of(&stacks.frames)).caption(caption(stacks))
}

fn caption(stacks: &RecordedStacks) -> String {
    let what = match stacks.unit {
        StackUnit::Bytes => "as wide as the bytes that they allocated, the class of the object last",
        StackUnit::Samples | StackUnit::Other => "as wide as their samples are many",
    };
    format!("Callers above what they called, {what}.")
}

/// What the stacks rest on, and what is missing in them.
fn quality(stacks: &RecordedStacks, recording: &TimeRecording, report: &TimeReport) -> String {
    let events = stacks.events.iter().map(|event| clean(event)).collect::<Vec<_>>().join(", ");
    let origin = match recording.origin {
        RecordingOrigin::Started => "recorded during the measurement",
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
        text += &format!(". They represent {}", bytes(stacks.weight));
        if let Some(requests) =
            report.requests.filter(|n| 0.0 < *n && recording.origin == RecordingOrigin::Started)
        {
            // A recording begins before the account and ends after it: its rate is that of the requests, its sum is not.
            let part = report.duration_ns as f64 / recording.duration_ns.max(1) as f64;
            let each = (stacks.weight as f64 * part / requests).round() as u64;
            text += &format!(", at this rate {} for each request", bytes(each));
        }
    }
    if let Some(recorder) = stacks.recorder_weight {
        let all = stacks.weight.saturating_add(recorder);
        text += &format!(". The recorder itself is left out: {} of all", percent(recorder, all));
    }
    if stacks.unit != StackUnit::Bytes && stacks.count < SAMPLES_MIN {
        text += &format!(". Too few for shares: a longer --for gives more than {SAMPLES_MIN}");
    }
    let share = |n: u64| percent(n, stacks.count);
    if stacks.without_stack != 0 {
        text += &format!(". {} have no stack", share(stacks.without_stack));
    }
    if stacks.truncated != 0 {
        text += &format!(
            ". The recorder truncated the callers of {} (-XX:FlightRecorderOptions=stackdepth=256)",
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
}
