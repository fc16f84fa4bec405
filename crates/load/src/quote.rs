//! Quotes of wrong answers: one line of what a page says, from where it departs from what was expected.

use std::borrow::Cow;

/// Bytes of a body that are looked at.
const LOOKED_AT_BYTES_MAX: usize = 64 << 10;
/// Characters of a quote.
const QUOTE_CHARS_MAX: usize = 160;
/// Characters of it before the place where a page departs from what was expected.
const BEFORE_CHARS: usize = 40;
/// So much of the expected text must be present to locate it: characters, and a share of it.
const ALIKE_CHARS_MIN: usize = 4;
const ALIKE_PART_MIN: usize = 3;
/// Parts of a page that nobody reads.
const UNSEEN: [(&str, &str); 5] =
    [("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"), ("<svg", "</svg>"), ("/*", "*/")];

/// The start of what a body says: without control characters, comments, scripts and tags, which say nothing of what is wrong.
pub(crate) fn start_of(body: &[u8]) -> String {
    let said = said(body, false);
    cut(&said, false)
}

/// The part of a body where it departs from the expected text; its start where it has nothing in common with it.
pub(crate) fn instead_of(expected: &[u8], body: &[u8]) -> String {
    let expected = in_a_line(&String::from_utf8_lossy(expected));
    let said = said(body, expected.contains('<'));
    match departure(&said, &expected) {
        Some(at) => {
            let before = said[..at].char_indices().rev().nth(BEFORE_CHARS - 1).map_or(0, |(from, _)| from);
            cut(&said[before..], 0 < before)
        }
        None => cut(&said, false),
    }
}

/// Where the longest beginning of a text is found that is there at all, in whatever case.
fn departure(said: &str, expected: &str) -> Option<usize> {
    let (said, expected) = (said.to_ascii_lowercase(), expected.to_ascii_lowercase());
    let ends: Vec<usize> = expected.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    let alike = ends.partition_point(|end| said.contains(&expected[..*end]));
    let is_enough = ALIKE_CHARS_MIN.max(ends.len() / ALIKE_PART_MIN) <= alike;
    let end = alike.checked_sub(1).filter(|_| is_enough)?;
    said.find(&expected[..ends[end]])
}

fn said(body: &[u8], keeps_tags: bool) -> String {
    let body = String::from_utf8_lossy(&body[..body.len().min(LOOKED_AT_BYTES_MAX)]);
    let is_page = body.trim_start().starts_with('<');
    // Slash and star begin a comment of a script or a style sheet; elsewhere they are text such as `*/*`.
    let is_script = body.trim_start().starts_with("/*");
    let mut said = body;
    for (begin, end) in UNSEEN {
        if if begin == "/*" { is_script } else { is_page } {
            said = without(said, begin, end);
        }
    }
    if is_page && !keeps_tags {
        said = without(said, "<", ">");
    }
    in_a_line(&said)
}

/// A text without what stands between two marks, in whatever case; a blank is in its place. One without an end takes the rest.
fn without<'t>(text: Cow<'t, str>, begin: &str, end: &str) -> Cow<'t, str> {
    let lower = text.to_ascii_lowercase();
    let (mut kept, mut at) = (String::new(), 0);
    while let Some(from) = lower[at..].find(begin).map(|from| at + from) {
        kept.push_str(&text[at..from]);
        kept.push(' ');
        let inside = from + begin.len();
        at = lower[inside..].find(end).map_or(text.len(), |to| inside + to + end.len());
    }
    if at == 0 {
        return text;
    }
    kept.push_str(&text[at..]);
    Cow::Owned(kept)
}

/// One line, without control characters.
fn in_a_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).collect()
}

fn cut(text: &str, is_cut_before: bool) -> String {
    let before = if is_cut_before { "..." } else { "" };
    match text.char_indices().nth(QUOTE_CHARS_MAX) {
        Some((end, _)) => format!("{before}{}...", &text[..end]),
        None => format!("{before}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_shortened_to_one_printable_line() {
        assert_eq!(start_of(b"status:\r\n\tno\x1b[31m"), "status: no[31m");
        assert_eq!(start_of(b"<html>\r\n\t<b>no\x1b[31m</b>"), "no[31m");
        assert_eq!(start_of(&[b'x'; 10_000]).len(), QUOTE_CHARS_MAX + 3);
        assert_eq!(start_of("é".repeat(10_000).as_bytes()).chars().count(), QUOTE_CHARS_MAX + 3);
        assert_eq!(start_of(b"Accept: */* or /*"), "Accept: */* or /*");
        assert_eq!(start_of(b""), "");
    }

    #[test]
    fn comments_scripts_and_styles_are_no_part_of_what_a_page_says() {
        let licensed = format!("<!-- {} -->\n<html><!-- a --> no <!-- b", "Licensed to ".repeat(100));
        assert_eq!(start_of(licensed.as_bytes()), "no");
        let tomcat = format!(
            "<!doctype html><html lang=\"en\"><head><title>HTTP Status 500</title><STYLE type=\"text/css\">{}</style></head>\
             <body><h1>Order <b>17</b> is not there</h1><script>if (a < b) {{}}</script></body></html>",
            "body {font-family:Tahoma} ".repeat(50)
        );
        assert_eq!(start_of(tomcat.as_bytes()), "HTTP Status 500 Order 17 is not there");
        let script = format!("/*! {} */ throw no;", "Licensed to ".repeat(100));
        assert_eq!(start_of(script.as_bytes()), "throw no;");
    }

    #[test]
    fn a_quote_shows_where_a_page_departs_from_what_was_expected() {
        let filler = "A line of the page that is as it should be. ".repeat(40);
        let page = format!(
            "<!-- Licensed to -->\n<html><body><p>{filler}</p>\n<h1>Order 18 was\nplaced</h1>{filler}"
        );
        let quote = instead_of(b"order 17 was placed", page.as_bytes());
        assert!(quote.starts_with("...") && quote.ends_with("..."), "{quote}");
        assert!(quote.contains("as it should be. Order 18 was placed A line"), "{quote}");
        let quote = instead_of(b"<h1>Order 17", page.as_bytes());
        assert!(quote.contains("</p> <h1>Order 18 was placed</h1>A line"), "{quote}");
        // A title is there, but no other.
        let page = "<html><head><title>Log in</title></head><body>Please log in";
        assert_eq!(instead_of(b"<title>Shop</title>", page.as_bytes()), page);
    }

    #[test]
    fn where_nothing_of_what_was_expected_is_there_a_quote_is_the_start_of_what_is() {
        for expected in ["Sold", "A", "", "Añadido", "An entirely other text of some length"] {
            assert_eq!(instead_of(expected.as_bytes(), b"Add to cart"), "Add to cart", "{expected}");
        }
        assert_eq!(instead_of(b"\xff\xfe\xfd\xfc", b"\xff\xfe"), "\u{fffd}\u{fffd}");
    }
}
