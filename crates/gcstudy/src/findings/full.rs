//! Rules on full collections, by what brought them about.

use super::rule::{
    Caused, EARLIER_CMS, EARLIER_MARKING, FELT, Found, LONG, MORE_RESERVE, MORE_THREADS, Rule, With, caused,
    collector, is_pauseless, more_room, size,
};
use assay_model::{GcReport, GcRow, GcSpace, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] = &[&EXPLICIT_GC, &METASPACE_THRESHOLD, &FULL_GC_BY_TOOLS, &FULL_GC];

/// Causes that are asked for, by HotSpot's words (before JDK 7 without `.gc()`) and J9's.
const EXPLICIT: [&str; 5] = ["System.gc()", "System", "sys explicit", "explicit", "system (explicit)"];
const FOR_METADATA: [&str; 2] = ["Metadata GC Threshold", "Metadata GC Clear Soft References"];
const FOR_TOOLS: [&str; 6] = [
    "system (rasdump)",
    "Heap Dump Initiated GC",
    "Heap Inspection Initiated GC",
    "Diagnostic Command",
    "JvmtiEnv ForceGarbageCollection",
    "WhiteBox Initiated Full GC",
];

fn of<'a>(rows: &'a [GcRow], causes: &'a [&str]) -> impl Iterator<Item = &'a GcRow> {
    rows.iter().filter(|row| causes.contains(&row.name.as_str()))
}

fn told(rows: &[&GcRow]) -> String {
    let row = |row: &&GcRow| {
        let longest = row.durations.max_ms.map_or(String::new(), |ms| format!(", longest {ms:.1} ms"));
        format!("{} x {} ({:.1} ms in all{longest})", row.durations.count, row.name, row.durations.total_ms)
    };
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

fn first_places(rows: &[&GcRow]) -> Vec<(usize, u64)> {
    rows.iter().filter_map(|row| row.durations.max_at).collect()
}

const FIND_CALLER: &str = "Find what calls System.gc(): RMI does every hour by default";
const RMI: &str = "Let RMI ask less often: raise -Dsun.rmi.dgc.server.gcInterval (3600000 ms by default)";
const NIO: &str =
    "Give direct memory more room, where NIO asks when it runs out: raise -XX:MaxDirectMemorySize";
const AT_RISK: &str = "where NIO asks, direct memory may then end in OutOfMemoryError";

static EXPLICIT_GC: Rule = Rule {
    id: RuleId::of("explicit-gc"),
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "Collections by `System.gc()`, their number and time; a note where none is a full collection.",
    cause: "The program, a library or a tool triggers them: RMI each hour, NIO when direct memory runs out.",
    fix: "Find what calls `System.gc()`.",
    alternatives: &[
        "Let RMI ask less often: `-Dsun.rmi.dgc.server.gcInterval`.",
        "Give direct memory more room: `-XX:MaxDirectMemorySize`.",
        "Make them concurrent with G1: `-XX:+ExplicitGCInvokesConcurrent`.",
        "Ignore them: `-XX:+DisableExplicitGC`.",
    ],
    judge: explicit,
};

fn explicit(report: &GcReport) -> Option<Found> {
    let full: Vec<&GcRow> = of(&report.full_by_cause, &EXPLICIT).collect();
    let (rows, severity) = if full.is_empty() {
        (of(&report.pauses_by_cause, &EXPLICIT).collect::<Vec<_>>(), Severity::Note)
    } else {
        (full, Severity::Warning)
    };
    if rows.is_empty() {
        return None;
    }
    let claim = "The program, a library or a tool triggers collections by System.gc().";
    let found = EXPLICIT_GC
        .graded(severity, claim, told(&rows))
        .at(first_places(&rows))
        .change(FIND_CALLER, "No such pauses")
        .or(RMI)
        .or(NIO);
    let found = match collector(report) {
        Some("G1" | "CMS") => found.or("Make them concurrent: -XX:+ExplicitGCInvokesConcurrent"),
        _ => found,
    };
    let found = found.or(format!("Ignore them: -XX:+DisableExplicitGC ({AT_RISK})"));
    let ignored = format!("Ignore them: -Xdisableexplicitgc ({AT_RISK})");
    Some(found.on_j9(report, FIND_CALLER, &[RMI, NIO, &ignored]))
}

/// The start of a large server, and how often the threshold is reached in it: it grows by a factor each time.
const START: Threshold = Threshold::seconds("start", 600.0);
const AT_START: Threshold = Threshold::count("at_start", 12);
const COLLECTIONS: Threshold = Threshold::count("collections", 3);

static METASPACE_THRESHOLD: Rule = Rule {
    id: RuleId::of("metaspace-threshold"),
    severity: Severity::Warning,
    thresholds: &[COLLECTIONS, START, AT_START],
    evidence: "Collections by the metadata threshold: {collections} or more, the last one {start} or more after the start; or {at_start} \
               at the start.",
    cause: "Metaspace grew to its threshold, which rises a step at a time.",
    fix: "Set `-XX:MetaspaceSize` above what is used.",
    alternatives: &["Look for class loaders that are kept, where metaspace goes on growing."],
    judge: metadata,
};

fn metadata(report: &GcReport) -> Option<Found> {
    let full: Vec<&GcRow> = of(&report.full_by_cause, &FOR_METADATA).collect();
    let rows: Vec<&GcRow> =
        if full.is_empty() { of(&report.pauses_by_cause, &FOR_METADATA).collect() } else { full };
    let count: u64 = rows.iter().map(|row| row.durations.count).sum();
    // While classes are loaded for the first time the threshold rises step by step, which is usual.
    let goes_on = rows.iter().filter_map(|row| row.last_s).any(|last_s| START.value <= last_s);
    if count < COLLECTIONS.whole() || !goes_on && count < AT_START.whole() {
        return None;
    }
    let seen = report.spaces.get(&GcSpace::Metaspace).and_then(|space| space.max_bytes);
    let used = seen.map_or(String::new(), |bytes| format!("; metaspace used up to {}", size(bytes as f64)));
    let claim = "Metaspace grows to its threshold again and again, and each time triggers a collection.";
    let change = seen.map_or("Set -XX:MetaspaceSize above what is used".to_owned(), |bytes| {
        format!("Set -XX:MetaspaceSize={}m, above what is used", (bytes >> 20) * 5 / 4 + 1)
    });
    let evidence = format!("{}{used}", told(&rows));
    let found = METASPACE_THRESHOLD.finding(claim, evidence).at(first_places(&rows));
    let found = found.change(change, "No collections while classes are loaded; costs nothing until they are");
    Some(found.or("Look for class loaders that are kept, if metaspace goes on growing"))
}

static FULL_GC_BY_TOOLS: Rule = Rule {
    id: RuleId::of("full-gc-by-tools"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "Full collections by heap dumps, histograms, agents and diagnostic commands.",
    cause: "A person or a monitoring tool requested them.",
    fix: "Ask less often.",
    alternatives: &["Ask without a collection: `jcmd PID GC.class_histogram -all`."],
    judge: for_tools,
};

fn for_tools(report: &GcReport) -> Option<Found> {
    let rows: Vec<&GcRow> = of(&report.full_by_cause, &FOR_TOOLS).collect();
    let claim = "Tools triggered full collections: heap dumps, histograms, agents.";
    (!rows.is_empty()).then(|| FULL_GC_BY_TOOLS.finding(claim, told(&rows)).at(first_places(&rows)))
}

/// Full collections more often than this are a state, not an event; jifa's default.
const INTERVAL: Threshold = Threshold::seconds("interval", 60.0);

static FULL_GC: Rule = Rule {
    id: RuleId::of("full-gc"),
    severity: Severity::Error,
    thresholds: &[FELT, LONG, INTERVAL],
    evidence: "Full collections for room, by cause, with their time and interval. Of collectors that always stop the application only \
               those that take {felt} of the time or more, or {long} at once; a warning where they are {interval} apart or more.",
    cause: "Collectors that work concurrently did not keep up; or the old generation filled up.",
    fix: "Give the heap more room (`-Xmx`); with CMS, let it begin earlier.",
    alternatives: &[
        "Begin marking earlier (G1).",
        "Give marking more threads: `-XX:ConcGCThreads`.",
        "Keep fewer objects that live long.",
    ],
    judge: for_room,
};

fn for_room(report: &GcReport) -> Option<Found> {
    let is_other = |row: &&GcRow| {
        let name = row.name.as_str();
        !EXPLICIT.contains(&name) && !FOR_METADATA.contains(&name) && !FOR_TOOLS.contains(&name)
    };
    let rows: Vec<&GcRow> = report.full_by_cause.iter().filter(is_other).collect();
    let count: u64 = rows.iter().map(|row| row.durations.count).sum();
    if count == 0 {
        return None;
    }
    let interval_s = report.span_s.map(|span_s| span_s / count as f64);
    let is_often = interval_s.is_some_and(|s| s < INTERVAL.value) && count > 1;
    let works_beside = is_pauseless(report) || matches!(collector(report), Some("G1" | "CMS"));
    let total_ms: f64 = rows.iter().map(|row| row.durations.total_ms).sum();
    let longest_ms = rows.iter().filter_map(|row| row.durations.max_ms).fold(0.0, f64::max);
    let is_felt = report.span_s.is_none_or(|span_s| FELT.value <= total_ms / 10.0 / span_s);
    // To collectors that stop for all of their work a full collection now and then is a way to work.
    if !works_beside && !is_felt && longest_ms < LONG.value {
        return None;
    }
    let severity = if is_often || works_beside { Severity::Error } else { Severity::Warning };
    let claim = if works_beside {
        "The concurrent collector did not keep up and stopped the application for full collections."
    } else {
        "The old generation filled up and was collected in stop-the-world pauses."
    };
    let often = interval_s.filter(|_| count > 1).map_or(String::new(), |s| match s {
        s if s < 1.0 => format!("; one every {:.0} ms", (s * 1e3).max(1.0)),
        s if s < 10.0 => format!("; one every {s:.1} s"),
        s => format!("; one every {s:.0} s"),
    });
    let found = FULL_GC.graded(severity, claim, format!("{}{often}", told(&rows))).at(first_places(&rows));
    let collected_in_time = "Full collections go away while garbage is collected faster than it is made";
    let with_room = format!("{collected_in_time}; costs resident memory");
    Some(match collector(report) {
        Some("G1") => {
            found.change(more_room(report), with_room).or(EARLIER_MARKING).or(MORE_RESERVE).or(MORE_THREADS)
        }
        Some("CMS") => {
            found.change(EARLIER_CMS, format!("{collected_in_time}; costs CPU time")).or(more_room(report))
        }
        _ => found
            .change(more_room(report), with_room)
            .or("Look for what lives too long: compare two heap dumps"),
    })
}

/// Cause of collections that had to wait for a JNI critical section.
pub(super) fn held_back(report: &GcReport) -> Option<Caused> {
    caused(report, "GCLocker Initiated GC")
}
