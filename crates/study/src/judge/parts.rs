//! Which parts of a set of flags are compared, in which order, and how much of the time each may take.

use assay_model::{FlagGroup, JudgedFlag, JudgedPart, JudgedPartKind};

/// The whole set first, then each group, then each flag of a group of several. What would be compared twice is compared once: a group that is
/// the whole set, and a flag that is alone in its group. Flags that do nothing are in the sets and are no part of their own.
pub(super) fn parts_of(flags: &[JudgedFlag]) -> Vec<JudgedPart> {
    let part = |kind, name: String, flags: Vec<usize>| JudgedPart {
        kind,
        name,
        flags,
        budget_s: None,
        figures: Vec::new(),
        run: None,
        not_measured: None,
    };
    let size = if flags.len() == 1 { "the flag".to_owned() } else { format!("all {} flags", flags.len()) };
    let whole = part(JudgedPartKind::Whole, size, (0..flags.len()).collect());
    let is_active = |at: &usize| !flags[*at].is_idle;
    let mut groups: Vec<(FlagGroup, Vec<usize>)> = Vec::new();
    for (at, flag) in flags.iter().enumerate().filter(|(_, flag)| flag.group != FlagGroup::Unlock) {
        match groups.iter_mut().find(|(group, _)| *group == flag.group) {
            Some((_, members)) => members.push(at),
            None => groups.push((flag.group, vec![at])),
        }
    }
    groups.retain(|(_, members)| members.iter().any(is_active));
    let active = (0..flags.len()).filter(is_active).count();
    let (mut of_groups, mut of_flags) = (Vec::new(), Vec::new());
    for (group, members) in groups {
        let alone: Vec<usize> = members.iter().copied().filter(is_active).collect();
        if 1 < alone.len() {
            let single = |at: &usize| part(JudgedPartKind::Flag, flags[*at].text.clone(), vec![*at]);
            of_flags.extend(alone.iter().map(single));
        }
        if alone.len() < active {
            of_groups.push(part(JudgedPartKind::Group, group.word().to_owned(), members));
        }
    }
    std::iter::once(whole).chain(of_groups).chain(of_flags).collect()
}

/// The time for three stages: the whole set, groups, and flags. A stage before the last may take
/// half of the time that is left, and its parts share that; what they leave goes to those after them.
pub(super) struct Stages {
    /// Index of the first part of each stage, and behind the last.
    begins: Vec<usize>,
    left_s: f64,
    of_stage_s: f64,
    spent_s: f64,
    /// What a pair took in the part before, seconds.
    pair_s: f64,
}

/// Pairs for which a part gets time at least, at the pace of the part before: three give an interval, and none is begun when the time is over.
const PAIRS_MIN: f64 = 3.2;

impl Stages {
    /// With so many seconds for all.
    pub fn new(parts: &[JudgedPart], budget_s: f64) -> Stages {
        let flags = parts.iter().position(|part| part.kind == JudgedPartKind::Flag);
        let mut begins = vec![0, 1, flags.unwrap_or(parts.len()), parts.len()];
        begins.dedup();
        let mut stages = Stages { begins, left_s: budget_s, of_stage_s: 0.0, spent_s: 0.0, pair_s: 0.0 };
        stages.of_stage_s = stages.half_s(0);
        stages
    }

    /// That so many pairs took so many seconds.
    pub fn took_s(&mut self, seconds: f64, pairs: u32) {
        if 0 < pairs {
            self.pair_s = seconds / f64::from(pairs);
        }
    }

    /// That so many seconds are over before a part.
    pub fn spent_s(&mut self, at: usize, spent_s: f64) {
        let took_s = spent_s - self.spent_s;
        (self.spent_s, self.left_s, self.of_stage_s) =
            (spent_s, self.left_s - took_s, self.of_stage_s - took_s);
        if self.begins.contains(&at) {
            self.of_stage_s = self.half_s(at);
        }
    }

    /// Seconds for a part that is expected to take at least `least_s`; none where there is not so much left.
    pub fn share_s(&self, at: usize, least_s: f64) -> Option<f64> {
        let least_s = least_s.max(PAIRS_MIN * self.pair_s);
        let end = self.begins.iter().copied().find(|begin| at < *begin).unwrap_or(at + 1);
        let share_s = self.of_stage_s / (end - at) as f64;
        (least_s <= self.left_s).then(|| share_s.max(least_s))
    }

    /// Seconds that were over before the part that runs.
    pub fn spent(&self) -> f64 {
        self.spent_s
    }

    /// What the stage that begins with a part may take.
    fn half_s(&self, at: usize) -> f64 {
        let is_last = self.begins.iter().rev().nth(1) == Some(&at);
        if is_last { self.left_s } else { self.left_s / 2.0 }
    }
}
