//! What a release makes of options, by the tables.

mod other;
mod relations;
mod remark;

pub(super) use other::{is_known, takes_next_word};
pub(super) use remark::remark;

use super::history::{FlagInRelease, FlagState, ListedRange, flag_in, flag_names};
use super::listed::ListedFlag;
use super::parse::{Setting, has_variable, is_name, is_whole_number};
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
/// Flags that ask for a collector; two of one kind stand beside each other.
const COLLECTORS: [(&str, &str); 9] = [
    ("UseConcMarkSweepGC", "CMS"),
    ("UseParNewGC", "CMS"),
    ("UseEpsilonGC", "Epsilon"),
    ("UseG1GC", "G1"),
    ("UseParallelGC", "Parallel"),
    ("UseParallelOldGC", "Parallel"),
    ("UseSerialGC", "Serial"),
    ("UseShenandoahGC", "Shenandoah"),
    ("UseZGC", "Z"),
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

/// JDK 9 was the first to list the ranges of its flags; 11 is the first such release in the tables.
const LISTS_BOUNDS_SINCE: u32 = 11;
/// Types of flags that are whole numbers.
const NUMBERS: [&str; 6] = ["intx", "uintx", "size_t", "uint64_t", "int", "uint"];

/// Flags whose texts name files or commands that decide whether the JVM starts: nothing is opened to judge them.
const OPENED: [&str; 17] = [
    "AOTCache",
    "AOTCacheOutput",
    "AOTConfiguration",
    "AOTMode",
    "AllocateHeapAt",
    "AllocateOldGenAt",
    "ArchiveClassesAtExit",
    "CompileCommand",
    "CompileCommandFile",
    "CompileOnly",
    "CompilerDirectivesFile",
    "ControlIntrinsic",
    "DisableIntrinsic",
    "Flags",
    "FlightRecorderOptions",
    "StartFlightRecording",
    "VMOptionsFile",
];

/// How a release treats options, in the order in which the JVM reads them. `listed` are the flags of a JVM of that release that is
/// here; where it has a flag, it is asked rather than the table.
pub fn judge_options(
    options: &[String],
    release: u32,
    listed: Option<&BTreeMap<String, ListedFlag>>,
) -> Vec<RemarkOnOption> {
    let settings: Vec<Setting<'_>> = options.iter().map(|option| Setting::of(option)).collect();
    let judge = Judge { options, settings: &settings, release, listed };
    (0..settings.len()).flat_map(|at| judge.remarks(at)).collect()
}

/// Whether a remark says that no JVM starts with the option.
pub fn prevents(remark: OptionRemark) -> bool {
    matches!(
        remark,
        OptionRemark::Unrecognized
            | OptionRemark::Locked
            | OptionRemark::Conflict
            | OptionRemark::Malformed
            | OptionRemark::OutOfRange
            | OptionRemark::OtherJvm
            | OptionRemark::Refused
    )
}

/// Whether a JVM starts, as far as these remarks decide; `None` where an option was not judged and none prevents it.
pub fn starts_with(remarks: &[RemarkOnOption]) -> Option<bool> {
    if remarks.iter().any(|of| prevents(of.remark)) {
        return Some(false);
    }
    let is_open = remarks.iter().any(|of| of.remark == OptionRemark::NotJudged);
    (!is_open).then_some(true)
}

struct Judge<'a> {
    options: &'a [String],
    settings: &'a [Setting<'a>],
    release: u32,
    listed: Option<&'a BTreeMap<String, ListedFlag>>,
}

impl Judge<'_> {
    fn remarks(&self, at: usize) -> Vec<RemarkOnOption> {
        let option = &self.options[at];
        let Some(name) = self.settings[at].name() else {
            return other::remark_on(at, option, self.release).into_iter().collect();
        };
        let mut remarks: Vec<RemarkOnOption> = self.of_release(at, name).into_iter().collect();
        if starts_with(&remarks) == Some(false) || self.is_nothing(name) {
            return remarks;
        }
        if has_variable(option) {
            let why = "its value is put in by a script";
            return vec![remark(at, OptionRemark::NotJudged, Certainty::Unknown, why)];
        }
        if let Some(wrong) = self.malformed(at, name).or_else(|| self.out_of_range(at, name)) {
            return vec![wrong];
        }
        remarks.extend(self.conflict(at, name).or_else(|| self.relation(at, name)));
        remarks.extend(self.overridden(at, name));
        remarks.extend(self.of_collector(at, name));
        remarks.extend(self.default(at, name));
        remarks
    }

    /// Whether the JVM does nothing with a flag, so that no value of it is wrong.
    fn is_nothing(&self, name: &str) -> bool {
        self.flag(name).is_none_or(|flag| flag.state == FlagState::Ignored)
    }

    /// The flag that a name sets: of an alias, the one behind it.
    fn target<'n>(&self, name: &'n str) -> &'n str
    where
        Self: 'n,
    {
        let alias = flag_in(name, self.release).filter(|flag| flag.state == FlagState::Alias);
        alias.map_or(name, |flag| flag.kind.as_str())
    }

    fn flag(&self, name: &str) -> Option<&'static FlagInRelease> {
        let flag = flag_in(name, self.release)?;
        if flag.state == FlagState::Alias { flag_in(&flag.kind, self.release) } else { Some(flag) }
    }

    /// The last option that sets a flag, of the first `until` options.
    fn last(&self, name: &str, until: usize) -> Option<&Setting<'_>> {
        let sets = |setting: &&Setting<'_>| setting.name().is_some_and(|of| self.target(of) == name);
        self.settings[..until].iter().rev().find(sets)
    }

    fn of_release(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let of_table = flag_in(name, self.release).map(|flag| flag.state);
        if name.chars().any(|c| !c.is_ascii_alphanumeric() && c != '_') {
            return Some(glued(at, name));
        }
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
            FlagState::Alias if release == 8 => return None,
            FlagState::Alias => {
                let target = self.target(name);
                let why = format!("JDK {release} warns of it, and sets {target}");
                let instead = Some(format!("-XX:{target}"));
                return Some(RemarkOnOption {
                    instead,
                    ..remark(at, OptionRemark::Deprecated, Certainty::Known, why)
                });
            }
            FlagState::Diagnostic if self.is_unlocked(at + 1, "UnlockDiagnosticVMOptions") => return None,
            FlagState::Experimental if self.is_unlocked(at + 1, "UnlockExperimentalVMOptions") => {
                return None;
            }
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
            FlagState::Unrecognized if other::is_openj9(name) => {
                (OptionRemark::OtherJvm, "OpenJ9 has it, and HotSpot does not start".to_owned())
            }
            FlagState::Unrecognized => {
                (OptionRemark::Unrecognized, format!("JDK {release} does not have it, and does not start"))
            }
        };
        let instead = instead.map(|(.., instead)| (*instead).to_owned());
        Some(RemarkOnOption { instead, ..remark(at, kind, Certainty::Known, why) })
    }

    /// Of a name that no release has.
    fn never_known(&self, at: usize, name: &str) -> RemarkOnOption {
        if other::is_openj9(name) && !self.is_on("IgnoreUnrecognizedVMOptions") {
            let why = "OpenJ9 has it, and HotSpot does not start";
            return remark(at, OptionRemark::OtherJvm, Certainty::Known, why);
        }
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

    /// Of a form that the flag does not have, and of a value that is not a number where the flag is one: `-Xmx40gb`.
    fn malformed(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let kind = self.flag(name)?.kind.as_str();
        let known = |why: String| remark(at, OptionRemark::Malformed, Certainty::Known, why);
        let value = match self.settings[at] {
            Setting::Value(_, value) | Setting::StackSize(value) if kind != "bool" => value,
            Setting::Switch(..) if kind == "bool" => return None,
            _ if kind == "bool" => {
                let instead = Some(format!("-XX:+{name}, or -XX:-{name}"));
                return Some(RemarkOnOption {
                    instead,
                    ..known("it is switched on or off, and takes no value".to_owned())
                });
            }
            _ => {
                let instead = Some(format!("-XX:{name}=VALUE"));
                return Some(RemarkOnOption {
                    instead,
                    ..known("it takes a value, and neither + nor -".to_owned())
                });
            }
        };
        if kind == "double" {
            // JDK 8 takes no fraction without its point.
            let is_right = value.parse::<f64>().is_ok() && (8 < self.release || value.contains('.'));
            let instead = value.parse::<u64>().is_ok().then(|| format!("{value}.0"));
            let why = format!("{value:?} is not a number as JDK {} reads fractions", self.release);
            return (!is_right).then(|| RemarkOnOption { instead, ..known(why) });
        }
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
        Some(RemarkOnOption { instead, ..known(why) })
    }

    /// Of a number beyond the bounds that the JVM lists for its flag.
    fn out_of_range(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let flag = self.flag(name)?;
        let Some(range) = flag.range.as_ref() else { return self.out_of_later_range(at, name) };
        let why = format!("JDK {} takes {}, and does not start", self.release, bounds(range));
        // JDK 8 lists none: its bounds were tried out.
        let certainty = if self.release == 8 { Certainty::Inferred } else { Certainty::Known };
        self.is_beyond(at, flag, range)?.then(|| remark(at, OptionRemark::OutOfRange, certainty, why))
    }

    /// Of a number outside the range that the first release with listed ranges has. JDK 8 has ranges, but does not list them.
    fn out_of_later_range(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        if LISTS_BOUNDS_SINCE <= self.release {
            return None;
        }
        let flag = flag_in(name, LISTS_BOUNDS_SINCE)?;
        let range = flag.range.as_ref()?;
        let why =
            format!("JDK {LISTS_BOUNDS_SINCE} takes {}, JDK {} lists no bounds", bounds(range), self.release);
        self.is_beyond(at, flag, range)?.then(|| remark(at, OptionRemark::NotJudged, Certainty::Unknown, why))
    }

    /// Whether a value lies outside the range; `None` if it is not a number.
    fn is_beyond(&self, at: usize, flag: &FlagInRelease, range: &ListedRange) -> Option<bool> {
        Some(match self.settings[at] {
            Setting::Value(_, value) if flag.kind == "double" => {
                let given: f64 = value.parse().ok()?;
                range.low.parse().is_ok_and(|low: f64| given < low)
                    || range.high.parse().is_ok_and(|high: f64| high < given)
            }
            setting => {
                let given = setting.number()?;
                range.low.parse().is_ok_and(|low: i128| given < low)
                    || range.high.parse().is_ok_and(|high: i128| high < given)
            }
        })
    }

    /// Whether the last option that switches a flag switches it on.
    fn is_on(&self, flag: &str) -> bool {
        self.is_unlocked(self.settings.len(), flag)
    }

    /// Whether it is on before this option: what unlocks must stand before what it unlocks.
    fn is_unlocked(&self, before: usize, flag: &str) -> bool {
        matches!(self.last(flag, before), Some(Setting::Switch(_, true)))
    }

    fn is_last(&self, at: usize, name: &str) -> bool {
        let target = self.target(name);
        !self.settings[at + 1..].iter().filter_map(Setting::name).any(|later| self.target(later) == target)
    }

    fn overridden(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let target = self.target(name);
        let sets = |setting: &&Setting<'_>| setting.name().is_some_and(|of| self.target(of) == target);
        let later = self.settings[at + 1..].iter().find(sets)?;
        let same = if *later == self.settings[at] {
            "the same value is given again"
        } else {
            "a later option sets it"
        };
        Some(remark(at, OptionRemark::Overridden, Certainty::Known, same))
    }

    /// Collectors that this release has and the options ask for: flag and kind.
    fn collectors(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_there = |name: &str| self.flag(name).is_some_and(|flag| flag.state.is_there());
        COLLECTORS.into_iter().filter(move |(name, _)| self.is_on(name) && is_there(name))
    }

    fn conflict(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let (_, kind) = COLLECTORS.iter().find(|(of, _)| *of == name)?;
        let is_one = self.settings[at] == Setting::Switch(name, true) && self.is_on(name);
        let (other, _) = self.collectors().find(|(_, other)| is_one && other != kind)?;
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
        // A name that began with the collector's, and sets a flag that all have.
        if self.target(name) != name {
            return None;
        }
        let (_, own, by_itself) = FAMILIES.iter().find(|(prefix, ..)| belongs(prefix))?;
        let asked = self.collectors().next();
        let why = match asked {
            Some((asked, _)) if asked != *own => {
                format!("it belongs to the collector that {own} selects, and {asked} is on")
            }
            None if !by_itself => format!("it belongs to the collector that only {own} selects"),
            _ => return None,
        };
        Some(remark(at, OptionRemark::NoEffect, Certainty::Inferred, why))
    }

    fn default(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let name = self.target(name);
        let of_jvm = self.listed.and_then(|listed| listed.get(name)).filter(|flag| flag.is_default);
        let (default, certainty) = match (of_jvm, self.flag(name)) {
            (Some(flag), _) => (flag.value.as_str(), Certainty::Known),
            // Of another machine: some defaults follow the processor.
            (None, Some(flag)) => (flag.default.as_deref()?, Certainty::Inferred),
            (None, None) => return None,
        };
        let why = format!("{default} is its value in JDK {} anyway", self.release);
        self.settings[at].is(default).then(|| remark(at, OptionRemark::AlreadyDefault, certainty, why))
    }
}

fn bounds(range: &ListedRange) -> String {
    match (range.low.as_str(), range.high.as_str()) {
        (low, "") => format!("{low} and more"),
        ("", high) => format!("{high} and less"),
        (low, high) => format!("{low} to {high}"),
    }
}

/// Of `-XX:+ExitOnOutOfMemoryError-Dx=y`: the JVM takes all that stands before the equals sign for a name.
fn glued(at: usize, name: &str) -> RemarkOnOption {
    let why = format!("no flag can be called {name:?}, and the JVM does not start");
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
    let (flag, behind) = name.split_at(end);
    let is_known = is_name(flag) && flag_names().any(|known| known == flag);
    let instead = (is_known && behind.starts_with('-')).then(|| format!("put a space behind {flag}"));
    RemarkOnOption { instead, ..remark(at, OptionRemark::Malformed, Certainty::Known, why) }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
