//! What a release makes of options.

use super::history::{FlagState, flag_in, flag_names};
use super::listed::ListedFlag;
use super::parse::{Setting, is_whole_number};
use assay_model::{Certainty, OptionRemark, RemarkOnOption};
use assay_text::near::nearest;
use std::collections::BTreeMap;

/// Names of flags that belong to a collector begin like this; the flag that asks for it; whether a JVM may choose it by itself.
const FAMILIES: [(&str, &str, bool); 4] = [
    ("G1", "UseG1GC", true),
    ("CMS", "UseConcMarkSweepGC", false),
    ("Shenandoah", "UseShenandoahGC", false),
    ("Z", "UseZGC", false),
];
const COLLECTORS: [&str; 7] = [
    "UseConcMarkSweepGC",
    "UseEpsilonGC",
    "UseG1GC",
    "UseParallelGC",
    "UseSerialGC",
    "UseShenandoahGC",
    "UseZGC",
];
/// Replacements of removed flags: name, since when, replacement.
const INSTEAD: [(&str, u32, &str); 15] = [
    ("AggressiveOpts", 11, "nothing: leave it out"),
    ("CMSInitiatingOccupancyFraction", 14, "nothing: G1 adapts it"),
    ("MaxPermSize", 8, "-XX:MaxMetaspaceSize"),
    ("PermSize", 8, "-XX:MetaspaceSize"),
    ("PrintGCApplicationStoppedTime", 9, "-Xlog:safepoint"),
    ("PrintGCDateStamps", 9, "-Xlog:gc*:file=FILE:time"),
    ("PrintGCDetails", 9, "-Xlog:gc*"),
    ("PrintGCTimeStamps", 9, "-Xlog:gc*:file=FILE:uptime"),
    ("PrintTenuringDistribution", 9, "-Xlog:gc+age=trace"),
    ("UseBiasedLocking", 18, "nothing: leave it out"),
    ("UseCGroupMemoryLimitForHeap", 10, "nothing: the limit of the container counts by default"),
    ("UseConcMarkSweepGC", 14, "-XX:+UseG1GC, or -XX:+UseZGC for short pauses"),
    ("UseGCLogFileRotation", 9, "-Xlog:gc*:file=FILE::filecount=N,filesize=SIZE"),
    ("UseParNewGC", 10, "-XX:+UseG1GC"),
    ("ZGenerational", 24, "nothing: ZGC is generational"),
];

/// Types of flags that are whole numbers.
const NUMBERS: [&str; 6] = ["intx", "uintx", "size_t", "uint64_t", "int", "uint"];

/// How a release treats options, in the order in which the JVM reads them. `listed` are the flags of a JVM of that release that is
/// here; where it has a flag, it is asked rather than the table.
pub fn judge_options(
    options: &[String],
    release: u32,
    listed: Option<&BTreeMap<String, ListedFlag>>,
) -> Vec<RemarkOnOption> {
    let settings: Vec<Setting<'_>> = options.iter().map(|option| Setting::of(option)).collect();
    let judge = Judge { settings: &settings, release, listed };
    (0..settings.len()).flat_map(|at| judge.remarks(at)).collect()
}

/// Whether a JVM starts, as far as these remarks decide.
pub fn starts_with(remarks: &[RemarkOnOption]) -> bool {
    let prevents =
        [OptionRemark::Unrecognized, OptionRemark::Locked, OptionRemark::Conflict, OptionRemark::Malformed];
    !remarks.iter().any(|of| prevents.contains(&of.remark))
}

struct Judge<'a> {
    settings: &'a [Setting<'a>],
    release: u32,
    listed: Option<&'a BTreeMap<String, ListedFlag>>,
}

impl Judge<'_> {
    fn remarks(&self, at: usize) -> Vec<RemarkOnOption> {
        let Some(name) = self.settings[at].name() else {
            let why = "only flags are looked up: -XX:... and -Xmx, -Xms, -Xmn, -Xss";
            return vec![remark(at, OptionRemark::NotJudged, Certainty::Unknown, why)];
        };
        let mut remarks: Vec<RemarkOnOption> = self.of_release(at, name).into_iter().collect();
        if !starts_with(&remarks) {
            return remarks;
        }
        if let Some(malformed) = self.malformed(at, name) {
            return vec![malformed];
        }
        remarks.extend(self.conflict(at, name));
        remarks.extend(self.overridden(at, name));
        remarks.extend(self.of_collector(at, name));
        remarks.extend(self.default(at, name));
        remarks
    }

    fn of_release(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let of_table = flag_in(name, self.release).map(|flag| flag.state);
        let of_jvm = self.listed.and_then(|listed| Some(listed.get(name)?.state));
        // A list does not say that the JVM warns of a flag.
        let state = match (of_jvm, of_table) {
            (Some(_), Some(FlagState::Deprecated)) => FlagState::Deprecated,
            (Some(state), _) => state,
            (None, Some(state)) => state,
            (None, None) => return Some(self.never_known(at, name)),
        };
        let release = self.release;
        let instead = INSTEAD.iter().find(|(gone, since, _)| *gone == name && *since <= release);
        let (kind, why) = match state {
            // A few are still flags, and the JVM warns when they are switched on: their defaults in the table do not show it.
            FlagState::Product if instead.is_some() && self.settings[at] == Setting::Switch(name, true) => {
                (OptionRemark::Deprecated, format!("JDK {release} warns of it"))
            }
            FlagState::Product => return None,
            FlagState::Diagnostic if self.is_on("UnlockDiagnosticVMOptions") => return None,
            FlagState::Experimental if self.is_on("UnlockExperimentalVMOptions") => return None,
            FlagState::Diagnostic => {
                (OptionRemark::Locked, "needs -XX:+UnlockDiagnosticVMOptions before it".to_owned())
            }
            FlagState::Experimental => {
                (OptionRemark::Locked, "needs -XX:+UnlockExperimentalVMOptions before it".to_owned())
            }
            FlagState::Develop => {
                (OptionRemark::Locked, "only debug builds of the JVM can set it".to_owned())
            }
            FlagState::Deprecated => (OptionRemark::Deprecated, format!("JDK {release} warns of it")),
            FlagState::Ignored => (OptionRemark::Ignored, format!("JDK {release} warns, and does nothing")),
            FlagState::Unrecognized if self.is_on("IgnoreUnrecognizedVMOptions") => (
                OptionRemark::Ignored,
                format!("JDK {release} does not have it, and ignores it (IgnoreUnrecognizedVMOptions)"),
            ),
            FlagState::Unrecognized => {
                (OptionRemark::Unrecognized, format!("JDK {release} does not have it, and does not start"))
            }
        };
        let instead = instead.map(|(.., instead)| (*instead).to_owned());
        Some(RemarkOnOption { instead, ..remark(at, kind, Certainty::Known, why) })
    }

    /// Of a name that no release has.
    fn never_known(&self, at: usize, name: &str) -> RemarkOnOption {
        let why = format!(
            "no release from {} on has it",
            super::table_releases().next().map_or(8, |(first, _)| first)
        );
        let names: Vec<&str> = flag_names().collect();
        let instead = nearest(name, names).map(|near| format!("perhaps {near} is meant"));
        let kind = if self.is_on("IgnoreUnrecognizedVMOptions") {
            OptionRemark::Ignored
        } else {
            OptionRemark::Unrecognized
        };
        // Flags of one vendor, and those that came and went between two releases of the table, are not in it.
        RemarkOnOption { instead, ..remark(at, kind, Certainty::Inferred, why) }
    }

    /// Of a value that is not a number where the flag is one: `-Xmx40gb`, `-XX:MaxGCPauseMillis=200ms`.
    fn malformed(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let Setting::Value(_, value) = self.settings[at] else { return None };
        let kind = flag_in(name, self.release)?.kind.as_str();
        let is_signed = ["intx", "int"].contains(&kind) && name != "ThreadStackSize";
        let is_right = |value: &str| is_whole_number(value, is_signed, self.release);
        if !NUMBERS.contains(&kind) || is_right(value) {
            return None;
        }
        let why = format!(
            "{value:?} is not a whole number with at most one of k, m, g and t behind it, and the JVM does not start"
        );
        let meant = value.trim_end_matches(['b', 'B', 'i']);
        let instead = (meant != value && is_right(meant)).then(|| meant.to_owned());
        Some(RemarkOnOption { instead, ..remark(at, OptionRemark::Malformed, Certainty::Known, why) })
    }

    fn is_on(&self, flag: &str) -> bool {
        self.settings.contains(&Setting::Switch(flag, true))
    }

    fn overridden(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let later = self.settings[at + 1..].iter().find(|setting| setting.name() == Some(name))?;
        let same = if *later == self.settings[at] {
            "the same value is given again"
        } else {
            "a later option sets it"
        };
        Some(remark(at, OptionRemark::Overridden, Certainty::Known, same))
    }

    /// Collectors that this release has and the options ask for.
    fn collectors(&self) -> impl Iterator<Item = &'static str> {
        let is_there = |name: &str| flag_in(name, self.release).is_some_and(|flag| flag.state.is_there());
        COLLECTORS.into_iter().filter(move |name| self.is_on(name) && is_there(name))
    }

    fn conflict(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let is_one = self.settings[at] == Setting::Switch(name, true) && COLLECTORS.contains(&name);
        let other = self.collectors().find(|other| is_one && *other != name)?;
        Some(remark(
            at,
            OptionRemark::Conflict,
            Certainty::Known,
            format!("{other} is on, too, and the JVM does not start"),
        ))
    }

    fn of_collector(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let belongs = |prefix: &str| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        };
        let (_, own, by_itself) = FAMILIES.iter().find(|(prefix, ..)| belongs(prefix))?;
        let asked = self.collectors().next();
        let why = match asked {
            Some(asked) if asked != *own => {
                format!("it belongs to the collector that {own} selects, and {asked} is on")
            }
            None if !by_itself => format!("it belongs to the collector that only {own} selects"),
            _ => return None,
        };
        Some(remark(at, OptionRemark::NoEffect, Certainty::Inferred, why))
    }

    fn default(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let of_jvm = self.listed.and_then(|listed| listed.get(name)).filter(|flag| flag.is_default);
        let (default, certainty) = match (of_jvm, flag_in(name, self.release)) {
            (Some(flag), _) => (flag.value.as_str(), Certainty::Known),
            // Of another machine: some defaults follow the processor.
            (None, Some(flag)) => (flag.default.as_deref()?, Certainty::Inferred),
            (None, None) => return None,
        };
        let why = format!("{default} is its value in JDK {} anyway", self.release);
        self.settings[at].is(default).then(|| remark(at, OptionRemark::AlreadyDefault, certainty, why))
    }
}

fn remark(
    option: usize,
    remark: OptionRemark,
    certainty: Certainty,
    why: impl Into<String>,
) -> RemarkOnOption {
    RemarkOnOption { option, remark, certainty, why: why.into(), instead: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remarks(options: &str, release: u32) -> Vec<(usize, OptionRemark)> {
        let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        judge_options(&options, release, None).into_iter().map(|of| (of.option, of.remark)).collect()
    }

    #[test]
    fn what_releases_make_of_an_option_is_what_their_jvms_did() {
        use OptionRemark::{Deprecated, Ignored, Locked, Unrecognized};
        let cases: [(&str, u32, Option<OptionRemark>); 14] = [
            ("-XX:+UseConcMarkSweepGC", 8, None),
            ("-XX:+UseConcMarkSweepGC", 11, Some(Deprecated)),
            ("-XX:+UseConcMarkSweepGC", 17, Some(Unrecognized)),
            ("-XX:+PrintGCDetails", 8, None),
            ("-XX:+PrintGCDetails", 11, Some(Deprecated)),
            ("-XX:MaxPermSize=256m", 8, Some(Ignored)),
            ("-XX:MaxPermSize=256m", 17, Some(Unrecognized)),
            ("-XX:+UseZGC", 8, Some(Unrecognized)),
            ("-XX:+UseZGC", 11, Some(Locked)),
            ("-XX:+UseZGC", 17, None),
            ("-XX:+UseCompactObjectHeaders", 25, None),
            ("-XX:+UseCompactObjectHeaders", 21, Some(Unrecognized)),
            ("-XX:+UseG1Gc", 21, Some(Unrecognized)),
            ("-XX:+UseBiasedLocking", 17, Some(Deprecated)),
        ];
        for (option, release, expected) in cases {
            let found = remarks(option, release).first().map(|(_, remark)| *remark);
            assert_eq!(found, expected, "{option} {release}");
        }
    }

    #[test]
    fn options_are_seen_together() {
        use OptionRemark::{AlreadyDefault, Ignored, NoEffect, NotJudged, Overridden};
        assert_eq!(remarks("-Xmx2g -Xmx4g -Dx=y", 21), [(0, Overridden), (2, NotJudged)]);
        assert_eq!(remarks("-XX:+UseParallelGC -XX:G1HeapRegionSize=4m", 21), [(1, NoEffect)]);
        assert_eq!(remarks("-XX:G1HeapRegionSize=4m", 21), []);
        assert_eq!(
            remarks("-XX:MaxGCPauseMillis=0200 -XX:+UseStringDeduplication", 21),
            [(0, AlreadyDefault)]
        );
        assert_eq!(remarks("-XX:-UseStringDeduplication", 21), [(0, AlreadyDefault)]);
        assert_eq!(remarks("-XX:+IgnoreUnrecognizedVMOptions -XX:+NoSuchFlag", 21), [(1, Ignored)]);
        assert_eq!(remarks("-XX:+UnlockExperimentalVMOptions -XX:+UseZGC", 11), []);
    }

    #[test]
    fn a_jvm_has_one_collector() {
        let both = "-XX:+UseZGC -XX:+UseConcMarkSweepGC";
        assert_eq!(remarks("-XX:+UseZGC -XX:+UseSerialGC", 21).len(), 2);
        assert_eq!(remarks(both, 21), [(1, OptionRemark::Unrecognized)]);
        assert_eq!(remarks("-XX:+UseZGC -XX:-UseG1GC", 21), []);
    }

    #[test]
    fn a_misspelt_name_gets_the_right_one() {
        let found = judge_options(&["-XX:+UseG1Gc".to_owned()], 21, None);
        assert_eq!(found[0].instead.as_deref(), Some("perhaps UseG1GC is meant"));
        assert!(!starts_with(&found));
    }
}
