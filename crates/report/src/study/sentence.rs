//! What comparisons say of a metric, in sentences: how much more or less, how surely, and where.

use super::grid::{Grid, Group};
use crate::compare::voice::{Amount, MetricWording, around_one, confidence};
use assay_model::{Comparison, Metric, Verdict};

/// Ratios that differ by no more than this factor are given as one range.
const ONE_RANGE: f64 = 1.15;

/// What is compared with what: indices of series.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The series.
    pub own: usize,
    /// That of its baseline.
    pub base: usize,
}

/// A comparison and where it holds.
type Found<'g> = (&'g Group<'g>, &'g Comparison);

/// What is said of comparisons of the same kind.
struct Phrase {
    /// Absent where no difference is shown.
    amount: Option<Amount>,
    /// The interval in parentheses.
    evidence: String,
    /// Where it holds, empty or from ` at` on.
    place: String,
}

/// What is said of a pair by the metric that decides.
pub struct OfPair {
    /// `64-bit allocates 58 % more per request than 32-bit (95 % CI 42-75 %) at heap 1g.` One comparison: that which differs most.
    pub first: String,
    /// Those elsewhere, in the words of a list; none if there are none.
    pub elsewhere: Option<String>,
}

/// Absent where the metric that decides is not compared.
pub fn of_pair<'g>(
    grid: &'g Grid<'g>,
    primary: &Metric,
    pair: Pair,
    (own, base): (&str, &str),
) -> Option<OfPair> {
    let phrases = phrases(grid, &found(grid, primary, pair), Places::All);
    let voice = MetricWording::of(primary);
    let (first, rest) = phrases.split_first()?;
    let Phrase { evidence, place, .. } = first;
    let said = match &first.amount {
        Some(amount) => format!("{own} {} {evidence}{place}.", voice.clause(amount, Some(base))),
        None => format!("No difference shown in {} between {own} and {base} {evidence}{place}.", voice.noun),
    };
    let rest: Vec<String> = rest.iter().map(|phrase| also(phrase, &voice)).collect();
    let elsewhere = (!rest.is_empty()).then(|| format!("Elsewhere: {}.", rest.join("; ")));
    Some(OfPair { first: said, elsewhere })
}

fn also(phrase: &Phrase, voice: &MetricWording) -> String {
    let amount = phrase.amount.as_ref().map_or_else(|| NOT_SHOWN.to_owned(), |amount| voice.also(amount));
    format!("{amount} {}{}", phrase.evidence, phrase.place)
}

const NOT_SHOWN: &str = "no difference shown";

/// `CPU time per request: 59 % higher (95 % CI 53-64 %) at heap 96m; no difference shown (...) at heap 1g.` Absent where it is not compared.
pub fn of_metric<'g>(grid: &'g Grid<'g>, metric: &Metric, pair: Pair) -> Option<String> {
    let of_phrase = |phrase: &Phrase| {
        let amount = phrase.amount.as_ref().map_or_else(|| NOT_SHOWN.to_owned(), Amount::of_a_value);
        format!("{amount} {}{}", phrase.evidence, phrase.place)
    };
    let said: Vec<String> =
        phrases(grid, &found(grid, metric, pair), Places::IfSeveral).iter().map(of_phrase).collect();
    (!said.is_empty()).then(|| format!("{}: {}.", metric.title, said.join("; ")))
}

/// The comparisons of a pair; a ratio that is not a positive number says nothing.
fn found<'g>(grid: &'g Grid<'g>, metric: &Metric, pair: Pair) -> Vec<Found<'g>> {
    let cells = grid.cells().filter(|(_, cell)| cell.series == pair.own);
    let compared = cells.filter_map(|(group, cell)| Some((group, grid.comparison(cell.name, &metric.id)?)));
    let is_of_pair = |(_, c): &Found| grid.cell(&c.baseline).is_some_and(|b| b.series == pair.base);
    let is_number = |(_, c): &Found| c.ratio.estimate.is_finite() && 0.0 < c.ratio.estimate;
    compared.filter(is_of_pair).filter(is_number).collect()
}

/// Whether a phrase says where it holds.
#[derive(Clone, Copy)]
enum Places {
    /// Always.
    All,
    /// Where the study has several groups: the place of the only one is said once.
    IfSeveral,
}

/// What differs first, the largest effect before others; what no difference is shown of after it.
fn phrases(grid: &Grid, found: &[Found], places: Places) -> Vec<Phrase> {
    const NONE: Verdict = Verdict::NoDifferenceShown;
    let is_of = |verdict, is_more| {
        move |(_, c): &&Found| c.verdict == verdict && is_more == (verdict == NONE || 1.0 <= c.ratio.estimate)
    };
    let mut parts: Vec<Vec<Found>> = Vec::new();
    for (verdict, is_more) in Verdict::ALL.into_iter().flat_map(|verdict| [(verdict, true), (verdict, false)])
    {
        let same: Vec<Found> = found.iter().filter(is_of(verdict, is_more)).copied().collect();
        // Two places are named each with its value; more are a range.
        match same.len() {
            0 => {}
            2 if verdict != NONE && ONE_RANGE < spread(&same) => {
                parts.extend(same.into_iter().map(|one| vec![one]));
            }
            _ => parts.push(same),
        }
    }
    let effect = |part: &[Found]| {
        let shown = part.iter().filter(|(_, c)| c.verdict.is_shown());
        shown.map(|(_, c)| c.ratio.estimate.ln().abs()).fold(0.0, f64::max)
    };
    parts.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    parts.iter().map(|part| phrase(grid, part, places)).collect()
}

/// What is said of comparisons with the same verdict, on the same side of 1.
fn phrase(grid: &Grid, same: &[Found], places: Places) -> Phrase {
    let groups: Vec<&Group> = same.iter().map(|(group, _)| *group).collect();
    let is_said = matches!(places, Places::All) || 1 < grid.groups.len();
    let at = |groups: &[&Group]| if is_said { place(grid, groups) } else { String::new() };
    if same.iter().any(|(_, c)| c.verdict == Verdict::NoDifferenceShown) {
        let ends = hull(same).map_or_else(String::new, |ends| format!(" {}", around_one(ends)));
        let many = if same.len() == 1 { "CI" } else { "CIs within" };
        let evidence = format!("({} {many}{ends})", confidence());
        return Phrase { amount: None, evidence, place: at(&groups) };
    }
    let amount = Amount::of(ends_of(same));
    let evidence = match same {
        [(_, one)] => amount.interval(one.ratio.ends()),
        _ => amount.intervals(hull(same)),
    };
    let is_of_one = same.iter().any(|(_, c)| c.verdict == Verdict::OneServerEach);
    let evidence =
        if is_of_one { format!("{}, one server each)", evidence.trim_end_matches(')')) } else { evidence };
    let mut place = at(&groups);
    if ONE_RANGE < spread(same) {
        let size = |(_, c): &&Found| c.ratio.estimate.ln().abs();
        let most = same.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        place += &most.map_or_else(String::new, |(group, _)| format!(", most{}", at(&[group])));
    }
    Phrase { amount: Some(amount), evidence, place }
}

/// ` at heap 96m, 1g and 2g`, ` at the smallest heap, 96m`; empty where the study has one factor only.
fn place(grid: &Grid, groups: &[&Group]) -> String {
    let is_smallest = |group: &Group| {
        let others = grid.groups.iter().filter(|other| other.levels != group.levels);
        let heaps: Option<Vec<u64>> = others.map(|other| other.max_heap_bytes).collect();
        let is_alone = |heaps: Vec<u64>| {
            !heaps.is_empty() && heaps.iter().all(|heap| group.max_heap_bytes < Some(*heap))
        };
        group.max_heap_bytes.is_some() && heaps.is_some_and(is_alone)
    };
    match groups {
        [one] if one.levels.len() == 1 && is_smallest(one) => {
            format!(" at the smallest heap, {}", one.only_level())
        }
        _ => match grid.places(groups) {
            places if places.is_empty() => places,
            places => format!(" at {places}"),
        },
    }
}

fn ends_of(same: &[Found]) -> (f64, f64) {
    let estimates = same.iter().map(|(_, c)| c.ratio.estimate);
    (estimates.clone().fold(f64::INFINITY, f64::min), estimates.fold(f64::NEG_INFINITY, f64::max))
}

fn spread(same: &[Found]) -> f64 {
    let (low, high) = ends_of(same);
    high / low
}

/// The smallest interval that holds all intervals; absent where any is.
fn hull(same: &[Found]) -> Option<(f64, f64)> {
    let ends: Option<Vec<(f64, f64)>> = same.iter().map(|(_, c)| c.ratio.ends()).collect();
    ends?.into_iter().reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}
