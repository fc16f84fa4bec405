//! `assay flags`: what releases of the JVM make of options.

mod alerts;
mod options;

use crate::arguments::{FlagsArguments, FlagsCondition};
use crate::command::gate;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::{can_be_written, write_result};
use crate::stop;
use assay_findings::render_sarif;
use assay_jdk::options::{Verdict, WrittenOption, judge_here, prevents, table_releases};
use assay_jdk::{InstalledJvms, JvmWish, StartError};
use assay_model::{
    Certainty, Estimate, FlagsOfRelease, FlagsReport, GateCase, GateVerdict, JvmFacts, OptionRemark,
    RemarkOnOption, schema,
};
use assay_text::redact;
use options::{Asked, asked_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Looks options up in each release.
pub fn flags(arguments: &FlagsArguments) -> Result<ExitCode, Failure> {
    [&arguments.html, &arguments.sarif].into_iter().flatten().try_for_each(|path| can_be_written(path))?;
    gate::check_files(&arguments.gate_files)?;
    let Asked { options, lines, pid, file, own } = asked_of(arguments)?;
    let stop = stop::flag_on_signal()?;
    let jvms = InstalledJvms::find(&cache());
    let releases = releases(arguments, own)?.into_iter().map(|(release, version)| {
        let jvm = jvm_of(&jvms, release);
        let (verdict, is_asked) = judge(&options, release, jvm.as_ref(), &stop)?;
        let jvm = jvm.filter(|_| is_asked);
        Ok(FlagsOfRelease {
            release,
            version: jvm.as_ref().map_or(version, |jvm| jvm.version.clone()),
            home: jvm.map(|jvm| jvm.home),
            starts: verdict.starts,
            tried: verdict.tried,
            refusal: verdict.refusal.map(|text| redact::text(&text).into_owned()),
            remarks: verdict.remarks,
        })
    });
    let releases = releases.collect::<Result<_, Failure>>()?;
    let texts: Vec<String> = options.into_iter().map(|option| option.text).collect();
    let report =
        FlagsReport { schema: schema::FLAGS.to_owned(), pid, file, options: redact::words(&texts), releases };
    show_as_asked(&report, &arguments.format, arguments.html.as_deref())?;
    if let Some(path) = &arguments.sarif {
        write_result(path, |out| render_sarif(&alerts::of(&report, &lines), out))?;
    }
    let cases: Vec<GateCase> = report
        .releases
        .iter()
        .flat_map(|of| arguments.fail_if.iter().map(move |condition| case(*condition, of)))
        .collect();
    gate::tell(&cases);
    gate::write_cases(&arguments.gate_files, ("JVM options", None), &cases, &|| {
        assay_report::flags::document(&report).markdown()
    })?;
    Ok(gate::exit_code(true, &cases))
}

/// Where fetched JVMs lie.
#[cfg(target_os = "linux")]
fn cache() -> PathBuf {
    assay_study::cache_of(Path::new("."))
}

/// JVMs are fetched for studies, which run on Linux alone.
#[cfg(not(target_os = "linux"))]
fn cache() -> PathBuf {
    PathBuf::new()
}

/// What a release says to a condition of a build.
fn case(condition: FlagsCondition, of: &FlagsOfRelease) -> GateCase {
    let count = |counts: fn(OptionRemark) -> bool| of.remarks.iter().filter(|of| counts(of.remark)).count();
    let (word, number) = match condition {
        // The JVM that is here may refuse options together, and none of them alone.
        FlagsCondition::Fails => {
            ("fails", of.starts.map(|starts| if starts { 0 } else { count(prevents).max(1) }))
        }
        FlagsCondition::Warns => {
            let warned = count(|of| matches!(of, OptionRemark::Deprecated | OptionRemark::Ignored));
            let is_known = warned > 0 || count(|of| of == OptionRemark::NotJudged) == 0;
            ("warns", is_known.then_some(warned))
        }
    };
    let measured = number.map(|number| Estimate::exact(number as f64));
    GateCase {
        condition: word.to_owned(),
        variant: Some(format!("JDK {}", of.release)),
        baseline: None,
        measured,
        again: None,
        unit: "options",
        verdict: GateVerdict::of(measured, |number| number > 0.0),
        remedy: "not every option was judged".into(),
    }
}

/// What a release makes of the options that it gets, and whether a JVM was asked.
fn judge(
    options: &[WrittenOption],
    release: u32,
    jvm: Option<&JvmFacts>,
    stop: &AtomicBool,
) -> Result<(Verdict, bool), Failure> {
    let (own, others): (Vec<_>, Vec<_>) =
        options.iter().enumerate().partition(|(_, option)| option.releases.contains(&release));
    let given: Vec<String> = own.iter().map(|(_, option)| option.text.clone()).collect();
    let home = jvm.map(|jvm| Path::new(&jvm.home));
    let stopped = |error: StartError| Failure::environment(format!("JDK {release}: {error}"));
    let (mut verdict, is_asked) = judge_here(&given, release, home, stop).map_err(stopped)?;
    for remark in &mut verdict.remarks {
        remark.option = own.get(remark.option).map_or(0, |(at, _)| *at);
        remark.why = redact::text(&remark.why).into_owned();
    }
    verdict.remarks.extend(others.iter().map(|(at, _)| RemarkOnOption {
        option: *at,
        remark: OptionRemark::OtherRelease,
        certainty: Certainty::Known,
        why: "the file gives it to other releases".to_owned(),
        instead: None,
    }));
    verdict.remarks.sort_by_key(|of| (of.option, !prevents(of.remark)));
    Ok((verdict, is_asked))
}

/// The releases that were asked for, each with the version in the table.
fn releases(arguments: &FlagsArguments, own: Option<u32>) -> Result<Vec<(u32, String)>, Failure> {
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

/// A JVM of this release that is here.
fn jvm_of(jvms: &InstalledJvms, release: u32) -> Option<JvmFacts> {
    let release = release.to_string();
    jvms.choose(JvmWish { jvm: Some(&release), ..JvmWish::default() }).ok()
}
