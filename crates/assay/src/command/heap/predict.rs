//! `assay heap predict`.

use super::dump;
use super::no_such_class::no_such_class;
use crate::arguments::{Format, PredictArguments};
use crate::command::identity_of;
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::forms::{self, HeapIn};
use crate::output_file::can_be_written;
use assay_gclog::Records;
use assay_heap::ClassHistogram;
use assay_heap::live::{self, LiveError, LiveHistogram};
use assay_heap::predict::{PredictOptions, garbage, predict as predict_histogram};
use assay_model::{DumpModel, HeapPrediction, Problem};
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long a process is stopped for each GiB of its heap that is in use. Measured: 1.9 to 2.0 s on 2 busy cores, for a heap
/// of small objects; large arrays take less.
const FREEZE_S_PER_GIB: f64 = 2.0;

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

/// What objects there are, and where they were found.
struct Heap {
    histogram: ClassHistogram,
    source: String,
    known_model: Option<DumpModel>,
    known_stranger: Option<String>,
    /// How long a process was stopped for it.
    frozen_ms: Option<f64>,
}

/// From a dump, or from a running JVM.
fn read(arguments: &PredictArguments) -> Result<Heap, Failure> {
    match (&arguments.dump, &arguments.pid) {
        (Some(path), _) => {
            let (histogram, source) = (dump::read(path)?, dump::name_of(path));
            Ok(Heap { histogram, source, known_model: None, known_stranger: None, frozen_ms: None })
        }
        (None, Some(process)) => {
            let pid = pid_of(process)?;
            identity_of(pid)?;
            let LiveHistogram { histogram, model, freeze, .. } =
                live::histogram_after(pid, arguments.freeze, &|used| announce(pid, used, arguments.freeze))
                    .map_err(not_walked)?;
            let frozen_ms = Some(freeze.frozen_ns as f64 / 1e6);
            let (known_model, known_stranger) =
                model.map_or_else(|why| (None, Some(why)), |m| (Some(m), None));
            Ok(Heap { histogram, source: format!("process {pid}"), known_model, known_stranger, frozen_ms })
        }
        (None, None) => Err(Failure::input("give a heap dump, or --pid PID")),
    }
}

/// Says that a process is about to be stopped, and for how long about.
fn announce(pid: u32, used_bytes: u64, limit: Duration) {
    let gib = used_bytes as f64 / f64::from(1 << 30);
    let expected = Duration::from_secs_f64(gib * FREEZE_S_PER_GIB).min(limit);
    say!(
        "stopping process {pid} while {gib:.2} GiB of heap are read: some {:.1} s, {limit:?} at most (--freeze)",
        expected.as_secs_f64()
    );
}

/// What a process is, and how long it may be stopped, is the user's choice; the rest is the environment's.
fn not_walked(error: LiveError) -> Failure {
    match error {
        LiveError::Linux(error) => error.into(),
        error @ (LiveError::NoJvm { .. } | LiveError::TimeOver { .. }) => Failure::input(error.to_string()),
        error => Failure::environment(error.to_string()),
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
