//! Against a search over all windows.

use super::*;
use proptest::prelude::*;

/// Largest time paused in any window, over all beginnings in steps of one: pauses have whole numbers, so that the maximum lies at one.
fn slow(pauses: &[(u64, u64)], first: u64, last: u64, length: u64) -> Option<u64> {
    let paused = |from: u64| {
        let within = |(start, end): &(u64, u64)| (*end).min(from + length).saturating_sub((*start).max(from));
        pauses.iter().map(within).sum::<u64>()
    };
    (first + length <= last).then(|| (first..=last - length).map(paused).max().unwrap_or(0))
}

proptest! {
    #[test]
    fn it_is_that_of_the_worst_of_all_windows(steps in prop::collection::vec((0u64..100, 1u64..60), 1..25)) {
        let unit = 50_000; // ns, so that windows of 1 to 50 ms are within reach
        let mut now = 0;
        let mut pauses = Vec::new();
        let mut mmu = Mmu::default();
        for (gap, length) in steps {
            now += gap;
            pauses.push((now, now + length));
            mmu.add(now * unit, (now + length) * unit);
            now += length;
        }
        let (first, last) = (pauses[0].0, now);
        let table = mmu.table();
        for window_ms in [1_u64, 2, 5, 10, 20, 50] {
            let length = window_ms * 20;
            let got = table.iter().find(|row| row.window_ms == window_ms as f64);
            let want = slow(&pauses, first, last, length);
            prop_assert_eq!(got.is_some(), want.is_some());
            if let (Some(got), Some(want)) = (got, want) {
                let utilisation_percent = (length - want) as f64 / length as f64 * 100.0;
                prop_assert!((got.utilisation_percent - utilisation_percent).abs() < 1e-9, "{window_ms}: {got:?} {want}");
            }
        }
    }
}

#[test]
fn no_window_reaches_over_a_restart() {
    let mut mmu = Mmu::default();
    let ms = 1_000_000;
    mmu.see(0, 0);
    mmu.add(19 * ms, 20 * ms);
    mmu.begin_jvm();
    mmu.add(20 * ms, 21 * ms);
    mmu.see(40 * ms, 40 * ms);
    let of = |window_ms: f64| {
        mmu.table().iter().find(|row| row.window_ms == window_ms).map(|r| r.utilisation_percent)
    };
    assert_eq!((of(1.0), of(2.0), of(20.0), of(50.0)), (Some(0.0), Some(50.0), Some(95.0), None));
}

#[test]
fn more_pauses_than_are_kept_leave_long_windows_out_and_short_ones_exact() {
    let mut mmu = Mmu::default();
    for pause in 0..200_000_u64 {
        mmu.add(pause * 100_000, pause * 100_000 + 10_000);
    }
    assert!(mmu.pauses.len() <= PAUSES_MAX + 1);
    let table = mmu.table();
    assert_eq!(table[0], GcMmu { window_ms: 1.0, utilisation_percent: 90.0 });
    assert!(table.iter().all(|row| (row.utilisation_percent - 90.0).abs() < 1.0), "{table:?}");
    assert!(table.iter().all(|row| row.window_ms < 5_000.0), "{table:?}");
}
