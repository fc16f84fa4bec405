//! The measured windows of a trial joined into one time axis: in the resident design a server is measured in short
//! windows far apart and held still between them.

use super::super::grid::is_quiet;
use assay_kit::joined::Joined;
use assay_model::{Trial, Window};

/// Joins the windows of a trial.
pub fn joined(trial: &Trial) -> Joined {
    let left_out = |w: &Window| (!is_quiet(w)).then(|| format!("block {}: disturbed", w.block));
    Joined::of(trial.windows.iter().map(|w| (w.start_monotonic_ns, w.end_monotonic_ns, left_out(w))))
}
