//! A small writer of static SVG: escaped text, one decimal in every coordinate, names for screen readers.
//!
//! Pictures are drawn by the program, not by a script, so that they print, need nothing from a network, and are
//! the same bytes each time. Colours come from the classes of `web/report.css` (`s0`..`s7` for series, `a0`..`a7`
//! for areas), which hold in light and dark.

use crate::text;
use std::fmt::Write as _;

/// Where a text's x lies.
#[derive(Clone, Copy)]
pub enum Anchor {
    /// At its start.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A picture that grows by its marks.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

impl Svg {
    /// An empty picture of this size in user units; the page scales it to the column.
    pub fn new(width: f64, height: f64) -> Self {
        Svg { width, height, body: String::new() }
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), class: &str) {
        let (x1, y1, x2, y2) = (c(from.0), c(from.1), c(to.0), c(to.1));
        let _ =
            writeln!(self.body, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
    }

    /// A rectangle with a tooltip; `tip` may be empty.
    pub fn rect(&mut self, at: (f64, f64), size: (f64, f64), class: &str, tip: &str) {
        let (x, y, w, h) = (c(at.0), c(at.1), c(size.0), c(size.1));
        let attributes = format!("class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        self.element("rect", &attributes, tip);
    }

    /// A path with a tooltip; `tip` may be empty.
    pub fn path(&mut self, d: &str, class: &str, tip: &str) {
        self.element("path", &format!("class=\"{class}\" d=\"{d}\""), tip);
    }

    /// A line through points.
    pub fn polyline(&mut self, points: &[(f64, f64)], class: &str, tip: &str) {
        self.path(&points_path(points), class, tip);
    }

    /// Text; its start, middle or end at `at`, its baseline at the given height.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, class: &str, content: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, content) = (c(at.0), c(at.1), text::html(content));
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>"
        );
    }

    /// One of eight marker shapes, so that series differ by more than colour.
    pub fn marker(&mut self, shape: usize, at: (f64, f64), radius: f64, class: &str, tip: &str) {
        self.path(&marker_path(shape, at, radius), class, tip);
    }

    /// A vertical whisker with ends.
    pub fn whisker_vertical(&mut self, x: f64, low: f64, high: f64, class: &str) {
        let d = format!("M{0} {1}h6m-3 0V{2}m-3 0h6", c(x - 3.0), c(low), c(high));
        self.path(&d, class, "");
    }

    /// A horizontal whisker with ends.
    pub fn whisker_horizontal(&mut self, y: f64, low: f64, high: f64, class: &str) {
        let d = format!("M{0} {1}v8m0 -4H{2}m0 -4v8", c(low), c(y - 4.0), c(high));
        self.path(&d, class, "");
    }

    /// Begins a link around what is drawn next; `name` is what screen readers say of it and what a pointer shows.
    pub fn open_link(&mut self, href: &str, name: &str) {
        let (href, name) = (text::html(href), text::html(name));
        let _ = write!(self.body, "<a href=\"{href}\"><title>{name}</title>");
    }

    /// Ends the link.
    pub fn close_link(&mut self) {
        self.body.push_str("</a>\n");
    }

    /// Begins a group of this class; `attributes` must be escaped.
    pub fn open_group(&mut self, class: &str, attributes: &str) {
        let _ = writeln!(self.body, "<g class=\"{class}\"{attributes}>");
    }

    /// Ends the group.
    pub fn close_group(&mut self) {
        self.body.push_str("</g>\n");
    }

    /// The element as a group whose links can be reached, where [`Svg::finish`] gives a picture without parts.
    pub fn finish_group(self, id: &str, title: &str, desc: &str) -> String {
        self.finish(id, title, desc).replacen("role=\"img\"", "role=\"group\"", 1)
    }

    /// The element, named for screen readers by `title` and described by `desc`. `id` must be unique in the page.
    pub fn finish(self, id: &str, title: &str, desc: &str) -> String {
        let (w, h) = (c(self.width), c(self.height));
        format!(
            "<svg role=\"img\" viewBox=\"0 0 {w} {h}\" aria-labelledby=\"{id}-t\" aria-describedby=\"{id}-d\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>\n{}</svg>",
            text::html(title),
            text::html(desc),
            self.body
        )
    }

    fn element(&mut self, name: &str, attributes: &str, tip: &str) {
        let _ = if tip.is_empty() {
            writeln!(self.body, "<{name} {attributes}/>")
        } else {
            writeln!(self.body, "<{name} {attributes}><title>{}</title></{name}>", text::html(tip))
        };
    }
}

/// Path data of a line through points.
pub fn points_path(points: &[(f64, f64)]) -> String {
    let mut d = String::with_capacity(points.len() * 10);
    for (index, &(x, y)) in points.iter().enumerate() {
        let _ = write!(d, "{}{} {}", if index == 0 { 'M' } else { 'L' }, c(x), c(y));
    }
    d
}

/// Path data of a marker.
pub fn marker_path(shape: usize, (x, y): (f64, f64), r: f64) -> String {
    let m = |dx: f64, dy: f64| format!("{} {}", c(x + dx * r), c(y + dy * r));
    let polygon = |points: &[(f64, f64)]| {
        let parts: Vec<String> = points.iter().map(|&(dx, dy)| m(dx, dy)).collect();
        format!("M{}Z", parts.join("L"))
    };
    match shape % 8 {
        0 => format!("M{}a{1} {1} 0 1 0 {2} 0a{1} {1} 0 1 0 -{2} 0Z", m(-1.0, 0.0), c(r), c(2.0 * r)),
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        5 => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
        6 => polygon(&[(-1.2, 0.0), (-0.6, -1.1), (0.6, -1.1), (1.2, 0.0), (0.6, 1.1), (-0.6, 1.1)]),
        _ => polygon(&[(-1.1, -1.1), (1.1, -1.1), (-1.1, 1.1), (1.1, 1.1)]),
    }
}

/// How many characters surely fit.
pub fn chars_that_fit(width: f64, size: f64) -> usize {
    (width / (0.61 * size)).max(3.0) as usize
}

/// A coordinate: one decimal, without a trailing zero; a value that cannot be drawn becomes 0.
fn c(value: f64) -> String {
    if !value.is_finite() {
        return "0".to_owned();
    }
    let rounded = (value * 10.0).round() / 10.0;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_tips_are_escaped() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.rect((0.0, 0.0), (5.0, 5.0), "s0", "<script>");
        svg.text((1.0, 2.0), Anchor::Start, "l", "a & b");
        let out = svg.finish("f", "\"t\"", "<d>");
        assert!(out.contains("&lt;script&gt;") && out.contains("a &amp; b") && out.contains("&quot;t&quot;"));
        assert!(!out.contains("<script"));
    }

    #[test]
    fn coordinates_have_one_decimal_and_are_always_finite() {
        assert_eq!([1.0, 1.25, -0.01, f64::NAN, f64::INFINITY].map(c).to_vec(), ["1", "1.3", "0", "0", "0"]);
    }
}
