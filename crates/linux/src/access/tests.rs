//! Each cause of a refusal has its own words and a command.

use super::*;

fn same_user() -> Facts {
    Facts {
        own_uid: Some(1000),
        target_uid: Some(1000),
        has_capability: Some(false),
        namespaces: 1,
        ..Facts::default()
    }
}

#[track_caller]
fn check(facts: &Facts, wish: Wish, cause: &str, fix: &str) {
    let denial = facts.explain(42, wish);
    assert!(denial.cause.contains(cause) && denial.fix.contains(fix), "{denial}");
}

#[test]
fn another_user_is_named_with_both_ways_out() {
    let facts = Facts { own_uid: Some(65534), ..same_user() };
    check(&facts, Wish::Look, "process 42 belongs to user 1000, and this is user 65534", "sudo assay ...");
    check(&facts, Wish::Look, "without CAP_SYS_PTRACE", "sudo -u '#1000' assay");
}

#[test]
fn yama_is_named_only_where_it_has_a_say() {
    for (scope, cause, fix) in [
        (1, "only a process's own ancestors", "sysctl kernel.yama.ptrace_scope=0"),
        (2, "only root", "sudo assay ..."),
        (3, "nobody", "boot with kernel.yama.ptrace_scope below 3"),
    ] {
        let facts = Facts { ptrace_scope: Some(scope), ..same_user() };
        check(&facts, Wish::Attach, cause, fix);
        assert!(!facts.explain(42, Wish::Look).cause.contains("Yama"));
    }
    let root = Facts { has_capability: Some(true), ptrace_scope: Some(3), ..same_user() };
    check(&root, Wish::Attach, "ptrace_scope is 3", "boot with");
}

#[test]
fn a_container_without_the_capability_is_told_how_to_get_it() {
    let facts = Facts { own_uid: Some(0), target_uid: Some(1000), ..same_user() };
    check(&facts, Wish::Attach, "without CAP_SYS_PTRACE", "--cap-add SYS_PTRACE");
    let other = Facts { has_capability: Some(true), is_in_user_namespace: true, ..same_user() };
    check(&other, Wish::Attach, "outside of this container's user namespace", "on the host as root");
}

#[test]
fn a_process_that_hides_from_its_own_user_is_told_apart() {
    check(&Facts { is_undumpable: true, ..same_user() }, Wish::Look, "hides from its own user", "sudo assay");
    check(&same_user(), Wish::Look, "rights (capabilities or a user namespace)", "sudo assay");
}

#[test]
fn hidden_and_ended_processes_are_told_apart() {
    let gone = Facts { target_uid: None, ..same_user() };
    check(&gone, Wish::Look, "there is no process 42", "ps -e");
    check(&Facts { is_hidden: true, ..gone }, Wish::Look, "hidepid", "sudo assay");
    let at = |line: &str| hides(Path::new("/proc"), line);
    assert!(at("proc /proc proc rw,nosuid,hidepid=invisible 0 0") && at("proc /proc proc rw,hidepid=2 0 0"));
    assert!(!at("proc /proc proc rw,hidepid=0 0 0") && !at("proc /mnt proc rw,hidepid=2 0 0"));
    assert!(!at("proc /proc proc rw,nosuid 0 0") && !at(""));
}

#[test]
fn user_namespaces_are_seen_by_their_map() {
    assert!(is_whole_map("         0          0 4294967295\n") && !is_whole_map("0 100000 65536\n"));
    assert_eq!(uid("Name:\tx\nUid:\t1000\t1001\t1002\t1003\n", 1), Some(1001));
    assert_eq!(uid("Uid:\tx\n", 0), None);
}
