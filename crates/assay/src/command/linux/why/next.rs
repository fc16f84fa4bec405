//! The command that looks closer.

use assay_model::{WhyReader, WhyReport};

/// At a process, where its costliest finding is from. Without one memory is recorded: what grows shows only over time.
pub fn of_process(report: &WhyReport, pid: u32) -> String {
    let first = report.findings.first().filter(|one| one.stands_out);
    match first.map(|one| one.reader) {
        Some(WhyReader::Time) => format!("assay time {pid} --for 60s --html time.html"),
        Some(WhyReader::Gc) => format!("assay gc {pid} --html gc.html"),
        Some(WhyReader::Host) => "assay host --html host.html".to_owned(),
        Some(WhyReader::Memory | WhyReader::Other) | None => {
            format!("assay memory {pid} --record memory.ndjson --for 1h --html memory.html")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Finding, RuleId, Severity, WhyFinding};

    #[test]
    fn the_reader_of_the_first_finding_looks_closer_and_without_one_memory_is_recorded() {
        let next = |reader, stands_out| {
            let finding = Finding::measured(RuleId::of("a-rule"), Severity::Error, "a claim", "1 of 2");
            let one = WhyFinding { reader, finding, cost: None, stands_out, follows_from: None };
            of_process(&WhyReport { findings: vec![one], ..WhyReport::default() }, 42)
        };
        assert_eq!(next(WhyReader::Gc, true), "assay gc 42 --html gc.html");
        assert!(next(WhyReader::Time, true).starts_with("assay time 42 "));
        assert!(next(WhyReader::Gc, false).starts_with("assay memory 42 --record"), "nothing stands out");
    }
}
