//! Whether the kernel killed a process, by recorded trees of control groups before and after.

use crate::report::{MIB, Snapshot};
use assay_linux::{ProcRoot, SysRoot};
use assay_memory::{Ending, findings};
use assay_model::{Finding, MemoryEnd, MemoryReport, RuleId};
use assay_testkit::FakeTree;
use std::fs;

const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";
const V2: &str = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const OF_POD: &str = "sys/fs/cgroup/kubepods/pod1";

/// Of process 7: in `group`, by `mount`.
fn tree(group: &str, mount: &str) -> FakeTree {
    FakeTree::with(&[("proc/7/cgroup", group), ("proc/self/mountinfo", mount)])
}

fn write(tree: &FakeTree, folder: &str, file: &str, text: &str) {
    let folder = tree.path().join(folder);
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join(file), text).expect("written");
}

fn watch(tree: &FakeTree) -> Ending {
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    Ending::watch_at(&proc, &sys, 7).expect("as documented")
}

fn kills(ending: &Ending) -> Option<u64> {
    ending.ended(None).oom_kills
}

fn events(kills: u64) -> String {
    format!("low 0\nhigh 0\nmax 40\noom {kills}\noom_kill {kills}\noom_group_kill 0\n")
}

#[test]
fn a_kill_is_counted_in_the_group_and_one_before_the_last_snapshot_is_not() {
    let tree = tree("0::/kubepods/pod1/app\n", V2);
    let app = format!("{OF_POD}/app");
    write(&tree, &app, "memory.events", &events(1));
    let mut ending = watch(&tree);
    assert_eq!(kills(&ending), Some(0), "it ended by itself");
    write(&tree, &app, "memory.events", &events(2));
    assert_eq!(kills(&ending), Some(1));
    let counts = ending.count().expect("readable");
    ending.outlived(counts);
    assert_eq!(kills(&ending), Some(0), "that was another process: this one ran on");
}

#[test]
fn where_the_container_s_group_is_gone_the_pod_s_still_tells() {
    let tree = tree("0::/kubepods/pod1/app\n", V2);
    let app = format!("{OF_POD}/app");
    write(&tree, &app, "memory.events", &events(0));
    write(&tree, OF_POD, "memory.events", &events(3));
    let ending = watch(&tree);
    fs::remove_dir_all(tree.path().join(app)).expect("removed");
    write(&tree, OF_POD, "memory.events", &events(4));
    assert_eq!(kills(&ending), Some(1));
    fs::remove_dir_all(tree.path().join("sys")).expect("removed");
    assert_eq!(kills(&ending), None, "nobody tells any more, which is not none");
}

/// Where the limit of memory and swap together is as tight, that one is met.
#[test]
fn version_1_counts_how_often_either_limit_was_met() {
    let tree = tree("4:memory:/jobs/one\n", V1);
    let group = "sys/fs/cgroup/memory/jobs/one";
    write(&tree, group, "memory.failcnt", "0\n");
    write(&tree, group, "memory.memsw.failcnt", "0\n");
    assert_eq!(watch(&tree).ended(None).limit_hits, None, "not every kernel counts them");
    write(&tree, group, "memory.memsw.failcnt", "4\n");
    let ending = watch(&tree);
    assert_eq!(ending.ended(None).limit_hits, Some(0));
    write(&tree, group, "memory.memsw.failcnt", "9\n");
    assert_eq!(ending.ended(None).limit_hits, Some(5));
}

#[test]
fn version_1_counts_in_memory_oom_control() {
    let tree = tree("4:memory:/jobs/one\n", V1);
    let group = "sys/fs/cgroup/memory/jobs/one";
    write(&tree, group, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
    let ending = watch(&tree);
    write(&tree, group, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 6\n");
    assert_eq!(kills(&ending), Some(1));
}

#[test]
fn a_kernel_that_counts_no_kills_says_nothing() {
    let tree = tree("4:memory:/jobs/one\n", V1);
    write(&tree, "sys/fs/cgroup/memory/jobs/one", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\n");
    assert_eq!(kills(&watch(&tree)), None);
}

fn killed(of: &MemoryReport) -> Option<Finding<RuleId>> {
    findings(of).into_iter().find(|found| found.rule == "killed-at-limit")
}

#[test]
fn a_record_that_ends_with_a_kill_says_at_which_limit_and_of_several_processes_not_which() {
    let ended = |kills, processes, limit_hits| {
        let end = MemoryEnd {
            ended_at: "2026-11-30T12:00:00Z".to_owned(),
            oom_kills: Some(kills),
            limit_hits,
            limit_bytes: Some(260 * MIB),
            processes: Some(processes),
        };
        killed(&Snapshot::plain_jvm().with(|report| report.end = Some(end.clone())).0)
    };
    let claim = |processes| ended(1, processes, Some(3)).expect("killed").claim;
    assert_eq!(claim(1), "the kernel killed the process at the memory limit of 260.0 MiB");
    assert!(
        claim(3).starts_with("the process ended when the kernel killed one of its container"),
        "{}",
        claim(3)
    );
    let elsewhere = ended(1, 1, Some(0)).expect("killed").claim;
    assert!(elsewhere.contains("not at its container's own limit"), "{elsewhere}");
    let unknown = ended(1, 1, None).expect("killed").claim;
    assert_eq!(unknown, "the kernel killed the process for memory; its limit is 260.0 MiB");
    assert!(ended(0, 1, Some(3)).is_none(), "it ended by itself");
}
