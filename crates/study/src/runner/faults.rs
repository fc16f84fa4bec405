//! The faults of one window: done at their time by the run's own thread, which started the processes, while another thread measures.

use super::state::{Failure, Run};
use super::treatments::RunTreatments;
use crate::file::fault::group_of;
use crate::plan::order::draw_fault;
use assay_hotspot::set_flag;
use assay_launch::{Local, Processes, Signal, StopSignal, WantedChange};
use assay_linux::{ProcRoot, monotonic_ns};
use assay_measure::{MeasurementId, Replacements};
use assay_model::{
    Check, Disturbance, FaultAction, FaultRecord, PlannedFault, RunEventKind, ValidityCheck, Window, file,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const NS_PER_S: f64 = 1e9;
/// How long a process may take to end after it was asked to.
const END_NS_MAX: u64 = 60_000_000_000;

/// A drawn time is in this first part of those at which the fault still ends in the window, so that the window shows its consequences.
const ROOM_PART: f64 = 0.9;

/// A process that a fault may end.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    /// Its role, with its number where the role has several.
    pub role: String,
    /// The role as observers know it.
    pub table: String,
}

/// The roles that faults hit in a variant, with their processes, and the control groups that limit them.
pub(super) struct Roles {
    pub hits: Vec<Vec<Hit>>,
    pub groups: Vec<Option<String>>,
}

/// All faults of a window.
pub(super) struct Faults {
    all: Vec<Fault>,
    /// Start of the window; absent until its load begins.
    start_ns: Option<u64>,
    shared: Option<RunTreatments>,
    /// The trial's folder, with the logs of the JVMs.
    folder: PathBuf,
    replacements: Replacements,
}

struct Fault {
    record: FaultRecord,
    hits: Vec<Hit>,
    restart: bool,
    group: Option<String>,
    state: State,
    /// Changes to the machine that must be taken back.
    changes: Vec<u32>,
    /// Processes of the group that the OOM killer had ended before.
    oom_kills_before: Option<u64>,
    /// Flags that were set: process, name, and the value before.
    flags_before: Vec<(u32, String, String)>,
}

enum State {
    /// It is not its time yet.
    Planned,
    /// It lasts until then.
    Lasts(u64),
    /// A process was asked to end and has not ended yet.
    Ends,
    /// Ended processes are started again: this one, with its first process number, then the others.
    Starts(Hit, u32, Vec<Hit>),
    Over,
}

impl Faults {
    /// The faults of a window, with their drawn times and processes.
    pub fn of_window(
        run: &Run<'_>,
        roles: Roles,
        turn: MeasurementId,
        folder: &Path,
        replacements: Replacements,
    ) -> Faults {
        let plan = &run.prepared.plan;
        let planned = plan.faults.iter().zip(roles.hits).zip(roles.groups).enumerate();
        let drawn =
            planned.filter(|(_, ((_, hits), _))| !hits.is_empty()).map(|(index, ((fault, hits), group))| {
                let count = u32::try_from(hits.len()).unwrap_or(u32::MAX);
                let (share, number) = draw_fault(plan.seed, turn.block, turn.attempt, index, count);
                let room_s = plan.window_s - fault.action.lasts_s().unwrap_or(0.0);
                let at_s = share * ROOM_PART * room_s.max(0.0);
                Fault::new(fault, hits, group, (at_s, number))
            });
        Faults {
            all: drawn.collect(),
            start_ns: None,
            shared: run.treatments.clone(),
            folder: folder.to_owned(),
            replacements,
        }
    }

    /// The load of the window begins; its settling is over then.
    pub fn begin(&mut self, start_ns: u64) {
        self.start_ns = Some(start_ns);
    }

    /// Does the steps that are due by now, in the trial of this number; gives their events.
    ///
    /// # Errors
    /// A process that was started again cannot be used.
    pub fn step(
        &mut self,
        number: u32,
        processes: &mut Processes<Local>,
    ) -> Result<Vec<RunEventKind>, Failure> {
        let Some(start_ns) = self.start_ns else { return Ok(Vec::new()) };
        let mut events = Vec::new();
        for fault in self.all.iter_mut().filter(|fault| !fault.is_over()) {
            let mut with = FaultContext {
                processes: &mut *processes,
                replacements: &self.replacements,
                shared: self.shared.as_ref(),
                folder: &self.folder,
            };
            let was_planned = matches!(fault.state, State::Planned);
            fault.step(start_ns, &mut with).map_err(Failure::Trial)?;
            let (detail, failed) = (fault.record.told(start_ns), fault.record.failed.is_some());
            if was_planned && fault.record.done_monotonic_ns.is_some() {
                events.push(RunEventKind::FaultBegan { number, detail: detail.clone() });
            }
            if fault.is_over() {
                events.push(RunEventKind::FaultEnded { number, detail, failed });
            }
        }
        Ok(events)
    }

    /// Whether none has anything left to do.
    pub fn are_over(&self) -> bool {
        self.all.iter().all(Fault::is_over)
    }

    /// The window is over: a fault that has not begun fails.
    pub fn end(&mut self) {
        for fault in self.all.iter_mut().filter(|fault| matches!(fault.state, State::Planned)) {
            fault.fail("the window was over before".to_owned());
        }
    }

    /// Adds the records to the window, as a check of its validity; a fault that failed excludes the window from everything.
    pub fn add_to(&self, window: &mut Window) {
        let records: Vec<FaultRecord> = self.all.iter().map(|fault| fault.record.clone()).collect();
        let Some(first) = records.first() else { return };
        let told = |record: &FaultRecord| record.told(window.start_monotonic_ns);
        let failed: Vec<String> = records.iter().filter(|record| record.failed.is_some()).map(told).collect();
        let evidence = match records.len() {
            1 => told(first),
            count => format!("{count} faults, the first: {}", told(first)),
        };
        // A proxy may take the load, so refused connections do not show which process ended.
        let ended: Vec<&str> =
            records.iter().filter(|r| !r.ended.is_empty()).map(|record| record.role.as_str()).collect();
        let restarts =
            window.checks.iter_mut().filter(|of| of.check == Check::Restart && of.passed == Some(false));
        restarts.filter(|_| !ended.is_empty()).for_each(|of| {
            of.evidence += &format!("; ended by a fault: {}", ended.join(", "));
        });
        let check = ValidityCheck { check: Check::Fault, passed: Some(failed.is_empty()), evidence };
        let disturbance = |evidence| Disturbance { kind: Check::Fault, evidence };
        window.disturbances.extend(failed.into_iter().map(disturbance));
        window.checks.push(check);
        window.faults = records;
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        // On the way out of a window that was interrupted; the trial ends its processes.
        if let Some(shared) = &self.shared {
            self.all.iter_mut().for_each(|fault| drop(fault.take_back(shared)));
        }
    }
}

/// The processes and changes that a fault acts on.
struct FaultContext<'a> {
    processes: &'a mut Processes<Local>,
    replacements: &'a Replacements,
    shared: Option<&'a RunTreatments>,
    folder: &'a Path,
}

impl Fault {
    fn new(fault: &PlannedFault, hits: Vec<Hit>, group: Option<String>, (at_s, number): (f64, u32)) -> Fault {
        let is_limit = group_of(&fault.action).is_some();
        let number = fault.instance.unwrap_or(number);
        let hits = match is_limit {
            true => hits,
            false => hits.into_iter().skip(number.saturating_sub(1) as usize).take(1).collect(),
        };
        let role = match (is_limit, hits.first()) {
            (false, Some(hit)) => hit.role.clone(),
            _ => fault.role.clone(),
        };
        let record = FaultRecord {
            role,
            pid: None,
            action: fault.action.clone(),
            planned_s: fault.at_s.unwrap_or(at_s),
            done_monotonic_ns: None,
            over_monotonic_ns: None,
            ended: Vec::new(),
            oom_kills: None,
            ready_after_s: None,
            new_pid: None,
            failed: None,
        };
        Fault {
            record,
            hits,
            restart: fault.restart,
            group,
            state: State::Planned,
            changes: Vec::new(),
            oom_kills_before: None,
            flags_before: Vec::new(),
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    fn fail(&mut self, why: String) {
        self.record.failed.get_or_insert(why);
        self.state = State::Over;
    }

    fn step(&mut self, start_ns: u64, with: &mut FaultContext<'_>) -> Result<(), String> {
        let now_ns = monotonic_ns();
        match std::mem::replace(&mut self.state, State::Over) {
            State::Planned => {
                let due_ns = start_ns.saturating_add((self.record.planned_s * NS_PER_S) as u64);
                if due_ns <= now_ns { self.act(with) } else { self.state = State::Planned }
            }
            State::Lasts(until_ns) if now_ns < until_ns => self.state = State::Lasts(until_ns),
            State::Lasts(_) => self.end_lasting(with)?,
            State::Ends => self.end_when_ended(now_ns, with)?,
            State::Starts(hit, started, rest) => self.go_on_starting((hit, started, rest), with)?,
            State::Over => {}
        }
        Ok(())
    }

    /// Begins the fault: its time has come.
    fn act(&mut self, with: &mut FaultContext<'_>) {
        let lasts_ns = (self.record.action.lasts_s().unwrap_or(0.0) * NS_PER_S) as u64;
        let signal = match &self.record.action {
            FaultAction::SetFlags { for_s, flags } => {
                let (lasts, flags) = (for_s.is_some(), flags.clone());
                return match self.set_flags(&flags, with) {
                    Ok(()) if lasts => self.done(State::Lasts(monotonic_ns().saturating_add(lasts_ns))),
                    Ok(()) => self.done(State::Over),
                    Err(why) => {
                        self.set_back();
                        self.fail(why);
                    }
                };
            }
            FaultAction::Kill => Signal::Kill,
            FaultAction::Terminate => Signal::Stop(StopSignal::Term),
            FaultAction::Stop { .. } => Signal::Hold,
            FaultAction::Limit { .. } => {
                return match self.limit(with) {
                    Ok(()) => self.done(State::Lasts(monotonic_ns().saturating_add(lasts_ns))),
                    Err(why) => {
                        self.hits.iter().for_each(|hit| with.processes.set_may_end(&hit.role, false));
                        if let Some(shared) = with.shared {
                            self.take_back(shared);
                        }
                        self.fail(why);
                    }
                };
            }
        };
        let Some(hit) = self.hits.first() else { return };
        if self.record.action.ends() {
            with.processes.set_may_end(&hit.role, true);
            let pid = with.processes.pid_of(&hit.role).unwrap_or(0);
            with.replacements.lost(&hit.table, pid);
        }
        match with.processes.signal(&hit.role, signal) {
            Ok(pid) => {
                self.record.pid = pid;
                let ends = self.record.action.ends();
                self.done(if ends {
                    State::Ends
                } else {
                    State::Lasts(monotonic_ns().saturating_add(lasts_ns))
                });
            }
            Err(why) => self.fail(why),
        }
    }

    fn done(&mut self, next: State) {
        self.record.done_monotonic_ns = Some(monotonic_ns());
        self.state = next;
    }

    /// Sets the limits of the role's control group. A process may end of them.
    fn limit(&mut self, with: &mut FaultContext<'_>) -> Result<(), String> {
        let (Some(shared), Some(group), Some(limits)) =
            (with.shared, &self.group, group_of(&self.record.action))
        else {
            return Err("there is no control group of its own".to_owned());
        };
        self.oom_kills_before = limits.oom_kills(group);
        self.hits.iter().for_each(|hit| with.processes.set_may_end(&hit.role, true));
        for wanted in WantedChange::within_group(&limits, group).map_err(|e| e.to_string())? {
            let setting = wanted.planned().setting;
            let change = wanted.change(group).map_err(|e| format!("{setting}: {e}"))?;
            let applied = shared.borrow_mut().apply(change);
            self.changes.push(applied.map_err(|e| not_limited(&setting, &e))?);
        }
        Ok(())
    }

    /// Has the JVM of the process set its flags, and keeps the values before.
    fn set_flags(&mut self, flags: &BTreeMap<String, String>, with: &FaultContext<'_>) -> Result<(), String> {
        let hit = self.hits.first().ok_or("there is no such process")?;
        let pid = with.processes.pid_of(&hit.role).ok_or_else(|| format!("{} does not run", hit.role))?;
        self.record.pid = Some(pid);
        for (name, value) in flags {
            let before = set_flag(&ProcRoot::default(), pid, name, value).map_err(|e| e.to_string())?;
            self.flags_before.push((pid, name.clone(), before));
        }
        Ok(())
    }

    /// Sets the flags as they were, the last first; gives what failed.
    fn set_back(&mut self) -> Option<String> {
        let before = std::mem::take(&mut self.flags_before);
        let set = |(pid, name, value): (u32, String, String)| {
            set_flag(&ProcRoot::default(), pid, &name, &value).err().map(|e| e.to_string())
        };
        before.into_iter().rev().filter_map(set).next()
    }

    fn take_back(&mut self, shared: &RunTreatments) -> Vec<String> {
        let changes = std::mem::take(&mut self.changes);
        if changes.is_empty() { Vec::new() } else { shared.borrow_mut().undo(&changes) }
    }

    /// How many processes the OOM killer has ended since the limit began to hold.
    fn oom_kills(&self) -> Option<u64> {
        let limits = group_of(&self.record.action)?;
        let now = limits.oom_kills(self.group.as_ref()?)?;
        Some(now.saturating_sub(self.oom_kills_before?))
    }

    /// Lets a stopped process go on, or takes limits back and starts again the processes that ended of them.
    fn end_lasting(&mut self, with: &mut FaultContext<'_>) -> Result<(), String> {
        let now_ns = Some(monotonic_ns());
        self.record.oom_kills = self.oom_kills();
        if let Some(shared) = with.shared {
            let failed = self.take_back(shared);
            if let Some(why) = failed.into_iter().next() {
                self.record.failed.get_or_insert(why);
            }
        }
        if matches!(self.record.action, FaultAction::Stop { .. })
            && let Some(hit) = self.hits.first()
        {
            match with.processes.signal(&hit.role, Signal::Continue) {
                Ok(_) => self.record.over_monotonic_ns = now_ns,
                Err(why) => self.fail(why),
            }
            return Ok(());
        }
        self.record.over_monotonic_ns = now_ns;
        if matches!(self.record.action, FaultAction::SetFlags { .. }) {
            if let Some(why) = self.set_back() {
                self.fail(why);
            }
            return Ok(());
        }
        let mut ended = Vec::new();
        for hit in &self.hits {
            match with.processes.ended_of(&hit.role) {
                Some(how) => {
                    self.record.ended.push(format!("{} {}", hit.role, how.how));
                    ended.push(hit.clone());
                }
                None => with.processes.set_may_end(&hit.role, false),
            }
        }
        self.start_again(ended, with)
    }

    /// A process that was asked to end may take its time.
    fn end_when_ended(&mut self, now_ns: u64, with: &mut FaultContext<'_>) -> Result<(), String> {
        let Some(hit) = self.hits.first().cloned() else { return Ok(()) };
        match with.processes.ended_of(&hit.role) {
            Some(how) => {
                self.record.ended.push(how.how);
                return self.start_again(vec![hit], with);
            }
            None if END_NS_MAX < now_ns.saturating_sub(self.record.done_monotonic_ns.unwrap_or(now_ns)) => {
                with.processes.set_may_end(&hit.role, false);
                self.fail(format!("it did not end within {} s", END_NS_MAX / 1_000_000_000));
            }
            None => self.state = State::Ends,
        }
        Ok(())
    }

    /// Starts the first of those that ended; the others follow when it is ready.
    fn start_again(&mut self, mut ended: Vec<Hit>, with: &mut FaultContext<'_>) -> Result<(), String> {
        let pid_of = |hit: &Hit| with.processes.pid_of(&hit.role).unwrap_or(0);
        ended.iter().for_each(|hit| with.replacements.lost(&hit.table, pid_of(hit)));
        if self.restart && !ended.is_empty() {
            self.start(ended.remove(0), ended, with)?;
        }
        Ok(())
    }

    fn start(&mut self, hit: Hit, rest: Vec<Hit>, with: &mut FaultContext<'_>) -> Result<(), String> {
        let old = with.processes.pid_of(&hit.role).unwrap_or(0);
        keep_log(with.folder, &hit.role).map_err(|e| format!("the GC log of the {}: {e}", hit.role))?;
        let started = with.replacements.replace(&hit.table, old, || {
            with.processes.restart(&hit.role).map(|()| with.processes.pid_of(&hit.role))
        })?;
        self.state = State::Starts(hit, started.unwrap_or(0), rest);
        Ok(())
    }

    fn go_on_starting(
        &mut self,
        (hit, started, mut rest): (Hit, u32, Vec<Hit>),
        with: &mut FaultContext<'_>,
    ) -> Result<(), String> {
        if !with.processes.step_of(&hit.role)? {
            self.state = State::Starts(hit, started, rest);
            return Ok(());
        }
        let since_ns = self.record.done_monotonic_ns.unwrap_or_default();
        self.record.ready_after_s = Some(monotonic_ns().saturating_sub(since_ns) as f64 / NS_PER_S);
        let works = with.processes.pid_of(&hit.role);
        self.record.new_pid = works;
        with.replacements.is_ready(&hit.table, started, works.unwrap_or(started));
        if rest.is_empty() { Ok(()) } else { self.start(rest.remove(0), rest, with) }
    }
}

/// Why a limit does not hold. Version 1 refuses one below what the processes hold and the kernel cannot take back; version 2 ends processes.
fn not_limited(setting: &str, error: &std::io::Error) -> String {
    let why = match error.kind() {
        std::io::ErrorKind::ResourceBusy => {
            ": its processes hold more memory than that, and control groups of version 1 cannot limit them to less"
        }
        _ => "",
    };
    format!("{setting} could not be set: {error}{why}")
}

/// A JVM overwrites its log: the log of the process before it is kept under another name.
fn keep_log(folder: &Path, role: &str) -> std::io::Result<()> {
    let name = file::gc_log_of(role);
    if !folder.join(&name).is_file() {
        return Ok(());
    }
    let earlier = (1..).map(|start| folder.join(file::earlier_log(&name, start))).find(|path| !path.exists());
    earlier.map_or(Ok(()), |earlier| std::fs::rename(folder.join(&name), earlier))
}
