//! Flame graphs: stacks as rows of rectangles, callers above what they called, each as wide as its share of the samples.

use crate::letters::whole_or_cut;
use crate::number::percent;
use crate::svg::{Anchor, Svg};

/// Height of a row.
const ROW: f64 = 18.0;
const LABEL: f64 = 11.5;
/// Rows that are drawn; callees of the last one are not shown.
const ROWS_MAX: usize = 80;
/// A rectangle that is narrower is not drawn.
const WIDTH_MIN: f64 = 0.6;

/// A frame with what it called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flame {
    /// Function, method or what else it is.
    pub name: String,
    /// Class of its fill.
    pub class: String,
    /// Number of samples that it is in, with what it called.
    pub weight: u64,
    /// What it called; sorted when drawn.
    pub calls: Vec<Flame>,
}

impl Flame {
    /// Counts a stack, the root first: name and class of each frame.
    pub fn add<'a>(&mut self, stack: impl Iterator<Item = (&'a str, &'a str)>, weight: u64) {
        self.weight = self.weight.saturating_add(weight);
        let mut at = self;
        for (name, class) in stack.take(ROWS_MAX) {
            let found = at.calls.iter().position(|call| call.name == name && call.class == class);
            let index = found.unwrap_or_else(|| {
                at.calls.push(Flame { name: name.to_owned(), class: class.to_owned(), ..Flame::default() });
                at.calls.len() - 1
            });
            at = &mut at.calls[index];
            at.weight = at.weight.saturating_add(weight);
        }
    }

    fn depth(&self) -> usize {
        self.calls.iter().map(|call| 1 + call.depth()).max().unwrap_or(0)
    }
}

/// The picture of all that `whole` called; `said` puts a weight into words: `12 samples`.
pub fn flames(whole: &Flame, said: &dyn Fn(u64) -> String, width: f64, (id, title): (&str, &str)) -> String {
    let mut svg = Svg::new(width, ROW * whole.depth().max(1) as f64);
    draw(&mut svg, whole, whole.weight, said, (0.0, 0), width);
    let biggest = sorted(&whole.calls);
    let named =
        biggest.iter().take(20).map(|call| format!("{}: {}", call.name, percent(call.weight, whole.weight)));
    svg.finish(id, title, &named.collect::<Vec<_>>().join(". "))
}

/// By weight, the most first; names decide where it is equal.
fn sorted(calls: &[Flame]) -> Vec<&Flame> {
    let mut sorted: Vec<&Flame> = calls.iter().collect();
    sorted.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.name.cmp(&b.name)));
    sorted
}

fn draw(
    svg: &mut Svg,
    caller: &Flame,
    whole: u64,
    said: &dyn Fn(u64) -> String,
    (left, row): (f64, usize),
    width: f64,
) {
    let mut x = left;
    for call in sorted(&caller.calls) {
        let wide = width * (call.weight as f64 / caller.weight.max(1) as f64).min(1.0);
        if wide < WIDTH_MIN {
            break;
        }
        let top = ROW * row as f64;
        let tip = format!("{}: {}, {}", call.name, said(call.weight), percent(call.weight, whole));
        svg.rect((x, top), (wide, ROW - 1.0), &call.class, &tip);
        if let Some(name) = whole_or_cut(&call.name, wide - 6.0, LABEL) {
            svg.text((x + 3.0, top + ROW - 5.5), Anchor::Start, "frame", &name);
        }
        draw(svg, call, whole, said, (x, row + 1), wide);
        x += wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(weight: u64) -> String {
        format!("{weight} samples")
    }

    #[test]
    fn stacks_that_begin_alike_share_their_callers() {
        let mut whole = Flame::default();
        whole.add([("a", "f0"), ("b", "f1")].into_iter(), 3);
        whole.add([("a", "f0"), ("c", "f1")].into_iter(), 1);
        whole.add([("z", "f0")].into_iter(), 4);
        assert_eq!((whole.weight, whole.depth(), whole.calls.len()), (8, 2, 2));
        assert_eq!(whole.calls[0].weight, 4);
        let picture = flames(&whole, &samples, 800.0, ("id", "Title"));
        assert!(picture.contains("b: 3 samples, 37.5 %") && picture.contains("z: 4 samples"), "{picture}");
        assert!(picture.contains("viewBox=\"0 0 800 36\""), "{picture}");
    }

    #[test]
    fn what_is_too_narrow_or_too_deep_is_left_out_and_nothing_overflows() {
        let mut whole = Flame::default();
        let deep = std::iter::repeat_n(("f", "f0"), 10_000);
        whole.add(deep, u64::MAX);
        whole.add([("narrow", "f0")].into_iter(), 1);
        whole.add(std::iter::empty(), u64::MAX);
        let picture = flames(&whole, &samples, 800.0, ("id", "Title"));
        assert_eq!(picture.matches("<rect").count(), ROWS_MAX);
        assert!(!picture.contains("narrow: 1 samples"), "{picture}");
        let none = flames(&Flame::default(), &samples, 800.0, ("id", "Title"));
        assert!(!none.contains("<rect"));
    }
}
