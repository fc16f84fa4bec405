//! Observes resident memory by area: once a second while a window is measured, and at its end.

use super::{Observer, Seen, Target};
use assay_linux::{ProcRoot, monotonic_ns};
use assay_model::{MemorySample, Window, file};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

const INTERVAL_NS: u64 = 1_000_000_000;

#[derive(Default)]
pub(super) struct MemoryObserver {
    file: Option<File>,
    next_ns: u64,
}

impl MemoryObserver {
    fn take(&mut self, target: &Target, now_ns: u64) -> Result<MemorySample, String> {
        let sample = assay_memory::sample(&ProcRoot::default(), target.pid, target.heap, now_ns)
            .map_err(|e| e.to_string())?;
        let mut line = serde_json::to_vec(&sample).map_err(|e| e.to_string())?;
        line.push(b'\n');
        if let Some(file) = &mut self.file {
            file.write_all(&line).map_err(|e| format!("{} could not be written: {e}", file::MEMORY))?;
        }
        self.next_ns = now_ns + INTERVAL_NS;
        Ok(sample)
    }
}

impl Observer for MemoryObserver {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        let path = target.folder.join(file::MEMORY);
        let opened = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        self.file = Some(opened.map_err(|e| format!("{} could not be made: {e}", path.display()))?);
        Ok(())
    }

    fn sample(&mut self, target: &Target) -> Result<(), String> {
        let now_ns = monotonic_ns();
        if now_ns < self.next_ns {
            return Ok(());
        }
        self.take(target, now_ns).map(|_| ())
    }

    fn end_window(&mut self, target: &Target, _: &Seen<'_>, window: &mut Window) -> Result<(), String> {
        let sample = self.take(target, monotonic_ns())?;
        window.metrics.insert("rss_bytes".to_owned(), sample.rss_bytes as f64);
        Ok(())
    }
}
