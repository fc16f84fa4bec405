//! Lines of what takes time: pauses, cycles, concurrent phases, stalls.
//!
//! All collectors write them alike: a name, groups in parentheses (kind, cause, options), sizes, length. Announcements have neither
//! sizes nor length. No rule takes a name that is not known: a log of a JVM to come must not lose pauses in silence.

use crate::scan::Scan;
use assay_model::{GcAnomaly, GcRecordKind, GcScope};

/// Used before, used after, and capacity where the line has it, with the smallest step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dialect) struct LineSizes {
    pub before_bytes: u64,
    pub after_bytes: u64,
    pub capacity_bytes: Option<u64>,
    pub resolution_bytes: u64,
}

/// Something with a name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::dialect) struct Timed<'a> {
    pub kind: GcRecordKind,
    /// `Pause Young`
    pub name: &'a str,
    /// Kinds that belong to the name, as in `Pause Young (Concurrent Start)`.
    pub kinds: [Option<&'a str>; 2],
    /// `Y:`, `y:`, `O:` of generational Z.
    pub generation: Option<GcScope>,
    pub scope: Option<GcScope>,
    pub cause: Option<&'a str>,
    /// The thread that stalled.
    pub thread: Option<&'a str>,
    pub anomaly: Option<GcAnomaly>,
    pub sizes: Option<LineSizes>,
    /// Length and its smallest step, nanoseconds.
    pub duration: Option<(u64, u64)>,
    /// It ended before its time.
    pub is_aborted: bool,
    /// It has an end on this line: else it is announced.
    pub has_ended: bool,
}

impl Timed<'_> {
    /// Its name: `Pause Young (Concurrent Start)`; generations of Z's pauses and phases are distinguished.
    pub fn phase(&self) -> String {
        let mut phase = String::with_capacity(40);
        phase.push_str(self.name);
        for kind in self.kinds.iter().flatten() {
            phase.push_str(" (");
            phase.push_str(kind);
            phase.push(')');
        }
        if self.kinds[0].is_none() && self.kind != GcRecordKind::Cycle && self.kind != GcRecordKind::Stall {
            match self.generation {
                Some(GcScope::Young) => phase.push_str(" (Young)"),
                Some(GcScope::Old) => phase.push_str(" (Old)"),
                _ => {}
            }
        }
        phase
    }

    /// What went wrong in it.
    pub fn anomalies(&self) -> Vec<GcAnomaly> {
        let is_held_back = self.cause.is_some_and(|cause| cause.starts_with("GCLocker"));
        let seen = [
            self.anomaly,
            (self.name == "Pause Degenerated GC").then_some(GcAnomaly::Degenerated),
            self.is_aborted.then_some(GcAnomaly::Aborted),
            is_held_back.then_some(GcAnomaly::CriticalSection),
        ];
        seen.into_iter().flatten().collect()
    }
}

/// The event of a line that begins like one of these; `None` when it is another or breaks off.
pub(in crate::dialect) fn read(text: &str) -> Option<Timed<'_>> {
    let (generation, text) = match text.as_bytes() {
        [b'Y' | b'y', b':', b' ', ..] => (Some(GcScope::Young), &text[3..]),
        [b'O', b':', b' ', ..] => (Some(GcScope::Old), &text[3..]),
        _ => (None, text),
    };
    let text = text.trim_ascii_start();
    let name_ends = text.bytes().position(|b| b == b'(' || b.is_ascii_digit()).unwrap_or(text.len());
    let (name, rest) = text.split_at(name_ends);
    let (name, is_aborted) = match name.trim_ascii_end().strip_suffix(" Aborted") {
        Some(name) => (name, true),
        None => (name.trim_ascii_end(), false),
    };
    let (kind, scope) = known(name)?;
    let mut timed = Timed {
        kind,
        name,
        kinds: [None; 2],
        generation,
        scope: generation.or(scope),
        cause: None,
        thread: None,
        anomaly: None,
        sizes: None,
        duration: None,
        is_aborted: is_aborted || name == "Concurrent Mark Abort",
        has_ended: is_aborted || name == "Concurrent Mark Abort",
    };
    let mut scan = Scan(rest);
    if kind == GcRecordKind::Stall {
        timed.thread = Some(thread(&mut scan)?);
    } else {
        take_groups(&mut timed, &mut scan);
        if name == "Pause Initial Mark" && timed.cause.is_some() {
            timed.scope = Some(GcScope::Young); // G1 of JDK 9 and 10: a young collection that begins a cycle
        }
    }
    take_end(&mut timed, &mut scan)?;
    Some(timed)
}

/// `(Thread-0) `: a thread's name may hold parentheses, but no length follows them.
fn thread<'a>(scan: &mut Scan<'a>) -> Option<&'a str> {
    scan.literal("(")?;
    let (thread, rest) = scan.0.rsplit_once(") ")?;
    scan.0 = rest;
    Some(thread)
}

fn take_groups<'a>(timed: &mut Timed<'a>, scan: &mut Scan<'a>) {
    while let Some(group) = scan.group() {
        scan.blanks();
        match group {
            "Mixed" => timed.scope = Some(GcScope::Mixed),
            "Young" => timed.scope = Some(GcScope::Young),
            "Old" => timed.scope = Some(GcScope::Old),
            "Global" => timed.scope = Some(GcScope::Whole),
            _ => {}
        }
        match group {
            "Normal" | "Mixed" | "Concurrent Start" | "Prepare Mixed" | "Initial Mark" | "Young" | "Old"
            | "Global" | "Major" | "Minor" | "Promote All" | "Collect Roots" | "Outside of Cycle"
            | "Roots" | "Mark" | "Evacuation" | "Update Refs" | "Update References" | "Bootstrap" => {
                if let Some(free) = timed.kinds.iter_mut().find(|kind| kind.is_none()) {
                    *free = Some(group);
                }
            }
            // Options of Shenandoah's cycle; they change what is done, not what it is called.
            "process weakrefs" | "unload classes" => {}
            failure if failure.starts_with("Evacuation Failure") => {
                timed.anomaly = Some(GcAnomaly::EvacuationFailure);
            }
            // `Concurrent Mark (31.2s, 32.1s)`: its beginning and end.
            times if times.starts_with(|c: char| c.is_ascii_digit()) => {}
            cause => timed.cause = Some(cause),
        }
    }
}

/// Sizes and length; `None` when something else follows, or a part of one.
fn take_end(timed: &mut Timed<'_>, scan: &mut Scan<'_>) -> Option<()> {
    scan.blanks();
    if scan.0 == "Aborted" {
        (timed.is_aborted, timed.has_ended) = (true, true);
        return Some(());
    }
    let mut with_given = *scan;
    if timed.name == "Concurrent uncommit" && given_back(&mut with_given).is_some() {
        *scan = with_given;
    }
    let mut with_sizes = *scan;
    let is_of_native_image = matches!(timed.name, "Pause Incremental GC" | "Pause Full GC");
    let found = if is_of_native_image { decimal_sizes(&mut with_sizes) } else { sizes(&mut with_sizes) };
    if let Some(sizes) = found {
        timed.sizes = Some(sizes);
        timed.has_ended = true;
        *scan = with_sizes;
        scan.blanks();
    }
    if !scan.0.is_empty() {
        timed.duration = Some(scan.duration()?);
        timed.has_ended = true;
    }
    scan.end()?;
    // Only cycles of Z without generations end without saying how long they took.
    let is_torn = timed.sizes.is_some()
        && timed.duration.is_none()
        && (timed.kind != GcRecordKind::Cycle || timed.sizes.is_some_and(|s| s.capacity_bytes.is_some()));
    (!is_torn && (timed.kind != GcRecordKind::Stall || timed.has_ended)).then_some(())
}

/// Bytes given back to the kernel, and bytes still committed: `1024K (46080K)` (Shenandoah of JDK 27). Neither is the use of the heap.
fn given_back(scan: &mut Scan<'_>) -> Option<()> {
    scan.size()?;
    scan.blanks();
    scan.group()?;
    scan.blanks();
    Some(())
}

/// `5.00M->2.00M`
fn decimal_sizes(scan: &mut Scan<'_>) -> Option<LineSizes> {
    let (before_bytes, resolution_bytes) = scan.decimal_size()?;
    scan.literal("->")?;
    let (after_bytes, _) = scan.decimal_size()?;
    Some(LineSizes { before_bytes, after_bytes, capacity_bytes: None, resolution_bytes })
}

/// `23M->1M(64M)`; Z writes `26M(10%)->28M(11%)`.
fn sizes(scan: &mut Scan<'_>) -> Option<LineSizes> {
    let (before_bytes, resolution_bytes) = scan.size_with_step()?;
    let is_z = scan.literal("->").is_none();
    if is_z {
        percentage(scan)?;
        scan.literal("->")?;
    }
    let after_bytes = scan.size()?;
    let capacity_bytes = if is_z {
        percentage(scan)?;
        None
    } else {
        scan.literal("(")?;
        let capacity_bytes = scan.size()?;
        scan.literal(")")?;
        Some(capacity_bytes)
    };
    Some(LineSizes { before_bytes, after_bytes, capacity_bytes, resolution_bytes })
}

fn percentage(scan: &mut Scan<'_>) -> Option<()> {
    scan.literal("(")?;
    scan.number()?;
    scan.literal("%)")
}

/// Kind and scope of what is called so. Names are those of JDK 9 to 25.
fn known(name: &str) -> Option<(GcRecordKind, Option<GcScope>)> {
    use GcRecordKind::{Concurrent, Cycle, Pause, Stall};
    use GcScope::{Full, Mixed, Old, Whole, Young};
    let (kind, scope) = match name {
        "Pause Young" => (Pause, Some(Young)),
        "Pause Mixed" => (Pause, Some(Mixed)),
        // GraalVM's native images
        "Pause Incremental GC" => (Pause, Some(Young)),
        "Pause Full GC" => (Pause, Some(Full)),
        "Pause Full" => (Pause, Some(Full)),
        "Pause Remark" | "Pause Cleanup" | "Pause Initial Mark" => (Pause, Some(Old)),
        // Z; the generations are recognized by the text before.
        "Pause Mark Start" | "Pause Mark End" | "Pause Relocate Start" => (Pause, Some(Whole)),
        // Shenandoah
        "Pause Init Mark"
        | "Pause Final Mark"
        | "Pause Init Update Refs"
        | "Pause Final Update Refs"
        | "Pause Final Roots"
        | "Pause Final Evac"
        | "Pause Degenerated GC"
        | "Pause Init Traversal"
        | "Pause Final Traversal" => (Pause, Some(Whole)),
        // Z with generations, and without them
        "Minor Collection" | "Young Generation" => (Cycle, Some(Young)),
        "Old Generation" => (Cycle, Some(Old)),
        "Major Collection" | "Garbage Collection" => (Cycle, Some(Whole)),
        // Shenandoah since JDK 28: a whole cycle, the generation in parentheses.
        "Concurrent GC" => (Cycle, Some(Whole)),
        "Concurrent Mark Cycle" | "Concurrent Undo Cycle" | "Concurrent Cycle" => (Cycle, Some(Old)),
        "Allocation Stall" | "Relocation Stall" | "JNI Critical Stall" => (Stall, None),
        "Coalescing and filling old regions" | "Coalescing and filling" => (Concurrent, Some(Old)),
        _ => (concurrent(name.strip_prefix("Concurrent ")?).then_some(Concurrent)?, None),
    };
    Some((kind, scope))
}

fn concurrent(name: &str) -> bool {
    let is_g1_or_cms = matches!(
        name,
        "Mark"
            | "Mark From Roots"
            | "Mark Abort"
            | "Mark Reset For Overflow"
            | "Scan Root Regions"
            | "Preclean"
            | "Abortable Preclean"
            | "Sweep"
            | "Reset"
            | "Create Live Data"
            | "Complete Cleanup"
            | "Cleanup"
            | "Cleanup for Next Mark"
            | "Clear Claimed Marks"
            | "Rebuild Remembered Sets"
            | "Rebuild Remembered Sets and Scrub Regions"
    );
    let is_z = || {
        matches!(
            name,
            "Mark Continue"
                | "Mark Free"
                | "Process Non-Strong"
                | "Process Non-Strong References"
                | "Reset Relocation Set"
                | "Destroy Detached Pages"
                | "Select Relocation Set"
                | "Prepare Relocation Set"
                | "Relocate"
                | "Remap Roots"
        )
    };
    let is_shenandoah = || {
        matches!(
            name,
            "reset"
                | "reset after collect"
                | "remembered set scanning"
                | "marking roots"
                | "marking"
                | "precleaning"
                | "thread roots"
                | "weak references"
                | "weak roots"
                | "cleanup"
                | "class unloading"
                | "strong roots"
                | "evacuation"
                | "Init Update Refs"
                | "update references"
                | "update thread roots"
                | "Final Roots"
                | "update cards"
                | "uncommit"
                | "traversal"
                | "partial"
        )
    };
    is_g1_or_cms || is_z() || is_shenandoah()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn timed(text: &str) -> Timed<'_> {
        read(text).unwrap_or_else(|| panic!("not read: {text}"))
    }

    #[test]
    fn shenandoah_of_jdk_27_says_what_it_gave_back() {
        let given = timed("Concurrent uncommit 1024K (46080K) 0.163ms");
        assert_eq!((given.name, given.duration), ("Concurrent uncommit", Some((163_000, 1_000))));
        assert!(given.sizes.is_none() && given.has_ended);
        assert!(read("Concurrent uncommit 1024K 0.163ms").is_none(), "half of it");
        let cards = timed("Concurrent update cards 0.010ms");
        assert_eq!((cards.kind, cards.duration), (GcRecordKind::Concurrent, Some((10_000, 1_000))));
    }

    #[test]
    fn a_pause_gives_name_cause_sizes_and_length() {
        let pause = timed(
            "Pause Young (Mixed) (G1 Evacuation Pause) (Evacuation Failure: Pinned) 23M->1M(64M) 1.987ms",
        );
        assert_eq!((pause.phase().as_str(), pause.scope), ("Pause Young (Mixed)", Some(GcScope::Mixed)));
        assert_eq!(
            (pause.cause, pause.anomaly),
            (Some("G1 Evacuation Pause"), Some(GcAnomaly::EvacuationFailure))
        );
        let sizes = pause.sizes.unwrap();
        assert_eq!(
            (sizes.before_bytes, sizes.after_bytes, sizes.capacity_bytes),
            (23 * MIB, MIB, Some(64 * MIB))
        );
        assert_eq!(pause.duration, Some((1_987_000, 1_000)));
        let full = timed("Pause Full (System.gc()) 4M->2M(26M) 130.148ms");
        assert_eq!((full.phase().as_str(), full.cause), ("Pause Full", Some("System.gc()")));
        assert_eq!(
            timed("Pause Init Mark (process weakrefs) (unload classes) 1.692ms").phase(),
            "Pause Init Mark"
        );
        assert_eq!(
            timed("Pause Degenerated GC (Young) (Mark) 9M->8M(9M) 1.692ms").phase(),
            "Pause Degenerated GC (Young) (Mark)"
        );
    }

    #[test]
    fn cycles_and_phases_of_z_know_their_generation() {
        let minor = timed("Minor Collection (Allocation Rate) 26M(10%)->28M(11%) 0.099s");
        assert_eq!((minor.kind, minor.scope), (GcRecordKind::Cycle, Some(GcScope::Young)));
        assert_eq!((minor.duration, minor.cause), (Some((99_000_000, 1_000_000)), Some("Allocation Rate")));
        assert_eq!(minor.sizes.unwrap().capacity_bytes, None);
        assert_eq!(timed("O: Pause Mark End 0.012ms").phase(), "Pause Mark End (Old)");
        assert_eq!(timed("Y: Pause Mark Start (Major) 0.012ms").phase(), "Pause Mark Start (Major)");
        assert!(timed("Garbage Collection (Allocation Stall) Aborted").is_aborted);
        assert!(timed("Garbage Collection (Warmup) 26M(10%)->28M(11%)").has_ended);
        assert!(!timed("Garbage Collection (Warmup)").has_ended);
    }

    #[test]
    fn shenandoah_of_jdk_28_sums_up_its_cycles() {
        let cycle = timed("Concurrent GC 91M->11M(128M) 12.345ms");
        assert_eq!(
            (cycle.kind, cycle.scope, cycle.duration),
            (GcRecordKind::Cycle, Some(GcScope::Whole), Some((12_345_000, 1_000)))
        );
        assert_eq!(cycle.sizes.unwrap().after_bytes, 11 * MIB);
        let young = timed("Concurrent GC (Young) 91M->11M(128M) 12.345ms");
        assert_eq!((young.phase().as_str(), young.scope), ("Concurrent GC (Young)", Some(GcScope::Young)));
        assert!(!timed("Concurrent GC").has_ended);
    }

    #[test]
    fn a_stall_names_its_thread() {
        let stall = timed("Allocation Stall (pool (1) thread-2) 12.345ms");
        assert_eq!((stall.phase().as_str(), stall.thread), ("Allocation Stall", Some("pool (1) thread-2")));
        assert_eq!(stall.duration, Some((12_345_000, 1_000)));
        assert_eq!(read("Allocation Stall (main)"), None);
    }

    #[test]
    fn what_breaks_off_or_is_unknown_is_not_read() {
        for torn in [
            "Pause Yo",
            "Pause Young (Nor",
            "Pause Young (Normal) (G1 Evacuation Pause) 2",
            "Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M)",
            "Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 1.9",
            "Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 99999999999999999999.9ms",
            "Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 1.9ms[0.2s][info][gc] GC(3) x",
            "Pause Reticulate 1.2ms",
            "Concurrent Reticulation 1.2ms",
            "Minor Collection (Allocation Rate) 26M(10%)->28M(11%) 0.0",
        ] {
            assert_eq!(read(torn), None, "{torn}");
        }
    }
}
