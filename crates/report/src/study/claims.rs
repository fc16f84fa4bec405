//! What was published and claimed, as the run judged it.

use super::estimate::{interval, shown_unit, times};
use super::grid::Grid;
use assay_kit::number::{count, counted, significant};
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{
    Claim, ClaimCheck, ClaimSubject, ClaimVerdict, Contradiction, Direction, Estimate, JudgedClaim, Metric,
    Plan, Published,
};

fn checked<'a>(grid: &Grid<'a>) -> Option<&'a ClaimCheck> {
    grid.run.summary.as_ref().map(|s| &s.claims).filter(|claims| !claims.is_empty())
}

/// How many hold; absent when nothing was published or claimed.
pub fn tally(grid: &Grid) -> Option<String> {
    let check = checked(grid).filter(|check| !check.judged.is_empty())?;
    Some(counts_of(&check.judged.iter().map(|judged| judged.verdict).collect::<Vec<_>>()))
}

fn counts_of(verdicts: &[ClaimVerdict]) -> String {
    let of = |verdict| verdicts.iter().filter(|other| **other == verdict).count() as u64;
    let kinds = [
        (ClaimVerdict::Holds, "holds", "hold"),
        (ClaimVerdict::DoesNotHold, "does not hold", "do not hold"),
        (
            ClaimVerdict::IntervalTooWide,
            "is undecided: the interval is too wide",
            "are undecided: the intervals are too wide",
        ),
        (
            ClaimVerdict::OneServerEach,
            "is undecided: one server of each variant",
            "are undecided: one server of each variant",
        ),
        (ClaimVerdict::NotMeasured, "was not measured", "were not measured"),
    ];
    let parts = kinds.into_iter().filter(|(verdict, ..)| of(*verdict) > 0);
    let parts: Vec<String> = parts.map(|(verdict, one, many)| counted(of(verdict), one, many)).collect();
    let all = counted(verdicts.len() as u64, "published or claimed figure", "published or claimed figures");
    format!("Of {all}, {}.", parts.join(", "))
}

/// Sentences on what is plainly wrong: the other direction, and what contradicts itself.
pub fn objections(grid: &Grid) -> Vec<String> {
    let Some(check) = checked(grid) else { return Vec::new() };
    let opposite = check.judged.iter().filter_map(opposite);
    opposite.chain(check.contradictions.iter().map(contradiction)).collect()
}

fn title(id: &str) -> String {
    clean(&Metric::by_id(id).map_or_else(|| id.to_owned(), |metric| metric.title.into_owned()))
}

fn source(about: &ClaimSubject) -> String {
    let place = about.place.as_ref().map_or_else(String::new, |place| format!(", {}", clean(place)));
    format!("{}{place}", clean(&about.source))
}

/// A change that the run shows in the other direction.
fn opposite(judged: &JudgedClaim) -> Option<String> {
    let measured =
        judged.measured.filter(|_| judged.verdict == ClaimVerdict::DoesNotHold && judged.is_ratio)?;
    let (low, high) = measured.ends()?;
    let is_opposite = (judged.stated < 1.0 && low > 1.0) || (judged.stated > 1.0 && high < 1.0);
    is_opposite.then(|| {
        format!(
            "{}, {}: published {} ({}), ours {}: the opposite direction.",
            clean(&judged.about.variant),
            title(&judged.about.metric),
            significant(judged.stated),
            source(&judged.about),
            times(&measured)
        )
    })
}

fn contradiction(c: &Contradiction) -> String {
    let to = c.about.baseline.as_ref().map_or_else(String::new, |b| format!(" to {}", clean(b)));
    format!(
        "{} contradicts itself: {} of {}{to} is {} by one place ({}), {} by another ({}).",
        clean(&c.about.source),
        title(&c.about.metric),
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
    let says = match (claim.change_percent, claim.direction, claim.value) {
        (Some(percent), ..) => format!("{percent:+} %"),
        (None, Some(direction), _) => direction_word(direction).to_owned(),
        (None, None, value) => value.map_or_else(String::new, |value| value.to_string()),
    };
    format!("{}: {} of {}{against}: {says}", source(&claim.about), title(metric), clean(variant))
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
            _ if judged.direction.is_some() => judged.direction.map_or("", direction_word).to_owned(),
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
    match (judged.verdict, judged.measured) {
        (ClaimVerdict::Holds, _) if judged.direction.is_some() => {
            "✓ holds: so does all of our interval".to_owned()
        }
        (ClaimVerdict::Holds, _) => "✓ holds: it lies inside our interval".to_owned(),
        (ClaimVerdict::DoesNotHold, Some(ours)) => {
            let side = if ours.estimate > judged.stated { "higher" } else { "lower" };
            format!("✗ does not hold: ours is {side}")
        }
        (ClaimVerdict::DoesNotHold, None) => "✗ does not hold".to_owned(),
        (ClaimVerdict::IntervalTooWide, _) => "? undecided: our interval is too wide".to_owned(),
        (ClaimVerdict::OneServerEach, _) => "? undecided: one server of each variant".to_owned(),
        (ClaimVerdict::NotMeasured, Some(_)) => "? ours has no interval".to_owned(),
        (ClaimVerdict::NotMeasured, None) => match grid.cell(&judged.about.variant) {
            Some(cell) => format!("not compared: {}", grid.why_absent(cell, metric)),
            None => "not compared: this run has no such variant".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{ClaimVerdict::*, counts_of};

    #[test]
    fn the_count_is_a_sentence_whatever_holds() {
        assert_eq!(
            counts_of(&[DoesNotHold; 8]),
            "Of 8 published or claimed figures, 8 do not hold.",
            "also where none holds"
        );
        assert_eq!(
            counts_of(&[Holds, DoesNotHold, IntervalTooWide]),
            "Of 3 published or claimed figures, 1 holds, 1 does not hold, 1 is undecided: the interval is too wide."
        );
    }
}
