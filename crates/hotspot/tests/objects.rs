//! Every object of a heap, held against the class histogram that the JVM makes itself.
//!
//! The JVM first fills what threads keep for their next objects, one object for each, and the histogram has these. Its
//! histogram of everything goes over the spaces with Serial, Parallel, G1 and Epsilon, and has to be equal; with
//! Shenandoah and ZGC it follows references, and has no garbage.

use crate::support::{Jvm, javas};
use assay_hotspot::{HeapObject, Hotspot, ObjectForm, ObjectVisitor, WalkBytes, attach_command};
use assay_linux::ProcRoot;
use assay_testkit::{find_java, skip};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

const REGION_BYTES: u64 = 1 << 20;

/// Objects and bytes.
type Count = (u64, u64);
/// By name of class.
type Histogram = BTreeMap<String, Count>;

fn add(to: &mut Count, objects: u64, bytes: u64) {
    *to = (to.0 + objects, to.1 + bytes);
}

#[derive(Default)]
struct Counts {
    by_class: BTreeMap<u32, Count>,
    mirrored: BTreeSet<u32>,
    /// What is behind an object that has a region of its own: G1 fills it, and counts it when it is the first region.
    tails: Count,
}

impl ObjectVisitor for Counts {
    fn object(&mut self, object: &HeapObject) {
        add(self.by_class.entry(object.class).or_default(), 1, object.bytes);
        if let ObjectForm::Mirror { of: Some(class) } = object.form {
            assert!(self.mirrored.insert(class), "a class has one mirror");
        }
        let has_region = object.address.is_multiple_of(REGION_BYTES) && REGION_BYTES / 2 < object.bytes;
        if has_region && object.bytes < REGION_BYTES {
            add(&mut self.tails, 1, REGION_BYTES - object.bytes);
        }
    }
}

struct Walked {
    histogram: Histogram,
    bytes: WalkBytes,
    buffers: u64,
    tails: Count,
}

fn walk(jvm: &Jvm) -> Walked {
    jvm.freeze();
    let process = jvm.process();
    let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
    let heap = hotspot.heap().expect("a heap");
    let classes = hotspot.heap_classes().expect("classes");
    let walk = hotspot.walk_objects(&heap, &classes, &|| true, Counts::default).expect("a walk");
    assert_eq!(hotspot.is_collecting(), Some(false));
    jvm.thaw();
    assert_eq!(hotspot.problems(), []);
    let bytes = walk.bytes;
    assert_eq!(bytes.accounted_bytes(), bytes.used_bytes, "{bytes:?}");
    assert_eq!(bytes.used_bytes, heap.used_bytes());
    assert!(walk.bytes_read <= bytes.used_bytes + (4 << 20), "{} read of {bytes:?}", walk.bytes_read);
    let all = classes.all();
    let (mut histogram, mut tails, mut mirrored, mut objects) =
        (Histogram::new(), (0, 0), BTreeSet::<u32>::new(), 0);
    for counts in &walk.visitors {
        add(&mut tails, counts.tails.0, counts.tails.1);
        mirrored.extend(&counts.mirrored);
        for (class, (count, bytes)) in &counts.by_class {
            add(histogram.entry(all[*class as usize].name.clone()).or_default(), *count, *bytes);
            objects += count;
        }
    }
    assert_eq!(objects, walk.objects);
    let loaded = all.iter().filter(|class| !class.is_dormant).count();
    assert!(loaded <= mirrored.len(), "{loaded} classes, {} mirrors", mirrored.len());
    Walked { histogram, bytes, buffers: walk.buffers, tails }
}

/// `   1:     12345      67890  java.lang.String (java.base@17)`.
fn histogram(text: &str) -> Histogram {
    let mut histogram = Histogram::new();
    for line in text.lines() {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [number, objects, bytes, name, ..] = fields.as_slice() else { continue };
        if let (true, Ok(objects), Ok(bytes)) = (number.ends_with(':'), objects.parse(), bytes.parse()) {
            add(histogram.entry(without_hash(name).to_owned()).or_default(), objects, bytes);
        }
    }
    histogram
}

/// JDK 8 puts the hash code of the mirror behind the name of a class without a name of its own: `Objects$$Lambda$1/303563356`.
fn without_hash(name: &str) -> &str {
    let hash = |(_, hash): &(&str, &str)| hash.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('/').filter(hash).map_or(name, |(name, _)| name)
}

/// What the JVM fills gaps with: until JDK 18 arrays of int, or an object where an array does not fit.
fn is_filler(feature: u32, name: &str) -> bool {
    match feature {
        ..19 => name == "[I" || name == "java.lang.Object",
        _ => name.starts_with("[Ljdk.internal.vm.Filler") || name.starts_with("jdk.internal.vm.Filler"),
    }
}

/// Starts `Objects`, and walks between two equal histograms.
fn steady(java: &std::path::Path, feature: u32, options: &[&str]) -> Option<(Walked, Histogram)> {
    let virtual_threads = if 21 <= feature { "-Dvirtual=100" } else { "-Dvirtual=0" };
    let common = ["-XX:+UnlockExperimentalVMOptions", "-Xmx200m", "-Dobjects=50000", virtual_threads];
    let options: Vec<&str> = common.into_iter().chain(options.iter().copied()).collect();
    let jvm = Jvm::start_program(java, &options, "Objects", &[])?;
    let ask = || {
        let command = "GC.class_histogram -all";
        let answer = attach_command(&ProcRoot::default(), jvm.pid(), command, Duration::from_secs(30));
        histogram(&answer.expect("the JVM answers"))
    };
    // The first command starts the thread that answers.
    ask();
    let mut before = ask();
    for _ in 0..20 {
        let walked = walk(&jvm);
        let after = ask();
        if before == after {
            return Some((walked, after));
        }
        before = after;
    }
    panic!("{options:?}: the heap never stood still");
}

fn each(bits: u8, options: &[&str], check: impl Fn(u32, Walked, Histogram)) {
    each_of(javas(bits), bits, options, check);
}

fn each_of(javas: Vec<(u32, PathBuf)>, bits: u8, options: &[&str], check: impl Fn(u32, Walked, Histogram)) {
    let mut ran = false;
    for (feature, java) in javas {
        match steady(&java, feature, options) {
            Some((walked, theirs)) => {
                ran = true;
                check(feature, walked, theirs);
            }
            None => println!("JDK {feature} of {bits} bits does not take {options:?}"),
        }
    }
    if !ran {
        skip!("no JDK of {bits} bits takes {options:?}");
    }
}

/// Equal for every class, but for what the JVM fills before it counts, and that to the byte.
fn every_class_is_equal(bits: u8, options: &[&str]) {
    every_class_is_equal_of(javas(bits), bits, options);
}

fn every_class_is_equal_of(javas: Vec<(u32, PathBuf)>, bits: u8, options: &[&str]) {
    each_of(javas, bits, options, |feature, walked, theirs| {
        let case = format!("{feature} {bits} {options:?} {:?}", walked.bytes);
        assert_eq!((walked.bytes.skipped_bytes, walked.bytes.absent_bytes), (0, 0), "{case}");
        let names: BTreeSet<_> = walked.histogram.keys().chain(theirs.keys()).collect();
        let mut filled = (0, 0);
        for name in names {
            let of = |histogram: &Histogram| histogram.get(name).copied().unwrap_or_default();
            let (ours, jvms) = (of(&walked.histogram), of(&theirs));
            if is_filler(feature, name) {
                add(&mut filled, jvms.0 - ours.0, jvms.1 - ours.1);
            } else {
                assert_eq!(ours, jvms, "{name} {case}");
            }
        }
        let buffers = (walked.buffers, walked.bytes.buffer_bytes);
        assert_eq!(filled, (buffers.0 + walked.tails.0, buffers.1 + walked.tails.1), "{case}");
        assert!(100 < theirs.len() && 3 < walked.buffers, "{case}");
        if 21 <= feature {
            assert!(theirs.contains_key("jdk.internal.vm.StackChunk"));
        }
    });
}

/// Its lists of classes are found by private offsets. Those of G1's regions are not known there.
#[test]
fn objects_of_jdk_8_are_those_that_the_jvm_counts() {
    let Some(java) = find_java(8, 64) else { skip!("no JDK 8") };
    for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC"] {
        every_class_is_equal_of(vec![(8, java.clone())], 64, &[collector]);
    }
}

#[test]
fn serial_s_objects_are_those_that_the_jvm_counts() {
    every_class_is_equal(64, &["-XX:+UseSerialGC"]);
    every_class_is_equal(64, &["-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=32"]);
}

#[test]
fn parallel_s_objects_are_those_that_the_jvm_counts() {
    every_class_is_equal(64, &["-XX:+UseParallelGC"]);
}

#[test]
fn g1_s_objects_are_those_that_the_jvm_counts() {
    every_class_is_equal(64, &["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m"]);
    every_class_is_equal(64, &["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", "-XX:ObjectAlignmentInBytes=16"]);
}

#[test]
fn objects_with_compact_headers_are_those_that_the_jvm_counts() {
    let compact = "-XX:+UseCompactObjectHeaders";
    every_class_is_equal(64, &["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", compact]);
    every_class_is_equal(64, &["-XX:+UseSerialGC", "-XX:-UseCompressedOops", compact]);
}

#[test]
fn objects_with_full_references_are_those_that_the_jvm_counts() {
    let full = "-XX:-UseCompressedOops";
    every_class_is_equal(64, &["-XX:+UseSerialGC", full]);
    every_class_is_equal(64, &["-XX:+UseSerialGC", full, "-XX:-UseCompressedClassPointers"]);
}

#[test]
fn epsilon_s_objects_are_those_that_the_jvm_counts() {
    every_class_is_equal(64, &["-XX:+UseEpsilonGC"]);
}

#[test]
fn objects_of_32_bits_are_those_that_the_jvm_counts() {
    for options in
        [&["-XX:+UseSerialGC"][..], &["-XX:+UseParallelGC"], &["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m"]]
    {
        every_class_is_equal(32, options);
    }
}

/// No class with fewer objects than the JVM can reach, and the program's own classes, of which nothing is garbage, equal.
fn every_reachable_object_is_met(bits: u8, options: &[&str], skipped_max: u64) {
    let collected = ["-Dtidy=true", "-Dcollect=true", "-XX:-ExplicitGCInvokesConcurrent"];
    let options: Vec<&str> = options.iter().copied().chain(collected).collect();
    each(bits, &options, |feature, walked, theirs| {
        let case = format!("{feature} {bits} {options:?} {:?}", walked.bytes);
        assert!(walked.bytes.skipped_bytes <= skipped_max && walked.bytes.absent_bytes == 0, "{case}");
        let mut own = 0;
        for (name, jvms) in &theirs {
            let ours = walked.histogram.get(name).copied().unwrap_or_default();
            assert!(jvms.0 <= ours.0 && jvms.1 <= ours.1, "{name}: {ours:?}, {jvms:?} {case}");
            if name.starts_with("Objects") {
                own += 1;
                assert_eq!(ours, *jvms, "{name} {case}");
            }
        }
        assert!(5 <= own, "{theirs:?}");
    });
}

#[test]
fn shenandoah_s_objects_are_at_least_those_that_the_jvm_reaches() {
    for more in [&[][..], &["-XX:ShenandoahGCMode=generational"], &["-XX:+UseCompactObjectHeaders"]] {
        let options: Vec<&str> = ["-XX:+UseShenandoahGC"].iter().chain(more).copied().collect();
        every_reachable_object_is_met(64, &options, 0);
    }
    every_reachable_object_is_met(32, &["-XX:+UseShenandoahGC"], 0);
}

#[test]
fn zgc_s_objects_are_at_least_those_that_the_jvm_reaches() {
    // Nobody fills what a thread that has ended kept: here up to five buffers of up to 256 KiB.
    every_reachable_object_is_met(64, &["-XX:+UseZGC"], 5 << 18);
}
