//! Conditions on a load, for CI: `p99_ms > 200`, and on one of its operations: `p99_ms{operation=checkout} > 200`. Those on server-sent
//! events are on an operation: `first_event_p95_ms{operation=feed} > 300`.

use assay_model::{
    Estimate, EventFigures, GateCase, GateVerdict, LatencySummary, LoadResult, OperationCount,
};
use assay_text::condition::{self, Parts, Relation};
use assay_text::near;

/// A condition on a figure.
#[derive(Debug, Clone)]
pub struct Condition {
    text: String,
    figure: &'static Figure,
    /// Absent: the whole load.
    operation: Option<String>,
    relation: Relation,
    limit: f64,
}

/// A figure of a whole load and of each operation, or of an operation alone.
#[derive(Debug, Clone, Copy)]
struct Figure {
    name: &'static str,
    unit: &'static str,
    /// It is of use also where the result is not valid: a count is what it is.
    is_count: bool,
    /// A whole load has none.
    is_of_operation: bool,
    of: fn(&Of<'_>) -> Option<f64>,
}

/// The source of the figures: a whole load, or one operation.
struct Of<'a> {
    requests: u64,
    errors: u64,
    achieved_rate_per_s: Option<f64>,
    response_ms: Option<&'a LatencySummary>,
    events: Option<&'a EventFigures>,
}

const FIGURES: [Figure; 18] = [
    ms("p50_ms", |of| of.response_ms?.p50),
    ms("p95_ms", |of| of.response_ms?.p95),
    ms("p99_ms", |of| of.response_ms?.p99),
    ms("p99_9_ms", |of| of.response_ms?.p99_9),
    ms("max_ms", |of| of.response_ms?.max),
    Figure { unit: "requests/s", ..ms("achieved_rate_per_s", |of| of.achieved_rate_per_s) },
    count("requests", "requests", |of| Some(of.requests as f64)),
    count("errors", "requests", |of| Some(of.errors as f64)),
    count("errors_percent", "%", |of| {
        (of.requests > 0).then(|| 100.0 * of.errors as f64 / of.requests as f64)
    }),
    of_events(count("events", "events", |of| Some(of.events?.events as f64))),
    of_events(ms("first_event_p50_ms", |of| of.events?.first_event_ms.p50)),
    of_events(ms("first_event_p95_ms", |of| of.events?.first_event_ms.p95)),
    of_events(ms("first_event_p99_ms", |of| of.events?.first_event_ms.p99)),
    of_events(ms("first_event_max_ms", |of| of.events?.first_event_ms.max)),
    of_events(ms("event_gap_p50_ms", |of| of.events?.event_gap_ms.p50)),
    of_events(ms("event_gap_p95_ms", |of| of.events?.event_gap_ms.p95)),
    of_events(ms("event_gap_p99_ms", |of| of.events?.event_gap_ms.p99)),
    of_events(ms("event_gap_max_ms", |of| of.events?.event_gap_ms.max)),
];

const fn ms(name: &'static str, of: fn(&Of<'_>) -> Option<f64>) -> Figure {
    Figure { name, unit: "ms", is_count: false, is_of_operation: false, of }
}

const fn count(name: &'static str, unit: &'static str, of: fn(&Of<'_>) -> Option<f64>) -> Figure {
    Figure { name, unit, is_count: true, is_of_operation: false, of }
}

const fn of_events(figure: Figure) -> Figure {
    Figure { is_of_operation: true, ..figure }
}

const NOT_THERE: &str = "the load has no such figure: no request was measured, or no event came";
const NOT_VALID: &str = "the result is not valid";

impl Condition {
    /// Reads a condition: a figure, perhaps of an operation, a relation and a number.
    ///
    /// # Errors
    /// No relation, no number, no such figure (the nearest one is named).
    pub fn parse(text: &str) -> Result<Condition, String> {
        let text = text.trim();
        let (named, operation) = match text.split_once('{') {
            None => (text.to_owned(), None),
            Some((figure, rest)) => {
                // A name may hold anything, signs of relations and braces, too.
                let (label, relation) = rest.rsplit_once('}').ok_or("a brace that is not closed")?;
                let operation = label.trim().strip_prefix("operation").map(str::trim_start);
                let operation = operation.and_then(|rest| rest.strip_prefix('=')).map(str::trim);
                let operation =
                    operation.ok_or("write an operation like this: p99_ms{operation=checkout} > 200")?;
                (format!("{figure}{relation}"), Some(operation.trim_matches('"').to_owned()))
            }
        };
        let Parts { name, relation, limit, is_of_change } =
            condition::parts(&named).map_err(|error| error.to_string())?;
        if is_of_change {
            return Err(
                "a load is compared with nothing: write a number without a sign, such as > 200".to_owned()
            );
        }
        let figure = FIGURES.iter().find(|figure| figure.name == name);
        let figure = figure.ok_or_else(|| {
            format!(
                "there is no figure `{name}`{}",
                near::hint(name, FIGURES.iter().map(|figure| figure.name))
            )
        })?;
        if figure.is_of_operation && operation.is_none() {
            return Err(format!("events are those of an operation: write {name}{{operation=NAME}}"));
        }
        Ok(Condition { text: text.to_owned(), figure, operation, relation, limit })
    }

    /// Whether the load has its operation.
    ///
    /// # Errors
    /// It has not; the nearest one is named.
    pub fn check<'a>(&self, operations: impl Iterator<Item = &'a str> + Clone) -> Result<(), String> {
        let Some(wanted) = &self.operation else { return Ok(()) };
        match operations.clone().any(|name| name == wanted) {
            true => Ok(()),
            false => Err(format!(
                "--fail-if '{}': there is no operation `{wanted}`{}",
                self.text,
                near::hint(wanted, operations)
            )),
        }
    }

    /// What the load says.
    pub fn judge(&self, result: &LoadResult, is_usable: bool) -> GateCase {
        let measured = match &self.operation {
            None => (self.figure.of)(&whole(result)),
            Some(name) => {
                let operation = result.operations.iter().find(|of| of.name == *name);
                operation.and_then(|of| (self.figure.of)(&of_operation(of)))
            }
        };
        let measured = measured.filter(|_| is_usable || self.figure.is_count);
        let remedy = match (measured, is_usable) {
            (Some(_), _) => "",
            (None, true) => NOT_THERE,
            (None, false) => NOT_VALID,
        };
        let measured = measured.map(Estimate::exact);
        GateCase {
            condition: self.text.clone(),
            variant: None,
            baseline: None,
            measured,
            again: None,
            unit: self.figure.unit,
            verdict: GateVerdict::of(measured, |value| self.relation.holds(value, self.limit)),
            remedy: remedy.into(),
        }
    }
}

fn whole(result: &LoadResult) -> Of<'_> {
    Of {
        requests: result.requests,
        errors: result.errors,
        achieved_rate_per_s: Some(result.achieved_rate_per_s),
        response_ms: Some(&result.response_ms),
        events: None,
    }
}

fn of_operation(of: &OperationCount) -> Of<'_> {
    Of {
        requests: of.requests,
        errors: of.errors,
        achieved_rate_per_s: of.figures.as_ref().and_then(|figures| figures.achieved_rate_per_s),
        response_ms: of.figures.as_ref().map(|figures| &figures.response_ms),
        events: of.figures.as_ref().and_then(|figures| figures.events.as_ref()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::OperationFigures;

    fn result() -> LoadResult {
        let text = include_str!("../../../testdata/formats/load-3.json");
        let stored: LoadResult = serde_json::from_str(text).expect("a stored result");
        let response_ms = LatencySummary { p99: Some(250.0), ..LatencySummary::default() };
        let first_event_ms = LatencySummary { p95: Some(30.0), ..LatencySummary::default() };
        let events = Some(EventFigures { events: 400, first_event_ms, ..EventFigures::default() });
        let figures = OperationFigures { response_ms, events, ..OperationFigures::default() };
        let checkout = OperationCount {
            requests: 200,
            errors: 3,
            figures: Some(figures),
            ..OperationCount::planned("check > out", 0.5)
        };
        LoadResult { operations: vec![checkout, OperationCount::planned("idle", 0.5)], ..stored }
    }

    #[track_caller]
    fn check(condition: &str, is_usable: bool, want: GateVerdict) {
        let condition = Condition::parse(condition).expect("a condition");
        assert_eq!(condition.judge(&result(), is_usable).verdict, want, "{condition:?}");
    }

    #[test]
    fn a_condition_is_on_the_whole_load_or_on_one_operation() {
        check("p99_ms{operation=check > out} > 200", true, GateVerdict::Holds);
        check("p99_ms{operation = \"check > out\"} > 250", true, GateVerdict::Passes);
        check("errors_percent{operation=check > out} >= 1.5", true, GateVerdict::Holds);
        check("p99_ms > 200", true, GateVerdict::Passes);
        check("requests < 301", true, GateVerdict::Holds);
    }

    #[test]
    fn events_are_conditions_of_their_operation() {
        check("first_event_p95_ms{operation=check > out} > 29", true, GateVerdict::Holds);
        check("first_event_p95_ms{operation=check > out} > 29", false, GateVerdict::Undecided);
        check("events{operation=check > out} < 400", false, GateVerdict::Passes);
        check("event_gap_max_ms{operation=check > out} > 1", true, GateVerdict::Undecided);
        check("first_event_p95_ms{operation=idle} > 1", true, GateVerdict::Undecided);
        let error = Condition::parse("event_gap_p99_ms > 5").expect_err("of which operation?");
        assert!(error.contains("event_gap_p99_ms{operation=NAME}"), "{error}");
    }

    #[test]
    fn what_is_not_there_or_not_valid_decides_nothing_and_a_count_always_does() {
        check("p50_ms{operation=check > out} > 1", true, GateVerdict::Undecided);
        check("p99_ms{operation=idle} > 1", true, GateVerdict::Undecided);
        check("errors_percent{operation=idle} > 1", true, GateVerdict::Undecided);
        check("p99_ms > 1", false, GateVerdict::Undecided);
        check("errors{operation=check > out} > 2", false, GateVerdict::Holds);
    }

    #[test]
    fn a_condition_that_names_nothing_is_refused_and_the_nearest_is_named() {
        for (bad, why) in [
            ("p98_ms > 1", "did you mean `p9"),
            ("p99_ms", "none of >"),
            ("p99_ms > +10 %", "without a sign"),
            ("p99_ms{operation=a > 1", "not closed"),
            ("p99_ms{op=a} > 1", "operation=checkout"),
        ] {
            let error = Condition::parse(bad).expect_err(bad);
            assert!(error.contains(why), "{bad}: {error}");
        }
        let condition = Condition::parse("p99_ms{operation=chekout} > 1").expect("a condition");
        assert!(
            condition
                .check(["checkout", "browse"].into_iter())
                .is_err_and(|error| error.contains("checkout"))
        );
        assert!(Condition::parse("p99_ms > 1").is_ok_and(|of| of.check([].into_iter()).is_ok()));
    }
}
