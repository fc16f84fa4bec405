//! The measured windows of a trial joined into one time axis: in the resident design a server is measured in short
//! windows far apart and held still between them.

use super::super::grid::{Cell, Grid, Group, is_quiet};
use assay_kit::joined::JoinedAxis;
use assay_kit::time_axis::Clock;
use assay_model::{StoredTrial, Trial, Window};

/// Joins the windows of a trial.
pub fn joined(trial: &Trial) -> JoinedAxis {
    let left_out = |w: &Window| (!is_quiet(w)).then(|| format!("block {}: disturbed", w.block));
    let begun = trial.started_monotonic_ns.zip(Clock::stored(&trial.started_at));
    JoinedAxis::of(trial.windows.iter().map(|w| (w.start_monotonic_ns, w.end_monotonic_ns, left_out(w))))
        .with_clock(begun)
}

/// What is drawn of a variant: the things that lie in the windows of one of its trials; absent without any.
pub type Drawn<'g, T> = (&'g Group<'g>, &'g Cell<'g>, Option<(&'g StoredTrial, Vec<T>)>);

/// Every variant that was run, group by group.
pub fn drawn<'g, T>(grid: &'g Grid, in_windows: impl Fn(&'g StoredTrial) -> Vec<T>) -> Vec<Drawn<'g, T>> {
    let of = |cell: &Cell| grid.shown_trial(cell.name).map(|stored| (stored, in_windows(stored)));
    let run = grid.cells().filter(|(_, cell)| cell.variant.is_some());
    run.map(|(group, cell)| (group, cell, of(cell).filter(|(_, things)| !things.is_empty()))).collect()
}

/// All things that are drawn of the variants of a group, so that its panels share their scales.
pub fn of_group<'d, T>(drawn: &'d [Drawn<T>], group: &Group) -> impl Iterator<Item = &'d T> {
    let of = drawn.iter().filter(|(of, ..)| of.levels == group.levels);
    of.filter_map(|(.., found)| found.as_ref()).flat_map(|(_, things)| things)
}
