//! Options tried on a JVM that is here: whether it starts with them, and which values it gives its flags.
//!
//! The JVM gets what the options say about itself alone. What would run commands, load code, open ports or files, wait, or take much memory or
//! many threads is left out (`harmless.rs`), and judged by the tables.

use super::harmless::harmless;
use super::judge::{judge_options, prevents, remark, starts_with};
use super::listed::{ListedFlag, listed_flags};
use super::parse::Setting;
use crate::start::{StartError, run_java};
use assay_model::{Certainty, OptionRemark, RemarkOnOption};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a JVM may take to start and end.
const START_MAX: Duration = Duration::from_secs(20);
/// Of what a JVM that does not start wrote.
const REFUSAL_CHARS_MAX: usize = 400;
/// Options that are tried each alone where a JVM does not start with all.
const ALONE_MAX: usize = 40;
/// A heap grows to whole regions; by less than this a size was only rounded.
const ROUNDED_BYTES_MAX: i128 = 64 << 20;
const UNLOCK: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions"];
/// What the start itself sets.
const OWN: [&str; 3] = ["ErrorFile", "PrintFlagsFinal", "UsePerfData"];

/// A JVM that is here, with its flags.
#[derive(Debug)]
pub struct JvmHere<'a> {
    java: &'a Path,
    release: u32,
    listed: BTreeMap<String, ListedFlag>,
}

/// What a release makes of options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether a JVM starts; absent where that is not known.
    pub starts: Option<bool>,
    /// Whether the JVM that is here was started with the options.
    pub tried: bool,
    /// What it wrote when it did not start.
    pub refusal: Option<String>,
    /// Remarks, by the option's index.
    pub remarks: Vec<RemarkOnOption>,
}

/// What a release of the tables makes of options, of which no JVM is asked.
pub fn judge_by_table(options: &[String], release: u32) -> Verdict {
    let remarks = judge_options(options, release, None);
    Verdict { starts: starts_with(&remarks), tried: false, refusal: None, remarks }
}

/// What a release makes of options, and whether a JVM of it was asked: the one at `home`, where that is given and lists its flags.
///
/// # Errors
/// When the user stops, or the folder for its files cannot be made.
pub fn judge_here(
    options: &[String],
    release: u32,
    home: Option<&Path>,
    stop: &AtomicBool,
) -> Result<(Verdict, bool), StartError> {
    let java = home.map(|home| home.join("bin/java"));
    match java.as_deref().and_then(|java| JvmHere::open(java, release, stop)) {
        Some(here) => Ok((here.judge(options, stop)?, true)),
        None => Ok((judge_by_table(options, release), false)),
    }
}

impl<'a> JvmHere<'a> {
    /// A JVM of this release; `None` where it does not list its flags, as those of other vendors do not.
    pub fn open(java: &'a Path, release: u32, stop: &AtomicBool) -> Option<JvmHere<'a>> {
        // A JVM lists locked options only when they are unlocked.
        let options = UNLOCK.into_iter().chain(["-XX:+PrintFlagsFinal"]).map(str::to_owned);
        let output = run_java(java, &options.collect::<Vec<_>>(), START_MAX, stop).ok()?;
        let listed = listed_flags(&output.text);
        (output.exit_code == Some(0) && !listed.is_empty()).then_some(JvmHere { java, release, listed })
    }

    /// What it makes of options: it is started with all of them that act on it alone.
    ///
    /// # Errors
    /// When the user stops, or the folder for its files cannot be made.
    pub fn judge(&self, options: &[String], stop: &AtomicBool) -> Result<Verdict, StartError> {
        let folder = tempfile::tempdir()?;
        let given: Vec<Option<Vec<String>>> =
            options.iter().map(|option| harmless(option, &self.listed, folder.path())).collect();
        let mut remarks = judge_options(options, self.release, Some(&self.listed));
        let all: Vec<String> = given.iter().flatten().flatten().cloned().collect();
        let (code, text) = match self.start(&all, folder.path(), stop) {
            Ok(output) => output,
            Err(StartError::Stopped) => return Err(StartError::Stopped),
            // It did not end in time: the tables decide.
            Err(_) => {
                return Ok(Verdict { starts: starts_with(&remarks), tried: false, refusal: None, remarks });
            }
        };
        if code == Some(0) {
            // The JVM accepted these options: remarks from the tables, which are of other builds, no longer apply.
            let is_settled = |of: &RemarkOnOption| {
                prevents(of.remark) || matches!(of.remark, OptionRemark::NotJudged | OptionRemark::Changed)
            };
            remarks.retain(|of| !(is_settled(of) && given.get(of.option).is_some_and(Option::is_some)));
            self.add_changed(options, &given, &listed_flags(&text), &mut remarks);
            return Ok(Verdict { starts: starts_with(&remarks), tried: true, refusal: None, remarks });
        }
        if starts_with(&remarks) != Some(false) {
            self.add_refused(&given, folder.path(), &mut remarks, stop)?;
        }
        Ok(Verdict { starts: Some(false), tried: true, refusal: Some(shortened(&text)), remarks })
    }

    fn start(
        &self,
        options: &[String],
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<(Option<i32>, String), StartError> {
        let own =
            [format!("-XX:ErrorFile={}", folder.join("error").display()), "-XX:+PrintFlagsFinal".to_owned()];
        let output = run_java(self.java, &[options, &own].concat(), START_MAX, stop)?;
        Ok((output.exit_code, output.text))
    }

    /// Flags that have another value than an option gives them.
    fn add_changed(
        &self,
        options: &[String],
        given: &[Option<Vec<String>>],
        effective: &BTreeMap<String, ListedFlag>,
        remarks: &mut Vec<RemarkOnOption>,
    ) {
        for (at, option) in options.iter().enumerate().filter(|(at, _)| given[*at].is_some()) {
            let setting = Setting::of(option);
            let is_last =
                |name: &str| !options[at + 1..].iter().any(|later| Setting::of(later).name() == Some(name));
            let Some(name) = setting.name().filter(|name| is_last(name) && !OWN.contains(name)) else {
                continue;
            };
            let Some(flag) = effective.get(name).filter(|flag| !setting.is(&flag.value)) else { continue };
            if is_rounded(&setting, &flag.value) {
                continue;
            }
            let why = format!("on this machine JDK {} makes it {}", self.release, flag.value);
            remarks.retain(|of| of.option != at || of.remark != OptionRemark::AlreadyDefault);
            remarks.push(remark(at, OptionRemark::Changed, Certainty::Known, why));
        }
    }

    /// Options with which the JVM does not start either when each is given alone.
    fn add_refused(
        &self,
        given: &[Option<Vec<String>>],
        folder: &Path,
        remarks: &mut Vec<RemarkOnOption>,
        stop: &AtomicBool,
    ) -> Result<(), StartError> {
        let tried = given.iter().enumerate().filter_map(|(at, words)| Some((at, words.as_ref()?)));
        for (at, words) in tried.take(ALONE_MAX) {
            let unlocked: Vec<String> =
                UNLOCK.map(str::to_owned).into_iter().chain(words.iter().cloned()).collect();
            match self.start(&unlocked, folder, stop) {
                Ok((Some(0), _)) => {}
                Err(StartError::Stopped) => return Err(StartError::Stopped),
                Err(_) => {}
                Ok(_) => {
                    let why = format!("on this machine JDK {} does not start with it", self.release);
                    remarks.retain(|of| of.option != at);
                    remarks.push(remark(at, OptionRemark::Refused, Certainty::Known, why));
                }
            }
        }
        Ok(())
    }
}

fn is_rounded(setting: &Setting<'_>, listed: &str) -> bool {
    let (Some(given), Ok(listed)) = (setting.number(), listed.parse::<i128>()) else { return false };
    let by = listed - given;
    // The JVM rounds sizes up, and stack sizes, which it lists in KiB, to pages. Numbers up to 4,096 are not sizes.
    4096 < given && (0..ROUNDED_BYTES_MAX).contains(&by)
        || matches!(setting, Setting::StackSize(_)) && by.abs() < 64
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(REFUSAL_CHARS_MAX) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
#[path = "attempt_tests.rs"]
mod tests;
