//! An answer to "why" as people see it: golden files, one screen of a terminal, and an answer where nothing stands out.

use crate::{gc_sample, golden, kafka};
use assay_findings::why::{gather, rank};
use assay_model::*;
use assay_report::*;

/// Lines of a terminal that is not scrolled.
const SCREEN: usize = 40;

fn ranked(parts: WhyReport) -> WhyReport {
    WhyReport { schema: schema::WHY.to_owned(), findings: rank(gather(&parts, None)), ..parts }
}

fn silent(reader: WhyReader) -> SilentReader {
    SilentReader {
        reader,
        why: "process 4242 belongs to another user".to_owned(),
        enable: vec!["run it as root, or with CAP_SYS_PTRACE".to_owned()],
    }
}

/// A process whose log has a leak, and a reader that could not answer.
fn leaking() -> WhyReport {
    ranked(WhyReport {
        subject: "kafka.Kafka (4242)".to_owned(),
        pid: Some(4242),
        silent: vec![silent(WhyReader::Time)],
        next: "assay gc 4242 --html gc.html".to_owned(),
        memory: Some(kafka::snapshot()),
        gc: Some(gc_sample::g1()),
        ..WhyReport::default()
    })
}

fn quiet() -> WhyReport {
    let memory = MemoryReport { findings: Vec::new(), ..kafka::snapshot() };
    ranked(WhyReport {
        subject: "kafka.Kafka (4242)".to_owned(),
        pid: Some(4242),
        next: "assay memory 4242 --record memory.ndjson --for 1h --html memory.html".to_owned(),
        memory: Some(memory),
        ..WhyReport::default()
    })
}

fn terminal(report: &WhyReport, width: u16) -> String {
    why::document(report).terminal(TerminalView { width, color: false, extent: Extent::Short })
}

#[test]
fn the_forms_of_the_samples_are_the_golden_files() {
    golden::expect("why/leak", &why::document(&leaking()));
    golden::expect("why/quiet", &why::document(&quiet()));
}

#[test]
fn an_answer_is_one_screen_however_much_was_found() {
    let mut much = leaking();
    let memory = much.memory.as_mut().expect("a snapshot");
    let planted: Vec<_> = ["a-rule", "b-rule", "c-rule", "d-rule", "e-rule", "f-rule"]
        .into_iter()
        .map(|rule| {
            let found = Finding::measured(
                RuleId::of(rule),
                Severity::Warning,
                "long words ".repeat(9),
                "1 of 2, ".repeat(30),
            );
            found.of_resident(memory.rss_bytes / 2).to_do("Do one thing").or("Do another").or("Do a third")
        })
        .collect();
    memory.findings.extend(planted);
    much.silent = vec![silent(WhyReader::Time), silent(WhyReader::Host)];
    let much = ranked(much);
    for report in [&leaking(), &quiet(), &much] {
        for width in [80, 100, 160] {
            let said = terminal(report, width);
            assert!(said.lines().count() <= SCREEN, "{width} columns: {}\n{said}", said.lines().count());
        }
    }
    assert!(terminal(&much, 100).contains("more stand out"));
}

#[test]
fn where_nothing_stands_out_that_is_the_answer_with_what_was_looked_at() {
    let said = terminal(&quiet(), 100);
    assert!(said.contains("Nothing stands out. Looked at: Memory."), "{said}");
    assert!(said.contains("One snapshot: it shows no"), "{said}");
    assert!(said.contains("Look next: assay memory 4242 --record"), "{said}");
}

#[test]
fn who_could_not_answer_says_why_and_what_would_help() {
    let said = terminal(&leaking(), 100);
    assert!(said.contains("belongs to another user; run it as root"), "{said}");
    let nobody = WhyReport { silent: vec![silent(WhyReader::Memory)], ..WhyReport::default() };
    assert!(terminal(&nobody, 100).contains("No reader could answer."));
}

#[test]
fn the_first_step_is_that_of_the_cause_and_effects_have_none() {
    let said = terminal(&leaking(), 100);
    assert!(said.contains("→ Take two heap dumps some hours apart"), "{said}");
    let step = said.find("→ ").expect("a step");
    assert!(!said[..step].contains("-Xmx"), "{said}");
}
