//! The class histogram of a running JVM, held against that of a dump of the same JVM, and what it occupies against what it is.

use assay_heap::hprof::read_file;
use assay_heap::live::{LiveHistogram, histogram};
use assay_heap::predict::{PredictOptions, predict};
use assay_heap::{ClassHistogram, ClassShape};
use assay_hotspot::attach_command;
use assay_linux::ProcRoot;
use assay_model::ModelName;
use assay_testkit::{Running, find_java, skip, start_java};
use std::collections::BTreeMap;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);

fn start(feature: u32, bits: u8, options: &[&str]) -> Option<Running> {
    let java = find_java(feature, bits)?;
    let common = ["-XX:+UnlockExperimentalVMOptions", "-Xmx200m", "-Dobjects=50000"];
    let options: Vec<&str> = common.into_iter().chain(options.iter().copied()).collect();
    let jvm = start_java(&java, &options, &[], "Objects");
    // The first command starts the thread that answers.
    attach_command(&ProcRoot::default(), jvm.pid(), "VM.version", LIMIT).expect("the JVM answers");
    Some(jvm)
}

fn dump(jvm: &Running) -> ClassHistogram {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("all.hprof");
    let command = format!("GC.heap_dump -all {}", path.display());
    attach_command(&ProcRoot::default(), jvm.pid(), &command, LIMIT).expect("the JVM answers");
    read_file(&path, &|_| {}).expect("a dump")
}

/// Names of hidden classes and of those that were made at run time hold numbers; of several of a name, all.
fn by_name(histogram: &ClassHistogram) -> BTreeMap<&str, Vec<&ClassShape>> {
    let mut by_name: BTreeMap<&str, Vec<&ClassShape>> = BTreeMap::new();
    for class in &histogram.classes {
        by_name.entry(&class.name).or_default().push(class);
    }
    by_name
}

fn is_filled_by_the_jvm(name: &str) -> bool {
    name == "java.lang.Object" || name.contains("vm.Filler")
}

fn is_that_of_a_dump(feature: u32, options: &[&str]) {
    let Some(jvm) = start(feature, 64, options) else { skip!("no 64-bit JDK {feature}") };
    let LiveHistogram { histogram: live, .. } = histogram(jvm.pid(), LIMIT).expect("a heap");
    let dumped = dump(&jvm);
    let (live_classes, dumped_classes) = (by_name(&live), by_name(&dumped));
    let names =
        |of: &BTreeMap<&str, Vec<&ClassShape>>| of.keys().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&live_classes), names(&dumped_classes), "{feature} {options:?}");
    for (name, classes) in live_classes {
        let others = &dumped_classes[name];
        assert_eq!(classes.len(), others.len(), "{name}");
        let sum = |classes: &[&ClassShape]| {
            let arrays = classes.iter().filter_map(|class| class.arrays.as_ref());
            let arrays = arrays.map(|arrays| (arrays.count(), arrays.elements, arrays.total_bytes(16, 1, 8)));
            let arrays = arrays.fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2));
            (classes.iter().map(|class| class.instances).sum::<u64>(), arrays)
        };
        if name == "int[]" {
            // Of a dump those are not counted to which nothing refers, be they fillers or garbage.
            continue;
        } else if is_filled_by_the_jvm(name) {
            assert!(sum(&classes).0 <= sum(others).0 && sum(&classes).1 <= sum(others).1, "{name}");
        } else {
            assert_eq!(sum(&classes), sum(others), "{feature} {options:?} {name}");
        }
        if let ([ours], [theirs]) = (classes.as_slice(), others.as_slice()) {
            assert_eq!((&ours.fields, &ours.statics), (&theirs.fields, &theirs.statics), "{name}");
            assert_eq!(ours.has_mirror, theirs.has_mirror, "{name}");
            let above = |histogram: &ClassHistogram, class: &ClassShape| {
                class.super_class.map(|above| histogram.classes[above as usize].name.clone())
            };
            assert_eq!(above(&live, ours), above(&dumped, theirs), "{name}");
        }
    }
    assert_eq!((live.word_bytes, live.alignment_bytes), (dumped.word_bytes, dumped.alignment_bytes));
    assert_eq!(live.jdk_version, dumped.jdk_version);
}

#[test]
fn the_class_histogram_of_a_running_jvm_17_is_that_of_a_dump() {
    is_that_of_a_dump(17, &["-XX:+UseSerialGC"]);
    is_that_of_a_dump(17, &["-XX:+UseG1GC"]);
}

#[test]
fn the_class_histogram_of_a_running_jvm_25_is_that_of_a_dump() {
    is_that_of_a_dump(25, &["-XX:+UseParallelGC"]);
    is_that_of_a_dump(25, &["-XX:+UseG1GC", "-XX:+UseCompactObjectHeaders"]);
}

/// What the class histogram weighs in the mode in which it was taken is what the objects were, to the byte.
fn weighs_what_it_is(feature: u32, bits: u8, model: ModelName, options: &[&str]) {
    let options: Vec<&str> = ["-XX:+UseSerialGC"].iter().chain(options).copied().collect();
    let Some(jvm) = start(feature, bits, &options) else { skip!("no JDK {feature} of {bits} bits") };
    let LiveHistogram { histogram: live, model: known_model, counted, .. } =
        histogram(jvm.pid(), LIMIT).expect("a heap");
    let known_model = known_model.ok();
    assert_eq!(known_model.as_ref().map(|known| known.name), Some(model));
    let predicted = predict(&live, &PredictOptions { known_model, ..PredictOptions::default() });
    let predicted = predicted.expect("no class was asked for");
    assert_eq!(predicted.dump_model, Some(model));
    let weight = predicted.models.iter().find(|weight| weight.name == model).expect("every model");
    println!("{feature} {bits} {options:?}: {} bytes, weighed {}", counted.bytes, weight.total_bytes);
    assert_eq!(predicted.objects, counted.objects, "{options:?}");
    assert_eq!(weight.total_bytes, counted.bytes, "{options:?}");
}

#[test]
fn objects_weigh_what_they_are() {
    weighs_what_it_is(17, 64, ModelName::Compressed, &[]);
    weighs_what_it_is(17, 64, ModelName::Bits64CompressedClassPointers, &["-XX:-UseCompressedOops"]);
    weighs_what_it_is(
        17,
        64,
        ModelName::Bits64,
        &["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"],
    );
    weighs_what_it_is(17, 64, ModelName::CompressedAlign16, &["-XX:ObjectAlignmentInBytes=16"]);
    weighs_what_it_is(25, 64, ModelName::Compressed, &[]);
    weighs_what_it_is(25, 64, ModelName::Compact, &["-XX:+UseCompactObjectHeaders"]);
    weighs_what_it_is(17, 32, ModelName::Bits32, &[]);
}
