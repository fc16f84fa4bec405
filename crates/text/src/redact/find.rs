//! Where in a text the secrets are.

use super::name::{is_secret, may_be_secret};
use std::ops::Range;

/// Beginnings of tokens that say of themselves what they are, and how long one is at least; [`telling`] has their first letters.
const TELLING: [(&str, usize); 9] = [
    ("eyJ", 40),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 20),
];
/// Programs with short options for a secret, and the option.
const SHORT: [(&str, &str); 8] = [
    ("mysql", "-p"),
    ("mysqldump", "-p"),
    ("mysqladmin", "-p"),
    ("mariadb", "-p"),
    ("mariadb-dump", "-p"),
    ("sshpass", "-p"),
    ("redis-cli", "-a"),
    ("ldapsearch", "-w"),
];
/// Options that take `user:password`.
const USER: [&str; 4] = ["-u", "--user", "-U", "--proxy-user"];

/// In each word of a command line. The name before a secret may be the word before.
pub(super) fn in_words<T: AsRef<str>>(words: &[T]) -> Vec<Vec<Range<usize>>> {
    let mut short: Option<&str> = None;
    let mut before: Option<&str> = None;
    let mut found = Vec::with_capacity(words.len());
    for word in words.iter().map(AsRef::as_ref) {
        let whole = 0..word.len();
        let program = word.rsplit('/').next().unwrap_or(word);
        if let Some((_, option)) = SHORT.iter().find(|(name, _)| *name == program) {
            short = Some(option);
        }
        let after_short = short.and_then(|option| word.strip_prefix(option)).map(str::len);
        found.push(match before {
            Some(name) if USER.contains(&name) => user_and_password(word).into_iter().collect(),
            Some(name) if is_secret_option(name) && !is_option(word) => vec![whole],
            // sshpass -p X, redis-cli -a X; mysql's -p takes none apart.
            Some(name) if Some(name) == short && is_secret_apart(name, words) => vec![whole],
            _ => match after_short {
                Some(rest @ 1..) => std::iter::once(word.len() - rest..word.len()).collect(),
                _ => in_word(word),
            },
        });
        before = Some(word);
    }
    found
}

fn is_secret_apart<T: AsRef<str>>(option: &str, words: &[T]) -> bool {
    let of_mysql = words.iter().any(|word| {
        let program = word.as_ref().rsplit('/').next().unwrap_or_default();
        program.starts_with("mysql") || program.starts_with("mariadb")
    });
    !(option == "-p" && of_mysql)
}

fn is_secret_option(word: &str) -> bool {
    word.starts_with('-') && !word.contains(['=', ' ', ':']) && !word.starts_with("-D") && is_secret(word)
}

/// `--name`, `-n`, `--name=value`; what else begins with a dash may be a secret.
fn is_option(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    let letters = name.trim_start_matches('-');
    name.starts_with('-')
        && letters.starts_with(|c: char| c.is_ascii_alphabetic())
        && letters.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:+".contains(c))
}

fn user_and_password(word: &str) -> Option<Range<usize>> {
    let colon = word.find(':')?;
    let password = &word[colon + 1..];
    // `1000:1000` is a user and a group.
    let is_number = password.bytes().all(|byte| byte.is_ascii_digit());
    (!is_number && !word.contains('/')).then_some(colon + 1..word.len())
}

/// In one word: after the name that it begins with, all of it is the value, whatever it contains.
pub(super) fn in_word(word: &str) -> Vec<Range<usize>> {
    if !may_be_secret(word) {
        return in_text(word);
    }
    let end = word.find(['=', ':']).unwrap_or(word.len());
    let leading = &word[..end];
    let is_name = leading.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if is_name && end + 1 < word.len() && !word[end..].starts_with("://") && is_secret(undashed(leading)) {
        return std::iter::once(end + 1..word.len()).collect();
    }
    in_text(word)
}

/// Without the dashes of an option, and without the letter of `-Dname`.
fn undashed(name: &str) -> &str {
    let bare = name.trim_start_matches('-');
    match name.len() - bare.len() {
        1 => bare.strip_prefix(['D', 'P']).unwrap_or(bare),
        _ => bare,
    }
}

/// In a text of any kind: a URL, a TOML file, a message that quotes a command line.
pub(super) fn in_text(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Each search costs some time in the shortest of texts, and the arguments of a JVM are many: what none can be without is
    // looked for first.
    let has = |signs: &[u8]| text.bytes().any(|byte| signs.contains(&byte));
    if has(b"@") {
        in_urls(text, &mut found);
        in_oracle_urls(text, &mut found);
    }
    if may_be_secret(text) || has(b"?&") {
        after_names(text, &mut found);
    }
    if has(b" ,\t") {
        after_options(text, &mut found);
        after_schemes(text, &mut found);
    }
    telling(text, &mut found);
    found.retain(|range: &Range<usize>| !range.is_empty());
    joined(found)
}

/// `https://user:password@host`; without a colon the whole is a token.
fn in_urls(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let end = end_of(text, start, |c| "/?#".contains(c) || c.is_whitespace() || "\"'<>".contains(c));
        let Some(sign) = text[start..end].rfind('@') else { continue };
        let user = &text[start..start + sign];
        let from = user.find(':').map_or(start, |colon| start + colon + 1);
        found.push(from..start + sign);
    }
}

/// `jdbc:oracle:thin:user/password@host`.
fn in_oracle_urls(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices("jdbc:oracle:") {
        let end = end_of(text, at, |c| c.is_whitespace() || "\"'".contains(c));
        let Some(sign) = text[at..end].find('@') else { continue };
        if let Some(slash) = text[at..at + sign].find('/') {
            found.push(at + slash + 1..at + sign);
        }
    }
}

/// `name=value`, `name: value`, `"name" = "value"`.
fn after_names(text: &str, found: &mut Vec<Range<usize>>) {
    for (sign, which) in text.match_indices(['=', ':']) {
        let before = text[..sign].trim_end_matches([' ', '\t']);
        let has_blank = before.len() < sign;
        let before = before.strip_suffix(['"', '\'']).unwrap_or(before);
        let before = before.strip_suffix('\\').unwrap_or(before);
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let start = before.trim_end_matches(is_of_name).len();
        let name = undashed(&before[start..]);
        let opening = text[..start].chars().next_back();
        let is_in_query = matches!(opening, Some('?' | '&'));
        let is_header = which == ":";
        if !(is_secret(name) || is_in_query && matches!(name, "key" | "sig" | "code")) {
            continue;
        }
        let rest = &text[sign + 1..];
        if is_header && rest.starts_with("//") {
            continue;
        }
        let value = sign + 1 + (rest.len() - rest.trim_start_matches([' ', '\t']).len());
        found.extend(value_at(text, value, opening, has_blank, is_header));
    }
}

/// The value that begins here. `opening` stands before its name, and would stand before the next one.
fn value_at(
    text: &str,
    start: usize,
    opening: Option<char>,
    has_blank: bool,
    is_header: bool,
) -> Option<Range<usize>> {
    let rest = &text[start..];
    let escape = if rest.starts_with("\\\"") || rest.starts_with("\\'") { 1 } else { 0 };
    if let Some(quote) = rest[escape..].chars().next().filter(|c| "\"'".contains(*c)) {
        let from = start + escape + 1;
        let mut is_escaped = false;
        let to = end_of(text, from, |c| {
            let ends = c == quote && (escape == 1 || !is_escaped) || c == '\n';
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let to = if escape == 1 && text[from..to].ends_with('\\') { to - 1 } else { to };
        return Some(from..to);
    }
    let first = rest.split([' ', '\t', '\n', ',']).next().unwrap_or_default();
    // TOML's numbers, truths, lists and tables.
    if has_blank
        && (rest.starts_with(['[', '{'])
            || first == "true"
            || first == "false"
            || first.parse::<f64>().is_ok())
    {
        return None;
    }
    let scheme = ["Bearer ", "Basic ", "Digest ", "Token "]
        .iter()
        .find(|scheme| rest.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme)));
    let from = start + scheme.map_or(0, |scheme| scheme.len());
    let stops = |c: char| match opening {
        Some('?' | '&') => "&#".contains(c),
        Some(';') => c == ';',
        Some(',' | '{' | '[') => ",}]".contains(c),
        _ if is_header => ",;".contains(c),
        _ => ",;&".contains(c),
    };
    Some(from..end_of(text, from, |c| c.is_whitespace() || "\"'<>\\".contains(c) || stops(c)))
}

/// `--password value`, also as neighbours in a list: `"--password", "value"`.
fn after_options(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices('-') {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || "-_.".contains(c)) {
            continue;
        }
        let end = end_of(text, at, |c| !(c.is_ascii_alphanumeric() || "-_.".contains(c)));
        let option = &text[at..end];
        let rest = &text[end..];
        let gap = rest.len() - rest.trim_start_matches(['"', '\'', '\\', ',', ' ', '\t', '\n']).len();
        let is_gap = rest[..gap].contains([' ', ',', '\t']);
        if !is_gap {
            continue;
        }
        let quote = rest[..gap].chars().next_back().filter(|c| "\"'".contains(*c));
        let from = end + gap;
        let to = end_of(text, from, |c| match quote {
            Some(quote) => c == quote || c == '\\',
            None => c.is_whitespace() || "\"',;\\".contains(c),
        });
        let value = &text[from..to];
        if USER.contains(&option) {
            found.extend(user_and_password(value).map(|range| from + range.start..from + range.end));
        } else if is_secret_option(option) && !is_option(value) {
            found.push(from..to);
        }
    }
}

/// `Bearer abc`, wherever it stands.
fn after_schemes(text: &str, found: &mut Vec<Range<usize>>) {
    for scheme in ["Bearer ", "bearer "] {
        for (at, _) in text.match_indices(scheme) {
            let from = at + scheme.len();
            let to = end_of(text, from, |c| !(c.is_ascii_alphanumeric() || "-._~+/=".contains(c)));
            // A word of a sentence has no digit.
            if text[from..to].contains(|c: char| c.is_ascii_digit()) {
                found.push(from..to);
            }
        }
    }
}

fn telling(text: &str, found: &mut Vec<Range<usize>>) {
    let mut is_begun = false;
    for (at, byte) in text.bytes().enumerate() {
        if !is_begun && matches!(byte, b'e' | b'g' | b'x' | b'A') {
            let is_told = |(beginning, _): &(&str, usize)| text[at..].starts_with(beginning);
            let end = || end_of(text, at, |c| !(c.is_ascii_alphanumeric() || "-._".contains(c)));
            if let Some((_, chars_min)) = TELLING.into_iter().find(is_told)
                && chars_min <= end() - at
            {
                found.push(at..end());
            }
        }
        is_begun = byte.is_ascii_alphanumeric();
    }
}

/// Where the first character stands from `start` on that ends it.
fn end_of(text: &str, start: usize, ends: impl FnMut(char) -> bool) -> usize {
    text[start..].find(ends).map_or(text.len(), |at| start + at)
}

/// In order, and those that overlap as one.
fn joined(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
