//! Input and output of every procedure.

use crate::account::ServerData;
use crate::event::MeasureEvent;
use crate::observation::Watcher;
use assay_load::{LoadError, LoadSource};
use assay_model::{Audit, CapacityReport, WarmUp, Window};
use std::sync::atomic::AtomicBool;

/// Input of a procedure.
pub struct Context<'a> {
    /// Where load comes from.
    pub source: &'a mut dyn LoadSource,
    /// Observes server and machine.
    pub watcher: &'a mut dyn Watcher,
    /// The server's account of its data, if it keeps one.
    pub data: Option<&'a mut dyn ServerData>,
    /// Ends a measurement early.
    pub stop: &'a AtomicBool,
    /// Receives events during the measurement.
    pub on_event: &'a mut dyn FnMut(MeasureEvent),
}

/// Which measurement it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasurementId {
    /// Block, from 1.
    pub block: u32,
    /// 1 for the first try, 2 for the first repeat.
    pub attempt: u32,
    /// The place of its window in a duet; absent in other designs.
    pub duet: Option<DuetPlace>,
}

/// The place of a window in a pair of windows that are measured at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuetPlace {
    /// Number in the pair of processes, from 1.
    pub number: u32,
    /// The half of the processors, 1 or 2.
    pub half: u32,
}

impl MeasurementId {
    /// A measurement that none is made beside.
    pub fn alone(block: u32, attempt: u32) -> MeasurementId {
        MeasurementId { block, attempt, duet: None }
    }
}

/// Result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The trial's window. That of a capacity is all windows of load on the way to it.
    pub window: Window,
    /// The capacity, of a search.
    pub capacity: Option<CapacityReport>,
    /// The server's audit of its data, where it was asked for during the measurement.
    pub audit: Option<Audit>,
}

/// How a trial measures.
pub trait Procedure: Send {
    /// Loads the server until it is steady; absent where there is no warm-up.
    ///
    /// # Errors
    /// Those of the load source.
    fn warm_up(&mut self, with: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError>;

    /// Measures once. `None` where it was stopped before there was a result.
    ///
    /// # Errors
    /// Those of the load source.
    fn measure(
        &mut self,
        with: &mut Context<'_>,
        turn: MeasurementId,
    ) -> Result<Option<Measurement>, LoadError>;

    /// After the last measurement: the server's audit of its data, unless it was asked for before.
    fn finish(&mut self, with: &mut Context<'_>) -> Option<Audit> {
        with.data.as_mut().and_then(|data| data.audit())
    }
}
