//! A text in sentences, and a sentence in words, numbers, and quantities of change such as `31 %` and `2.1 times`.

/// Bytes of a sentence that are looked at.
const SENTENCE_MAX: usize = 4_000;
/// Endings that do not end a sentence.
const ABBREVIATIONS: [&str; 9] = ["vs.", "e.g.", "i.e.", "approx.", "ca.", "Fig.", "fig.", "cf.", "resp."];
/// Units of numbers: name, what it measures, its size.
const UNITS: [(&str, &str, f64); 22] = [
    ("ns", "time", 1e-9),
    ("us", "time", 1e-6),
    ("µs", "time", 1e-6),
    ("μs", "time", 1e-6),
    ("ms", "time", 1e-3),
    ("s", "time", 1.0),
    ("sec", "time", 1.0),
    ("seconds", "time", 1.0),
    ("min", "time", 60.0),
    ("minutes", "time", 60.0),
    ("B", "bytes", 1.0),
    ("bytes", "bytes", 1.0),
    ("KB", "bytes", 1024.0),
    ("KiB", "bytes", 1024.0),
    ("MB", "bytes", 1_048_576.0),
    ("MiB", "bytes", 1_048_576.0),
    ("GB", "bytes", 1_073_741_824.0),
    ("GiB", "bytes", 1_073_741_824.0),
    ("k", "", 1e3),
    ("K", "", 1e3),
    ("M", "", 1e6),
    ("million", "", 1e6),
];

/// A sentence and where it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence<'t> {
    /// Line, from 1.
    pub line: u64,
    /// Its text.
    pub text: &'t str,
}

/// What a sentence is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Token<'t> {
    /// A word, or what looks like a name.
    Word(&'t str),
    /// A number.
    Number(Number),
    /// A change, with the size of one in its last digit.
    Quantity(Quantity),
    /// Punctuation that parts clauses.
    Mark(char),
}

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number {
    /// The figure.
    pub value: f64,
    /// What its unit measures; absent without one.
    pub measures: Option<&'static str>,
    /// Size of the unit.
    pub size: f64,
}

/// A change as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The figure: 31 in `31 %`.
    pub value: f64,
    /// One in its last digit: 1 in `31 %`, 0.1 in `2.1 times`.
    pub step: f64,
    /// Whether it is a factor; else percent.
    pub is_factor: bool,
    /// Its sign, if it has one.
    pub sign: Option<char>,
}

/// Tokens with the place of each in the sentence, in bytes.
pub type Tokens<'t> = Vec<(usize, Token<'t>)>;

/// The sentences of a text; a line break ends one.
pub fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut out = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let mut rest = line;
        while !rest.trim().is_empty() {
            let (first, after) = rest.split_at(end_of_sentence(rest));
            out.push(Sentence { line: number, text: first.trim() });
            rest = after;
        }
    }
    out
}

/// Behind a full stop, question or exclamation mark that is followed by a space and no small letter.
fn end_of_sentence(text: &str) -> usize {
    for (at, mark) in text.char_indices().filter(|(_, c)| matches!(c, '.' | '?' | '!')) {
        let end = at + mark.len_utf8();
        let after = &text[end..];
        let begins = after.trim_start().chars().next();
        let is_abbreviation = ABBREVIATIONS.iter().any(|short| text[..end].ends_with(short));
        if after.starts_with(char::is_whitespace)
            && !is_abbreviation
            && begins.is_none_or(|c| !c.is_lowercase())
        {
            return end;
        }
    }
    floor_boundary(text, SENTENCE_MAX)
}

/// The largest boundary between characters that is at most `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    if text.len() <= at {
        return text.len();
    }
    (1..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(text.len())
}

/// The tokens of a sentence.
pub fn tokens(text: &str) -> Tokens<'_> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_between = matches!(c, '-' | '−' | '–') && text[..at].ends_with(|c: char| c.is_alphanumeric());
        if is_between {
            out.push((at, Token::Word(&rest[..c.len_utf8()])));
            at += c.len_utf8();
        } else if let Some((token, length)) = quantity_or_number(rest) {
            out.push((at, token));
            at += length;
        } else if c.is_whitespace() || matches!(c, '"' | '“' | '”' | '\'' | '`' | '*') {
            at += c.len_utf8();
        } else if matches!(c, ',' | ';' | ':' | '(' | ')' | '?' | '!') {
            out.push((at, Token::Mark(c)));
            at += c.len_utf8();
        } else {
            let length = rest.find(ends_word).unwrap_or(rest.len()).max(c.len_utf8());
            let word = rest[..length].trim_end_matches(['.', '\'', '’']);
            if !word.is_empty() {
                out.push((at, Token::Word(word)));
            }
            at += length;
        }
    }
    out
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, ',' | ';' | ':' | '(' | ')' | '?' | '!' | '"' | '“' | '”' | '`' | '*' | '→')
}

/// A number at the start of `text`, with what makes it a quantity or gives it a unit; and its length. `None` for names that
/// begin with digits, such as versions.
fn quantity_or_number(text: &str) -> Option<(Token<'static>, usize)> {
    let sign = text.chars().next().filter(|c| matches!(c, '+' | '-' | '−' | '–'));
    let sign_length = sign.map_or(0, char::len_utf8);
    let (value, step, length) = number(&text[sign_length..])?;
    let mut length = sign_length + length;
    let sign = sign.map(|c| if c == '+' { '+' } else { '-' });
    let after = &text[length..];
    let gap = after.len() - after.trim_start_matches([' ', '\u{a0}', '\u{202f}']).len();
    let spaced = &after[gap..];
    let quantity = |is_factor| Token::Quantity(Quantity { value, step, is_factor, sign });
    for word in ["%", "percent", "per cent"] {
        if let Some(rest) = spaced.strip_prefix(word).filter(|r| word == "%" || ends_here(r)) {
            return Some((quantity(false), text.len() - rest.len()));
        }
    }
    for word in ["times", "fold", "-fold", "x", "×"] {
        if let Some(rest) = spaced.strip_prefix(word).filter(|r| ends_here(r)) {
            return Some((quantity(true), text.len() - rest.len()));
        }
    }
    let value = if sign == Some('-') { -value } else { value };
    for (name, measures, size) in UNITS {
        if let Some(rest) = spaced.strip_prefix(name).filter(|r| ends_here(r)) {
            length = text.len() - rest.len();
            // Thousands are no unit.
            let number = match measures {
                "" => Number { value: value * size, measures: None, size: 1.0 },
                _ => Number { value, measures: Some(measures), size },
            };
            return Some((Token::Number(number), length));
        }
    }
    ends_here(after).then_some((Token::Number(Number { value, measures: None, size: 1.0 }), length))
}

/// Whether a word or number ends before `rest`.
fn ends_here(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        None => true,
        // A full stop or hyphen goes on where something follows it closely: 11.0.12, 2-core.
        Some('.' | '-' | '_') => chars.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !c.is_alphanumeric() && c != '%',
    }
}

/// Value, one in the last digit, length. Commas in groups of three part thousands; one comma before another number of digits
/// parts decimals.
fn number(text: &str) -> Option<(f64, f64, usize)> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let written = text[..end].trim_end_matches(['.', ',']);
    if !written.starts_with(|c: char| c.is_ascii_digit()) || written.len() > 30 {
        return None;
    }
    let groups: Vec<&str> = written.split(',').collect();
    let whole_groups = groups.iter().skip(1).all(|g| g.split('.').next().is_some_and(|g| g.len() == 3));
    let plain = match groups.as_slice() {
        [_] => written.to_owned(),
        _ if whole_groups && groups[0].len() <= 3 => groups.concat(),
        [whole, decimals] if !written.contains('.') => format!("{whole}.{decimals}"),
        _ => return None,
    };
    let decimals = plain.split_once('.').map_or(0, |(_, d)| d.len());
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then(|| (value, 10f64.powi(-(decimals as i32)), written.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(value: f64, step: f64, is_factor: bool, sign: Option<char>) -> Token<'static> {
        Token::Quantity(Quantity { value, step, is_factor, sign })
    }

    fn check(text: &str, wanted: &[Token]) {
        let found: Vec<Token> = tokens(text).into_iter().map(|(_, token)| token).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn numbers_versions_and_quantities_are_told_apart() {
        let word = Token::Word;
        let of = |value, measures, size| Token::Number(Number { value, measures, size });
        let plain = |value| of(value, None, 1.0);
        check(
            "+35.5 %, -7%",
            &[quantity(35.5, 0.1, false, Some('+')), Token::Mark(','), quantity(7.0, 1.0, false, Some('-'))],
        );
        check("72,171 to 47,729.", &[plain(72_171.0), word("to"), plain(47_729.0)]);
        check("35,5 percent", &[quantity(35.5, 0.1, false, None)]);
        check(
            "2.1 times 3x 1.5-fold",
            &[quantity(2.1, 0.1, true, None), quantity(3.0, 1.0, true, None), quantity(1.5, 0.1, true, None)],
        );
        check(
            "jdk-11.0.12-ga 11.0.12 JDK11 99th 2-core p99",
            &["jdk-11.0.12-ga", "11.0.12", "JDK11", "99th", "2-core", "p99"].map(word),
        );
        check(
            "1.5 GB→512 MiB",
            &[of(1.5, Some("bytes"), 1_073_741_824.0), word("→"), of(512.0, Some("bytes"), 1_048_576.0)],
        );
        check(
            "72.5k 10ms 3 minutes",
            &[plain(72_500.0), of(10.0, Some("time"), 1e-3), of(3.0, Some("time"), 60.0)],
        );
        check("99999999999999999999999999999999", &["99999999999999999999999999999999"].map(word));
        check("30–40 %", &[plain(30.0), word("–"), quantity(40.0, 1.0, false, None)]);
    }

    #[test]
    fn sentences_end_at_full_stops_and_lines() {
        let text = "JDK 11.0.12 is 3 % up. Next vs. The last!\n\nOf e.g. 5.";
        let found: Vec<(u64, &str)> = sentences(text).iter().map(|s| (s.line, s.text)).collect();
        assert_eq!(found, [(1, "JDK 11.0.12 is 3 % up."), (1, "Next vs. The last!"), (3, "Of e.g. 5.")]);
    }

    #[test]
    fn any_text_is_taken_apart_in_bounded_pieces() {
        let long = "ä".repeat(10_000);
        assert!(sentences(&long).iter().all(|s| s.text.len() <= SENTENCE_MAX));
        for odd in ["", "−", "+", "%", "1,", "1.", "\u{a0}", "→→", "(1", "5 %%", "x 5×5", "-–1%"] {
            let _ = tokens(odd);
        }
    }
}
