//! Text from outside made safe for each output: what a server printed or a user named is never markup, never
//! a terminal command, and never turns the reading direction of what follows.

use std::fmt::Write as _;

/// Longest text from outside that is shown in one place, in characters; the rest is counted.
const SHOWN_CHARS_MAX: usize = 2_000;

/// `text` with control characters and bidirectional overrides made visible as U+FFFD, on one line, shortened.
///
/// U+202A..=U+202E and U+2066..=U+2069 reorder the text around them ("Trojan source"); letters of right-to-left
/// scripts are kept as they are.
pub fn clean(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN_CHARS_MAX).map(|c| shown_char(c, false)).collect();
    let left = text.chars().count().saturating_sub(SHOWN_CHARS_MAX);
    if left > 0 {
        let _ = write!(out, " … ({left} more characters)");
    }
    out
}

/// The same with line breaks and tabs kept and without shortening: for whole files such as the study.
pub fn clean_lines(text: &str) -> String {
    text.chars().map(|c| shown_char(c, true)).collect()
}

/// A stored time without the parts of a second.
pub fn to_the_second(time: &str) -> String {
    let time = clean(time);
    time.split_once('.').map_or(time.clone(), |(seconds, _)| format!("{seconds}Z"))
}

fn shown_char(c: char, keep_lines: bool) -> char {
    match c {
        '\n' | '\t' if keep_lines => c,
        '\n' | '\t' | '\r' => ' ',
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    }
}

/// Escapes for HTML and SVG, in text and in double-quoted attributes.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// What stands behind a number and belongs to it.
const UNITS: [&str; 15] =
    ["%", "ns", "µs", "us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "bytes", "requests/s"];

/// Escapes a sentence for HTML; options of a command line, and figures with their units, are each kept on one line, and what stands between
/// backticks is code.
pub fn prose(text: &str) -> String {
    let text = clean(text);
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return words(&text);
    }
    let of = |(number, part): (usize, &&str)| match number % 2 {
        0 => words(part),
        _ => format!("<code>{}</code>", html(part)),
    };
    parts.iter().enumerate().map(of).collect()
}

fn words(text: &str) -> String {
    let mut words = text.split(' ').peekable();
    let mut out: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        let unit = words.next_if(|next| {
            let next = next.trim_end_matches([',', ';', ':', '.', ')']);
            word.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&next)
        });
        let option = word.trim_start_matches('(').trim_start_matches('-');
        let is_option = word.contains('-') && !word.ends_with('-') && option.len() < word.len();
        let kept = unit.map_or_else(|| word.to_owned(), |unit| format!("{word} {unit}"));
        let is_kept = unit.is_some() || (is_option && option.starts_with(|c: char| c.is_ascii_alphabetic()));
        let escaped = html(&kept);
        out.push(if is_kept { format!("<span class=\"kept\">{escaped}</span>") } else { escaped });
    }
    out.join(" ")
}

/// Escapes for Markdown, table cells included.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A fragment as the beginning of a sentence: its first letter is a capital.
pub fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `text` cut in its middle to at most `chars` characters, so that names which differ at the end stay apart.
pub fn shorten(text: &str, chars: usize) -> String {
    let length = text.chars().count();
    if length <= chars {
        return text.to_owned();
    }
    let tail = chars.saturating_sub(1) / 2;
    let head = chars.saturating_sub(1) - tail;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// A sentence that ends with `…` after its last whole word where it is longer than `chars` characters.
pub fn begin_of(sentence: &str, chars: usize) -> String {
    if sentence.chars().count() <= chars {
        return sentence.to_owned();
    }
    // The word is whole if a blank is next.
    let fits: String = sentence.chars().take(chars).collect();
    let words = fits.rsplit_once(' ').map_or(fits.as_str(), |(words, _)| words);
    format!("{} …", words.trim_end_matches([' ', ',', ';', ':', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_ends_after_a_whole_word() {
        assert_eq!(begin_of("The kernel killed it", 20), "The kernel killed it");
        assert_eq!(begin_of("The kernel killed it, twice", 22), "The kernel killed it …");
        assert_eq!(begin_of("averylongword", 5), "avery …");
    }

    #[test]
    fn markup_and_terminal_commands_lose_their_power() {
        assert_eq!(html("<b a=\"x\">'&"), "&lt;b a=&quot;x&quot;&gt;&#39;&amp;");
        assert_eq!(clean("a\u{1b}[31m\u{202E}b\nc"), "a\u{FFFD}[31m\u{FFFD}b c");
        assert_eq!(markdown("a|b *c*"), "a\\|b \\*c\\*");
    }

    #[test]
    fn an_option_and_a_figure_with_its_unit_stay_on_one_line() {
        let kept = |text: &str| format!("<span class=\"kept\">{text}</span>");
        assert_eq!(
            prose("give it more (-Xmx) & wait"),
            format!("give it more {} &amp; wait", kept("(-Xmx)"))
        );
        assert_eq!(
            prose("up to -XX:A=<1>, --all"),
            format!("up to {} {}", kept("-XX:A=&lt;1&gt;,"), kept("--all"))
        );
        assert_eq!(
            prose("p99 193 ms; (-7.4 %) x"),
            format!("p99 {} {} x", kept("193 ms;"), kept("(-7.4 %)"))
        );
        assert_eq!(
            prose("see `assay time PID --for 5s`, <b>"),
            "see <code>assay time PID --for 5s</code>, &lt;b&gt;"
        );
        assert_eq!(prose("a ` alone"), "a ` alone");
        assert_eq!(prose("61-63 objects in - and so-called"), "61-63 objects in - and so-called");
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        assert_eq!(shorten("compressed-zero-based-with-notes", 13), "compre…-notes");
        assert_eq!(shorten("short", 13), "short");
    }
}
