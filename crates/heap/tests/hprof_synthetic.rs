//! Dumps made for the purpose: each dialect, each way of cutting heap records, and what the JDK does at 4 GiB.

use crate::hprof_writer::small::*;
use crate::hprof_writer::{Dump, Trickle, id_of};
use assay_heap::hprof::{HprofError, read};
use assay_heap::{ArrayLengths, ClassHistogram, FieldKind, PrimitiveKind};
use std::io::Read;

fn histogram_of(bytes: &[u8]) -> Result<ClassHistogram, HprofError> {
    read(bytes, "made", &|_| {})
}

fn class<'a>(histogram: &'a ClassHistogram, name: &str) -> &'a assay_heap::ClassShape {
    histogram.classes.iter().find(|class| &*class.name == name).unwrap_or_else(|| panic!("{name} is there"))
}

#[track_caller]
fn check_whole(bytes: &[u8], what: &str) -> ClassHistogram {
    let histogram = histogram_of(bytes).unwrap_or_else(|error| panic!("{what}: {error}"));
    let node = class(&histogram, "demo.Node");
    assert_eq!(node.instances, 100, "{what}");
    let fields: Vec<&str> = node.fields.iter().map(|field| &*field.name).collect();
    assert_eq!(fields, ["next", "value"], "{what}");
    assert_eq!(node.statics.len(), 1, "{what}: without the pseudo field");
    assert_eq!(node.statics[0].kind, FieldKind::Primitive(PrimitiveKind::Long), "{what}");
    let above = node.super_class.map(|above| &*histogram.classes[above as usize].name);
    assert_eq!(above, Some("java.lang.Object"), "{what}");
    let arrays = class(&histogram, "demo.Node[]").arrays.as_ref().expect("lengths");
    assert_eq!((arrays.count(), arrays.elements, arrays.empty), (10, 45, 1), "{what}");
    let bytes = class(&histogram, "byte[]");
    let arrays = bytes.arrays.as_ref().expect("lengths");
    assert_eq!((bytes.instances, arrays.count(), arrays.elements, arrays.empty), (21, 21, 196, 1), "{what}");
    assert_eq!(arrays.element, Some(PrimitiveKind::Byte), "{what}");
    assert_eq!(class(&histogram, "java.lang.Class").instances, 0, "{what}: mirrors are no instances");
    assert!(class(&histogram, "boolean").has_mirror, "{what}");
    assert_eq!(histogram.alignment_bytes, Some(8).filter(|_| !histogram.is_android), "{what}");
    histogram
}

#[test]
fn each_dialect_and_word_gives_the_same_class_histogram() {
    for version in ["1.0", "1.0.1", "1.0.2", "1.0.3"] {
        for id_bytes in [4, 8] {
            let what = format!("{version}, {id_bytes}");
            let histogram = check_whole(&whole(version, id_bytes).bytes, &what);
            assert_eq!(histogram.word_bytes, id_bytes as u64, "{what}");
            assert_eq!(histogram.is_android, version == "1.0.3", "{what}");
            assert_eq!(histogram.jdk_version.as_deref(), Some("19.0.2"), "{what}");
            assert_eq!(histogram.problems, [], "{what}");
            let near: u64 =
                histogram.neighbours.iter().filter(|(near, _)| near.gap_bytes == 24).map(|(_, n)| n).sum();
            assert!(near >= 60, "{what}: {near} pairs of nodes");
        }
    }
}

#[test]
fn classes_may_come_after_their_objects() {
    let mut dump = Dump::new("1.0.2", 8);
    let objects = objects(&dump, 8);
    dump.record(0x1c, &objects.bytes);
    let names = names("1.0.2", 8);
    dump.bytes.extend(&names.bytes[31..]);
    let classes = classes(&dump);
    dump.record(0x1c, &classes.bytes);
    check_whole(&dump.bytes, "classes last");
}

/// Perfetto's writer cuts the stream of sub-records wherever a segment is full.
#[test]
fn sub_records_go_on_in_the_next_segment() {
    let mut all = classes(&names("1.0.2", 8));
    all.bytes.extend(objects(&names("1.0.2", 8), 8).bytes);
    for size in [7, 40, 41, 42, 43, 97, 1_000] {
        let mut dump = names("1.0.2", 8);
        for part in all.bytes.chunks(size) {
            dump.record(0x1c, part);
            // And empty ones in between.
            dump.record(0x1c, &[]);
        }
        dump.record(0x2c, &[]);
        check_whole(&dump.bytes, &format!("segments of {size} bytes"));
    }
}

#[test]
fn heap_records_of_length_0_are_empty_or_go_to_the_end() {
    for (tag, has_end) in [(0x0c, false), (0x1c, false), (0x0c, true), (0x1c, true)] {
        let mut dump = names("1.0.2", 8);
        dump.header(0x1c, 0);
        dump.header(tag, 0);
        let (classes, objects) = (classes(&dump), objects(&dump, 8));
        dump.bytes.extend(&classes.bytes);
        dump.bytes.extend(&objects.bytes);
        if has_end {
            dump.record(0x2c, &[]);
        }
        let histogram = check_whole(&dump.bytes, &format!("0x{tag:02x}, with an end: {has_end}"));
        assert_eq!(histogram.problems, []);
    }
}

#[test]
fn records_of_unknown_kinds_are_passed_over_and_unknown_sub_records_end_their_segment() {
    let mut dump = names("1.0.2", 8);
    dump.record(0x77, b"something");
    let mut classes = classes(&dump);
    dump.record(0x1c, &classes.bytes);
    classes.bytes.clear();
    classes.instance(0x5000, NODE, &[0; 16]);
    classes.bytes.extend([0x66; 100]);
    dump.record(0x1c, &classes.bytes);
    let objects = objects(&dump, 8);
    dump.record(0x1c, &objects.bytes);
    let histogram = histogram_of(&dump.bytes).expect("a class histogram");
    assert_eq!(class(&histogram, "demo.Node").instances, 101);
    let problems: Vec<&str> = histogram.problems.iter().map(|problem| problem.text.as_str()).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("0x66"), "{problems:?}");
    assert!(problems[1].contains("1 record of an unknown kind"), "{problems:?}");
}

/// An object whose length is damaged seems to go on in the next segment; there, others begin.
#[test]
fn a_damaged_length_costs_one_segment_only() {
    let mut dump = names("1.0.2", 8);
    let (mut damaged, objects) = (classes(&dump), objects(&dump, 8));
    damaged.numbers_head(0x23, 0x5000, 8, 1 << 30);
    damaged.bytes.extend([0; 100]);
    dump.record(0x1c, &damaged.bytes);
    dump.record(0x1c, &objects.bytes);
    let histogram = check_whole(&dump.bytes, "damaged");
    assert_eq!(histogram.problems.len(), 1, "{:?}", histogram.problems);
    assert!(histogram.problems[0].text.contains("goes beyond its heap record"), "{:?}", histogram.problems);
}

#[test]
fn a_dump_that_ends_early_gives_what_was_there() {
    let dump = whole("1.0.2", 8);
    let mut before = 0;
    for end in 0..dump.bytes.len() - 9 {
        match histogram_of(&dump.bytes[..end]) {
            Ok(histogram) => {
                let nodes = class(&histogram, "demo.Node").instances;
                assert!(nodes >= before, "at {end}");
                before = nodes;
                assert!(nodes == 100 || !histogram.problems.is_empty(), "at {end}");
            }
            Err(error) => assert!(before == 0 && error.to_string().contains("made"), "at {end}: {error}"),
        }
    }
    assert_eq!(before, 100);
}

#[test]
fn what_is_no_dump_is_told() {
    let cases: [(&[u8], &str); 5] = [
        (b"", "made is not an HPROF heap dump: it is empty"),
        (b"PK\x03\x04 and so on", "made is not an HPROF heap dump: it begins with \"P\""),
        (
            b"JAVA PROFILE 9.9\0",
            "made is not an HPROF heap dump: its version is unknown: \"JAVA PROFILE 9.9\"",
        ),
        (b"JAVA PROFILE 1.0.2\0\0\0", "made is not an HPROF heap dump: it ends within the header"),
        (
            b"JAVA PROFILE 1.0.2\0\0\0\0\x05\0\0\0\0\0\0\0\0",
            "made is not an HPROF heap dump: its identifiers have 5 bytes, not 4 or 8",
        ),
    ];
    for (bytes, message) in cases {
        assert_eq!(histogram_of(bytes).expect_err("no dump").to_string(), message);
    }
    let nothing = Dump::new("1.0.2", 8);
    let error = histogram_of(&nothing.bytes).expect_err("nothing in it").to_string();
    assert_eq!(error, "made: no object could be read up to byte 31: it has no heap record");
}

#[test]
fn the_first_of_several_descriptions_of_a_class_counts() {
    let mut dump = whole("1.0.2", 8);
    dump.bytes.truncate(dump.bytes.len() - 9);
    let mut again = dump.subs();
    again.class(NODE, OBJECT, &[(RESOLVED, 2, 0), (COUNT, 11, 7)], &[(VALUE, 11), (NEXT, 2)]);
    dump.record(0x1c, &again.bytes);
    assert_eq!(check_whole(&dump.bytes, "the same").problems, []);
    again.class(NODE, STRING, &[], &[]);
    dump.record(0x1c, &again.bytes);
    assert_eq!(check_whole(&dump.bytes, "another").problems.len(), 1);
}

#[test]
fn classes_that_are_their_own_super_class_have_none() {
    let mut dump = names("1.0.2", 8);
    let mut subs = dump.subs();
    subs.class(OBJECT, NODE, &[], &[]);
    subs.class(NODE, STRING, &[], &[]);
    subs.class(STRING, OBJECT, &[], &[]);
    subs.instance(0x5000, NODE, &[]);
    dump.record(0x1c, &subs.bytes);
    let histogram = histogram_of(&dump.bytes).expect("a class histogram");
    for start in 0..histogram.classes.len() {
        let mut at = Some(start as u32);
        for _ in 0..=histogram.classes.len() {
            at = at.and_then(|at| histogram.classes[at as usize].super_class);
        }
        assert_eq!(at, None, "a walk up ends");
    }
    assert_eq!(histogram.problems.len(), 1, "{:?}", histogram.problems);
}

/// Old agents gave arrays the class of their elements, and version 1.0 has no arrays of numbers.
#[test]
fn arrays_of_old_writers_find_their_class() {
    let mut dump = names("1.0", 4);
    let mut subs = classes(&dump);
    subs.references(0x5000, NODE, 3);
    // "Class" 10 is int: elements of four bytes.
    subs.references(0x5100, 10, 5);
    dump.record(0x0c, &subs.bytes);
    let histogram = histogram_of(&dump.bytes).expect("a class histogram");
    let mut nodes = ArrayLengths::new(None);
    nodes.add(3);
    assert_eq!(class(&histogram, "demo.Node[]").arrays, Some(nodes));
    assert_eq!(class(&histogram, "demo.Node").instances, 0);
    assert_eq!(class(&histogram, "int[]").arrays.as_ref().map(|arrays| arrays.elements), Some(5));
}

#[test]
fn android_dumps_have_roots_heaps_and_arrays_of_their_own() {
    let mut dump = names("1.0.3", 4);
    let mut subs = classes(&dump);
    subs.bytes.extend([0xfe, 0, 0, 0, 1]);
    subs.bytes.extend(id_of(NEXT, 4));
    for tag in [0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x90] {
        subs.root(tag, 0x9000, 0);
    }
    subs.root(0x8e, 0x9000, 8);
    subs.numbers_head(0xc3, 0x5000, 8, 100);
    let objects = objects(&dump, 4);
    subs.bytes.extend(objects.bytes);
    dump.record(0x1c, &subs.bytes);
    let histogram = histogram_of(&dump.bytes).expect("a class histogram");
    assert_eq!(class(&histogram, "byte[]").arrays.as_ref().map(|arrays| arrays.elements), Some(296));
    assert_eq!((class(&histogram, "demo.Node").instances, histogram.alignment_bytes), (100, None));
    assert_eq!(histogram.problems, []);
}

#[test]
fn the_alignment_is_that_of_all_addresses() {
    for alignment in [1, 4, 8, 16, 256, 4096] {
        let mut dump = names("1.0.2", 8);
        let mut subs = classes(&dump);
        for number in 1..100 {
            subs.instance(number * alignment, NODE, &[0; 16]);
        }
        dump.record(0x1c, &subs.bytes);
        let histogram = histogram_of(&dump.bytes).expect("a class histogram");
        assert_eq!(histogram.alignment_bytes, Some(alignment.min(256)).filter(|bytes| *bytes >= 8));
    }
}

#[test]
fn counts_do_not_depend_on_where_buffers_end() {
    let mut dump = names("1.0.2", 8);
    let mut subs = classes(&dump);
    let mut elements = 0;
    for number in 0..20_000_u32 {
        subs.instance(0x10_0000 + u64::from(number) * 8, NODE, &vec![0; 16 + number as usize % 50]);
        subs.numbers(8, 11, number % 23);
        elements += u64::from(number % 23);
        if number % 5_000 == 0 {
            subs.numbers(8, 8, 300_000);
        }
    }
    dump.record(0x1c, &subs.bytes);
    assert!(dump.bytes.len() > 4 << 20, "more than the buffers hold");
    let check = |histogram: ClassHistogram| {
        assert_eq!(class(&histogram, "demo.Node").instances, 20_000);
        assert_eq!(class(&histogram, "long[]").arrays.as_ref().map(|arrays| arrays.elements), Some(elements));
        assert_eq!(
            class(&histogram, "byte[]").arrays.as_ref().map(|arrays| arrays.elements),
            Some(1_200_000)
        );
        // That the version is by shape.
        assert_eq!(histogram.problems.len(), 1, "{:?}", histogram.problems);
    };
    check(histogram_of(&dump.bytes).expect("a class histogram"));
    check(read(Trickle::of(&dump.bytes), "made", &|_| {}).expect("a class histogram"));
}

/// A record's length has four bytes: one HEAP_DUMP of more wraps, and the JDK cuts longer arrays off.
#[test]
fn a_heap_record_and_an_array_of_four_gib_are_read() {
    let mut dump = names("1.0.1", 8);
    let classes = classes(&dump);
    let mut array = dump.subs();
    let length = (u32::MAX - 32) / 8;
    array.numbers_head(0x23, 0x5000, 11, length);
    let elements = u64::from(length) * 8;
    let objects = objects(&dump, 8);
    let record = (classes.bytes.len() + array.bytes.len() + objects.bytes.len()) as u64 + elements;
    assert!(record > 1 << 32);
    dump.header(0x0c, record as u32);
    let source = dump.bytes.chain(&*classes.bytes).chain(&*array.bytes);
    let source = source.chain(std::io::repeat(0).take(elements)).chain(&*objects.bytes);
    let histogram = read(source, "made", &|_| {}).expect("a class histogram");
    assert_eq!(class(&histogram, "demo.Node").instances, 100);
    let longs = class(&histogram, "long[]").arrays.as_ref().expect("lengths");
    assert_eq!((longs.count(), longs.elements), (1, u64::from(length)));
    let problems: Vec<&str> = histogram.problems.iter().map(|problem| problem.text.as_str()).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("wrapped at 4 GiB"), "{problems:?}");
    assert!(problems[1].starts_with("long[] of 536870907 elements"), "{problems:?}");
}

/// Some tools count objects in 31 bits.
#[test]
#[ignore = "43 GB of dump: cargo test --release -p assay-heap --test all hprof_synthetic:: -- --ignored"]
fn more_objects_than_31_bits_can_count() {
    let mut dump = names("1.0.2", 4);
    let classes = classes(&dump);
    dump.record(0x1c, &classes.bytes);
    let mut part = dump.subs();
    for number in 0..1 << 16 {
        part.instance(0x10_0000 + number * 8, NODE, &[0; 3]);
    }
    let mut segment = dump.clone();
    segment.bytes.clear();
    segment.record(0x1c, &part.bytes);
    let source = dump.bytes.chain(Again { bytes: &segment.bytes, at: 0, left: (1 << 15) + 1 });
    let histogram = read(source, "made", &|_| {}).expect("a class histogram");
    assert_eq!(class(&histogram, "demo.Node").instances, (1 << 31) + (1 << 16));
}

/// The same bytes again and again.
struct Again<'a> {
    bytes: &'a [u8],
    at: usize,
    left: u64,
}

impl Read for Again<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let count = into.len().min(self.bytes.len() - self.at);
        into[..count].copy_from_slice(&self.bytes[self.at..self.at + count]);
        self.at += count;
        if self.at == self.bytes.len() {
            (self.at, self.left) = (0, self.left - 1);
        }
        Ok(count)
    }
}
