//! One launch: a server's process with its observers, from its start to its stored trial.

use super::{Failure, Run};
use crate::companion::{self, PostgreSql};
use crate::http;
use crate::placeholders::Placeholders;
use crate::plan::{START_S, STOP_S};
use crate::prepare::{VariantLaunch, fixed_placeholders};
use crate::process::{LOOK, Launch, ServerProcess, copy_folder};
use crate::runtime_folder::{Port, SERVER_FILES};
use crate::study_file::{ServerTable, StopSignal};
use assay_jdk::modes;
use assay_measure::observers::{ObserverSetup, Observers, Target};
use assay_measure::{Procedure, Watch, WatchConfig};
use assay_model::{Audit, ModeRead, Problem, RunEventKind, Trial, TrialOutcome, file, schema};
use assay_text::redact;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a ready URL may take to answer one request; servers that start accept before they answer.
const READY_ANSWER: Duration = Duration::from_millis(500);
pub(super) const AUDIT_TIMEOUT: Duration = Duration::from_secs(120);
/// The user waits for the end of an interrupted run.
const AUDIT_TIMEOUT_INTERRUPTED: Duration = Duration::from_secs(5);
const AUDIT_CHARS_MAX: usize = 500;

/// A launched server.
pub(super) struct Server<'a> {
    pub launch: &'a VariantLaunch,
    pub trial: Trial,
    pub process: ServerProcess,
    /// Until it is ready, and when it has stopped; between the two they are with what watches it.
    pub observers: Observers,
    /// Since it is ready.
    pub watch: Option<Watch>,
    /// How it is measured, once it is warm.
    pub procedure: Option<Box<dyn Procedure>>,
    pub target: Target,
    /// Base of every URL, and the URL that says whether it is ready.
    pub ready_url: String,
    table: ServerTable,
    folder_name: String,
    names: Placeholders,
    begun: Instant,
    server_dir: Option<PathBuf>,
    _port: Port,
    database: Option<PostgreSql>,
}

/// What a launch is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub block: u32,
    pub attempt: u32,
    pub seed: u64,
}

impl<'a> Server<'a> {
    /// Starts a server; it is not ready yet.
    pub fn start(run: &mut Run<'_>, launch: &'a VariantLaunch, turn: Turn) -> Result<Server<'a>, Failure> {
        let number = run.next_number();
        let variant = &launch.variant;
        run.emit(RunEventKind::TrialStarted {
            number,
            variant: variant.name.clone(),
            block: turn.block,
            attempt: turn.attempt,
        })?;
        let folder_name = run.dir.make_trial_folder(number, &variant.name)?;
        let folder = run.dir.path().join(&folder_name);
        let port = Port::claim(&run.runtime_folder)?;
        let workload = &run.prepared.workload;
        let table = table(run)?;
        let mut names = fixed_placeholders(workload, &variant.workload_options);
        names.set("port", port.number.to_string());
        names.set("seed", turn.seed.to_string());
        let server_dir = folder.join(SERVER_FILES);
        names.set_path("server_dir", &server_dir);
        make_server_dir(&server_dir, table.template.as_ref().map(|t| names.fill(t)))?;

        let mut target = Target {
            pid: 0,
            folder: folder.clone(),
            heap: None,
            mode: None,
            takes_jvm_options: variant.jvm.is_some() && takes_jvm_options(launch, run),
            has_even_load: run.prepared.plan.procedure.has_even_load(),
        };
        let prepared = run.prepared;
        let mut observers = Observers::new(&ObserverSetup {
            wanted: &prepared.observe,
            window_s: prepared.layout.window_s,
            verifies_mode: variant.reference_mode.is_some(),
        });
        let mut options = variant.jvm_options.clone();
        observers.each(|o| o.prepare(&target).map(|further| options.extend(further)));
        names.set("jvm_options", options.join(" "));
        companion::set_no_placeholders(&mut names);
        let database = if companion::is_wanted(&variant.workload_options) {
            Some(PostgreSql::start(&folder, &run.runtime_folder, &mut run.lease, &mut names)?)
        } else {
            None
        };
        let words = words(launch, &options, &mut names);
        let mut trial = blank_trial(run, launch, number, turn);
        trial.command = redact::words(&words);
        let begun = Instant::now();
        let process = ServerProcess::start(
            &Launch {
                words,
                environment: environment(launch, run, &names),
                directory: directory(run, &names),
                log: folder.join(file::SERVER_LOG),
                server_dir: Some(server_dir.clone()),
                run_as: None,
            },
            &mut run.lease,
        )?;
        target.pid = process.main_pid();
        let ready_url = names.fill(&table.ready_url);
        Ok(Server {
            launch,
            trial,
            process,
            observers,
            watch: None,
            procedure: None,
            target,
            ready_url,
            table,
            folder_name,
            names,
            begun,
            server_dir: Some(server_dir),
            _port: port,
            database,
        })
    }

    /// Waits until it answers, watches it from then on, and verifies the reference mode.
    pub fn wait_until_ready(&mut self, run: &mut Run<'_>) -> Result<(), Failure> {
        let timeout = Duration::from_secs_f64(self.table.ready_timeout_s.unwrap_or(120.0));
        loop {
            run.check_stop()?;
            self.check_alive("before it was ready")?;
            match http::get(&self.ready_url, READY_ANSWER) {
                Ok(answer) if answer.is_good() => break,
                answer if timeout <= self.begun.elapsed() => {
                    let last = answer.map_or_else(|e| e.to_string(), |a| format!("status {}", a.status));
                    return Err(Failure::Trial(format!(
                        "the server was not ready within {} s: {} gave {last}{}",
                        timeout.as_secs_f64(),
                        self.ready_url,
                        self.process.last_words()
                    )));
                }
                _ => std::thread::sleep(LOOK),
            }
        }
        let after_ms = self.begun.elapsed().as_secs_f64() * 1e3;
        self.trial.start_to_ready_ms = Some(after_ms);
        self.process.find_main();
        self.target.pid = self.process.main_pid();
        let target = &mut self.target;
        self.observers.each(|o| o.start(target));
        self.trial.mode.clone_from(&self.target.mode);
        run.advance(START_S);
        run.emit(RunEventKind::ServerReady { number: self.trial.number, after_ms })?;
        for excluded in &self.observers.excluded {
            run.emit(RunEventKind::ObserverExcluded {
                number: self.trial.number,
                observer: excluded.name.clone(),
                reason: excluded.reason.clone(),
            })?;
        }
        self.verify_mode()?;
        self.watch()
    }

    /// Has server and machine watched from now on.
    fn watch(&mut self) -> Result<(), Failure> {
        let config = WatchConfig {
            pid: Some(self.target.pid),
            companions: self.companion_pid().into_iter().collect(),
            gc_log: self.gc_log(),
            every: None,
        };
        let observing = (std::mem::take(&mut self.observers), self.target.clone());
        let watch = Watch::with_observers(&config, Some(observing));
        self.watch = Some(watch.map_err(|e| Failure::Trial(e.to_string()))?);
        Ok(())
    }

    /// Holds it still; nothing of it is watched meanwhile.
    pub fn hold(&mut self) {
        self.watch.iter().for_each(|watch| watch.hold(true));
        self.process.hold();
    }

    /// Lets it go on.
    pub fn resume(&mut self) {
        self.process.resume();
        self.watch.iter().for_each(|watch| watch.hold(false));
    }

    /// What the log shows by now. Whether class pointers are compressed it shows only with its first collection, so this
    /// is looked at again when the log is whole ([`Server::conclude`]).
    fn verify_mode(&self) -> Result<(), Failure> {
        self.mode_differs(self.target.mode.as_ref()).map_or(Ok(()), |how| Err(Failure::Variant(how)))
    }

    fn mode_differs(&self, read: Option<&ModeRead>) -> Option<String> {
        let wanted = self.launch.variant.reference_mode?;
        modes::check(wanted, self.launch.variant.compact_headers, read?).err()
    }

    /// Main process of what belongs to the trial beside the server.
    pub fn companion_pid(&self) -> Option<u32> {
        self.database.as_ref().map(PostgreSql::main_pid)
    }

    /// Fails with the end of its output if it has ended.
    pub fn check_alive(&mut self, when: &str) -> Result<(), Failure> {
        match self.process.ended() {
            Some(how) => Err(Failure::Trial(format!("the server {how} {when}{}", self.process.last_words()))),
            None => Ok(()),
        }
    }

    /// Name of the trial's folder in the run directory.
    pub fn folder_name(&self) -> &str {
        &self.folder_name
    }

    /// Where it is asked whether its data is whole.
    pub fn audit_url(&self) -> Option<String> {
        self.table.audit_url.as_ref().map(|url| self.names.fill(url))
    }

    /// Where its data is set back.
    pub fn reset_url(&self) -> Option<String> {
        self.table.reset_url.as_ref().map(|url| self.names.fill(url))
    }

    /// Its GC log, if it writes one.
    pub fn gc_log(&self) -> Option<PathBuf> {
        Some(self.target.folder.join(file::GC_LOG)).filter(|log| log.is_file())
    }

    /// Asks the server whether its data is whole, unless it was asked already, and for its own counts.
    pub fn audit(&mut self, run: &Run<'_>) {
        let server = &self.table;
        let timeout = if run.is_stopped() { AUDIT_TIMEOUT_INTERRUPTED } else { AUDIT_TIMEOUT };
        if let Some(url) = self.audit_url().filter(|_| self.trial.audit.is_none()) {
            self.trial.audit = Some(ask_audit(&url, timeout));
        }
        if let Some(url) = &server.stats_url {
            let stored = match http::get(&self.names.fill(url), timeout) {
                Ok(a) if a.is_good() => {
                    run.dir.write_text(&format!("{}/stats.json", self.folder_name), &a.body)
                }
                Ok(a) => Err(crate::StudyError::Use(format!("status {}", a.status))),
                Err(e) => Err(e.into()),
            };
            self.trial.problems.extend(stored.err().map(|e| Problem::new("statistics", e.to_string())));
        }
    }

    /// Asks it to stop, without waiting.
    pub fn ask_to_stop(&mut self) {
        self.process.ask_to_stop(match self.table.stop_signal {
            Some(StopSignal::Int) => Signal::INT,
            Some(StopSignal::Hup) => Signal::HUP,
            Some(StopSignal::Term) | None => Signal::TERM,
        });
    }

    /// Waits for its end, completes the trial and stores it.
    pub fn conclude(mut self, run: &mut Run<'_>, outcome: TrialOutcome) -> Result<Trial, Failure> {
        self.ask_to_stop();
        let timeout = Duration::from_secs_f64(self.table.stop_timeout_s.unwrap_or(30.0));
        let mut problems = self.process.finish(timeout);
        problems.extend(self.database.iter_mut().flat_map(PostgreSql::stop));
        self.trial.problems.extend(problems.into_iter().map(|what| Problem::new("server", what)));
        self.remove_server_dir();
        let mut trial = self.trial.clone();
        trial.outcome = outcome;
        run.advance(STOP_S);
        if let Some(watch) = self.watch.take() {
            self.observers = watch.finish();
        }
        self.observers.each(|o| o.finish(&mut trial));
        if let Some(reason) = self.mode_differs(trial.mode.as_ref()) {
            trial.outcome = TrialOutcome::Failed { reason };
        } else if self.launch.variant.reference_mode.is_some() && trial.mode.is_none() {
            let what =
                "the log does not show which reference mode the JVM chose, so it could not be verified";
            trial.problems.push(Problem::new(file::GC_LOG, what));
        }
        trial.excluded_observers = std::mem::take(&mut self.observers.excluded);
        run.store(trial, &self.folder_name)
    }

    fn remove_server_dir(&mut self) {
        if let Some(dir) = self.server_dir.take()
            && let Err(e) = std::fs::remove_dir_all(&dir)
        {
            self.trial.problems.push(Problem::new(SERVER_FILES, format!("could not be removed: {e}")));
        }
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        // After an error of the run itself: the process first, so that it writes no more.
        let _ = self.process.finish(Duration::ZERO);
        self.remove_server_dir();
    }
}

/// The server's own proof that its data is right; no answer is no proof.
pub(super) fn ask_audit(url: &str, timeout: Duration) -> Audit {
    match http::get(url, timeout) {
        Ok(answer) => Audit {
            passed: answer.is_good(),
            detail: format!("status {}: {}", answer.status, shortened(&answer.body)),
        },
        Err(e) => Audit { passed: false, detail: format!("the audit gave no answer: {e}") },
    }
}

fn table(run: &Run<'_>) -> Result<ServerTable, Failure> {
    let table = run.prepared.workload.program.server().cloned();
    table.ok_or_else(|| Failure::Run(crate::StudyError::Internal("the study has no server".to_owned())))
}

/// A trial of which nothing is known but its turn.
pub(super) fn blank_trial(run: &Run<'_>, launch: &VariantLaunch, number: u32, turn: Turn) -> Trial {
    Trial {
        schema: schema::TRIAL.to_owned(),
        provenance: run.prepared.plan.provenance.clone(),
        number,
        variant: launch.variant.name.clone(),
        block: turn.block,
        attempt: turn.attempt,
        seed: turn.seed,
        command: Vec::new(),
        jvm: launch.variant.jvm.clone(),
        mode: None,
        collector: None,
        started_at: jiff::Timestamp::now().to_string(),
        start_to_ready_ms: None,
        warm_up: None,
        windows: Vec::new(),
        response_curve: Vec::new(),
        audit: None,
        outcome: TrialOutcome::Interrupted,
        excluded_observers: Vec::new(),
        problems: Vec::new(),
    }
}

pub(super) fn make_server_dir(dir: &Path, template: Option<String>) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(dir)?;
    template.map_or(Ok(()), |template| copy_folder(Path::new(&template), dir))
}

fn takes_jvm_options(launch: &VariantLaunch, run: &Run<'_>) -> bool {
    let environment = run.prepared.workload.program.environment().values();
    launch.command.iter().chain(environment).any(|text| text.contains("{jvm_options}"))
}

/// The command line: a word `{jvm_options}` becomes several; `java` becomes the variant's.
pub(super) fn words(launch: &VariantLaunch, options: &[String], names: &mut Placeholders) -> Vec<String> {
    let java =
        launch.variant.jvm.as_ref().map_or_else(|| "java".to_owned(), |jvm| format!("{}/bin/java", jvm.home));
    names.set("java", java.clone());
    let mut words = Vec::new();
    for (at, word) in launch.command.iter().enumerate() {
        match word.as_str() {
            "{jvm_options}" => words.extend(options.iter().cloned()),
            "java" if at == 0 => words.push(java.clone()),
            word => words.push(names.fill(word)),
        }
    }
    words
}

pub(super) fn environment(
    launch: &VariantLaunch,
    run: &Run<'_>,
    names: &Placeholders,
) -> std::collections::BTreeMap<String, String> {
    let jvm = launch.variant.jvm.iter().map(|jvm| ("JAVA_HOME".to_owned(), jvm.home.clone()));
    let of_server = run.prepared.workload.program.environment().iter();
    let of_variant = launch.environment.iter();
    jvm.chain(of_server.chain(of_variant).map(|(name, value)| (name.clone(), names.fill(value)))).collect()
}

pub(super) fn directory(run: &Run<'_>, names: &Placeholders) -> PathBuf {
    let base = &run.prepared.study_dir;
    match run.prepared.workload.program.directory() {
        Some(directory) => base.join(names.fill(directory)),
        None => base.clone(),
    }
}

pub(super) fn shortened(text: &str) -> String {
    let text: String = text.trim().chars().take(AUDIT_CHARS_MAX + 1).collect();
    if text.chars().count() <= AUDIT_CHARS_MAX {
        return text;
    }
    text.chars().take(AUDIT_CHARS_MAX).chain("...".chars()).collect()
}
