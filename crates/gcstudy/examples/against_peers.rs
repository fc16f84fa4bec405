//! Assay's reader beside GCToolKit and GCViewer: `scripts/gclog-peers` runs both and this.
//!
//! `against_peers make FOLDER` writes long logs for the comparison of speed; `against_peers compare LINES` reads what the peers
//! printed, reads the same logs, and prints the tables: speed with ratio, and every difference with who is right. Right is what a
//! count of the log's own lines says (`crates/gclog/tests/matrix/tally.rs`), which shares nothing with any of the readers.

#[path = "../tests/made/mod.rs"]
mod made;
#[path = "../../gclog/tests/matrix/tally.rs"]
mod tally;

use assay_gclog::input::{find, read_set};
use assay_gcstudy::{Analysis, AnalysisOptions};
use made::Made;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tally::Tally;

const KINDS: [&str; 6] = [
    "17-parallel-normal",
    "17-g1-evacuation-failure",
    "17-z-normal",
    "25-g1-evacuation-failure",
    "25-genz-normal",
    "25-genshenandoah-normal",
];
const LONG_BYTES: usize = 8_000_000;
/// In the name of a log that was made for speed.
const LONG: &str = "long-";

/// What a reader found in a log, and how long each pass took.
struct Reading {
    pauses: Option<(u64, f64)>,
    error: String,
    passes_ms: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder] => make(Path::new(folder)),
        ["compare", lines] => compare(&fs::read_to_string(lines)?),
        _ => Err("usage: against_peers make FOLDER | compare LINES".into()),
    }
}

fn make(folder: &Path) -> Result<(), Box<dyn Error>> {
    for kind in KINDS {
        let recorded = assay_testkit::testdata("gclog/kinds").join(kind).join("star.default.log");
        let mut made = Made::new(&fs::read_to_string(recorded)?);
        let mut text = String::new();
        while text.len() < LONG_BYTES {
            text.push_str(&made.next_part());
        }
        fs::write(folder.join(format!("{LONG}{kind}.log")), text)?;
    }
    Ok(())
}

fn compare(lines: &str) -> Result<(), Box<dyn Error>> {
    let mut logs: BTreeMap<String, BTreeMap<String, Reading>> = BTreeMap::new();
    for line in lines.lines().filter(|line| line.starts_with('{')) {
        let row: Value = serde_json::from_str(line)?;
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let passes = row["passes_ms"].as_array().into_iter().flatten().filter_map(Value::as_f64);
        let reading = Reading {
            pauses: row["pauses"].as_u64().zip(row["total_ms"].as_f64()),
            error: text("error"),
            passes_ms: passes.collect(),
        };
        logs.entry(text("log")).or_default().insert(text("peer"), reading);
    }
    for (log, readings) in &mut logs {
        readings.insert("Assay".to_owned(), read(log)?);
    }
    speed(&logs)?;
    differences(&logs)
}

fn read(log: &str) -> Result<Reading, Box<dyn Error>> {
    let sets = find(&[PathBuf::from(log)], false)?.sets;
    let mut passes_ms = Vec::new();
    let mut pauses = None;
    for _ in 0..11 {
        let began = Instant::now();
        let mut analysis = Analysis::new(AnalysisOptions::default());
        sets.iter().for_each(|set| read_set(set, &mut analysis));
        let found = analysis.report().pauses;
        pauses = Some((found.count, found.total_ms));
        passes_ms.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Reading { pauses, error: String::new(), passes_ms })
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn short(log: &str) -> String {
    let parts: Vec<&str> = log.rsplit('/').take(2).collect();
    if parts[0].starts_with(LONG) {
        parts[0].to_owned()
    } else {
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    }
}

/// Median of the passes, the first left out: the JVM is warm then.
fn speed(logs: &BTreeMap<String, BTreeMap<String, Reading>>) -> Result<(), Box<dyn Error>> {
    println!("| log | MB | Assay MB/s | GCToolKit 3.5.0 MB/s | ratio | GCViewer 1.36 MB/s | ratio |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (log, readings) in logs.iter().filter(|(log, _)| log.contains(LONG)) {
        let megabytes = fs::metadata(log)?.len() as f64 / 1e6;
        let rate = |peer: &str| {
            let reading = readings.get(peer)?;
            // A reader that found nothing was not reading.
            reading.pauses.filter(|(count, _)| *count > 0)?;
            Some(megabytes / median(reading.passes_ms.get(1..)?)? * 1e3)
        };
        let assay = rate("Assay").ok_or("no pauses")?;
        let peer = |name: &str| {
            rate(name).map_or_else(
                || "reads nothing |".to_owned(),
                |rate| format!("{rate:.1} | {:.0}", assay / rate),
            )
        };
        let (first, second) = (peer("GCToolKit 3.5.0"), peer("GCViewer 1.36"));
        println!("| {} | {megabytes:.1} | {assay:.0} | {first} | {second} |", short(log));
    }
    println!();
    Ok(())
}

/// Counts that differ, or sums by more than rounding.
fn differences(logs: &BTreeMap<String, BTreeMap<String, Reading>>) -> Result<(), Box<dyn Error>> {
    let (mut right, mut wrong) = (BTreeMap::<&str, u64>::new(), Vec::new());
    for (log, readings) in logs {
        let tally = Tally::of(&String::from_utf8_lossy(&fs::read(log)?));
        let (count, sum_ms) = (tally.pauses.count, tally.pauses.total_us as f64 / 1e3);
        for (reader, reading) in readings {
            let is_right = reading.pauses.is_some_and(|(pauses, total_ms)| {
                // Each length may have been rounded once more on its way.
                pauses == count && (total_ms - sum_ms).abs() <= 0.000_5 * count as f64 + 1e-6
            });
            if is_right {
                *right.entry(reader).or_default() += 1;
            } else {
                let found = reading.pauses.map_or_else(
                    || reading.error.chars().take(70).collect(),
                    |(pauses, total_ms)| format!("{pauses} pauses, {total_ms:.3} ms"),
                );
                wrong.push(format!(
                    "| {} | {count} pauses, {sum_ms:.3} ms | {reader} | {found} |",
                    short(log)
                ));
            }
        }
    }
    println!("| reader | logs | right |\n| --- | ---: | ---: |");
    for reader in ["Assay", "GCToolKit 3.5.0", "GCViewer 1.36"] {
        println!("| {reader} | {} | {} |", logs.len(), right.get(reader).copied().unwrap_or(0));
    }
    println!(
        "\n| log | the log's own lines | reader | found |\n| --- | --- | --- | --- |\n{}",
        wrong.join("\n")
    );
    Ok(())
}
