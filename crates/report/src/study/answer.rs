//! The answer in plain words, with its uncertainty: one item for each variant level against its baseline level.

use super::duet;
use super::grid::{Cell, Grid, is_quiet};
use super::sentence::{self, Pair};
use super::{claims, conditions, hosts};
use crate::compare::voice::{confidence, lower, named};
use assay_kit::text;
use assay_model::{Feels, Metric, StudyRule, Verdict, WarmUpEnd, Window, metric};
use std::collections::{BTreeMap, BTreeSet};

/// Metrics that the answer speaks of after the primary one, where they were measured.
const ALSO: [&str; 5] = [
    metric::CPU_MS_PER_REQUEST,
    metric::CPU_WITHOUT_JIT_MS_PER_REQUEST,
    metric::THROUGHPUT_PER_S,
    metric::GARBAGE_KIB_PER_REQUEST,
    metric::RSS_BYTES,
];

/// Of a study in which no interval says what another start would give.
const ONE_SERVER_EACH: &str = "Each variant was one server (design \"resident\"). Another start may differ, which no interval includes: equal servers differed by up \
     to a third in CPU time and 3 % in garbage. Differences in garbage beyond 5 % are shown, other ratios are marked \"?\". Design \"fresh\" \
     starts a server for each block.";

/// What the intervals of an answer are.
pub fn how_to_read() -> String {
    format!(
        "CI: the {} confidence interval of the ratio, from trials paired by block. If it includes \"equal\", \
            no difference is shown: there may be one, smaller than the noise of this run.",
        confidence()
    )
}

/// What the run says.
pub struct Answer {
    /// One for each pair of levels that is compared; empty when nothing could be compared.
    pub items: Vec<Item>,
    /// Why there is nothing; absent when there is something.
    pub nothing: Option<String>,
    /// How it stands to what others published; empty when the study names nothing comparable.
    pub published: Vec<String>,
    /// What a reader must know before relying on it.
    pub cautions: Vec<String>,
    /// Which variants are skipped; absent when none is. The terminal lists them with their reasons instead.
    pub skipped: Option<String>,
}

/// One pair of levels.
pub struct Item {
    /// On the metric that decides.
    pub headline: String,
    /// On the others.
    pub details: Vec<String>,
}

impl Answer {
    /// Reads the comparisons of a run.
    pub fn of(grid: &Grid) -> Self {
        let mut items = Vec::new();
        let primary = grid.primary();
        for pair in pairs(grid) {
            let [own, base] =
                apart(grid, pair).unwrap_or_else(|| [pair.own, pair.base].map(|series| called(grid, series)));
            let said = sentence::of_pair(grid, primary, pair, (&own, &base));
            let (headline, elsewhere) = match said {
                Some(said) => (begun(grid, pair.own, said.first), said.elsewhere),
                None => (not_compared(grid, primary, pair), None),
            };
            let others = also(grid, primary).filter_map(|m| sentence::of_metric(grid, m, pair));
            let details = elsewhere.into_iter().chain(others).collect();
            items.push(Item { headline, details });
        }
        let nothing = items.is_empty().then(|| why_nothing(grid));
        let tally = claims::tally(grid).map(|tally| format!("{tally} The table is under Results."));
        let published = tally.into_iter().chain(claims::objections(grid)).collect();
        let (cautions, skipped) = (cautions(grid), skipped(grid));
        Answer { items, nothing, published, cautions, skipped }
    }
}

/// What a sentence calls a level of the first factor: as the study says, or by its name.
fn called(grid: &Grid, series: usize) -> String {
    let name = &grid.series[series];
    grid.run.plan.called.get(name).map_or_else(|| named(&text::clean(name)), |called| text::clean(called))
}

/// What variants of one level of the first factor are called that are compared with each other: by the levels in which they differ.
fn apart(grid: &Grid, pair: Pair) -> Option<[String; 2]> {
    if pair.own != pair.base {
        return None;
    }
    let is_of_pair = |name: &str| grid.cell(name).is_some_and(|cell| cell.series == pair.own);
    let mut compared = grid.run.summary.iter().flat_map(|s| &s.comparisons);
    let of = compared.find(|c| is_of_pair(&c.variant) && is_of_pair(&c.baseline))?;
    let levels = |name: &str| Some(&grid.run.plan.variants.iter().find(|v| v.name == name)?.levels);
    let (own, base) = levels(&of.variant).zip(levels(&of.baseline))?;
    let differing = |of: &BTreeMap<String, String>, from: &BTreeMap<String, String>| {
        let differs = of.iter().filter(|(factor, level)| from.get(*factor) != Some(*level));
        differs
            .map(|(factor, level)| text::clean(&format!("{factor} {level}")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    Some([differing(own, base), differing(base, own)])
}

/// Words of a study begin a sentence with a capital; a name is what it is.
fn begun(grid: &Grid, series: usize, sentence: String) -> String {
    let called = grid.run.plan.called.get(&grid.series[series]);
    let is_of_study =
        called.zip(sentence.chars().next()).is_some_and(|(words, first)| words.starts_with(first));
    if is_of_study { text::sentence(&sentence) } else { sentence }
}

/// The metrics that are reported after the primary one. A benchmark program's: all times, and of the bytes those that differ.
fn also<'g>(grid: &'g Grid, primary: &'g Metric) -> impl Iterator<Item = &'g Metric> {
    let differs = |metric: &Metric| {
        let mut compared = grid.cells().filter_map(|(_, c)| grid.comparison(c.name, &metric.id));
        compared.any(|c| c.shown)
    };
    let is_told = move |m: &&Metric| match grid.is_benchmark() {
        true => m.feels != Feels::Nothing || differs(m),
        false if grid.finds_capacity() => m.is_of_capacity(),
        false => ALSO.contains(&&*m.id) && grid.is_worth_a_place(&m.id),
    };
    grid.metrics.iter().filter(move |m| m.id != primary.id).filter(is_told)
}

fn why_nothing(grid: &Grid) -> String {
    let mut windows = grid.run.trials.iter().flat_map(|t| &t.trial.windows).peekable();
    let why = if grid.run.summary.is_none() {
        "no trial was finished"
    } else if windows.peek().is_some() && !windows.any(is_quiet) {
        "every measured window was disturbed and is left out, see below"
    } else {
        "the study compares nothing, or no two variants count in the same block"
    };
    format!("not available: {why}")
}

/// Pairs that have any comparison, the largest shown effect first.
fn pairs(grid: &Grid) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let comparisons = grid.run.summary.iter().flat_map(|s| &s.comparisons);
    for comparison in comparisons {
        if let (Some(own), Some(base)) = (grid.cell(&comparison.variant), grid.cell(&comparison.baseline)) {
            let pair = Pair { own: own.series, base: base.series };
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    let primary = &grid.primary().id;
    let effect = |&Pair { own, base }: &Pair| -> f64 {
        let cells = grid.cells().filter(|(_, c)| c.series == own);
        let compared = cells.filter_map(|(_, c)| grid.comparison(c.name, primary));
        let same_base =
            compared.filter(|c| c.shown && grid.cell(&c.baseline).is_some_and(|b| b.series == base));
        same_base.map(|c| c.ratio.estimate.ln().abs()).fold(0.0, f64::max)
    };
    pairs.sort_unstable();
    pairs.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    pairs
}

/// Why a pair has no comparison of a metric, from the first variant that lacks it.
fn not_compared(grid: &Grid, metric: &Metric, pair: Pair) -> String {
    let (own, base) = (text::clean(&grid.series[pair.own]), text::clean(&grid.series[pair.base]));
    let lacks =
        |c: &Cell| (c.series == pair.own || c.series == pair.base) && c.estimate(&metric.id).is_none();
    let why = grid.cells().find(|(_, c)| lacks(c) && c.skipped.is_none()).map_or_else(
        || "no block in which both count".to_owned(),
        |(_, c)| format!("{} has none ({})", text::clean(c.name), grid.why_absent(c, metric)),
    );
    format!("{own} against {base}, {}: not available: {why}.", lower(&metric.title))
}

fn skipped(grid: &Grid) -> Option<String> {
    let names: Vec<String> = grid.run.plan.skipped.iter().map(|s| text::clean(&s.name)).collect();
    (!names.is_empty()).then(|| format!("Skipped here: {} (reasons below).", names.join(", ")))
}

/// Where others used the processors.
const CPU_TIME_BESIDE_OTHERS: &str = "If a block has no undisturbed window, its CPU time is from a window in \
    which other processes used the processors. That changes the CPU time of all variants alike. The \
    intervals show how much.";

/// What disturbances left windows out of, in words, by what was disturbed.
fn spoiled<'w>(windows: impl Iterator<Item = &'w Window>) -> String {
    let mut by_scope: BTreeMap<&str, usize> = BTreeMap::new();
    for window in windows {
        let scopes: BTreeSet<&str> = window.disturbances.iter().map(conditions::spoiled_by).collect();
        scopes.into_iter().for_each(|scope| *by_scope.entry(scope).or_default() += 1);
    }
    let told = by_scope.into_iter().map(|(scope, count)| format!("{scope}: {count}"));
    told.collect::<Vec<_>>().join("; ")
}

/// Whether a window with these disturbances will do for CPU time, though it does not count for it.
fn is_spare(window: &Window) -> bool {
    window.serves_for(Feels::CpuTime) && !window.counts_for(Feels::CpuTime)
}

fn cautions(grid: &Grid) -> Vec<String> {
    let run = grid.run;
    let mut cautions = Vec::new();
    if run.plan.quick {
        cautions.push("This is the short form of the study: few blocks, so intervals are wide.".to_owned());
    }
    let mut compared = run.summary.iter().flat_map(|s| &s.comparisons);
    if compared.any(|c| c.verdict == Verdict::OneServerEach) {
        cautions.push(ONE_SERVER_EACH.to_owned());
    }
    cautions.extend(duet::caution(&run.plan).map(str::to_owned));
    cautions.extend(duet::full_halves(run));
    cautions.extend(hosts::cautions(grid));
    let trials = run.trials.len();
    let windows = || run.trials.iter().flat_map(|t| &t.trial.windows);
    let disturbed = windows().filter(|w| !is_quiet(w)).count();
    if disturbed > 0 {
        cautions.push(format!(
            "{disturbed} of {} windows were disturbed and do not count for the affected metrics ({}).",
            windows().count(),
            spoiled(windows())
        ));
        if windows().any(is_spare) {
            cautions.push(CPU_TIME_BESIDE_OTHERS.to_owned());
        }
    }
    let findings = run.summary.iter().flat_map(|s| &s.findings);
    let is_told = |rule| matches!(rule, StudyRule::AllDisturbed | StudyRule::TimesDisturbed);
    let all_disturbed = findings.filter(|f| is_told(f.rule));
    cautions.extend(all_disturbed.map(|f| {
        let told = [f.evidence_line(), f.command().to_owned()];
        let told: Vec<String> = told.iter().filter(|t| !t.is_empty()).map(|t| text::clean(t)).collect();
        format!("{}: {}.", text::clean(&f.claim), told.join("; "))
    }));
    let by_cap = |t: &&assay_model::StoredTrial| {
        t.trial.warm_up.as_ref().is_some_and(|w| w.ended_by == WarmUpEnd::Cap)
    };
    let capped = run.trials.iter().filter(by_cap).count();
    if capped > 0 {
        cautions.push(format!(
            "In {capped} of {trials} trials warm-up ended by its time limit, not by the steady-state test: their later windows may still be \
             drifting."
        ));
    }
    cautions.extend(grid.compilers_share().map(|share| {
        format!(
            "JIT compilers used up to {:.0} % of a variant's CPU time in the measured windows. Compilation fades as a \
             server runs: compare CPU time without them.",
            100.0 * share
        )
    }));
    let failed = run.trials.iter().filter(|t| !t.trial.counts()).count();
    if failed > 0 {
        cautions.push(format!(
            "{failed} of {trials} trials did not complete or failed their audit, and are not used."
        ));
    }
    cautions
}
