//! Ratios as a forest plot: a dot with the whisker of its interval for each, all on one logarithmic scale with a line at 1.

use crate::axes::{LABEL_SIZE, Plot};
use crate::letters::{lines, text_width, within};
use crate::number::{interval, significant};
use crate::scale::Scale;
use crate::svg::{Anchor, Svg};
use std::iter::once;

const MARGIN: f64 = 4.0;
const ROW_HEIGHT: f64 = 25.0;
/// Where name and value stand over the whisker, a line each.
const NARROW_ROW_HEIGHT: f64 = 56.0;
const LINE_HEIGHT: f64 = 16.0;
/// From this width on, names stand left of the plot and values right of it.
const WIDE_FROM: f64 = 600.0;
/// Of the width, what names may take there.
const NAMES_SHARE: f64 = 0.45;
const AXIS_HEIGHT: f64 = 44.0;
const DOT: f64 = 4.0;
const LABEL_GAP: f64 = 6.0;

/// Rows that are shown at first, on screens and on phones, where each takes more height.
const FIRST_ROWS: usize = 12;
const FIRST_ROWS_NARROW: usize = 5;

/// The caption of such a picture.
pub const HOW_TO_READ: &str = "The largest and surest effects come first, on one logarithmic scale. A whisker is the 95 % interval of the \
                               ratio. A pale dot shows no difference, as where its whisker crosses the line at 1.";

/// One effect.
pub struct Effect {
    /// What is compared with what, and in which figure.
    pub name: String,
    /// Number of its colour and shape.
    pub look: usize,
    /// 1 where nothing changes; positive.
    pub ratio: f64,
    /// Ends of its interval, positive; absent where too little was measured.
    pub ends: Option<(f64, f64)>,
    /// Whether no difference is shown all the same: of many intervals some leave 1 out by chance.
    pub may_be_chance: bool,
}

impl Effect {
    fn value(&self) -> String {
        interval(self.ratio, self.ends)
    }

    /// Whether a difference is shown.
    pub fn is_shown(&self) -> bool {
        !self.may_be_chance && self.ends.is_some_and(|(low, high)| 1.0 < low || high < 1.0)
    }

    fn can_be_drawn(&self) -> bool {
        let is_positive = |value: f64| value.is_finite() && 0.0 < value;
        is_positive(self.ratio) && self.ends.is_none_or(|(low, high)| is_positive(low) && is_positive(high))
    }

    /// How far the end that is nearest to 1 lies from it, where the interval leaves 1 out.
    fn surely(&self) -> f64 {
        self.ends.filter(|_| self.is_shown()).map_or(0.0, |(low, high)| low.ln().abs().min(high.ln().abs()))
    }
}

/// The largest and surest effects first: by the end of the interval that is nearest to 1, then by the ratio. A ratio without a logarithm
/// is left out.
pub fn in_order(mut effects: Vec<Effect>) -> Vec<Effect> {
    effects.retain(Effect::can_be_drawn);
    effects.sort_by(|a, b| {
        let of_ratio = |effect: &Effect| effect.ratio.ln().abs();
        b.surely().total_cmp(&a.surely()).then(of_ratio(b).total_cmp(&of_ratio(a)))
    });
    effects
}

/// Those that have room on the first screen of this width.
pub fn first_screen(effects: &[Effect], width: f64) -> &[Effect] {
    let rows = if WIDE_FROM <= width { FIRST_ROWS } else { FIRST_ROWS_NARROW };
    &effects[..effects.len().min(rows)]
}

/// The picture, in the order given.
pub fn draw(effects: &[Effect], axis_title: &str, width: f64, (id, title): (&str, &str)) -> String {
    let is_wide = WIDE_FROM <= width;
    let room = width - 2.0 * MARGIN;
    let names: Vec<Vec<String>> = effects
        .iter()
        .map(|effect| match is_wide {
            true => vec![within(&effect.name, sides(effects, width, is_wide).0 - 2.0 * MARGIN, LABEL_SIZE)],
            false => lines(&effect.name, (room, room), LABEL_SIZE),
        })
        .collect();
    // Where each row begins, and where the last ends.
    let tops: Vec<f64> = once(0.0)
        .chain(names.iter().scan(0.0, |below, name| {
            let more = (name.len() - 1) as f64 * LINE_HEIGHT;
            *below += if is_wide { ROW_HEIGHT } else { NARROW_ROW_HEIGHT + more };
            Some(*below)
        }))
        .collect();
    let (left, right) = sides(effects, width, is_wide);
    let ticks = ticks(effects);
    let ends = (ticks.first().copied().unwrap_or(0.5), ticks.last().copied().unwrap_or(2.0));
    let scale = Scale::logarithmic(ends, (left, right));
    let height = tops[effects.len()];
    let mut svg = Svg::new(width, height + AXIS_HEIGHT);
    let rows = if is_wide { vec![(2.0, height + 2.0)] } else { behind_whiskers(&tops) };
    for tick in &ticks {
        let class = if *tick == 1.0 { "one" } else { "g" };
        for (above, below) in &rows {
            svg.line((scale.at(*tick), *above), (scale.at(*tick), *below), class);
        }
    }
    let labels = labels(&ticks, &scale, width);
    Plot { left, right, top: 0.0, bottom: height + 2.0 }.x_axis(&mut svg, &labels, axis_title);
    for ((effect, name), top) in effects.iter().zip(&names).zip(&tops) {
        let middle = if is_wide {
            let middle = top + ROW_HEIGHT / 2.0;
            name.iter().for_each(|name| svg.text((MARGIN, middle + 4.0), Anchor::Start, "lab", name));
            svg.text((width - MARGIN, middle + 4.0), Anchor::End, "val", &effect.value());
            middle
        } else {
            let mut top = *top;
            for line in name {
                top += LINE_HEIGHT;
                svg.text((MARGIN, top), Anchor::Start, "lab", line);
            }
            svg.text((MARGIN, top + LINE_HEIGHT), Anchor::Start, "val", &effect.value());
            top + LINE_HEIGHT + 11.0
        };
        mark(&mut svg, &scale, effect, middle);
    }
    let words: Vec<String> = effects.iter().map(said).collect();
    svg.finish(id, title, &words.join(". "))
}

/// Where the grid of a narrow picture is drawn: not through names and values, which stand over the whiskers.
fn behind_whiskers(tops: &[f64]) -> Vec<(f64, f64)> {
    let above = NARROW_ROW_HEIGHT - 2.0 * LINE_HEIGHT - 4.0;
    tops.iter().skip(1).map(|below| (below - above, below + 1.0)).collect()
}

/// Position and text of each tick whose label has room: 1 first, then the ends, then the others.
fn labels(ticks: &[f64], scale: &Scale, width: f64) -> Vec<(f64, String)> {
    let mut order: Vec<f64> =
        [1.0].into_iter().chain(ticks.first().copied()).chain(ticks.last().copied()).collect();
    order.extend(ticks);
    let mut kept: Vec<(f64, String)> = Vec::new();
    for tick in order {
        let label = significant(tick);
        let half = text_width(&label, LABEL_SIZE) / 2.0;
        let at = scale.at(tick).clamp(half, width - half);
        let is_free = |(other, text): &(f64, String)| {
            half + text_width(text, LABEL_SIZE) / 2.0 + LABEL_GAP <= (at - other).abs()
        };
        if kept.iter().all(is_free) {
            kept.push((at, label));
        }
    }
    kept
}

fn said(effect: &Effect) -> String {
    format!("{}: {}", effect.name, effect.value())
}

fn mark(svg: &mut Svg, scale: &Scale, effect: &Effect, y: f64) {
    if let Some((low, high)) = effect.ends {
        svg.whisker_horizontal(y, scale.at(low), scale.at(high), "wh");
    }
    let pale = if effect.is_shown() { "" } else { " pale" };
    let class = format!("s{} bar{pale}", effect.look);
    svg.marker(0, (scale.at(effect.ratio), y), DOT, &class, &said(effect));
}

/// Left and right edge of the plot.
fn sides(effects: &[Effect], width: f64, is_wide: bool) -> (f64, f64) {
    if !is_wide {
        return (MARGIN + 10.0, width - MARGIN - 10.0);
    }
    let widest = |of: fn(&Effect) -> String| {
        effects.iter().map(|effect| text_width(&of(effect), LABEL_SIZE)).fold(0.0, f64::max)
    };
    let names = widest(|effect| effect.name.clone()).min(width * NAMES_SHARE);
    let values = widest(Effect::value);
    (MARGIN + names + 16.0, width - MARGIN - values - 16.0)
}

/// Factors at which a tick may stand; each is about as far from the next as the others.
const STEPS: [f64; 18] =
    [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 1e4, 1e6];
/// Ticks on a side of 1.
const TICKS_MAX: usize = 3;

/// Round factors on each side of 1, as far as something lies there.
fn ticks(effects: &[Effect]) -> Vec<f64> {
    let ends = effects.iter().flat_map(|effect| {
        let (low, high) = effect.ends.unwrap_or((effect.ratio, effect.ratio));
        [low, high, effect.ratio]
    });
    let (low, high) = ends.fold((1.0_f64, 1.0_f64), |(low, high), end| (low.min(end), high.max(end)));
    // The same steps on both sides: equal factors are equal distances.
    let furthest = high.max(1.0 / low);
    let last = STEPS.iter().position(|step| furthest <= *step).unwrap_or(STEPS.len() - 1);
    let steps = &STEPS[(last + 1).saturating_sub(TICKS_MAX)..=last];
    let reaching = |to: f64| {
        let needed = steps.iter().position(|step| to <= *step).unwrap_or(steps.len() - 1);
        steps[..=needed].to_vec()
    };
    let below = reaching(1.0 / low).into_iter().rev().map(|step| 1.0 / step);
    below.chain([1.0]).chain(reaching(high)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(name: &str, ratio: f64, ends: Option<(f64, f64)>) -> Effect {
        Effect { name: name.to_owned(), look: 1, ratio, ends, may_be_chance: false }
    }

    #[test]
    fn the_surest_effect_comes_first_and_what_has_no_logarithm_is_left_out() {
        let effects = vec![
            effect("unsure", 9.0, Some((0.5, 30.0))),
            effect("small", 0.9, Some((0.85, 0.95))),
            effect("large", 2.0, Some((1.5, 2.6))),
            effect("without interval", 1.2, None),
            effect("nothing", 0.0, Some((0.0, 0.0))),
            effect("no number", f64::NAN, None),
        ];
        let chance = Effect { may_be_chance: true, ..effect("one of many", 1.6, Some((1.4, 1.8))) };
        let effects = in_order(effects.into_iter().chain([chance]).collect());
        let names: Vec<&str> = effects.iter().map(|effect| effect.name.as_str()).collect();
        assert_eq!(names, ["large", "small", "unsure", "one of many", "without interval"]);
        assert_eq!(effects.iter().filter(|effect| effect.is_shown()).count(), 2);
    }

    #[test]
    fn ticks_enclose_all_intervals_and_are_round_factors() {
        let of = |ratio, ends| ticks(&[effect("x", ratio, Some(ends))]);
        assert_eq!(of(1.45, (1.43, 1.47)), [1.0 / 1.1, 1.0, 1.1, 1.2, 1.5]);
        assert_eq!(of(0.5, (0.4, 0.6)), [1.0 / 3.0, 0.5, 1.0 / 1.5, 1.0, 1.5]);
        assert_eq!(of(1.001, (1.0, 1.003)), [1.0 / 1.01, 1.0, 1.01]);
        assert_eq!(of(1e9, (1.0, 1e9)).last(), Some(&1e6), "what lies beyond is drawn at the end");
        assert_eq!(ticks(&[]), [1.0 / 1.01, 1.0, 1.01]);
    }

    #[test]
    fn labels_of_ticks_that_have_no_room_are_left_out_and_never_that_of_no_change() {
        let ticks = [0.02, 0.05, 0.1, 1.0, 10.0];
        let kept = |width: f64| -> Vec<String> {
            let scale = Scale::logarithmic((0.02, 10.0), (14.0, width - 14.0));
            labels(&ticks, &scale, width).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(kept(960.0), ["1.00", "0.0200", "10.0", "0.0500", "0.100"]);
        assert_eq!(kept(200.0), ["1.00", "0.0200", "10.0"]);
    }

    #[test]
    fn names_and_values_are_text_in_any_width() {
        for width in [370.0, 1150.0] {
            let svg = draw(&[effect("<a>", 2.0, Some((1.5, 2.5)))], "ratio", width, ("id", "Title"));
            assert!(svg.contains("&lt;a&gt;") || svg.contains("&#60;a&#62;"), "{svg}");
            assert!(svg.contains("class=\"one\"") && svg.contains("class=\"wh\""), "{svg}");
            assert!(!svg.contains("NaN"), "{svg}");
        }
        assert!(!draw(&[], "ratio", 370.0, ("id", "Title")).contains("NaN"));
    }
}
