//! What common formulas would have set, with the figures of this server.
//!
//! Sources: java-buildpack-memory-calculator, README, "Algorithm"; Vertical Pod Autoscaler, recommender: `target-memory-percentile` 0.9,
//! `recommendation-margin-fraction` 0.15, `pod-recommendation-min-memory-mb` 250, `pod-recommendation-min-cpu-millicores` 25; Kruize,
//! `GenericRecommendationModel` and `RecommendationConstants`: the larger of all intervals, `MEM_USAGE_BUFFER_DECIMAL` 0.2,
//! `MEM_SPIKE_BUFFER_DECIMAL` 0.05.

use assay_model::{Estimate, FitFormula, FitFormulaName};
use assay_text::size;

/// Share of the limit that the heap gets by a flat rule.
const FLAT: f64 = 0.8;
/// The memory calculator's constants, bytes: those of sizes are its own.
const CLASS_BYTES: u64 = 5800;
const METASPACE_BYTES: u64 = 14_000_000;
const CODE_CACHE_BYTES: u64 = 240 << 20;
const DIRECT_BYTES: u64 = 10 << 20;
const STACKS: u64 = 250;
const STACK_BYTES: u64 = 1 << 20;
/// VPA's margin and least recommendations.
const VPA_MARGIN: f64 = 0.15;
const VPA_BYTES_MIN: u64 = 250 << 20;
const VPA_MILLICORES_MIN: f64 = 25.0;
/// Kruize's buffers over the usage and over its spike.
const KRUIZE_USAGE: f64 = 0.2;
const KRUIZE_SPIKE: f64 = 0.05;

/// What the formulas get.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Observed {
    /// The fitted heap.
    pub heap_bytes: u64,
    /// Classes that are loaded.
    pub classes: Option<u64>,
    /// Without limits: charged at most, the same without inactive page cache, and how far the RSS rose.
    pub usage_bytes: Option<u64>,
    pub working_set_bytes: Option<u64>,
    pub spike_bytes: Option<u64>,
    /// CPU time per time without limits.
    pub used_millicores: Option<f64>,
    /// With the fitted heap.
    pub advised_bytes: Option<u64>,
}

/// Each formula that has its figures, beside the limit that was found.
pub(super) fn formulas(of: &Observed, found: Estimate) -> Vec<FitFormula> {
    let all = [flat(of), buildpack(of), vpa(of), kruize(of), advised(of)];
    let beside = |(name, arithmetic, memory_bytes, cpu_millicores): Formula| FitFormula {
        name,
        arithmetic,
        memory_bytes,
        cpu_millicores,
        above_bytes: memory_bytes as i64 - found.estimate as i64,
        holds: match found.ends() {
            Some((low, _)) if (memory_bytes as f64) < low => Some(false),
            _ if found.estimate <= memory_bytes as f64 => Some(true),
            _ => None,
        },
    };
    all.into_iter().flatten().map(beside).collect()
}

type Formula = (FitFormulaName, String, u64, Option<f64>);

fn bytes(bytes: u64) -> String {
    size::rounded(bytes)
}

fn flat(of: &Observed) -> Option<Formula> {
    let limit = (of.heap_bytes as f64 / FLAT).round() as u64;
    Some((FitFormulaName::Flat80, format!("heap {} / {FLAT:.2}", bytes(of.heap_bytes)), limit, None))
}

fn buildpack(of: &Observed) -> Option<Formula> {
    let classes = of.classes?;
    let metaspace = CLASS_BYTES.saturating_mul(classes).saturating_add(METASPACE_BYTES);
    let rest = metaspace + CODE_CACHE_BYTES + DIRECT_BYTES + STACKS * STACK_BYTES;
    let arithmetic = format!(
        "heap {} + metaspace {} ({classes} classes) + code cache 240 MiB + direct buffers 10 MiB + {STACKS} threads of 1 MiB",
        bytes(of.heap_bytes),
        bytes(metaspace)
    );
    Some((FitFormulaName::Buildpack, arithmetic, of.heap_bytes.saturating_add(rest), None))
}

fn vpa(of: &Observed) -> Option<Formula> {
    let working_set = of.working_set_bytes?;
    let limit = ((working_set as f64 * (1.0 + VPA_MARGIN)).round() as u64).max(VPA_BYTES_MIN);
    let cpu = of.used_millicores.map(|used| (used * (1.0 + VPA_MARGIN)).max(VPA_MILLICORES_MIN));
    let arithmetic = format!("working set without limits {} + 15 %, at least 250 MiB", bytes(working_set));
    Some((FitFormulaName::Vpa, arithmetic, limit, cpu))
}

fn kruize(of: &Observed) -> Option<Formula> {
    let usage = of.usage_bytes?;
    let by_usage = usage as f64 * (1.0 + KRUIZE_USAGE);
    let by_spike =
        of.spike_bytes.map_or(f64::INFINITY, |spike| usage as f64 + spike as f64 * (1.0 + KRUIZE_SPIKE));
    let spike = of.spike_bytes.map_or_else(String::new, |spike| {
        format!(", or its spike of {} + 5 % where that is less", bytes(spike))
    });
    let arithmetic = format!("usage without limits {} + 20 %{spike}", bytes(usage));
    Some((FitFormulaName::Kruize, arithmetic, by_usage.min(by_spike).round() as u64, of.used_millicores))
}

fn advised(of: &Observed) -> Option<Formula> {
    let limit = of.advised_bytes?;
    Some((FitFormulaName::Advise, "each part at its bound, whether reached or not".to_owned(), limit, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn each_formula_gives_what_its_source_says() {
        let of = Observed {
            heap_bytes: 512 * MIB,
            classes: Some(10_000),
            usage_bytes: Some(1000 * MIB),
            working_set_bytes: Some(800 * MIB),
            spike_bytes: Some(100 * MIB),
            used_millicores: Some(400.0),
            advised_bytes: None,
        };
        let found = Estimate {
            estimate: (700 * MIB) as f64,
            low: Some((690 * MIB) as f64),
            high: Some((705 * MIB) as f64),
        };
        let all = formulas(&of, found);
        let shown: Vec<(FitFormulaName, u64, Option<bool>)> =
            all.iter().map(|of| (of.name, of.memory_bytes / MIB, of.holds)).collect();
        // 512 + (5800 * 10,000 + 14,000,000) + 240 + 10 + 250, by hand.
        let buildpack = 512 + (72_000_000 / MIB) + 240 + 10 + 250;
        assert_eq!(
            shown,
            [
                (FitFormulaName::Flat80, 640, Some(false)),
                (FitFormulaName::Buildpack, buildpack, Some(true)),
                (FitFormulaName::Vpa, 920, Some(true)),
                (FitFormulaName::Kruize, 1105, Some(true)),
            ]
        );
        assert_eq!(all[2].cpu_millicores.map(f64::round), Some(460.0));
        assert!(all[0].above_bytes < 0 && 0 < all[1].above_bytes);
    }

    #[test]
    fn a_small_server_gets_the_least_that_vpa_recommends() {
        let of = Observed { working_set_bytes: Some(90 * MIB), ..Observed::default() };
        let found = Estimate { estimate: (90 * MIB) as f64, low: None, high: None };
        let all = formulas(&of, found);
        let vpa = all.iter().find(|of| of.name == FitFormulaName::Vpa).expect("a working set");
        assert_eq!(vpa.memory_bytes, 250 * MIB);
    }
}
