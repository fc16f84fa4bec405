//! Heap pages without objects.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, flag, is_on, is_under, percent, sum, under};
use assay_model::{Change, JvmMemoryFacts, MemoryReport, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&HEAP_FREE_BUT_RESIDENT, &HEAP_SIZE_FIXED];

/// Below this share of the heap's resident bytes, room to allocate into is what a heap needs.
const FREE: Threshold = Threshold::percent("free", 10.0);
/// With `MaxHeapFreeRatio=30` this much of what is used may stay free: 3 / 7.
const KEPT_FREE: (u64, u64) = (3, 7);

/// Committed heap that holds nothing and is resident all the same. The free end of the young generation is not counted:
/// the next objects go there.
fn free_bytes(report: &MemoryReport) -> u64 {
    sum(report, is_free)
}

fn is_free(path: &[String]) -> bool {
    is_under(path, &["Java heap", "free but resident"])
        || is_under(path, &["Java heap", "old", "unused above top"])
}

static HEAP_FREE_BUT_RESIDENT: Rule = Rule {
    id: RuleId::of("heap-free-but-resident"),
    severity: Severity::Warning,
    thresholds: &[FREE],
    evidence: "Committed heap without objects, and garbage if a mark counted it (`--live`), as a share of the \
        heap's resident bytes (from {free} on). Also the bytes that a collection could return.",
    cause: "The heap grew for a peak, and the collector keeps it: it shrinks only at collections, down to `MaxHeapFreeRatio`.",
    fix: "With G1, set `-XX:G1PeriodicGCInterval=60000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30`. With \
        Serial, set these two ratios and `-XX:-ShrinkHeapInSteps`. With ZGC, set `-XX:ZUncommitDelay`. The finding names the options of the collector at hand.",
    alternatives: &[
        "With G1, set the interval while the JVM runs (`jcmd PID VM.set_flag`).",
        "With Serial, collect the whole heap four times (`jcmd PID GC.run`).",
        "Set a smaller `-Xmx`.",
    ],
    judge: Judge::of_bounded(free_but_resident).about(is_free),
};

/// Free heap that the collector could give back, and garbage where a mark counted it.
fn free_but_resident(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref()?;
    let live = jvm.heap_live.as_ref().filter(|live| !live.is_partial);
    let dead = live.map(|live| live.dead_bytes);
    let resident = under(report, &["Java heap"]);
    // The heap changed between the mark and the count of its pages: what is alive is not given back.
    let most = resident.saturating_sub(live.map_or(0, |live| live.live_bytes));
    let free = free_bytes(report).saturating_add(dead.unwrap_or(0)).min(most);
    if free < FREE.share_of(resident) || !matters(report, free) || is_fixed(jvm) {
        return None;
    }
    let (used, committed) = (jvm.heap_used_bytes?, jvm.heap_committed_bytes?);
    let left = used.saturating_sub(dead.unwrap_or(0));
    let gives_all = matches!(jvm.collector.as_deref(), Some("Z" | "Shenandoah"));
    let kept = if gives_all {
        0
    } else {
        (u128::from(left) * u128::from(KEPT_FREE.0) / u128::from(KEPT_FREE.1)) as u64
    };
    let smallest = left.saturating_add(kept).max(flag(jvm, "MinHeapSize").unwrap_or(0));
    let gain = free.min(committed.saturating_sub(smallest));
    let ways = give_back(jvm, report.pid)?;
    let promised = Some(gain).filter(|_| ways.is_sure);
    let unsure = live.map_or(0, |live| live.unsure_bytes);
    let (what, mut evidence) = match dead {
        Some(dead) => (
            "no live objects",
            format!(
                "free but resident, or garbage: {}, {} of the heap's resident bytes; used {}, including {} of \
                    garbage by a mark from all roots{}, committed {}, the collector could return {}",
                bytes(free),
                percent(free, resident),
                bytes(used),
                bytes(dead),
                ran_on(report),
                bytes(committed),
                bytes(gain)
            ),
        ),
        None => (
            "no objects",
            format!(
                "free but resident: {}, {} of the heap's resident bytes; used {}, committed {}, the collector \
                    could return at least {}. Garbage counts as used and comes on top: {}",
                bytes(free),
                percent(free, resident),
                bytes(used),
                bytes(committed),
                bytes(gain),
                garbage_unknown(jvm)
            ),
        ),
    };
    if matters(report, unsure) {
        evidence += &format!(
            "; {} more may be garbage: only words that look like references lead to it, on stacks and in native memory",
            bytes(unsure)
        );
    }
    let claim = format!("{} of the Java heap holds {what} and stays resident", bytes(free));
    matters(report, gain).then(|| Found {
        // Without a mark used counts dead objects too: memory freed by the collection comes on top.
        is_at_least: promised.is_some() && (dead.is_none() || matters(report, unsure)),
        ..ways
            .of(finding(&HEAP_FREE_BUT_RESIDENT, claim, evidence, ways.step.clone(), promised)
                .of_resident(free))
    })
}

/// What the mark of a heap in use cannot know.
fn ran_on(report: &MemoryReport) -> &'static str {
    let heap_was_copied = report.copy.as_ref().is_some_and(|copy| copy.heap_read_later_bytes == 0);
    if heap_was_copied {
        return "";
    }
    " (less if a table grew while the program ran on: `--freeze` tells)"
}

/// Why it is not known how much of the heap is garbage.
fn garbage_unknown(jvm: &JvmMemoryFacts) -> &'static str {
    match jvm.collector.as_deref() {
        Some("G1" | "Serial" | "Parallel") => "how much is unknown until live objects are marked (`--live`)",
        _ => "how much is unknown, as live objects cannot be marked from outside with this collector",
    }
}

/// What makes a collector give free heap back.
struct Ways {
    step: Change,
    alternatives: Vec<String>,
    /// Whether the step surely makes it.
    is_sure: bool,
}

impl Ways {
    fn set(jvm_options: &[&str], rest: &str) -> Ways {
        let step = Change::to_set(jvm_options, &[], rest);
        Ways { step, alternatives: Vec::new(), is_sure: true }
    }

    fn or(self, alternatives: impl IntoIterator<Item = String>) -> Ways {
        Ways { alternatives: alternatives.into_iter().collect(), ..self }
    }

    fn of(&self, found: Found) -> Found {
        self.alternatives.iter().fold(found, Found::or)
    }
}

/// A heap that cannot become smaller.
fn is_fixed(jvm: &JvmMemoryFacts) -> bool {
    let max = jvm.heap_bytes_max;
    let min = flag(jvm, "MinHeapSize").filter(|bytes| *bytes != 0).or_else(|| flag(jvm, "InitialHeapSize"));
    max.is_some() && min == max
}

/// Small limits of free heap, for collectors that know them.
const MIN_FREE: &str = "-XX:MinHeapFreeRatio=10";
const MAX_FREE: &str = "-XX:MaxHeapFreeRatio=30";

fn give_back(jvm: &JvmMemoryFacts, pid: u32) -> Option<Ways> {
    let smaller = "Set a smaller -Xmx".to_owned();
    // `jcmd PID VM.set_flag` changes what the JVM calls manageable while it runs.
    Some(match jvm.collector.as_deref()? {
        "G1" if 12 <= jvm.feature? && flag(jvm, "G1PeriodicGCInterval").unwrap_or(0) == 0 => {
            let meanwhile =
                format!("Set it while the JVM runs: jcmd {pid} VM.set_flag G1PeriodicGCInterval 60000");
            Ways::set(&["-XX:G1PeriodicGCInterval=60000", MIN_FREE, MAX_FREE], "").or([meanwhile, smaller])
        }
        "Z" if is_on(jvm, "ZUncommit") == Some(false) => Ways::set(&["-XX:+ZUncommit"], ""),
        "Z" => Ways::set(&["-XX:ZUncommitDelay=60"], " (seconds)")
            .or(["Set -XX:SoftMaxHeapSize below -Xmx".to_owned()]),
        "Shenandoah" if is_on(jvm, "ShenandoahUncommit") == Some(false) => {
            Ways::set(&["-XX:+ShenandoahUncommit"], "")
        }
        "Shenandoah" => {
            Ways::set(&["-XX:+UnlockExperimentalVMOptions", "-XX:ShenandoahUncommitDelay=60000"], "")
        }
        "Epsilon" => return None,
        "Parallel" => by_parallel(jvm).or([smaller]),
        _ => {
            let meanwhile =
                format!("Collect the whole heap four times while the JVM runs: jcmd {pid} GC.run");
            by_ratios(jvm).or([meanwhile, smaller])
        }
    })
}

/// Serial shrinks by 0, 10, 40 and 100 % of what is too much, at one collection of the whole heap after the other, unless told otherwise
/// (`ShrinkHeapInSteps`, from JDK 9 on). Held by: `ratios_of_a_heap_bring_what_was_promised`, where two collections brought 19 %.
fn by_ratios(jvm: &JvmMemoryFacts) -> Ways {
    match is_on(jvm, "ShrinkHeapInSteps") {
        Some(true) => Ways::set(
            &[MIN_FREE, MAX_FREE, "-XX:-ShrinkHeapInSteps"],
            ", which one collection of the whole heap then obeys",
        ),
        Some(false) => Ways::set(&[MIN_FREE, MAX_FREE], ""),
        None => Ways::set(&[MIN_FREE, MAX_FREE], ", which four collections of the whole heap then obey"),
    }
}

/// Parallel sizes its heap anew at collections that are requested only with an option, and otherwise by goals of its own. Held by:
/// `ratios_of_a_heap_bring_what_was_promised`, where ratios alone brought 2 %.
fn by_parallel(jvm: &JvmMemoryFacts) -> Ways {
    let rest = ", which requested collections of the whole heap (System.gc()) then obey";
    match is_on(jvm, ADAPTS_AT_REQUEST) {
        Some(false) => Ways::set(&[MIN_FREE, MAX_FREE, &format!("-XX:+{ADAPTS_AT_REQUEST}")], rest),
        Some(true) => Ways::set(&[MIN_FREE, MAX_FREE], rest),
        None => Ways { is_sure: false, ..Ways::set(&[MIN_FREE, MAX_FREE], "") },
    }
}

const ADAPTS_AT_REQUEST: &str = "UseAdaptiveSizePolicyWithSystemGC";

static HEAP_SIZE_FIXED: Rule = Rule {
    id: RuleId::of("heap-size-fixed"),
    severity: Severity::Warning,
    thresholds: &[FREE],
    evidence: "Free but resident heap, from {free} of its resident bytes on, of a heap whose smallest and largest size are equal.",
    cause: "`-Xms` equals `-Xmx`, so the heap never shrinks. With `-XX:+AlwaysPreTouch` all of it is resident \
        from the start.",
    fix: "Set `-Xms` below `-Xmx` and leave `-XX:+AlwaysPreTouch` out.",
    alternatives: &["Make both smaller."],
    judge: Judge::of_bounded(pre_touched).about(is_free),
};

/// Free heap that cannot be given back because the heap's size is fixed.
fn pre_touched(report: &MemoryReport) -> Option<Found> {
    let jvm = report.jvm.as_ref().filter(|jvm| is_fixed(jvm))?;
    let free = free_bytes(report);
    if free < FREE.share_of(under(report, &["Java heap"])) || !matters(report, free) {
        return None;
    }
    let (touched, step) = match is_on(jvm, "AlwaysPreTouch") {
        Some(true) => (
            ", and -XX:+AlwaysPreTouch made all of it resident at the start",
            "Set -Xms below -Xmx and leave -XX:+AlwaysPreTouch out",
        ),
        _ => ("", "Set -Xms below -Xmx"),
    };
    let max = jvm.heap_bytes_max?;
    let found = finding(
        &HEAP_SIZE_FIXED,
        format!(
            "{} of the Java heap is free, and cannot be given back: the heap may not shrink",
            bytes(free)
        ),
        format!(
            "smallest and largest heap are both {}{touched}; free but resident: {}",
            bytes(max),
            bytes(free)
        ),
        step.to_owned(),
        Some(free),
    );
    Some(found.or("Make both smaller: a fixed heap that is as large as needed"))
}
