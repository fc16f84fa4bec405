//! What every procedure gets, and what it gives.

use crate::account::ServerData;
use crate::event::MeasureEvent;
use crate::observation::Watcher;
use assay_load::{LoadError, LoadSource};
use assay_model::{Audit, CapacityReport, WarmUp, Window};
use std::sync::atomic::AtomicBool;

/// What a procedure measures with.
pub struct Context<'a> {
    /// Where load comes from.
    pub source: &'a mut dyn LoadSource,
    /// What watches server and machine.
    pub watcher: &'a mut dyn Watcher,
    /// The server's account of its data, if it keeps one.
    pub data: Option<&'a mut dyn ServerData>,
    /// Ends a measurement early.
    pub stop: &'a AtomicBool,
    /// Gets what happens on the way.
    pub on_event: &'a mut dyn FnMut(MeasureEvent),
}

/// Which measurement it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasurementId {
    /// Block, from 1.
    pub block: u32,
    /// 1 for the first try, 2 for the first repeat.
    pub attempt: u32,
}

/// What a measurement gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The trial's window. That of a capacity is all windows of load on the way to it.
    pub window: Window,
    /// The capacity, of a search.
    pub capacity: Option<CapacityReport>,
    /// What the server said of its data, where that was asked on the way.
    pub audit: Option<Audit>,
}

/// How a trial measures.
pub trait Procedure: Send {
    /// Loads the server until it is steady; absent where there is no warm-up.
    ///
    /// # Errors
    /// Those of the load source.
    fn warm_up(&mut self, with: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError>;

    /// Measures once. Where it was stopped before there was anything to tell, nothing.
    ///
    /// # Errors
    /// Those of the load source.
    fn measure(
        &mut self,
        with: &mut Context<'_>,
        turn: MeasurementId,
    ) -> Result<Option<Measurement>, LoadError>;

    /// All is measured: what the server says of its data, unless it was asked on the way.
    fn finish(&mut self, with: &mut Context<'_>) -> Option<Audit> {
        with.data.as_mut().and_then(|data| data.audit())
    }
}
