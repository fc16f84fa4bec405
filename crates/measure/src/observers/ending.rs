//! Observes resident memory of a program that ends by itself, which nobody can look at after its window: what the last look saw counts.

use super::contract::{Observer, Target};
use super::memory::{
    INTERVAL_NS, add_areas, areas_interval_ns, full_look, open_samples, sample_of, short_look, store,
};
use assay_linux::monotonic_ns;
use assay_load::Measured;
use assay_model::{MemoryReport, MemorySample, Problem, Window, file, metric};
use std::fs::File;
use std::io::Write;
use std::thread::JoinHandle;

/// A last look that is older than so many intervals does not stand for the end.
const INTERVALS_MAX: u64 = 3;

/// What a look saw: in full, or in short.
enum Look {
    Full(Box<MemoryReport>),
    Short(MemorySample),
}

pub(crate) struct EndingMemory {
    is_full: bool,
    interval_ns: u64,
    next_ns: u64,
    file: Option<File>,
    taking: Option<JoinHandle<Result<Look, String>>>,
    last: Option<Look>,
    /// Why the looks since then saw nothing: the last one finds that the program has ended.
    failed: Option<String>,
}

impl EndingMemory {
    /// By area where `areas` is set, for a program that runs about so many seconds.
    pub fn new(areas: bool, window_s: f64) -> EndingMemory {
        let interval_ns = if areas { areas_interval_ns(window_s) } else { INTERVAL_NS };
        EndingMemory {
            is_full: areas,
            interval_ns,
            next_ns: 0,
            file: None,
            taking: None,
            last: None,
            failed: None,
        }
    }

    fn end_look(&mut self) -> Result<(), String> {
        let Some(taking) = self.taking.take() else { return Ok(()) };
        match taking.join().map_err(|_| "the reader of memory panicked".to_owned())? {
            Ok(look) => {
                let mut line = serde_json::to_vec(&look.sample()).map_err(|e| e.to_string())?;
                line.push(b'\n');
                if let Some(file) = &mut self.file {
                    file.write_all(&line)
                        .map_err(|e| format!("{} could not be written: {e}", file::MEMORY))?;
                }
                (self.last, self.failed) = (Some(look), None);
            }
            Err(why) => self.failed = Some(why),
        }
        Ok(())
    }
}

impl Look {
    fn sample(&self) -> MemorySample {
        match self {
            Look::Full(report) => sample_of(report),
            Look::Short(sample) => sample.clone(),
        }
    }
}

impl Observer for EndingMemory {
    fn name(&self) -> &'static str {
        if self.is_full { "areas" } else { "memory" }
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        self.file = Some(open_samples(target)?);
        self.next_ns = monotonic_ns() + self.interval_ns;
        Ok(())
    }

    fn sample(&mut self, target: &Target) -> Result<(), String> {
        let now_ns = monotonic_ns();
        if self.taking.as_ref().is_some_and(JoinHandle::is_finished) {
            self.end_look()?;
            self.next_ns = now_ns + self.interval_ns;
        }
        if self.taking.is_none() && self.next_ns <= now_ns {
            let (target, is_full) = (target.clone(), self.is_full);
            self.taking = Some(std::thread::spawn(move || match is_full {
                true => full_look(&target).map(|report| Look::Full(Box::new(report))),
                false => short_look(&target).map(Look::Short),
            }));
        }
        Ok(())
    }

    fn end_window(
        &mut self,
        target: &Target,
        measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        self.end_look()?;
        let Some(last) = self.last.take() else {
            let why = self.failed.take().unwrap_or_else(|| "it ended before the first look at it".to_owned());
            return Err(why);
        };
        let sample = last.sample();
        let age_ns = measured.end_monotonic_ns.saturating_sub(sample.monotonic_ns);
        if INTERVALS_MAX * self.interval_ns < age_ns {
            let why = self.failed.take().map_or_else(String::new, |why| format!(": {why}"));
            let text =
                format!("the last look at its memory was {:.0} s before its end{why}", age_ns as f64 / 1e9);
            window.problems.push(Problem::new(metric::RSS_BYTES, text));
            return Ok(());
        }
        window.metrics.insert(metric::RSS_BYTES.to_owned(), sample.rss_bytes as f64);
        if let Look::Full(report) = last {
            add_areas(&report, window);
            store(target, &report)?;
        }
        Ok(())
    }
}
