//! Options that are no flags: `-X`, `--`, `-D` and those of the launcher, by a table that `tests/flags` makes from the JVMs.

use super::remark::remark;
use crate::options::history::FlagState;
use crate::options::parse::has_variable;
use assay_model::{Certainty, OptionRemark, RemarkOnOption};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::parse(include_str!("../options.csv")));

/// Beginnings of options that load code; it is not loaded to judge them.
const AGENTS: [&str; 4] = ["-agentlib:", "-agentpath:", "-javaagent:", "-Xrun"];
/// Beginnings of OpenJ9's options that HotSpot does not have.
const OPENJ9: [&str; 37] = [
    "-Xaggressive",
    "-Xalwaysclassgc",
    "-Xaot",
    "-Xargencoding",
    "-Xclassgc",
    "-Xcodecache",
    "-Xcompactexplicitgc",
    "-Xcompactgc",
    "-Xcompressedrefs",
    "-Xconcurrent",
    "-Xdisableexplicitgc",
    "-Xdump",
    "-Xenableexplicitgc",
    "-Xgc",
    "-Xgcpolicy",
    "-Xgcthreads",
    "-Xgcworkpackets",
    "-Xifa",
    "-Xjit",
    "-Xloa",
    "-Xlp",
    "-Xmaxe",
    "-Xminf",
    "-Xmo",
    "-Xmr",
    "-Xnoaot",
    "-Xnocompactgc",
    "-Xnocompressedrefs",
    "-Xnojit",
    "-Xquickstart",
    "-Xscmx",
    "-Xshareclasses",
    "-Xsoftmx",
    "-Xtgc",
    "-Xtrace",
    "-Xtune",
    "-Xverbosegclog",
];
/// OpenJ9's flags that HotSpot does not have.
const OPENJ9_FLAGS: [&str; 20] = [
    "ClassRelationshipVerifier",
    "DisclaimJitScratch",
    "DisclaimVirtualMemory",
    "EnableCRIUSupport",
    "EnsureHashed",
    "GlobalLockReservation",
    "IProfileDuringStartupPhase",
    "IdleTuningCompactOnIdle",
    "IdleTuningGcOnIdle",
    "IdleTuningMinFreeHeapOnIdle",
    "IdleTuningMinIdleWaitTime",
    "InterleaveMemory",
    "LegacyXlogOption",
    "MultiTenancy",
    "OriginalJDK8HeapSizeCompatibilityMode",
    "PortableSharedCache",
    "ShareClassesEnableBCI",
    "SharedCacheHardLimitSize",
    "TransparentHugePage",
    "VerboseVerification",
];
/// Modules that went with JDK 11.
const REMOVED_MODULES: [&str; 7] = [
    "java.activation",
    "java.corba",
    "java.se.ee",
    "java.transaction",
    "java.xml.bind",
    "java.xml.ws",
    "java.xml.ws.annotation",
];
/// Decorators of log lines, in full and short; `none` and an empty list stand for no decorators.
const DECORATORS: [&str; 26] = [
    "time",
    "t",
    "utctime",
    "utc",
    "uptime",
    "u",
    "timemillis",
    "tm",
    "uptimemillis",
    "um",
    "timenanos",
    "tn",
    "uptimenanos",
    "un",
    "hostname",
    "hn",
    "pid",
    "p",
    "tid",
    "ti",
    "level",
    "l",
    "tags",
    "tg",
    "none",
    "",
];
const LEVELS: [&str; 6] = ["off", "trace", "debug", "info", "warning", "error"];

#[derive(Default)]
struct Table {
    /// By option, with `*` for anything behind it: since which release it is how.
    options: BTreeMap<String, Vec<(u32, FlagState)>>,
    tags: BTreeMap<String, Vec<(u32, FlagState)>>,
}

impl Table {
    fn parse(text: &str) -> Table {
        let mut table = Table::default();
        for row in csv::Reader::from_reader(text.as_bytes()).records() {
            let row = row.expect("the table is read in a test");
            let field = |i: usize| row.get(i).unwrap_or_default();
            let state = FlagState::ALL.into_iter().find(|state| state.word() == field(2)).expect("a state");
            let rows = match field(0).strip_prefix("tag ") {
                Some(tag) => table.tags.entry(tag.to_owned()),
                None => table.options.entry(field(0).to_owned()),
            };
            rows.or_default().push((field(1).parse().expect("a release"), state));
        }
        table
    }

    /// The row of an option, in full or by its beginning; the longest that fits.
    fn pattern(&self, option: &str) -> Option<&Vec<(u32, FlagState)>> {
        let fits = |pattern: &&String| {
            pattern.strip_suffix('*').map_or(option == pattern.as_str(), |start| option.starts_with(start))
        };
        self.options.get(self.options.keys().filter(fits).max_by_key(|pattern| pattern.len())?)
    }

    /// What a release makes of an option that stands in the table.
    fn state(&self, option: &str, release: u32) -> Option<FlagState> {
        state_in(self.pattern(option)?, release)
    }
}

fn state_in(rows: &[(u32, FlagState)], release: u32) -> Option<FlagState> {
    rows.iter().rev().find(|(since, _)| *since <= release).map(|(_, state)| *state)
}

/// Whether a flag is one of OpenJ9 alone.
pub(super) fn is_openj9(flag: &str) -> bool {
    OPENJ9_FLAGS.contains(&flag)
}

/// Whether what stands behind it belongs to it.
pub(in crate::options) fn takes_next_word(option: &str) -> bool {
    TABLE.options.keys().any(|pattern| pattern.strip_suffix(" *") == Some(option))
}

/// Whether any release has it, or it loads an agent.
pub(in crate::options) fn is_known(option: &str) -> bool {
    AGENTS.iter().any(|start| option.starts_with(start)) || TABLE.pattern(option).is_some()
}

/// How a release takes an option that is no flag; `None` where it fits.
pub(super) fn remark_on(at: usize, option: &str, release: u32) -> Option<RemarkOnOption> {
    let of = |kind, certainty, why: &str| Some(remark(at, kind, certainty, why));
    let open = |why: &str| of(OptionRemark::NotJudged, Certainty::Unknown, why);
    if option.starts_with('@') {
        return open("the file that it names was not read");
    }
    if AGENTS.iter().any(|start| option.starts_with(start)) {
        return open("it loads code, which is not done here");
    }
    if takes_next_word(option) {
        return of(
            OptionRemark::Malformed,
            Certainty::Known,
            "its value is missing, and the JVM does not start",
        );
    }
    match TABLE.state(option, release) {
        Some(FlagState::Unrecognized) => of(
            OptionRemark::Unrecognized,
            Certainty::Known,
            &format!("JDK {release} does not have it, and does not start"),
        ),
        Some(_) if has_variable(option) && !option.starts_with("-D") => {
            open("its value is put in by a script")
        }
        state @ Some(_) => value_of(at, option, release).or_else(|| {
            let warns = state == Some(FlagState::Deprecated);
            warns.then(|| {
                remark(at, OptionRemark::Deprecated, Certainty::Known, format!("JDK {release} warns of it"))
            })
        }),
        None if OPENJ9.iter().any(|start| option.starts_with(start)) => {
            of(OptionRemark::OtherJvm, Certainty::Known, "OpenJ9 has it, and HotSpot does not start")
        }
        None => of(OptionRemark::Unrecognized, Certainty::Inferred, "no release of HotSpot from 8 on has it"),
    }
}

/// Of options whose value decides.
fn value_of(at: usize, option: &str, release: u32) -> Option<RemarkOnOption> {
    let malformed = |why: &str| Some(remark(at, OptionRemark::Malformed, Certainty::Known, why));
    let value =
        |names: &[&str]| names.iter().find_map(|name| option.strip_prefix(name)?.strip_prefix([' ', '=']));
    if let Some(value) = value(&["--add-opens", "--add-exports"]) {
        let is_whole = value.split_once('=').is_some_and(|(what, to)| what.contains('/') && !to.is_empty());
        return if is_whole {
            None
        } else {
            malformed("it takes MODULE/PACKAGE=MODULE, and the JVM does not start")
        };
    }
    if let Some(value) = value(&["--add-reads"]) {
        return if value.contains('=') {
            None
        } else {
            malformed("it takes MODULE=MODULE, and the JVM does not start")
        };
    }
    if let Some(modules) = value(&["--add-modules", "--limit-modules"]) {
        return modules.split(',').find_map(|module| module_remark(at, module, release));
    }
    option.strip_prefix("-Xlog:").and_then(|what| log_remark(at, what, release))
}

fn module_remark(at: usize, module: &str, release: u32) -> Option<RemarkOnOption> {
    if REMOVED_MODULES.contains(&module) && 11 <= release {
        let why = format!("JDK {release} has no module {module}, and does not start");
        return Some(remark(at, OptionRemark::OutOfRange, Certainty::Known, why));
    }
    let is_known =
        module.starts_with("java.") || ["ALL-SYSTEM", "ALL-DEFAULT", "ALL-MODULE-PATH"].contains(&module);
    let why = format!("whether there is a module {module} was not looked up");
    (!is_known).then(|| remark(at, OptionRemark::NotJudged, Certainty::Unknown, why))
}

/// Of `-Xlog:gc*,safepoint=debug:file=gc.log:time:filecount=5`.
fn log_remark(at: usize, what: &str, release: u32) -> Option<RemarkOnOption> {
    let wrong = |why: String| Some(remark(at, OptionRemark::Malformed, Certainty::Known, why));
    let selectors = what.split(':').next().unwrap_or_default();
    if ["help", "disable", "async", ""].contains(&selectors) {
        return None;
    }
    if let Some(unknown) = decorators(what).find(|word| !DECORATORS.contains(word)) {
        return wrong(format!("{unknown:?} is not a log decorator, and the JVM does not start"));
    }
    let no_tags = BTreeSet::from(["all"]);
    for selector in selectors.split(',') {
        let (tags, level) = selector.split_once('=').unwrap_or((selector, "info"));
        if !LEVELS.contains(&level) {
            return wrong(format!("{level:?} is not a level of a log, and the JVM does not start"));
        }
        let is_there = |tag: &str| {
            no_tags.contains(tag)
                || TABLE.tags.get(tag).and_then(|rows| state_in(rows, release)) == Some(FlagState::Product)
        };
        if let Some(tag) = tags.trim_end_matches('*').split('+').find(|tag| !is_there(tag)) {
            return wrong(format!(
                "{tag:?} is not a tag of JDK {release}'s logs, and the JVM does not start"
            ));
        }
    }
    None
}

/// The decorators of `gc*:file=gc.log:time,tags:filecount=5`. They follow the output, whose path may contain colons if it is quoted.
fn decorators(what: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let mut parts = what.split(move |c| {
        is_quoted ^= c == '"';
        c == ':' && !is_quoted
    });
    // In `file=C:\gc.log` the path continues after the drive letter.
    let third = parts.nth(2).filter(|words| !words.starts_with(['\\', '/']));
    third.into_iter().flat_map(|words| words.split(','))
}
