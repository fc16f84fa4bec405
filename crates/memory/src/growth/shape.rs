//! The course of one figure over time: whether it grows on, has levelled off, rises and falls, or is too short to tell.

use assay_model::Estimate;
use assay_stats::{POINTS_FOR_TREND, PairSlopes, TrendPoint, trend};

/// A fall by this part of all that a figure ranges over gives back what was used; smaller ones are noise.
const FALL_SHARE: f64 = 0.3;
/// Growth of less than this part of the range, over the later half or over the end, is over.
const OVER_SHARE: f64 = 0.1;
/// The end: one part in so many, and no fewer points than a trend needs.
const END_PART: usize = 4;
/// Growth of which the later half is below this part of the earlier half is about to end, or not: nobody can tell yet.
const SLOWING_SHARE: f64 = 0.7;
/// The last steps, one part in so many, must go on at a part of the whole rate.
const TAIL_PART: usize = 6;
const TAIL_SHARE: f64 = 0.25;
/// The rate must explain this part of what came since it began.
const EXPLAINED_SHARE: f64 = 0.5;
/// What would not grow by as much as matters in this time, nor in as long as the record, has levelled off: a longer record is no use.
const AHEAD_S_MIN: f64 = 3600.0;
/// A rise at the end by this part of what matters may be the beginning of more.
const BEGINS_SHARE: f64 = 0.25;
/// How far a point may lie off the line of what grows now, as a part of the range, and still belong to it.
const OFF_LINE_SHARE: f64 = 0.15;

/// A figure at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    /// Seconds since the first snapshot.
    pub at_s: f64,
    pub bytes: f64,
}

/// The course of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// It never changed by as much as matters.
    Still,
    /// It grew, and does not grow any more, or it shrank.
    LevelledOff,
    /// It rises so slowly that it would not matter even in as long as the record, or in an hour.
    RisesSlowly { bytes_per_s: f64 },
    /// It rises and falls, and its lows do not rise.
    RisesAndFalls { falls: usize },
    /// It grows on, by a rate whose interval is above zero, since the point of this number.
    Grows { bytes_per_s: Estimate, since: usize },
    /// It is larger than at the beginning, and nobody can tell yet whether it grows on.
    Open,
}

/// Judges the points of one figure, in the order of time; changes below `matters_bytes` are none.
pub(super) fn shape_of(points: &[Point], matters_bytes: f64) -> Shape {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Shape::Still };
    let range = range(points);
    if range < matters_bytes {
        return Shape::Still;
    }
    let lows = lows(points, matters_bytes.max(FALL_SHARE * range));
    if 1 < lows.len() {
        return of_lows(points, &lows, matters_bytes);
    }
    if last.bytes - first.bytes < matters_bytes {
        return Shape::LevelledOff;
    }
    of_rise(points, matters_bytes)
}

fn range(points: &[Point]) -> f64 {
    let most = points.iter().map(|point| point.bytes).fold(f64::NEG_INFINITY, f64::max);
    let least = points.iter().map(|point| point.bytes).fold(f64::INFINITY, f64::min);
    most - least
}

/// The first point, and the lowest after each fall: of two falls, between them.
fn lows(points: &[Point], fall_bytes: f64) -> Vec<usize> {
    let mut lows: Vec<usize> = points.first().map(|_| 0).into_iter().collect();
    let (mut high, mut low) = (0, None::<usize>);
    for (index, point) in points.iter().enumerate() {
        match low {
            // Rising, or on the way down.
            None if points[high].bytes <= point.bytes => high = index,
            None if fall_bytes <= points[high].bytes - point.bytes => low = Some(index),
            None => {}
            Some(lowest) if point.bytes <= points[lowest].bytes => low = Some(index),
            Some(lowest) if fall_bytes <= point.bytes - points[lowest].bytes => {
                lows.push(lowest);
                (high, low) = (index, None);
            }
            Some(_) => {}
        }
    }
    lows.extend(low);
    lows
}

/// A figure that fell: what is left after falls is what counts.
fn of_lows(points: &[Point], lows: &[usize], matters_bytes: f64) -> Shape {
    let falls = lows.len() - 1;
    let rises = |from: usize| {
        let most = points[from..].iter().map(|point| point.bytes).fold(f64::NEG_INFINITY, f64::max);
        matters_bytes <= most - points[from].bytes
    };
    if !rises(0) && !rises(lows[1]) {
        return Shape::LevelledOff;
    }
    let at: Vec<Point> = lows.iter().map(|index| points[*index]).collect();
    let rise = at[at.len() - 1].bytes - at[0].bytes;
    if rise < matters_bytes {
        return Shape::RisesAndFalls { falls };
    }
    // The first one was not after a fall: it is what warm-up began with.
    match of_rise(&at[1..], matters_bytes) {
        Shape::Grows { bytes_per_s, since } if are_apart(&at[1..]) => {
            Shape::Grows { bytes_per_s, since: lows[since + 1] }
        }
        Shape::Grows { .. } | Shape::Open => Shape::Open,
        _ if POINTS_FOR_TREND < lows.len() => Shape::RisesAndFalls { falls },
        _ => Shape::Open,
    }
}

/// Whether all later lows lie above all earlier ones. Of a figure that only becomes more uneven some lows rise by chance, too.
fn are_apart(lows: &[Point]) -> bool {
    let (early, late) = lows.split_at(lows.len() / 2);
    let bytes = |points: &[Point]| points.iter().map(|point| point.bytes).collect::<Vec<f64>>();
    bytes(early).into_iter().fold(f64::NEG_INFINITY, f64::max)
        <= bytes(late).into_iter().fold(f64::INFINITY, f64::min)
}

/// A figure that rose and did not fall.
fn of_rise(points: &[Point], matters_bytes: f64) -> Shape {
    if points.len() < POINTS_FOR_TREND {
        return Shape::Open;
    }
    let over_bytes = matters_bytes.min(OVER_SHARE * range(points));
    let end = &points[points.len() - POINTS_FOR_TREND.max(points.len() / END_PART)..];
    let late = &points[points.len() / 2..];
    let late_slope = median_slope(late);
    let end_rise = end[end.len() - 1].bytes - end[0].bytes;
    if range(end) < over_bytes || (late_slope * seconds(late)).max(end_rise) < over_bytes {
        return Shape::LevelledOff;
    }
    let since = since(points, late_slope);
    let now = &points[since..];
    let is_slowing =
        median_slope(&now[now.len() / 2..]) < SLOWING_SHARE * median_slope(&now[..=now.len() / 2]);
    let tail = &points[points.len() - 1 - (points.len() / TAIL_PART).max(2)..];
    let tail_slope = (tail[tail.len() - 1].bytes - tail[0].bytes) / seconds(tail).max(f64::MIN_POSITIVE);
    let goes_on = !is_slowing && TAIL_SHARE * late_slope <= tail_slope && is_steady(late);
    let Some(bytes_per_s) = rate(points).map(|of_all| rate(now).unwrap_or(of_all)) else {
        return Shape::Open;
    };
    // A step at the end, over what hardly grows: the rate does not explain what came.
    let rise = now[now.len() - 1].bytes - now[0].bytes;
    let is_explained = EXPLAINED_SHARE * rise <= bytes_per_s.estimate * seconds(now);
    // What came before it began was something else.
    let matters = matters_bytes <= rise;
    if goes_on && is_explained && matters {
        return Shape::Grows { bytes_per_s, since };
    }
    // By the later half, since single steps make the end uneven; but what only begins there is not slow.
    let ahead_bytes = late_slope * seconds(points).max(AHEAD_S_MIN);
    if ahead_bytes < matters_bytes && end_rise < BEGINS_SHARE * matters_bytes {
        return Shape::RisesSlowly { bytes_per_s: late_slope };
    }
    Shape::Open
}

fn seconds(points: &[Point]) -> f64 {
    points.last().zip(points.first()).map_or(0.0, |(last, first)| last.at_s - first.at_s)
}

fn trend_points(points: &[Point]) -> Vec<TrendPoint> {
    points.iter().map(|point| TrendPoint { group: 0, at: point.at_s, value: point.bytes }).collect()
}

fn median_slope(points: &[Point]) -> f64 {
    PairSlopes::of(&trend_points(points)).map_or(0.0, |slopes| slopes.median())
}

/// The rate with its interval, where that is above zero.
fn rate(points: &[Point]) -> Option<Estimate> {
    trend(&trend_points(points)).filter(|rate| rate.low.is_some_and(|low| 0.0 < low))
}

/// Whether the later half grows by itself: by an interval of its own, or, with too few points for one, in nearly every step.
fn is_steady(late: &[Point]) -> bool {
    if POINTS_FOR_TREND <= late.len() {
        return rate(late).is_some();
    }
    let rises = late.windows(2).filter(|pair| pair[0].bytes < pair[1].bytes).count();
    4 * rises >= 3 * (late.len() - 1)
}

/// The first of the points that lie on the line of what grows now, without a gap to the last.
fn since(points: &[Point], slope: f64) -> usize {
    let off_bytes = OFF_LINE_SHARE * range(points);
    let late = &points[points.len() / 2..];
    let level = |point: &Point| point.bytes - slope * point.at_s;
    let levels: Vec<f64> = late.iter().map(level).collect();
    let Some(level_now) = assay_stats::median(&levels) else { return 0 };
    let off = points.iter().rposition(|point| off_bytes < (level(point) - level_now).abs());
    off.map_or(0, |index| index + 1).min(points.len() / 2)
}
