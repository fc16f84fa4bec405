//! What malloc keeps after it was freed.

use super::rule::{Found, Judge, Rule, finding, matters};
use super::words::{bytes, ending, ends, flag, is_on, percent, total};
use assay_model::{
    Allocator, Area, ArenaFacts, Change, JvmMemoryFacts, MemoryReport, RuleId, Severity, Threshold,
};

pub(super) static RULES: &[&Rule] = &[&RETAINED_BY_MALLOC, &MALLOC_ARENAS, &ARENA_TOPS];

/// Threads get arenas in turn, up to eight per processor. Two hold most programs' threads apart well enough.
const ARENAS: Threshold = Threshold::count("arenas", 2);
/// An arena that keeps less has handed nearly all of itself out.
const KEPT: Threshold = Threshold::bytes("kept", 64 << 10);
/// glibc's own limit on a free end before it gives back, unless freed large blocks have raised it.
const TOP: Threshold = Threshold::bytes("top", 128 << 10);
/// Above this share of RSS a different allocator is worth trying: jemalloc and tcmalloc give back by themselves.
const OTHER_ALLOCATOR: Threshold = Threshold::percent("other_allocator", 10.0);

static RETAINED_BY_MALLOC: Rule = Rule {
    id: RuleId::of("retained-by-malloc"),
    severity: Severity::Warning,
    thresholds: &[OTHER_ALLOCATOR],
    evidence: "Whole free pages inside malloc's bins, in bytes and as a share of RSS.",
    cause: "The program freed the memory, and malloc keeps it for the next request instead of returning it to the kernel.",
    fix: "Trim it now, where the JVM can (updates of 11 and 17, and from 18 on): `assay memory PID --trim`.",
    alternatives: &[
        "Trim it now on any JDK, by a call in its main thread (x86-64): `assay memory PID --trim --in-thread --yes`.",
        "Trim it for good: `-XX:TrimNativeHeapInterval=30000` (17.0.9, and from 21 on).",
        "Trim it for good on any JDK: `LD_PRELOAD=/usr/lib/assay/libassay_trim.so`.",
        "Use an allocator that gives back by itself, such as jemalloc, where it is {other_allocator} of RSS or more.",
    ],
    judge: Judge::of(trim).about(is_freed),
};

fn is_freed(path: &[String]) -> bool {
    Area::of_path(path) == Some(Area::FreedResident)
}

/// Freed memory that a trim would give back now.
fn trim(report: &MemoryReport) -> Option<Found> {
    let allocator = report.allocator.as_ref()?;
    let gain = allocator.trim_gain_bytes.filter(|gain| matters(report, *gain))?;
    let arenas = match allocator.arenas.len() {
        0 | 1 => String::new(),
        number => format!(", spread over {number} arenas"),
    };
    let is_glibc_s = allocator.name == Allocator::Glibc;
    let is_other_worthwhile = OTHER_ALLOCATOR.share_of(report.bytes_of_memory()) <= gain;
    let can_trim = report.jvm.as_ref().is_some_and(can_trim);
    let in_thread = format!(
        "Trim it now by a call in its main thread: assay memory {} --trim --in-thread --yes",
        report.pid
    );
    // The JVM's command and its option call glibc's function, which reaches no other allocator.
    let step = if !is_glibc_s {
        in_thread.clone().into()
    } else if can_trim {
        format!("Trim it now: assay memory {} --trim", report.pid).into()
    } else {
        other_allocator()
    };
    let mut found = finding(
        &RETAINED_BY_MALLOC,
        format!("{} was freed by the program, but malloc keeps it resident", bytes(gain)),
        format!(
            "whole free pages {}: {}, {} of RSS{arenas}",
            match allocator.name {
                Allocator::Glibc => "inside glibc's bins".to_owned(),
                other => format!("that {other} keeps"),
            },
            bytes(gain),
            percent(gain, report.rss_bytes)
        ),
        step,
        Some(gain),
    )
    .of_resident(gain);
    if !is_glibc_s {
        return Some(found);
    }
    if let Some(option) = report.jvm.as_ref().and_then(trim_interval) {
        found = found.or(format!("Trim it for good: {option}"));
    }
    if can_trim && is_other_worthwhile {
        found = found.or(other_allocator().command);
    }
    if !can_trim {
        found = found.or(in_thread);
    }
    if report.jvm.as_ref().is_some_and(|jvm| !has_trim(jvm)) {
        found = found.or(PRELOADED_STEP).or("Use JDK 21, which can trim by itself");
    }
    Some(found)
}

/// Where the JVM has neither command nor option.
const PRELOADED_STEP: &str =
    "Preload a library that trims on any JDK: LD_PRELOAD=/usr/lib/assay/libassay_trim.so";

fn other_allocator() -> Change {
    Change {
        command: "Use an allocator that gives back by itself: LD_PRELOAD=libjemalloc.so.2".to_owned(),
        environment: [("LD_PRELOAD".to_owned(), "libjemalloc.so.2".to_owned())].into(),
        ..Change::default()
    }
}

/// Feature release and update: 17 and 15 of `17.0.15+6`.
fn release_of(jvm: &JvmMemoryFacts) -> Option<(u32, u32)> {
    let by_version = jvm.version.as_deref().and_then(assay_jdk::release_and_update);
    by_version.or(jvm.feature.map(|feature| (feature, 0)))
}

/// Whether the JVM has `System.trim_native_heap`; of results that do not say, by the releases that surely do. Held by:
/// `a_trim_is_promised_where_the_jvm_lists_the_command`.
fn has_trim(jvm: &JvmMemoryFacts) -> bool {
    let by_release = || matches!(release_of(jvm), Some((17, 9..) | (18.., _)));
    jvm.has_trim_command.unwrap_or_else(by_release)
}

/// Whether the JVM can be asked to trim: it has the command, and listens.
pub(crate) fn can_trim(jvm: &JvmMemoryFacts) -> bool {
    has_trim(jvm) && is_on(jvm, "DisableAttachMechanism") != Some(true)
}

/// The option that makes the JVM trim by itself, where this release has it: 17.0.9, 21 and later. It is a product option
/// from 21.0.3 on and in 17.0.15; before, it has to be unlocked, which does no harm where it need not be.
fn trim_interval(jvm: &JvmMemoryFacts) -> Option<String> {
    let (feature, update) = release_of(jvm)?;
    let has_it = matches!((feature, update), (17, 9..) | (21.., _));
    let is_product = matches!((feature, update), (17, 15..) | (21, 3..) | (22.., _));
    let interval_ms = match flag(jvm, "TrimNativeHeapInterval") {
        Some(0) | None => 30_000,
        // It trims already, and that much has gathered since.
        Some(now) => (now / 2).max(1_000),
    };
    let unlock = if is_product { "" } else { "-XX:+UnlockExperimentalVMOptions " };
    has_it.then(|| format!("{unlock}-XX:TrimNativeHeapInterval={interval_ms}"))
}

static MALLOC_ARENAS: Rule = Rule {
    id: RuleId::of("malloc-arenas"),
    severity: Severity::Warning,
    thresholds: &[ARENAS, KEPT],
    evidence: "How many arenas of glibc's malloc keep freed memory, {kept} or more each, and how much of it lies beyond the {arenas} \
               largest.",
    cause: "glibc has separate arenas for threads, up to eight per processor. One arena cannot use the freed blocks of another.",
    fix: "Set `MALLOC_ARENA_MAX={arenas}` in the environment. Threads that allocate much may then wait for each other.",
    alternatives: &[],
    judge: Judge::of(arenas).about(is_freed),
};

/// Freed memory in so many arenas that each keeps its own.
fn arenas(report: &MemoryReport) -> Option<Found> {
    let allocator = report.allocator.as_ref().filter(|a| a.name == Allocator::Glibc)?;
    let mut freed: Vec<u64> = allocator.arenas.iter().filter_map(kept_by).collect();
    let kept = ARENAS.whole() as usize;
    if freed.len() <= kept {
        return None;
    }
    freed.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
    // No promise: the threads' blocks share fewer arenas then, and each of these keeps more than the largest does now. Held by
    // `fewer_arenas_keep_less_freed_memory`: 8 threads, one after the other, brought 59 % of these bytes.
    let beyond = total(&freed[kept..]);
    if !matters(report, beyond) {
        return None;
    }
    let (number, all) = (freed.len(), total(&freed));
    let found = finding(
        &MALLOC_ARENAS,
        format!("{number} arenas of malloc each keep freed memory of their own"),
        format!(
            "{} retained in {number} arenas, {} of it beyond the {ARENAS} largest. How much fewer arenas would \
                keep depends on how many threads need theirs at the same time, which one snapshot does not show",
            bytes(all),
            bytes(beyond)
        ),
        Change::to_set(
            &[],
            &[("MALLOC_ARENA_MAX", &ARENAS.to_string())],
            " (threads that allocate much may then wait for each other)",
        ),
        None,
    );
    Some(found.of_resident(beyond))
}

/// Variable of glibc's settings.
pub(super) const GLIBC_TUNABLES: &str = "GLIBC_TUNABLES";

/// A setting of glibc that keeps its limits for large blocks and for free ends where they are at the start.
pub(super) fn fixed_trim_limit() -> String {
    format!("glibc.malloc.trim_threshold={}", TOP.whole())
}

fn kept_by(arena: &ArenaFacts) -> Option<u64> {
    arena.freed_resident_bytes.filter(|freed| KEPT.whole() <= *freed)
}

static ARENA_TOPS: Rule = Rule {
    id: RuleId::of("arena-tops"),
    severity: Severity::Warning,
    thresholds: &[TOP],
    evidence: "Resident bytes at the free ends of glibc's arenas, {top} of each left out.",
    cause: "An end is given back when it exceeds a threshold, and each freed large block raises that threshold, up to 64 MiB.",
    fix: "Set `GLIBC_TUNABLES=glibc.malloc.trim_threshold=131072` in the environment.",
    alternatives: &[],
    judge: Judge::of(tops).about(|path| ends(path, Area::FreedResident, "top")),
};

/// Free ends of arenas, which a trim does not reach.
fn tops(report: &MemoryReport) -> Option<Found> {
    let allocator = report.allocator.as_ref().filter(|a| a.name == Allocator::Glibc)?;
    let tops = ending(report, Area::FreedResident, "top");
    let number = allocator.arenas.len() as u64;
    let gain = tops.saturating_sub(number.saturating_mul(TOP.whole()));
    matters(report, gain).then(|| {
        finding(
            &ARENA_TOPS,
            format!("{} is at the free ends of malloc's arenas, which a trim does not reach", bytes(tops)),
            format!(
                "resident and free at the ends of {number} arenas: {}; glibc gives an end back when it exceeds a limit \
                 that every freed large block raises, up to 64 MiB",
                bytes(tops)
            ),
            Change::to_set(
                &[],
                &[(GLIBC_TUNABLES, &fixed_trim_limit())],
                ", which also keeps the limit where it is",
            ),
            Some(gain),
        )
    })
}
