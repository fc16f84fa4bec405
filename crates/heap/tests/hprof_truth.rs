//! Dumps of running JVMs against what the same JVM says of itself: counts and sizes of `jcmd PID GC.class_histogram`, and
//! fields in the order of the source.

use assay_heap::{ClassHistogram, ClassShape, NeighbourKind, hprof};
use assay_jdk::Release;
use assay_testkit::{Running, class_histogram, each_java, each_release, find_tool, start_java};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Instances and bytes of the classes of one name.
type Counts = BTreeMap<String, (u64, u64)>;

struct Looked {
    histogram: Counts,
    class_histogram: ClassHistogram,
}

/// Histogram and dump of a quiet JVM that runs `Counted`.
fn look(java: &Path, options: &[&str]) -> Looked {
    look_at("Counted", java, options)
}

fn look_at(class: &str, java: &Path, options: &[&str]) -> Looked {
    let running = start_java(java, options, &[], class);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("counted.hprof");
    // Each collects all garbage first; the second histogram stands right before the dump. What has a finalizer (of JDK 8) is gone only when
    // that has run.
    running.jcmd(&["GC.class_histogram"]);
    std::thread::sleep(Duration::from_millis(300));
    let histogram = histogram(&running);
    let said = running.jcmd(&["GC.heap_dump", &path.display().to_string()]);
    assert!(said.contains("Heap dump file created"), "{said}");
    let class_histogram = hprof::read_file(&path, &|_| {}).expect("a dump");
    Looked { histogram, class_histogram }
}

fn histogram(running: &Running) -> Counts {
    let mut counts = Counts::new();
    for (name, (instances, bytes)) in class_histogram(&running.jcmd(&["GC.class_histogram"])) {
        let count = counts.entry(stem(&name).to_owned()).or_insert((0, 0));
        *count = (count.0 + instances, count.1 + bytes);
    }
    counts
}

/// The name of a class without what tells it from others made at run time: until JDK 14 a histogram has that, and a dump has not.
fn stem(name: &str) -> &str {
    name.split_once('/').map_or(name, |(stem, _)| stem)
}

/// Each release that can be had: that a dump says what its JVM says holds for all.
fn releases() -> Vec<(u32, u8, PathBuf)> {
    let of = |bits| each_release(bits).into_iter().map(move |(jdk, java)| (jdk, bits, java));
    of(64).chain(of(32)).collect()
}

fn javas() -> Vec<(u32, u8, PathBuf)> {
    let of = |bits| each_java(bits).into_iter().map(move |(jdk, java)| (jdk, bits, java));
    of(64).chain(of(32)).collect()
}

fn instances(class_histogram: &ClassHistogram) -> HashMap<&str, u64> {
    let mut counts = HashMap::new();
    for class in &class_histogram.classes {
        *counts.entry(stem(&class.name)).or_insert(0) += class.instances;
    }
    counts
}

fn class<'a>(class_histogram: &'a ClassHistogram, name: &str) -> &'a ClassShape {
    class_histogram
        .classes
        .iter()
        .find(|class| &*class.name == name)
        .unwrap_or_else(|| panic!("{name} is there"))
}

#[test]
fn a_dump_says_what_its_jvm_says() {
    if find_tool("javac").is_none() {
        assay_testkit::skip!("no javac");
    }
    for (feature, bits, java) in releases() {
        // Parallel, which JDK 8 takes here by itself, leaves gaps that only a histogram counts; so does Serial in three of four collections.
        let looked = look(&java, &["-Xmx256m", "-XX:+UseSerialGC", "-XX:MarkSweepAlwaysCompactCount=1"]);
        let headers = if Release::of(feature).modes.headers_are_compact { ", compact" } else { "" };
        let what = format!("JDK {feature} of {bits} bits{headers}");
        counts_are_those_of_the_histogram(&looked, &what);
        mirrors_are_right(&looked, &what);
        fields_are_in_the_order_of_the_class_file(&looked.class_histogram, &what);
        version_is_that_of_the_jvm(&looked.class_histogram, &java, bits, &what);
    }
}

/// Classes whose objects come and go with each command that a JVM is asked: the attach listener's.
const OF_COMMANDS: [&str; 2] = [
    "java.lang.invoke.MethodHandleNatives$CallSiteContext",
    "jdk.internal.ref.CleanerImpl$PhantomCleanableRef",
];

fn counts_are_those_of_the_histogram(looked: &Looked, what: &str) {
    let counts = instances(&looked.class_histogram);
    assert_eq!(counts["Counted$Node"], 3_000, "{what}");
    let names = looked.histogram.keys().map(String::as_str).chain(counts.keys().copied());
    for name in names {
        let told = looked.histogram.get(name).map_or(0, |(instances, _)| *instances);
        let counted = counts.get(name).copied().unwrap_or(0);
        // Until JDK 18 a gap of 16 bytes is filled with an object of this class, which a dump has not.
        let is_gap = name == "java.lang.Object" && counted < told && !looked.histogram.contains_key(FILLERS);
        let is_of_jvm = name == "java.lang.Class" || OF_COMMANDS.contains(&name);
        let is_known_to_differ = is_of_jvm || is_filled(name) || is_gap;
        assert!(told == counted || is_known_to_differ, "{what}: {name}: {counted}, in the histogram {told}");
    }
    ints_are_those_of_the_histogram(looked, what);
    let lambdas: Vec<&&str> = counts.keys().filter(|name| name.starts_with("Counted$$Lambda")).collect();
    assert_eq!(lambdas.len(), 1, "{what}: {lambdas:?}");
}

/// What JVMs fill gaps with is dumped as `int[]`, and not counted.
fn is_filled(name: &str) -> bool {
    name == "int[]" || name.contains("Filler")
}

const FILLERS: &str = "jdk.internal.vm.FillerElement[]";

/// From JDK 19 on a histogram has fillers apart, so that arrays of int can be compared: what a dump has more are fillers
/// without elements, of 16 bytes. How many arrays are not counted.
fn ints_are_those_of_the_histogram(looked: &Looked, what: &str) -> u64 {
    let told = |name: &str| looked.histogram.get(name).copied().unwrap_or_default();
    let ints = class(&looked.class_histogram, "int[]").arrays.as_ref().expect("arrays");
    let Some((fillers, _)) = looked.histogram.get(FILLERS) else {
        assert_eq!(ints.count(), told("int[]").0, "{what}");
        return 0;
    };
    let (count, bytes) = told("int[]");
    let surplus = ints.count() - count;
    assert!(surplus <= *fillers && surplus <= ints.empty, "{what}: {surplus} of {fillers}");
    // An array's length lies behind a header of 12 bytes, or of 8.
    let base_bytes = if what.contains("compact") { 12 } else { 16 };
    assert_eq!(ints.total_bytes(base_bytes, 4, 8), bytes + 16 * surplus, "{what}");
    fillers - surplus
}

#[test]
fn arrays_that_fill_gaps_are_not_counted_and_no_other_is_taken_for_one() {
    if find_tool("javac").is_none() {
        assay_testkit::skip!("no javac");
    }
    /// Of the arrays that `Gaps` refers to.
    const ELEMENTS: u64 = 101 + 103 + 104 + 105 + 106;
    let compact: &[&str] = &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"];
    let javas: Vec<_> = javas().into_iter().filter(|(feature, ..)| *feature >= 19).collect();
    if javas.is_empty() {
        assay_testkit::skip!("no JDK 19 or later");
    }
    for (feature, bits, java) in javas {
        for collector in ["Serial", "Parallel", "G1"] {
            for headers in [&[], compact].into_iter().filter(|headers| headers.is_empty() || feature >= 24) {
                let option = format!("-XX:+Use{collector}GC");
                // Serial leaves no gaps in each fourth collection.
                let common = ["-Xmx64m", "-XX:MarkSweepAlwaysCompactCount=100", &option];
                let options: Vec<&str> = common.into_iter().chain(headers.iter().copied()).collect();
                let looked = look_at("Gaps", &java, &options);
                let kind = if headers.is_empty() { "plain" } else { "compact" };
                let what = format!("JDK {feature} of {bits} bits, {collector}, {kind}");
                let left_out = ints_are_those_of_the_histogram(&looked, &what);
                let of_objects = looked.histogram.get("jdk.internal.vm.FillerObject").copied();
                println!("{what}: {left_out} arrays that fill gaps, objects {of_objects:?}");
                let told = looked
                    .class_histogram
                    .problems
                    .iter()
                    .any(|problem| problem.text.contains("not counted"));
                assert!(told && 1_000 < left_out, "{what}: {left_out} {:?}", looked.class_histogram.problems);
                assert!(
                    ELEMENTS
                        <= class(&looked.class_histogram, "int[]").arrays.as_ref().expect("arrays").elements
                );
                assert_eq!(
                    instances(&looked.class_histogram).get("jdk.internal.vm.FillerObject").unwrap_or(&0),
                    &0
                );
            }
        }
    }
}

/// Mirrors: one of each class, and nine of the types that are no classes. A histogram also has those that wait in the
/// archive of class data for their class to be loaded.
fn mirrors_are_right(looked: &Looked, what: &str) {
    let mirrors = looked.class_histogram.classes.iter().filter(|class| class.has_mirror).count() as u64;
    let (told, _) = looked.histogram["java.lang.Class"];
    println!("{what}: {mirrors} mirrors, {told} in the histogram");
    assert!(mirrors <= told, "{what}");
    assert!(class(&looked.class_histogram, "void").has_mirror, "{what}");
    assert_eq!(class(&looked.class_histogram, "java.lang.Class").instances, 0, "{what}");
}

#[test]
fn without_an_archive_every_mirror_is_there() {
    if find_tool("javac").is_none() {
        assay_testkit::skip!("no javac");
    }
    for (feature, bits, java) in javas() {
        let looked = look(&java, &["-Xmx256m", "-Xshare:off"]);
        let mirrors = looked.class_histogram.classes.iter().filter(|class| class.has_mirror).count() as u64;
        let (told, _) = looked.histogram["java.lang.Class"];
        println!("JDK {feature} of {bits} bits: {mirrors} mirrors, {told} in the histogram");
        assert_eq!(mirrors, told, "JDK {feature} of {bits} bits");
        version_is_that_of_the_jvm(
            &looked.class_histogram,
            &java,
            bits,
            &format!("JDK {feature} without an archive"),
        );
    }
}

fn fields_are_in_the_order_of_the_class_file(class_histogram: &ClassHistogram, what: &str) {
    let names = |fields: &[assay_heap::Field]| {
        fields.iter().map(|field| field.name.to_string()).collect::<Vec<String>>().join(" ")
    };
    let node = class(class_histogram, "Counted$Node");
    assert_eq!(names(&node.fields), "next first second third fourth fifth", "{what}");
    assert_eq!(names(&node.statics), "counter keeper small", "{what}");
    assert_eq!(names(&class(class_histogram, "Counted$Leaf").fields), "weight other", "{what}");
    assert_eq!(names(&class(class_histogram, "Counted$Pair").fields), "left right", "{what}");
    assert_eq!(names(&class(class_histogram, "Counted$Colour").statics), "RED GREEN BLUE $VALUES", "{what}");
}

fn version_is_that_of_the_jvm(class_histogram: &ClassHistogram, java: &Path, bits: u8, what: &str) {
    let release = java.ancestors().nth(2).map(|home| home.join("release")).expect("a home");
    let release = std::fs::read_to_string(release).expect("its release file");
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=")).expect("a version");
    // A build before its release says so of itself, and its release file does not.
    let told = class_histogram.jdk_version.as_deref().map(|version| version.trim_end_matches("-ea"));
    assert_eq!(told, Some(version.trim_matches('"')), "{what}");
    assert_eq!(class_histogram.word_bytes, u64::from(bits / 8), "{what}");
    let others =
        class_histogram.problems.iter().find(|problem| !problem.text.contains("fill gaps between objects"));
    assert_eq!(others, None, "{what}");
}

#[test]
fn every_collectors_heap_gives_true_neighbours() {
    if find_tool("javac").is_none() {
        assay_testkit::skip!("no javac");
    }
    let collectors = ["Serial", "Parallel", "G1", "Z", "Shenandoah"];
    for (feature, bits, java) in javas() {
        for collector in collectors {
            let option = format!("-XX:+Use{collector}GC");
            let known = std::process::Command::new(&java).args([&option, "-version"]).output();
            if !known.expect("java runs").status.success() {
                println!("JDK {feature} of {bits} bits has no {collector}");
                continue;
            }
            for alignment in [8, 16] {
                if alignment == 16 && (bits == 32 || collector != "Parallel") {
                    continue;
                }
                let aligned = format!("-XX:ObjectAlignmentInBytes={alignment}");
                let options = [option.as_str(), "-Xmx256m", &aligned];
                // 32-bit JVMs do not know the option.
                let looked = look(&java, &options[..if bits == 64 { 3 } else { 2 }]);
                let what = format!("JDK {feature} of {bits} bits, {collector}, alignment {alignment}");
                neighbours_are_true(&looked, &what);
                if bits == 64 {
                    assert_eq!(looked.class_histogram.alignment_bytes, Some(alignment), "{what}");
                }
            }
        }
    }
}

/// The gap that is met most is the size of an object, of those classes that have many.
fn neighbours_are_true(looked: &Looked, what: &str) {
    for name in ["Counted$Node", "Counted$Leaf", "Counted$Pair"] {
        let (instances, bytes) = looked.histogram[name];
        let mut gaps: Vec<(u64, u64)> = Vec::new();
        for (near, count) in &looked.class_histogram.neighbours {
            let NeighbourKind::Instance(index) = near.kind else { continue };
            if &*looked.class_histogram.classes[index as usize].name == name {
                gaps.push((near.gap_bytes, *count));
            }
        }
        let least = gaps.iter().map(|(gap, _)| *gap).min();
        let most = gaps.iter().max_by_key(|(_, count)| *count).map(|(gap, _)| *gap);
        let size = bytes / instances;
        assert_eq!((least, most), (Some(size), Some(size)), "{what}: {name} {gaps:?}");
    }
}
