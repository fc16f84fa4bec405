//! Mistakes in names of metrics, in published values and in claims.

use crate::check::capacity;
use crate::check::factors::{check_level, check_level_of};
use crate::file::document::Document;
use crate::file::study::Study;
use assay_model::{Metric, PER_BENCHMARK, PER_PROCESS, Subject};
use assay_text::near::hint;

/// Names of benchmarks are not known before they run, but the kinds of their metrics are.
fn check_metric(place: &str, metric: &str, subject: Subject, of_limits: &[String], document: &mut Document) {
    let known: Vec<&str> = match subject {
        Subject::Server => {
            let known = Metric::of_servers().chain(PER_PROCESS).map(|m| &*m.id);
            known.chain(of_limits.iter().map(String::as_str)).collect()
        }
        Subject::Benchmark => PER_BENCHMARK.iter().map(|m| &*m.id).collect(),
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
        let first = study.factor.first();
        check_level_of(first, document, &format!("{place}.variant"), &claim.about.variant);
        let baseline = &claim.about.baseline;
        baseline
            .iter()
            .for_each(|level| check_level_of(first, document, &format!("{place}.baseline"), level));
        claim.at.iter().for_each(|(f, l)| check_level(study, document, &format!("{place}.at"), f, l));
        match (claim.change_percent, claim.direction, claim.value) {
            (Some(_), None, None) | (None, Some(_), None) if baseline.is_none() => {
                let what =
                    "`change_percent` and `direction` need a `baseline`: the level that they start from";
                document.add(&place, what);
            }
            (Some(_), None, None) | (None, Some(_), None) | (None, None, Some(_)) => {}
            _ => document
                .add(&place, "a claim states a `change_percent`, a `direction` or a `value`: one of them"),
        }
    }
}
