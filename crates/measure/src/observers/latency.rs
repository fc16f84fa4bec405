//! Keeps the interval logs of response times, one after the other in one file: each window's begins with a header.

use super::contract::{Observer, Target};
use assay_load::IntervalLogs;
use assay_model::file;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

#[derive(Default)]
pub(crate) struct LatencyObserver {
    path: PathBuf,
}

impl Observer for LatencyObserver {
    fn name(&self) -> &'static str {
        "latency"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        self.path = target.folder.join(file::LATENCY_LOG);
        Ok(())
    }

    fn logs(&mut self) -> Result<Option<IntervalLogs>, String> {
        let opened = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path);
        let writer = opened.map_err(|e| format!("{} could not be written: {e}", self.path.display()))?;
        Ok(Some(IntervalLogs::each_second(writer)))
    }
}
