//! Changes to the machine that a trial asks for: made before its server starts, taken back when that has stopped.

use crate::error::StudyError;
use crate::file::fault::{group_of, treatment_of};
use crate::plan::variant_launch::VariantLaunch;
use assay_launch::{Change, GroupLimits, Treatment, Treatments, WantedChange};
use assay_model::file::SERVER;
use assay_model::{GroupEnd, Plan, PlannedFault, PlannedTreatment, Problem, TreatmentRecord};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

/// All changes of a run, shared by its trials.
pub(super) type RunTreatments = Rc<RefCell<Treatments<Change>>>;

/// The changes of one trial. Dropped, they are taken back.
pub(super) struct Applied {
    shared: Option<RunTreatments>,
    numbers: Vec<u32>,
    /// Folders of the control groups that the server enters.
    pub groups: Vec<PathBuf>,
    /// The server's own control group, with its name.
    own: Option<(GroupLimits, String)>,
    /// By role that a fault limits: the name of its control group, and the folders that its processes enter.
    pub of_roles: BTreeMap<String, (String, Vec<PathBuf>)>,
    /// The changes that were made, for the trial.
    pub records: Vec<TreatmentRecord>,
    problems: Vec<Problem>,
}

impl Applied {
    /// The changes of a trial that makes none.
    pub fn none() -> Applied {
        Applied {
            shared: None,
            numbers: Vec::new(),
            groups: Vec::new(),
            own: None,
            of_roles: BTreeMap::new(),
            records: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Makes the changes of a variant, in the order of the plan. The `Err` names the first that could not be made; those before it
    /// are made.
    pub fn make(
        shared: Option<&RunTreatments>,
        launch: &VariantLaunch,
        faults: &[PlannedFault],
        number: u32,
    ) -> (Applied, Result<(), String>) {
        let mut applied = Applied::none();
        applied.shared = shared.cloned();
        // No group of another run, or of an earlier one that was killed, may have this name.
        let name = format!("assay-{}-{}-{number}", std::process::id(), assay_linux::monotonic_ns());
        let worked = launch.changes.iter().try_for_each(|wanted| {
            let groups = applied.make_one(wanted, wanted.planned(), &name)?;
            applied.groups.extend(groups);
            if let WantedChange::Group(limits) = wanted {
                applied.own = Some((limits.clone(), name.clone()));
            }
            Ok(())
        });
        let worked = worked.and_then(|()| applied.make_groups(faults, &name));
        (applied, worked)
    }

    /// Makes a change; gives the folders of a control group.
    fn make_one(
        &mut self,
        wanted: &WantedChange,
        planned: PlannedTreatment,
        name: &str,
    ) -> Result<Vec<PathBuf>, String> {
        let Some(shared) = &self.shared else { return Err("no changes are allowed".to_owned()) };
        let failed =
            |e: std::io::Error| format!("{} could not be set to {}: {e}", planned.setting, planned.value);
        let change = wanted.change(name).map_err(failed)?;
        let before = change.before();
        self.numbers.push(shared.borrow_mut().apply(change.clone()).map_err(failed)?);
        let (setting, found) = (change.name(), change.found());
        self.records.push(TreatmentRecord {
            setting,
            before,
            requested: planned.value,
            found,
            undone: false,
        });
        Ok(change.groups())
    }

    /// Makes a control group for each role that a fault will limit. Where a level limits the server, a fault changes the limits of the
    /// level's group.
    fn make_groups(&mut self, faults: &[PlannedFault], name: &str) -> Result<(), String> {
        for fault in faults {
            let (Some(limits), Some(planned)) = (group_of(&fault.action), treatment_of(fault)) else {
                continue;
            };
            if self.own.is_some() && fault.role == SERVER {
                // It has entered that already.
                self.of_roles.insert(fault.role.clone(), (name.to_owned(), Vec::new()));
                continue;
            }
            let name = format!("{name}-{}", fault.role);
            let folders = self.make_one(&WantedChange::Group(limits), planned, &name)?;
            self.of_roles.insert(fault.role.clone(), (name, folders));
        }
        Ok(())
    }

    /// Folders of the control group that the processes of a role enter because a fault will limit them.
    pub fn groups_of(&self, role: &str) -> Vec<PathBuf> {
        self.of_roles.get(role).map(|(_, folders)| folders.clone()).unwrap_or_default()
    }

    /// What became of the server's own control group so far; absent where it has none with limited memory.
    pub fn group_end(&self) -> Option<GroupEnd> {
        self.own.as_ref().and_then(|(limits, name)| limits.end(name))
    }

    /// Takes the changes back; gives their records, and problems for those that could not be taken back.
    pub fn take_back(&mut self) -> (Vec<TreatmentRecord>, Vec<Problem>) {
        let numbers = std::mem::take(&mut self.numbers);
        if let Some(shared) = self.shared.as_ref().filter(|_| !numbers.is_empty()) {
            // The last first; each number has its record.
            for (number, record) in numbers.iter().zip(&mut self.records).rev() {
                let failed = shared.borrow_mut().undo(&[*number]);
                record.undone = failed.is_empty();
                self.problems.extend(failed.into_iter().map(|what| Problem::new("host settings", what)));
            }
        }
        (self.records.clone(), std::mem::take(&mut self.problems))
    }
}

impl Drop for Applied {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// Refuses a plan that changes the machine without `--allow-host-changes`, and lists the changes.
pub(super) fn check_allowed(plan: &Plan, is_allowed: bool) -> Result<(), StudyError> {
    let mut touched: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for variant in &plan.variants {
        for treatment in &variant.treatments {
            touched
                .entry((treatment.setting.as_str(), treatment.value.as_str()))
                .or_default()
                .push(&variant.name);
        }
    }
    if is_allowed || touched.is_empty() {
        return Ok(());
    }
    let line = |((setting, value), variants): (&(&str, &str), &Vec<&str>)| {
        format!("  {setting} = {value} ({})\n", variants.join(", "))
    };
    let list: String = touched.iter().map(line).collect();
    Err(StudyError::Use(format!(
        "{} changes this machine while its trials run:\n{list}Each change is taken back after its trial, and by the next start if \
         the run is killed. If that may be: --allow-host-changes",
        plan.study
    )))
}
