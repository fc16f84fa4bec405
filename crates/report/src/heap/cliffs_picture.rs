//! Modes over heap sizes on a logarithmic axis: a bar for each JVM, alignment, and collectors that agree.

use super::mode_words::{Cliffs, cliffs, mode_class, mode_of, short};
use assay_kit::axes::LABEL_SIZE;
use assay_kit::ink::wrap;
use assay_kit::number::xmx;
use assay_kit::scale::Scale;
use assay_kit::svg::{Anchor, Svg, chars_that_fit, text_width};
use assay_kit::text::clean;
use assay_model::{HeapModes, ReferenceMode};

const LINE: f64 = 16.0;
const BAR: f64 = 18.0;
const GAP: f64 = 14.0;
const AXIS: f64 = 42.0;
/// A bar shorter than this has no room for its mode's name.
const NAME_FROM: f64 = 60.0;
/// Lanes drawn.
const LANES_MAX: usize = 30;

/// One bar: its lines of text above, and its stretches with their ends.
struct Lane {
    above: Vec<String>,
    below: Vec<String>,
    stretches: Vec<(ReferenceMode, u64, u64)>,
}

impl Lane {
    fn height(&self) -> f64 {
        (self.above.len() + self.below.len()) as f64 * LINE + BAR + GAP
    }
}

/// The drawing in the width given.
pub fn draw(modes: &HeapModes, width: f64, id: &str) -> String {
    let all = cliffs(modes);
    let largest = all
        .iter()
        .flat_map(|c| c.steps.iter().map(|s| s.1))
        .chain(modes.cells.iter().map(|c| c.max_heap_bytes));
    let high = largest
        .clone()
        .max()
        .unwrap_or(1 << 36)
        .clamp(1 << 20, 1 << 50)
        .saturating_mul(2)
        .next_power_of_two()
        / 2;
    let low = largest.min().unwrap_or(1 << 30).clamp(1 << 20, 1 << 50);
    let low = (low.next_power_of_two() / 4).max(1 << 20).min(high / 4);
    let x = Scale::logarithmic((low as f64, high as f64), (4.0, width - 4.0));
    let chars = chars_that_fit(width - 6.0, LABEL_SIZE);
    let lanes: Vec<Lane> = all.iter().take(LANES_MAX).map(|c| lane(modes, c, (low, high), chars)).collect();
    let bottom: f64 = lanes.iter().map(Lane::height).sum::<f64>() + 4.0;
    let mut svg = Svg::new(width, bottom + AXIS);
    axis(&mut svg, &x, (low, high), bottom, width);
    let mut top = 4.0;
    for lane in &lanes {
        for line in &lane.above {
            svg.text((4.0, top + 12.0), Anchor::Start, "lab head-name", line);
            top += LINE;
        }
        for (mode, from, to) in &lane.stretches {
            let (left, right) = (x.at(*from as f64), x.at(*to as f64));
            let tip = format!("{}: up to -Xmx{}", mode.name(), xmx(*to));
            let class = format!("{} area", mode_class(*mode));
            svg.rect((left, top), ((right - left).max(1.0), BAR), &class, &tip);
            if right - left >= NAME_FROM.max(text_width(short(*mode), LABEL_SIZE)) {
                svg.text(((left + right) / 2.0, top + 13.0), Anchor::Middle, "lab", short(*mode));
            }
        }
        top += BAR;
        for line in &lane.below {
            svg.text((4.0, top + 13.0), Anchor::Start, "t lab", line);
            top += LINE;
        }
        top += GAP;
    }
    let words: Vec<String> =
        lanes.iter().map(|l| format!("{} {}", l.above.join(" "), l.below.join(" "))).collect();
    svg.finish(id, "Reference mode by heap size", &words.join(". "))
}

fn lane(modes: &HeapModes, cliff: &Cliffs, (low, high): (u64, u64), chars: usize) -> Lane {
    let alignment = if cliff.alignment_bytes == 8 {
        String::new()
    } else {
        format!(", alignment {}", cliff.alignment_bytes)
    };
    let jdk = modes.cells.iter().find(|c| c.java == cliff.java).map(|c| format!("JDK {}, ", c.jdk));
    let name =
        format!("{}{}{alignment}: {}", jdk.unwrap_or_default(), clean(&cliff.collectors), clean(&cliff.java));
    let mut stretches = Vec::new();
    let mut from = low;
    for (mode, largest, _) in &cliff.steps {
        if *largest > from {
            stretches.push((*mode, from, (*largest).min(high)));
            from = *largest;
        }
    }
    if let Some(mode) = mode_beyond(modes, cliff, from) {
        stretches.push((mode, from, high));
    }
    let told = |(mode, largest, verified): &(ReferenceMode, u64, bool)| {
        format!("{} up to {}{}", short(*mode), xmx(*largest), if *verified { " ✓" } else { "" })
    };
    let below = cliff.steps.iter().map(told).collect::<Vec<_>>().join("; ");
    Lane { above: wrap(&name, chars), below: wrap(&below, chars), stretches }
}

/// The mode behind the last cliff, if cells show one.
fn mode_beyond(modes: &HeapModes, cliff: &Cliffs, last: u64) -> Option<ReferenceMode> {
    let collectors: Vec<&str> = cliff.collectors.split(", ").collect();
    let wanted = format!("-XX:ObjectAlignmentInBytes={}", cliff.alignment_bytes);
    let is_aligned = |options: &[String]| match cliff.alignment_bytes {
        8 => !options.iter().any(|o| o.starts_with("-XX:ObjectAlignmentInBytes=")),
        _ => options.contains(&wanted),
    };
    let of_lane = modes.cells.iter().filter(|c| {
        c.java == cliff.java
            && collectors.contains(&c.collector.as_str())
            && c.max_heap_bytes > last
            && is_aligned(&c.options)
    });
    of_lane.min_by_key(|c| c.max_heap_bytes).and_then(mode_of)
}

fn axis(svg: &mut Svg, x: &Scale, (low, high): (u64, u64), bottom: f64, width: f64) {
    svg.line((4.0, bottom), (width - 4.0, bottom), "ax");
    let octaves = (high.ilog2() - low.ilog2()).max(1);
    let step = (f64::from(octaves) * 44.0 / width).ceil().max(1.0) as usize;
    for power in (low.ilog2()..=high.ilog2()).rev() {
        let at = x.at((1u64 << power) as f64);
        svg.line((at, 4.0), (at, bottom), "g");
        if ((high.ilog2() - power) as usize).is_multiple_of(step) {
            let label = xmx(1 << power);
            let half = text_width(&label, LABEL_SIZE) / 2.0 + 3.0;
            svg.line((at, bottom), (at, bottom + 4.0), "ax");
            svg.text((at.clamp(half, width - half), bottom + 17.0), Anchor::Middle, "t", &label);
        }
    }
    svg.text((width / 2.0, bottom + 34.0), Anchor::Middle, "at", "-Xmx, logarithmic");
}
