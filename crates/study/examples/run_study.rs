//! `run_study STUDY OUT [--quick] [--resume] [--allow-host-changes] [--what-if RULE]`: the runner alone, with its events on standard output. The tests kill it.

use assay_model::HostRule;
use assay_study::{RunOptions, Study, StudyError, judge_what_if, run, what_if};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop)).expect("a handler");
    let options = RunOptions {
        out: Some(arguments[1].clone().into()),
        resume: has("--resume"),
        allow_host_changes: has("--allow-host-changes"),
    };
    let rule = arguments.iter().position(|a| a == "--what-if").and_then(|at| arguments.get(at + 1));
    let rule = rule.and_then(|word| HostRule::ALL.iter().find(|rule| rule.word() == word).copied());
    if let Some(rule) = rule {
        return try_rule(rule, &arguments[0], has("--quick"), &options, &stop);
    }
    let study = Study::read(arguments[0].as_ref()).map_err(StudyError::Diagnostics);
    let result = study.and_then(|study| study.prepare(has("--quick"))).and_then(|prepared| {
        run(&prepared, &options, &stop, &mut |event| {
            println!("{}", serde_json::to_string(event).expect("an event is JSON"));
        })
    });
    match result {
        Ok(result) => {
            println!("{}", result.dir.display());
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn try_rule(rule: HostRule, study: &str, quick: bool, options: &RunOptions, stop: &AtomicBool) -> ExitCode {
    let advice = assay_host::advice(rule).expect("a setting that a study can try");
    let said =
        what_if(study.as_ref(), rule, &advice).and_then(|study| study.prepare(quick)).and_then(|prepared| {
            let result = run(&prepared, options, stop, &mut |_| ())?;
            Ok(judge_what_if(&prepared, &result, rule, 2.0))
        });
    match said {
        Ok(said) => {
            println!("{}", serde_json::to_string_pretty(&said).expect("plain data"));
            ExitCode::SUCCESS
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
