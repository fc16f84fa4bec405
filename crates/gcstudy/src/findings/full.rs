//! Rules on full collections, by what brought them about.

use super::often::one_every;
use super::rule::{
    Caused, EARLIER_CMS, EARLIER_MARKING, FELT, Found, LONG, MORE_RESERVE, MORE_THREADS, Rule, Share, With,
    caused, collector, is_pauseless, more_room, room_first, size, span_of_shares,
};
use assay_model::{GcReport, GcRow, GcSpace, RuleId, Severity, Threshold};

pub(super) static RULES: &[&Rule] =
    &[&EXPLICIT_GC, &METASPACE_FULL, &METASPACE_THRESHOLD, &FULL_GC_BY_TOOLS, &FULL_GC];

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

/// Cycles beside the application that these causes began: Z names them with the cycle, Shenandoah as the request that it takes.
fn cycles_by(report: &GcReport, causes: &[&str]) -> u64 {
    let is_asked =
        |name: &str| causes.iter().any(|cause| name == *cause || name.contains(&format!("({cause})")));
    report.triggers.iter().filter(|(name, _)| is_asked(name)).map(|(_, count)| count).sum()
}

/// Of all cycles, so many.
fn of_cycles(report: &GcReport, count: u64) -> String {
    let all: u64 = report.triggers.values().sum();
    format!("{count} of {all} concurrent cycles")
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

/// Cycles beside the application stop nobody for long: a few cost little.
const ASKED: Threshold = Threshold::count("asked", 10);
const ASKED_SHARE: Threshold = Threshold::percent("asked_share", 20.0);

static EXPLICIT_GC: Rule = Rule {
    id: RuleId::of("explicit-gc"),
    severity: Severity::Warning,
    thresholds: &[ASKED, ASKED_SHARE],
    evidence: "Collections by `System.gc()`, their number and time. A note if none is a full collection. For \
        Z and Shenandoah, cycles from {asked} of them and {asked_share} of all on.",
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
    let (cycles, all) = (cycles_by(report, &EXPLICIT), report.triggers.values().sum::<u64>());
    let are_cycles_many = ASKED.whole() <= cycles && ASKED_SHARE.share() * all as f64 <= cycles as f64;
    let (evidence, severity) = match (rows.is_empty(), are_cycles_many) {
        (true, false) => return None,
        (true, true) => (of_cycles(report, cycles), Severity::Warning),
        (false, _) => (told(&rows), severity),
    };
    let claim = "The program, a library or a tool triggers collections by System.gc().";
    let found = EXPLICIT_GC
        .graded(severity, claim, evidence)
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

/// A JVM that cannot grow metaspace collects for soft references, too.
const FOR_THE_LAST_METADATA: [&str; 1] = ["Metadata GC Clear Soft References"];
/// Classes that were unloaded and loaded again leave less than this of what there was.
const UNLOADED: f64 = 0.5;

/// Collections that metaspace brought about: the rows of pauses that say so, and the cycles.
fn for_metadata(report: &GcReport) -> (Vec<&GcRow>, u64) {
    let full: Vec<&GcRow> = of(&report.full_by_cause, &FOR_METADATA).collect();
    let rows = if full.is_empty() { of(&report.pauses_by_cause, &FOR_METADATA).collect() } else { full };
    (rows, cycles_by(report, &FOR_METADATA))
}

/// What is said of them.
fn told_of_metadata(report: &GcReport, rows: &[&GcRow], cycles: u64) -> String {
    let seen = report.spaces.get(&GcSpace::Metaspace).and_then(|space| space.max_bytes);
    let used = seen.map_or(String::new(), |bytes| format!("; metaspace used up to {}", size(bytes as f64)));
    let collections = if rows.is_empty() { of_cycles(report, cycles) } else { told(rows) };
    format!("{collections}{used}")
}

static METASPACE_FULL: Rule = Rule {
    id: RuleId::of("metaspace-full"),
    severity: Severity::Error,
    thresholds: &[COLLECTIONS],
    evidence: "Collections by the metadata threshold, if one of them was for soft references as well. With \
        `-XX:MaxMetaspaceSize`, from {collections} on.",
    cause: "Metaspace is at its maximum: the JVM collects all of the heap for each class that it loads, and ends in `OutOfMemoryError`.",
    fix: "List the class loaders that are kept: `jcmd PID VM.classloader_stats`.",
    alternatives: &["Raise `-XX:MaxMetaspaceSize`, where the program needs as many classes."],
    judge: metaspace_full,
};

fn metaspace_full(report: &GcReport) -> Option<Found> {
    let (rows, cycles) = for_metadata(report);
    let count = rows.iter().map(|row| row.durations.count).sum::<u64>() + cycles;
    let is_limit = |flag: &&String| flag.starts_with("-XX:MaxMetaspaceSize=");
    let limit = report.jvms.last().and_then(|jvm| jvm.flags.iter().find(is_limit));
    let is_last = rows.iter().any(|row| FOR_THE_LAST_METADATA.contains(&row.name.as_str()))
        || 0 < cycles_by(report, &FOR_THE_LAST_METADATA);
    if !is_last && (limit.is_none() || count < COLLECTIONS.whole()) {
        return None;
    }
    let mut evidence = told_of_metadata(report, &rows, cycles);
    if let Some(limit) = limit {
        evidence += &format!("; {limit}");
    }
    let claim = "Metaspace is at its maximum, and each class that is loaded triggers a collection of all of the heap.";
    let found = METASPACE_FULL.finding(claim, evidence).at(first_places(&rows)).change(
        "List the class loaders that are kept: jcmd PID VM.classloader_stats",
        "Classes that are not needed are unloaded, or not loaded again",
    );
    Some(found.or("Raise -XX:MaxMetaspaceSize, if the program needs as many classes"))
}

static METASPACE_THRESHOLD: Rule = Rule {
    id: RuleId::of("metaspace-threshold"),
    severity: Severity::Warning,
    thresholds: &[COLLECTIONS, START, AT_START],
    evidence: "Collections by the metadata threshold: {collections} or more, the last one {start} or more \
        after the start. Or {at_start} at the start, or {collections} that unloaded half of the classes.",
    cause: "Metaspace grew to its threshold, which rises a step at a time, or classes are loaded again and \
        again.",
    fix: "List the class loaders that are kept: `jcmd PID VM.classloader_stats`.",
    alternatives: &[
        "Set `-XX:MetaspaceSize` to several times what is used, where the program loads that many classes once.",
    ],
    judge: metadata,
};

fn metadata(report: &GcReport) -> Option<Found> {
    if metaspace_full(report).is_some() {
        return None;
    }
    let (rows, cycles) = for_metadata(report);
    let count = rows.iter().map(|row| row.durations.count).sum::<u64>() + cycles;
    // While classes are loaded for the first time the threshold rises step by step, which is usual.
    let goes_on = rows.iter().filter_map(|row| row.last_s).any(|last_s| START.value <= last_s);
    let space = report.spaces.get(&GcSpace::Metaspace);
    let sizes = space.and_then(|space| Some((space.last_bytes? as f64, space.max_bytes? as f64)));
    let unloads = sizes.is_some_and(|(last, max)| last < UNLOADED * max);
    if count < COLLECTIONS.whole() || !goes_on && !unloads && count < AT_START.whole() {
        return None;
    }
    let claim = "Metaspace grows to its threshold again and again, and each time triggers a collection.";
    let evidence = told_of_metadata(report, &rows, cycles);
    let found = METASPACE_THRESHOLD.finding(claim, evidence).at(first_places(&rows));
    let found = found.change(
        "List the class loaders that are kept: jcmd PID VM.classloader_stats",
        "Classes that are not needed are not loaded again, and no collection has to unload them",
    );
    // Below what is committed, which fragments make several times what is used, the option changes nothing.
    let several_m = sizes.map(|(_, max)| (max / f64::from(1 << 20) * 4.0).ceil());
    Some(match several_m {
        Some(several_m) => found.or(format!(
            "Set -XX:MetaspaceSize={several_m:.0}m, four times what is used, if the program loads these classes once"
        )),
        None => found.or("Set -XX:MetaspaceSize to several times what is used, if the program loads these classes once"),
    })
}

static FULL_GC_BY_TOOLS: Rule = Rule {
    id: RuleId::of("full-gc-by-tools"),
    severity: Severity::Note,
    thresholds: &[FELT],
    evidence: "Full collections by heap dumps, histograms, agents and diagnostic commands. A warning if they \
        take {felt} of the time or more.",
    cause: "A person or a monitoring tool requested them.",
    fix: "Ask less often.",
    alternatives: &["Ask without a collection: `jcmd PID GC.class_histogram -all`."],
    judge: for_tools,
};

fn for_tools(report: &GcReport) -> Option<Found> {
    let rows: Vec<&GcRow> = of(&report.full_by_cause, &FOR_TOOLS).collect();
    let claim = "Tools triggered full collections: heap dumps, histograms, agents.";
    let total_ms: f64 = rows.iter().map(|row| row.durations.total_ms).sum();
    let is_felt = span_of_shares(report).is_some_and(|span_s| FELT.share() * span_s * 1e3 <= total_ms);
    let severity = if is_felt { Severity::Warning } else { FULL_GC_BY_TOOLS.severity };
    let found = || FULL_GC_BY_TOOLS.graded(severity, claim, told(&rows)).at(first_places(&rows));
    (!rows.is_empty()).then(|| {
        let step = "Find out what asks for them so often: a monitoring tool, an agent, a script";
        found()
            .change(step, "No such pauses")
            .or("Ask without a collection: jcmd PID GC.class_histogram -all")
    })
}

/// Full collections more often than this are a state, not an event; jifa's default.
const INTERVAL: Threshold = Threshold::seconds("interval", 60.0);

static FULL_GC: Rule = Rule {
    id: RuleId::of("full-gc"),
    severity: Severity::Error,
    thresholds: &[FELT, LONG, INTERVAL],
    evidence: "Full collections for room, by cause, with their time and interval. For collectors that always \
        stop the application, only those that take {felt} of the time or more, or {long} at once. A warning \
        if they are {interval} apart or more.",
    cause: "A concurrent collector did not keep up, or the old generation filled up.",
    fix: "Give the heap more room (`-Xmx`) if live objects fill it. With CMS, let it begin earlier.",
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
    let often = interval_s.filter(|_| count > 1).map_or(String::new(), |s| format!("; {}", one_every(s)));
    let found = FULL_GC.graded(severity, claim, format!("{}{often}", told(&rows))).at(first_places(&rows));
    let collected_in_time = "Full collections go away while garbage is collected faster than it is made";
    let with_room = format!("{collected_in_time}. Costs resident memory");
    let with = |mut steps: Vec<String>, more: &[&str]| {
        steps.extend(more.iter().map(|step| (*step).to_owned()));
        steps
    };
    Some(match collector(report) {
        Some("G1") => {
            found.steps(with(room_first(report, EARLIER_MARKING), &[MORE_RESERVE, MORE_THREADS]), with_room)
        }
        Some("CMS") => {
            found.change(EARLIER_CMS, format!("{collected_in_time}. Costs CPU time")).or(more_room(report))
        }
        _ => found.steps(
            room_first(report, "Look for objects that live too long: compare two heap dumps"),
            with_room,
        ),
    })
}

/// Pauses by these causes, as a share of all time in pauses; where only cycles show causes, as a share of these.
fn share_of(report: &GcReport, causes: &[&str]) -> f64 {
    let ms: f64 = of(&report.pauses_by_cause, causes).map(|row| row.durations.total_ms).sum();
    let cycles: u64 = report.triggers.values().sum();
    if ms > 0.0 || cycles == 0 {
        ms / report.pauses.total_ms.max(f64::MIN_POSITIVE)
    } else {
        cycles_by(report, causes) as f64 / cycles as f64
    }
}

/// What of the stopped time collections of each of these kinds take.
pub(super) static SHARES: &[Share] = &[
    (&METASPACE_FULL, |report| share_of(report, &FOR_METADATA)),
    (&METASPACE_THRESHOLD, |report| share_of(report, &FOR_METADATA)),
    (&EXPLICIT_GC, |report| share_of(report, &EXPLICIT)),
    (&FULL_GC_BY_TOOLS, |report| share_of(report, &FOR_TOOLS)),
];

/// Findings that say that the collector is in trouble, and not why.
pub(super) static SYMPTOMS: &[&Rule] = &[&FULL_GC];

/// Cause of collections that had to wait for a JNI critical section.
pub(super) fn held_back(report: &GcReport) -> Option<Caused> {
    caused(report, "GCLocker Initiated GC")
}
