//! What happens while a server is fitted.

use assay_model::{FitProbe, Plan, RunEvent};

/// What happens meanwhile.
#[derive(Debug)]
pub enum FitEvent<'a> {
    /// A probe begins, as far as it is known before; the plan is that of its run.
    Begins(&'a FitProbe, &'a Plan),
    /// It waits until another run has ended that changes settings of this machine.
    Waits,
    /// Something happened in its run.
    Run(&'a RunEvent),
    /// It ended.
    Ended(&'a FitProbe),
}

/// Gets what happens meanwhile.
pub type OnFitEvent<'a> = dyn FnMut(FitEvent<'_>) + 'a;
