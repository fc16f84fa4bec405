//! The walk over objects in memory that lies: every byte is booked somewhere, in bounded time, without a panic.

use crate::support::flipped::flipped;
use crate::support::{Jvm, javas};
use assay_hotspot::{HeapObject, Hotspot, ObjectVisitor};
use assay_linux::MemorySource;
use assay_testkit::skip;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Sum {
    objects: u64,
    bytes: u64,
    class_max: u32,
}

impl ObjectVisitor for Sum {
    fn object(&mut self, object: &HeapObject) {
        self.objects += 1;
        self.bytes += object.bytes;
        self.class_max = self.class_max.max(object.class);
    }
}

/// How long a walk may go on: a class histogram has such a limit, too, the time for which it may stop the JVM. Without it one walk of
/// Shenandoah's regions was seen to read on for a quarter of an hour.
const WALK_MAX: Duration = Duration::from_secs(20);

/// Walks, and reads all fields; how many objects were met. `through` is what objects and classes are read from, after
/// the JVM was found in memory that tells the truth: otherwise few walks would begin.
fn walk(hotspot: Hotspot<'_>, through: &dyn MemorySource) -> u64 {
    let hotspot = hotspot.seen_through(through);
    let (Some(heap), Some(classes)) = (hotspot.heap(), hotspot.heap_classes()) else { return 0 };
    let start = Instant::now();
    let is_standing = || start.elapsed() < WALK_MAX;
    let Some(walk) = hotspot.walk_objects(&heap, &classes, &is_standing, Sum::default) else { return 0 };
    assert_eq!(walk.visitors.len(), 2, "a thread panicked");
    assert_eq!(walk.bytes.accounted_bytes(), walk.bytes.used_bytes, "{:?}", walk.bytes);
    let all = classes.all();
    assert_eq!(walk.visitors.iter().map(|sum| sum.bytes).sum::<u64>(), walk.bytes.object_bytes);
    assert!(walk.visitors.iter().all(|sum| sum.objects == 0 || (sum.class_max as usize) < all.len()));
    if let Some(mut fields) = hotspot.field_reader(&classes) {
        let read = all.iter().filter_map(|class| fields.fields_of(class));
        assert!(read.flatten().all(|field| field.name.len() <= usize::from(u16::MAX)));
    }
    assert!(hotspot.problems().len() <= 100);
    walk.objects
}

fn flipped_bytes_are_walked(bits: u8, options: &[&str]) {
    let mut ran = false;
    for (feature, java) in javas(bits) {
        let program = ["-XX:+UnlockExperimentalVMOptions", "-Dobjects=20000", "-Xmx128m"];
        let options: Vec<&str> = program.iter().chain(options).copied().collect();
        let Some(jvm) = Jvm::start_program(&java, &options, "Objects", &[]) else { continue };
        ran = true;
        jvm.freeze();
        let process = jvm.process();
        let open = || Hotspot::open(&process).expect("readable").expect("a JVM");
        let all = walk(open(), &process);
        assert!(20_000 < all, "{feature} {options:?}: the untouched JVM is walked");
        let (mut most, mut cut_off) = (0, 0);
        for (seed, one_in) in [(1, 3), (2, 30), (3, 300), (4, 3000), (5, 30_000)] {
            let start = Instant::now();
            most = walk(open(), &flipped(&process, one_in, seed)).max(most);
            let elapsed = start.elapsed();
            assert!(elapsed < Duration::from_secs(120), "{feature} {options:?} {seed} {one_in}: {elapsed:?}");
            cut_off += u32::from(WALK_MAX <= elapsed);
        }
        // What is slow for more than one kind of damage is not rare bad luck.
        assert!(cut_off <= 1, "{feature} {options:?}: {cut_off} walks went on until they were cut off");
        // The test is worth something only if walks get far.
        assert!(all / 10 < most, "{feature} {options:?}: {most} of {all}");
    }
    if !ran {
        skip!("no JDK of {bits} bits takes {options:?}");
    }
}

#[test]
fn flipped_bytes_in_contiguous_spaces() {
    flipped_bytes_are_walked(64, &["-XX:+UseSerialGC"]);
    flipped_bytes_are_walked(32, &["-XX:+UseParallelGC"]);
}

#[test]
fn flipped_bytes_in_regions() {
    flipped_bytes_are_walked(64, &["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m"]);
    flipped_bytes_are_walked(64, &["-XX:+UseShenandoahGC", "-XX:+UseCompactObjectHeaders"]);
    flipped_bytes_are_walked(64, &["-XX:+UseShenandoahGC"]);
}

#[test]
fn flipped_bytes_in_pages_of_zgc() {
    flipped_bytes_are_walked(64, &["-XX:+UseZGC"]);
}
