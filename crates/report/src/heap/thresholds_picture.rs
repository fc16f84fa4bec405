//! Modes over heap sizes on a logarithmic axis: a bar for each JVM, alignment, and collectors that agree.

use super::mode_words::{Thresholds, mode_class, mode_of, short, thresholds};
use assay_kit::axes::LABEL_SIZE;
use assay_kit::ink::wrap;
use assay_kit::lanes::{self, Lane, LaneSegment};
use assay_kit::number::xmx;
use assay_kit::svg::chars_that_fit;
use assay_kit::text::clean;
use assay_model::{HeapModes, ReferenceMode};

/// Lanes drawn; a phone has less room, and the table has all.
const LANES_MAX: usize = 30;
const LANES_NARROW: usize = 3;
const NARROW: f64 = 500.0;

/// The drawing in the width given.
pub fn draw(modes: &HeapModes, width: f64, id: &str) -> String {
    let all = thresholds(modes);
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
    let chars = chars_that_fit(width - 6.0, LABEL_SIZE);
    let lanes_max = if width < NARROW { LANES_NARROW } else { LANES_MAX };
    let lanes: Vec<Lane> = all.iter().take(lanes_max).map(|c| lane(modes, c, (low, high), chars)).collect();
    lanes::draw(&lanes, (low, high), width, (id, "Reference mode by heap size", "-Xmx, logarithmic"))
}

fn lane(modes: &HeapModes, threshold: &Thresholds, (low, high): (u64, u64), chars: usize) -> Lane {
    let alignment = if threshold.alignment_bytes == 8 {
        String::new()
    } else {
        format!(", alignment {}", threshold.alignment_bytes)
    };
    let jdk = modes.cells.iter().find(|c| c.java == threshold.java).map(|c| format!("JDK {}, ", c.jdk));
    let name = format!(
        "{}{}{alignment}: {}",
        jdk.unwrap_or_default(),
        clean(&threshold.collectors.join(", ")),
        clean(&threshold.java)
    );
    let mut segments = Vec::new();
    let mut from = low;
    for (mode, largest, _) in &threshold.steps {
        if *largest > from {
            segments.push(segment(*mode, from, (*largest).min(high)));
            from = *largest;
        }
    }
    if let Some(mode) = mode_beyond(modes, threshold, from) {
        segments.push(segment(mode, from, high));
    }
    let told = |(mode, largest, verified): &(ReferenceMode, u64, bool)| {
        format!("{} up to {}{}", short(*mode), xmx(*largest), if *verified { " ✓" } else { "" })
    };
    let below = threshold.steps.iter().map(told).collect::<Vec<_>>().join("; ");
    Lane { above: wrap(&name, chars), below: wrap(&below, chars), segments }
}

fn segment(mode: ReferenceMode, from: u64, to: u64) -> LaneSegment {
    let tip = format!("{}: up to -Xmx{}", mode.name(), xmx(to));
    LaneSegment { class: mode_class(mode), name: short(mode), tip, from, to }
}

/// The mode behind the last threshold, if cells show one.
fn mode_beyond(modes: &HeapModes, threshold: &Thresholds, last: u64) -> Option<ReferenceMode> {
    let wanted = format!("-XX:ObjectAlignmentInBytes={}", threshold.alignment_bytes);
    let is_aligned = |options: &[String]| match threshold.alignment_bytes {
        8 => !options.iter().any(|o| o.starts_with("-XX:ObjectAlignmentInBytes=")),
        _ => options.contains(&wanted),
    };
    let of_lane = modes.cells.iter().filter(|c| {
        c.java == threshold.java
            && threshold.collectors.contains(&c.collector)
            && c.max_heap_bytes > last
            && is_aligned(&c.options)
    });
    of_lane.min_by_key(|c| c.max_heap_bytes).and_then(mode_of)
}
