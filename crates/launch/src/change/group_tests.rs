//! Groups of version 1 as this machine has them, and of version 2 in a folder that looks like one.

use super::*;
use assay_testkit::skip;
use std::fs;
use std::process::Command;

fn limits() -> GroupLimits {
    GroupLimits {
        cpus: Some(0.5),
        memory_bytes: Some(64 << 20),
        memory_high_bytes: None,
        swap_bytes: None,
        cpuset: Some("0".to_owned()),
        nodes: None,
        is_open: false,
    }
}

/// A machine with version 2 alone: a process in `/app`, of which the group above passes on memory and not the rest.
fn version_2() -> (tempfile::TempDir, ProcRoot, SysRoot) {
    let root = tempfile::tempdir().unwrap();
    let (proc, group) = (root.path().join("proc/self"), root.path().join("sys/fs/cgroup"));
    fs::create_dir_all(&proc).unwrap();
    fs::create_dir_all(group.join("app")).unwrap();
    fs::write(proc.join("cgroup"), "0::/app\n").unwrap();
    fs::write(
        proc.join("mountinfo"),
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
    )
    .unwrap();
    fs::write(group.join("cgroup.controllers"), "cpuset cpu io memory pids\n").unwrap();
    fs::write(group.join("cgroup.subtree_control"), "memory pids\n").unwrap();
    let roots = (ProcRoot::at(root.path().join("proc")), SysRoot::at(root.path().join("sys")));
    (root, roots.0, roots.1)
}

#[test]
fn in_version_2_a_group_is_made_below_the_topmost_one_which_passes_the_controllers_on() {
    let (root, proc, sys) = version_2();
    let above = root.path().join("sys/fs/cgroup");
    let limits = GroupLimits {
        swap_bytes: Some(0),
        memory_high_bytes: Some(32 << 20),
        nodes: Some("0".to_owned()),
        ..limits()
    };
    let group = OwnGroup::new(&limits, "assay-1", &proc, &sys).unwrap();
    assert_eq!(group.folders(), [above.join("assay-1")]);
    group.apply().unwrap();
    assert_eq!(fs::read_to_string(above.join("cgroup.subtree_control")).unwrap(), "+cpuset +cpu");
    let read = |name: &str| fs::read_to_string(above.join("assay-1").join(name)).unwrap();
    assert_eq!(read("cpu.max"), "50000 100000");
    assert_eq!(read("memory.max"), (64 << 20).to_string());
    assert_eq!((read("memory.swap.max").as_str(), read("cpuset.cpus").as_str()), ("0", "0"));
    assert_eq!((read("memory.high"), read("cpuset.mems")), ((32 << 20).to_string(), "0".to_owned()));
    group.verify().unwrap();
    // The kernel took less.
    fs::write(above.join("assay-1/memory.max"), "1048576\n").unwrap();
    assert!(group.verify().unwrap_err().to_string().contains("memory.max is `1048576`"));
    // Files of the kernel go with their folder.
    for name in ["cpu.max", "memory.max", "memory.high", "memory.swap.max", "cpuset.cpus", "cpuset.mems"] {
        fs::remove_file(above.join("assay-1").join(name)).unwrap();
    }
    group.undo().unwrap();
    assert!(!above.join("assay-1").exists());
    assert_eq!(fs::read_to_string(above.join("cgroup.subtree_control")).unwrap(), "-cpuset -cpu");
    group.undo().unwrap();
}

#[test]
fn a_controller_that_is_not_there_is_named() {
    let (root, proc, sys) = version_2();
    fs::write(root.path().join("sys/fs/cgroup/cgroup.controllers"), "memory\n").unwrap();
    let why = limits().check_here(&proc, &sys).unwrap_err();
    assert!(why.contains("controller `cpuset`"), "{why}");
    fs::write(root.path().join("proc/self/cgroup"), "").unwrap();
    assert!(limits().check_here(&proc, &sys).is_err());
}

#[test]
fn a_group_of_this_machine_limits_what_enters_it_and_is_gone_afterwards() {
    let (proc, sys) = (ProcRoot::default(), SysRoot::default());
    if !rustix::process::geteuid().is_root() {
        skip!("control groups are made by root");
    }
    if let Err(why) = limits().check_here(&proc, &sys) {
        skip!("{why}");
    }
    let name = format!("assay-test-{}", std::process::id());
    let group = OwnGroup::new(&limits(), &name, &proc, &sys).unwrap();
    group.apply().unwrap();
    group.verify().unwrap();
    let enter: String = group
        .folders()
        .iter()
        .map(|folder| format!("echo 0 > {}/cgroup.procs && ", folder.display()))
        .collect();
    let mut child = Command::new("sh").args(["-c", &format!("{enter} exec sleep 600")]).spawn().unwrap();
    let entered = Instant::now();
    while !fs::read_to_string(format!("/proc/{}/comm", child.id())).unwrap().starts_with("sleep") {
        assert!(entered.elapsed() < Duration::from_secs(60), "it never became sleep");
        std::thread::sleep(POLL_INTERVAL);
    }
    let found = proc.read_cgroups(&sys, Some(child.id())).unwrap().read_limits().unwrap();
    assert_eq!((found.cpus, found.memory_bytes), (Some(0.5), Some(64 << 20)));
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    assert!(status.lines().any(|line| line == "Cpus_allowed_list:\t0"), "{status}");
    // With a process in it: that goes to the group above.
    group.undo().unwrap();
    assert!(group.folders().iter().all(|folder| !folder.exists()));
    let found = proc.read_cgroups(&sys, Some(child.id())).unwrap().read_limits().unwrap();
    assert_ne!(found.cpus, Some(0.5));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn an_open_group_limits_nothing_until_its_limits_are_set() {
    let (root, proc, sys) = version_2();
    let folder = root.path().join("sys/fs/cgroup/assay-2");
    let limits = GroupLimits { cpuset: None, is_open: true, ..limits() };
    let group = OwnGroup::new(&limits, "assay-2", &proc, &sys).unwrap();
    group.apply().unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is written");
    let passed = fs::read_to_string(root.path().join("sys/fs/cgroup/cgroup.subtree_control")).unwrap();
    assert_eq!(passed, "+cpu", "its controllers are there");
    let settings = limits.settings("assay-2", &proc, &sys).unwrap();
    let want = [("cpu.max", "50000 100000".to_owned()), ("memory.max", (64 << 20).to_string())];
    assert_eq!(settings, want.map(|(file, value)| (folder.join(file), value)));
    group.undo().unwrap();
}

#[test]
fn what_the_oom_killer_ended_in_a_group_is_read_and_absent_where_memory_is_not_limited() {
    let (root, proc, sys) = version_2();
    let folder = root.path().join("sys/fs/cgroup/assay-3");
    fs::create_dir(&folder).unwrap();
    assert_eq!(limits().oom_kills_at("assay-3", &proc, &sys), None, "the kernel does not say");
    let events = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n";
    fs::write(folder.join("memory.events"), events).unwrap();
    assert_eq!(limits().oom_kills_at("assay-3", &proc, &sys), Some(2));
    assert_eq!(limits().oom_kills_at("assay-4", &proc, &sys), None);
    let of_cpus = GroupLimits { memory_bytes: None, ..limits() };
    assert_eq!(of_cpus.oom_kills_at("assay-3", &proc, &sys), None);
}
