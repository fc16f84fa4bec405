//! Rules on full collections, by what brought them about.

use super::pauses::LONG_MS;
use super::rule::{
    Caused, EARLIER_CMS, EARLIER_MARKING, MORE_RESERVE, MORE_THREADS, PAUSED_PERCENT_FELT, Rule, With,
    caused, collector, is_pauseless, more_room, size,
};
use assay_model::{Finding, GcReport, GcRow, GcRule, GcSpace, Severity};

pub(super) const RULES: &[Rule] = &[explicit, metadata, for_tools, for_room];

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

fn explicit(report: &GcReport) -> Option<Finding<GcRule>> {
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
    let found = Finding::measured(GcRule::ExplicitGc, severity, claim, told(&rows))
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

/// The start of a large server, seconds, and how often the threshold is reached in it: it grows by a factor each time.
const START_S_MAX: f64 = 600.0;
const COUNT_AT_START_MAX: u64 = 12;

fn metadata(report: &GcReport) -> Option<Finding<GcRule>> {
    let full: Vec<&GcRow> = of(&report.full_by_cause, &FOR_METADATA).collect();
    let rows: Vec<&GcRow> =
        if full.is_empty() { of(&report.pauses_by_cause, &FOR_METADATA).collect() } else { full };
    let count: u64 = rows.iter().map(|row| row.durations.count).sum();
    // While classes are loaded for the first time the threshold rises step by step, which is usual.
    let goes_on = rows.iter().filter_map(|row| row.last_s).any(|last_s| START_S_MAX <= last_s);
    if count < 3 || !goes_on && count < COUNT_AT_START_MAX {
        return None;
    }
    let seen = report.spaces.get(&GcSpace::Metaspace).and_then(|space| space.max_bytes);
    let used = seen.map_or(String::new(), |bytes| format!("; metaspace used up to {}", size(bytes as f64)));
    let claim = "Metaspace grows to its threshold again and again, and each time triggers a collection.";
    let change = seen.map_or("Set -XX:MetaspaceSize above what is used".to_owned(), |bytes| {
        format!("Set -XX:MetaspaceSize={}m, above what is used", (bytes >> 20) * 5 / 4 + 1)
    });
    let evidence = format!("{}{used}", told(&rows));
    let found = Finding::measured(GcRule::MetaspaceThreshold, Severity::Warning, claim, evidence)
        .at(first_places(&rows));
    let found = found.change(change, "No collections while classes are loaded; costs nothing until they are");
    Some(found.or("Look for class loaders that are kept, if metaspace goes on growing"))
}

fn for_tools(report: &GcReport) -> Option<Finding<GcRule>> {
    let rows: Vec<&GcRow> = of(&report.full_by_cause, &FOR_TOOLS).collect();
    let claim = "Tools triggered full collections: heap dumps, histograms, agents.";
    (!rows.is_empty()).then(|| {
        Finding::measured(GcRule::FullGcByTools, Severity::Note, claim, told(&rows)).at(first_places(&rows))
    })
}

/// Full collections more often than this are a state, not an event; jifa's default.
const INTERVAL_S_MIN: f64 = 60.0;

fn for_room(report: &GcReport) -> Option<Finding<GcRule>> {
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
    let is_often = interval_s.is_some_and(|s| s < INTERVAL_S_MIN) && count > 1;
    let works_beside = is_pauseless(report) || matches!(collector(report), Some("G1" | "CMS"));
    let total_ms: f64 = rows.iter().map(|row| row.durations.total_ms).sum();
    let longest_ms = rows.iter().filter_map(|row| row.durations.max_ms).fold(0.0, f64::max);
    let is_felt = report.span_s.is_none_or(|span_s| PAUSED_PERCENT_FELT <= total_ms / 10.0 / span_s);
    // To collectors that stop for all of their work a full collection now and then is a way to work.
    if !works_beside && !is_felt && longest_ms < LONG_MS {
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
    let found = Finding::measured(GcRule::FullGc, severity, claim, format!("{}{often}", told(&rows)))
        .at(first_places(&rows));
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
