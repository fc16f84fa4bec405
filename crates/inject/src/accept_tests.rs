//! Tests of what travels: nothing is lost, sums are those of one recorder, and nothing that is wrong gets in.

use super::*;
use crate::merge::merged;
use assay_load::recorder::{Recorder, RequestTimes};
use assay_load::{ArrivalLaw, Breakdown, ErrorKind, Limited, WindowRecorder};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const LENGTH_NS: u64 = 1_000 * MS;
const SETTLE_NS: u64 = 50 * MS;

fn load() -> Load {
    Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: 1_000.0 }
}

fn operations() -> Vec<OperationCount> {
    ["buy", "sell"].map(|name| OperationCount::planned(name, 0.5)).to_vec()
}

/// A request of a recorded stream: intended start, lag, service time, operation, whether it was right.
type Recorded = (u64, u64, u64, u8, bool);

/// What one recorder makes of a stream.
fn measured(start_ns: u64, stream: &[Recorded]) -> Measured {
    let mut recorder = Recorder::new(start_ns, None);
    let limited = Limited { together: vec![true, true], apart: vec![1] };
    let mut window = WindowRecorder::new(limited, Some(50 * MS));
    let mut completions = CompletionTimeline::new(start_ns, LENGTH_NS);
    let (mut settling, mut drained) =
        (CompletionTimeline::new(start_ns - SETTLE_NS.min(start_ns), SETTLE_NS), 0);
    let mut counted = operations();
    let mut breakdown = Breakdown::new(2, LENGTH_NS);
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
        breakdown.ended(Some(operation), start_ns, &times, is_right);
        let (status, error) = if is_right { (200, None) } else { (503, Some(ErrorKind::Status)) };
        breakdown.received(operation, status, service % 1_000, error);
        counted[operation].requests += 1;
        if !is_right {
            errors_by_kind[3] += 1;
            counted[operation].errors += 1;
        } else if times.done_ns < start_ns + LENGTH_NS {
            completed += 1;
            completions.record(times.done_ns);
            // One before for each within.
            settling.record(start_ns.saturating_sub(SETTLE_NS) + intended * SETTLE_NS / LENGTH_NS);
        } else {
            drained += 1;
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
        breakdown,
        completions,
        settling,
        drained,
        generator_cpu_ns: 5 * MS,
        generator_wall_ns: LENGTH_NS,
        problems: vec![Problem::new("http://h", "a sample")],
        detail: window.into_detail(),
        ..Measured::empty(load(), 1, (start_ns, start_ns))
    }
}

/// Through JSON and back, on the controller's clock.
fn travelled(measured: &Measured, start_ns: u64) -> Result<Measured, String> {
    let text = serde_json::to_string(measured).expect("JSON");
    accepted(serde_json::from_str(&text).map_err(|e| e.to_string())?, &expected(start_ns, &operations()))
}

fn expected(start_ns: u64, operations: &[OperationCount]) -> Expected<'_> {
    Expected {
        load: load(),
        seed: 1,
        settle_ns: SETTLE_NS,
        length_ns: LENGTH_NS,
        start_ns,
        operations,
        limited_apart: 1,
    }
}

/// What was counted, with the slow requests of each instant in one order.
fn sorted(mut measured: Measured) -> Measured {
    measured.detail.slow.sort_by_key(|one| (one.done_ns, one.intended_ns, one.operation));
    Measured { problems: Vec::new(), faults: Vec::new(), ..measured }
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
        prop_assert_eq!(sorted(together), sorted(one));
    }

    #[test]
    fn a_damaged_form_is_refused_or_adds_up(at: prop::sample::Index, byte: u8) {
        let mut text = serde_json::to_vec(&measured(0, &[(5, 1, 2 * MS, 0, true)])).expect("JSON");
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok(result) = serde_json::from_slice(&text)
            && let Ok(measured) = accepted(result, &expected(9, &operations()))
        {
            prop_assert_eq!(measured.response.len(), measured.requests);
            measured.result();
        }
    }
}

/// Of a longer window, with a completion at its end.
fn with_one_behind(length_ns: u64) -> CompletionTimeline {
    let mut timeline = CompletionTimeline::new(0, length_ns + MS);
    timeline.record(length_ns);
    timeline
}

/// What the change makes of a right result must be refused for this reason.
#[track_caller]
fn check(change: impl FnOnce(&mut Measured), why: &str) {
    let mut result = measured(0, &[(5, 1, 60 * MS, 0, true), (9, 1, MS, 1, false)]);
    change(&mut result);
    match accepted(result, &expected(0, &operations())) {
        Err(error) => assert!(error.contains(why), "{error}"),
        Ok(_) => panic!("it was taken, although {why}"),
    }
}

#[test]
fn counts_that_contradict_each_other_are_refused() {
    check(|of| of.requests += 1, "as many response times as requests");
    check(|of| of.requests = u64::MAX, "a possible number of requests");
    check(|of| of.errors_by_kind[0] = 2, "no more errors than requests");
    check(|of| of.errors_by_kind = [u64::MAX; ErrorKind::ALL.len()], "no more errors than requests");
    check(|of| of.sent_again = 3, "no more requests sent again");
    check(|of| of.completed = 0, "no more completions than answers");
    check(|of| of.detail.connection_waits = 9, "no more waits");
    check(|of| of.detail.limited.failed = 9, "no more limited requests");
    check(|of| of.detail.apart[0].failed = 9, "no more limited requests");
    check(|of| of.detail.apart.clear(), "another number of operations with limits of their own");
    check(|of| of.detail.gaps.record_n(5, 9).expect("in range"), "no more gaps");
    check(|of| of.operations[1].requests = 2, "no more requests by operation");
    check(|of| of.operations.truncate(1), "another number of operations");
    check(|of| of.breakdown.operations.truncate(1), "figures of another number of operations");
    check(|of| of.breakdown = Breakdown::new(2, 2 * LENGTH_NS), "other intervals");
    check(|of| of.breakdown.operations[0].completed = 3, "more requests of an operation than in all");
    check(|of| of.detail.slow[0].operation = Some(2), "an unknown operation");
    check(|of| of.detail.slow = vec![of.detail.slow[0]; SLOW_REQUESTS_MAX + 1], "too many slow requests");
    check(|of| of.completions = with_one_behind(LENGTH_NS), "outside the window");
    check(|of| of.settling = with_one_behind(SETTLE_NS), "outside the window");
}

/// Counts add up, also those of one value given twice; a value beyond the longest time, or more counts than there are numbers for, are
/// refused or make a sum that no number of requests agrees with.
#[test]
fn a_histogram_is_taken_from_any_list_of_counts_or_refused() {
    let read = |counts: &str| {
        let mut text = serde_json::to_value(measured(0, &[])).expect("JSON");
        text["response"] = serde_json::from_str(counts).expect("JSON");
        serde_json::from_value::<Measured>(text).map(|of| of.response)
    };
    assert_eq!(read("[[7,2],[7,1],[0,0]]").expect("counts").len(), 3);
    assert_eq!(read("[[7,18446744073709551615],[8,5]]").expect("counts").len(), u64::MAX);
    assert!(read("[[18446744073709551615,1]]").is_err() && read("[[7]]").is_err() && read("\"!\"").is_err());
}

#[test]
fn a_fault_of_one_generator_is_a_fault_of_all_and_names_it() {
    let good: Vec<Recorded> = (0..1_000).map(|n| (n * MS, 1_000, 100_000, (n % 2) as u8, true)).collect();
    // Of the sum fewer than one in a hundred were late.
    let late: Vec<Recorded> =
        (0..20).map(|n| (n * MS, if n == 0 { 9 * MS } else { 0 }, 100_000, 0, true)).collect();
    let parts = [
        ("injector good:1".to_owned(), measured(0, &good)),
        ("injector late:2".to_owned(), measured(0, &late)),
    ];
    let whole = merged(load(), 1, &parts).expect("parts");
    let whole = Measured { injectors: vec![Default::default(); 2], ..whole };
    let found = whole.invalid_because();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].about, "injector late:2: generator-lag");
}
