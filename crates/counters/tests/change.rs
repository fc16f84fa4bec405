//! Two accounts whose change is known.

use assay_counters::change_of;
use assay_model::*;

fn account(stacks: &[(&[&str], u64)], cpu_ns: u64, requests: Option<f64>) -> TimeReport {
    let path = assay_testkit::testdata("formats/time-4.json");
    let kept = std::fs::read_to_string(path).expect("a kept result");
    let mut report: TimeReport = serde_json::from_str(&kept).expect("its form");
    let mut frames: Vec<SampledFrame> = Vec::new();
    let mut number = |name: &&str| {
        let at = frames.iter().position(|frame| frame.name == *name).unwrap_or_else(|| {
            frames.push(SampledFrame { name: (*name).to_owned(), kind: FrameKind::Java });
            frames.len() - 1
        });
        at as u32
    };
    let stacks: Vec<SampledStack> = stacks
        .iter()
        .map(|(names, samples)| SampledStack {
            frames: names.iter().map(&mut number).collect(),
            samples: *samples,
        })
        .collect();
    let listed: u64 = stacks.iter().map(|stack| stack.samples).sum();
    report.process.cpu_ns = cpu_ns;
    report.requests = requests;
    report.roles = vec![RoleTime {
        role: ThreadRole::Application,
        inferred_ns: 0,
        sums: TimeSums { cpu_ns, threads: 1, ..TimeSums::default() },
    }];
    // As many again are not listed.
    let samples = TimeSamples {
        samples: 2 * listed,
        frames,
        stacks,
        other_stacks_samples: listed,
        ..TimeSamples::default()
    };
    TimeReport { samples: Some(samples), recording: None, ..report }
}

fn weights(change: &ChangedStacks) -> Vec<(String, f64, f64)> {
    let name = |stack: &ChangedStack| {
        stack
            .frames
            .iter()
            .map(|frame| change.frames[*frame as usize].name.clone())
            .collect::<Vec<_>>()
            .join(";")
    };
    change.stacks.iter().map(|stack| (name(stack), stack.before, stack.after)).collect()
}

#[test]
fn with_requests_the_change_is_that_of_the_cpu_time_of_one() {
    // 1 ms a request before and 0.5 ms after; half of the samples are listed.
    let before = account(&[(&["app", "encode"], 60), (&["app", "decode"], 40)], 1_000_000_000, Some(1000.0));
    let after = account(&[(&["app", "decode"], 30), (&["gc"], 10)], 2_000_000_000, Some(4000.0));
    let change = change_of(&before, &after);
    assert_eq!(change.unit, WeightUnit::NsPerRequest);
    assert_eq!((change.total.before, change.total.after), (1e6, 0.5e6));
    assert_eq!((change.roles[0].before, change.roles[0].after), (1e6, 0.5e6));
    let stacks = &change.stacks[0];
    assert_eq!((stacks.source, stacks.samples), (StackSource::Samples, (200, 80)));
    let expected = [
        ("app;encode".to_owned(), 300_000.0, 0.0),
        ("gc".to_owned(), 0.0, 62_500.0),
        ("app;decode".to_owned(), 200_000.0, 187_500.0),
    ];
    assert_eq!(weights(stacks), expected);
    assert_eq!(stacks.other, (500_000.0, 250_000.0), "what is not listed is not lost");
}

#[test]
fn without_requests_the_change_is_one_of_shares() {
    let before = account(&[(&["a"], 10)], 1_000_000_000, Some(1000.0));
    let after = account(&[(&["a"], 5), (&["b"], 5)], 9_000_000_000, None);
    let change = change_of(&before, &after);
    assert_eq!((change.unit, change.total.before, change.total.after), (WeightUnit::Share, 1.0, 1.0));
    assert_eq!(weights(&change.stacks[0]), [("a".to_owned(), 0.5, 0.25), ("b".to_owned(), 0.0, 0.25)]);
}

#[test]
fn an_account_against_itself_has_no_change() {
    let one = account(&[(&["a"], 10), (&["b"], 3)], 1_000_000_000, Some(7.0));
    let change = change_of(&one, &one);
    assert!(change.stacks[0].stacks.iter().all(|stack| stack.before == stack.after));
    assert_eq!(change.problems, []);
}

#[test]
fn stacks_that_only_one_has_are_not_compared_and_that_is_said() {
    let one = account(&[(&["a"], 10)], 1_000_000_000, None);
    let none = TimeReport { samples: None, ..one.clone() };
    let change = change_of(&one, &none);
    assert_eq!((change.stacks.len(), change.problems.len()), (0, 1));
}
