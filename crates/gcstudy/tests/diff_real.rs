//! Comparison of real logs: halves of one run, dealt out by chance, are equal; with every pause a tenth longer, one is not.

use assay_gclog::{GcSink, GcStream};
use assay_gcstudy::{Analysis, diff};
use assay_model::{GcRecord, GcRecordKind, GcVerdict};

/// Segments that a log is cut into before they are dealt out to the halves: each keeps its pauses in their order.
const SEGMENTS: usize = 40;
const PAIRS: u64 = 100;

#[derive(Default)]
struct Pauses(Vec<GcRecord>);

impl GcSink for Pauses {
    fn record(&mut self, record: GcRecord) {
        if record.kind == GcRecordKind::Pause && record.end.uptime_ns.is_some() {
            self.0.push(record);
        }
    }
}

fn pauses(name: &str) -> Option<Vec<GcRecord>> {
    let bytes = std::fs::read(assay_testkit::testdata("../../shared/data/gclog").join(name)).ok()?;
    let (mut stream, mut pauses) = (GcStream::default(), Pauses::default());
    stream.begin_source(name, &mut pauses);
    stream.feed(&bytes, &mut pauses);
    stream.end_source(&mut pauses);
    stream.finish(&mut pauses);
    Some(pauses.0)
}

/// A half: segments one behind the other, each beginning where the one before ended.
fn half<'a>(segments: impl Iterator<Item = &'a [GcRecord]>, slower: f64) -> Analysis {
    let mut analysis = Analysis::default();
    let mut now_ns = 0;
    for segment in segments {
        let at = |record: &GcRecord| record.end.uptime_ns.unwrap_or(0);
        let mut last_ns = segment.first().map_or(0, at);
        for record in segment {
            now_ns += at(record).saturating_sub(last_ns);
            last_ns = at(record);
            let mut record = record.clone();
            record.end.monotonic_ns = None;
            record.end.uptime_ns = Some(now_ns);
            record.duration_ns = record.duration_ns.map(|ns| (ns as f64 * slower) as u64);
            analysis.record(record);
        }
    }
    analysis
}

/// Pairs that are called different in anything, and pairs in which pauses are called longer.
fn pairs(pauses: &[GcRecord], slower: f64) -> (u64, u64) {
    let segments: Vec<&[GcRecord]> = pauses.chunks(pauses.len().div_ceil(SEGMENTS)).collect();
    let (mut any, mut longer) = (0, 0);
    for seed in 1..=PAIRS {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Of each two neighbours one goes to each half, so that a slow change of the run is in both.
        let mut is_first = Vec::new();
        for _ in segments.chunks(2) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let first = state >> 63 == 0;
            is_first.extend([first, !first]);
        }
        let of = |wanted: bool| {
            segments.iter().zip(&is_first).filter(move |(_, is)| **is == wanted).map(|(s, _)| *s)
        };
        let differences = diff(&half(of(true), 1.0), &half(of(false), slower));
        let is_shown =
            |d: &&assay_model::GcDifference| matches!(d.verdict, GcVerdict::Higher | GcVerdict::Lower);
        let shown: Vec<_> = differences.iter().filter(is_shown).collect();
        if seed == 1 {
            for d in &shown {
                println!("   {} {:?} {:?} {:?}", d.metric, d.before, d.after, d.ratio);
            }
        }
        any += u64::from(!shown.is_empty());
        let is_longer = |d: &&&assay_model::GcDifference| {
            d.metric.starts_with("pause_") && d.verdict == GcVerdict::Higher
        };
        longer += u64::from(shown.iter().any(|d| is_longer(&d)));
    }
    (any, longer)
}

/// Logs with fewer pauses, or with other spread, show less: 612 pauses of CMS find a tenth in a quarter of pairs.
const LOGS: [&str; 5] = [
    "unified-g1gc-minimal.log",
    "unified-cms-gc_trace.log",
    "preunified-icms-details-par.icms.wd.nt.log",
    "preunified-cms-parnew-details-gccause-170-1.7.0_cms.log",
    "preunified-ps-details-gccause-170-psyoung.log",
];

#[test]
fn halves_of_a_real_log_are_called_different_in_at_most_one_pair_of_a_hundred() {
    let mut alarms = 0;
    for name in LOGS {
        let Some(pauses) = pauses(name) else { assay_testkit::skip!("sample data not there: {name}") };
        let (any, _) = pairs(&pauses, 1.0);
        println!("{name}: {} pauses, {any} of {PAIRS} pairs", pauses.len());
        alarms += any;
    }
    assert!(alarms <= LOGS.len() as u64 * PAIRS / 100, "{alarms}");
}

#[test]
fn a_tenth_more_is_found_in_a_log_of_thousands_of_pauses() {
    let Some(pauses) = pauses(LOGS[0]) else { assay_testkit::skip!("sample data not there: {}", LOGS[0]) };
    let (_, longer) = pairs(&pauses, 1.1);
    assert!(95 * PAIRS <= 100 * longer, "{longer} of {PAIRS}");
}
