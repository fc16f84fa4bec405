//! One launch: a server's process with its observers, from its start to its stored trial.

use super::data_urls::{AUDIT_TIMEOUT, AUDIT_TIMEOUT_INTERRUPTED, DataUrls, ask_audit};
use super::faults::{Faults, Hit, Roles};
use super::specs::{has_unified_logging, jvms_beside, process_spec, server_spec, takes_jvm_options};
use super::state::{Failure, Run};
use super::treatments::Applied;
use crate::file::program::{ProcessTable, ServerTable};
use crate::plan::duration::{start_s, stop_s};
use crate::plan::names::{fixed_placeholders, loaded_url, table_name};
use crate::plan::variant_launch::VariantLaunch;
use assay_jdk::modes;
use assay_launch::{Local, POLL_INTERVAL, Place, Placeholders, ProcessSpec, Processes, http};
use assay_load::{Scenario, Shared};
use assay_measure::observers::{ObserverSetup, Observers, Target};
use assay_measure::{Procedure, Replacements, Watch, WatchConfig};
use assay_model::{LaunchRecord, ModeRead, Problem, RunEventKind, Trial, TrialOutcome, file, schema};
use assay_text::redact;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A launched server.
pub(super) struct Server<'a> {
    pub launch: &'a VariantLaunch,
    pub trial: Trial,
    /// The server and what runs beside it; nothing where the server ran already, which so is never signalled or stopped.
    pub process: Processes<Local>,
    /// Until it is ready, and when it has stopped; between the two they are with what watches it.
    pub observers: Observers,
    /// Since it is ready.
    pub watch: Option<Watch>,
    /// How it is measured, once it is warm.
    pub procedure: Option<Box<dyn Procedure>>,
    pub target: Target,
    /// Where it is loaded.
    pub url: String,
    pub table: ServerTable,
    /// What the users of all its loads share.
    pub shared: Shared,
    folder_name: String,
    /// Why it could not be started.
    failed: Option<Failure>,
    /// What was changed for it. Behind the process: that is gone before the changes are taken back.
    applied: Applied,
}

/// What a launch is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialId {
    pub block: u32,
    pub attempt: u32,
    pub seed: u64,
}

impl<'a> Server<'a> {
    /// Starts a server; it is not ready yet.
    pub fn start(run: &mut Run<'_>, launch: &'a VariantLaunch, turn: TrialId) -> Result<Server<'a>, Failure> {
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
        let table = table(run)?;
        let mut target = Target {
            pid: None,
            processes: Vec::new(),
            jvms_beside: jvms_beside(run, launch),
            folder: folder.clone(),
            heap: None,
            mode: None,
            has_unified_logging: has_unified_logging(variant),
            takes_jvm_options: variant.jvm.is_some() && takes_jvm_options(launch, run),
            has_even_load: run.prepared.plan.procedure.has_even_load(),
        };
        let prepared = run.prepared;
        let mut observers = Observers::new(&ObserverSetup {
            wanted: &prepared.observe,
            window_s: prepared.layout.window_s,
            verifies_mode: variant.reference_mode.is_some(),
        });
        let mut observers_options = Vec::new();
        observers.each(|o| o.prepare(&target).map(|further| observers_options.extend(further)));
        let faults = &prepared.plan.faults;
        let (applied, changed) = Applied::make(run.treatments.as_ref(), launch, faults, number);
        let groups = [applied.groups.clone(), applied.groups_of(file::SERVER)].concat();
        let of_server = |options| ProcessSpec { groups, ..server_spec(run, launch, &table, options) };
        let server = table.url.is_none().then(|| of_server(observers_options));
        let names = fixed_placeholders(&prepared.workload, &variant.workload_options);
        let options = &variant.workload_options;
        let of_process = |table: &ProcessTable, spec: ProcessSpec| ProcessSpec {
            groups: applied.groups_of(&table.name),
            options_of_each: match table.may_log() {
                true => table
                    .roles_with(options)
                    .iter()
                    .map(|role| observers.options_beside(&target, role))
                    .collect(),
                false => Vec::new(),
            },
            ..spec
        };
        let mut process = plan(run, launch, server, &folder, turn, names, of_process)?;
        let mut trial = blank_trial(run, launch, number, turn);
        record(&process, &mut trial);
        trial.treatments.clone_from(&applied.records);
        let started = changed.map_err(Failure::Variant);
        let failed =
            started.and_then(|()| process.start_server(&|| !run.is_stopped()).map_err(Failure::Trial)).err();
        target.pid = process.server_pid().or(table.pid);
        let options = &variant.workload_options;
        let url = |names| loaded_url(&prepared.workload, options, &table.ready_url, names);
        let url = table.url.clone().unwrap_or_else(|| url(process.names()));
        Ok(Server {
            launch,
            trial,
            process,
            observers,
            watch: None,
            procedure: None,
            target,
            url,
            table,
            shared: launch.scenario.as_ref().map(Scenario::shared).unwrap_or_default(),
            folder_name,
            failed,
            applied,
        })
    }

    /// Waits until it answers, watches it from then on, and verifies the reference mode.
    pub fn wait_until_ready(&mut self, run: &mut Run<'_>) -> Result<(), Failure> {
        if let Some(why) = self.failed.take() {
            return Err(why);
        }
        while !self.process.step().map_err(Failure::Trial)? {
            run.check_stop()?;
            std::thread::sleep(POLL_INTERVAL);
        }
        let after_ms = self.process.server_ready_after().map(|after| after.as_secs_f64() * 1e3);
        self.trial.start_to_ready_ms = after_ms;
        self.target.pid = self.process.server_pid().or(self.target.pid);
        let target = &mut self.target;
        let of_workload = |role| table_name(&run.prepared.workload, role);
        target.processes =
            self.process.pids().into_iter().map(|(role, pid)| (of_workload(role), pid)).collect();
        self.observers.each(|o| o.start(target));
        self.trial.mode.clone_from(&self.target.mode);
        run.advance(start_s(self.launch.beside(&run.prepared.workload)));
        if let Some(after_ms) = after_ms {
            run.emit(RunEventKind::ServerReady { number: self.trial.number, after_ms })?;
        }
        for excluded in &self.observers.excluded {
            run.emit(RunEventKind::ObserverExcluded {
                number: self.trial.number,
                observer: excluded.name.clone(),
                reason: excluded.reason.clone(),
            })?;
        }
        self.verify_mode()?;
        self.watch(run)
    }

    /// Has server and machine watched from now on.
    fn watch(&mut self, run: &Run<'_>) -> Result<(), Failure> {
        let of_study = |log: &String| run.prepared.study_dir.join(log);
        let own = Some(self.target.folder.join(file::GC_LOG)).filter(|log| log.is_file());
        let config = WatchConfig {
            pid: self.target.pid,
            companions: [self.process.companion_pids(), self.table.companions.clone()].concat(),
            gc_log: self.table.gc_log.as_ref().map(of_study).or(own),
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

    /// Fails with the end of its output if it, or what runs beside it, has ended.
    pub fn check_alive(&mut self, when: &str) -> Result<(), Failure> {
        self.process.ended(when).map_or(Ok(()), |how| Err(Failure::Trial(how)))
    }

    /// The faults of a window, with what `turn` draws of them.
    pub fn faults(
        &self,
        run: &Run<'_>,
        turn: assay_measure::MeasurementId,
        replacements: Replacements,
    ) -> Faults {
        let tables = &run.prepared.workload.processes;
        let options = &self.launch.variant.workload_options;
        let hit = |role: String, table: &str| Hit { role, table: table.to_owned() };
        let hits = |role: &String| match tables.iter().find(|p| p.name == *role) {
            Some(table) if table.is_wanted(options) => {
                table.roles_with(options).into_iter().map(|of_one| hit(of_one, role)).collect()
            }
            Some(_) => Vec::new(),
            None => vec![hit(role.clone(), role)],
        };
        let roles = run.prepared.plan.faults.iter().map(|fault| &fault.role);
        let groups = roles.clone().map(|role| Some(self.applied.of_roles.get(role)?.0.clone())).collect();
        let roles = Roles { hits: roles.map(hits).collect(), groups };
        Faults::of_window(run, roles, turn, &self.target.folder, replacements)
    }

    /// Name of the trial's folder in the run directory.
    pub fn folder_name(&self) -> &str {
        &self.folder_name
    }

    /// Where it is asked whether its data is whole, and where its data is set back.
    pub fn data_urls<'s>(&self, stop: &'s AtomicBool) -> DataUrls<'s> {
        let filled = |url: &Option<String>| url.as_ref().map(|url| self.process.names().fill(url));
        DataUrls { audit: filled(&self.table.audit_url), reset: filled(&self.table.reset_url), stop }
    }

    /// After the last window: has the observers take their last looks, and asks the server whether its data is whole, unless it was
    /// asked already, and for its own counts.
    pub fn end_windows(&mut self, run: &Run<'_>) {
        self.watch.iter_mut().for_each(Watch::end_windows);
        let timeout = if run.is_stopped() { AUDIT_TIMEOUT_INTERRUPTED } else { AUDIT_TIMEOUT };
        let filled = |url: &String| self.process.names().fill(url);
        if let Some(url) = self.table.audit_url.as_ref().filter(|_| self.trial.audit.is_none()) {
            self.trial.audit = Some(ask_audit(&filled(url), timeout));
        }
        if let Some(url) = &self.table.stats_url {
            let stored = match http::get(&filled(url), timeout) {
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
        self.process.ask_to_stop();
    }

    /// Waits for its end, completes the trial and stores it.
    pub fn conclude(mut self, run: &mut Run<'_>, outcome: TrialOutcome) -> Result<Trial, Failure> {
        self.ask_to_stop();
        let problems = self.process.finish(false);
        self.trial.problems.extend(problems.into_iter().map(|(role, what)| Problem::new(role, what)));
        let (treatments, problems) = self.applied.take_back();
        self.trial.treatments = treatments;
        self.trial.problems.extend(problems);
        let mut trial = self.trial.clone();
        trial.outcome = outcome;
        run.advance(stop_s(self.launch.beside(&run.prepared.workload)));
        if let Some(watch) = self.watch.take() {
            self.observers = watch.finish();
        }
        self.observers.each(|o| o.finish(&mut trial));
        let was_stopped = trial.outcome == TrialOutcome::Interrupted;
        if let Some(reason) = self.mode_differs(trial.mode.as_ref()).filter(|_| !was_stopped) {
            trial.outcome = TrialOutcome::Failed { reason };
        } else if self.launch.variant.reference_mode.is_some() && trial.mode.is_none() {
            let what =
                "the log does not show which reference mode the JVM chose, so it could not be verified";
            trial.problems.push(Problem::new(file::GC_LOG, what));
        }
        trial.excluded_observers = std::mem::take(&mut self.observers.excluded);
        run.store(trial, &self.folder_name)
    }
}

fn table(run: &Run<'_>) -> Result<ServerTable, Failure> {
    let table = run.prepared.workload.program.server().cloned();
    table.ok_or_else(|| Failure::Run(crate::StudyError::Internal("the study has no server".to_owned())))
}

/// A trial of which nothing is known but its turn.
pub(super) fn blank_trial(run: &Run<'_>, launch: &VariantLaunch, number: u32, turn: TrialId) -> Trial {
    Trial {
        schema: schema::TRIAL.to_owned(),
        provenance: run.prepared.plan.provenance.clone(),
        number,
        variant: launch.variant.name.clone(),
        block: turn.block,
        attempt: turn.attempt,
        seed: turn.seed,
        treatments: Vec::new(),
        command: Vec::new(),
        processes: Vec::new(),
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

/// Puts together what a variant launches and all that runs beside it, in the order of their starts; `of_process` adds what a process
/// beside the server has of its own.
pub(super) fn plan(
    run: &Run<'_>,
    launch: &VariantLaunch,
    server: Option<ProcessSpec>,
    trial: &Path,
    turn: TrialId,
    mut names: Placeholders,
    of_process: impl Fn(&ProcessTable, ProcessSpec) -> ProcessSpec,
) -> Result<Processes<Local>, Failure> {
    names.set("seed", turn.seed.to_string());
    let all = &run.prepared.workload.processes;
    let wanted = all.iter().filter(|p| p.is_wanted(&launch.variant.workload_options));
    let (after, before): (Vec<_>, Vec<_>) = wanted.partition(|p| p.after_server);
    let spec = |table: &ProcessTable| of_process(table, process_spec(table, &launch.variant));
    let mut specs: Vec<ProcessSpec> = before.into_iter().map(spec).collect();
    specs.extend(server);
    specs.extend(after.into_iter().map(spec));
    let place = Place { trial, runtime: run.engine.folder(), base: &run.prepared.study_dir };
    Ok(Processes::plan(&run.engine, &specs, place, &names)?)
}

/// Notes in a trial what is started, without what may be secret.
pub(super) fn record(processes: &Processes<Local>, trial: &mut Trial) {
    let of = |(role, launch): (&str, &assay_launch::Launch)| LaunchRecord {
        role: role.to_owned(),
        command: redact::words(&launch.argv),
        environment: launch
            .env
            .iter()
            .map(|(name, value)| (name.clone(), redact::value(name, value).into_owned()))
            .collect(),
        directory: launch.cwd.to_string_lossy().into_owned(),
    };
    trial.processes = processes.launches().map(of).collect();
    trial.command = processes.server_launch().map(|launch| redact::words(&launch.argv)).unwrap_or_default();
}
