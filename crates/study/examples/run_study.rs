//! `run_study STUDY OUT [--quick] [--resume]`: the runner alone, with its events on standard output. The tests kill it.

use assay_study::{RunOptions, Study, StudyError, run};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop)).expect("a handler");
    let options = RunOptions { out: Some(arguments[1].clone().into()), resume: has("--resume") };
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
