//! What the outputs of a merged run say of its hosts.

use crate::rendered::{html, markdown, terminal};
use crate::sample;
use assay_model::{AcrossHosts, Estimate, HostOfRun, HostRatio, Hosts, HostsVerdict, StoredRun, schema};

fn merged(verdict: HostsVerdict) -> StoredRun {
    let mut run = sample::run();
    let host = |blocks: &[u32]| HostOfRun { blocks: blocks.to_vec(), facts: run.host.clone() };
    let ratio = |host: u32, estimate: f64| HostRatio {
        host,
        blocks: 2,
        ratio: Estimate { estimate, low: None, high: None },
    };
    let across = AcrossHosts {
        metric: "garbage_kib_per_request".to_owned(),
        variant: "64-bit/1g".to_owned(),
        baseline: "32-bit/1g".to_owned(),
        ratios: vec![ratio(1, 1.5), ratio(2, 1.3)],
        within_percent: Some(1.25),
        between_percent: Some(10.5),
        verdict,
    };
    let hosts = vec![host(&[1, 3]), host(&[2, 4])];
    run.hosts = Some(Hosts { schema: schema::HOSTS.to_owned(), hosts, across: vec![across] });
    run
}

#[test]
fn each_host_stands_with_its_blocks_and_ratios() {
    let run = merged(HostsVerdict::NoDifferenceShown);
    for said in [markdown(&run), terminal(&run, 200, false), html(&run)] {
        // A terminal folds sentences; a page does not, and keeps figures in one piece.
        let said = said.replace("<span class=\"kept\">", "").replace("</span>", "");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("Between hosts"), "{said}");
        assert!(said.contains("no difference between the 2 hosts is shown"), "{said}");
        assert!(said.contains("10.5 % between hosts, 1.25 % from block to block"), "{said}");
        assert!(said.contains("AMD EPYC 7B13") && said.contains("1, 3") && said.contains("2, 4"), "{said}");
    }
    assert!(!markdown(&sample::run()).contains("Between hosts"), "a run of one machine");
}

#[test]
fn an_answer_that_depends_on_the_host_is_a_warning() {
    let said = markdown(&merged(HostsVerdict::Differs));
    let before = said.split_once("Before relying on it").map(|(_, after)| after).unwrap_or_default();
    assert!(before.contains("of 64-bit/1g against 32-bit/1g depends on the host"), "{said}");
    let few = markdown(&merged(HostsVerdict::TooFewBlocks));
    assert!(few.contains("too few blocks to show a difference"), "{few}");
}
