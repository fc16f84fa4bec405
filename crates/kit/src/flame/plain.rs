//! One profile.

use super::view::view;
use super::{FRAMES_MAX, Frame, Weight};
use crate::number::{count, percent};

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
        for (name, class) in stack.take(FRAMES_MAX) {
            let found = at.calls.iter().position(|call| call.name == name && call.class == class);
            let index = found.unwrap_or_else(|| {
                at.calls.push(Flame { name: name.to_owned(), class: class.to_owned(), ..Flame::default() });
                at.calls.len() - 1
            });
            at = &mut at.calls[index];
            at.weight = at.weight.saturating_add(weight);
        }
    }

    fn frame(&self, whole: u64, unit: Weight) -> Frame {
        Frame {
            name: self.name.clone(),
            class: self.class.clone(),
            sign: "",
            weights: vec![self.weight as f64],
            tip: format!(
                "{}: {}, {}",
                self.name,
                unit.words(self.weight as f64),
                percent(self.weight, whole)
            ),
            calls: Frame::sorted(self.calls.iter().map(|call| call.frame(whole, unit)).collect()),
        }
    }
}

/// The graph of all that `whole` called, as HTML: both drawings, and the stacks for the script.
pub fn flames(whole: &Flame, unit: Weight, (id, title): (&str, &str)) -> String {
    let frame = whole.frame(whole.weight, unit);
    let merged = |number: usize, size: f64| {
        let all = whole.weight;
        format!(
            "{} narrower frames: {}, {}",
            count(number as u64),
            unit.words(size),
            percent(size as u64, all)
        )
    };
    view(&frame, unit, &merged, (id, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLES: Weight = Weight::Count("sample", "samples");

    fn picture(whole: &Flame) -> String {
        let all = flames(whole, SAMPLES, ("id", "Title"));
        all[..all.find("<div class=\"map-narrow\"").expect("two drawings")].to_owned()
    }

    #[test]
    fn stacks_that_begin_alike_share_their_callers() {
        let mut whole = Flame::default();
        whole.add([("a", "f0"), ("b", "f1")].into_iter(), 3);
        whole.add([("a", "f0"), ("c", "f1")].into_iter(), 1);
        whole.add([("z", "f0")].into_iter(), 4);
        assert_eq!((whole.weight, whole.calls.len(), whole.calls[0].weight), (8, 2, 4));
        let picture = picture(&whole);
        assert!(picture.contains("b: 3 samples, 37.5 %") && picture.contains("z: 4 samples"), "{picture}");
        assert!(picture.contains("viewBox=\"0 0 960 36\""), "{picture}");
    }

    #[test]
    fn the_page_carries_the_stacks_and_none_of_their_names_is_markup() {
        let mut whole = Flame::default();
        whole.add([("</template><script>", "f0"), ("a.b.Cart.total", "f1")].into_iter(), 3);
        whole.add([("a.b.Cart.total", "f1")].into_iter(), 5);
        let all = flames(&whole, SAMPLES, ("id", "Title"));
        let carried = all.split("<template>").nth(1).and_then(|rest| rest.split("</template>").next());
        let data: serde_json::Value = serde_json::from_str(carried.expect("stacks")).expect("JSON");
        assert_eq!(data["unit"], serde_json::json!(["count", "sample", "samples"]));
        let names = serde_json::json!([
            ["", "", ""],
            ["a.b.Cart.total", "Cart.total", "f1"],
            ["</template><script>", "</template><script>", "f0"]
        ]);
        assert_eq!(data["names"], names);
        assert_eq!(data["tree"], serde_json::json!([0, 8, [1, 5], [2, 3, [1, 3]]]));
        assert!(!all.contains("<script"));
    }

    #[test]
    fn frames_below_a_pixel_are_merged_and_named_as_such() {
        let mut whole = Flame::default();
        whole.add([("wide", "f0")].into_iter(), 10_000);
        for name in ["a", "b", "c", "d"] {
            whole.add([(name, "f0")].into_iter(), 5);
        }
        let picture = picture(&whole);
        assert!(picture.contains("<title>4 narrower frames: 20 samples, 0.20 %</title>"), "{picture}");
        assert!(!picture.contains("<title>a: "), "{picture}");
    }

    #[test]
    fn what_is_too_deep_is_left_out_of_the_first_view_and_nothing_overflows() {
        let mut whole = Flame::default();
        whole.add(std::iter::repeat_n(("f", "f0"), 10_000), u64::MAX);
        whole.add([("narrow", "f0")].into_iter(), 1);
        whole.add(std::iter::empty(), u64::MAX);
        let drawn = picture(&whole);
        assert_eq!(drawn.matches("<rect").count(), 24);
        assert!(!drawn.contains("narrow: 1 samples"), "{drawn}");
        assert!(!picture(&Flame::default()).contains("<rect"));
    }
}
