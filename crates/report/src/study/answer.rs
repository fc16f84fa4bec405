//! The answer in plain words, with its uncertainty: one item for each variant level against its baseline level.

use super::claims;
use super::estimate::times;
use super::grid::{Cell, Grid, Group, is_quiet};
use assay_kit::number::{bracketed, significant};
use assay_kit::text;
use assay_model::{Comparison, Metric, StudyRule, Verdict, WarmUpEnd, metric};

/// Metrics that the answer speaks of after the primary one, where they were measured.
const ALSO: [&str; 4] = [
    metric::CPU_MS_PER_REQUEST,
    metric::CPU_WITHOUT_JIT_MS_PER_REQUEST,
    metric::THROUGHPUT_PER_S,
    metric::GARBAGE_KIB_PER_REQUEST,
];

/// Ratios that differ by no more than this factor are given as one range.
const ONE_RANGE: f64 = 1.15;

/// What the run says.
pub struct Answer {
    /// One for each pair of levels that is compared; empty when nothing could be compared.
    pub items: Vec<Item>,
    /// Why there is nothing; absent when there is something.
    pub nothing: Option<String>,
    /// The group of all figures, where the study has one only; empty otherwise.
    pub place: String,
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
        for (series, baseline) in pairs(grid) {
            let (own, base) = (text::clean(&grid.series[series]), text::clean(&grid.series[baseline]));
            let headline = describe(grid, primary, series, baseline).map_or_else(
                || not_compared(grid, primary, series, baseline),
                |said| headline(&own, &base, primary, &said),
            );
            let details = also(grid, primary)
                .filter_map(|m| {
                    Some(format!("{}: {}.", m.title, describe(grid, m, series, baseline)?.words()))
                })
                .collect();
            items.push(Item { headline, details });
        }
        let nothing = items.is_empty().then(|| why_nothing(grid));
        let place = match &grid.groups[..] {
            [one] => one.label.clone(),
            _ => String::new(),
        };
        let tally = claims::tally(grid).map(|tally| format!("{tally} The table is under Results."));
        let published = tally.into_iter().chain(claims::objections(grid)).collect();
        let (cautions, skipped) = (cautions(grid), skipped(grid));
        Answer { items, nothing, place, published, cautions, skipped }
    }
}

/// The metrics that are reported after the primary one. A benchmark program's: all times, and of the bytes those that differ.
fn also<'g>(grid: &'g Grid, primary: &'g Metric) -> impl Iterator<Item = &'g Metric> {
    let differs = |metric: &Metric| {
        let mut compared = grid.cells().filter_map(|(_, c)| grid.comparison(c.name, &metric.id));
        compared.any(|c| c.shown)
    };
    let is_told = move |m: &&Metric| match grid.is_benchmark() {
        true => m.needs_quiet_machine || differs(m),
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

/// Pairs (series, series of the baseline) that have any comparison, the largest shown effect first.
fn pairs(grid: &Grid) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let comparisons = grid.run.summary.iter().flat_map(|s| &s.comparisons);
    for comparison in comparisons {
        if let (Some(own), Some(base)) = (grid.cell(&comparison.variant), grid.cell(&comparison.baseline)) {
            let pair = (own.series, base.series);
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    let primary = &grid.primary().id;
    let effect = |&(own, base): &(usize, usize)| -> f64 {
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

/// What is said of a metric.
struct Said {
    /// How many times as much it is, where that is said first.
    factor: Option<String>,
    rest: String,
}

impl Said {
    /// `1.45 times [1.43, 1.47] at heap 1g`.
    fn words(&self) -> String {
        self.factor
            .as_ref()
            .map_or_else(|| self.rest.clone(), |factor| format!("{factor} times {}", self.rest))
    }

    fn joined(mut all: impl Iterator<Item = Said>) -> Option<Said> {
        let first = all.next()?;
        Some(all.fold(first, |said, next| Said { rest: format!("{}; {}", said.rest, next.words()), ..said }))
    }
}

/// A metric over all groups of a pair: `1.45 times [1.43, 1.47] at heap 1g; no difference shown at heap 2g (...)`.
fn describe<'g>(grid: &'g Grid<'g>, metric: &Metric, series: usize, baseline: usize) -> Option<Said> {
    let mut found: Vec<Found<'g>> = Vec::new();
    for (group, cell) in grid.cells().filter(|(_, c)| c.series == series) {
        let comparison = grid.comparison(cell.name, &metric.id);
        let comparison = comparison.filter(|c| grid.cell(&c.baseline).is_some_and(|b| b.series == baseline));
        found.extend(comparison.map(|c| (group, c)));
    }
    let verdicts = [Verdict::Higher, Verdict::Lower, Verdict::NoDifferenceShown, Verdict::TooFewBlocks];
    let said = verdicts.into_iter().filter_map(|verdict| {
        let same: Vec<Found<'g>> = found.iter().copied().filter(|(_, c)| c.verdict == verdict).collect();
        phrase(grid, verdict, &same)
    });
    Said::joined(said)
}

/// A comparison and where it holds.
type Found<'g> = (&'g Group<'g>, &'g Comparison);

/// What is said of comparisons with the same verdict; absent for none.
fn phrase(grid: &Grid, verdict: Verdict, same: &[Found]) -> Option<Said> {
    let at = |groups: &[&Group]| {
        // A study with one group says it once, in `place`.
        let places = if grid.groups.len() > 1 { grid.places(groups) } else { String::new() };
        if places.is_empty() { places } else { format!(" at {places}") }
    };
    let one = |(group, comparison): &Found| {
        let rest = format!("{}{}", bracketed(comparison.ratio.ends()), at(&[group]));
        Said { factor: Some(significant(comparison.ratio.estimate)), rest }
    };
    let each = || Said::joined(same.iter().map(one));
    let places = at(&same.iter().map(|(g, _)| *g).collect::<Vec<_>>());
    match (verdict, same) {
        (_, []) => None,
        (Verdict::TooFewBlocks, _) => each().map(|mut said| {
            said.rest += " (too few blocks to tell from noise)";
            said
        }),
        (Verdict::NoDifferenceShown, [(_, one)]) => {
            let rest = format!("no difference shown{places} ({})", times(&one.ratio));
            Some(Said { factor: None, rest })
        }
        (Verdict::NoDifferenceShown, many) => {
            let (low, high) = hull(many);
            let rest = format!("no difference shown{places} (intervals within [{low}, {high}])");
            Some(Said { factor: None, rest })
        }
        (_, many) if many.len() > 1 && spread(many) <= ONE_RANGE => {
            let estimates = many.iter().map(|(_, c)| c.ratio.estimate);
            let low = estimates.clone().fold(f64::INFINITY, f64::min);
            let high = estimates.fold(f64::NEG_INFINITY, f64::max);
            let (first, last) = (significant(low), significant(high));
            let range = if first == last { first } else { format!("{first} to {last}") };
            let (low, high) = hull(many);
            let rest = format!("{places} (intervals within [{low}, {high}])").trim_start().to_owned();
            Some(Said { factor: Some(range), rest })
        }
        _ => each(),
    }
}

fn spread(many: &[Found]) -> f64 {
    let estimates = many.iter().map(|(_, c)| c.ratio.estimate);
    estimates.clone().fold(f64::NEG_INFINITY, f64::max) / estimates.fold(f64::INFINITY, f64::min)
}

/// The smallest interval that holds all intervals.
fn hull(many: &[Found]) -> (String, String) {
    let low = many.iter().filter_map(|(_, c)| c.ratio.low).fold(f64::INFINITY, f64::min);
    let high = many.iter().filter_map(|(_, c)| c.ratio.high).fold(f64::NEG_INFINITY, f64::max);
    (significant(low), significant(high))
}

/// Why a pair has no comparison of a metric, from the first variant that lacks it.
fn not_compared(grid: &Grid, metric: &Metric, series: usize, baseline: usize) -> String {
    let (own, base) = (text::clean(&grid.series[series]), text::clean(&grid.series[baseline]));
    let lacks = |c: &Cell| (c.series == series || c.series == baseline) && c.estimate(&metric.id).is_none();
    let why = grid.cells().find(|(_, c)| lacks(c) && c.skipped.is_none()).map_or_else(
        || "no block in which both count".to_owned(),
        |(_, c)| format!("{} has none ({})", text::clean(c.name), grid.why_absent(c, metric)),
    );
    format!("{own} against {base}, {}: not available: {why}.", lower(&metric.title))
}

/// `64-bit: 1.45 times the garbage per request of 32-bit [1.43, 1.47] at heap 1g.`
fn headline(own: &str, base: &str, metric: &Metric, said: &Said) -> String {
    let (title, rest) = (lower(&metric.title), &said.rest);
    match &said.factor {
        Some(factor) => format!("{own}: {factor} times the {title} of {base} {rest}."),
        None => format!("{own} against {base}, {title}: {rest}."),
    }
}

fn skipped(grid: &Grid) -> Option<String> {
    let names: Vec<String> = grid.run.plan.skipped.iter().map(|s| text::clean(&s.name)).collect();
    (!names.is_empty()).then(|| format!("Skipped here: {} (reasons below).", names.join(", ")))
}

fn cautions(grid: &Grid) -> Vec<String> {
    let run = grid.run;
    let mut cautions = Vec::new();
    if run.plan.quick {
        cautions.push("This is the short form of the study: few blocks, so intervals are wide.".to_owned());
    }
    let windows = || run.trials.iter().flat_map(|t| &t.trial.windows);
    let disturbed = windows().filter(|w| !is_quiet(w)).count();
    if disturbed > 0 {
        cautions.push(format!(
            "{disturbed} of {} measured windows were disturbed and are left out of what the disturbance spoils: of all \
             times and rates, and of everything where answers were wrong.",
            windows().count()
        ));
    }
    let findings = run.summary.iter().flat_map(|s| &s.findings);
    let all_disturbed = findings.filter(|f| f.rule == StudyRule::AllDisturbed);
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
            "In {capped} of {} trials warm-up ended by its time limit, not by the steady-state test: their later \
             windows may still be drifting.",
            run.trials.len()
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
            "{failed} of {} trials did not complete or failed their audit, and are not used.",
            run.trials.len()
        ));
    }
    cautions
}

fn lower(title: &str) -> String {
    let mut chars = title.chars();
    match chars.next() {
        Some(first) if !title.starts_with("CPU") => first.to_lowercase().chain(chars).collect(),
        _ => title.to_owned(),
    }
}
