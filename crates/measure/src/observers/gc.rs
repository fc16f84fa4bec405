//! Observes collections and the reference mode, from the logs of the JVMs: the server's, and those of JVMs beside it, by role.

use super::completed::Completed;
use super::contract::{Observer, Target};
use assay_gclog::{log_options, read_jvm};
use assay_gcstudy::{PauseWindow, TrialLog};
use assay_linux::wall_offset_ns;
use assay_load::Measured;
use assay_model::{FaultRecord, Metric, Problem, Trial, Window, file, metric};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A JVM says what it is in the first 20 KB of its log, and with the first collection whether class pointers are compressed.
const HEAD_BYTES: u64 = 1 << 20;

/// A JVM that writes a log.
#[derive(Debug, Clone, Default)]
struct Jvm {
    /// `server`, or the name of its `[[process]]` table: metrics are of all its JVMs together.
    table: String,
    /// Its own role.
    role: String,
    log: PathBuf,
}

/// The log of a JVM, read.
struct ReadLog {
    jvm: Jvm,
    log: TrialLog,
    /// When it was started again.
    restarts_ns: Vec<u64>,
}

/// Adds the logging option, reads the head of the server's log when that is ready (mode, heap) and all of all logs when all have stopped
/// (collections).
#[derive(Default)]
pub(crate) struct GcObserver {
    /// Absent where the server takes no JVM options, and JVMs beside it do.
    server: Option<Jvm>,
    beside: Vec<Jvm>,
    /// Every load run since the server was ready.
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
        if !target.takes_jvm_options && target.jvms_beside.is_empty() {
            return Err(
                "the command has no {jvm_options}, which would make the JVM log collections".to_owned()
            );
        }
        self.has_even_load = target.has_even_load;
        let jvm = |table: &str, role: &str| Jvm {
            table: table.to_owned(),
            role: role.to_owned(),
            log: target.folder.join(file::gc_log_of(role)),
        };
        self.beside = target.jvms_beside.iter().map(|(table, role)| jvm(table, role)).collect();
        self.server = target.takes_jvm_options.then(|| jvm(file::SERVER, file::SERVER));
        match self.server.iter().chain(&self.beside).next() {
            // Names of roles are such that all logs can be written where one can.
            Some(first) => options_of(first, target)
                .map(|options| if self.server.is_some() { options } else { Vec::new() }),
            None => Ok(Vec::new()),
        }
    }

    fn options_beside(&self, target: &Target, role: &str) -> Vec<String> {
        let jvm = self.beside.iter().find(|jvm| jvm.role == role);
        jvm.and_then(|jvm| options_of(jvm, target).ok()).unwrap_or_default()
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        let Some(server) = &self.server else { return Ok(()) };
        let log = File::open(&server.log).map_err(|e| {
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
        let mut read = Vec::new();
        if let Some(server) = &self.server {
            let log = read_and_store(server)
                .map_err(|e| format!("the GC log could not be read and stored: {e}"))?;
            if let Some(jvm) = log.jvm() {
                if jvm.mode.is_some() {
                    trial.mode.clone_from(&jvm.mode);
                }
                trial.collector.clone_from(&jvm.collector);
            }
            trial.problems.extend(log.problems());
            read.push(ReadLog::new(server, log, trial));
        }
        let mut unread = Vec::new();
        for jvm in &self.beside {
            match read_and_store(jvm) {
                Ok(log) => {
                    trial.problems.extend(log.problems());
                    read.push(ReadLog::new(jvm, log, trial));
                }
                Err(e) => {
                    let what = format!("the GC log could not be read and stored: {e}");
                    trial.problems.push(Problem::new(&jvm.role, what));
                    unread.push(jvm.table.as_str());
                }
            }
        }
        if self.has_even_load {
            for window in &mut trial.windows {
                self.add_metrics(&read, window);
                if !self.beside.is_empty() {
                    self.add_by_role(&read, &unread, window);
                }
            }
        }
        Ok(())
    }
}

/// The options by which a JVM writes its log.
fn options_of(jvm: &Jvm, target: &Target) -> Result<Vec<String>, String> {
    let options = jvm.log.to_str().and_then(|path| log_options(path, target.has_unified_logging));
    let what = if target.has_unified_logging {
        "the run directory's path has a double quote or is not UTF-8; a JVM cannot log there"
    } else {
        "the run directory's path has other characters than letters, digits and -_./%; a JVM before JDK 9 cannot log there"
    };
    options.ok_or_else(|| what.to_owned())
}

/// Reads the whole log, and stores every record of it and what `assay gc` says of it.
fn read_and_store(jvm: &Jvm) -> io::Result<TrialLog> {
    let mut events = beside(&jvm.log.with_extension("ndjson"))?;
    let name = file::gc_log_of(&jvm.role);
    let log = TrialLog::read(&name, &logs_of(&jvm.log, &name), wall_offset_ns(), Some(&mut events))?;
    events.flush()?;
    let mut report = beside(&jvm.log.with_extension("json"))?;
    serde_json::to_writer(&mut report, &log.report())?;
    report.flush()?;
    Ok(log)
}

/// The log of each start, in order.
fn logs_of(log: &Path, name: &str) -> Vec<PathBuf> {
    let earlier = (1..).map(|start| log.with_file_name(file::earlier_log(name, start)));
    let earlier = earlier.take_while(|path| path.is_file());
    earlier.chain([log.to_owned()]).collect()
}

/// A new file beside the log, for its owner only.
fn beside(path: &Path) -> io::Result<BufWriter<File>> {
    let mut options = File::options();
    Ok(BufWriter::new(options.create(true).truncate(true).write(true).mode(0o600).open(path)?))
}

impl ReadLog {
    fn new(jvm: &Jvm, log: TrialLog, trial: &Trial) -> ReadLog {
        let of_jvm = |fault: &&FaultRecord| fault.role == jvm.role || fault.role == jvm.table;
        let faults = trial.windows.iter().flat_map(|window| &window.faults).filter(of_jvm);
        let restarts_ns = faults.filter(|fault| fault.new_pid.is_some()).filter_map(|f| f.done_monotonic_ns);
        ReadLog { jvm: jvm.clone(), log, restarts_ns: restarts_ns.collect() }
    }

    fn pauses(&self, window: &Window) -> Result<PauseWindow, String> {
        let pauses = self.log.pauses_between(window.start_monotonic_ns, window.end_monotonic_ns);
        pauses.ok_or_else(|| "a collection lacks its time".to_owned())
    }
}

impl GcObserver {
    /// Those of the server.
    fn add_metrics(&self, read: &[ReadLog], window: &mut Window) {
        let Some(server) = read.iter().find(|of| of.jvm.role == file::SERVER) else { return };
        let garbage = self.garbage_kib_per_request(server, window);
        add(metric::GARBAGE_KIB_PER_REQUEST, garbage, window);
        let seconds = window.seconds();
        let pauses = server.pauses(window).and_then(|of| ms_per_s(&of, seconds));
        add(metric::GC_PAUSE_MS_PER_S, pauses, window);
    }

    /// Those of each role, of all its JVMs together, and of all roles.
    fn add_by_role(&self, read: &[ReadLog], unread: &[&str], window: &mut Window) {
        let mut roles: BTreeMap<&str, Vec<&ReadLog>> = BTreeMap::new();
        read.iter().for_each(|of| roles.entry(&of.jvm.table).or_default().push(of));
        let seconds = window.seconds();
        let mut all = [Ok(0.0), Ok(0.0), Ok(0.0)];
        let mut all_cpu_ms = Some(0.0);
        let totals =
            [metric::ALL_GARBAGE_KIB_PER_REQUEST, metric::ALL_GC_PAUSE_MS_PER_S, metric::ALL_GC_CPU_PERCENT];
        let kinds = [
            metric::PROCESS_GARBAGE_KIB_PER_REQUEST,
            metric::PROCESS_GC_PAUSE_MS_PER_S,
            metric::PROCESS_GC_CPU_PERCENT,
        ];
        for table in unread {
            all.iter_mut().for_each(|sum| *sum = Err(format!("the GC log of a {table} could not be read")));
        }
        for (table, logs) in roles.iter().filter(|(table, _)| !unread.contains(table)) {
            let sum = |of: &dyn Fn(&ReadLog) -> Result<f64, String>| -> Result<f64, String> {
                logs.iter().map(|log| of(log).map_err(|why| format!("{}: {why}", log.jvm.role))).sum()
            };
            let garbage = sum(&|log| self.garbage_kib_per_request(log, window));
            let pauses = sum(&|log| ms_per_s(&log.pauses(window)?, seconds));
            let gc_cpu_ms = sum(&|log| cpu_ms(&log.pauses(window)?));
            let cpu_ms = cpu_ms_of(table, window);
            all_cpu_ms = all_cpu_ms.zip(cpu_ms).map(|(sum, of)| sum + of);
            let of_role = [garbage, pauses, gc_cpu_ms];
            for (sum, of) in all.iter_mut().zip(&of_role) {
                let why = |why: &String| format!("of {why}");
                *sum = sum.clone().and_then(|sum| of.as_ref().map(|of| sum + of).map_err(why));
            }
            let [garbage, pauses, gc_cpu_ms] = of_role;
            let values = [Some(garbage), Some(pauses), cpu_ms.map(|cpu_ms| percent(gc_cpu_ms, cpu_ms))];
            for (kind, value) in kinds.iter().zip(values) {
                let id = Metric::of_process(kind, table).map(|of_role| of_role.id.into_owned());
                id.zip(value).into_iter().for_each(|(id, value)| add(&id, value, window));
            }
        }
        let [garbage, pauses, gc_cpu_ms] = all;
        let values = [Some(garbage), Some(pauses), all_cpu_ms.map(|cpu_ms| percent(gc_cpu_ms, cpu_ms))];
        for (id, value) in totals.iter().zip(values) {
            value.into_iter().for_each(|value| add(id, value, window));
        }
    }

    /// Bytes freed from one collection to another by the requests completed between them.
    ///
    /// Both collections lie in the window if it has two. A short window of a large heap may have only one: then the
    /// count begins at the last collection before it. That is as exact, since every request since then is known: those
    /// of the windows and of the settling between them. A server that is held still in between allocates nothing. What a JVM leaves
    /// that is ended is freed by no collection, so nothing is counted over its end.
    fn garbage_kib_per_request(&self, of: &ReadLog, window: &Window) -> Result<f64, String> {
        let (from_ns, to_ns) = (window.start_monotonic_ns, window.end_monotonic_ns);
        if of.restarts_ns.iter().any(|at_ns| (from_ns..to_ns).contains(at_ns)) {
            return Err("the JVM was started again in the window".to_owned());
        }
        let before = of.restarts_ns.iter().filter(|at_ns| **at_ns < from_ns).copied().max();
        let not_before_ns = self.begun_ns.map(|begun_ns| begun_ns.max(before.unwrap_or(0)));
        let gc = of
            .log
            .freed_until(not_before_ns, from_ns, to_ns)
            .ok_or("too few collections in the window to count between; a longer window has more")?;
        let between = |load: &Completed| load.between(gc.first_gc_end_ns, gc.last_gc_end_ns);
        let requests: f64 = self.loads.iter().map(between).sum();
        if requests < 1.0 {
            return Err("no request completed between the collections".to_owned());
        }
        Ok(gc.freed_bytes as f64 / 1024.0 / requests)
    }
}

/// Adds a value, or why there is none.
fn add(id: &str, value: Result<f64, String>, window: &mut Window) {
    match value {
        Ok(value) => drop(window.metrics.insert(id.to_owned(), value)),
        Err(why) => window.problems.push(Problem::new(id, why)),
    }
}

fn ms_per_s(pauses: &PauseWindow, seconds: f64) -> Result<f64, String> {
    let of = (seconds > 0.0).then(|| pauses.stopped_ns as f64 / 1e6 / seconds);
    of.ok_or_else(|| "the window has no length".to_owned())
}

fn cpu_ms(pauses: &PauseWindow) -> Result<f64, String> {
    pauses.cpu_ns.map(|ns| ns as f64 / 1e6).ok_or_else(|| "a collection lacks its CPU time".to_owned())
}

/// CPU time of a role in the window, where another observer has measured it.
fn cpu_ms_of(table: &str, window: &Window) -> Option<f64> {
    let id = Metric::of_process(metric::PROCESS_CPU_MS_PER_REQUEST, table)?.id;
    let ms = window.metrics.get(&*id)? * window.completed as f64;
    (ms > 0.0).then_some(ms)
}

fn percent(part: Result<f64, String>, whole: f64) -> Result<f64, String> {
    part.map(|part| 100.0 * part / whole)
}
