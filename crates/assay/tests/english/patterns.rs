//! Patterns on which readers stumbled, counted over all texts of the project when it was read by natives.

use regex::Regex;
use std::sync::LazyLock;

/// In a sentence, in place of a piece of code or a value.
pub const CODE: &str = "CODE";

/// Longer sentences have to be read twice.
const WORDS_MAX: usize = 25;

/// Something that a sentence does not contain.
struct Pattern {
    found: &'static str,
    /// A sentence that matches this, too, is right: a question, a title.
    unless: &'static str,
    instead: &'static str,
}

const NEVER: &str = "[^\\s\\S]";

const PATTERNS: [Pattern; 13] = [
    Pattern { found: r";(\s|$)", unless: NEVER, instead: "a semicolon: write two sentences" },
    Pattern {
        found: r"^What\b|(\b([Oo]f|[Bb]y|than|[Ff]rom|[Ww]ith|[Ff]or|to|[Oo]n|[Ii]n|over|as|and|or)|,) what\b",
        unless: r"\?|\bwhat to\b|^What( \S+){1,8}[^.:;,]$",
        instead: "a clause with `what` as a noun: use the noun",
    },
    Pattern {
        found: r"\b(is|are|was|were) no [a-z]+",
        unless: r"\b([Tt]here|here|it) (is|are|was|were) no\b|\bno (longer|more|less|fewer|other|later|such|one)\b",
        instead: "`is no`: write `is not a`",
    },
    Pattern { found: r"^Of ", unless: NEVER, instead: "begins with `Of`: the subject first" },
    Pattern { found: r"^Without ", unless: NEVER, instead: "begins with `Without`: the subject first" },
    Pattern {
        found: r"^Where ",
        unless: r"\?|^Where( \S+){1,8}[^.:;,]$",
        instead: "begins with `Where`: write `If`, or the subject first",
    },
    Pattern {
        found: r"\bby others\b|\bof others\b|\bothers'|\bothers (use|do|run|are|have|make|get)\b",
        unless: NEVER,
        instead: "`others`: say who",
    },
    Pattern { found: r"\baccepted( are| is|:| [0-9])", unless: NEVER, instead: "`accepted`: write `limit`" },
    Pattern {
        found: r"\b([Ll]ogs?|[Ff]iles?|[Pp]ages?|[Rr]eports?|[Kk]ernels?|[Cc]olumns?|[Tt]ables?|[Ll]ines?|[Pp]lans?|[Rr]esults?|[Ss]amples?|[Rr]ecordings?|[Rr]ows?) (say|says|said|tell|tells|told)\b",
        unless: NEVER,
        instead: "a thing that says: it contains, shows or reports",
    },
    Pattern {
        found: r"\b(anew|[Mm]eanwhile|[Ww]hoever|[Ww]hatever|[Bb]eside|thereby|thereof|therein|whereby)\b",
        unless: NEVER,
        instead: "again; during; who; next to",
    },
    Pattern {
        found: r"\bof which\b|, of (it|them)\b",
        unless: NEVER,
        instead: "`of which`: write `including`",
    },
    Pattern {
        found: r"\b([Ss]tands?|lies?|lay|stood) (in|at|for|behind|below|above|under|on|there|by|first|here|as)\b",
        unless: NEVER,
        instead: "stands, lies: write `is`",
    },
    Pattern {
        found: r"\b(requests?|times|[KMG]i?B|bytes|collections|lines|messages|samples|\d+) an? (second|request|minute|hour|day)\b",
        unless: NEVER,
        instead: "a rate: write `/s` or `per second`",
    },
];

static COMPILED: LazyLock<Vec<(Regex, Regex, &str)>> = LazyLock::new(|| {
    let compiled = |text| Regex::new(text).expect("a pattern");
    PATTERNS
        .iter()
        .map(|pattern| (compiled(pattern.found), compiled(pattern.unless), pattern.instead))
        .collect()
});

/// A paragraph's sentences. One ends at a mark that an upper-case letter, or code, follows.
fn sentences(paragraph: &str) -> Vec<&str> {
    static END: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[.!?:]\s+[A-Z(\[]").expect("a pattern"));
    let mut sentences = Vec::new();
    let mut rest = paragraph;
    while let Some(end) = END.find(rest) {
        let (sentence, next) = rest.split_at(end.end() - 1);
        sentences.push(sentence.trim());
        rest = next;
    }
    sentences.push(rest.trim());
    sentences
}

/// What is to be mended in a paragraph, a line each.
pub fn faults(paragraph: &str) -> Vec<String> {
    // Other people's words stay as they are.
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("“[^”]*”").expect("a pattern"));
    let paragraph = QUOTED.replace_all(paragraph, "QUOTE");
    let mut faults = Vec::new();
    for sentence in sentences(&paragraph) {
        // Figures are not words, nor are code and values that the program puts in.
        let is_word = |word: &&str| word.chars().any(char::is_alphabetic) && !word.contains(CODE);
        let words = sentence.split_whitespace().filter(is_word).count();
        if words > WORDS_MAX {
            faults.push(format!("{words} words, {WORDS_MAX} at most: {sentence}"));
        }
        let found = COMPILED
            .iter()
            .filter(|(found, unless, _)| found.is_match(sentence) && !unless.is_match(sentence));
        faults.extend(found.map(|(_, _, instead)| format!("{instead}: {sentence}")));
    }
    faults
}

#[test]
fn each_pattern_is_found_in_a_sentence_that_has_it() {
    let wrong = [
        "It is slow; it waits.",
        "What is absent is empty.",
        "The file is no recording.",
        "Of these lines none is known.",
        "Without a limit it grows.",
        "Where it lacks, nothing is shown.",
        "Processors are used by others.",
        "The lag is 2 ms, accepted are 1 ms.",
        "The log says nothing.",
        "It is read anew.",
        "It holds 3 MiB, of it 1 MiB free.",
        "The folder lies in the home.",
        "It sends 20 requests a second.",
    ];
    assert_eq!(wrong.len(), PATTERNS.len());
    for (at, sentence) in wrong.iter().enumerate() {
        assert_eq!(faults(sentence).len(), 1, "{sentence}");
        assert!(faults(sentence)[0].starts_with(PATTERNS[at].instead), "{sentence}: {:?}", faults(sentence));
    }
    let long = "word ".repeat(WORDS_MAX + 1);
    assert_eq!(faults(&long).len(), 1);
}

#[test]
fn plain_sentences_have_no_fault() {
    let plain = "There is no log. It is no longer read: see what to do. What is slow? It sends 20 requests/s. If it lacks, see `x; y`.";
    assert_eq!(faults(&plain.replace("`x; y`", "CODE")), Vec::<String>::new());
    assert_eq!(sentences("One. Two: Three? four"), ["One.", "Two:", "Three? four"]);
}
