//! Times of an emulated guest mean nothing, so none is stored, and none can have been disturbed.

use assay_model::{Feels, Metric, Plan, Trial};

/// Takes the times out of a trial that ran in a guest; others stay as they are.
pub(super) fn of_guest(plan: &Plan, trial: &mut Trial) {
    if plan.guest.is_none() {
        return;
    }
    let measures = |id: &str| Metric::by_id(id).is_none_or(|metric| plan.measures(&metric));
    for window in &mut trial.windows {
        window.metrics.retain(|id, _| measures(id));
        window.disturbances.retain(|disturbance| disturbance.spoils(Feels::Nothing));
    }
    trial.response_curve.clear();
    trial.start_to_ready_ms = None;
}
