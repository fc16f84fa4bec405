//! What a stored result says to a row.

use super::{Row, kept};
use assay_model::{Claim, ClaimSubject, ClaimVerdict, Estimate, JudgedClaim, Metric, Reading, StoredRun};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// The answer to a row.
pub struct Answer {
    /// Ours, with its interval; empty if there is none.
    pub ours: String,
    /// The verdict, or why there is none.
    pub verdict: String,
    /// What it counts as in the sum.
    pub kind: Kind,
    /// The folder or file that it is of.
    pub result: Option<String>,
}

/// Kinds of answers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Judged, by the verdict.
    Judged(ClaimVerdict),
    /// Nothing was stored yet.
    NotRunYet,
    /// No machine that is at hand can say it.
    NotHere,
    /// A drawing, a definition, a system.
    Nothing,
}

/// The stored runs by folder, each read once.
#[derive(Default)]
pub struct Results {
    runs: BTreeMap<String, Option<StoredRun>>,
}

impl Results {
    /// The run of a folder of `testdata/papers`; none if it is not stored.
    pub fn run(&mut self, folder: &str) -> Option<&StoredRun> {
        let read = || {
            let path = kept().join(folder);
            path.is_dir().then(|| assay_results::load_run(&path).unwrap_or_else(|e| panic!("{folder}: {e}")))
        };
        self.runs.entry(folder.to_owned()).or_insert_with(read).as_ref()
    }

    /// The answer to a row.
    pub fn answer(&mut self, row: &Row) -> Answer {
        if let Some(why) = &row.not_here {
            let is_nothing = why.starts_with("nothing to");
            let verdict = if is_nothing { why.clone() } else { format!("not measurable here: {why}") };
            let kind = if is_nothing { Kind::Nothing } else { Kind::NotHere };
            return Answer { ours: String::new(), verdict, kind, result: None };
        }
        if let Some(file) = &row.stored {
            return of_file(row, file);
        }
        let folder = row.folder.as_deref().or(row.study.as_deref());
        let answer = folder.and_then(|folder| match &row.against {
            Some(other) => Some(of_two(row, folder, self.value(row, folder)?, self.value(row, other)?)),
            None => of_run(row, folder, self.run(folder)?),
        });
        answer.unwrap_or_else(|| Answer {
            ours: String::new(),
            verdict: "not run yet".to_owned(),
            kind: Kind::NotRunYet,
            result: None,
        })
    }
}

impl Results {
    /// The row's metric of the variant that it names, in the run of a folder.
    fn value(&mut self, row: &Row, folder: &str) -> Option<Estimate> {
        let summary = self.run(folder)?.summary.as_ref()?;
        let variant = summary.variants.iter().find(|of| Some(&of.name) == row.variant.as_ref())?;
        variant.metrics.get(row.metric.as_ref()?).copied()
    }
}

/// A value of one run against that of another, on another machine: their difference where a value is stated, else their ratio. Nothing is
/// paired, so the interval goes from end to end of both.
fn of_two(row: &Row, folder: &str, ours: Estimate, theirs: Estimate) -> Answer {
    let is_ratio = row.value.is_none();
    let of = |one: f64, other: f64| if is_ratio { one / other } else { one - other };
    let ends = ours.ends().zip(theirs.ends());
    let measured = Estimate {
        estimate: of(ours.estimate, theirs.estimate),
        low: ends.map(|((low, _), (_, high))| of(low, high)),
        high: ends.map(|((_, high), (low, _))| of(high, low)),
    };
    let verdict = assay_results::claim_verdict(&claim_of(row), measured)
        .unwrap_or_else(|| panic!("{}: nothing is stated", row.what));
    Answer {
        ours: amount(&measured, is_ratio, row.metric.as_deref().unwrap_or_default()),
        verdict: verdict.title().to_owned(),
        kind: Kind::Judged(verdict),
        result: Some(folder.to_owned()),
    }
}

/// What a row states itself.
fn claim_of(row: &Row) -> Claim {
    Claim {
        about: ClaimSubject {
            source: String::new(),
            place: None,
            quotation: None,
            metric: String::new(),
            variant: String::new(),
            baseline: None,
        },
        change_percent: row.change_percent,
        reading: Reading {
            change_percent_min: row.change_percent_min,
            change_percent_max: row.change_percent_max,
        },
        direction: row.direction,
        value: row.value,
        within_percent: row.within_percent,
        at: BTreeMap::new(),
    }
}

/// Statements of the row's source about its metric, as the run judges them; none where the run has no such variant.
fn of_run(row: &Row, folder: &str, run: &StoredRun) -> Option<Answer> {
    let summary = run.summary.as_ref()?;
    let is_of_row = |judged: &&JudgedClaim| {
        Some(&judged.about.source) == row.source.as_ref()
            && Some(&judged.about.metric) == row.metric.as_ref()
            && row
                .claim
                .as_ref()
                .is_none_or(|place| place == judged.about.place.as_deref().unwrap_or_default())
            && row.variant.as_ref().is_none_or(|variant| judged.about.variant.starts_with(variant.as_str()))
    };
    let check = assay_results::check_claims(&run.plan, summary);
    let judged: Vec<&JudgedClaim> = check.judged.iter().filter(is_of_row).collect();
    let kind = Kind::Judged(judged.first()?.verdict);
    let several = 1 < judged.len();
    let each = |say: &dyn Fn(&JudgedClaim) -> String| {
        let mut said: Vec<String> = judged.iter().map(|one| say(one)).collect();
        if said.iter().all(|one| *one == said[0]) {
            said.truncate(1);
        } else if several {
            said =
                judged.iter().zip(said).map(|(of, said)| format!("{}: {said}", of.about.variant)).collect();
        }
        said.join("<br>")
    };
    let disturbed = |variant: &str| {
        summary.variants.iter().any(|of| of.name == variant && 0 < of.left_out) || summary.variants.is_empty()
    };
    let verdict = |judged: &JudgedClaim| match judged.verdict {
        ClaimVerdict::NotMeasured if judged.measured.is_some() => {
            "undecided: too few blocks count".to_owned()
        }
        ClaimVerdict::NotMeasured if disturbed(&judged.about.variant) => {
            "undecided: disturbed windows are left out".to_owned()
        }
        verdict => verdict.title().to_owned(),
    };
    let ours = |judged: &JudgedClaim| {
        let measured = judged.measured.as_ref();
        measured.map_or_else(String::new, |ours| amount(ours, judged.is_ratio, &judged.about.metric))
    };
    Some(Answer { ours: each(&ours), verdict: each(&verdict), kind, result: Some(folder.to_owned()) })
}

/// A value of a stored JSON that is no study's, which is exact.
fn of_file(row: &Row, file: &str) -> Answer {
    let text = fs::read_to_string(kept().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let json: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
    let number = |pointer: &str| {
        json.pointer(pointer)
            .and_then(Value::as_f64)
            .unwrap_or_else(|| panic!("{file}: no number at {pointer}"))
    };
    let value = number(row.ours.as_deref().unwrap_or_default());
    let per = row.per.as_deref().map(number);
    let exactly = Estimate::exact(value / per.unwrap_or(1.0));
    let verdict = assay_results::claim_verdict(&claim_of(row), exactly)
        .unwrap_or_else(|| panic!("{file}: nothing is stated"));
    let ours = match per {
        Some(per) => format!("{per} to {value} bytes, {:+.0} %", 100.0 * (value / per - 1.0)),
        None => format!("{} GB", three_digits(value / f64::from(1 << 30))),
    };
    Answer {
        ours,
        verdict: verdict.title().to_owned(),
        kind: Kind::Judged(verdict),
        result: Some(file.to_owned()),
    }
}

fn amount(ours: &Estimate, is_ratio: bool, metric: &str) -> String {
    let unit = Metric::by_id(metric).map_or("", |metric| metric.unit);
    let (unit, divisor) = match (is_ratio, unit) {
        (true, _) => ("times", 1.0),
        (false, "bytes") => ("MB", 1e6),
        (false, unit) => (unit, 1.0),
    };
    let number = |value: f64| three_digits(value / divisor);
    let interval =
        ours.ends().map_or_else(String::new, |(low, high)| format!(" ({} to {})", number(low), number(high)));
    format!("{} {unit}{interval}", number(ours.estimate))
}

/// To three significant digits.
fn three_digits(value: f64) -> String {
    let digits = if value == 0.0 { 0.0 } else { value.abs().log10().floor() };
    let decimals = (2.0 - digits).clamp(0.0, 6.0) as usize;
    format!("{value:.decimals$}")
}
