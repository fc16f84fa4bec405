//! Prose of Rust sources: texts in quotes that have some words, without those of tests.

use super::patterns::CODE;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use regex::Regex;
use std::sync::LazyLock;

/// Texts of fewer words are names, labels and parts of a sentence.
const WORDS_MIN: usize = 4;

/// The texts of a source, a paragraph for each of their lines.
pub fn paragraphs(source: &str) -> Vec<String> {
    let tokens: TokenStream = source.parse().expect("Rust");
    let mut found = Vec::new();
    scan(tokens, &mut found);
    found
}

/// Attributes are left out: comments, which the pages of help have, and what is compiled when. Those with an error's text stay.
fn scan(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                // Of a whole file.
                tokens.next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!'));
                let Some(TokenTree::Group(attribute)) =
                    tokens.next_if(|next| matches!(next, TokenTree::Group(_)))
                else {
                    continue;
                };
                let words = attribute.stream().to_string();
                if words.starts_with("cfg (test)") || words.starts_with("cfg(test)") {
                    // The item up to its end.
                    for token in tokens.by_ref() {
                        match token {
                            TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => break,
                            TokenTree::Punct(mark) if mark.as_char() == ';' => break,
                            _ => {}
                        }
                    }
                } else if words.starts_with("error") {
                    scan(attribute.stream(), found);
                }
            }
            TokenTree::Group(group) => scan(group.stream(), found),
            TokenTree::Literal(literal) => found.extend(prose(&literal.to_string())),
            _ => {}
        }
    }
}

/// The lines of a literal, where it is a text in quotes; what is put in when the program runs is a word.
fn prose(literal: &str) -> Vec<String> {
    static CONTINUED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\\\n\s*").expect("a pattern"));
    static INSERTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\{[^{}]*\}|`[^`]*`").expect("a pattern"));
    let Some(text) = literal.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return Vec::new();
    };
    let text = CONTINUED.replace_all(text, "").replace("\\\"", "\"").replace("\\n", "\n");
    let text = INSERTED.replace_all(&text, CODE);
    let is_prose = |line: &&str| line.split_whitespace().count() >= WORDS_MIN && !is_for_machines(line);
    text.lines().filter(is_prose).flat_map(parts_of_message).map(str::to_owned).collect()
}

/// Errors name the cause and, after a semicolon, the remedy: two sentences of a message, which begins with a small letter.
fn parts_of_message(line: &str) -> Vec<&str> {
    let is_message = !line.trim_start().starts_with(|c: char| c.is_uppercase()) || line.starts_with(CODE);
    match line.split_once("; ") {
        Some((cause, remedy)) if is_message => vec![cause, remedy],
        _ => vec![line],
    }
}

/// Elements of a page, styles, commands, and names of calls of the kernel.
fn is_for_machines(line: &str) -> bool {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let has_names_alone = || line.contains('_') && line.split(' ').all(|word| word.chars().all(is_name));
    let begins = ["<", "--", ":root", "{{"].iter().any(|mark| line.trim_start().starts_with(mark));
    begins || line.contains("=\"") || line.contains("/$") || has_names_alone()
}

#[test]
fn texts_are_found_in_code_and_not_in_tests_and_comments() {
    let source = r#"
        //! One; two; three; four.
        /// One; two; three; four.
        #[error("cannot read {path}: it is locked")]
        fn f() { say("a short one"); say("one sentence that \
            goes on with {value:?}\nand one that is another"); }
        #[cfg(test)]
        mod tests { fn g() { say("a text of a test"); } }
        const LAST: &str = "it cannot be read here; give {path} to it";
        const CALLS: &str = "read write pread64 close_range";
    "#;
    let expected = [
        "cannot read CODE: it is locked",
        "one sentence that goes on with CODE",
        "and one that is another",
        "it cannot be read here",
        "give CODE to it",
    ];
    assert_eq!(paragraphs(source), expected);
}
