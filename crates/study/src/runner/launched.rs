//! The beginning and the end of every trial, by any procedure: number and folder, the changes to the machine, the start of the processes
//! in their control groups, their stop, the changes taken back.
//!
//! Nothing else applies changes or starts processes, so no kind of trial can report a limit that its processes do not have.

use super::specs::{process_spec, server_spec};
use super::state::{Failure, Run};
use super::treatments::Applied;
use crate::check::combinations::BUILD;
use crate::file::program::ProcessTable;
use crate::plan::variant_launch::VariantLaunch;
use assay_launch::{Local, Placeholders, ProcessSpec, Processes, TrialFolders};
use assay_load::monotonic_ns;
use assay_model::{LaunchRecord, Problem, RunEventKind, Trial, TrialOutcome, file, schema};
use assay_text::redact;
use std::path::PathBuf;

/// The purpose of a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialId {
    pub block: u32,
    pub attempt: u32,
    pub seed: u64,
}

/// A trial that has its number and its folder. Nothing is started or changed for it.
pub(super) struct Begun<'a> {
    pub launch: &'a VariantLaunch,
    pub id: TrialId,
    pub number: u32,
    pub folder: PathBuf,
    folder_name: String,
}

/// What a trial starts.
pub(super) struct Starting<'s> {
    /// The server, benchmark program or emulator; none where the server runs already.
    pub program: Option<ProcessSpec>,
    /// Values that fill in its texts and those of auxiliary processes.
    pub names: Placeholders,
    /// JVM options that each process of a table has for itself, the first one's first.
    pub options_of_each: &'s dyn Fn(&ProcessTable) -> Vec<Vec<String>>,
}

/// A trial whose processes are started, or could not be.
pub(super) struct Launched<'a> {
    pub launch: &'a VariantLaunch,
    pub trial: Trial,
    /// The server, benchmark program or emulator, and the auxiliary processes. A server that ran already is none of them, so it is never
    /// signalled or stopped.
    pub processes: Processes<Local>,
    /// The changes made for it. Behind the processes: these are gone before the changes are taken back.
    pub applied: Applied,
    pub folder: PathBuf,
    /// Name of the folder in the run directory.
    pub folder_name: String,
    /// Why it could not be started.
    failed: Option<Failure>,
}

impl<'a> Begun<'a> {
    pub fn begin(run: &mut Run<'_>, launch: &'a VariantLaunch, id: TrialId) -> Result<Begun<'a>, Failure> {
        let number = run.next_number();
        let variant = launch.variant.name.clone();
        let TrialId { block, attempt, .. } = id;
        run.emit(RunEventKind::TrialStarted { number, variant: variant.clone(), block, attempt })?;
        let folder_name = run.dir.make_trial_folder(number, &variant)?;
        let folder = run.dir.path().join(&folder_name);
        Ok(Begun { launch, id, number, folder, folder_name })
    }

    /// Makes the changes and starts the processes, up to the program; it is not ready yet. What cannot be started, or not even put
    /// together, is a launched trial that has failed ([`Launched::take_failure`]).
    pub fn start(
        self,
        run: &Run<'_>,
        starting: Result<Starting<'_>, String>,
    ) -> Result<Launched<'a>, Failure> {
        let (applied, specs, names, ready) = match starting {
            Ok(starting) => {
                let faults = &run.prepared.plan.faults;
                let (applied, changed) =
                    Applied::make(run.treatments.as_ref(), self.launch, faults, self.number);
                let specs = self.specs(run, &applied, &starting);
                (applied, specs, starting.names, changed)
            }
            Err(why) => (Applied::none(), Vec::new(), Placeholders::default(), Err(why)),
        };
        let mut processes = self.processes(run, &specs, names)?;
        let mut trial = blank_trial(run, self.launch, self.number, self.id);
        record(&processes, &mut trial);
        trial.treatments.clone_from(&applied.records);
        let start = |()| processes.start_server(&|| !run.is_stopped()).map_err(Failure::Trial);
        let failed = ready.map_err(Failure::Variant).and_then(start).err();
        let Begun { launch, folder, folder_name, .. } = self;
        Ok(Launched { launch, trial, processes, applied, folder, folder_name, failed })
    }

    /// All that is started, in order, each in its control groups.
    fn specs(&self, run: &Run<'_>, applied: &Applied, starting: &Starting<'_>) -> Vec<ProcessSpec> {
        let all = &run.prepared.workload.processes;
        let wanted = all.iter().filter(|p| p.is_wanted(&self.launch.variant.workload_options));
        let (after, before): (Vec<_>, Vec<_>) = wanted.partition(|p| p.after_server);
        let groups = [applied.groups.clone(), applied.groups_of(file::SERVER)].concat();
        let server = run.prepared.workload.program.server();
        let auxiliary = |table: &ProcessTable| match server.filter(|_| table.is_replica) {
            Some(server) => ProcessSpec {
                role: table.name.clone(),
                is_server: false,
                is_replica: true,
                count: table.count_with(&self.launch.variant.workload_options),
                groups: [groups.clone(), applied.groups_of(&table.name)].concat(),
                options_of_each: (starting.options_of_each)(table),
                ..server_spec(run, self.launch, server, Vec::new())
            },
            None => ProcessSpec {
                groups: applied.groups_of(&table.name),
                options_of_each: (starting.options_of_each)(table),
                ..process_spec(table, &self.launch.variant)
            },
        };
        let program = starting.program.clone();
        let program = program.map(|program| ProcessSpec { groups: groups.clone(), ..program });
        let before = before.into_iter().map(auxiliary);
        before.chain(program).chain(after.into_iter().map(auxiliary)).collect()
    }

    fn processes(
        &self,
        run: &Run<'_>,
        specs: &[ProcessSpec],
        mut names: Placeholders,
    ) -> Result<Processes<Local>, Failure> {
        names.set("seed", self.id.seed.to_string());
        if let Some(build) = &self.launch.build {
            names.set_path(BUILD, &build.workdir);
        }
        let folders =
            TrialFolders { trial: &self.folder, runtime: run.engine.folder(), base: &run.prepared.study_dir };
        Ok(Processes::plan(&run.engine, specs, folders, &names)?)
    }
}

impl Launched<'_> {
    /// Fails, once, where it could not be started.
    pub fn take_failure(&mut self) -> Result<(), Failure> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Waits for the end of all processes, and takes the changes back.
    pub fn stop(&mut self) {
        let problems = self.processes.finish(false);
        self.trial.problems.extend(problems.into_iter().map(|(role, what)| Problem::new(role, what)));
        self.trial.group = self.applied.group_end();
        let (treatments, problems) = self.applied.take_back();
        self.trial.treatments = treatments;
        self.trial.problems.extend(problems);
    }
}

/// A trial of which nothing is known but its turn.
fn blank_trial(run: &Run<'_>, launch: &VariantLaunch, number: u32, id: TrialId) -> Trial {
    Trial {
        schema: schema::TRIAL.to_owned(),
        provenance: run.prepared.plan.provenance.clone(),
        number,
        variant: launch.variant.name.clone(),
        block: id.block,
        attempt: id.attempt,
        seed: id.seed,
        treatments: Vec::new(),
        command: Vec::new(),
        processes: Vec::new(),
        jvm: launch.variant.jvm.clone(),
        mode: None,
        collector: None,
        started_at: jiff::Timestamp::now().to_string(),
        started_monotonic_ns: Some(monotonic_ns()),
        start_to_ready_ms: None,
        users: None,
        session_starts: None,
        warm_up: None,
        windows: Vec::new(),
        response_curve: Vec::new(),
        audit: None,
        outcome: TrialOutcome::Interrupted,
        group: None,
        page_outs: Vec::new(),
        excluded_observers: Vec::new(),
        problems: Vec::new(),
    }
}

/// Notes in a trial what is started, without what may be secret.
fn record(processes: &Processes<Local>, trial: &mut Trial) {
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
