//! Tests of what travels: nothing is lost, sums are those of one recorder, and nothing that is wrong gets in.

use super::*;
use crate::merge::merged;
use assay_load::recorder::{Recorder, RequestTimes};
use assay_load::{ArrivalLaw, WindowRecorder};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const LENGTH_NS: u64 = 1_000 * MS;

fn load() -> Load {
    Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: 1_000.0 }
}

fn operations() -> Vec<OperationCount> {
    ["buy", "sell"]
        .map(|name| OperationCount { name: name.to_owned(), asked_share: 0.5, requests: 0, errors: 0 })
        .to_vec()
}

/// A request of a recorded stream: intended start, lag, service time, operation, whether it was right.
type Recorded = (u64, u64, u64, u8, bool);

/// What one recorder makes of a stream.
fn measured(start_ns: u64, stream: &[Recorded]) -> Measured {
    let mut recorder = Recorder::new(start_ns, None);
    let mut window = WindowRecorder::new(vec![true, true], Some(50 * MS));
    let mut completions = CompletionTimeline::new(start_ns, LENGTH_NS);
    let mut counted = operations();
    let (mut errors_by_kind, mut completed) = ([0; ErrorKind::ALL.len()], 0);
    for &(intended, lag, service, operation, is_right) in stream {
        let operation = usize::from(operation % 2);
        let intended_ns = start_ns + intended;
        let sent_ns = intended_ns + lag;
        let times = RequestTimes {
            intended_ns,
            sendable_ns: intended_ns,
            sent_ns: Some(sent_ns),
            done_ns: sent_ns + service,
        };
        recorder.record(&times);
        window.ended(Some(operation), &times, is_right);
        counted[operation].requests += 1;
        if !is_right {
            errors_by_kind[3] += 1;
            counted[operation].errors += 1;
        } else if times.done_ns < start_ns + LENGTH_NS {
            completed += 1;
            completions.record(times.done_ns);
        }
    }
    let recorded = recorder.finish(start_ns + LENGTH_NS);
    Measured {
        start_monotonic_ns: start_ns,
        end_monotonic_ns: start_ns + LENGTH_NS,
        load: load(),
        seed: 1,
        requests: stream.len() as u64,
        completed,
        errors_by_kind,
        response: recorded.response,
        service: recorded.service,
        send_lag: recorded.send_lag,
        operations: counted,
        completions,
        generator_cpu_ns: 5 * MS,
        generator_wall_ns: LENGTH_NS,
        priority: None,
        stopped: false,
        problems: vec![Problem::new("http://h", "a sample")],
        faults: Vec::new(),
        detail: Some(window.into_detail()),
        injectors: Vec::new(),
        ..Measured::empty(load(), 1, (start_ns, start_ns))
    }
}

/// Through JSON and back, on the controller's clock.
fn travelled(measured: &Measured, start_ns: u64) -> Result<Measured, String> {
    let text = serde_json::to_string(&RecordedForm::of(measured)).expect("JSON");
    let form: RecordedForm = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let operations = operations();
    let expected =
        Expected { load: load(), seed: 1, length_ns: LENGTH_NS, start_ns, operations: &operations };
    form.measured(&expected)
}

/// All that is counted; histograms as the bytes of their stored form, so that equal means equal to the bit.
fn books(measured: &Measured) -> impl PartialEq + std::fmt::Debug + use<> {
    let bytes = |histogram: &Histogram<u64>| histogram_text(histogram);
    let detail = measured.detail.as_ref().expect("a window");
    let mut slow = detail.slow.clone();
    slow.sort_by_key(|one| (one.done_ns, one.intended_ns, one.operation));
    (
        (measured.start_monotonic_ns, measured.end_monotonic_ns, measured.requests, measured.completed),
        (measured.errors_by_kind, measured.operations.clone()),
        [&measured.response, &measured.service, &measured.send_lag, &detail.limited].map(bytes),
        (measured.completions.counts().to_vec(), detail.limited_failed, slow, detail.connection_waits),
    )
}

fn stream() -> impl Strategy<Value = Vec<Recorded>> {
    let request = (
        0..LENGTH_NS,
        0..5 * MS,
        prop_oneof![0..2 * MS, 0..7_200_000 * MS],
        0..2_u8,
        prop::bool::weighted(0.9),
    );
    proptest::collection::vec(request, 0..400)
}

proptest! {
    /// G12: a stream that is divided among injectors gives, added up, the books of the recorder that saw all of it.
    #[test]
    fn histograms_of_a_divided_stream_are_those_of_one_recorder(
        stream in stream(), of in 1..9_usize, deal in proptest::collection::vec(0..8_usize, 400)
    ) {
        let one = measured(70 * MS, &stream);
        let parts: Vec<(String, Measured)> = (0..of).map(|number| {
            let mine = stream.iter().zip(&deal).filter(|(_, to)| **to % of == number);
            let mine: Vec<Recorded> = mine.map(|(request, _)| *request).collect();
            // Each by a clock of its own.
            let part = travelled(&measured(1_000_000 * MS * (number as u64 + 1), &mine), 70 * MS);
            (format!("h:{number}"), part.expect("a right form"))
        }).collect();
        let together = merged(load(), 1, &parts).expect("a part");
        prop_assert_eq!(books(&together), books(&one));
        prop_assert_eq!(together.response, one.response);
        prop_assert_eq!(together.send_lag, one.send_lag);
    }

    #[test]
    fn a_damaged_form_is_refused_or_adds_up(at: prop::sample::Index, byte: u8) {
        let mut text = serde_json::to_vec(&RecordedForm::of(&measured(0, &[(5, 1, 2 * MS, 0, true)]))).expect("JSON");
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok(form) = serde_json::from_slice::<RecordedForm>(&text) {
            let operations = operations();
            let expected = Expected { load: load(), seed: 1, length_ns: LENGTH_NS, start_ns: 9, operations: &operations };
            if let Ok(measured) = form.measured(&expected) {
                prop_assert_eq!(measured.response.len(), measured.requests);
                measured.result();
            }
        }
    }

    #[test]
    fn any_bytes_are_a_histogram_or_an_error(counts in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = bytes_of(&histogram_text(&empty_histogram())).expect("base64");
        bytes.truncate(V2_HEADER_BYTES);
        bytes[4..8].copy_from_slice(&(counts.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&counts);
        if let Ok(histogram) = histogram(&text_of(&bytes)) {
            let mut sum = empty_histogram();
            sum.add(&histogram).expect("the same bounds");
            prop_assert_eq!(sum, histogram);
        }
    }

    #[test]
    fn completions_travel_exactly(counts in proptest::collection::vec(prop_oneof![Just(0), any::<u32>()], 1..300)) {
        let text = text_of(&packed(&counts));
        let back = completions(&text, 5, counts.len() as u64 * MS).expect("what was packed");
        prop_assert_eq!(back.counts(), counts.as_slice());
        prop_assert!(completions(&text, 5, (counts.len() as u64 + 1) * MS).is_err());
    }

    #[test]
    fn any_bytes_are_completions_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let _ = completions(&text_of(&bytes), 0, 50 * MS);
    }
}

#[test]
fn a_histogram_that_would_overflow_its_reader_is_refused() {
    let mut bytes = bytes_of(&histogram_text(&empty_histogram())).expect("base64");
    bytes.truncate(V2_HEADER_BYTES);
    bytes[4..8].copy_from_slice(&9_u32.to_be_bytes());
    bytes.extend_from_slice(&[0xff; 9]);
    assert_eq!(histogram(&text_of(&bytes)).err().as_deref(), Some("a histogram with an impossible count"));
}

/// What the change makes of a right form must be refused for this reason.
#[track_caller]
fn check(change: impl FnOnce(&mut RecordedForm), why: &str) {
    let mut form = RecordedForm::of(&measured(0, &[(5, 1, 60 * MS, 0, true), (9, 1, MS, 1, false)]));
    change(&mut form);
    let operations = operations();
    let expected =
        Expected { load: load(), seed: 1, length_ns: LENGTH_NS, start_ns: 0, operations: &operations };
    match form.measured(&expected) {
        Err(error) => assert!(error.contains(why), "{error}"),
        Ok(_) => panic!("it was taken, although {why}"),
    }
}

#[test]
fn counts_that_contradict_each_other_are_refused() {
    check(|form| form.requests += 1, "as many response times as requests");
    check(|form| form.errors_by_kind[0] = 2, "no more errors than requests");
    check(|form| form.errors_by_kind = vec![u64::MAX, u64::MAX, 0, 0, 0, 0], "too many errors");
    check(|form| form.errors_by_kind.push(0), "another number of kinds");
    check(|form| form.completed = 0, "no more completions than answers");
    check(|form| form.connection_waits = 9, "no more waits");
    check(|form| form.limited_failed = 9, "no more limited requests");
    check(|form| form.operations[1].0 = 2, "no more requests by operation");
    check(|form| form.operations.truncate(1), "another number of operations");
    check(|form| form.slow[0].0 = Some(2), "an unknown operation");
    check(|form| form.slow = vec![form.slow[0]; SLOW_REQUESTS_MAX + 1], "too many slow requests");
    check(|form| form.completions = String::new(), "do not fill the window");
    let other = Histogram::<u64>::new_with_bounds(1, TIME_NS_MAX, 2).expect("bounds");
    check(|form| form.response = histogram_text(&other), "other buckets");
    check(|form| form.response = "!".to_owned(), "not understood");
}

#[test]
fn a_fault_of_one_generator_is_a_fault_of_all_and_names_it() {
    let good: Vec<Recorded> = (0..1_000).map(|n| (n * MS, 1_000, 100_000, 0, true)).collect();
    // Of the sum fewer than one in a hundred were late.
    let late: Vec<Recorded> =
        (0..20).map(|n| (n * MS, if n == 0 { 9 * MS } else { 0 }, 100_000, 0, true)).collect();
    let parts = [("good:1".to_owned(), measured(0, &good)), ("late:2".to_owned(), measured(0, &late))];
    let whole = merged(load(), 1, &parts).expect("parts");
    let whole = Measured { injectors: vec![Default::default(); 2], ..whole };
    let found = whole.invalid_because();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].about, "injector late:2: generator-lag");
}

/// Prints figures: `cargo test -p assay-load --lib what_adding_up_costs -- --ignored --nocapture`.
#[test]
#[ignore = "measures, and checks nothing"]
fn what_adding_up_costs() {
    let stream: Vec<Recorded> = (0..100_000_u64)
        .map(|n| (n * 10_000, n % 977, 50_000 + (n * 7_919) % (40 * MS), (n % 2) as u8, true))
        .collect();
    let one = measured(0, &stream);
    let operations = operations();
    let expected =
        Expected { load: load(), seed: 1, length_ns: LENGTH_NS, start_ns: 0, operations: &operations };
    let mut took_us = [Vec::new(), Vec::new(), Vec::new()];
    let mut bytes = 0;
    for _ in 0..51 {
        let began = std::time::Instant::now();
        let text = serde_json::to_vec(&RecordedForm::of(&one)).expect("JSON");
        let written = std::time::Instant::now();
        let form: RecordedForm = serde_json::from_slice(&text).expect("the same");
        let part = form.measured(&expected).expect("a right form");
        let read = std::time::Instant::now();
        let parts: Vec<(String, Measured)> = (0..4).map(|at| (format!("h:{at}"), part.clone())).collect();
        let adding = std::time::Instant::now();
        assert_eq!(merged(load(), 1, &parts).expect("parts").requests, 400_000);
        for (times, span) in took_us.iter_mut().zip([written - began, read - written, adding.elapsed()]) {
            times.push(span.as_micros());
        }
        bytes = text.len();
    }
    for (times, what) in took_us.iter_mut().zip(["write one result", "read and check it", "add up four"]) {
        times.sort_unstable();
        println!("{what}: median {} us ({} to {}), {bytes} bytes", times[25], times[0], times[50]);
    }
}
