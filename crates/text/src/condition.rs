//! Conditions as users write them for CI: `pause_p99_ms > 200`, and on a change `cpu_ms_per_request > +3 %`.

use thiserror::Error;

/// How a figure is held against a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

/// The longer signs first: `>` is the beginning of `>=`.
const RELATIONS: [(&str, Relation); 6] = [
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    (">", Relation::Above),
    ("<", Relation::Below),
];

impl Relation {
    /// Whether it holds between a value and its limit.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Relation::Above => value > limit,
            Relation::AtLeast => value >= limit,
            Relation::Below => value < limit,
            Relation::AtMost => value <= limit,
            Relation::Equal => value == limit,
            Relation::Unequal => value != limit,
        }
    }
}

/// A condition, taken apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts<'a> {
    /// Name of its subject.
    pub name: &'a str,
    /// How that is held against the limit.
    pub relation: Relation,
    /// The limit; of a change in percent.
    pub limit: f64,
    /// Whether it is about a change: the number has a sign and `%`.
    pub is_of_change: bool,
}

/// Why a condition could not be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoCondition {
    /// There is no relation in it.
    #[error("`{0}` has none of > >= < <= == !=")]
    NoRelation(String),
    /// The value to compare with is not a number.
    #[error("`{0}` is not a number: write for example 200, or +10% for a change")]
    NoNumber(String),
}

/// Takes a condition apart: a name, a relation and a number; with a sign and `%` it is about the change.
///
/// # Errors
/// No relation, no number.
pub fn parts(text: &str) -> Result<Parts<'_>, NoCondition> {
    let found = RELATIONS.iter().filter_map(|(sign, relation)| Some((text.find(sign)?, *sign, *relation)));
    // The first sign in the text; of two that begin there the longer one, which stands first in the list.
    let first = found.min_by_key(|(at, ..)| *at);
    let (at, sign, relation) = first.ok_or_else(|| NoCondition::NoRelation(text.to_owned()))?;
    let number = text[at + sign.len()..].trim();
    let percent = number.strip_suffix('%').filter(|percent| percent.starts_with(['+', '-']));
    let limit = percent.unwrap_or(number).trim().parse().ok().filter(|limit: &f64| limit.is_finite());
    let limit = limit.ok_or_else(|| NoCondition::NoNumber(number.to_owned()))?;
    Ok(Parts { name: text[..at].trim(), relation, limit, is_of_change: percent.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_a_name_a_relation_and_a_number() {
        let parts = |text| parts(text).map(|p| (p.name, p.relation, p.limit, p.is_of_change));
        assert_eq!(parts("pause_p99_ms>=2e2"), Ok(("pause_p99_ms", Relation::AtLeast, 200.0, false)));
        assert_eq!(parts(" cpu < -3 % "), Ok(("cpu", Relation::Below, -3.0, true)));
        // Without a sign it is not a change: a share of 10 % is written as 10.
        assert_eq!(parts("cpu > 10%"), Err(NoCondition::NoNumber("10%".to_owned())));
        assert_eq!(parts("cpu"), Err(NoCondition::NoRelation("cpu".to_owned())));
        for bad in ["cpu >", "cpu > +%", "cpu > inf", "cpu > + 3 x%", "cpu > NaN"] {
            assert!(parts(bad).is_err(), "{bad}");
        }
    }
}
