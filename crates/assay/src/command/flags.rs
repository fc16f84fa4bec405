//! `assay flags`: what releases of the JVM make of options.

use crate::arguments::FlagsArguments;
use crate::command::identity_of;
use crate::command::process::jvm_named;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use crate::stop;
use assay_jdk::options::{ListedFlag, judge_options, listed_flags, starts_with, table_releases};
use assay_jdk::{InstalledJvms, JvmWish, run_java};
use assay_linux::ProcRoot;
use assay_model::{FlagsOfRelease, FlagsReport, JvmFacts, schema};
use assay_text::redact;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const START_MAX: Duration = Duration::from_secs(20);

/// Looks options up in each release.
pub fn flags(arguments: &FlagsArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let pid = process_of(&arguments.what)?;
    let (options, own) = match pid {
        Some(pid) => of_process(pid)?,
        None => (split(&arguments.what)?, None),
    };
    let stop = stop::flag_on_signal()?;
    let jvms = InstalledJvms::find(&assay_study::cache_of(Path::new(".")));
    let releases = asked(arguments, own)?.into_iter().map(|(release, version)| {
        let here = listed(&jvms, release, &stop);
        let remarks = judge_options(&options, release, here.as_ref().map(|(_, flags)| flags));
        FlagsOfRelease {
            release,
            version: here.as_ref().map_or(version, |(jvm, _)| jvm.version.clone()),
            home: here.map(|(jvm, _)| jvm.home),
            starts: starts_with(&remarks),
            remarks,
        }
    });
    let releases = releases.collect();
    let report =
        FlagsReport { schema: schema::FLAGS.to_owned(), pid, options: redact::words(&options), releases };
    show_as_asked(&report, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

/// The process that is meant; options begin with a dash.
fn process_of(what: &str) -> Result<Option<u32>, Failure> {
    match what.parse() {
        Ok(pid) => Ok(Some(pid)),
        Err(_) if what.trim_start().starts_with('-') || what.trim().is_empty() => Ok(None),
        Err(_) => jvm_named(what),
    }
}

fn split(text: &str) -> Result<Vec<String>, Failure> {
    let words = shell_words::split(text)
        .map_err(|e| Failure::input(format!("{text:?} cannot be split into options: {e}")))?;
    match words.iter().find(|word| !word.starts_with('-')) {
        Some(word) => Err(Failure::input(format!(
            "{word:?} is neither an option nor a process: no running JVM has it in its name\n  \
             assay flags 4242, or: assay flags '-Xmx4g -XX:+UseZGC'; to list the running JVMs: assay memory"
        ))),
        None if words.is_empty() => {
            Err(Failure::input("no option is given\n  assay flags '-Xmx4g -XX:+UseZGC'"))
        }
        None => Ok(words),
    }
}

fn of_process(pid: u32) -> Result<(Vec<String>, Option<u32>), Failure> {
    identity_of(pid)?;
    let found = assay_host::jvm_options(&ProcRoot::default(), pid)?;
    let Some(found) = found else {
        return Err(Failure::input(format!(
            "process {pid} is not a JVM\n  to list the running JVMs: assay memory"
        )));
    };
    if found.options.is_empty() {
        return Err(Failure::input(format!("JVM {pid} has no options that set flags")));
    }
    Ok((found.options, found.feature))
}

/// The releases that were asked for, each with the version in the table.
fn asked(arguments: &FlagsArguments, own: Option<u32>) -> Result<Vec<(u32, String)>, Failure> {
    let table: BTreeMap<u32, &str> = table_releases().collect();
    let wanted: Vec<u32> = match (&arguments.releases[..], own) {
        ([], Some(own)) => vec![own],
        ([], None) => table.keys().copied().collect(),
        (given, _) => given.to_vec(),
    };
    let known: Vec<String> = table.keys().map(u32::to_string).collect();
    let version = |release: u32| {
        let unknown = || {
            Failure::input(format!(
                "no flags of JDK {release} are known; of these they are: --for {}",
                known.join(",")
            ))
        };
        Ok((release, (*table.get(&release).ok_or_else(unknown)?).to_owned()))
    };
    wanted.into_iter().map(version).collect()
}

/// The flags of a JVM of this release that is here.
fn listed(
    jvms: &InstalledJvms,
    release: u32,
    stop: &AtomicBool,
) -> Option<(JvmFacts, BTreeMap<String, ListedFlag>)> {
    let release = release.to_string();
    let jvm = jvms.choose(JvmWish { jvm: Some(&release), ..JvmWish::default() }).ok()?;
    let java = Path::new(&jvm.home).join("bin/java");
    // A JVM lists locked options only when they are unlocked.
    let options =
        ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions", "-XX:+PrintFlagsFinal"];
    let output = run_java(&java, &options.map(str::to_owned), START_MAX, stop).ok()?;
    let flags = listed_flags(&output.text);
    (output.exit_code == Some(0) && !flags.is_empty()).then_some((jvm, flags))
}
