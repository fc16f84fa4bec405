//! The sentences about two builds.

use crate::compare::voice::{Amount, MetricWording};
use assay_findings::shown_unit;
use assay_kit::number::significant;
use assay_kit::text::clean;
use assay_model::{AbCounted, AbFigure, AbReport, AbVerdict, Metric};

/// Figures whose smallest visible change the answer names where nothing is shown.
const NAMED_MAX: usize = 3;

/// The answer: what the new build does worse, else better, else what would have been visible.
pub fn answer(report: &AbReport) -> String {
    let with = |wanted: &[AbVerdict]| report.figures.iter().find(|figure| wanted.contains(&figure.verdict));
    let first = with(&[AbVerdict::Worse])
        .or_else(|| with(&[AbVerdict::Unconfirmed]))
        .or_else(|| with(&[AbVerdict::WorseWithinLimit]))
        .or_else(|| with(&[AbVerdict::Better]));
    let told = match first.and_then(|figure| Some((figure, clause(figure)?))) {
        Some((figure, clause)) => format!("The new build {clause}{}.", limit(report, figure)),
        None if report.figures.iter().all(|figure| figure.verdict == AbVerdict::Undecided) => {
            "Nothing can be said: no figure has an interval.".to_owned()
        }
        None => format!("No difference is shown.{}", visible(&report.figures)),
    };
    let others = others(report, first);
    let a_a =
        if report.is_a_a { "Both commands are the same (A/A): a difference would be an error. " } else { "" };
    format!("{a_a}{told}{others}")
}

/// `uses 12 % more CPU time per request (95 % CI 10-15 %)`.
pub(crate) fn clause(figure: &AbFigure) -> Option<String> {
    let (metric, ratio) = (Metric::by_id(&figure.metric)?, figure.ratio?);
    let amount = Amount::of((ratio.estimate, ratio.estimate));
    Some(format!("{} {}", MetricWording::of(&metric).clause(&amount, None), amount.interval(ratio.ends())))
}

fn limit(report: &AbReport, figure: &AbFigure) -> String {
    let percent = report.limit_percent;
    match (figure.verdict, figure.again) {
        (AbVerdict::Worse, Some(_)) => {
            format!(", beyond the limit of {percent} %; fresh pairs alone say so, too")
        }
        (AbVerdict::Worse, None) => format!(", beyond the limit of {percent} %"),
        (AbVerdict::Unconfirmed, _) => {
            format!(", beyond the limit of {percent} %; fresh pairs alone did not confirm that")
        }
        (AbVerdict::WorseWithinLimit, _) => {
            format!("; that it is beyond the limit of {percent} % is not shown")
        }
        _ => String::new(),
    }
}

/// How many other figures differ.
fn others(report: &AbReport, first: Option<&AbFigure>) -> String {
    let is_shown = |figure: &&AbFigure| {
        use AbVerdict::{Better, Unconfirmed, Worse, WorseWithinLimit};
        matches!(figure.verdict, Worse | Unconfirmed | WorseWithinLimit | Better)
    };
    let others = report.figures.iter().filter(is_shown).filter(|figure| Some(*figure) != first);
    let told: Vec<String> = others.filter_map(clause).collect();
    if told.is_empty() { String::new() } else { format!(" It also {}.", told.join(", and ")) }
}

/// The smallest changes that would have been shown.
pub(crate) fn visible(figures: &[AbFigure]) -> String {
    let told: Vec<String> = figures
        .iter()
        .filter_map(|figure| Some((figure, figure.smallest_percent?)))
        .take(NAMED_MAX)
        .map(|(figure, percent)| format!("{} % in {}", significant(percent), noun(&figure.metric)))
        .collect();
    if told.is_empty() { String::new() } else { format!(" Visible would have been {}.", told.join(", ")) }
}

/// A metric's name in a sentence.
fn noun(id: &str) -> String {
    Metric::by_id(id).map_or_else(|| clean(id), |metric| MetricWording::of(&metric).noun)
}

/// How instructions were counted and what the count cannot see, or why there is none.
pub fn counted(report: &AbReport) -> String {
    match &report.counted {
        Some(AbCounted { run: Some(_), requests: [before, counted], jvm_options, .. }) => format!(
            "Instructions are of user mode without JIT compilers, counted in emulated guests of one processor: {counted} requests after {before}, one at a time{}. No count has waiting, contention, parallel threads or real caches in it.",
            with_options(jvm_options)
        ),
        Some(AbCounted { not_counted: Some(why), .. }) => {
            format!("Instructions: not counted: {}.", clean(why))
        }
        _ => "Instructions: not counted.".to_owned(),
    }
}

/// Options by which the counted JVMs differ from the measured ones.
fn with_options(jvm_options: &[String]) -> String {
    if jvm_options.is_empty() {
        return String::new();
    }
    format!(", with {} in both, which the measured servers do not have", clean(&jvm_options.join(" ")))
}

/// Title of a metric, and the unit in which it is shown with its divisor.
pub fn metric(id: &str) -> (String, &'static str, f64) {
    let Some(metric) = Metric::by_id(id) else { return (clean(id), "", 1.0) };
    let (unit, divisor) = shown_unit(&metric);
    (clean(&metric.title), unit, divisor)
}

/// A verdict for a table.
pub fn verdict(verdict: AbVerdict) -> &'static str {
    match verdict {
        AbVerdict::Worse => "worse, beyond the limit",
        AbVerdict::Unconfirmed => "worse, beyond the limit; not confirmed",
        AbVerdict::WorseWithinLimit => "worse",
        AbVerdict::Better => "better",
        AbVerdict::Same => "no difference shown; not beyond the limit",
        AbVerdict::NotShown => "no difference shown",
        AbVerdict::Undecided | AbVerdict::Other => "cannot be said",
    }
}
