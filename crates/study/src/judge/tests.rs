//! Parts of a set of flags, their time, and flags that are refused before anything runs.

use super::parts::{Stages, parts_of};
use super::*;
use assay_model::JudgedPartKind;

fn flags(texts: &str, idle: &[&str]) -> Vec<JudgedFlag> {
    let flag = |text: &str| JudgedFlag {
        text: text.to_owned(),
        group: group_of(text),
        remark: None,
        why: None,
        is_idle: group_of(text) == FlagGroup::Unlock || idle.contains(&text),
    };
    texts.split(' ').map(flag).collect()
}

/// Kind, name and number of flags of each part.
fn named(flags: &[JudgedFlag]) -> Vec<(JudgedPartKind, String, usize)> {
    parts_of(flags).into_iter().map(|part| (part.kind, part.name, part.flags.len())).collect()
}

#[test]
fn the_whole_is_compared_first_then_groups_then_flags_and_nothing_twice() {
    use JudgedPartKind::{Flag, Group, Whole};
    let part = |kind, name: &str, flags| (kind, name.to_owned(), flags);
    let set =
        flags("-Xmx1g -XX:+UnlockExperimentalVMOptions -XX:+UseG1GC -XX:MaxGCPauseMillis=50 -Dx=1", &[]);
    assert_eq!(
        named(&set),
        [
            part(Whole, "all 5 flags", 5),
            part(Group, "heap size", 1),
            part(Group, "collector", 2),
            part(Group, "properties", 1),
            part(Flag, "-XX:+UseG1GC", 1),
            part(Flag, "-XX:MaxGCPauseMillis=50", 1),
        ]
    );
    let of_one_group = flags("-XX:+UseG1GC -XX:MaxGCPauseMillis=50", &[]);
    assert_eq!(
        named(&of_one_group),
        [
            part(Whole, "all 2 flags", 2),
            part(Flag, "-XX:+UseG1GC", 1),
            part(Flag, "-XX:MaxGCPauseMillis=50", 1)
        ]
    );
    assert_eq!(named(&flags("-Xmx1g", &[])), [part(Whole, "the flag", 1)]);
    let one_acts = flags("-Xmx1g -XX:+UseG1GC", &["-XX:+UseG1GC"]);
    assert_eq!(named(&one_acts), [part(Whole, "all 2 flags", 2)], "what does nothing costs no trial");
    let idle = flags("-Xmx1g -XX:+UseG1GC -XX:MaxGCPauseMillis=50", &["-XX:+UseG1GC"]);
    assert_eq!(
        named(&idle)[1..],
        [part(Group, "heap size", 1), part(Group, "collector", 2)],
        "and belongs to its group"
    );
}

#[test]
fn the_whole_may_take_half_groups_half_of_the_rest_and_flags_what_is_left() {
    let set = parts_of(&flags("-Xmx1g -Dx=1 -XX:+UseG1GC -XX:MaxGCPauseMillis=50", &[]));
    let mut stages = Stages::new(&set, 1_600.0);
    assert_eq!(stages.share_s(0, 100.0), Some(800.0));
    stages.spent_s(1, 400.0);
    assert_eq!(
        stages.share_s(1, 100.0),
        Some(200.0),
        "half of the 1,200 s that the whole left, for three groups"
    );
    stages.spent_s(2, 600.0);
    assert_eq!(stages.share_s(2, 100.0), Some(200.0));
    assert_eq!(stages.share_s(2, 300.0), Some(300.0), "no interval in less");
    stages.spent_s(3, 700.0);
    assert_eq!(stages.share_s(3, 100.0), Some(300.0), "with what the second left");
    stages.spent_s(4, 1_000.0);
    assert_eq!(stages.share_s(4, 100.0), Some(300.0), "two flags");
    stages.took_s(300.0, 3);
    assert_eq!(stages.share_s(4, 100.0), Some(320.0), "three pairs at the pace of those before");
    stages.spent_s(5, 1_550.0);
    assert_eq!(stages.share_s(5, 100.0), None, "no time");
    assert_eq!(
        Stages::new(&parts_of(&flags("-Xmx1g", &[])), 600.0).share_s(0, 100.0),
        Some(600.0),
        "nothing else"
    );
}

#[test]
fn no_flag_and_a_flag_twice_are_refused() {
    let refused = |options: &[&str]| {
        let options: Vec<String> = options.iter().map(|text| (*text).to_owned()).collect();
        check_options(&options).expect_err("refused").to_string()
    };
    assert!(refused(&[]).contains("assay judge '"), "an example");
    let said = refused(&["-Xmx1g", "-XX:+UseG1GC", "-XX:MaxHeapSize=2g"]);
    assert!(said.starts_with("-Xmx1g and -XX:MaxHeapSize=2g set the same"), "{said}");
}

#[test]
fn a_run_has_a_folder_whose_name_says_what_was_compared() {
    assert_eq!(slug("-XX:+UseG1GC"), "XX--UseG1GC");
    assert_eq!(slug("memory outside the heap"), "memory-outside-the-heap");
}
