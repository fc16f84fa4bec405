//! Findings for people, whatever made them: lines for a terminal, a list for a page. Their order is that of `assay_model::Finding`.
//! And what a run says about conditions of a build; and which of the findings of several readers stands first.

mod gate_summary;
mod gates;
mod sarif;
mod shown;
pub mod why;

pub use gate_summary::render_gate_summary;
pub use gates::{Judged, Judgement, line_of_gate, render_junit};
pub use sarif::{Alert, Alerts, Rule, render_sarif};
pub use shown::shown_unit;

use assay_kit::document::{self, Step};
use assay_kit::number::bytes;
use assay_kit::text::clean;
use assay_model::{Change, Finding, KnownFrom};
use std::fmt::Display;

pub use assay_kit::document::{findings_html as to_html, findings_terminal as to_terminal};

/// A finding in words, without control characters. `gives` is what its change does to resident bytes. Where its evidence stands, only the
/// logs tell.
pub fn in_words<R: Display>(finding: &Finding<R>, gives: &str) -> document::Finding {
    let least = if finding.is_at_least { "at least " } else { "" };
    let gain = finding.gain_bytes.map(|gain| format!("{gives} {least}{}", bytes(gain)));
    document::Finding {
        rule: finding.rule.to_string(),
        severity: finding.severity.word(),
        claim: clean(&finding.claim),
        evidence: finding.evidence.iter().map(|text| clean(text)).collect(),
        at: String::new(),
        effects: effect(finding).into_iter().collect(),
        step: finding.change.as_ref().map(|change| step(change, gain.unwrap_or_default())),
    }
}

/// Findings in their order. `gives` is what their changes do to resident bytes: `gives back`.
pub fn told<'a, R: Display + 'a>(
    findings: impl IntoIterator<Item = &'a Finding<R>>,
    gives: &str,
) -> Vec<document::Finding> {
    in_order(findings).into_iter().map(|finding| in_words(finding, gives)).collect()
}

/// Findings in GC logs in their order; `places` says where evidence stands.
pub fn told_of_logs<'a, R: Display + 'a>(
    findings: impl IntoIterator<Item = &'a Finding<R>>,
    places: impl Fn(&[(usize, u64)]) -> String,
) -> Vec<document::Finding> {
    let told = |finding: &Finding<R>| document::Finding { at: places(&finding.at), ..in_words(finding, "") };
    in_order(findings).into_iter().map(told).collect()
}

/// The step of the gravest finding that has one; `none` where no finding has one.
pub fn next_step(findings: &[document::Finding], none: &str) -> String {
    let step = findings.iter().find_map(|finding| finding.step.as_ref());
    step.map_or_else(|| none.to_owned(), |step| format!("→ {}", step.with_gain()))
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

fn step(change: &Change, gain: String) -> Step {
    let optional = |text: &Option<String>| text.as_deref().map(clean);
    Step {
        command: clean(&change.command),
        gain,
        alternatives: change.alternatives.iter().map(|text| clean(text)).collect(),
        expected_effect: optional(&change.expected_effect),
        persistent: optional(&change.persistent),
        undo: optional(&change.undo),
        risk: optional(&change.risk),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_kit::{Extent, Terminal, TerminalView};
    use assay_model::{HostRule, RuleId, Severity};

    fn findings() -> [document::Finding; 2] {
        let measured = Finding {
            gain_bytes: Some(3 << 20),
            is_at_least: true,
            ..Finding::measured(RuleId::of("malloc-arenas"), Severity::Note, "12 <arenas>", "92 threads")
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
            in_words(&measured, "gives back"),
            document::Finding { at: "gc.log:7".to_owned(), ..in_words(&said, "") },
        ]
    }

    #[test]
    fn lines_say_all_of_a_finding_and_where_it_is_known_from_unless_it_was_measured() {
        let mut out = Terminal::new(TerminalView { width: 80, color: false, extent: Extent::All });
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
        let bare = document::Finding { step: None, ..said.clone() };
        assert_eq!(next_step(&[bare.clone(), measured], "none"), "→ -X (gives back at least 3.0 MiB)");
        let of_one = |told: &document::Finding| next_step(std::slice::from_ref(told), "none");
        assert_eq!([of_one(&said), of_one(&bare)], ["→ echo never", "none"]);
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
