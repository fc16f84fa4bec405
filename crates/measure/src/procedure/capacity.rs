//! A search for the capacity: every window of load that it takes is one measurement of the trial.

use crate::conduct::measure;
use crate::config::CapacityConfig;
use crate::measurement::{Context, Measurement, MeasurementId, Procedure};
use crate::method::method_of;
use crate::warm_up::WarmUpPhase;
use assay_load::LoadError;
use assay_model::WarmUp;

/// A search for the capacity.
#[derive(Debug, Clone)]
pub struct CapacitySearch {
    /// What is searched for.
    pub config: CapacityConfig,
    /// How the server is warmed up.
    pub warm_up: WarmUpPhase,
}

impl Procedure for CapacitySearch {
    fn warm_up(&mut self, with: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError> {
        self.warm_up.run(with)
    }

    fn measure(
        &mut self,
        with: &mut Context<'_>,
        turn: MeasurementId,
    ) -> Result<Option<Measurement>, LoadError> {
        let warmed_up = self.warm_up.done.as_ref();
        let mut method = method_of(&self.config, warmed_up.and_then(|w| w.throughput_per_s));
        measure(&self.config, &mut *method, warmed_up, with, turn).map(Some)
    }
}
