//! When a window is disturbed: the study's limits in place of the usual ones.

use crate::check::combinations::VariantSpec;
use crate::file::study::{LimitsTable, Study};
use assay_measure::Bounds;
use assay_model::PlannedProcedure;

/// The study's limits in place of the usual ones, for windows or for a search for a capacity. A study that does not watch the
/// machine excludes no window for it.
pub(crate) fn bounds(table: &LimitsTable, watches_host: bool, procedure: &PlannedProcedure) -> Bounds {
    let share = |limit: Option<f64>, usual: f64| if watches_host { limit.unwrap_or(usual) } else { 1.0 };
    let usual = Bounds::default();
    Bounds {
        foreign_cpu_share: share(table.foreign_cpu_share, usual.foreign_cpu_share),
        steal_share: share(table.steal_share, usual.steal_share),
        own_throttled_share: share(table.throttled_share, usual.own_throttled_share),
        throttled_share: procedure.capacity().is_none().then(|| share(table.throttled_share, 0.0)),
        error_share: table.error_share.unwrap_or(usual.error_share),
        ..usual
    }
}

/// The study's limits. A CPU limit of a level or fault is the subject of the study, so its throttling excludes no window.
pub(crate) fn limits_of(study: &Study, specs: &[VariantSpec]) -> LimitsTable {
    let by_fault = study.fault.iter().any(|fault| fault.limit.is_some_and(|limit| limit.cpus.is_some()));
    let by_level = specs.iter().flat_map(|spec| &spec.limits).any(|limits| limits.cpus.is_some());
    let is_studied = by_fault || by_level;
    let throttled_share =
        study.limits.throttled_share.or(Some(1.0).filter(|_| is_studied && study.capacity.is_none()));
    LimitsTable { throttled_share, ..study.limits.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{CapacityMethod, PlannedCapacity};
    use std::collections::BTreeMap;

    #[test]
    fn limits_of_the_study_count_and_what_it_does_not_limit_is_as_usual() {
        let search = PlannedProcedure::Capacity(PlannedCapacity {
            method: CapacityMethod::Search,
            percentile: 99.0,
            limits_ms: vec![10.0],
            operation_limits_ms: BTreeMap::new(),
            limited_operations: Vec::new(),
            budget_s: 300.0,
            connections: 1,
            users: None,
            in_flight_max: None,
            threads: None,
            count_disturbed: false,
        });
        let windows = PlannedProcedure::Windows;
        assert_eq!(bounds(&LimitsTable::default(), true, &search), Bounds::default());
        let of_windows = Bounds { throttled_share: Some(0.0), ..Bounds::default() };
        assert_eq!(bounds(&LimitsTable::default(), true, &windows), of_windows);
        let own = LimitsTable {
            foreign_cpu_share: Some(0.2),
            steal_share: Some(0.04),
            throttled_share: Some(0.0),
            error_share: Some(0.5),
        };
        let want = Bounds {
            foreign_cpu_share: 0.2,
            steal_share: 0.04,
            own_throttled_share: 0.0,
            error_share: 0.5,
            ..Bounds::default()
        };
        assert_eq!(bounds(&own, true, &search), want);
        let of_machine = |b: Bounds| (b.foreign_cpu_share, b.steal_share, b.own_throttled_share);
        let unwatched = bounds(&own, false, &windows);
        assert_eq!(of_machine(unwatched), (1.0, 1.0, 1.0), "nothing is left out for the machine");
        assert_eq!(unwatched.throttled_share, Some(1.0));
    }
}
