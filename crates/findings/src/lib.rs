//! Findings for people, whatever made them: lines for a terminal, a list for a page. Their order is that of `assay_model::Finding`.
//! And what a run says about conditions of a build, and what a ratio of a metric is called in a sentence ([`voice`]).

mod explained;
mod gate_summary;
mod gates;
mod shown;
mod table;
pub mod voice;

pub use explained::{Explain, Explained};
pub use gate_summary::render_gate_summary;
pub use gates::{Judged, Judgement, line_of_gate, render_junit};
pub use shown::shown_unit;
pub use table::table;

use askama::Template;
use assay_kit::Terminal;
use assay_kit::ink::{Ink, fit};
use assay_kit::number::bytes;
use assay_kit::text::clean;
use assay_model::{Change, Finding, KnownFrom, Severity};
use std::fmt::Display;

/// Columns of the severity, left of all else.
pub const INDENT: usize = 9;

/// A finding in words, without control characters.
#[derive(Debug, Clone)]
pub struct FindingText {
    /// The rule that made the claim.
    pub rule: String,
    /// How grave it is.
    pub severity: Severity,
    /// The claim.
    pub claim: String,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// Where that stands in the logs; empty where it stands in none.
    pub at: String,
    /// What it costs and where that is known from, then who says otherwise.
    pub effects: Vec<String>,
    /// What the change does to resident bytes; empty where that is not known.
    pub gain: String,
    /// What to do.
    pub change: Option<Change>,
}

impl FindingText {
    /// Of a finding. `gives` is what its change does to resident bytes. Where its evidence stands, only the logs tell.
    pub fn of<R: Display>(finding: &Finding<R>, gives: &str) -> FindingText {
        let least = if finding.is_at_least { "at least " } else { "" };
        let gain = finding.gain_bytes.map(|gain| format!("{gives} {least}{}", bytes(gain)));
        FindingText {
            rule: finding.rule.to_string(),
            severity: finding.severity,
            claim: clean(&finding.claim),
            evidence: finding.evidence.iter().map(|text| clean(text)).collect(),
            at: String::new(),
            effects: effect(finding).into_iter().collect(),
            gain: gain.unwrap_or_default(),
            change: finding.change.as_ref().map(cleaned),
        }
    }

    /// The step, and what it does to resident bytes; `None` where there is nothing to do.
    pub fn step(&self) -> Option<String> {
        let step = &self.change.as_ref()?.command;
        Some(if self.gain.is_empty() { step.clone() } else { format!("{step} ({})", self.gain) })
    }

    /// The step, and a line for each of its alternatives; empty where there is nothing to do.
    pub fn what_to_do(&self) -> String {
        let alternatives = self.change.iter().flat_map(|change| &change.alternatives);
        let lines = self.step().into_iter().chain(alternatives.map(|other| format!("or: {other}")));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Findings in their order. `gives` is what their changes do to resident bytes: `gives back`.
pub fn told<'a, R: Display + 'a>(
    findings: impl IntoIterator<Item = &'a Finding<R>>,
    gives: &str,
) -> Vec<FindingText> {
    in_order(findings).into_iter().map(|finding| FindingText::of(finding, gives)).collect()
}

/// Findings in GC logs in their order; `places` says where evidence stands.
pub fn told_of_logs<'a, R: Display + 'a>(
    findings: impl IntoIterator<Item = &'a Finding<R>>,
    places: impl Fn(&[(usize, u64)]) -> String,
) -> Vec<FindingText> {
    let told = |finding: &Finding<R>| FindingText { at: places(&finding.at), ..FindingText::of(finding, "") };
    in_order(findings).into_iter().map(told).collect()
}

/// The step of the gravest finding that has one; `none` where no finding has one.
pub fn next_step(findings: &[FindingText], none: &str) -> String {
    findings.iter().find_map(FindingText::step).map_or_else(|| none.to_owned(), |step| format!("→ {step}"))
}

/// What an earlier version stored may be in the order of that version.
fn in_order<'a, R>(findings: impl IntoIterator<Item = &'a Finding<R>>) -> Vec<&'a Finding<R>> {
    let mut all: Vec<&Finding<R>> = findings.into_iter().collect();
    all.sort_by_key(|finding| finding.rank());
    all
}

/// What a finding costs. Only of what was not measured here it is said where that is known from.
fn effect<R>(finding: &Finding<R>) -> Option<String> {
    let effect = clean(finding.effect.as_ref()?);
    Some(match (finding.known_from, &finding.source) {
        (KnownFrom::Measured, None) => effect,
        (known_from, None) => format!("{effect} ({})", known_from_words(known_from)),
        (known_from, Some(source)) => {
            format!("{effect} ({}: {})", known_from_words(known_from), clean(source))
        }
    })
}

fn known_from_words(known_from: KnownFrom) -> &'static str {
    match known_from {
        KnownFrom::Other => "not known",
        known => known.word(),
    }
}

fn cleaned(change: &Change) -> Change {
    let optional = |text: &Option<String>| text.as_deref().map(clean);
    Change {
        command: clean(&change.command),
        alternatives: change.alternatives.iter().map(|text| clean(text)).collect(),
        expected_effect: optional(&change.expected_effect),
        persistent: optional(&change.persistent),
        undo: optional(&change.undo),
        risk: optional(&change.risk),
    }
}

/// Writes findings to a terminal, an empty line between them.
pub fn to_terminal(out: &mut Terminal, findings: &[FindingText]) {
    for (index, finding) in findings.iter().enumerate() {
        if index != 0 {
            out.blank();
        }
        one(out, finding);
    }
}

fn one(out: &mut Terminal, finding: &FindingText) {
    let word = fit(finding.severity.word(), INDENT);
    let word = if finding.severity == Severity::Note { out.ink.dim(&word) } else { out.ink.warn(&word) };
    out.hanging(&word, INDENT, &format!("{} ({})", finding.claim, finding.rule), Ink::bold);
    for evidence in &finding.evidence {
        out.paragraph(INDENT, evidence, Ink::dim);
    }
    if !finding.at.is_empty() {
        out.paragraph(INDENT, &format!("[{}]", finding.at), Ink::dim);
    }
    for effect in &finding.effects {
        out.paragraph(INDENT, effect, Ink::plain);
    }
    let (Some(change), Some(step)) = (&finding.change, finding.step()) else { return };
    out.hanging(&format!("{:INDENT$}→ ", ""), INDENT + 2, &step, Ink::good);
    let expected = change.expected_effect.iter().map(|text| ("expected", text));
    let alternatives = change.alternatives.iter().map(|other| ("or", other));
    let rest = [("keep", &change.persistent), ("undo", &change.undo), ("risk", &change.risk)];
    let rest = rest.into_iter().filter_map(|(word, text)| Some((word, text.as_ref()?)));
    for (word, text) in expected.chain(alternatives).chain(rest) {
        let head = format!("{:indent$}{word}: ", "", indent = INDENT + 2);
        out.hanging(&head, head.len(), text, Ink::dim);
    }
}

#[derive(Template)]
#[template(path = "findings.html")]
struct List<'a> {
    findings: &'a [FindingText],
}

/// Findings as a list of a page; where there are none, `none` says so, or nothing does where it is empty.
pub fn to_html(findings: &[FindingText], none: &str) -> String {
    if findings.is_empty() && none.is_empty() {
        return String::new();
    }
    if findings.is_empty() {
        return format!("<p>{}</p>", assay_kit::text::html(none));
    }
    List { findings }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_kit::{EntriesShown, TerminalView};
    use assay_model::{HostRule, MemoryRule};

    fn findings() -> [FindingText; 2] {
        let measured = Finding {
            gain_bytes: Some(3 << 20),
            is_at_least: true,
            ..Finding::measured(MemoryRule::MallocArenas, Severity::Note, "12 <arenas>", "92 threads")
                .to_do("-X")
        };
        let said = Finding {
            known_from: KnownFrom::Vendor,
            source: Some("the \u{1b}[31mmanual".to_owned()),
            effect: Some("threads wait".to_owned()),
            change: Some(Change {
                command: "echo never".to_owned(),
                alternatives: vec!["echo <madvise>".to_owned(), "wait".to_owned()],
                expected_effect: Some("no waits".to_owned()),
                undo: Some("echo always".to_owned()),
                ..Change::default()
            }),
            ..Finding::measured(HostRule::ThpMode, Severity::Error, "a claim", "always")
        };
        [
            FindingText::of(&measured, "gives back"),
            FindingText { at: "gc.log:7".to_owned(), ..FindingText::of(&said, "") },
        ]
    }

    #[test]
    fn lines_say_all_of_a_finding_and_where_it_is_known_from_unless_it_was_measured() {
        let mut out = Terminal::new(TerminalView { width: 80, color: false, entries: EntriesShown::All });
        to_terminal(&mut out, &findings());
        let wanted = "\
note     12 <arenas> (malloc-arenas)
         92 threads
         → -X (gives back at least 3.0 MiB)

error    a claim (thp-mode)
         always
         [gc.log:7]
         threads wait (vendor: the �[31mmanual)
         → echo never
           expected: no waits
           or: echo <madvise>
           or: wait
           undo: echo always
";
        assert_eq!(out.finish(), wanted);
    }

    #[test]
    fn the_next_step_is_that_of_the_first_finding_with_one_and_its_alternatives_stand_below() {
        let [measured, said] = findings();
        let bare = FindingText { change: None, ..said.clone() };
        assert_eq!(
            next_step(&[bare.clone(), measured.clone()], "none"),
            "→ -X (gives back at least 3.0 MiB)"
        );
        let of_one = |told: &FindingText| next_step(std::slice::from_ref(told), "none");
        assert_eq!([of_one(&said), of_one(&bare)], ["→ echo never", "none"]);
        assert_eq!(measured.what_to_do(), "-X (gives back at least 3.0 MiB)");
        assert_eq!(said.what_to_do(), "echo never\nor: echo <madvise>\nor: wait");
        assert_eq!(bare.what_to_do(), "");
    }

    #[test]
    fn a_page_has_the_same_with_texts_escaped_and_says_that_there_are_none() {
        let page = to_html(&findings(), "");
        for part in [
            "<li class=\"note\">",
            "<bdi>12 &lt;arenas&gt;</bdi>",
            "→ <bdi><span class=\"kept\">-X</span></bdi> <span class=\"gain\">(gives back at least 3.0 MiB)</span></span>",
            "<span class=\"evidence at\"><bdi>gc.log:7</bdi></span>",
            "<span class=\"effect\"><bdi>threads wait (vendor: ",
            "<span class=\"alternative\">or: <bdi>echo &lt;madvise&gt;</bdi></span>\n",
            "<bdi>echo never</bdi></span>\n<span class=\"effect\">Expected: <bdi>no waits</bdi></span>\n",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert_eq!(to_html(&[], "a < b"), "<p>a &lt; b</p>");
        assert_eq!(to_html(&[], ""), "");
    }
}
