//! The elements that J9 writes, by its schema and by what it really writes; in order, to be found quickly.

/// Of the schema since R26.
const NAMES: [&str; 116] = [
    "af-end",
    "af-start",
    "allocated-bytes",
    "allocation-satisfied",
    "allocation-stats",
    "allocation-taxation",
    "allocation-unsatisfied",
    "arraylet-primitive",
    "arraylet-reference",
    "arraylet-unknown",
    "attribute",
    "card-cleaning",
    "cardclean-info",
    "classunload-info",
    "compact-info",
    "concurrent-aborted",
    "concurrent-collection-end",
    "concurrent-collection-start",
    "concurrent-end",
    "concurrent-global-end",
    "concurrent-global-final",
    "concurrent-halted",
    "concurrent-kickoff",
    "concurrent-mark-end",
    "concurrent-mark-start",
    "concurrent-remembered-set-scan",
    "concurrent-satb",
    "concurrent-satb-start",
    "concurrent-scavenge-end",
    "concurrent-scavenge-start",
    "concurrent-start",
    "concurrent-sweep-end",
    "concurrent-sweep-start",
    "concurrent-trace-info",
    "constant-pool-class-loaders",
    "contiguous-region",
    "continuation-objects",
    "continuations",
    "contraction",
    "copy-failed",
    "cycle-continue",
    "cycle-end",
    "cycle-start",
    "details",
    "exclusive-end",
    "exclusive-start",
    "exclusiveaccess-info",
    "expansion",
    "finalization",
    "free-mem",
    "free-mem-delta",
    "gc-end",
    "gc-op",
    "gc-start",
    "halted",
    "heap-resize",
    "heap-summary",
    "increment",
    "initialized",
    "kickoff",
    "largest-consumer",
    "math",
    "mem",
    "mem-info",
    "memory-cardclean",
    "memory-copied",
    "memory-traced",
    "no-collection",
    "non-deterministic-sweep",
    "non-monotonic-time",
    "nondeterministic-sweep",
    "numa",
    "object-monitors",
    "object-overflow",
    "offheap",
    "offheap-objects",
    "out-of-memory",
    "ownableSynchronizers",
    "pending-finalizers",
    "percolate-collect",
    "phase",
    "quanta",
    "quantum",
    "reference-chain",
    "references",
    "region",
    "regions",
    "remembered-set",
    "remembered-set-cleared",
    "response-info",
    "restored",
    "scan",
    "scavenger-info",
    "size",
    "spinlock",
    "stall",
    "start",
    "stats",
    "stringconstants",
    "syncgc-info",
    "sys-end",
    "sys-start",
    "system",
    "thread-priority",
    "threads",
    "time",
    "trace-info",
    "traced",
    "trigger-end",
    "trigger-start",
    "utilization-tracker-overflow",
    "verbosegc",
    "vmarg",
    "vmargs",
    "warning",
    "work-packet-overflow",
];

/// Of the schema before R26, where they are others.
const OLD_NAMES: [&str; 47] = [
    "af",
    "cards",
    "classloadersunloaded",
    "classunloading",
    "collection",
    "compaction",
    "con",
    "conc",
    "cycle",
    "duration",
    "event",
    "exclusiveaccess",
    "failed",
    "fixup",
    "flipped",
    "gc",
    "gcthreadpriority",
    "heap",
    "loa",
    "memory",
    "metronome",
    "minimum",
    "nondeterministicsweep",
    "nontlh",
    "nursery",
    "objects",
    "packets",
    "percolating_collect",
    "phantom",
    "refs",
    "refs_cleared",
    "rememberedset",
    "scavenger",
    "soa",
    "soft",
    "summary",
    "synchronousgcpriority",
    "sys",
    "tenured",
    "time_ms",
    "timems",
    "timesms",
    "tlh",
    "unload",
    "utthread",
    "weak",
    "workpackets",
];

/// Where names of each first byte begin; they end where those of the next do.
const BEGINS: [u8; 257] = begins(&NAMES);
const OLD_BEGINS: [u8; 257] = begins(&OLD_NAMES);

const fn begins(names: &[&str]) -> [u8; 257] {
    let mut begins = [0; 257];
    let mut first = 0;
    let mut at = 0_u8;
    while first < 256 {
        while (at as usize) < names.len() && names[at as usize].as_bytes()[0] as usize <= first {
            at += 1;
        }
        first += 1;
        begins[first] = at;
    }
    begins
}

/// Whether J9 writes elements of this name.
///
/// Asked of every tag: by first byte there are a few names, of which next to none is as long.
pub(super) fn is_known(name: &str) -> bool {
    let Some(first) = name.bytes().next().map(usize::from) else { return false };
    let is_in = |names: &[&str], begins: &[u8; 257]| {
        names[usize::from(begins[first])..usize::from(begins[first + 1])].contains(&name)
    };
    is_in(&NAMES, &BEGINS) || is_in(&OLD_NAMES, &OLD_BEGINS)
}

/// Whether the name shows that a collector wrote it: words such as `event` and `system` stand in files of all kinds.
pub(super) fn is_of_collector(name: &str) -> bool {
    const OF_COLLECTOR: [&str; 8] =
        ["af", "con", "gc", "metronome", "nursery", "sys", "tenured", "verbosegc"];
    const OF_OTHERS: [&str; 2] = ["thread-priority", "response-info"];
    is_known(name) && (OF_COLLECTOR.contains(&name) || name.contains('-') && !OF_OTHERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(NAMES.is_sorted() && OLD_NAMES.is_sorted());
    }

    #[test]
    fn every_name_is_known_and_no_other() {
        assert!(NAMES.iter().chain(&OLD_NAMES).all(|name| is_known(name)));
        for other in ["", "a", "af-", "zz", "\u{ff}", "Mem", "verbosegc2"] {
            assert!(!is_known(other), "{other}");
        }
    }
}
