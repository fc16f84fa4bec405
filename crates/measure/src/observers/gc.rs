//! Observes collections and the reference mode, from the JVM's own log.

use super::completed::Completed;
use super::contract::{Observer, Target};
use assay_gclog::{log_options, read_jvm};
use assay_gcstudy::TrialLog;
use assay_linux::wall_offset_ns;
use assay_load::Measured;
use assay_model::{Problem, Trial, Window, file, metric};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// A JVM says what it is in the first 20 KB of its log, and with the first collection whether class pointers are compressed.
const HEAD_BYTES: u64 = 1 << 20;

/// Adds the logging option, reads the head of the log when the server is ready (mode, heap) and all of it when that has stopped
/// (collections).
#[derive(Default)]
pub(crate) struct GcObserver {
    log: PathBuf,
    /// Every stretch of load since the server was ready.
    loads: Vec<Completed>,
    /// Start of the first of them.
    begun_ns: Option<u64>,
    /// Otherwise there are no metrics: the rates on the way to a capacity differ by variant.
    has_even_load: bool,
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
        self.has_even_load = target.has_even_load;
        self.log = target.folder.join(file::GC_LOG);
        let options = self.log.to_str().and_then(|path| log_options(path, target.has_unified_logging));
        let what = if target.has_unified_logging {
            "the run directory's path has a double quote or is no UTF-8; a JVM cannot log there"
        } else {
            "the run directory's path has other characters than letters, digits and -_./%; a JVM before JDK 9 cannot log there"
        };
        options.ok_or_else(|| what.to_owned())
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        let log = File::open(&self.log).map_err(|e| {
            format!("the server wrote no GC log ({e}); is it a HotSpot JVM of release 8 or later?")
        })?;
        let jvm = read_jvm(log.take(HEAD_BYTES));
        (target.heap, target.mode) = (jvm.heap, jvm.mode);
        Ok(())
    }

    fn end_load(&mut self, measured: &Measured) -> Result<(), String> {
        self.begun_ns.get_or_insert(measured.start_monotonic_ns);
        self.loads.push(Completed::of(measured));
        Ok(())
    }

    fn finish(&mut self, trial: &mut Trial) -> Result<(), String> {
        let log =
            self.read_and_store().map_err(|e| format!("the GC log could not be read and stored: {e}"))?;
        if self.has_even_load {
            trial.windows.iter_mut().for_each(|window| self.add_metrics(&log, window));
        }
        if let Some(jvm) = log.jvm() {
            if jvm.mode.is_some() {
                trial.mode.clone_from(&jvm.mode);
            }
            trial.collector.clone_from(&jvm.collector);
        }
        trial.problems.extend(log.problems());
        Ok(())
    }
}

impl GcObserver {
    /// Reads the whole log, and stores every record of it and what `assay gc` says of it.
    fn read_and_store(&self) -> io::Result<TrialLog> {
        let mut events = self.beside(file::GC_EVENTS)?;
        let log = TrialLog::read(file::GC_LOG, &self.log, wall_offset_ns(), Some(&mut events))?;
        events.flush()?;
        let mut report = self.beside(file::GC_REPORT)?;
        serde_json::to_writer(&mut report, &log.report())?;
        report.flush()?;
        Ok(log)
    }

    /// A new file beside the log, for its owner only.
    fn beside(&self, name: &str) -> io::Result<BufWriter<File>> {
        let mut options = File::options();
        let path = self.log.with_file_name(name);
        Ok(BufWriter::new(options.create(true).truncate(true).write(true).mode(0o600).open(path)?))
    }

    fn add_metrics(&self, log: &TrialLog, window: &mut Window) {
        let (from_ns, to_ns) = (window.start_monotonic_ns, window.end_monotonic_ns);
        match self.garbage_kib_per_request(log, from_ns, to_ns) {
            Ok(kib) => drop(window.metrics.insert(metric::GARBAGE_KIB_PER_REQUEST.to_owned(), kib)),
            Err(why) => {
                window.problems.push(Problem::new(metric::GARBAGE_KIB_PER_REQUEST, why));
            }
        }
        let seconds = to_ns.saturating_sub(from_ns) as f64 / 1e9;
        match log.pauses_between(from_ns, to_ns) {
            Some(pauses) if seconds > 0.0 => {
                let ms_per_s = pauses.stopped_ns as f64 / 1e6 / seconds;
                window.metrics.insert(metric::GC_PAUSE_MS_PER_S.to_owned(), ms_per_s);
            }
            _ => {
                let why = "a collection lacks its time";
                window.problems.push(Problem::new(metric::GC_PAUSE_MS_PER_S, why));
            }
        }
    }

    /// Bytes freed from one collection to another by the requests completed between them.
    ///
    /// Both collections lie in the window if it has two. A short window of a large heap may have only one: then the
    /// count begins at the last collection before it. That is as exact, since every request since then is known: those
    /// of the windows and of the settling between them. A server that is held still in between allocates nothing.
    fn garbage_kib_per_request(&self, log: &TrialLog, from_ns: u64, to_ns: u64) -> Result<f64, &'static str> {
        let gc = log
            .freed_until(self.begun_ns, from_ns, to_ns)
            .ok_or("too few collections in the window to count between; a longer window has more")?;
        let between = |load: &Completed| load.between(gc.first_gc_end_ns, gc.last_gc_end_ns);
        let requests: f64 = self.loads.iter().map(between).sum();
        if requests < 1.0 {
            return Err("no request completed between the collections");
        }
        Ok(gc.freed_bytes as f64 / 1024.0 / requests)
    }
}
