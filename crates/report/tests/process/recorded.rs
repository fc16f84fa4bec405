//! Recordings, hardware counters and changes as people see them.

use super::*;
use assay_report::time;
use assay_testkit::shown;

fn kept() -> TimeReport {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/formats/time-4.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("a kept result")).expect("its form")
}

fn frame(name: &str, kind: FrameKind) -> SampledFrame {
    SampledFrame { name: name.to_owned(), kind }
}

fn stacks(unit: StackUnit, leaf: SampledFrame, weight: u64) -> RecordedStacks {
    let frames = vec![
        frame("application", FrameKind::Role),
        frame("http-*", FrameKind::Pool),
        frame("shop.Cart.<total>", FrameKind::Java),
        leaf,
    ];
    RecordedStacks {
        recorder_weight: Some(weight / 9),
        events: vec!["jdk.ObjectAllocationSample".to_owned()],
        unit,
        count: 40,
        weight,
        without_stack: 1,
        truncated: 2,
        frames,
        stacks: vec![RecordedStack { frames: vec![0, 1, 2, 3], weight: weight - 10 }],
        other_weight: 10,
    }
}

fn recorded() -> TimeReport {
    let recording = TimeRecording {
        origin: RecordingOrigin::Started,
        started_ns: 0,
        duration_ns: 10_000_000_000,
        cpu: Some(stacks(StackUnit::Samples, frame("shop.Price.add", FrameKind::Java), 400)),
        native: None,
        allocation: Some(stacks(StackUnit::Bytes, frame("byte[]", FrameKind::Allocated), 4_096_000)),
    };
    let figure = HardwareFigure {
        event: HardwareEvent::LlcMisses,
        user: 1000,
        kernel: 500,
        user_instructions: 1_000_000,
        kernel_instructions: 0,
        enabled_ns: 100,
        running_ns: 25,
    };
    let hardware = HardwareCounters { threads: 8, threads_missed: 1, event_groups: 6, figures: vec![figure] };
    TimeReport {
        recording: Some(recording),
        hardware: Some(hardware),
        requests: Some(1000.0),
        duration_ns: 10_000_000_000,
        ..kept()
    }
}

fn page_of(report: &TimeReport) -> String {
    page(&time::document(report))
}

fn text_of(report: &TimeReport) -> String {
    time::document(report).terminal(view(100))
}

#[test]
fn a_recording_has_flame_graphs_of_methods_and_of_allocation() {
    let page = page_of(&recorded());
    assert!(page.contains("id=\"java\"") && page.contains("id=\"allocation\""), "both sections");
    assert!(
        page.contains("shop.Price.add: 390 samples") && page.contains("byte[]: 3.9 MiB"),
        "tips have the weights"
    );
    assert!(shown(&page).contains("at this rate 4.0 KiB for each request"), "garbage of one");
    assert!(
        page.contains("shop.Cart.&lt;total&gt;") && !page.contains("shop.Cart.<total>"),
        "names are escaped"
    );
    let text = text_of(&recorded());
    assert!(
        text.contains("Java methods, by the flight recorder")
            && text.contains("Methods that ran most")
            && text.contains("shop.Price.add"),
        "{text}"
    );
    assert!(text.contains("byte[] in shop.Cart.<total>"), "{text}");
}

#[test]
fn a_counter_that_was_multiplexed_says_so() {
    let (page, text) = (page_of(&recorded()), text_of(&recorded()));
    assert!(shown(&page).contains("multiplexed: counted 25"), "on the page");
    let row = text.lines().find(|line| line.starts_with("LLC-read-misses")).unwrap_or_default();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells[..6], ["LLC-read-misses", "1,000", "500", "1.00", "-", "multiplexed:"], "{text}");
    assert!(text.contains("1 thread could not be counted"), "{text}");
}

fn change() -> TimeChange {
    let subject = |cpu_ns| TimeSubject {
        pid: 7,
        program: "java".to_owned(),
        taken_at: "2026-11-21T15:40:22Z".to_owned(),
        duration_ns: 10_000_000_000,
        cpu_ns,
        requests: Some(1000.0),
    };
    let part = |name: &str, before, after| ChangedPart { name: name.to_owned(), before, after };
    TimeChange {
        schema: schema::TIME_CHANGE.to_owned(),
        before: subject(2_000_000_000),
        after: subject(1_000_000_000),
        unit: WeightUnit::NsPerRequest,
        total: part("CPU time", 2e6, 1e6),
        roles: vec![part("application", 1.8e6, 0.8e6), part("VM", 0.2e6, 0.2e6)],
        stacks: vec![ChangedStacks {
            source: StackSource::Samples,
            unit: WeightUnit::NsPerRequest,
            samples: (400, 200),
            frames: vec![frame("application", FrameKind::Role), frame("encode", FrameKind::Java)],
            stacks: vec![ChangedStack { frames: vec![0, 1], before: 1.5e6, after: 0.5e6 }],
            other: (0.5e6, 0.5e6),
        }],
        problems: Vec::new(),
    }
}

#[test]
fn a_change_is_said_first_and_drawn_with_both_figures() {
    let page = page(&time::change(&change()));
    assert!(
        page.contains(
            "<span class=\"kept\">2.00 ms</span> before, <span class=\"kept\">1.00 ms</span> after "
        ),
        "the answer"
    );
    assert!(page.contains("encode: before 1.50 ms, after 500 µs, -1.00 ms"), "the tip");
    assert!(page.contains("less4 area") && page.contains("− encode"), "colour and sign");
    let text = time::change(&change()).terminal(view(100));
    assert!(text.contains("encode") && text.contains("−1.00 ms"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn terminals_and_markdown_are_the_golden_files() {
    let change: TimeChange = stored(include_str!("../../../../testdata/formats/time-change-1.json"));
    golden::expect("time-change", &time::change(&change));
    golden::expect("time-recorded", &time::document(&recorded()));
}

#[test]
fn a_change_of_cpu_time_has_its_total_and_every_role() {
    let change: TimeChange = stored(include_str!("../../../../testdata/formats/time-change-1.json"));
    let rows = csv(&time::change_data(&change));
    assert_eq!(rows.len(), change.roles.len() + 2);
    assert!(rows[1].starts_with("total,"), "{rows:?}");
    let markdown = time::change(&change).markdown();
    assert!(markdown.contains("**CPU time by role**"), "{markdown}");
}

/// 390 listed samples and 10 that are not make the 400 of the recording.
#[test]
fn stacks_for_other_tools_have_the_names_and_the_whole_weight_of_the_recording() {
    let report = recorded();
    let collapsed = time::collapsed(&report).expect("stacks");
    let listed = "application;http-*;shop.Cart.<total>;shop.Price.add 390\nstacks that are not listed 10\n";
    assert_eq!(collapsed, listed);
    let file = time::speedscope(&report).expect("stacks");
    let file: serde_json::Value = serde_json::from_str(&file).expect("JSON");
    let profiles = file["profiles"].as_array().expect("profiles");
    let figures = profiles.iter().map(|of| (of["unit"].as_str(), of["endValue"].as_u64()));
    let wanted = [(Some("none"), Some(400)), (Some("bytes"), Some(4_096_000))];
    assert_eq!(figures.collect::<Vec<_>>(), wanted);
    assert!(time::collapsed(&kept()).is_none() && time::speedscope(&kept()).is_none());
}
