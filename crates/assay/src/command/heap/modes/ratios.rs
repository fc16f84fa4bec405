//! What the user's own objects occupy in other modes.

use crate::command::read_stored;
use crate::failure::Failure;
use assay_heap::modes::FootprintRatios;
use assay_heap::predict::{PredictOptions, predict};
use assay_model::{HeapPrediction, Problem, schema};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Those of a heap dump, by the layout rules of this release, or of a stored prediction of one (`assay heap predict
/// --json`); typical ones where nothing is given.
pub fn ratios(
    dump: Option<&Path>,
    jdk: u32,
    problems: &mut Vec<Problem>,
) -> Result<FootprintRatios, Failure> {
    let Some(path) = dump else { return Ok(FootprintRatios::typical()) };
    let source = path.display().to_string();
    let failed = |what: String| Failure::input(format!("{source}: {what}"));
    let mut file = BufReader::new(File::open(path).map_err(|e| failed(format!("cannot be read: {e}")))?);
    let is_stored = file.fill_buf().is_ok_and(|start| start.starts_with(b"{"));
    let prediction: HeapPrediction = if is_stored {
        read_stored(path, schema::HEAP_PREDICTION, "a result of assay heap predict")?
    } else {
        let histogram =
            assay_heap::hprof::read(file, &source, &|_| {}).map_err(|e| Failure::input(e.to_string()))?;
        let options = PredictOptions { source: source.clone(), jdk: Some(jdk), ..PredictOptions::default() };
        predict(&histogram, &options).map_err(|e| failed(e.to_string()))?
    };
    problems.extend(prediction.problems.iter().cloned());
    FootprintRatios::of(&prediction)
        .ok_or_else(|| failed("no objects with and without compressed references in it".to_owned()))
}
