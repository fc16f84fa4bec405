//! One launch: a server's process with its observers, from its start to its stored trial.

use super::data_urls::{AUDIT_TIMEOUT, AUDIT_TIMEOUT_INTERRUPTED, DataUrls, ask_audit};
use super::faults::{Faults, Hit, Roles};
use super::launched::{Begun, Launched, Starting, TrialId};
use super::page_outs::PageOuts;
use super::specs::{has_unified_logging, jvms_beside, server_spec};
use super::state::{Failure, Run};
use crate::error::StudyError;
use crate::file::program::{ProcessTable, REPLICA, ServerTable};
use crate::plan::duration::{start_s, stop_s};
use crate::plan::names::{fixed_placeholders, loaded_url, of_replicas, table_name};
use crate::plan::variant_launch::VariantLaunch;
use assay_jdk::modes;
use assay_launch::{POLL_INTERVAL, http};
use assay_load::{LoadSource, Scenario, Shared};
use assay_measure::observers::{ObserverSetup, Observers, Target};
use assay_measure::{MeasurementId, Procedure, Replacements, Watch, WatchConfig};
use assay_model::{Audit, ModeRead, Problem, RunEventKind, Trial, TrialOutcome, file};
use std::sync::atomic::AtomicBool;

/// A launched server.
pub(super) struct Server<'a> {
    /// Its trial and its processes.
    pub launched: Launched<'a>,
    /// Before it is ready, and after its stop; in between `watch` has them.
    pub observers: Observers,
    /// Since it is ready.
    pub watch: Option<Watch>,
    /// What loads it: the same users, sessions and connections from warm-up to the last window.
    pub load: Option<Box<dyn LoadSource + Send>>,
    /// How it is measured, once it is warm.
    pub procedure: Option<Box<dyn Procedure>>,
    pub target: Target,
    /// Where it is loaded.
    pub url: String,
    /// Where its replicas are.
    pub replica_urls: Vec<String>,
    /// What pages dead memory out of it and its replicas, from the time when it is ready.
    page_outs: Option<PageOuts>,
    pub table: ServerTable,
    /// Shared by the users of all its loads.
    pub shared: Shared,
}

impl<'a> Server<'a> {
    /// Starts a server; it is not ready yet.
    pub fn start(run: &mut Run<'_>, launch: &'a VariantLaunch, id: TrialId) -> Result<Server<'a>, Failure> {
        let begun = Begun::begin(run, launch, id)?;
        let (prepared, variant) = (run.prepared, &launch.variant);
        let table = table(run)?;
        let mut target = target(run, &begun);
        let mut observers = Observers::new(&ObserverSetup {
            wanted: &prepared.observe,
            window_s: prepared.layout.window_s,
            verifies_mode: variant.reference_mode.is_some(),
            ends_by_itself: false,
        });
        let mut observers_options = Vec::new();
        observers.each(|o| o.prepare(&target).map(|further| observers_options.extend(further)));
        let options_of_each = |table: &ProcessTable| match table.may_log() {
            true => {
                let roles = table.roles_with(&variant.workload_options);
                roles.iter().map(|role| observers.options_beside(&target, role)).collect()
            }
            false => Vec::new(),
        };
        let launched = begun.start(
            run,
            Ok(Starting {
                program: table.url.is_none().then(|| server_spec(run, launch, &table, observers_options)),
                names: fixed_placeholders(&prepared.workload, &variant.workload_options),
                options_of_each: &options_of_each,
            }),
        )?;
        target.pid = launched.processes.server_pid().or(table.pid);
        let names = launched.processes.names();
        let url = || loaded_url(&prepared.workload, &variant.workload_options, &table.ready_url, names);
        let replicas =
            of_replicas(&prepared.workload, &variant.workload_options, &table.ready_url, names).into_iter();
        Ok(Server {
            url: table.url.clone().unwrap_or_else(url),
            replica_urls: replicas.map(|(_, url)| url).collect(),
            page_outs: None,
            launched,
            observers,
            watch: None,
            load: None,
            procedure: None,
            target,
            table,
            shared: launch.scenario.as_ref().map(Scenario::shared).unwrap_or_default(),
        })
    }

    /// Waits until it answers, watches it from then on, and verifies the reference mode.
    pub fn wait_until_ready(&mut self, run: &mut Run<'_>) -> Result<(), Failure> {
        while !self.is_ready()? {
            run.check_stop()?;
            std::thread::sleep(POLL_INTERVAL);
        }
        self.begin_watching(run)
    }

    /// Goes on with its start, and says whether it answers.
    pub fn is_ready(&mut self) -> Result<bool, Failure> {
        self.launched.take_failure()?;
        self.launched.processes.step().map_err(Failure::Trial)
    }

    /// It answers now: watches it from now on, and verifies the reference mode.
    pub fn begin_watching(&mut self, run: &mut Run<'_>) -> Result<(), Failure> {
        let after_ms = self.launched.processes.server_ready_after().map(|after| after.as_secs_f64() * 1e3);
        self.launched.trial.start_to_ready_ms = after_ms;
        self.target.pid = self.launched.processes.server_pid().or(self.target.pid);
        let target = &mut self.target;
        let of_workload = |role| table_name(&run.prepared.workload, role);
        target.processes =
            self.launched.processes.pids().into_iter().map(|(role, pid)| (of_workload(role), pid)).collect();
        self.observers.each(|o| o.start(target));
        self.launched.trial.mode.clone_from(&self.target.mode);
        run.advance(start_s(self.launched.launch.auxiliary_count(&run.prepared.workload)));
        if let Some(after_ms) = after_ms {
            run.emit(RunEventKind::ServerReady { number: self.launched.trial.number, after_ms })?;
        }
        for excluded in &self.observers.excluded {
            run.emit(RunEventKind::ObserverExcluded {
                number: self.launched.trial.number,
                observer: excluded.name.clone(),
                reason: excluded.reason.clone(),
            })?;
        }
        self.verify_mode()?;
        self.page_outs = self.launched.launch.page_out.clone().map(|table| {
            let of_server = |role: &str| role == file::SERVER || role.starts_with(REPLICA);
            let pids = self.launched.processes.pids().into_iter().filter(|(role, _)| of_server(role));
            PageOuts::begin(table, pids.map(|(role, pid)| (role.to_owned(), pid)).collect())
        });
        self.watch(run)
    }

    /// Starts to watch server and machine.
    fn watch(&mut self, run: &Run<'_>) -> Result<(), Failure> {
        let of_study = |log: &String| run.prepared.study_dir.join(log);
        let own = Some(self.target.folder.join(file::GC_LOG)).filter(|log| log.is_file());
        let config = WatchConfig {
            pid: self.target.pid,
            companions: [self.launched.processes.companion_pids(), self.table.companions.clone()].concat(),
            gc_log: self.table.gc_log.as_ref().map(of_study).or(own),
            every: None,
        };
        let observing = (std::mem::take(&mut self.observers), self.target.clone());
        let watch = Watch::with_observers(&config, Some(observing));
        self.watch = Some(watch.map_err(|e| Failure::Trial(e.to_string()))?);
        Ok(())
    }

    /// Suspends it; it is not watched while it is suspended.
    pub fn hold(&mut self) {
        self.watch.iter().for_each(|watch| watch.hold(true));
        self.launched.processes.hold();
    }

    /// Lets it go on. Connections that it closes since it was away for long are opened anew.
    pub fn resume(&mut self) {
        self.load.iter_mut().for_each(|load| load.was_suspended());
        self.launched.processes.resume();
        self.watch.iter().for_each(|watch| watch.hold(false));
    }

    /// Verifies the mode by the log so far. The log shows only with its first collection whether class pointers are compressed, so this is
    /// repeated when the log is whole ([`Server::conclude`]).
    fn verify_mode(&self) -> Result<(), Failure> {
        self.mode_differs(self.target.mode.as_ref()).map_or(Ok(()), |how| Err(Failure::Variant(how)))
    }

    fn mode_differs(&self, read: Option<&ModeRead>) -> Option<String> {
        let wanted = self.launched.launch.variant.reference_mode?;
        modes::check(wanted, self.launched.launch.variant.compact_headers, read?).err()
    }

    /// Fails with the end of its output if it, or an auxiliary process, has ended.
    pub fn check_alive(&mut self, when: &str) -> Result<(), Failure> {
        self.launched.processes.ended(when).map_or(Ok(()), |how| Err(Failure::Trial(how)))
    }

    /// The faults of a window, drawn for `turn`.
    pub fn faults(&self, run: &Run<'_>, turn: MeasurementId, replacements: Replacements) -> Faults {
        let tables = &run.prepared.workload.processes;
        let options = &self.launched.launch.variant.workload_options;
        let hit = |role: String, table: &str| Hit { role, table: table.to_owned() };
        let hits = |role: &String| match tables.iter().find(|p| p.name == *role) {
            Some(table) if table.is_wanted(options) => {
                table.roles_with(options).into_iter().map(|of_one| hit(of_one, role)).collect()
            }
            Some(_) => Vec::new(),
            None => vec![hit(role.clone(), role)],
        };
        let roles = run.prepared.plan.faults.iter().map(|fault| &fault.role);
        let groups =
            roles.clone().map(|role| Some(self.launched.applied.of_roles.get(role)?.0.clone())).collect();
        let roles = Roles { hits: roles.map(hits).collect(), groups };
        Faults::of_window(run, roles, turn, &self.target.folder, replacements)
    }

    /// The addresses of its audit, and of resetting its data.
    pub fn data_urls<'s>(&self, stop: &'s AtomicBool) -> DataUrls<'s> {
        let filled = |url: &Option<String>| url.as_ref().map(|url| self.launched.processes.names().fill(url));
        DataUrls { audit: filled(&self.table.audit_url), reset: filled(&self.table.reset_url), stop }
    }

    /// After the last window: has the observers take their last samples, and asks the server for its audit, unless it was asked already,
    /// and for its own counts.
    pub fn end_windows(&mut self, run: &Run<'_>) {
        self.watch.iter_mut().for_each(Watch::end_windows);
        let timeout = if run.is_stopped() { AUDIT_TIMEOUT_INTERRUPTED } else { AUDIT_TIMEOUT };
        self.launched.trial.page_outs = self.page_outs.take().map(PageOuts::end).unwrap_or_default();
        let filled = |url: &String| self.launched.processes.names().fill(url);
        if let Some(url) = self.table.audit_url.as_ref().filter(|_| self.launched.trial.audit.is_none()) {
            let options = &self.launched.launch.variant.workload_options;
            let names = self.launched.processes.names();
            let of_replicas = of_replicas(&run.prepared.workload, options, url, names).into_iter();
            let ask = |(role, url): (String, String)| {
                let audit = ask_audit(&url, timeout);
                Audit { detail: format!("{role}: {}", audit.detail), ..audit }
            };
            // The first that fails speaks for all.
            let mut all =
                std::iter::once(ask_audit(&filled(url), timeout)).chain(of_replicas.map(ask)).peekable();
            let first = all.peek().cloned();
            self.launched.trial.audit = all.find(|audit| !audit.passed).or(first);
        }
        if let Some(url) = &self.table.stats_url {
            let stored = match http::get(&filled(url), timeout) {
                Ok(a) if a.is_good() => {
                    let name = format!("{}/stats.json", self.launched.folder_name);
                    run.dir.write_text(&name, &a.body).map_err(StudyError::from)
                }
                Ok(a) => Err(StudyError::Use(format!("status {}", a.status))),
                Err(e) => Err(e.into()),
            };
            self.launched
                .trial
                .problems
                .extend(stored.err().map(|e| Problem::new("statistics", e.to_string())));
        }
    }

    /// Asks it to stop, without waiting.
    pub fn ask_to_stop(&mut self) {
        self.launched.processes.ask_to_stop();
    }

    /// Waits for its end, completes the trial and stores it.
    pub fn conclude(mut self, run: &mut Run<'_>, outcome: TrialOutcome) -> Result<Trial, Failure> {
        self.launched.stop();
        let mut trial = self.launched.trial.clone();
        trial.outcome = outcome;
        run.advance(stop_s(self.launched.launch.auxiliary_count(&run.prepared.workload)));
        if let Some(watch) = self.watch.take() {
            self.observers = watch.finish();
        }
        self.observers.each(|o| o.finish(&mut trial));
        let was_stopped = trial.outcome == TrialOutcome::Interrupted;
        if let Some(reason) = self.mode_differs(trial.mode.as_ref()).filter(|_| !was_stopped) {
            trial.outcome = TrialOutcome::Failed { reason };
        } else if self.launched.launch.variant.reference_mode.is_some() && trial.mode.is_none() {
            let what =
                "the log does not show which reference mode the JVM chose, so it could not be verified";
            trial.problems.push(Problem::new(file::GC_LOG, what));
        }
        trial.excluded_observers = std::mem::take(&mut self.observers.excluded);
        run.store(trial, &self.launched.folder_name)
    }
}

/// What observers know of it before its start.
fn target(run: &Run<'_>, begun: &Begun<'_>) -> Target {
    let variant = &begun.launch.variant;
    Target {
        pid: None,
        processes: Vec::new(),
        jvms_beside: jvms_beside(run, begun.launch),
        folder: begun.folder.clone(),
        heap: None,
        mode: None,
        has_unified_logging: has_unified_logging(variant),
        takes_jvm_options: variant.jvm.is_some() && begun.launch.takes_jvm_options(&run.prepared.workload),
        has_even_load: run.prepared.plan.procedure.has_even_load(),
    }
}

fn table(run: &Run<'_>) -> Result<ServerTable, Failure> {
    let table = run.prepared.workload.program.server().cloned();
    table.ok_or_else(|| Failure::Run(StudyError::Internal("the study has no server".to_owned())))
}
