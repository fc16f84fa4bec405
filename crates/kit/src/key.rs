//! Keys of pictures: the mark of each series or fill, with its name.

use crate::svg::marker_path;
use crate::text::html;
use std::fmt::Write as _;

/// A key of fills: class and name of each.
pub fn fills<C: AsRef<str>, N: AsRef<str>>(items: impl IntoIterator<Item = (C, N)>) -> String {
    let mut out = String::from("<ul class=\"key\">");
    for (class, name) in items {
        let _ = write!(
            out,
            "<li><svg aria-hidden=\"true\" width=\"16\" height=\"12\" viewBox=\"0 0 16 12\">\
             <path class=\"{}\" d=\"M0 0H16V12H0Z\"/></svg>{}</li>",
            class.as_ref(),
            html(name.as_ref())
        );
    }
    out + "</ul>"
}

/// A key of marks (of [`mark`] and [`line_mark`]): each with its name.
pub fn marks(items: &[(String, String)]) -> String {
    let mut out = String::from("<ul class=\"key\">");
    for (mark, name) in items {
        let _ = write!(out, "<li>{mark}<bdi>{}</bdi></li>", html(name));
    }
    out + "</ul>"
}

/// One mark of a key: a path in a box of 30 by 12.
pub fn mark(path: &str, class: &str) -> String {
    framed(&format!("<path class=\"{class}\" d=\"{path}\"/>"))
}

/// The marker of a series in a key.
pub fn marker(look: usize) -> String {
    mark(&marker_path(look, (15.0, 6.0), 4.0), &format!("s{look} mk"))
}

/// The line of a series with its marker; `strong` where it is the one that counts.
pub fn line_mark(look: usize, strong: bool) -> String {
    let strong = if strong { " strong" } else { "" };
    framed(&format!(
        "<path class=\"s{look} ln d{look}{strong}\" d=\"M1 6H29\"/><path class=\"s{look} mk\" d=\"{}\"/>",
        marker_path(look, (15.0, 6.0), 4.0)
    ))
}

fn framed(paths: &str) -> String {
    format!("<svg aria-hidden=\"true\" width=\"30\" height=\"12\" viewBox=\"0 0 30 12\">{paths}</svg>")
}
