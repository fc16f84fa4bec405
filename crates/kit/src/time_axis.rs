//! Axes of time: what has passed, and the time of day where it is known.

use crate::axes::{LABEL_SIZE, Plot};
use crate::letters::text_width;
use crate::number::tick;
use crate::scale::{Scale, ticks_from_zero};
use crate::svg::Svg;
use crate::text::html;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt::Write as _;

/// Units of an axis, each with its seconds and with the length, in seconds, from which on the next is used.
const UNITS: [(&str, f64, f64); 4] = [
    ("s", 1.0, 180.0),
    ("min", 60.0, 3.0 * 3_600.0),
    ("h", 3_600.0, 4.0 * 86_400.0),
    ("days", 86_400.0, f64::INFINITY),
];
/// Room below a plot for ticks and title, and for the row with the time of day.
const BELOW: f64 = 42.0;
const ROW: f64 = 14.0;
/// Between two labels.
const GAP: f64 = 6.0;

/// From a position of an axis on, the wall clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// The position, nanoseconds from the beginning of the axis.
    pub at_ns: u64,
    /// What the wall clock says there, since 1970 in UTC, nanoseconds.
    pub unix_ns: i64,
}

impl Clock {
    /// A stored time, as that of the beginning; absent where it is none.
    pub fn stored(time: &str) -> Option<Self> {
        let unix_ns = i64::try_from(time.parse::<Timestamp>().ok()?.as_nanosecond()).ok()?;
        Some(Clock { at_ns: 0, unix_ns })
    }
}

/// An axis of time that begins at zero.
#[derive(Debug, Clone)]
pub struct TimeAxis {
    end_s: f64,
    /// Name of the unit, and its seconds.
    unit: (&'static str, f64),
    clocks: Vec<Clock>,
}

impl TimeAxis {
    /// An axis of this length in the unit that fits.
    pub fn new(end_s: f64) -> Self {
        let fitting = UNITS.into_iter().find(|(.., below_s)| end_s < *below_s).unwrap_or(UNITS[0]);
        TimeAxis { end_s, unit: (fitting.0, fitting.1), clocks: Vec::new() }
    }

    /// An axis of this length in seconds.
    pub const fn seconds(end_s: f64) -> Self {
        TimeAxis { end_s, unit: ("s", 1.0), clocks: Vec::new() }
    }

    /// The same with the time of day, where the things on it have one.
    pub fn with_clocks(self, clocks: impl IntoIterator<Item = Clock>) -> Self {
        TimeAxis { clocks: clocks.into_iter().collect(), ..self }
    }

    /// Where it ends, in its unit.
    pub fn end(&self) -> f64 {
        self.end_s / self.unit.1
    }

    /// Its unit.
    pub const fn unit(&self) -> &'static str {
        self.unit.0
    }

    /// Seconds in its unit.
    pub fn of_s(&self, seconds: f64) -> f64 {
        seconds / self.unit.1
    }

    /// From its values to positions.
    pub fn scale(&self, plot: &Plot) -> Scale {
        Scale::linear((0.0, self.end()), (plot.left, plot.right))
    }

    /// Room that it takes below a plot.
    pub fn below(&self) -> f64 {
        if self.clocks.is_empty() { BELOW } else { BELOW + ROW }
    }

    /// Attributes of what moves with it, for `web/timeline.js`: its end with the unit, and the clocks in milliseconds.
    pub fn attributes(&self) -> String {
        let mut attributes = format!(" data-time=\"{} {}\"", self.end(), self.unit.0);
        if !self.clocks.is_empty() {
            let clock = |clock: &Clock| {
                format!("{} {}", self.of_s(clock.at_ns as f64 / 1e9), clock.unix_ns / 1_000_000)
            };
            let clocks: Vec<String> = self.clocks.iter().map(clock).collect();
            let _ = write!(attributes, " data-clocks=\"{}\"", clocks.join(";"));
        }
        attributes
    }

    /// Draws it below a plot with about so many ticks, none beyond `edge`; `title` is followed by the unit.
    pub fn draw(&self, svg: &mut Svg, plot: &Plot, (wanted, edge): (usize, f64), title: &str) {
        let x = self.scale(plot);
        let title = format!("{title} ({})", self.unit.0);
        let (mut passed, mut clocks, mut taken) = (Vec::new(), Vec::new(), f64::NEG_INFINITY);
        for value in ticks_from_zero(self.end(), wanted).into_iter().filter(|value| *value <= self.end()) {
            let (at, label) = (x.at(value), tick(value));
            if at + text_width(&label, LABEL_SIZE) / 2.0 <= edge {
                passed.push((at, label));
            }
            let Some(label) = self.time_of_day(value) else { continue };
            let half = text_width(&label, LABEL_SIZE) / 2.0;
            if taken + GAP <= at - half && at + half <= edge {
                taken = at + half;
                clocks.push((at, label));
            }
        }
        match self.clocks.is_empty() {
            true => plot.x_axis(svg, &passed, &title),
            false => plot.x_axis_with(svg, &passed, &clocks, &format!("{title}, time of day in UTC")),
        }
    }

    /// `14:03:22`, or with its day on an axis of more than one; absent without a clock.
    fn time_of_day(&self, at: f64) -> Option<String> {
        let at_ns = (at * self.unit.1 * 1e9) as i64;
        let is_before = |clock: &&Clock| i64::try_from(clock.at_ns).is_ok_and(|from| from <= at_ns);
        let clock = self.clocks.iter().rfind(is_before).or(self.clocks.first())?;
        let unix_ns = clock.unix_ns.checked_add(at_ns.checked_sub_unsigned(clock.at_ns)?)?;
        let time = Timestamp::from_nanosecond(i128::from(unix_ns)).ok()?.to_zoned(TimeZone::UTC);
        let clock = format!("{:02}:{:02}:{:02}", time.hour(), time.minute(), time.second());
        Some(match self.end_s < 86_400.0 {
            true => clock,
            false => format!("{:02}-{:02} {}", time.month(), time.day(), &clock[..5]),
        })
    }
}

impl Plot {
    /// Draws what moves when a reader zooms into time (`web/timeline.js`); `unit` is that of the values on `y`.
    pub fn timed(&self, svg: &mut Svg, time: &TimeAxis, y: &Scale, unit: &str, draw: impl FnOnce(&mut Svg)) {
        let (low, high) = y.ends();
        let scale = if y.is_logarithmic() { "log" } else { "linear" };
        let attributes = format!(
            " data-plot=\"{:.1} {:.1} {:.1} {:.1}\"{} data-values=\"{low} {high}\" data-scale=\"{scale}\" data-unit=\"{}\"",
            self.left,
            self.top,
            self.right,
            self.bottom,
            time.attributes(),
            html(unit)
        );
        svg.open_group("timed", &attributes);
        draw(svg);
        svg.close_group();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(axis: &TimeAxis) -> String {
        let mut svg = Svg::new(960.0, 200.0);
        axis.draw(&mut svg, &Plot { left: 60.0, right: 940.0, top: 10.0, bottom: 150.0 }, (6, 960.0), "time");
        svg.finish("id", "Title", "")
    }

    #[test]
    fn a_later_jvm_has_its_own_clock_since_the_time_between_two_is_left_out() {
        let second = Clock { at_ns: 60_000_000_000, unix_ns: 1_758_010_652_000_000_000 + 3_600_000_000_000 };
        let clocks = [Clock { at_ns: 0, unix_ns: 1_758_010_652_000_000_000 }, second];
        let axis = TimeAxis::new(120.0).with_clocks(clocks);
        let times = [0.0, 59.0, 60.0, 120.0].map(|at| axis.time_of_day(at));
        let wanted = ["08:17:32", "08:18:31", "09:17:32", "09:18:32"];
        assert_eq!(times.each_ref().map(|time| time.as_deref().unwrap_or("none")), wanted);
        let picture = drawn(&axis);
        assert!(
            picture.contains(">08:17:32</text>") && picture.contains("time (s), time of day in UTC"),
            "{picture}"
        );
        assert_eq!(
            axis.attributes(),
            " data-time=\"120 s\" data-clocks=\"0 1758010652000;60 1758014252000\""
        );
    }

    #[test]
    fn without_a_clock_there_is_no_time_of_day_and_no_room_for_it() {
        let axis = TimeAxis::new(7_200.0);
        assert_eq!((axis.unit(), axis.end(), axis.time_of_day(1.0)), ("min", 120.0, None));
        let picture = drawn(&axis);
        assert!(!picture.contains("UTC") && picture.contains(">time (min)</text>"), "{picture}");
        assert!(
            axis.below() < TimeAxis::seconds(1.0).with_clocks(Clock::stored("2026-11-30T00:00:00Z")).below()
        );
        assert_eq!(Clock::stored("yesterday"), None);
    }

    #[test]
    fn days_stand_before_the_time_where_there_are_several_and_nothing_overflows() {
        let clock = Clock::stored("2026-11-30T23:59:58.5Z").expect("a time");
        let axis = TimeAxis::new(3.0 * 86_400.0).with_clocks([clock]);
        assert_eq!(axis.time_of_day(24.0).as_deref(), Some("12-01 23:59"));
        let far = TimeAxis::new(1e12).with_clocks([Clock { at_ns: u64::MAX, unix_ns: i64::MAX }]);
        assert!(drawn(&far).contains("days"));
    }
}
