//! What each request costs a variant beyond its baseline, and where: a differential flame graph for each such pair.

use super::super::grid::{Cell, Grid};
use assay_kit::Table;
use assay_kit::chart::{Chart, Panel};
use assay_kit::flame::{ChangedFlame, Weight, changed_flames, key_of_changes};
use assay_kit::number::counted;
use assay_kit::text::clean;
use assay_model::WindowStacks;
use std::collections::BTreeMap;

const ID: &str = "flames";
const TITLE: &str = "Where the CPU time of a request changed";
/// Pairs that are drawn, those with the largest change of CPU time.
const PAIRS_MAX: usize = 6;
/// Functions that are listed of each.
const FUNCTIONS_MAX: usize = 8;
const NOT_LISTED: &str = "other stacks";

/// What a request of a variant ran, over its windows that count: nanoseconds by stack.
#[derive(Default)]
struct Profile<'a> {
    stacks: BTreeMap<Vec<&'a str>, f64>,
    other: f64,
    all: f64,
    samples: u64,
}

impl<'a> Profile<'a> {
    fn of(grid: &Grid<'a>, variant: &str) -> Option<Profile<'a>> {
        let trials = grid.trials(variant).filter(|stored| stored.trial.counts());
        let windows = trials.flat_map(|stored| &stored.trial.windows).filter(|window| window.counts());
        let sampled: Vec<&WindowStacks> =
            windows.filter_map(|window| window.stacks.as_ref()).filter(|of| of.samples != 0).collect();
        let requests: f64 = sampled.iter().map(|of| of.requests).sum();
        if !(requests.is_finite() && 0.0 < requests) {
            return None;
        }
        let mut profile = Profile::default();
        for of in sampled {
            let all = of.cpu_ns as f64 / requests;
            let mut other = all;
            for stack in &of.stacks {
                let part = (all * stack.samples as f64 / of.samples as f64).min(other);
                let names = stack.frames.iter().filter_map(|number| of.frames.get(*number as usize));
                *profile.stacks.entry(names.map(|frame| &*frame.name).collect()).or_default() += part;
                other -= part;
            }
            profile.all += all;
            profile.other += other;
            profile.samples = profile.samples.saturating_add(of.samples);
        }
        Some(profile)
    }
}

/// A variant and its baseline.
struct Pair<'a> {
    variant: &'a str,
    baseline: &'a str,
    change: ChangedFlame,
    samples: (u64, u64),
}

impl<'a> Pair<'a> {
    fn of(grid: &Grid<'a>, cell: &Cell<'a>) -> Option<Pair<'a>> {
        let baseline = cell.variant?.baseline.as_deref()?;
        let (before, after) = (Profile::of(grid, baseline)?, Profile::of(grid, cell.name)?);
        let mut change = ChangedFlame::default();
        for (stack, ns) in &before.stacks {
            let now = after.stacks.get(stack).copied().unwrap_or(0.0);
            add(&mut change, stack, (*ns, now));
        }
        for (stack, ns) in after.stacks.iter().filter(|(stack, _)| !before.stacks.contains_key(*stack)) {
            add(&mut change, stack, (0.0, *ns));
        }
        add(&mut change, &[NOT_LISTED], (before.other, after.other));
        Some(Pair { variant: cell.name, baseline, change, samples: (before.samples, after.samples) })
    }

    fn panel(&self, index: usize) -> Panel {
        let (before, after) = (per_request(self.change.before), per_request(self.change.after));
        Panel {
            heading: format!(
                "{} against {}: {after} instead of {before}",
                clean(self.variant),
                clean(self.baseline)
            ),
            svg: changed_flames(&self.change, Weight::Time, (&format!("{ID}-{index}"), TITLE)),
            narrow: None,
        }
    }
}

fn add(change: &mut ChangedFlame, stack: &[&str], weights: (f64, f64)) {
    let names: Vec<String> = stack.iter().map(|name| clean(name)).collect();
    change.add(names.iter().map(String::as_str), weights);
}

/// CPU time of a request.
fn per_request(ns: f64) -> String {
    Weight::Time.words(ns)
}

/// The figure; none where no stacks were sampled.
pub fn figure(grid: &Grid) -> Option<Chart> {
    let mut pairs: Vec<Pair> = grid.cells().filter_map(|(_, cell)| Pair::of(grid, cell)).collect();
    let all = pairs.len();
    pairs.sort_by(|a, b| b.change.change().abs().total_cmp(&a.change.change().abs()));
    pairs.truncate(PAIRS_MAX);
    if pairs.is_empty() {
        return None;
    }
    let not_drawn = all - pairs.len();
    let notes = (0 < not_drawn)
        .then(|| format!("{} with smaller changes not drawn", counted(not_drawn as u64, "pair", "pairs")));
    Some(Chart {
        caption: "CPU time of a request, callers on top. A frame's width is its CPU time in variant and \
            baseline together, so that removed frames keep their place. Its colour and sign show the change. \
            Sampled in the windows that count, in user mode the function that ran. Frames have no interval. \
            The results have the interval of the total."
            .to_owned(),
        key: key_of_changes(),
        notes: notes.into_iter().collect(),
        panels: pairs.iter().enumerate().map(|(index, pair)| pair.panel(index)).collect(),
        size: "whole",
        tables: vec![table(&pairs)],
        ..Chart::new(ID, TITLE)
    })
}

/// What changed most by its own CPU time.
fn table(pairs: &[Pair]) -> Table {
    let rows: Vec<(&Pair, (String, f64, f64))> = pairs
        .iter()
        .flat_map(|pair| {
            pair.change.own_changes().into_iter().take(FUNCTIONS_MAX).map(move |own| (pair, own))
        })
        .collect();
    let signed =
        |change: f64| format!("{}{}", if change < 0.0 { "−" } else { "+" }, per_request(change.abs()));
    Table::of("Functions whose own CPU time for a request changed most", &rows)
        .words("Variant", |(pair, _)| clean(pair.variant))
        .words("Function", |(_, (name, ..))| name.clone())
        .figures("Baseline", |(_, (_, before, _))| per_request(*before))
        .figures("Variant", |(_, (_, _, after))| per_request(*after))
        .figures("Change", move |(_, (_, before, after))| signed(after - before))
        .figures("Samples, of baseline and variant", |(pair, _)| {
            format!("{} and {}", pair.samples.0, pair.samples.1)
        })
        .table()
}
