//! Two profiles in one picture, each frame as wide as both have of it, coloured by the change.

use super::view::view;
use super::{FRAMES_MAX, Frame, STEPS, Weight};
use crate::key;
use crate::number::count;
use std::collections::HashMap;

/// A frame of two profiles, with what it called in either.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangedFlame {
    /// Function, method or what else it is.
    pub name: String,
    /// Weight before, with what it called.
    pub before: f64,
    /// Weight after.
    pub after: f64,
    /// What it called; sorted when drawn.
    pub calls: Vec<ChangedFlame>,
}

impl ChangedFlame {
    /// Adds a stack, the root first, that has these weights before and after. Weights below zero, or none at all, are left out.
    pub fn add<'a>(&mut self, stack: impl Iterator<Item = &'a str>, (before, after): (f64, f64)) {
        if !(0.0 <= before && 0.0 <= after && before.is_finite() && after.is_finite()) {
            return;
        }
        self.before += before;
        self.after += after;
        let mut at = self;
        for name in stack.take(FRAMES_MAX) {
            let index = at.calls.iter().position(|call| call.name == name).unwrap_or_else(|| {
                at.calls.push(ChangedFlame { name: name.to_owned(), ..ChangedFlame::default() });
                at.calls.len() - 1
            });
            at = &mut at.calls[index];
            at.before += before;
            at.after += after;
        }
    }

    /// After less before.
    pub fn change(&self) -> f64 {
        self.after - self.before
    }

    /// Its own part, without the functions that it called: before, after.
    pub fn own(&self) -> (f64, f64) {
        let sum = |of: fn(&ChangedFlame) -> f64| self.calls.iter().map(of).sum::<f64>();
        ((self.before - sum(|call| call.before)).max(0.0), (self.after - sum(|call| call.after)).max(0.0))
    }

    /// Own weights of functions below the first level, before and after, added up by name: what changed, the largest change first.
    pub fn own_changes(&self) -> Vec<(String, f64, f64)> {
        let mut by_name: HashMap<&str, (f64, f64)> = HashMap::new();
        let mut open: Vec<&ChangedFlame> = self.calls.iter().flat_map(|root| &root.calls).collect();
        while let Some(flame) = open.pop() {
            let (before, after) = flame.own();
            let sum = by_name.entry(&flame.name).or_default();
            *sum = (sum.0 + before, sum.1 + after);
            open.extend(&flame.calls);
        }
        let named = |(name, (before, after)): (&str, (f64, f64))| (name.to_owned(), before, after);
        let mut own: Vec<_> = by_name.into_iter().map(named).collect();
        own.retain(|(_, before, after)| before != after);
        own.sort_by(|(a, a0, a1), (b, b0, b1)| {
            (b1 - b0).abs().total_cmp(&(a1 - a0).abs()).then_with(|| a.cmp(b))
        });
        own
    }

    fn frame(&self, larger: f64, unit: Weight) -> Frame {
        let part = if larger <= 0.0 { 0.0 } else { self.change() / larger };
        let class = class_of_change(part);
        let sign = match class.as_bytes()[0] {
            b'm' => "+ ",
            b'l' => "− ",
            _ => "",
        };
        Frame {
            name: self.name.clone(),
            class: format!("{class} area"),
            sign,
            weights: vec![self.before, self.after],
            tip: self.tip(unit),
            calls: Frame::sorted(self.calls.iter().map(|call| call.frame(larger, unit)).collect()),
        }
    }

    fn tip(&self, unit: Weight) -> String {
        let sign = if 0.0 <= self.change() { "+" } else { "-" };
        let [before, after, change] = [self.before, self.after, self.change().abs()].map(|of| unit.words(of));
        format!("{}: before {before}, after {after}, {sign}{change}", self.name)
    }
}

/// The key of the colours.
pub fn key_of_changes() -> String {
    key::fills([
        ("more4 area", "+ more, 8 % of all or above"),
        ("more2 area", "+ more"),
        ("same area", "less than 0.1 % of all"),
        ("less2 area", "− less"),
        ("less4 area", "− less, 8 % of all or above"),
    ])
}

/// The class of a change, as a part of the whole: `more1` to `more4`, `less1` to `less4`, `same`.
pub fn class_of_change(part: f64) -> String {
    let steps = STEPS.iter().filter(|step| **step <= part.abs()).count();
    match (steps, 0.0 < part) {
        (0, _) => "same".to_owned(),
        (steps, true) => format!("more{steps}"),
        (steps, false) => format!("less{steps}"),
    }
}

/// The graph, as HTML: both drawings, and the stacks for the script. A sign stands before the name of each frame that changed, so that colour
/// is not needed.
pub fn changed_flames(whole: &ChangedFlame, unit: Weight, (id, title): (&str, &str)) -> String {
    let frame = whole.frame(whole.before.max(whole.after), unit);
    let merged = |number: usize, size: f64| {
        format!("{} narrower frames: {} of both together", count(number as u64), unit.words(size))
    };
    view(&frame, unit, &merged, (id, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(whole: &ChangedFlame) -> String {
        let all = changed_flames(whole, Weight::Time, ("id", "Title"));
        all[..all.find("<div class=\"map-narrow\"").expect("two drawings")].to_owned()
    }

    #[test]
    fn what_grew_and_what_shrank_have_their_colours_and_signs() {
        let mut whole = ChangedFlame::default();
        whole.add(["app", "encode"].into_iter(), (50e3, 10e3));
        whole.add(["app", "decode"].into_iter(), (20e3, 60e3));
        whole.add(["gc"].into_iter(), (30e3, 30e3));
        let text = picture(&whole);
        assert!(text.contains("class=\"less4 area\"") && text.contains("− encode"), "{text}");
        assert!(text.contains("class=\"more4 area\"") && text.contains("+ decode"), "{text}");
        assert!(
            text.contains("class=\"same area\"") && text.contains("gc: before 30.0 µs, after 30.0 µs, +0 ms")
        );
        // app has 140 of 200 by both: what has gone has its place.
        assert!(text.contains("width=\"672\""), "{text}");
        assert_eq!(whole.calls[0].own(), (0.0, 0.0));
    }

    #[test]
    fn steps_of_colour_are_parts_of_the_whole() {
        let classes = [
            (0.0, "same"),
            (0.0009, "same"),
            (-0.0009, "same"),
            (0.001, "more1"),
            (-0.005, "less2"),
            (0.03, "more3"),
            (1.0, "more4"),
        ];
        for (part, class) in classes {
            assert_eq!(class_of_change(part), class, "{part}");
        }
    }

    #[test]
    fn weights_that_are_none_are_left_out_and_nothing_overflows() {
        let mut whole = ChangedFlame::default();
        for weights in [(-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
            whole.add(["bad"].into_iter(), weights);
        }
        assert_eq!(whole, ChangedFlame::default());
        assert!(!picture(&whole).contains("<rect"));
        whole.add(std::iter::repeat_n("f", 10_000), (1.0, 0.0));
        assert_eq!(picture(&whole).matches("<rect").count(), 24);
    }
}
