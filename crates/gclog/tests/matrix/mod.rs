//! The reader against logs of every kind of the JVMs at hand, each held against independent oracles: a counter of lines that knows
//! nothing of the reader (`tally`), what the JVM told of itself in the same run (`truth`), and Shenandoah's closing statistics.
//!
//! The recorded logs of `testdata/gclog/kinds` are read with each run. `ASSAY_TEST_GC_CORPUS=short` makes new ones in many forms (a
//! minute), `full` the whole matrix (some minutes); a folder is read as `testdata/gclog/corpus` has left it.

mod kept;
mod tally;
mod truth;

use assay_model::GcRecordKind;
use kept::Kept;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tally::Tally;

/// What is known of a log by its name: `17-g1-normal/star.none.log`.
struct Log {
    name: String,
    collector: String,
    scenario: String,
    /// Such as `star.none`, `rotated`.
    form: String,
    /// One or, of a rotated set, several.
    files: Vec<PathBuf>,
}

/// A row of the table that is printed, summed over logs.
#[derive(Default)]
struct Row {
    logs: u64,
    lines: u64,
    unrecognized: u64,
    pauses: u64,
    total_us: u64,
    held: truth::Held,
}

fn logs_in(corpus: &Path) -> Vec<Log> {
    let mut logs = Vec::new();
    for folder in entries(corpus) {
        let folder_name = folder.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let rest = folder_name.trim_start_matches("17-").trim_start_matches("25-").trim_start_matches("32-");
        let Some((collector, scenario)) = rest.split_once('-') else { continue };
        let mut sets: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for file in entries(&folder) {
            let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
            if let Some((form, number)) = name.split_once(".log") {
                assert!(number.is_empty() || number[1..].parse::<u32>().is_ok(), "{name}");
                sets.entry(form.to_owned()).or_default().push(file);
            }
        }
        for (form, files) in sets {
            logs.push(Log {
                name: format!("{folder_name}/{form}"),
                collector: collector.to_owned(),
                scenario: scenario.to_owned(),
                form,
                files,
            });
        }
    }
    logs
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Lines that no rule accounts for, by shape: how many, and the first.
type Shapes = BTreeMap<String, (u64, String)>;

/// A line without its decorations, digits made one.
fn shape(text: &str) -> String {
    let message = text.rsplit("] ").next().unwrap_or(text);
    let mut shape: String = message.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    while shape.contains("00") {
        shape = shape.replace("00", "0");
    }
    shape
}

/// Reads a log, holds it against the oracles, and says what is wrong.
fn check(log: &Log, row: &mut Row, shapes: &mut Shapes) -> Vec<String> {
    let mut faults = Vec::new();
    let texts: Vec<String> = log
        .files
        .iter()
        .map(|path| String::from_utf8_lossy(&fs::read(path).expect("the log")).into_owned())
        .collect();
    // A JVM may put the end of a line and the next file's beginning at odds only between lines: each file counts for itself.
    let tallies: Vec<Tally> = texts.iter().map(|text| Tally::of(text)).collect();
    let kept = Kept::read(&log.files);
    let sum = |get: fn(&Tally) -> u64| tallies.iter().map(get).sum::<u64>();
    let mut expect = |what: &str, said: u64, read: u64| {
        if said != read {
            faults.push(format!("{what}: {said} in the log, {read} read"));
        }
    };

    let lines: u64 = kept.sources.iter().map(|source| source.lines).sum();
    let unrecognized: u64 = kept.sources.iter().map(|source| source.lines_not_understood).sum();
    expect("lines", sum(|t| t.lines), lines);
    // What breaks off within a line may be anything.
    let is_torn = kept.sources.iter().any(|source| source.is_torn);
    expect("lines not accounted for", 0, unrecognized.saturating_sub(u64::from(is_torn)));
    let (pauses, pause_ns) = kept.sum_ns(GcRecordKind::Pause);
    expect("pauses", sum(|t| t.pauses.count), pauses);
    expect("sum of pauses, ns", sum(|t| t.pauses.total_us) * 1_000, pause_ns);
    let (stalls, stall_ns) = kept.sum_ns(GcRecordKind::Stall);
    expect("stalls", sum(|t| t.stalls.count), stalls);
    expect("sum of stalls, ns", sum(|t| t.stalls.total_us) * 1_000, stall_ns);
    let (safepoints, safepoint_ns) = kept.sum_ns(GcRecordKind::Safepoint);
    expect("safepoints", sum(|t| t.safepoints), safepoints);
    expect("sum of safepoints, ns", sum(|t| t.safepoint_total_ns), safepoint_ns);
    expect("messages dropped", sum(|t| t.dropped), kept.sources.iter().map(|s| s.messages_dropped).sum());
    if log.collector.ends_with('z') {
        let cycles = kept.of(GcRecordKind::Cycle).filter(|cycle| cycle.heap.before_bytes.is_some());
        expect("cycles with heap", sum(|t| t.z_cycles), cycles.count() as u64);
    }
    check_heaps(log, &kept, &tallies, &mut faults);
    check_oddities(log, &kept, &tallies, &mut faults);
    for (at, text) in &kept.unrecognized {
        let first =
            shapes.entry(shape(text)).or_insert_with(|| (0, format!("{}:{}: {text}", log.name, at.line)));
        first.0 += 1;
    }
    if let Some(truth) = truth_of(log) {
        let held = truth::hold(&kept, &truth, &log.collector, &mut faults);
        row.held.pauses += held.pauses;
        row.held.sizes += held.sizes;
        row.held.worst_ns = row.held.worst_ns.max(held.worst_ns);
    }
    row.logs += 1;
    row.lines += lines;
    row.unrecognized += unrecognized;
    row.pauses += pauses;
    row.total_us += pause_ns / 1_000;
    faults
}

/// Heap figures are those of the line, or finer ones that round to them.
fn check_heaps(log: &Log, kept: &Kept, tallies: &[Tally], faults: &mut Vec<String>) {
    // Finer figures of a set have no order in common with the files.
    if log.files.len() > 1 && matches!(log.collector.as_str(), "serial" | "parallel") {
        return;
    }
    let mut said: Vec<[u64; 3]> = tallies.iter().flat_map(|tally| tally.heaps.clone()).collect();
    let ends = kept.all().filter(|record| match record.kind {
        GcRecordKind::Pause => record.duration_ns.is_some(),
        GcRecordKind::Cycle => record.phase.ends_with("Collection"),
        _ => false,
    });
    let mut read: Vec<_> = ends.filter(|record| record.heap.before_bytes.is_some()).collect();
    read.sort_by_key(|record| (record.source, record.line));
    if log.files.len() > 1 {
        // Which file of a set is the older one is the reader's to say.
        said.sort_unstable();
        read.sort_by_key(|record| (record.heap.before_bytes, record.heap.after_bytes));
    }
    if said.len() != read.len() {
        faults.push(format!("heaps of pauses and cycles: {} in the log, {} read", said.len(), read.len()));
        return;
    }
    for ([before, after, unit], record) in said.into_iter().zip(read) {
        let is_finer = record.heap.resolution_bytes.is_some_and(|step| step < unit);
        // The parts of a sum are rounded down each; G1's line counts the regions that are being filled as full.
        let slack = match log.collector.as_str() {
            "g1" if is_finer => 2 * unit,
            _ if is_finer => 4 << 10,
            _ => 0,
        };
        let fits = |said: u64, read: Option<u64>| {
            read.is_some_and(|read| said <= read + slack && read < said + unit + slack)
        };
        if !fits(before, record.heap.before_bytes) || !fits(after, record.heap.after_bytes) {
            faults.push(format!(
                "line {}: {before}->{after} bytes were read as {:?}",
                record.line, record.heap
            ));
        }
    }
}

/// What only some logs have: pauses without an end, several JVMs, closing statistics.
fn check_oddities(log: &Log, kept: &Kept, tallies: &[Tally], faults: &mut Vec<String>) {
    let without_length = kept.of(GcRecordKind::Pause).filter(|pause| pause.duration_ns.is_none()).count();
    // A killed JVM leaves one behind; dropped messages and overwritten files lose ends.
    let may_lack = match log.scenario.as_str() {
        "killed" => 1,
        "async" => usize::MAX,
        _ if log.files.len() > 1 => 1,
        _ => 0,
    };
    if without_length > may_lack {
        faults.push(format!("{without_length} pauses without a length"));
    }
    let jvms = if log.scenario == "restart" && log.form == "rotated" { 2 } else { 1 };
    let read = kept.records.iter().filter(|records| !records.is_empty()).count();
    if tallies.iter().any(|tally| tally.pauses.count > 0)
        && (read != jvms || kept.jvms.len() < jvms)
        && log.form != "small"
    {
        faults.push(format!(
            "{jvms} JVMs wrote it, {read} with records and {} described were read",
            kept.jvms.len()
        ));
    }
    let is_whole = log.files.len() == 1 && log.scenario != "async";
    for reconciliation in kept.reconciliations.iter().filter(|_| is_whole) {
        // The statistics lack the pauses of a collection that the end of the JVM cuts short.
        let cut_short =
            reconciliation.read - reconciliation.logged == 1.0 && reconciliation.what.starts_with("Pause ");
        if (reconciliation.logged - reconciliation.read).abs() > reconciliation.rounding && !cut_short {
            faults.push(format!("the log's own figure disagrees: {reconciliation:?}"));
        }
    }
    if is_whole && tallies.iter().any(|tally| tally.has_closing_count) && kept.reconciliations.is_empty() {
        faults.push("Shenandoah's closing statistics were not held against what was read".to_owned());
    }
}

/// The truth of one JVM that wrote one whole log in which pauses are told.
fn truth_of(log: &Log) -> Option<serde_json::Value> {
    let has_pauses = !(log.collector.ends_with('z') && log.form.starts_with("gc."));
    let is_whole = log.files.len() == 1 && !matches!(log.scenario.as_str(), "async" | "restart" | "killed");
    let path = log.files[0].with_file_name("truth.json");
    (has_pauses && is_whole)
        .then(|| fs::read_to_string(path).ok())?
        .map(|text| serde_json::from_str(&text).expect("the truth is JSON"))
}

/// All logs of a corpus; fails with everything that is wrong.
fn check_corpus(corpus: &Path) {
    let logs = logs_in(corpus);
    assert!(!logs.is_empty(), "{} holds no logs", corpus.display());
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let (mut faults, mut shapes) = (Vec::new(), Shapes::new());
    for log in &logs {
        let folder = log.name.split('/').next().unwrap_or_default().to_owned();
        let row = rows.entry(folder).or_default();
        faults.extend(check(log, row, &mut shapes).into_iter().map(|fault| format!("{}: {fault}", log.name)));
    }
    println!(
        "{:<34}{:>5}{:>9}{:>14}{:>8}{:>13}{:>11}{:>10}{:>8}",
        "run", "logs", "lines", "unrecognized", "pauses", "sum ms", "JVM's own", "worst us", "sizes"
    );
    for (name, row) in &rows {
        println!(
            "{name:<34}{:>5}{:>9}{:>14}{:>8}{:>13.3}{:>11}{:>10.1}{:>8}",
            row.logs,
            row.lines,
            row.unrecognized,
            row.pauses,
            row.total_us as f64 / 1e3,
            row.held.pauses,
            row.held.worst_ns as f64 / 1e3,
            row.held.sizes
        );
    }
    let total = |get: fn(&Row) -> u64| rows.values().map(get).sum::<u64>();
    println!(
        "{} runs, {} logs, {} lines, {} not accounted for, {} pauses; {} pauses and {} heap figures held against the JVM",
        rows.len(),
        total(|r| r.logs),
        total(|r| r.lines),
        total(|r| r.unrecognized),
        total(|r| r.pauses),
        total(|r| r.held.pauses),
        total(|r| r.held.sizes)
    );
    faults.extend(shapes.into_values().map(|(count, first)| format!("{count} lines like {first}")));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn logs_of_every_kind_agree_with_their_oracles() {
    let wanted = std::env::var("ASSAY_TEST_GC_CORPUS").unwrap_or_else(|_| "kinds".to_owned());
    if wanted == "kinds" {
        return check_corpus(&assay_testkit::testdata("gclog/kinds"));
    }
    if wanted != "short" && wanted != "full" {
        return check_corpus(Path::new(&wanted));
    }
    let Some(homes) = assay_testkit::homes_with_compiler_first() else {
        assay_testkit::skip!("no JDK with javac")
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = Command::new(assay_testkit::testdata("gclog/corpus"))
        .arg(folder.path())
        .arg(&wanted)
        .args(&homes)
        .output()
        .expect("the script starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    check_corpus(folder.path());
}
