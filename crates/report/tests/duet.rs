//! What the outputs of a duet say: what was compared with what, and under which conditions.

use crate::rendered::{html, markdown, terminal};
use crate::sample;
use assay_model::{Design, HalvesOf, PlannedDuet, StoredRun, metric};

fn duet(halves_of: HalvesOf, equal: &[&str]) -> StoredRun {
    let mut run = sample::run();
    run.plan.design = Design::Duet;
    run.plan.duet = Some(PlannedDuet {
        halves: ["0,2-3".to_owned(), "1,4-5".to_owned()],
        halves_of,
        left_over: "6".to_owned(),
        windows: 6,
        equal_options: equal.iter().map(|option| (*option).to_owned()).collect(),
        own_options: vec!["after: -XX:+UseSerialGC".to_owned()],
    });
    run
}

#[test]
fn a_duet_says_what_it_is_and_what_was_made_equal() {
    let run = duet(HalvesOf::Cores, &["-XX:ActiveProcessorCount=3", "-XX:ParallelGCThreads=3"]);
    for said in [markdown(&run), terminal(&run, 300, false), html(&run)] {
        assert!(said.contains("A duet: both variants ran at the same time"), "{said}");
        assert!(said.contains("on 3 processors of its own"), "{said}");
        assert!(!said.contains("each side"), "whole cores need no caution: {said}");
    }
    let page = html(&run);
    for condition in [
        "0,2-3 and 1,4-5; 6 left over, whole cores",
        "6, the halves swapped in every one",
        "-XX:ActiveProcessorCount=3 -XX:ParallelGCThreads=3",
        "after: -XX:+UseSerialGC",
    ] {
        assert!(page.contains(condition), "{condition}");
    }
}

#[test]
fn halves_of_one_core_are_a_caution_and_a_server_that_takes_no_options_is_said() {
    let run = duet(HalvesOf::ThreadsOfOneCore, &[]);
    let said = markdown(&run);
    assert!(said.contains("The two halves are hardware threads of one core"), "{said}");
    assert!(html(&run).contains("nothing: the command takes no JVM options of the study"));
    assert!(
        markdown(&duet(HalvesOf::Processors, &[])).contains("does not say which processors share a core")
    );
    assert!(!markdown(&sample::run()).contains("A duet"));
}

#[test]
fn halves_without_time_to_spare_are_a_caution() {
    let with_cpu_ms = |cpu_ms: f64| {
        let mut run = duet(HalvesOf::Cores, &[]);
        for window in run.trials.iter_mut().flat_map(|stored| &mut stored.trial.windows) {
            window.metrics.insert(metric::CPU_MS_PER_REQUEST.to_owned(), cpu_ms);
            window.metrics.insert(metric::GENERATOR_CPU_MS_PER_REQUEST.to_owned(), 0.5);
            window.metrics.insert(metric::THROUGHPUT_PER_S.to_owned(), 1000.0);
        }
        markdown(&run)
    };
    let full = with_cpu_ms(2.4);
    assert!(full.contains("used 90 % or more of their half"), "{full}");
    assert!(!with_cpu_ms(1.5).contains("of their half"), "2 of 3 processors");
}
