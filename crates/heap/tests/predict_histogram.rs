//! What a dump of any mode predicts for another is what a JVM really run in that mode says of itself.
//!
//! The truth is `jcmd GC.class_histogram`: bytes by instances is the size of a class. A dump is taken in one mode, JVMs are
//! run in all the others that the JVMs at hand know, and the sizes of all classes are compared.
//!
//! Totals can only be compared over the same objects. A dump and a histogram of one JVM differ in a few rows: the histogram
//! has mirrors of archived classes that nobody loaded, and what died between the two. In another run the JVM's own arrays have
//! other lengths. So of the same JVM all rows with the same number of objects count; of another those whose objects are known
//! to be the same as well: classes of one size, and arrays of the program's own classes.

use crate::predict_support::{Mode, Row, Seen, for_each, look, modes, stable_name};
use assay_heap::predict::{PredictOptions, predict};
use assay_model::{ClassFootprint, HeapPrediction, ModelName};
use assay_testkit::skip;
use std::collections::BTreeMap;

/// Most that a total may be off, as a share.
const TOTAL_ERROR_MAX: f64 = 0.001;

#[test]
fn a_dump_of_one_mode_predicts_every_other() {
    let is_dumped = |mode: &Mode| {
        let of_17 = [ModelName::Compressed, ModelName::Bits64];
        let of_25 = [ModelName::Bits64CompressedClassPointers, ModelName::Compact];
        if mode.jdk == 17 { of_17.contains(&mode.name) } else { of_25.contains(&mode.name) }
    };
    check(is_dumped);
}

#[test]
#[ignore = "long: every mode against every other, a minute"]
fn a_dump_of_any_mode_predicts_every_other() {
    check(|_| true);
}

fn check(is_dumped: impl Fn(&Mode) -> bool + Sync) {
    let modes: Vec<Mode> = modes().into_iter().filter(|mode| mode.java().is_some()).collect();
    if modes.len() < 2 {
        skip!("no JVMs of two modes");
    }
    let seen = for_each(&modes, |_, mode| look(mode, is_dumped(mode), &["-Xmx512m"]).expect("a JVM"));
    let mut tally = Tally::default();
    for dumped in seen.iter().filter(|seen| seen.class_histogram.is_some()) {
        let class_histogram = dumped.class_histogram.as_ref().expect("a dump");
        let prediction = predict(class_histogram, &PredictOptions::default()).expect("no class is asked for");
        tally.check_mode(dumped, &prediction);
        for there in seen.iter().filter(|there| there.mode.jdk == dumped.mode.jdk) {
            tally.compare(dumped, &prediction, there);
        }
    }
    println!("{tally}");
    assert!(tally.wrong.is_empty(), "{} wrong:\n{}", tally.wrong.len(), tally.wrong.join("\n"));
    assert!(
        1000 < tally.sizes && 0.8 < tally.same_run.share_min && 0.3 < tally.other_runs.share_min,
        "{tally}"
    );
}

/// What was compared.
#[derive(Default)]
struct Tally {
    dumps: u64,
    /// Rows whose size was compared.
    sizes: u64,
    /// Rows of a mode that the dump of another has no counterpart of.
    only_there: u64,
    same_run: Totals,
    other_runs: Totals,
    wrong: Vec<String>,
}

/// Totals over the same objects.
#[derive(Default)]
struct Totals {
    count: u64,
    error_max: f64,
    /// Smallest share of the histogram's bytes that was compared.
    share_min: f64,
}

impl Totals {
    fn add(&mut self, error: f64, share: f64) {
        self.share_min = if self.count == 0 { share } else { self.share_min.min(share) };
        self.error_max = self.error_max.max(error);
        self.count += 1;
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (error, share) = (self.error_max * 100.0, self.share_min * 100.0);
        write!(
            f,
            "{} totals off by at most {error:.4} % (over at least {share:.1} % of the bytes)",
            self.count
        )
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { dumps, sizes, only_there, same_run, other_runs, wrong } = self;
        write!(
            f,
            "{dumps} dumps: {sizes} sizes compared, {} wrong, {only_there} only in one of the two; same JVM: {same_run}; \
            other modes: {other_runs}",
            wrong.len()
        )
    }
}

impl Tally {
    /// The mode that is found from a dump alone.
    fn check_mode(&mut self, dumped: &Seen, prediction: &HeapPrediction) {
        self.dumps += 1;
        if prediction.dump_model != Some(dumped.mode.name) {
            let found = prediction.dump.as_ref().map(|dump| dump.evidence.clone());
            self.wrong.push(format!(
                "{} is taken for {:?} {found:?}",
                dumped.mode.text(),
                prediction.dump_model
            ));
        }
    }

    /// What a dump says of a JVM, against what that says of itself.
    fn compare(&mut self, dumped: &Seen, prediction: &HeapPrediction, there: &Seen) {
        let model = prediction.model(there.mode.name).expect("every model");
        let mut predicted: BTreeMap<String, Vec<&ClassFootprint>> = BTreeMap::new();
        for class in &model.classes {
            predicted.entry(stable_name(&class.name)).or_default().push(class);
        }
        let is_same_run = std::ptr::eq(dumped, there);
        let (mut truth, mut said) = (0, 0);
        for row in &there.histogram {
            let same_name = predicted.get(&row.name).map(Vec::as_slice).unwrap_or_default();
            // Arrays and mirrors differ in size within a class.
            let is_array = row.name.ends_with("[]");
            let has_one_size = !is_array && row.name != "java.lang.Class";
            let is_comparable = is_same_run || has_one_size || (is_array && row.name.starts_with("Varied"));
            // Of several with a name (hidden classes, loaders) nobody knows which is which in another run.
            let same_count =
                same_name.iter().find(|class| class.instances == row.instances && same_name.len() == 1);
            let known = same_count.filter(|_| is_comparable).map(|class| class.bytes);
            // Of a class of one size the number of objects does not matter.
            let one_size = same_name.first().filter(|_| has_one_size && same_name.len() == 1);
            let scaled = one_size.map(|class| class.bytes / class.instances.max(1) * row.instances);
            if let Some(bytes) = known.or(scaled) {
                truth += row.bytes;
                said += bytes;
            }
            match same_name.first() {
                None => self.only_there += 1,
                Some(class) if has_one_size => {
                    self.sizes += 1;
                    if same_name
                        .iter()
                        .all(|class| class.bytes * row.instances != row.bytes * class.instances)
                    {
                        self.wrong.push(wrong(dumped, there, row, class));
                    }
                }
                Some(_) => {}
            }
        }
        let error = (truth as f64 - said as f64).abs() / truth.max(1) as f64;
        let share = truth as f64 / there.histogram_bytes() as f64;
        let totals = if is_same_run { &mut self.same_run } else { &mut self.other_runs };
        totals.add(error, share);
        if TOTAL_ERROR_MAX < error {
            let (from, to) = (dumped.mode.text(), there.mode.text());
            self.wrong.push(format!("{from} -> {to}: {said} bytes of the same objects, truth {truth}"));
        }
    }
}

fn wrong(dumped: &Seen, there: &Seen, row: &Row, class: &ClassFootprint) -> String {
    let of = |bytes: u64, instances: u64| bytes as f64 / instances.max(1) as f64;
    format!(
        "{} -> {}: {} {:.1} bytes each, truth {:.1} ({} and {} objects)",
        dumped.mode.text(),
        there.mode.text(),
        row.name,
        of(class.bytes, class.instances),
        of(row.bytes, row.instances),
        class.instances,
        row.instances
    )
}
