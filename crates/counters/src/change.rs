//! What changed between two accounts of CPU time: a pure function of the stored form.
//!
//! Where both know their requests, weights are CPU time and bytes for each request, so that a variant under more load can be compared with
//! one under less. Otherwise they are shares of each account's whole, of which one can only grow when another shrinks.

use assay_model::{
    ChangedPart, ChangedStack, ChangedStacks, Problem, RecordedStacks, RecordingOrigin, SampledFrame,
    StackSource, TimeChange, TimeReport, TimeSubject, WeightUnit, schema,
};
use std::collections::{BTreeMap, HashMap};

/// From `before` to `after`.
pub fn change_of(before: &TimeReport, after: &TimeReport) -> TimeChange {
    let unit = if requests_of(before).and(requests_of(after)).is_some() {
        WeightUnit::NsPerRequest
    } else {
        WeightUnit::Share
    };
    let mut problems = Vec::new();
    let stacks = [StackSource::Samples, StackSource::RecordedJava, StackSource::RecordedAllocation];
    let stacks = stacks.into_iter().filter_map(|source| {
        let both = (Folded::of(before, source, unit), Folded::of(after, source, unit));
        if let (Some(_), None) | (None, Some(_)) = &both {
            problems.push(Problem::new(source.word(), "only one of the accounts has such stacks"));
        }
        Some(changed_stacks(source, &both.0?, &both.1?))
    });
    let stacks = stacks.collect();
    TimeChange {
        schema: schema::TIME_CHANGE.to_owned(),
        before: subject(before),
        after: subject(after),
        unit,
        total: ChangedPart {
            name: "CPU time".to_owned(),
            before: weight(before, before.process.cpu_ns, unit),
            after: weight(after, after.process.cpu_ns, unit),
        },
        roles: roles(before, after, unit),
        stacks,
        problems,
    }
}

fn subject(report: &TimeReport) -> TimeSubject {
    TimeSubject {
        pid: report.pid,
        program: report.program.clone(),
        taken_at: report.taken_at.clone(),
        duration_ns: report.duration_ns,
        cpu_ns: report.process.cpu_ns,
        requests: report.requests,
    }
}

fn requests_of(report: &TimeReport) -> Option<f64> {
    report.requests.filter(|requests| requests.is_finite() && 0.0 < *requests)
}

/// So much CPU time of an account, as a weight.
fn weight(report: &TimeReport, cpu_ns: u64, unit: WeightUnit) -> f64 {
    match (unit, requests_of(report)) {
        (WeightUnit::NsPerRequest, Some(requests)) => cpu_ns as f64 / requests,
        _ => cpu_ns as f64 / report.process.cpu_ns.max(1) as f64,
    }
}

fn roles(before: &TimeReport, after: &TimeReport, unit: WeightUnit) -> Vec<ChangedPart> {
    let mut parts: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for role in &before.roles {
        parts.entry(role.role.title()).or_default().0 += weight(before, role.sums.cpu_ns, unit);
    }
    for role in &after.roles {
        parts.entry(role.role.title()).or_default().1 += weight(after, role.sums.cpu_ns, unit);
    }
    let part =
        |(name, (before, after)): (&str, (f64, f64))| ChangedPart { name: name.to_owned(), before, after };
    let mut parts: Vec<ChangedPart> = parts.into_iter().map(part).collect();
    parts.sort_by(|a, b| (b.after - b.before).abs().total_cmp(&(a.after - a.before).abs()));
    parts
}

/// Stacks of one account with their weights.
struct Folded<'a> {
    unit: WeightUnit,
    samples: u64,
    stacks: HashMap<Vec<&'a SampledFrame>, f64>,
    other: f64,
}

impl<'a> Folded<'a> {
    fn of(report: &'a TimeReport, source: StackSource, unit: WeightUnit) -> Option<Folded<'a>> {
        let recording = report.recording.as_ref();
        match source {
            StackSource::RecordedJava => Folded::recorded(recording?.cpu.as_ref()?, WeightUnit::Share, 1.0),
            StackSource::RecordedAllocation => {
                let stacks = recording?.allocation.as_ref()?;
                // Requests are those of the account's time, and so are the bytes of a recording that was made for it.
                let is_same_time = recording?.origin == RecordingOrigin::Started;
                match requests_of(report).filter(|_| is_same_time && unit == WeightUnit::NsPerRequest) {
                    Some(requests) => {
                        // A recording is longer than the account that it was made for: its rate counts.
                        let part = report.duration_ns as f64 / recording?.duration_ns.max(1) as f64;
                        let all = stacks.weight as f64 * part / requests;
                        Folded::recorded(stacks, WeightUnit::BytesPerRequest, all)
                    }
                    None => Folded::recorded(stacks, WeightUnit::Share, 1.0),
                }
            }
            StackSource::Samples | StackSource::Other => {
                let samples = report.samples.as_ref().filter(|of| of.samples != 0)?;
                let all = weight(report, report.process.cpu_ns, unit);
                let stacks = samples.stacks.iter().map(|stack| (&stack.frames[..], stack.samples));
                Some(Folded::new(&samples.frames, stacks, samples.samples, samples.samples, unit, all))
            }
        }
    }

    fn recorded(of: &'a RecordedStacks, unit: WeightUnit, all: f64) -> Option<Folded<'a>> {
        let stacks = of.stacks.iter().map(|stack| (&stack.frames[..], stack.weight));
        (of.weight != 0).then(|| Folded::new(&of.frames, stacks, of.weight, of.count, unit, all))
    }

    /// `all`: what the sum of the weights is worth.
    fn new<'b>(
        frames: &'a [SampledFrame],
        stacks: impl Iterator<Item = (&'b [u32], u64)>,
        sum: u64,
        samples: u64,
        unit: WeightUnit,
        all: f64,
    ) -> Folded<'a> {
        let mut folded = Folded { unit, samples, stacks: HashMap::new(), other: all };
        for (numbers, weight) in stacks {
            let part = all * weight as f64 / sum.max(1) as f64;
            let named = numbers.iter().filter_map(|number| frames.get(*number as usize)).collect();
            *folded.stacks.entry(named).or_default() += part;
            folded.other = (folded.other - part).max(0.0);
        }
        folded
    }
}

fn changed_stacks(source: StackSource, before: &Folded<'_>, after: &Folded<'_>) -> ChangedStacks {
    let mut both: HashMap<&[&SampledFrame], (f64, f64)> = HashMap::new();
    for (stack, weight) in &before.stacks {
        both.entry(stack).or_default().0 = *weight;
    }
    for (stack, weight) in &after.stacks {
        both.entry(stack).or_default().1 = *weight;
    }
    let mut sorted: Vec<_> = both.into_iter().collect();
    let names = |stack: &[&SampledFrame]| stack.iter().map(|frame| frame.name.clone()).collect::<Vec<_>>();
    sorted.sort_by(|(a, (a0, a1)), (b, (b0, b1))| {
        (b1 - b0).abs().total_cmp(&(a1 - a0).abs()).then_with(|| names(a).cmp(&names(b)))
    });
    let mut frames: Vec<SampledFrame> = Vec::new();
    let mut numbers: HashMap<SampledFrame, u32> = HashMap::new();
    let stacks = sorted.into_iter().map(|(stack, (before, after))| {
        let number = |frame: &&SampledFrame| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            *numbers.entry((*frame).clone()).or_insert_with_key(|frame| {
                frames.push(frame.clone());
                next
            })
        };
        ChangedStack { frames: stack.iter().map(number).collect(), before, after }
    });
    let stacks = stacks.collect();
    // Bytes for each request are only compared with such.
    let unit = if before.unit == after.unit { before.unit } else { WeightUnit::Share };
    ChangedStacks {
        source,
        unit,
        samples: (before.samples, after.samples),
        frames,
        stacks,
        other: (before.other, after.other),
    }
}
