//! `assay host`: what rules say of the machine and of the JVMs on it.

use super::run;
use crate::arguments::{HostArguments, HostCommand, HostDiffArguments, Severity};
use crate::command::{gate, read_stored};
use crate::failure::Failure;
use crate::forms::{Described, HostCheck, show, show_as_asked};
use crate::output;
use crate::output_file::{can_be_written, write_result};
use assay_findings::{Alert, Alerts, Judged, Judgement, Rule, render_sarif};
use assay_model::{
    Finding, GateVerdict, HostReport, HostRule, HostRuling, HostSnapshot, HostVerdict, schema,
};
use assay_study::RunOptions;
use assay_text::near::hint;
use std::path::Path;
use std::process::ExitCode;

/// Checks the machine or a snapshot, or compares two.
pub fn host(arguments: &HostArguments) -> Result<ExitCode, Failure> {
    if let Some(HostCommand::Diff(arguments)) = &arguments.command {
        return diff(arguments);
    }
    if let Some([rule, study]) = arguments.what_if.as_deref() {
        return what_if(arguments, rule, Path::new(study));
    }
    let files = [&arguments.snapshot, &arguments.html, &arguments.sarif];
    files.into_iter().flatten().try_for_each(|path| can_be_written(path))?;
    gate::check_files(&arguments.gate_files)?;
    let snapshot = match &arguments.from {
        Some(path) => read(path)?,
        None => assay_host::take_snapshot(env!("CARGO_PKG_VERSION"))?,
    };
    if let Some(path) = &arguments.snapshot {
        write_result(path, |out| Ok(serde_json::to_writer_pretty(out, &snapshot)?))?;
    }
    let report = assay_host::check(&snapshot);
    let checked = HostCheck { report: &report, has_all: arguments.format.extent.all };
    let format = arguments.format.form_beside(arguments.html.is_some());
    show(&checked, format, arguments.html.as_deref())?;
    let cases = judged(&report, arguments.fail_on);
    let failed = || cases.iter().filter(|case| case.verdict == GateVerdict::Holds);
    if format.is_none() {
        // Nothing else says why the exit code is not 0.
        failed().for_each(|case| say!("fails: {}: {}", case.name, case.line));
    }
    let judged = Judged { suite: "assay host", not_usable: None, cases: &cases };
    gate::write_files(&arguments.gate_files, &judged, &|| checked.document().markdown())?;
    if let Some(path) = &arguments.sarif {
        let alerts = alerts(&report, arguments.from.as_deref());
        write_result(path, |out| render_sarif(&alerts, out))?;
    }
    let fails = failed().next().is_some();
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// What the rules say of this machine and its JVMs now.
pub fn look() -> Result<HostReport, Failure> {
    Ok(assay_host::check(&assay_host::take_snapshot(env!("CARGO_PKG_VERSION"))?))
}

/// A case for each rule and JVM that it was applied to. An unknown result neither fails a build nor passes.
fn judged(report: &HostReport, least: Option<Severity>) -> Vec<Judgement> {
    let Some(least) = least.map(stored) else { return Vec::new() };
    let applied = report
        .rulings
        .iter()
        .filter(|ruling| ruling.verdict != HostVerdict::NotApplicable && least <= ruling.finding.severity);
    let case = |ruling: &HostRuling| {
        let verdict = match ruling.verdict {
            HostVerdict::Bad => GateVerdict::Holds,
            HostVerdict::Good | HostVerdict::NotApplicable => GateVerdict::Passes,
            HostVerdict::Unknown | HostVerdict::Other => GateVerdict::NotShown,
        };
        let jvm = ruling.pid.map_or_else(String::new, |pid| format!(": JVM {pid}"));
        let finding = &ruling.finding;
        let claim = ruling.fault.as_ref().unwrap_or(&finding.claim);
        let found = format!("{claim}: {}", finding.evidence_line());
        let line = format!("{}: {found}", ruling.verdict);
        Judgement { name: format!("{}{jvm}", finding.rule), verdict, found, line }
    };
    applied.map(case).collect()
}

/// Every rule that was applied, and those that are broken, each for the machine or for a JVM on it.
fn alerts(report: &HostReport, snapshot: Option<&Path>) -> Alerts {
    let rule = |ruling: &HostRuling| {
        let Finding { rule, severity, claim, effect, source, .. } = &ruling.finding;
        let help = [effect.clone(), source.as_ref().map(|source| format!("Source: {source}"))];
        Rule {
            id: rule.to_string(),
            severity: *severity,
            title: claim.clone(),
            help: help.into_iter().flatten().collect(),
        }
    };
    let alert = |ruling: &HostRuling| {
        let finding = &ruling.finding;
        let step =
            finding.change.as_ref().map_or_else(String::new, |change| format!(" → {}", change.command));
        let program = ruling.program.as_ref().map_or_else(String::new, |program| format!(" ({program})"));
        Alert {
            rule: finding.rule.to_string(),
            severity: finding.severity,
            message: format!("{}: {}{step}", ruling.fault(), finding.evidence_line()),
            subject: ruling.pid.map_or_else(|| "machine".to_owned(), |pid| format!("JVM {pid}{program}")),
            file: snapshot.map(|path| (path.display().to_string(), None)),
        }
    };
    let applied = || report.rulings.iter().filter(|ruling| ruling.verdict != HostVerdict::NotApplicable);
    Alerts {
        version: env!("CARGO_PKG_VERSION"),
        command: "assay host",
        rules: applied().map(rule).collect(),
        alerts: applied().filter(|ruling| ruling.verdict == HostVerdict::Bad).map(alert).collect(),
    }
}

/// A rule's advice, tried on the load of a study.
fn what_if(arguments: &HostArguments, word: &str, study: &Path) -> Result<ExitCode, Failure> {
    let is_json = arguments.format.is_json("--what-if")?;
    let words = || HostRule::ALL.iter().map(|rule| rule.word());
    let rule = HostRule::ALL.iter().find(|rule| rule.word() == word).copied().ok_or_else(|| {
        Failure::input(format!(
            "there is no rule `{word}`{}\n  to list them: assay host --all",
            hint(word, words())
        ))
    })?;
    let advice = assay_host::advice(rule).ok_or_else(|| {
        let what = "has no setting that a study could apply: it is about what was found, or its value depends on the machine";
        Failure::input(format!("the rule {rule} {what}\n  what it advises: assay host --all"))
    })?;
    let prepared = assay_study::what_if(study, rule, &advice)?.prepare(arguments.quick)?;
    if prepared.changes_nothing() {
        let what = "is already as this rule wants it, so there is nothing to compare";
        return Err(Failure::input(format!("this machine {what} ({rule}: {})", advice.trim())));
    }
    let options = RunOptions {
        out: arguments.out.clone(),
        allow_host_changes: arguments.allow_host_changes,
        ..RunOptions::default()
    };
    let (result, page) = run::carry_out(&prepared, &options)?;
    let said = assay_study::judge_what_if(&prepared, &result, rule, arguments.least);
    if is_json {
        output::print_json(&said)?;
    } else {
        output::print_text(
            &assay_report::host::what_if(&said).terminal(output::view(arguments.format.extent.extent())),
        )?;
    }
    say!("\nreport: {}", page.display());
    Ok(if said.ratio.is_some() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn diff(arguments: &HostDiffArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let comparison = assay_host::compare(&before, &after);
    show_as_asked(&comparison, &arguments.format, arguments.html.as_deref())?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<HostSnapshot, Failure> {
    read_stored(path, schema::HOST_SNAPSHOT, "a snapshot of `assay host --snapshot`").map_err(|failure| {
        Failure::input(format!("{}\n  make one with: assay host --snapshot FILE", failure.message))
    })
}

fn stored(severity: Severity) -> assay_model::Severity {
    match severity {
        Severity::Note => assay_model::Severity::Note,
        Severity::Warning => assay_model::Severity::Warning,
        Severity::Error => assay_model::Severity::Error,
    }
}
