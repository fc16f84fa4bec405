//! `assay heap predict`.

use super::dump;
use super::no_such_class::no_such_class;
use super::objects::Heap;
use super::running;
use crate::arguments::{Format, PredictArguments};
use crate::failure::Failure;
use crate::forms::{self, HeapIn};
use crate::output_file::can_be_written;
use assay_gclog::Records;
use assay_heap::predict::{PredictOptions, garbage, predict as predict_histogram};
use assay_model::{HeapPrediction, Problem};
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

/// Does what was asked for.
pub fn predict(arguments: &PredictArguments) -> Result<ExitCode, Failure> {
    // Cheap checks come before a dump of many GB is read.
    let log = arguments.gc_log.as_deref().map(read_log).transpose()?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let Heap { histogram, source, known_model, known_stranger, frozen_ms } = read(arguments)?;
    let options = PredictOptions {
        source,
        jdk: arguments.jdk,
        class: arguments.class.clone(),
        known_model,
        known_stranger,
        ..PredictOptions::default()
    };
    let predicted = predict_histogram(&histogram, &options);
    drop(histogram);
    let mut prediction = predicted.map_err(|error| no_such_class(&options.source, &error))?;
    prediction.frozen_ms = frozen_ms;
    if let Some((name, log)) = &log {
        add_garbage(&mut prediction, name, log);
    }
    show(&prediction, arguments)?;
    Ok(ExitCode::SUCCESS)
}

/// From a dump, or from a running JVM.
fn read(arguments: &PredictArguments) -> Result<Heap, Failure> {
    match (&arguments.dump, &arguments.pid) {
        (Some(path), _) => {
            let (histogram, source) = (dump::read(path)?, dump::name_of(path));
            Ok(Heap { histogram, source, known_model: None, known_stranger: None, frozen_ms: None })
        }
        (None, Some(process)) => running::heap_of(process, arguments.freeze),
        (None, None) => Err(Failure::input("give a heap dump, or --pid PID")),
    }
}

/// Prints and writes a prediction as it was asked for.
fn show(prediction: &HeapPrediction, arguments: &PredictArguments) -> Result<(), Failure> {
    let csv = arguments.csv.then_some(Format::Csv.into());
    let form = csv.or(arguments.format.form_beside(arguments.html.is_some()));
    forms::show(&HeapIn { prediction, top: arguments.top }, form, arguments.html.as_deref())
}

fn read_log(path: &Path) -> Result<(String, Records), Failure> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| {
        Failure::input(format!("cannot read {name}: {e}\n  write one with: java -Xlog:gc*:file=gc.log"))
    })?;
    Ok((name.clone(), Records::read(name, file)))
}

/// A log that gives no rate is a problem of the result, no end of it.
fn add_garbage(prediction: &mut HeapPrediction, name: &str, log: &Records) {
    prediction.problems.extend(log.problems.iter().cloned());
    match garbage(prediction, log.jvm.mode.as_ref(), &log.records) {
        Ok((garbage, basis)) => {
            prediction.garbage = garbage;
            prediction.garbage_basis = Some(format!("{name}: {basis}"));
        }
        Err(why) => prediction.problems.push(Problem::new(name, why)),
    }
}
