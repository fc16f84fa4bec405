//! The stacks of an account for other tools.

use super::flames::NOT_LISTED;
use assay_kit::stacks::{Profile, collapsed as in_lines, speedscope as in_file};
use assay_kit::text::clean;
use assay_model::{RecordedStacks, SampledFrame, StackUnit, TimeReport};

/// Collapsed stacks: those that were sampled on the processors, else the Java methods of the flight recorder. Absent without either.
pub fn collapsed(report: &TimeReport) -> Option<String> {
    profiles(report).first().map(in_lines).filter(|lines| !lines.is_empty())
}

/// Everything as a file of speedscope: samples of the processors, and what the flight recorder saw. Absent without any stack.
pub fn speedscope(report: &TimeReport) -> Option<String> {
    let profiles = profiles(report);
    let name = format!("CPU time of {} ({})", clean(&report.program), report.pid);
    let made_by = format!("assay {}", clean(&report.provenance.assay_version));
    (!profiles.is_empty()).then(|| format!("{}\n", in_file(&name, &made_by, &profiles)))
}

/// Every kind of stacks that there is, the processors' first.
fn profiles(report: &TimeReport) -> Vec<Profile<'_>> {
    let mut profiles = Vec::new();
    if let Some(samples) = &report.samples {
        let listed = samples.stacks.iter().map(|stack| (stack.frames.as_slice(), stack.samples));
        let other = samples.other_stacks_samples;
        profiles.push(profile("samples of the processors", "none", (&samples.frames, listed), other));
    }
    if let Some(recording) = &report.recording {
        let kinds = [
            ("Java methods, by the flight recorder", &recording.cpu),
            ("allocation, by the flight recorder", &recording.allocation),
            ("native methods, by the flight recorder", &recording.native),
        ];
        profiles.extend(kinds.into_iter().filter_map(|(name, of)| Some(recorded(name, of.as_ref()?))));
    }
    profiles.retain(|profile| !profile.stacks.is_empty());
    profiles
}

fn recorded<'a>(name: &'static str, recorded: &'a RecordedStacks) -> Profile<'a> {
    let listed = recorded.stacks.iter().map(|stack| (stack.frames.as_slice(), stack.weight));
    let unit = if recorded.unit == StackUnit::Bytes { "bytes" } else { "none" };
    profile(name, unit, (&recorded.frames, listed), recorded.other_weight)
}

/// Stacks by the names of their frames; a number that names nothing is left out. What is not listed is a stack of its own, so that the sum is whole.
fn profile<'a, 's>(
    name: &'static str,
    unit: &'static str,
    (frames, stacks): (&'a [SampledFrame], impl Iterator<Item = (&'s [u32], u64)>),
    other: u64,
) -> Profile<'a> {
    let named = |frame: &u32| frames.get(*frame as usize).map(|of| of.name.as_str());
    let listed = stacks.map(|(stack, weight)| (stack.iter().filter_map(named).collect(), weight));
    let other = (other != 0).then(|| (vec![NOT_LISTED], other));
    Profile { name, unit, stacks: listed.chain(other).collect() }
}
