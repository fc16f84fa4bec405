//! What is tested of each release: the sections of the page.

use super::cell::Cell;
use super::heap::LAYOUTS;
use super::page::Cells;
use super::subject::{COLLECTORS, Subject};
use super::{gc, heap, memory, memory_cases, time};

/// A section.
pub struct Feature {
    pub title: &'static str,
    /// Its column in the table of all.
    pub short: &'static str,
    pub about: &'static str,
    pub columns: Vec<&'static str>,
}

const SUMS: &str = "Memory: the sum";
const UNKNOWN: &str = "Memory: without owner";
const TRACKED: &str = "Memory: native memory tracking";
const C_LIBRARIES: &str = "Memory: C libraries";
const CASES: &str = "Memory: special cases";
const STACKS: &str = "Memory: whose stack";
const ROLES: &str = "CPU time: roles of threads";
const COLLECTIONS: &str = "GC logs: collections";
const SIZES: &str = "Heaps: sizes of objects";
const MODES: &str = "Heaps: reference modes";

/// All of them, in the order of the page.
pub fn features() -> Vec<Feature> {
    let collectors: Vec<&'static str> = COLLECTORS.iter().map(|collector| collector.name).collect();
    let of = |title, short, about| Feature { title, short, about, columns: collectors.clone() };
    vec![
        of(
            SUMS,
            "RSS is split exactly",
            "The areas and the entries of `assay memory PID` against the kernel's sum (`smaps_rollup`) of a stopped JVM (256 MB heap, 32 MB \
             of arrays, 12 threads), native memory tracking off and on: by how many bytes they differ.",
        ),
        of(
            UNKNOWN,
            "without owner ≤ 0.1 %",
            "Of the same: the share of the RSS for which `assay memory PID` knows no owner, native memory tracking off, then on. The bound is \
             0.1 % and nothing in no known region.",
        ),
        of(
            TRACKED,
            "NMT by tag",
            "What Assay reads from outside of each tag of native memory tracking (malloc, arenas, reserved, committed) against \
             `jcmd PID VM.native_memory`, of an interpreting JVM at rest. Tags that the command itself changes are left out: its own \
             buffers and its thread.",
        ),
        Feature {
            title: C_LIBRARIES,
            short: "C libraries",
            about: "The share without owner, of a JVM with G1 that runs on another release of glibc (`scripts/fetch-glibc`): the sum is exact, \
                    the bounds are the same, and Assay finds that release. A build that was made on a newer one needs that, and does not \
                    start on an older one.",
            columns: memory_cases::C_LIBRARIES.to_vec(),
        },
        Feature {
            title: CASES,
            short: "special cases",
            about: "With G1: the share without owner where the sum is exact, within the same bounds, interpreted alone, without the archive of \
                    class data, with a heap in huge pages (transparent ones, and those that the machine set aside: 600 of 2 MB), and without \
                    the symbols of `libjvm`, which that of JDK 8 is built without; and what `assay memory PID --trim` predicts of what comes \
                    of it, within 1 %.",
            columns: memory_cases::CASES.iter().map(|case| case.title).collect(),
        },
        of(
            STACKS,
            "stacks by kind",
            "For whom each stack is by `assay memory PID` (Java, compiler, collector, VM) against `jcmd PID Thread.print`: threads that are \
             right, of those printed before and behind the snapshot.",
        ),
        of(
            ROLES,
            "CPU time by role",
            "The role of each thread that used CPU time in a second, by `assay time PID` against `jcmd PID Thread.print`, of a program with \
             threads of every role.",
        ),
        of(
            COLLECTIONS,
            "GC log",
            "Collections in `assay gc LOG` against what the JVM's management interface counts in the same run, every line of the log \
             understood. ZGC of JDK 11 counts cycles, Shenandoah and later ZGCs pauses. Epsilon never collects.",
        ),
        Feature {
            title: SIZES,
            short: "sizes of objects",
            about: "Classes whose objects have the size that `jcmd PID GC.class_histogram` says, by `assay heap predict DUMP`, and the layout \
                    that Assay found in the dump. Arrays are left out.",
            columns: LAYOUTS.iter().map(|(title, _)| *title).collect(),
        },
        of(
            MODES,
            "reference modes",
            "Modes that `assay heap modes` computes for heaps of 1, 3, 31 and 40 GB (32 bits: 64 MB and 1 GB) against those that JVMs \
             started so say they have (`--verify`).",
        ),
    ]
}

/// Cells of a JVM.
pub fn tested(subject: &Subject) -> Cells {
    let mut cells = Cells::new();
    let mut add = |title, cell: Cell| cells.entry((title, subject.row)).or_default().push(cell);
    for collector in COLLECTORS {
        println!("JDK {}: {}", subject.row.name(), collector.name);
        if !subject.takes(&collector.options()) {
            for title in [SUMS, UNKNOWN, TRACKED, STACKS, ROLES, COLLECTIONS, MODES] {
                add(title, Cell::Absent("none".to_owned()));
            }
            continue;
        }
        let [sum, unknown] = memory::sums(subject, collector);
        add(SUMS, sum);
        add(UNKNOWN, unknown);
        add(TRACKED, memory::tracked(subject, collector));
        let working = memory::working(subject, collector);
        add(STACKS, memory::threads(&working));
        add(ROLES, time::roles(&working));
        drop(working);
        add(COLLECTIONS, gc::collections(subject, collector));
        add(MODES, heap::modes(subject, collector));
    }
    cells.insert((C_LIBRARIES, subject.row), memory_cases::on_c_libraries(subject));
    cells.insert((CASES, subject.row), memory_cases::special(subject));
    let mut add = |title, cell: Cell| cells.entry((title, subject.row)).or_default().push(cell);
    for (_, options) in LAYOUTS {
        add(SIZES, heap::sizes(subject, options));
    }
    cells
}
