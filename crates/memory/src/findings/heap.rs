//! Heap pages without objects.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, flag, is_on, is_under, percent, sum, under};
use assay_model::{JvmMemoryFacts, MemoryReport, RuleId, Severity, Threshold};

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
        ZGC, set `-XX:ZUncommitDelay`. The finding names the options of the collector at hand.",
    alternatives: &["Set them while the JVM runs (`jcmd PID VM.set_flag`).", "Set a smaller `-Xmx`."],
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
        is_at_least: dead.is_none() || matters(report, unsure),
        ..ways.of(finding(&HEAP_FREE_BUT_RESIDENT, claim, evidence, ways.step.clone(), Some(gain))
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
    step: String,
    alternatives: Vec<String>,
}

impl Ways {
    fn one(step: &str) -> Ways {
        Ways { step: step.to_owned(), alternatives: Vec::new() }
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

fn give_back(jvm: &JvmMemoryFacts, pid: u32) -> Option<Ways> {
    let smaller = "Set a smaller -Xmx".to_owned();
    // `jcmd PID VM.set_flag` changes what the JVM calls manageable while it runs.
    Some(match jvm.collector.as_deref()? {
        "G1" if 12 <= jvm.feature? && flag(jvm, "G1PeriodicGCInterval").unwrap_or(0) == 0 => Ways {
            step: "Set -XX:G1PeriodicGCInterval=60000 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30"
                .to_owned(),
            alternatives: vec![
                format!("Set it while the JVM runs: jcmd {pid} VM.set_flag G1PeriodicGCInterval 60000"),
                smaller,
            ],
        },
        "Z" if is_on(jvm, "ZUncommit") == Some(false) => Ways::one("Set -XX:+ZUncommit"),
        "Z" => Ways {
            step: "Set -XX:ZUncommitDelay=60 (seconds)".to_owned(),
            alternatives: vec!["Set -XX:SoftMaxHeapSize below -Xmx".to_owned()],
        },
        "Shenandoah" if is_on(jvm, "ShenandoahUncommit") == Some(false) => {
            Ways::one("Set -XX:+ShenandoahUncommit")
        }
        "Shenandoah" => Ways::one("Set -XX:+UnlockExperimentalVMOptions -XX:ShenandoahUncommitDelay=60000"),
        "Epsilon" => return None,
        _ => Ways {
            step: "Set -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30".to_owned(),
            alternatives: vec![
                format!(
                    "Set them while the JVM runs: jcmd {pid} VM.set_flag MinHeapFreeRatio 10 && jcmd {pid} VM.set_flag \
                     MaxHeapFreeRatio 30 && jcmd {pid} GC.run"
                ),
                smaller,
            ],
        },
    })
}

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
