//! The pictures. How to add one stands in the folder above.

mod bar_panel;
mod bars;
mod by_heap;
mod capacity_curves;
mod effects;
mod emulated;
mod flames;
mod gc_time;
mod joined;
mod keys;
mod latency;
mod memory;
mod memory_map;
mod memory_time;
mod swap_time;

pub use assay_kit::chart::Chart;
pub use effects::figure as effects;

use super::grid::Grid;
use assay_model::metric;

/// Every figure in the order of the page.
pub fn figures(grid: &Grid) -> Vec<Chart> {
    let mut figures = Vec::new();
    let mut ratios = bars::Ratios::of(grid);
    figures.extend(ratios.take(&[&grid.primary().id, metric::CPU_MS_PER_REQUEST, metric::THROUGHPUT_PER_S]));
    figures.extend(emulated::figures(grid));
    if figures.is_empty() {
        let why = "not available: no two variants were compared in the same block";
        figures.push(Chart::absent("ratios", "Ratios to the baseline", why));
    }
    let rest: Vec<&str> = grid.metrics.iter().map(|m| &*m.id).collect();
    figures.extend(capacity_curves::figure(grid));
    // There is no window of one load in which response times, collections and memory could be drawn over time.
    if grid.is_benchmark() || grid.finds_capacity() {
        figures.extend(ratios.take(&rest));
        return figures;
    }
    // Of 50 metrics those are drawn that the pictures above show; the tables have all.
    if grid.run.plan.procedure.emulation().is_some() {
        return figures;
    }
    figures.push(by_heap::figure(grid));
    figures.push(latency::figure(grid));
    figures.extend(ratios.take(&[metric::RESPONSE_P50_MS, metric::RESPONSE_P99_MS]));
    figures.push(gc_time::figure(grid));
    figures.extend(ratios.take(&[metric::GC_PAUSE_MS_PER_S]));
    figures.push(memory::figure(grid));
    figures.push(memory_time::figure(grid));
    figures.extend(swap_time::figures(grid));
    figures.extend(memory_map::figure(grid));
    figures.extend(flames::figure(grid));
    figures.extend(ratios.take(&rest));
    figures
}
