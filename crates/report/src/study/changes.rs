//! What was changed on the machine for each variant: applied, read back, taken back.

use super::grid::Grid;
use assay_kit::{Cell, Table, text};
use assay_model::TreatmentRecord;

/// A change that trials of a variant had, all with the same values.
struct Change<'a> {
    variant: &'a str,
    record: &'a TreatmentRecord,
    trials: usize,
    /// Trials after which it was not taken back.
    left: Vec<u32>,
}

fn changes<'a>(grid: &'a Grid<'_>) -> Vec<Change<'a>> {
    let mut all: Vec<Change<'a>> = Vec::new();
    for trial in grid.run.trials.iter().map(|stored| &stored.trial) {
        for record in &trial.treatments {
            let is_same = |of: &Change<'_>| {
                let values = |r: &TreatmentRecord| (r.before.clone(), r.requested.clone(), r.found.clone());
                of.variant == trial.variant
                    && of.record.setting == record.setting
                    && values(of.record) == values(record)
            };
            let at = all.iter().position(is_same).unwrap_or_else(|| {
                all.push(Change { variant: &trial.variant, record, trials: 0, left: Vec::new() });
                all.len() - 1
            });
            all[at].trials += 1;
            all[at].left.extend((!record.undone).then_some(trial.number));
        }
    }
    all
}

impl Change<'_> {
    fn before(&self) -> String {
        self.record.before.as_deref().map_or_else(|| "nothing".to_owned(), text::clean)
    }

    fn found(&self) -> Cell {
        self.record
            .found
            .as_deref()
            .map_or_else(|| Cell::absent("could not be read"), |found| text::clean(found).into())
    }

    fn taken_back(&self) -> String {
        if self.left.is_empty() {
            return "after each trial".to_owned();
        }
        let numbers: Vec<String> = self.left.iter().map(u32::to_string).collect();
        format!("NOT after trial {}", numbers.join(", "))
    }
}

/// Each change of each variant; absent where no trial had any.
pub fn table(grid: &Grid) -> Option<Table> {
    Table::of("Changes to the machine, made for each trial", changes(grid))
        .words("Variant", |change| text::clean(change.variant))
        .words("Setting", |change| text::clean(&change.record.setting))
        .words("Before", Change::before)
        .words("Requested", |change| text::clean(&change.record.requested))
        .words("Read back", Change::found)
        .words("Trials", |change| change.trials.to_string())
        .words("Taken back", Change::taken_back)
        .table()
        .unless_empty()
}
