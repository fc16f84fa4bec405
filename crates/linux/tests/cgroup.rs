//! Control groups as kernels, containers and service managers lay them out, as small fake trees.

use assay_linux::{CgroupLimits, CgroupThrottling, CgroupVersion, ProcRoot, SysRoot};
use assay_testkit::FakeTree;

fn read(tree: &FakeTree) -> (Option<CgroupVersion>, CgroupLimits, Option<CgroupThrottling>) {
    let sys = SysRoot::at(tree.path().join("sys"));
    let groups = ProcRoot::at(tree.path().join("proc")).read_cgroups(&sys, None).expect("as documented");
    let limits = groups.read_limits().expect("as documented");
    (groups.cpu_version(), limits, groups.read_throttling().expect("as documented"))
}

#[test]
fn version_2_takes_the_tightest_limit_of_all_levels() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/system.slice/app.service\n"),
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/system.slice/app.service/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/system.slice/app.service/memory.max", "1073741824\n"),
        (
            "sys/fs/cgroup/system.slice/app.service/cpu.stat",
            "usage_usec 9\nnr_periods 5\nnr_throttled 2\nthrottled_usec 30\n",
        ),
        ("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/system.slice/memory.max", "536870912\n"),
        (
            "sys/fs/cgroup/system.slice/cpu.stat",
            "usage_usec 9\nnr_periods 5\nnr_throttled 1\nthrottled_usec 12\n",
        ),
        // The root group counts, but cannot be limited and has no throttling.
        ("sys/fs/cgroup/cpu.stat", "usage_usec 100\nuser_usec 60\nsystem_usec 40\n"),
    ]);
    let limits = CgroupLimits { cpus: Some(1.5), memory_bytes: Some(512 << 20) };
    let throttling = CgroupThrottling { periods: 3, throttled_ns: 42_000 };
    assert_eq!(read(&tree), (Some(CgroupVersion::V2), limits, Some(throttling)));
}

#[test]
fn version_1_beside_an_empty_version_2_is_found_by_its_controllers() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "4:memory:/jobs/one\n2:cpuacct:/\n1:cpu:/\n0::/\n"),
        (
            "proc/self/mountinfo",
            "27 1 254:0 / / rw - ext4 /dev/vda rw\n\
             32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
             35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        ),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
        ("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
    ]);
    assert_eq!(
        read(&tree),
        (Some(CgroupVersion::V1), CgroupLimits::default(), Some(CgroupThrottling::default()))
    );
}

#[test]
fn a_container_of_version_1_sees_its_own_part_as_the_root_of_the_mount() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "5:cpu,cpuacct:/docker/abc\n6:memory:/docker/abc\n"),
        (
            "proc/self/mountinfo",
            "1 0 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro master:11 - cgroup cgroup rw,cpu,cpuacct\n\
             2 0 0:32 /docker/abc /sys/fs/cgroup/memory ro master:12 - cgroup cgroup rw,memory\n",
        ),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 77\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"),
    ]);
    let limits = CgroupLimits { cpus: Some(0.5), memory_bytes: Some(256 << 20) };
    let throttling = CgroupThrottling { periods: 4, throttled_ns: 77 };
    assert_eq!(read(&tree), (Some(CgroupVersion::V1), limits, Some(throttling)));
}

#[test]
fn a_group_outside_of_what_is_mounted_stays_within_the_mount() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/../../secret\n"),
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/cpu.max", "200000 100000\n"),
        ("sys/secret/cpu.max", "1000 100000\n"),
    ]);
    assert_eq!(read(&tree).1.cpus, Some(2.0));
}

/// As a debug container or a sidecar sees the server of the pod.
#[test]
fn a_process_of_another_container_has_its_own_limits_and_not_ours() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"),
        ("proc/7/cgroup", "0::/../cri-shop\n"),
        ("proc/7/mountinfo", "41 33 0:28 /../cri-shop /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"),
        ("proc/7/root/sys/fs/cgroup/memory.max", "268435456\n"),
        ("proc/7/root/sys/fs/cgroup/memory.events", "max 3\noom 1\noom_kill 1\n"),
        ("sys/fs/cgroup/memory.max", "1048576\n"),
        ("sys/fs/cgroup/memory.events", "max 0\noom 0\noom_kill 0\n"),
    ]);
    let sys = SysRoot::at(tree.path().join("sys"));
    let groups = ProcRoot::at(tree.path().join("proc")).read_cgroups(&sys, Some(7)).expect("as documented");
    assert_eq!(groups.read_limits().expect("as documented").memory_bytes, Some(256 << 20));
    let kills: Vec<u64> = groups.read_oom_kills().expect("as documented").into_values().collect();
    assert_eq!(kills, [1]);
}

#[test]
fn a_kernel_without_control_groups_has_no_limits() {
    let tree = FakeTree::with(&[("proc/self/status", "Name: x\n")]);
    assert_eq!(read(&tree), (None, CgroupLimits::default(), None));
}

#[test]
fn a_limit_that_is_no_number_is_an_error_and_not_unlimited() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/memory.max", "lots\n"),
    ]);
    let sys = SysRoot::at(tree.path().join("sys"));
    let groups = ProcRoot::at(tree.path().join("proc")).read_cgroups(&sys, None).expect("as documented");
    let error = groups.read_limits().expect_err("not a number").to_string();
    assert!(error.contains("memory.max, line 1: limit: not a number: \"lots"), "{error}");
}

#[test]
fn settings_of_the_machine_are_read_or_absent() {
    let tree = FakeTree::with(&[
        ("kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("class/dmi/id/sys_vendor", "QEMU\n"),
        ("class/dmi/id/product_name", "Standard PC\n"),
    ]);
    let sys = SysRoot::at(tree.path());
    assert_eq!(sys.read_transparent_huge_pages().unwrap().as_deref(), Some("madvise"));
    assert_eq!(sys.read_cpu_governor().unwrap().as_deref(), Some("performance"));
    assert_eq!(sys.read_hypervisor_name().unwrap().as_deref(), Some("QEMU Standard PC"));
    let bare = SysRoot::at(tree.path().join("nothing"));
    assert_eq!(bare.read_transparent_huge_pages().unwrap(), None);
    assert_eq!(bare.read_cpu_governor().unwrap(), None);
    assert_eq!(bare.read_hypervisor_name().unwrap(), None);
}
