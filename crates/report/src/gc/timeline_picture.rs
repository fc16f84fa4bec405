//! The heap and the pauses over one axis of time.

use assay_kit::axes::Plot;
use assay_kit::number::{MIB, significant, tick};
use assay_kit::scale::{Scale, runs, runs_of_clusters};
use assay_kit::svg::Svg;
use assay_kit::text::clean;
use assay_kit::time_axis::{Clock, TimeAxis};
use assay_model::{GcCollection, GcPoint, GcReport, GcSeries};
use std::collections::BTreeMap;

const HEAP_HEIGHT: f64 = 140.0;
const PAUSES_HEIGHT: f64 = 110.0;
const TOP: f64 = 30.0;
/// Between the two rectangles: the title of the lower one.
const BETWEEN: f64 = 34.0;
const LEFT: f64 = 66.0;
/// Intervals of time that a picture shows apart.
const POINTS_WIDE: usize = 440;
const POINTS_NARROW: usize = 130;
/// Lengths beyond these ends, ms, are drawn there.
const TIMES: (f64, f64) = (1e-3, 1e6);

/// Kinds of pauses, each with its look: colour and shape. A kind that this version does not know has the last one.
pub const KINDS: [(&str, &str, usize); 6] = [
    ("young", "young", 0),
    ("mixed", "mixed", 2),
    ("old", "old generation", 4),
    ("whole", "whole heap, in a concurrent cycle", 6),
    ("full", "full", 7),
    ("", "other", 5),
];

/// Look of a kind of pause.
pub fn look(kind: &str) -> usize {
    KINDS.iter().find(|(name, ..)| *name == kind).map_or(5, |(_, _, look)| *look)
}

/// Which kinds occur, in the order of [`KINDS`].
pub fn occurring(series: &GcSeries) -> Vec<(&'static str, usize)> {
    let has = |look_of: usize| series.points.iter().any(|p| p.pauses.keys().any(|k| look(k) == look_of));
    KINDS.iter().filter(|(_, _, look)| has(*look)).map(|(_, name, look)| (*name, *look)).collect()
}

/// Collections that a picture has the pixels to show one by one.
const COLLECTIONS_WIDE: usize = 1_000;
const COLLECTIONS_NARROW: usize = 290;

/// Whether the picture of this width shows collections one by one, and not intervals of time.
fn shows_each(series: &GcSeries, is_narrow: bool) -> bool {
    let most = if is_narrow { COLLECTIONS_NARROW } else { COLLECTIONS_WIDE };
    (1..=most).contains(&series.collections.len())
}

/// How the pictures are to be read.
pub fn caption(series: &GcSeries) -> String {
    const EACH: &str = "Every collection is drawn at its end. The chart shows the heap in use before and \
        after it, the capacity, and the pause on a logarithmic axis.";
    const JOINED: &str = "For each the chart shows the fullest heap before and the emptiest after a \
        collection, and the capacity. The longest pause of each kind is on a logarithmic axis.";
    match [true, false].map(|is_narrow| shows_each(series, is_narrow)) {
        [true, _] => EACH.to_owned(),
        [false, true] => format!(
            "{EACH} A narrow screen has no room for all: it divides time into equal intervals. {JOINED}"
        ),
        _ => format!("Time is divided into equal intervals. {JOINED}"),
    }
}

/// The data of the picture: the axis of time, and points: collections one by one, or intervals, joined until they are few enough.
struct Drawn<'r> {
    report: &'r GcReport,
    end_s: f64,
    time: TimeAxis,
    /// Length of an interval; 0 where collections are drawn one by one.
    bucket_s: f64,
    points: Vec<GcPoint>,
}

/// A collection as a point of its own.
fn alone(one: &GcCollection) -> GcPoint {
    let pause = one.pause.iter().map(|(scope, ms)| (scope.clone(), (1, *ms, *ms)));
    GcPoint {
        at_s: one.at_s,
        before_bytes_max: one.before_bytes,
        after_bytes_min: one.after_bytes,
        capacity_bytes: one.capacity_bytes,
        longest_at: one.pause.iter().zip(one.at).map(|((scope, _), at)| (scope.clone(), at)).collect(),
        pauses: pause.collect(),
        stalled_ms: one.stalled_ms.unwrap_or(0.0),
        is_start: one.is_start,
    }
}

impl<'r> Drawn<'r> {
    fn of(report: &'r GcReport, is_narrow: bool) -> Option<Self> {
        let series = &report.series;
        let usable = |p: &&GcPoint| p.at_s.is_finite() && (0.0..1e12).contains(&p.at_s);
        let last_s = series.points.iter().filter(usable).map(|p| p.at_s).fold(f64::NAN, f64::max);
        let bucket_s =
            if series.bucket_s.is_finite() && series.bucket_s > 0.0 { series.bucket_s } else { 1.0 };
        if !last_s.is_finite() {
            return None;
        }
        let end_s = last_s + bucket_s;
        let (bucket_s, points) = if shows_each(series, is_narrow) {
            let mut each: Vec<GcPoint> =
                series.collections.iter().map(alone).filter(|p| usable(&p)).collect();
            each.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            (0.0, each)
        } else {
            let points = if is_narrow { POINTS_NARROW } else { POINTS_WIDE };
            let wide_s = bucket_s * (end_s / bucket_s / points as f64).ceil().max(1.0);
            (wide_s, joined(series.points.iter().filter(usable), wide_s))
        };
        let clocks = series.clocks.iter().map(|of| Clock { at_ns: of.at_ns, unix_ns: of.unix_ns });
        let time = TimeAxis::new(end_s).with_clocks(clocks);
        Some(Drawn { report, end_s, time, bucket_s, points })
    }

    fn is_each(&self) -> bool {
        self.bucket_s == 0.0
    }

    /// The points of the heap's lines, in parts in which the log is not silent for long and has one JVM: its heap does not become the
    /// next one's. A stop within a concurrent cycle lies anywhere between two collections, and frees next to nothing: of single points it is
    /// left out, unless the log has nothing else.
    fn of_heap(&self) -> Vec<Vec<GcPoint>> {
        let is_stop = |p: &GcPoint| !p.pauses.is_empty() && p.pauses.keys().all(|kind| kind == "old");
        let has_heap = |p: &GcPoint| p.before_bytes_max.or(p.after_bytes_min).or(p.capacity_bytes).is_some();
        let has_others = self.points.iter().any(|p| has_heap(p) && !is_stop(p));
        let mut kept: Vec<GcPoint> = Vec::new();
        let mut is_start = false;
        for point in &self.points {
            is_start |= point.is_start;
            if !self.is_each() || (has_heap(point) && !(has_others && is_stop(point))) {
                kept.push(GcPoint { is_start: std::mem::take(&mut is_start), ..point.clone() });
            }
        }
        let positions: Vec<f64> = kept.iter().map(|point| point.at_s).collect();
        let known = if self.is_each() { runs_of_clusters } else { runs };
        let of_jvm = |range: std::ops::Range<usize>| {
            let split = kept[range].chunk_by(|_, next| !next.is_start).map(<[GcPoint]>::to_vec);
            split.collect::<Vec<_>>()
        };
        known(&positions).into_iter().flat_map(of_jvm).collect()
    }

    /// Where a pause stands in the log: `, gc.log:1234`; empty where that is not known.
    fn place(&self, at: Option<&(usize, u64)>) -> String {
        let named = |(source, line): &(usize, u64)| {
            Some(format!(", {}:{line}", clean(&self.report.sources.get(*source)?.name)))
        };
        at.and_then(named).unwrap_or_default()
    }
}

/// Points in intervals of this length.
fn joined<'s>(points: impl Iterator<Item = &'s GcPoint>, length_s: f64) -> Vec<GcPoint> {
    let mut joined: BTreeMap<u64, GcPoint> = BTreeMap::new();
    for point in points {
        let index = (point.at_s / length_s + 1e-9) as u64;
        join(joined.entry(index).or_default(), point, index as f64 * length_s);
    }
    joined.into_values().collect()
}

fn join(into: &mut GcPoint, point: &GcPoint, at_s: f64) {
    into.at_s = at_s;
    into.before_bytes_max = into.before_bytes_max.max(point.before_bytes_max);
    into.after_bytes_min = match (into.after_bytes_min, point.after_bytes_min) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    into.capacity_bytes = point.capacity_bytes.or(into.capacity_bytes);
    for (kind, (count, total_ms, max_ms)) in &point.pauses {
        let sum = into.pauses.entry(kind.clone()).or_default();
        if let Some(at) = point.longest_at.get(kind).filter(|_| sum.2 < *max_ms || sum.0 == 0) {
            into.longest_at.insert(kind.clone(), *at);
        }
        *sum = (sum.0.saturating_add(*count), sum.1 + total_ms, sum.2.max(*max_ms));
    }
    into.stalled_ms += point.stalled_ms;
    into.is_start |= point.is_start;
}

/// The picture, for screens or phones; absent where the log has no times.
pub fn draw(report: &GcReport, width: f64, id: &str) -> Option<String> {
    let narrow = width < 600.0;
    let drawn = Drawn::of(report, narrow)?;
    let right = width - 16.0;
    let heap = Plot { left: LEFT, right, top: TOP, bottom: TOP + HEAP_HEIGHT };
    let pauses = Plot { top: heap.bottom + BETWEEN, bottom: heap.bottom + BETWEEN + PAUSES_HEIGHT, ..heap };
    let mut svg = Svg::new(width, pauses.bottom + drawn.time.below());
    let x = drawn.time.scale(&heap);
    draw_heap(&mut svg, &drawn, &heap, &x);
    draw_pauses(&mut svg, &drawn, &pauses, &x);
    svg.line((heap.left, heap.bottom), (heap.right, heap.bottom), "ax");
    drawn.time.draw(&mut svg, &pauses, (if narrow { 4 } else { 10 }, width), "time since the first line");
    Some(svg.finish(id, "Heap and pauses over time", &description(&drawn)))
}

fn at_s(drawn: &Drawn, point: &GcPoint) -> f64 {
    drawn.time.of_s((point.at_s + drawn.bucket_s / 2.0).min(drawn.end_s))
}

/// Where a JVM begins, but for the first.
fn draw_starts(svg: &mut Svg, drawn: &Drawn, x: &Scale, plot: &Plot) {
    for point in drawn.points.iter().filter(|p| p.is_start && p.at_s > 0.0) {
        let at = x.at(drawn.time.of_s(point.at_s));
        svg.line((at, plot.top), (at, plot.bottom), "step start");
    }
}

fn draw_heap(svg: &mut Svg, drawn: &Drawn, plot: &Plot, x: &Scale) {
    let sizes =
        |p: &GcPoint| [p.before_bytes_max, p.after_bytes_min, p.capacity_bytes].into_iter().flatten().max();
    let highest = drawn.points.iter().filter_map(sizes).max().unwrap_or(0) as f64 / MIB;
    let y = plot.y_from_zero(svg, highest, 4, "heap (MiB)");
    plot.timed(svg, &drawn.time, &y, "MiB", |svg| {
        for points in drawn.of_heap() {
            let place = |p: &GcPoint, bytes: u64| (x.at(at_s(drawn, p)), y.at(bytes as f64 / MIB));
            draw_run(svg, &points, drawn, place);
        }
        draw_starts(svg, drawn, x, plot);
    });
}

/// Points between which the log is not silent for long.
fn draw_run(svg: &mut Svg, points: &[GcPoint], drawn: &Drawn, place: impl Fn(&GcPoint, u64) -> (f64, f64)) {
    let line = |of: fn(&GcPoint) -> Option<u64>| -> Vec<(f64, f64)> {
        points.iter().filter_map(|p| Some(place(p, of(p)?))).collect()
    };
    let upper = line(|p| p.before_bytes_max.filter(|_| p.after_bytes_min.is_some()));
    let lower = line(|p| p.after_bytes_min.filter(|_| p.before_bytes_max.is_some()));
    let around: Vec<(f64, f64)> = upper.iter().copied().chain(lower.iter().rev().copied()).collect();
    if upper.len() > 1 {
        svg.polyline(&around, "s0 band", "between the heap before and after collections");
    }
    let [before, after] = match drawn.is_each() {
        true => ["in use before a collection", "in use after a collection"],
        false => ["in use before a collection, the largest", "in use after a collection, the smallest"],
    };
    for (points, class, name) in [
        (line(|p| p.capacity_bytes), "s5 ln d1 capacity", "capacity"),
        (line(|p| p.before_bytes_max), "s0 thin before", before),
        (line(|p| p.after_bytes_min), "s2 ln after", after),
    ] {
        if points.len() > 1 {
            svg.polyline(&points, class, name);
        } else if let Some(only) = points.first() {
            svg.marker(0, *only, 3.0, &class.replace(" ln", " mk").replace(" thin", " mk"), name);
        }
    }
}

fn draw_pauses(svg: &mut Svg, drawn: &Drawn, plot: &Plot, x: &Scale) {
    let lengths = drawn.points.iter().flat_map(|p| p.pauses.values().map(|(_, _, max_ms)| *max_ms));
    let lengths = lengths.filter(|ms| ms.is_finite() && *ms > 0.0).map(|ms| ms.clamp(TIMES.0, TIMES.1));
    let title = if drawn.is_each() { "pause (ms)" } else { "longest pause of each kind (ms)" };
    let y = plot.y_logarithmic(svg, lengths, title);
    plot.timed(svg, &drawn.time, &y, "ms", |svg| {
        draw_stalls(svg, drawn, plot, x);
        draw_starts(svg, drawn, x, plot);
        // The rarest kinds last, so that nothing hides them.
        for (_, name, look_of) in KINDS {
            for point in &drawn.points {
                let of_kind = point.pauses.iter().filter(|(kind, _)| look(kind) == look_of);
                for (scope, lengths) in of_kind {
                    let kind = if scope.is_empty() { name } else { scope.as_str() };
                    draw_pause(svg, drawn, (x, &y), (scope.as_str(), kind, look_of), (point, *lengths));
                }
            }
        }
    });
}

fn draw_stalls(svg: &mut Svg, drawn: &Drawn, plot: &Plot, x: &Scale) {
    for point in drawn.points.iter().filter(|p| p.stalled_ms > 0.0) {
        let at = x.at(at_s(drawn, point));
        let tip = format!("threads waited {} ms for memory", significant(point.stalled_ms));
        svg.rect((at - 1.0, plot.top), (2.0, plot.bottom - plot.top), "s1 band stall", &tip);
    }
}

/// The longest pause of a kind in a point's time.
fn draw_pause(
    svg: &mut Svg,
    drawn: &Drawn,
    (x, y): (&Scale, &Scale),
    (scope, kind, look): (&str, &str, usize),
    (point, (count, total_ms, max_ms)): (&GcPoint, (u64, f64, f64)),
) {
    if !max_ms.is_finite() || max_ms <= 0.0 {
        return;
    }
    let at = at_s(drawn, point);
    let (time, longest) = (format!("{} {}", tick(at), drawn.time.unit()), significant(max_ms));
    let place = drawn.place(point.longest_at.get(scope));
    let tip = match drawn.is_each() {
        true => format!("{kind}, at {time}: {longest} ms{place}"),
        false => format!(
            "{kind}, around {time}: {count}, {} ms in all, the longest {longest} ms{place}",
            significant(total_ms)
        ),
    };
    svg.marker(look, (x.at(at), y.at(max_ms)), 3.2, &format!("s{look} mk pause"), &tip);
}

fn description(drawn: &Drawn) -> String {
    let longest = drawn.points.iter().flat_map(|p| p.pauses.values()).map(|p| p.2).fold(0.0, f64::max);
    let (end, unit) = (tick(drawn.time.end()), drawn.time.unit());
    format!("Over {end} {unit}. The longest pause took {} ms", significant(longest))
}
