//! Changes to the machine that a trial asks for: made before its server starts, taken back when that has stopped.

use crate::error::StudyError;
use crate::variant::VariantLaunch;
use assay_launch::{Change, Treatment, Treatments};
use assay_model::{Plan, Problem, TreatmentRecord};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

/// All changes of a run, shared by its trials.
pub(super) type Shared = Rc<RefCell<Treatments<Change>>>;

/// The changes of one trial. Dropped, they are taken back.
pub(super) struct Applied {
    shared: Option<Shared>,
    numbers: Vec<u32>,
    /// Folders of the control groups that the server enters.
    pub groups: Vec<PathBuf>,
    /// What was done, for the trial.
    pub records: Vec<TreatmentRecord>,
    problems: Vec<Problem>,
}

impl Applied {
    /// Makes the changes of a variant, in the order of the plan; `Err` beside it says which could not be made.
    pub fn make(
        shared: Option<&Shared>,
        launch: &VariantLaunch,
        number: u32,
    ) -> (Applied, Result<(), String>) {
        let mut applied = Applied {
            shared: shared.cloned(),
            numbers: Vec::new(),
            groups: Vec::new(),
            records: Vec::new(),
            problems: Vec::new(),
        };
        // Of another run, or an earlier one that was killed, no group may have this name.
        let name = format!("assay-{}-{}-{number}", std::process::id(), assay_linux::monotonic_ns());
        let worked = launch.changes.iter().try_for_each(|wanted| {
            let Some(shared) = &applied.shared else { return Err("no changes are allowed".to_owned()) };
            let planned = wanted.planned();
            let told =
                |e: std::io::Error| format!("{} could not be set to {}: {e}", planned.setting, planned.value);
            let change = wanted.change(&name).map_err(told)?;
            let before = change.before();
            applied.numbers.push(shared.borrow_mut().apply(change.clone()).map_err(told)?);
            applied.groups.extend(change.groups());
            let (setting, found) = (change.name(), change.found());
            applied.records.push(TreatmentRecord {
                setting,
                before,
                asked: planned.value,
                found,
                undone: false,
            });
            Ok(())
        });
        (applied, worked)
    }

    /// Takes the changes back; gives what was done and what could not be.
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

/// Refuses a plan that changes the machine without leave, with all that it would touch.
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
