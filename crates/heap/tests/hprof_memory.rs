//! Reading takes less than 100 MB whatever the dump: one that is larger in everything than a large server's. A file of its
//! own, since the measure is the process's.

use crate::hprof_writer::Dump;
use assay_heap::hprof::read;
use std::io::Read;

const RESIDENT_KB_MAX: u64 = 100_000;
const CLASSES: u64 = 100_000;
const FIELDS_EACH: u64 = 4;

/// Makes the dump piece by piece, so that it is nowhere as a whole.
struct Pieces<F> {
    piece: F,
    number: u64,
    at: Vec<u8>,
}

impl<F: FnMut(u64) -> Option<Vec<u8>>> Read for Pieces<F> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.at.is_empty() {
            let Some(piece) = (self.piece)(self.number) else { return Ok(0) };
            self.number += 1;
            self.at = piece;
        }
        let count = into.len().min(self.at.len());
        into[..count].copy_from_slice(&self.at[..count]);
        self.at.drain(..count);
        Ok(count)
    }
}

#[test]
fn a_dump_larger_than_any_servers_is_read_in_100_mb() {
    let name_of = |class: u64| 1 << 40 | class;
    let class_of = |class: u64| 1 << 41 | class << 3;
    let field_of = |number: u64| 1 << 42 | number;
    let header = Dump::new("1.0.2", 8);
    let piece = |number: u64| {
        let mut dump = header.clone();
        if number > 0 {
            dump.bytes.clear();
        }
        let first = number % 100 * 1_000;
        let some = first..first + 1_000;
        match number / 100 {
            // Names: of classes, and a million others.
            0 => {
                for class in some {
                    let (prefix, suffix) = if class % 5 == 4 { ("[L", ";") } else { ("", "") };
                    dump.name(
                        name_of(class),
                        &format!("{prefix}com/company/server/module/part/Class{class}{suffix}"),
                    );
                    for other in 0..10 {
                        dump.name(field_of(class * 10 + other), &format!("aFieldOrAMethod{class}{other}"));
                    }
                    dump.load_class(class_of(class), name_of(class));
                }
            }
            1 => {
                let mut subs = dump.subs();
                for class in some {
                    let fields: Vec<(u64, u8)> =
                        (0..FIELDS_EACH).map(|n| (field_of(class * 10 + n), 2)).collect();
                    subs.class(class_of(class), 0, &[], &fields);
                }
                dump.record(0x1c, &subs.bytes);
            }
            // 300,000 objects and as many arrays, of 30 lengths for each class.
            2..=4 => {
                let mut subs = dump.subs();
                for class in some {
                    subs.instance(1 << 43 | class << 4, class_of(class / 5 * 5), &[0; 32]);
                    subs.references(1 << 43 | class << 4, class_of(class / 5 * 5 + 4), (class % 31) as u32);
                }
                dump.record(0x1c, &subs.bytes);
            }
            _ => return None,
        }
        Some(dump.bytes)
    };
    let histogram =
        read(Pieces { piece, number: 0, at: Vec::new() }, "large", &|_| {}).expect("a class histogram");
    assert_eq!(histogram.classes.len() as u64, CLASSES);
    let objects: u64 = histogram.classes.iter().map(|class| class.instances).sum();
    assert_eq!(objects, 600_000);
    let status = std::fs::read_to_string("/proc/self/status").expect("this process");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("its peak");
    let resident: u64 = resident.trim().trim_end_matches(" kB").parse().expect("a number");
    println!("{resident} kB resident at most; {:?}", histogram.problems);
    assert!(resident < RESIDENT_KB_MAX, "{resident} kB");
}
