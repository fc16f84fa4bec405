//! Observes collections and the reference mode, from the JVM's own log.

use super::{Observer, Seen, Target};
use assay_gclog::{freed_between, pauses_between, read, xlog_option};
use assay_load::CompletionTimeline;
use assay_model::{GcLog, Problem, Trial, Window, file};
use fs_err::File;
use std::io::{BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What a window needs once the log is whole.
struct Counted {
    from_ns: u64,
    to_ns: u64,
    completions: CompletionTimeline,
}

/// Adds the logging option, reads the log when the server is ready (mode, heap) and when it has stopped (collections).
#[derive(Default)]
pub(super) struct GcObserver {
    log: PathBuf,
    windows: Vec<Counted>,
}

impl Observer for GcObserver {
    fn name(&self) -> &'static str {
        "gc"
    }

    fn prepare(&mut self, target: &Target) -> Result<Vec<String>, String> {
        if !target.takes_jvm_options {
            return Err(
                "the command has no {jvm_options} by which a JVM could be told to log collections".to_owned()
            );
        }
        self.log = target.folder.join(file::GC_LOG);
        let path = self.log.to_str().filter(|p| !p.contains('"'));
        let path =
            path.ok_or("the run directory's path has a double quote or is no UTF-8; a JVM cannot log there")?;
        Ok(vec![xlog_option(path)])
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        let log = read_log(&self.log).map_err(|e| {
            format!("the server wrote no GC log ({e}); is it a HotSpot JVM of release 17 or later?")
        })?;
        target.heap = log.heap;
        target.mode = log.mode;
        Ok(())
    }

    fn end_window(&mut self, _: &Target, seen: &Seen<'_>, _: &mut Window) -> Result<(), String> {
        self.windows.push(Counted {
            from_ns: seen.measured.start_monotonic_ns,
            to_ns: seen.measured.end_monotonic_ns,
            completions: seen.measured.completions.clone(),
        });
        Ok(())
    }

    fn finish(&mut self, trial: &mut Trial) -> Result<(), String> {
        let log = read_log(&self.log).map_err(|e| format!("the GC log could not be read: {e}"))?;
        for (counted, window) in self.windows.iter().zip(&mut trial.windows) {
            counted.add_metrics(&log, window);
        }
        if log.mode.is_some() {
            trial.mode.clone_from(&log.mode);
        }
        trial.collector.clone_from(&log.collector);
        write_events(&self.log.with_file_name(file::GC_EVENTS), &log)
            .map_err(|e| format!("the collections could not be stored: {e}"))?;
        trial.problems.extend(log.problems);
        Ok(())
    }
}

impl Counted {
    fn add_metrics(&self, log: &GcLog, window: &mut Window) {
        let mut absent = |metric: &str, why: &str| {
            window.problems.push(Problem::new(file::GC_LOG, format!("{metric}: {why}")));
        };
        match freed_between(&log.events, self.from_ns, self.to_ns) {
            Some(gc) => {
                let requests = self.completions.completed_between(gc.first_gc_end_ns, gc.last_gc_end_ns);
                if requests >= 1.0 {
                    let kib = gc.freed_bytes as f64 / 1024.0;
                    window.metrics.insert("garbage_kib_per_request".to_owned(), kib / requests);
                } else {
                    absent("garbage_kib_per_request", "no request completed between its collections");
                }
            }
            None => absent(
                "garbage_kib_per_request",
                "fewer than two collections in the window; a longer window has more",
            ),
        }
        let seconds = self.to_ns.saturating_sub(self.from_ns) as f64 / 1e9;
        match pauses_between(&log.events, self.from_ns, self.to_ns) {
            Some(pauses) if seconds > 0.0 => {
                let ms_per_s = pauses.stopped_ns as f64 / 1e6 / seconds;
                window.metrics.insert("gc_pause_ms_per_s".to_owned(), ms_per_s);
            }
            _ => absent("gc_pause_ms_per_s", "a collection lacks its time"),
        }
    }
}

fn read_log(path: &Path) -> std::io::Result<GcLog> {
    let file = File::open(path)?;
    Ok(read(file::GC_LOG, BufReader::new(file)))
}

fn write_events(path: &Path, log: &GcLog) -> std::io::Result<()> {
    let options =
        std::fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    let mut writer = BufWriter::new(options);
    for event in &log.events {
        serde_json::to_writer(&mut writer, event)?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}
