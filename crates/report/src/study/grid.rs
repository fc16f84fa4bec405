//! How the variants of a run are laid out in every picture and table: one series for each level of the first
//! factor, one group for each combination of the other factors' levels.

use assay_kit::text;
use assay_model::{
    Comparison, Estimate, METRICS, Metric, PER_BENCHMARK, PER_PROCESS, PlannedCapacity, PlannedProcedure,
    Published, ReferenceMode, RequestedMode, SkippedVariant, StoredRun, StoredTrial, Variant, VariantSummary,
    Window, metric,
};
use std::collections::BTreeMap;

/// Distinct looks (colour, marker, dash) that the styles define; further series start again.
const LOOKS: usize = 8;

/// Share of CPU time from which CPU time without JIT compilers is shown as well: about what those of a warm server may still use.
const COMPILERS_SHARE_SHOWN: f64 = 0.1;

/// The look of a reference mode, the same in every study and form of one.
fn look_of(variant: &Variant) -> Option<usize> {
    use ReferenceMode::*;
    Some(match (variant.compact_headers, variant.reference_mode?) {
        (true, _) => 5,
        (false, RequestedMode::Exactly(Bits32)) => 0,
        (false, RequestedMode::Compressed | RequestedMode::Exactly(CompressedUnscaled)) => 1,
        (false, RequestedMode::Exactly(CompressedZeroBased)) => 2,
        (false, RequestedMode::Exactly(Full64)) => 3,
        (false, RequestedMode::Exactly(Full64CompressedClassPointers)) => 4,
        (false, RequestedMode::Exactly(CompressedDisjointBase)) => 6,
        (false, RequestedMode::Exactly(CompressedNonZeroBase)) => 7,
    })
}

/// A look for each series: that of its mode, unless an earlier one has it; else the first that nobody has or wants.
fn looks(wanted: &[Option<usize>]) -> Vec<usize> {
    let mut looks: Vec<Option<usize>> = Vec::new();
    for look in wanted {
        looks.push(look.filter(|look| !looks.contains(&Some(*look))));
    }
    for index in 0..looks.len() {
        let free = (0..LOOKS).find(|look| !looks.contains(&Some(*look)));
        looks[index] = looks[index].or(free).or(Some(index % LOOKS));
    }
    looks.into_iter().flatten().collect()
}

/// The role of all processes of a trial together.
pub const ALL_ROLES: &str = "all";

/// Of each metric of a role that of all together.
const OF_ALL_ROLES: [(&str, &str); 5] = [
    (metric::PROCESS_CPU_MS_PER_REQUEST, metric::ALL_CPU_MS_PER_REQUEST),
    (metric::PROCESS_PSS_BYTES, metric::ALL_PSS_BYTES),
    (metric::PROCESS_GARBAGE_KIB_PER_REQUEST, metric::ALL_GARBAGE_KIB_PER_REQUEST),
    (metric::PROCESS_GC_PAUSE_MS_PER_S, metric::ALL_GC_PAUSE_MS_PER_S),
    (metric::PROCESS_GC_CPU_PERCENT, metric::ALL_GC_CPU_PERCENT),
];

/// The subject of a metric and its role; none where it has no role.
pub fn role_of(metric: &Metric) -> Option<(&str, &str)> {
    match metric.id.split_once('/') {
        Some((kind, role)) => PER_PROCESS.iter().any(|of| of.id == kind).then_some((kind, role)),
        None => OF_ALL_ROLES.iter().find(|(_, all)| *all == metric.id).map(|(kind, _)| (*kind, ALL_ROLES)),
    }
}

/// One variant of the study, run or skipped.
pub struct Cell<'a> {
    /// Name.
    pub name: &'a str,
    /// What the group leaves open: the level of the first factor.
    pub label: String,
    /// Index into [`Grid::series`].
    pub series: usize,
    /// Colour, marker and dash.
    pub look: usize,
    /// The plan's entry; absent when the variant is skipped.
    pub variant: Option<&'a Variant>,
    /// The result; absent when the variant is skipped or gave none.
    pub summary: Option<&'a VariantSummary>,
    /// Why it is skipped.
    pub skipped: Option<&'a SkippedVariant>,
}

/// Variants that share the levels of all factors but the first.
pub struct Group<'a> {
    /// For people, for example `heap 1g`; empty when there is one factor only.
    pub label: String,
    /// Levels of the other factors.
    pub levels: BTreeMap<&'a str, &'a str>,
    /// Maximum heap, where all variants have the same.
    pub max_heap_bytes: Option<u64>,
    /// Variants in the order of the first factor's levels.
    pub cells: Vec<Cell<'a>>,
}

/// The whole layout.
pub struct Grid<'a> {
    /// The run.
    pub run: &'a StoredRun,
    /// Levels of the first factor in the study's order.
    pub series: Vec<String>,
    /// Colour, marker and dash of each series.
    pub looks: Vec<usize>,
    /// Groups by maximum heap, then in the study's order.
    pub groups: Vec<Group<'a>>,
    /// Metrics that variants of this run can have, in the order of tables: a server's, and those of its benchmarks.
    pub metrics: Vec<Metric>,
}

impl<'a> Grid<'a> {
    /// Lays out a run.
    pub fn of(run: &'a StoredRun) -> Self {
        let first = run.plan.factors.first().map(|(name, _)| name.as_str());
        let ids = run.summary.iter().flat_map(|s| &s.variants).flat_map(|v| v.metrics.keys());
        // The one that decides is asked for even if every launch was disturbed; so is every limit of a capacity.
        let ids = ids.chain([&run.plan.primary_metric]);
        let of_limits: Vec<Metric> = run.plan.procedure.capacity().into_iter().flat_map(rates_of).collect();
        let metrics =
            Metric::all_with(ids.map(String::as_str).chain(of_limits.iter().map(|metric| &*metric.id)));
        let mut grid = Grid { run, series: Vec::new(), looks: Vec::new(), groups: Vec::new(), metrics };
        for level in run.plan.factors.first().into_iter().flat_map(|(_, levels)| levels) {
            grid.series.push(level.clone());
        }
        let summaries = run.summary.as_ref().map_or(&[][..], |s| &s.variants);
        for variant in &run.plan.variants {
            let summary = summaries.iter().find(|s| s.name == variant.name);
            grid.place(first, &variant.name, &variant.levels, |c| {
                c.variant = Some(variant);
                c.summary = summary;
            });
            let heap = variant.max_heap_bytes;
            if let Some(group) =
                grid.groups.iter_mut().find(|g| g.cells.iter().any(|c| c.name == variant.name))
            {
                let alone = group.cells.len() == 1;
                group.max_heap_bytes =
                    if alone { heap } else { group.max_heap_bytes.filter(|&h| Some(h) == heap) };
            }
        }
        for skipped in &run.plan.skipped {
            grid.place(first, &skipped.name, &skipped.levels, |c| c.skipped = Some(skipped));
        }
        let look_of_series = |series| {
            let mut cells = grid.groups.iter().flat_map(|g| &g.cells).filter(|c| c.series == series);
            cells.find_map(|c| look_of(c.variant?))
        };
        grid.looks = looks(&(0..grid.series.len()).map(look_of_series).collect::<Vec<_>>());
        for group in &mut grid.groups {
            group.cells.sort_by_key(|c| c.series);
            group.cells.iter_mut().for_each(|c| c.look = grid.looks[c.series]);
        }
        grid.groups.sort_by_key(|g| g.max_heap_bytes.unwrap_or(u64::MAX));
        grid
    }

    fn place(
        &mut self,
        first: Option<&str>,
        name: &'a str,
        levels: &'a BTreeMap<String, String>,
        fill: impl FnOnce(&mut Cell<'a>),
    ) {
        let label = first.and_then(|f| levels.get(f)).map_or(name, String::as_str);
        let series = self.series.iter().position(|s| s == label).unwrap_or_else(|| {
            self.series.push(label.to_owned());
            self.series.len() - 1
        });
        let others: BTreeMap<&str, &str> = levels
            .iter()
            .filter(|(factor, _)| Some(factor.as_str()) != first)
            .map(|(factor, level)| (factor.as_str(), level.as_str()))
            .collect();
        let mut cell = Cell {
            name,
            label: text::clean(label),
            series,
            look: 0,
            variant: None,
            summary: None,
            skipped: None,
        };
        fill(&mut cell);
        if let Some(group) = self.groups.iter_mut().find(|g| g.levels == others) {
            group.cells.push(cell);
            return;
        }
        let words: Vec<String> = others.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
        let label = text::clean(&words.join(", "));
        self.groups.push(Group { label, levels: others, max_heap_bytes: None, cells: vec![cell] });
    }

    /// Where something holds, in words: `heap 96m, 1g and 2g`; empty when the study has one factor only.
    pub fn places(&self, groups: &[&Group]) -> String {
        match groups {
            [first, between @ .., last] if first.levels.len() == 1 => {
                let names = [&*first.label].map(str::to_owned).into_iter();
                let names: Vec<String> =
                    names.chain(between.iter().map(|group| group.only_level())).collect();
                format!("{} and {}", names.join(", "), last.only_level())
            }
            _ => groups.iter().map(|g| g.label.as_str()).collect::<Vec<_>>().join("; "),
        }
    }

    /// Whether the run launched programs that measure themselves: it then has no load, no requests and no server's memory.
    pub fn is_benchmark(&self) -> bool {
        self.run.plan.procedure == PlannedProcedure::Benchmark
    }

    /// Whether each trial found a capacity: it then has no window of one load, and none of the metrics of such windows.
    pub fn finds_capacity(&self) -> bool {
        self.run.plan.procedure.capacity().is_some()
    }

    /// Whether a metric would be missed: only what was asked for is, and nothing that this kind of study never has.
    pub fn is_expected(&self, metric: &Metric) -> bool {
        match self.run.plan.procedure {
            PlannedProcedure::Benchmark => false,
            PlannedProcedure::Emulated(_) => metric.is_emulated(),
            PlannedProcedure::Capacity(_) => metric.is_of_capacity(),
            PlannedProcedure::Windows => !metric.on_request,
        }
    }

    /// The metric that decides. Of benchmarks the study may name the kind only: then it is that of the first one.
    pub fn primary(&self) -> &Metric {
        let id = &self.run.plan.primary_metric;
        let of_kind = |m: &&Metric| m.id.strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with('/'));
        let exact = self.metrics.iter().find(|m| m.id == *id);
        let kind = || PER_BENCHMARK.iter().find(|m| m.id == *id);
        exact.or_else(|| self.metrics.iter().find(of_kind)).or_else(kind).unwrap_or(&METRICS[0])
    }

    /// Every variant, group by group.
    pub fn cells(&self) -> impl Iterator<Item = (&Group<'a>, &Cell<'a>)> {
        self.groups.iter().flat_map(|g| g.cells.iter().map(move |c| (g, c)))
    }

    /// The variant of this name.
    pub fn cell(&self, name: &str) -> Option<&Cell<'a>> {
        self.cells().map(|(_, c)| c).find(|c| c.name == name)
    }

    /// The largest share of CPU time that JIT compilers used in any variant's measured windows; absent below [`COMPILERS_SHARE_SHOWN`].
    pub fn compilers_share(&self) -> Option<f64> {
        let of = |cell: &Cell| {
            let all = cell.estimate(metric::CPU_MS_PER_REQUEST)?.estimate;
            let others = cell.estimate(metric::CPU_WITHOUT_JIT_MS_PER_REQUEST)?.estimate;
            (0.0 < all).then_some(1.0 - others / all)
        };
        let largest = self.cells().filter_map(|(_, cell)| of(cell)).reduce(f64::max);
        largest.filter(|share| COMPILERS_SHARE_SHOWN <= *share)
    }

    /// Whether to show a usual metric beside the primary one: CPU time without JIT compilers only where they used a notable share.
    pub fn is_worth_a_place(&self, metric: &str) -> bool {
        metric != metric::CPU_WITHOUT_JIT_MS_PER_REQUEST || self.compilers_share().is_some()
    }

    /// The comparison of a variant with its baseline.
    pub fn comparison(&self, variant: &str, metric: &str) -> Option<&'a Comparison> {
        let summary = self.run.summary.as_ref()?;
        summary.comparisons.iter().find(|c| c.variant == variant && c.metric == metric)
    }

    /// Trials of a variant in the order of the run.
    pub fn trials(&self, variant: &str) -> impl Iterator<Item = &'a StoredTrial> {
        self.run.trials.iter().filter(move |t| t.trial.variant == variant)
    }

    /// The trial whose series are drawn: the last that counts, otherwise the last with windows.
    pub fn shown_trial(&self, variant: &str) -> Option<&'a StoredTrial> {
        let with_windows = || self.trials(variant).filter(|t| !t.trial.windows.is_empty());
        with_windows().filter(|t| t.trial.counts()).last().or_else(|| with_windows().last())
    }

    /// What somebody published for this variant and metric, as a ratio to the level of this variant's own
    /// baseline: a source that is relative to 32-bit also gives 64-bit / compressed.
    pub fn published(&self, group: &Group, cell: &Cell, metric: &str) -> Vec<(usize, &'a Published, f64)> {
        let Some(baseline) = cell.variant.and_then(|v| v.baseline.as_deref()).and_then(|b| self.cell(b))
        else {
            return Vec::new();
        };
        let (own_level, base_level) = (&self.series[cell.series], &self.series[baseline.series]);
        let holds = |p: &Published| {
            p.metric == metric
                && p.at.iter().all(|(f, level)| group.levels.get(f.as_str()) == Some(&level.as_str()))
        };
        let sources = self.run.plan.published.iter().enumerate().filter(|(_, p)| holds(p));
        sources
            .filter_map(|(index, p)| {
                let (own, base) = (p.relative.get(own_level)?, p.relative.get(base_level)?);
                (*base > 0.0).then_some((index, p, own / base))
            })
            .collect()
    }

    /// Why a variant has no value of a metric, from what its trials recorded.
    pub fn why_absent(&self, cell: &Cell, metric: &Metric) -> String {
        if let Some(skipped) = cell.skipped {
            return format!("skipped: {}", text::clean(&skipped.reason));
        }
        if self.trials(cell.name).next().is_none() {
            return "no trial was run".to_owned();
        }
        if !self
            .trials(cell.name)
            .any(|t| t.trial.counts() && t.trial.windows.iter().any(|w| w.serves_for(metric.feels)))
        {
            return "all windows were excluded; see Exclusions".to_owned();
        }
        let told = |p: &&assay_model::Problem| p.about == metric.id;
        for stored in self.trials(cell.name) {
            let windows = stored.trial.windows.iter().flat_map(|w| &w.problems);
            if let Some(problem) = windows.chain(&stored.trial.problems).find(told) {
                return text::clean(&problem.text);
            }
        }
        "no window that counts gave it".to_owned()
    }
}

fn rates_of(capacity: &PlannedCapacity) -> impl Iterator<Item = Metric> {
    capacity.limits().into_iter().map(|limit| Metric::rate_at_limit(&limit))
}

impl Group<'_> {
    /// The level of its first factor, which is the only one where there are no more.
    pub fn only_level(&self) -> String {
        self.levels.values().next().map_or_else(String::new, |level| text::clean(level))
    }

    /// For the end of a title: its label after a comma; nothing where it has none.
    pub fn place(&self) -> String {
        if self.label.is_empty() { String::new() } else { format!(", {}", self.label) }
    }
}

impl Cell<'_> {
    /// The estimate of a metric.
    pub fn estimate(&self, metric: &str) -> Option<Estimate> {
        self.summary?.metrics.get(metric).copied()
    }
}

/// Whether a window is used in every comparison; a disturbed one may still be used for bytes and CPU time.
pub fn is_quiet(window: &Window) -> bool {
    window.counts()
}

#[cfg(test)]
mod tests {
    use super::looks;

    #[test]
    fn a_mode_has_its_look_whatever_others_there_are() {
        // 32-bit, compressed, zero-based, 64-bit; and without zero-based, with a newer JDK that compresses too.
        assert_eq!(looks(&[Some(0), Some(1), Some(2), Some(3)]), [0, 1, 2, 3]);
        assert_eq!(looks(&[Some(0), Some(1), Some(3), Some(1), Some(5)]), [0, 1, 3, 2, 5]);
        assert_eq!(looks(&[None, None, None]), [0, 1, 2], "a study of something else");
        assert_eq!(looks(&[None; 10])[8..], [0, 1]);
    }
}
