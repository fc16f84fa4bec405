//! Mistakes in names of metrics, in published values and in claims.

use crate::check::capacity;
use crate::check::factors::{check_level, check_level_of};
use crate::file::document::Document;
use crate::file::study::{Factor, Study};
use assay_measure::observers::memory_metrics;
use assay_model::{Metric, PER_BENCHMARK, PER_PROCESS, Subject};
use assay_text::near::hint;

/// Names of benchmarks are not known before they run, but the kinds of their metrics are.
fn check_metric(place: &str, metric: &str, subject: Subject, of_limits: &[String], document: &mut Document) {
    let known: Vec<&str> = match subject {
        Subject::Server => {
            let known = Metric::of_servers().chain(PER_PROCESS).map(|m| &*m.id);
            known.chain(of_limits.iter().map(String::as_str)).collect()
        }
        Subject::Benchmark => PER_BENCHMARK.iter().map(|m| &*m.id).chain(memory_metrics()).collect(),
    };
    let kind = match subject {
        Subject::Server => {
            let of_process =
                metric.split_once('/').filter(|(kind, _)| PER_PROCESS.iter().any(|m| m.id == *kind));
            of_process.map_or(metric, |(kind, _)| kind)
        }
        Subject::Benchmark => metric.split_once('/').map_or(metric, |(kind, _)| kind),
    };
    if !known.contains(&kind) {
        document.add(place, format!("unknown metric `{metric}`{}", hint(kind, known)));
    }
}

pub(crate) fn check_metrics(study: &Study, subject: Subject, document: &mut Document) {
    let of_limits = capacity::limit_metrics(study);
    if let Some(metric) = &study.primary_metric {
        check_metric("primary_metric", metric, subject, &of_limits, document);
    }
    for (i, published) in study.published.iter().enumerate() {
        let place = format!("published.{i}.metric");
        check_metric(&place, &published.metric, subject, &of_limits, document);
    }
    for (i, claim) in study.claim.iter().enumerate() {
        check_metric(&format!("claim.{i}.metric"), &claim.about.metric, subject, &of_limits, document);
    }
}

pub(crate) fn check_published(study: &Study, document: &mut Document) {
    for (i, published) in study.published.iter().enumerate() {
        let place = format!("published.{i}");
        for (key, values) in [("relative", &published.relative), ("absolute", &published.absolute)] {
            let first = study.factor.first();
            values.keys().for_each(|l| check_level_of(first, document, &format!("{place}.{key}.{l}"), l));
        }
        published.at.iter().for_each(|(f, l)| check_level(study, document, &format!("{place}.at"), f, l));
    }
}

pub(crate) fn check_claims(study: &Study, document: &mut Document) {
    for (i, claim) in study.claim.iter().enumerate() {
        let place = format!("claim.{i}");
        let (variant, baseline) = (&claim.about.variant, &claim.about.baseline);
        let has_it = |factor: &&Factor| {
            factor.level.iter().any(|level| level.name == *variant) || factor.may_find(variant)
        };
        let factor = study.factor.iter().find(has_it).or(study.factor.first());
        check_level_of(factor, document, &format!("{place}.variant"), variant);
        baseline
            .iter()
            .for_each(|level| check_level_of(factor, document, &format!("{place}.baseline"), level));
        claim.at.iter().for_each(|(f, l)| check_level(study, document, &format!("{place}.at"), f, l));
        let is_of_change =
            [claim.change_percent.is_some(), !claim.reading.is_none(), claim.direction.is_some()];
        let stated = is_of_change.iter().filter(|is| **is).count() + usize::from(claim.value.is_some());
        if stated != 1 {
            let what = "a claim states a `change_percent`, a range of it (`change_percent_min`, `change_percent_max`), a `direction` or a \
                        `value`: one of them";
            document.add(&place, what);
        } else if claim.value.is_none() && baseline.is_none() {
            let what = "a claim about a change needs a `baseline`: the level that it starts from";
            document.add(&place, what);
        }
        let assay_model::Reading { change_percent_min: min, change_percent_max: max } = claim.reading;
        if min.zip(max).is_some_and(|(min, max)| max <= min) {
            document.add(&place, "`change_percent_min` is not below `change_percent_max`");
        }
    }
}
