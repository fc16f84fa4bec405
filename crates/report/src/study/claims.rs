//! What was published and claimed, as the run judged it.

use super::estimate::{interval, metric_title, shown_unit, times};
use super::grid::Grid;
use assay_kit::number::{count, counted, significant};
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{
    Claim, ClaimCheck, ClaimSubject, ClaimVerdict, Contradiction, Direction, Estimate, JudgedClaim, Metric,
    Plan, Published, Reading,
};

fn checked<'a>(grid: &Grid<'a>) -> Option<&'a ClaimCheck> {
    grid.run.summary.as_ref().map(|s| &s.claims).filter(|claims| !claims.is_empty())
}

/// How many have which verdict; absent when nothing was published or claimed.
pub fn tally(grid: &Grid) -> Option<String> {
    let check = checked(grid).filter(|check| !check.judged.is_empty())?;
    Some(counts_of(&check.judged.iter().map(|judged| judged.verdict).collect::<Vec<_>>()))
}

fn counts_of(verdicts: &[ClaimVerdict]) -> String {
    let of = |verdict| verdicts.iter().filter(|other| **other == verdict).count() as u64;
    let parts = ClaimVerdict::ALL.into_iter().map(|verdict| (verdict, of(verdict)));
    let parts: Vec<String> = parts
        .filter(|(_, many)| 0 < *many)
        .map(|(verdict, many)| format!("{} {}", count(many), verdict.title()))
        .collect();
    let all = counted(verdicts.len() as u64, "published or claimed figure", "published or claimed figures");
    format!("Ours against {all}: {}.", parts.join("; "))
}

/// Sentences on what is plainly wrong: the other direction, and what contradicts itself.
pub fn objections(grid: &Grid) -> Vec<String> {
    let Some(check) = checked(grid) else { return Vec::new() };
    let opposite = check.judged.iter().filter_map(opposite);
    opposite.chain(check.contradictions.iter().map(contradiction)).collect()
}

fn source(about: &ClaimSubject) -> String {
    let place = about.place.as_ref().map_or_else(String::new, |place| format!(", {}", clean(place)));
    let words = about.quotation.as_ref().map_or_else(String::new, |words| format!(": “{}”", clean(words)));
    format!("{}{place}{words}", clean(&about.source))
}

/// A change that the run shows in the other direction.
fn opposite(judged: &JudgedClaim) -> Option<String> {
    let measured = judged.measured.filter(|_| judged.verdict == ClaimVerdict::Opposite)?;
    let published = worded(judged).unwrap_or_else(|| significant(judged.stated));
    Some(format!(
        "{}, {}: published {published} ({}), ours {}: the opposite direction.",
        clean(&judged.about.variant),
        metric_title(&judged.about.metric),
        source(&judged.about),
        times(&measured)
    ))
}

fn contradiction(c: &Contradiction) -> String {
    let to = c.about.baseline.as_ref().map_or_else(String::new, |b| format!(" to {}", clean(b)));
    format!(
        "{} contradicts itself: {} of {}{to} is {} by one place ({}), {} by another ({}).",
        clean(&c.about.source),
        metric_title(&c.about.metric),
        clean(&c.about.variant),
        figure(c.one.stated),
        clean(&c.one.place),
        figure(c.other.stated),
        clean(&c.other.place)
    )
}

/// What a plan has of claims, before anything is measured, and where they contradict themselves.
pub fn of_plan(plan: &Plan, contradictions: &[Contradiction]) -> Vec<String> {
    plan.claims.iter().map(claimed).chain(contradictions.iter().map(contradiction)).collect()
}

fn claimed(claim: &Claim) -> String {
    let ClaimSubject { variant, baseline, metric, .. } = &claim.about;
    let against = baseline.as_ref().map_or_else(String::new, |b| format!(" against {}", clean(b)));
    let of_figure = claim.change_percent.map(|percent| format!("{percent:+} %"));
    let of_words = || reading(&claim.reading);
    let of_direction = || claim.direction.map(|direction| direction_word(direction).to_owned());
    let of_value = || claim.value.map(|value| value.to_string());
    let says = of_figure.or_else(of_words).or_else(of_direction).or_else(of_value).unwrap_or_default();
    format!("{}: {} of {}{against}: {says}", source(&claim.about), metric_title(metric), clean(variant))
}

/// A claim without a figure: its direction, or what its words are taken to mean.
fn worded(judged: &JudgedClaim) -> Option<String> {
    reading(&judged.reading)
        .or_else(|| judged.direction.map(|direction| direction_word(direction).to_owned()))
}

/// `+10 to +50 %`, `at least +20 %`; none where the words are given no figures.
fn reading(of: &Reading) -> Option<String> {
    let plain = |percent: f64| format!("{percent:+}").replace("+0", "0").replace('-', "−");
    match (of.change_percent_min, of.change_percent_max) {
        (None, None) => None,
        (Some(min), None) => Some(format!("{} % or more", plain(min))),
        (None, Some(max)) => Some(format!("{} % or less", plain(max))),
        (Some(min), Some(max)) => Some(format!("{} to {} %", plain(min), plain(max))),
    }
}

fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::Rises => "rises",
        Direction::Falls => "falls",
    }
}

/// A stated figure: more digits than a measured one, since what is compared is how it was written.
fn figure(value: f64) -> String {
    if value.abs() >= 1000.0 && value.fract() == 0.0 && value > 0.0 {
        return count(value as u64);
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Every statement beside what the run measured; absent when nothing was published or claimed.
pub fn table(grid: &Grid) -> Option<Table> {
    let judged = &checked(grid)?.judged;
    let rows = grid.metrics.iter().flat_map(|metric| {
        judged.iter().filter(move |j| j.about.metric == metric.id).map(move |j| (j, metric))
    });
    let told = |value: &Estimate, is_ratio, metric| {
        let (unit, divisor) = shown_unit(metric);
        if is_ratio { times(value) } else { format!("{} {unit}", interval(value, divisor)) }
    };
    Table::of("Comparison with published values and claims", rows)
        .words("Variant", |(judged, _)| clean(&judged.about.variant))
        .words("Metric", |(_, metric)| metric.title.to_string())
        .words("Stated", |(judged, metric)| match (judged.is_ratio, shown_unit(metric)) {
            _ if worded(judged).is_some() => worded(judged).unwrap_or_default(),
            (true, (unit, divisor)) => {
                let value = value_beside(grid, judged).map(|value| significant(value / divisor));
                let value = value.map_or_else(String::new, |value| format!(" ({value} {unit})"));
                format!("{}×{value}", significant(judged.stated))
            }
            (false, (unit, divisor)) => format!("{} {unit}", significant(judged.stated / divisor)),
        })
        .words("Source", |(judged, _)| source(&judged.about))
        .words("Ours", |(judged, metric)| match &judged.measured {
            Some(measured) => told(measured, judged.is_ratio, metric).into(),
            None => Cell::absent("it was not measured"),
        })
        .words("In words", |(judged, metric)| verdict(grid, judged, metric))
        .table()
        .unless_empty()
}

/// The source's own value of a variant of which it gives a ratio, too.
fn value_beside(grid: &Grid, judged: &JudgedClaim) -> Option<f64> {
    let plan = &grid.run.plan;
    let variant = plan.variants.iter().find(|variant| variant.name == judged.about.variant)?;
    let level = plan.factors.first().and_then(|(factor, _)| variant.levels.get(factor))?;
    let is_it = |one: &&Published| {
        one.source == judged.about.source
            && one.metric == judged.about.metric
            && one.at.iter().all(|(factor, level)| variant.levels.get(factor) == Some(level))
    };
    plan.published.iter().find(is_it)?.absolute.get(level).copied()
}

fn verdict(grid: &Grid, judged: &JudgedClaim, metric: &Metric) -> String {
    let title = judged.verdict.title();
    match (judged.verdict, judged.measured) {
        (ClaimVerdict::SameDirectionAndSize | ClaimVerdict::SameSize, _) => format!("✓ {title}"),
        (ClaimVerdict::SameDirectionOtherSize, Some(ours)) => {
            let change = |ratio: f64| ratio.ln().abs();
            let is_larger = match judged.reading.is_none() {
                true => change(judged.stated) < change(ours.estimate),
                false => larger_than_read(&judged.reading, ours.estimate),
            };
            format!("≈ {title}: {}", if is_larger { "larger" } else { "smaller" })
        }
        (ClaimVerdict::OtherSize, Some(ours)) => {
            format!("✗ {title}: {}", if judged.stated < ours.estimate { "higher" } else { "lower" })
        }
        (ClaimVerdict::SameDirection, _) if judged.direction.is_none() => {
            format!("≈ {title}; size undecided")
        }
        (ClaimVerdict::SameDirection, _) => format!("✓ {title}"),
        (ClaimVerdict::SameDirectionOtherSize | ClaimVerdict::OtherSize | ClaimVerdict::Opposite, _) => {
            format!("✗ {title}")
        }
        (ClaimVerdict::NoDifferenceShown, _) => {
            format!("✗ {title}: our interval excludes the stated size")
        }
        (ClaimVerdict::Undecided, _) => format!("? {title}: our interval is too wide"),
        (ClaimVerdict::OneServerEach, _) => format!("? {title}"),
        (ClaimVerdict::NotMeasured, Some(_)) => format!("? {title}: ours has no interval"),
        (ClaimVerdict::NotMeasured, None) => match grid.cell(&judged.about.variant) {
            Some(cell) => format!("{title}: {}", grid.why_absent(cell, metric)),
            None => format!("{title}: this run has no such variant"),
        },
    }
}

/// Whether a change in the direction of words goes beyond what they are taken to mean.
fn larger_than_read(reading: &Reading, ratio: f64) -> bool {
    let percent = 100.0 * (ratio - 1.0);
    match 0.0 <= percent {
        true => reading.change_percent_max.is_some_and(|max| max < percent),
        false => reading.change_percent_min.is_some_and(|min| percent < min),
    }
}

#[cfg(test)]
mod tests {
    use super::{ClaimVerdict::*, Reading, counts_of, larger_than_read, reading};

    #[test]
    fn the_count_names_each_verdict_with_its_number() {
        assert_eq!(
            counts_of(&[SameDirectionOtherSize; 8]),
            "Ours against 8 published or claimed figures: 8 same direction, other size."
        );
        assert_eq!(
            counts_of(&[Undecided, SameDirectionAndSize, Opposite]),
            "Ours against 3 published or claimed figures: 1 same direction and size; 1 opposite; 1 undecided."
        );
    }

    #[test]
    fn what_words_mean_is_a_range_of_changes() {
        let read = |min, max| Reading { change_percent_min: min, change_percent_max: max };
        let told = |min, max| reading(&read(min, max)).unwrap_or_default();
        assert_eq!(told(Some(0.0), Some(10.0)), "0 to +10 %");
        assert_eq!(told(Some(-5.0), Some(5.0)), "−5 to +5 %");
        assert_eq!(told(Some(25.0), None), "+25 % or more");
        assert_eq!(told(None, Some(-50.0)), "−50 % or less");
        assert!(larger_than_read(&read(Some(0.0), Some(10.0)), 1.3));
        assert!(!larger_than_read(&read(Some(25.0), None), 1.1));
        assert!(!larger_than_read(&read(None, Some(-50.0)), 0.9));
        assert!(larger_than_read(&read(Some(-10.0), Some(0.0)), 0.5));
    }
}
