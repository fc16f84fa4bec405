//! Starting JVMs to hear which mode they take, and holding that against what was computed.

use super::jvm::{Jvm, REASON_CHARS_MAX, java_of, reason};
use assay_jdk::modes::DecidingOptions;
use assay_jdk::{JvmOutput, Release, StartError, run_java};
use assay_model::{HeapModes, JvmFacts, ModeCell, ModeRead, ReferenceMode};
use assay_text::size;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// JVMs that run at a time.
const WORKERS: usize = 2;
/// A start takes 50 to 500 ms, more on a busy machine.
const TIME: Duration = Duration::from_secs(30);
/// Little of the heap should be committed. A JVM whose objects are aligned to more than 8 bytes needs more for its start.
const INITIAL_HEAP_BYTES: u64 = 4 * MIB;
const LOG: &str =
    "-Xlog:gc=info,gc+init=info,gc+heap+coops=debug,gc+metaspace=info,gc+heap+exit=info,pagesize=info";
/// What says the same before JDK 9, on standard output.
const LOG_BEFORE_XLOG: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintCompressedOopsMode"];
/// Prints all flags with their values, so that one can see what the log does not tell: that class pointers are full.
const FLAGS: &str = "-XX:+PrintFlagsFinal";

/// The mode that a JVM said it has, or why it said none.
type Said = Result<ModeRead, String>;

/// Fills in what the JVMs say, for cells and thresholds.
pub fn verify(report: &mut HeapModes, jvms: &[Jvm], options: &[String], stop: &AtomicBool) {
    let facts_of = |java: &str| jvms.iter().map(|jvm| &jvm.facts).find(|facts| facts.home == java);
    let mut asked: Vec<ModeCell> = report.cells.clone();
    for threshold in &report.thresholds {
        // Both sides of it; most are among the cells.
        for bytes in [threshold.largest_max_heap_bytes, threshold.largest_max_heap_bytes + MIB] {
            let side = side(report, &threshold.java, &threshold.collector, bytes, options);
            if !asked.iter().any(|known| known.key() == side.key()) {
                asked.push(side);
            }
        }
    }
    match asked.len() {
        1 => say!("starting 1 JVM"),
        many => say!("starting {many} JVMs, {WORKERS} at a time"),
    }
    let said = Mutex::new(vec![None; asked.len()]);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = asked.get(index).filter(|_| !stop.load(Ordering::SeqCst)) else {
                        return;
                    };
                    let answer = facts_of(&cell.java).map(|facts| ask(facts, cell, stop));
                    if let Ok(mut said) = said.lock() {
                        said[index] = answer;
                    }
                }
            });
        }
    });
    let said = said.into_inner().unwrap_or_default();
    let answer =
        |key: (&str, &str, u64)| asked.iter().zip(&said).find(|(cell, _)| cell.key() == key)?.1.as_ref();
    for cell in &mut report.cells {
        match answer(cell.key()) {
            Some(Ok(read)) => {
                cell.verified_mode = Some(read.mode);
                cell.base_address = read.heap_base_address;
            }
            Some(Err(why)) => cell.not_verified_because = Some(why.clone()),
            None => cell.not_verified_because = Some("stopped before its turn".to_owned()),
        }
    }
    for threshold in &mut report.thresholds {
        let of = |bytes| Some(answer((&threshold.java, &threshold.collector, bytes))?.as_ref().ok()?.mode);
        let (largest, above) =
            (of(threshold.largest_max_heap_bytes), of(threshold.largest_max_heap_bytes + MIB));
        threshold.is_verified =
            largest == Some(threshold.mode) && above.is_some_and(|mode| mode != threshold.mode);
    }
}

/// A cell that is asked about but not shown.
fn side(report: &HeapModes, java: &str, collector: &str, bytes: u64, options: &[String]) -> ModeCell {
    ModeCell {
        java: java.to_owned(),
        jdk: report.cells.iter().find(|cell| cell.java == java).map_or(0, |cell| cell.jdk),
        collector: collector.to_owned(),
        max_heap_bytes: bytes,
        options: options.to_vec(),
        ..ModeCell::default()
    }
}

/// The options of a start, in the order in which the last of two holds.
fn words(cell: &ModeCell) -> Vec<String> {
    // Which collectors are experimental depends on the release, and the options may be of that kind.
    let mut words = vec!["-XX:+UnlockExperimentalVMOptions".to_owned()];
    words.push(format!("-XX:+Use{}GC", cell.collector));
    words.extend(cell.options.iter().filter(|option| !is_of_collector(option)).cloned());
    words.push(format!("-Xmx{}", size::option(cell.max_heap_bytes)));
    let deciding = DecidingOptions::of(cell.options.iter().map(String::as_str));
    let initial_bytes = INITIAL_HEAP_BYTES * (deciding.object_alignment_bytes / 8);
    words.push(format!("-Xms{}", size::option(cell.max_heap_bytes.min(initial_bytes))));
    words.push("-XX:-AlwaysPreTouch".to_owned());
    if Release::of(cell.jdk).jvm.has_unified_logging {
        words.push(LOG.to_owned());
    } else {
        words.extend(LOG_BEFORE_XLOG.map(str::to_owned));
    }
    if says_by_flags(cell) {
        words.push(FLAGS.to_owned());
    }
    words
}

/// `-XX:+UseG1GC` and its kin: the cell has its own.
fn is_of_collector(option: &str) -> bool {
    option.strip_prefix("-XX:+Use").is_some_and(|rest| rest.ends_with("GC"))
}

/// Whether class pointers may be full, of which logs say nothing: by an option, or as references are in older releases.
fn says_by_flags(cell: &ModeCell) -> bool {
    let is_option = |option: &String| option == "-XX:-UseCompressedClassPointers";
    cell.options.iter().any(is_option) || !Release::of(cell.jdk).modes.class_pointers_stay_compressed
}

fn ask(facts: &JvmFacts, cell: &ModeCell, stop: &AtomicBool) -> Said {
    match run_java(&java_of(facts), &words(cell), TIME, stop) {
        Ok(output) => said(&output, facts.bits, says_by_flags(cell)),
        Err(StartError::Stopped) => Err("stopped by the user".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn said(output: &JvmOutput, bits: u8, is_asked_for_flags: bool) -> Said {
    if output.exit_code != Some(0) {
        return Err(reason(&output.text));
    }
    let mode = assay_gclog::read_jvm(output.text.as_bytes()).mode;
    let mode = mode.or_else(|| assay_gclog::mode_before_xlog(&output.text));
    let mode = mode.or_else(|| (bits == 32).then(of_32_bits));
    let mode = mode.or_else(|| full_by_flags(&output.text).filter(|_| is_asked_for_flags));
    mode.ok_or_else(|| "it started, but its log does not say the mode".to_owned())
}

/// A JVM of 32 bits has but one mode: that it started with the size is all there is to ask. Not each collector's log shows an address.
fn of_32_bits() -> ModeRead {
    ModeRead {
        mode: ReferenceMode::Bits32,
        compact_headers: Some(false),
        shift_bits: None,
        heap_base_address: None,
        evidence: "the program java has 32-bit words, and started".to_owned(),
    }
}

/// From the printed flags `bool UseCompressedClassPointers = false {product} {command line}`, as their final values.
fn full_by_flags(text: &str) -> Option<ModeRead> {
    let value = |flag: &str| {
        let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(flag))?;
        (line.split_whitespace().nth(3) == Some("false")).then(|| line.trim().to_owned())
    };
    value("UseCompressedOops")?;
    let evidence = value("UseCompressedClassPointers")?;
    Some(ModeRead {
        mode: ReferenceMode::Full64,
        compact_headers: Some(false),
        shift_bits: None,
        heap_base_address: None,
        evidence: evidence.chars().take(REASON_CHARS_MAX).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_collector_is_not_given_twice_and_nothing_is_committed() {
        let mut report = HeapModes::default();
        let options = ["-XX:+UseG1GC".to_owned(), "-Xms20g".to_owned(), "-XX:+AlwaysPreTouch".to_owned()];
        let cell = side(&report, "/jdk", "G1", 30 << 30, &options);
        report.cells.push(cell.clone());
        let words = words(&cell);
        assert_eq!(words.iter().filter(|word| *word == "-XX:+UseG1GC").count(), 1);
        let place = |word: &str| words.iter().position(|w| w == word).expect(word);
        assert!(
            place("-Xms20g") < place("-Xms4m") && place("-XX:+AlwaysPreTouch") < place("-XX:-AlwaysPreTouch")
        );
    }

    #[test]
    fn full_class_pointers_are_read_from_the_flags() {
        let flags = |oops: &str, pointers: &str| {
            format!(
                "     bool UseCompressedClassPointers  = {pointers}  {{product lp64_product}} {{command line}}\n     bool UseCompressedOops           = {oops}     {{product lp64_product}} {{ergonomic}}\n"
            )
        };
        assert_eq!(full_by_flags(&flags("false", "false")).map(|m| m.mode), Some(ReferenceMode::Full64));
        assert_eq!(full_by_flags(&flags("false", "true")), None);
        assert_eq!(full_by_flags(&flags("true", "false")), None);
    }
}
