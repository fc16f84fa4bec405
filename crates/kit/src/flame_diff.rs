//! Differential flame graphs: two profiles in one picture, each frame as wide as both have of it, coloured by the change.

use crate::key;
use crate::letters::whole_or_cut;
use crate::svg::{Anchor, Svg};
use std::collections::HashMap;

const ROW: f64 = 18.0;
const LABEL: f64 = 11.5;
const ROWS_MAX: usize = 80;
const WIDTH_MIN: f64 = 0.6;
/// Changes, as a part of the larger whole, from which on a frame has the next colour.
const STEPS: [f64; 4] = [0.001, 0.005, 0.02, 0.08];

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
        for name in stack.take(ROWS_MAX) {
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

    /// What of it is not in what it called: before, after.
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

    fn both(&self) -> f64 {
        self.before + self.after
    }

    fn depth(&self) -> usize {
        self.calls.iter().map(|call| 1 + call.depth()).max().unwrap_or(0)
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

/// The picture; `said` puts a weight into words: `12.3 µs per request`. A sign stands before the name of each frame that changed, so that
/// colour is not needed.
pub fn changed_flames(
    whole: &ChangedFlame,
    said: &dyn Fn(f64) -> String,
    width: f64,
    (id, title): (&str, &str),
) -> String {
    let mut svg = Svg::new(width, ROW * whole.depth().max(1) as f64);
    let drawing = Drawing { larger: whole.before.max(whole.after), said };
    drawing.draw(&mut svg, whole, (0.0, 0), width);
    let mut changed: Vec<&ChangedFlame> = whole.calls.iter().collect();
    changed.sort_by(|a, b| b.change().abs().total_cmp(&a.change().abs()));
    let named = changed.iter().take(20).map(|call| drawing.tip(call));
    svg.finish(id, title, &named.collect::<Vec<_>>().join(". "))
}

struct Drawing<'a> {
    larger: f64,
    said: &'a dyn Fn(f64) -> String,
}

impl Drawing<'_> {
    fn tip(&self, flame: &ChangedFlame) -> String {
        let sign = if 0.0 <= flame.change() { "+" } else { "-" };
        let said = self.said;
        format!(
            "{}: before {}, after {}, {sign}{}",
            flame.name,
            said(flame.before),
            said(flame.after),
            said(flame.change().abs())
        )
    }

    fn draw(&self, svg: &mut Svg, caller: &ChangedFlame, (left, row): (f64, usize), width: f64) {
        let mut calls: Vec<&ChangedFlame> = caller.calls.iter().collect();
        calls.sort_by(|a, b| b.both().total_cmp(&a.both()).then_with(|| a.name.cmp(&b.name)));
        let mut x = left;
        for call in calls {
            let whole = caller.both();
            let wide = if whole <= 0.0 { 0.0 } else { width * (call.both() / whole).min(1.0) };
            if wide < WIDTH_MIN {
                break;
            }
            let top = ROW * row as f64;
            let part = if self.larger <= 0.0 { 0.0 } else { call.change() / self.larger };
            let class = class_of_change(part);
            svg.rect((x, top), (wide, ROW - 1.0), &format!("{class} area"), &self.tip(call));
            let sign = match class.as_bytes()[0] {
                b'm' => "+ ",
                b'l' => "− ",
                _ => "",
            };
            if let Some(label) = whole_or_cut(&format!("{sign}{}", call.name), wide - 6.0, LABEL) {
                svg.text((x + 3.0, top + ROW - 5.5), Anchor::Start, "frame", &label);
            }
            self.draw(svg, call, (x, row + 1), wide);
            x += wide;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(weight: f64) -> String {
        format!("{weight:.1} µs")
    }

    fn picture(whole: &ChangedFlame) -> String {
        changed_flames(whole, &said, 800.0, ("id", "Title"))
    }

    #[test]
    fn what_grew_and_what_shrank_have_their_colours_and_signs() {
        let mut whole = ChangedFlame::default();
        whole.add(["app", "encode"].into_iter(), (50.0, 10.0));
        whole.add(["app", "decode"].into_iter(), (20.0, 60.0));
        whole.add(["gc"].into_iter(), (30.0, 30.0));
        let text = picture(&whole);
        assert!(text.contains("class=\"less4 area\"") && text.contains("− encode"), "{text}");
        assert!(text.contains("class=\"more4 area\"") && text.contains("+ decode"), "{text}");
        assert!(
            text.contains("class=\"same area\"")
                && text.contains("gc: before 30.0 µs, after 30.0 µs, +0.0 µs")
        );
        // app has 140 of 200 by both: what has gone has its place.
        assert!(text.contains("width=\"560\""), "{text}");
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
        assert_eq!(picture(&whole).matches("<rect").count(), ROWS_MAX);
    }
}
