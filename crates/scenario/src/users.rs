//! Kinds of users: each with a share, its own weights and its own start of a session.

use crate::Deck;
use crate::file::{PerKind, ScenarioFile};
use crate::session::Length;
use assay_text::near::hint;
use std::collections::BTreeMap;

/// A kind of users; a scenario that names none has one.
#[derive(Debug, Clone, PartialEq)]
pub struct UserKind {
    /// As named; empty where there is one kind only.
    pub(crate) name: String,
    /// Of all users, and of the requests of an open loop; the shares add up to 1.
    pub share: f64,
    /// Operations at the start of a session, in order.
    pub(crate) start: Vec<usize>,
    /// Operations at the end of a session, in order.
    pub(crate) end: Vec<usize>,
    /// Relative weights by operation.
    pub(crate) weights: Vec<f64>,
}

/// Stream of the seed that the first kind draws operations from; each kind has one of its own. 0 draws the arrivals, the lowest ones
/// are those of users, and the two highest of others.
const STREAM: u64 = u64::MAX - 2;

impl UserKind {
    /// The deck from which users of the kind with this number draw operations.
    pub fn deck(&self, seed: u64, kind: usize) -> Deck {
        Deck::new(self.weights.iter().copied(), seed, STREAM.wrapping_sub(kind as u64))
    }

    /// Whether its sessions begin with operations of their own.
    pub fn has_start(&self) -> bool {
        !self.start.is_empty()
    }

    /// Whether this operation is one of them.
    pub fn begins_with(&self, operation: usize) -> bool {
        self.start.contains(&operation)
    }

    /// Shares that the operations should have of its requests: the weights, thinned by the requests at the starts and ends of sessions that
    /// follow one another. The first start of a user is outside of the figures.
    pub(crate) fn asked_shares(
        &self,
        length: Option<Length>,
        restarts_session: impl Fn(usize) -> bool,
    ) -> Vec<f64> {
        let sum: f64 = self.weights.iter().sum();
        let restarting = self.weights.iter().enumerate().filter(|(at, _)| restarts_session(*at));
        let by_operation = restarting.map(|(_, weight)| weight).sum::<f64>() / sum;
        let sessions_per_draw = by_operation + length.map_or(0.0, |length| 1.0 / length.mean());
        let around = self.start.len() + self.end.len();
        let requests_per_draw = 1.0 + sessions_per_draw * around as f64;
        let mut shares: Vec<f64> =
            self.weights.iter().map(|weight| weight / sum / requests_per_draw).collect();
        for at in self.start.iter().chain(&self.end) {
            shares[*at] += sessions_per_draw / requests_per_draw;
        }
        shares
    }
}

/// Deals users to kinds, so that of the first n each kind has its share as nearly as whole users can.
#[derive(Debug, Default)]
pub struct Apportionment {
    dealt: Vec<u64>,
}

impl Apportionment {
    /// The kind of the next user.
    pub fn next(&mut self, kinds: &[UserKind]) -> usize {
        self.dealt.resize(kinds.len(), 0);
        let users = self.dealt.iter().sum::<u64>() + 1;
        let lacks = |at: usize| kinds[at].share * users as f64 - self.dealt[at] as f64;
        // The first of those that lack as much.
        let most = (0..kinds.len()).rev().max_by(|a, b| lacks(*a).total_cmp(&lacks(*b))).unwrap_or(0);
        if let Some(dealt) = self.dealt.get_mut(most) {
            *dealt += 1;
        }
        most
    }
}

/// Names and shares of the kinds in the file; one without a name where it names none. What is wrong goes to `wrong`.
pub(crate) fn kinds(file: &ScenarioFile, wrong: &mut dyn FnMut(String)) -> Vec<(String, f64)> {
    if file.users.is_empty() {
        return vec![(String::new(), 1.0)];
    }
    if file.users.len() == 1 {
        wrong("[users] names one kind; name two or more, or leave it out".to_owned());
    }
    for (name, share) in file.users.iter().filter(|(_, share)| !(share.is_finite() && **share > 0.0)) {
        wrong(format!("users {name:?}: share {share} must be above 0"));
    }
    let sum: f64 = file.users.values().sum();
    file.users.iter().map(|(name, share)| (name.clone(), share / sum)).collect()
}

/// The values of a key for each of the kinds; none where it has none for it. Mistakes go to `wrong`.
pub(crate) fn by_kind<T: Clone>(
    of: &PerKind<T>,
    kinds: &[(String, f64)],
    wrong: &mut dyn FnMut(String),
) -> Vec<Option<T>> {
    let named: &BTreeMap<String, T> = match of {
        PerKind::Same(value) => return vec![Some(value.clone()); kinds.len()],
        PerKind::Of(named) => named,
    };
    for name in named.keys().filter(|name| !kinds.iter().any(|(kind, _)| kind == *name)) {
        let known = kinds.iter().map(|(kind, _)| kind.as_str()).filter(|kind| !kind.is_empty());
        wrong(format!("[users] has no kind {name:?}{}", hint(name, known)));
    }
    kinds.iter().map(|(kind, _)| named.get(kind).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(shares: &[f64]) -> Vec<UserKind> {
        let kind = |share: &f64| UserKind {
            name: String::new(),
            share: *share,
            start: Vec::new(),
            end: Vec::new(),
            weights: vec![1.0],
        };
        shares.iter().map(kind).collect()
    }

    #[test]
    fn of_any_number_of_users_each_kind_has_its_share_to_the_whole_user() {
        let kinds = kinds(&[0.07, 0.6, 0.33]);
        let (mut dealing, mut counts) = (Apportionment::default(), [0_u32; 3]);
        for users in 1..=1_000 {
            counts[dealing.next(&kinds)] += 1;
            for (kind, count) in kinds.iter().zip(counts) {
                assert!((f64::from(count) - kind.share * f64::from(users)).abs() <= 1.0, "{counts:?}");
            }
        }
        assert_eq!(counts, [70, 600, 330]);
    }
}
