//! What stacks show, whether they were sampled or are of a recording.

use assay_model::{FrameKind, SampledFrame, ThreadRole, TimeReport};
use std::collections::BTreeMap;

/// What the JDK's threads run of their own, before they call what a class has to do for its dead objects.
const MACHINERY: [&str; 5] =
    ["java.lang.ref.", "java.lang.Thread.", "java.lang.System$", "jdk.internal.", "sun.misc."];

/// Frames of a stack by their numbers, the root first.
pub(super) fn frames<'a>(
    all: &'a [SampledFrame],
    numbers: &'a [u32],
) -> impl DoubleEndedIterator<Item = &'a SampledFrame> {
    numbers.iter().filter_map(|number| all.get(*number as usize))
}

/// The method that the JDK's own threads run most often for dead objects, such as `shop.Order.finalize`; `None` where no stack has its name.
pub(super) fn cleans_up(report: &TimeReport) -> Option<&str> {
    let mut samples: BTreeMap<&str, u64> = BTreeMap::new();
    let mut count = |all, numbers, weight| {
        if let Some(name) = called(all, numbers) {
            *samples.entry(name).or_default() += weight;
        }
    };
    if let Some(sampled) = &report.samples {
        sampled.stacks.iter().for_each(|stack| count(&sampled.frames, &stack.frames, stack.samples));
    }
    if let Some(recorded) = report.recording.as_ref().and_then(|recording| recording.cpu.as_ref()) {
        recorded.stacks.iter().for_each(|stack| count(&recorded.frames, &stack.frames, stack.weight));
    }
    samples.into_iter().max_by_key(|(_, samples)| *samples).map(|(name, _)| name)
}

/// The first method of a stack of the JDK's own threads that is not the JDK's own work.
fn called<'a>(all: &'a [SampledFrame], numbers: &'a [u32]) -> Option<&'a str> {
    let mut frames = frames(all, numbers);
    let is_of_jdk =
        |frame: &SampledFrame| frame.kind == FrameKind::Role && frame.name == ThreadRole::Jdk.title();
    frames.next().filter(|frame| is_of_jdk(frame))?;
    let is_called = |frame: &&SampledFrame| {
        let is_own = MACHINERY.iter().any(|own| frame.name.starts_with(own));
        frame.kind == FrameKind::Java && frame.name.contains('.') && !is_own
    };
    frames.find(is_called).map(|frame| frame.name.as_str())
}
