//! Files of the kernel that are missing or say less.

use super::super::{BLOCKED, CODE, Case, ENDS, FAULTS, GROUP, KERNEL, LINES, THROTTLED, WAITING, case, sums};
use assay_model::KernelActivity;
use rustix::io::Errno;

/// Files that say less than usual.
pub const FILES: &[Case] = &[
    case(
        "schedstat absent",
        |k| ["7", "8"].iter().for_each(|tid| k.remove(&format!("proc/7/task/{tid}/schedstat"))),
        &[(WAITING, "schedstat is missing", "CONFIG_SCHED_INFO")],
        |r| {
            sums(r).run_delay_ns.is_none()
                && r.figures.iter().any(|f| f.figure == "CPU time of threads" && f.from.contains("ticks"))
        },
    ),
    case(
        "schedstat of one thread absent",
        |k| k.remove("proc/7/task/7/schedstat"),
        &[(WAITING, "schedstat", "CONFIG_SCHED_INFO")],
        |r| sums(r).run_delay_ns.is_none(),
    ),
    case(
        "schedstat zero for every thread",
        |k| ["7", "8"].iter().for_each(|tid| k.write(&format!("proc/7/task/{tid}/schedstat"), "0 0 0\n")),
        &[(WAITING, "0 for every thread", "delayacct")],
        |r| sums(r).run_delay_ns.is_none() && sums(r).cpu_ns == 1_000_000_000,
    ),
    case(
        "delays not accounted",
        |k| k.write("proc/sys/kernel/task_delayacct", "0\n"),
        &[(BLOCKED, "task_delayacct is 0", "sysctl -w kernel.task_delayacct=1")],
        |r| sums(r).block_io_ns.is_none(),
    ),
    case(
        "no setting whether delays are accounted",
        |k| k.remove("proc/sys/kernel/task_delayacct"),
        &[(BLOCKED, "does not show", "5.14")],
        |r| sums(r).block_io_ns.is_none(),
    ),
    case(
        "stat without the time blocked",
        |k| {
            for tid in [7, 8] {
                let path = format!("proc/7/task/{tid}/stat");
                let text = std::fs::read_to_string(k.tree.path().join(&path)).expect("written");
                let short: Vec<&str> = text.split(' ').take(25).collect();
                k.write(&path, &short.join(" "));
            }
        },
        &[(BLOCKED, "delayacct_blkio_ticks", "2.6.18")],
        |r| sums(r).block_io_ns.is_none(),
    ),
    case(
        "status without switches",
        |k| ["7", "8"].iter().for_each(|tid| k.write(&format!("proc/7/task/{tid}/status"), "Name:\tx\n")),
        &[("switches", "does not count them", "gVisor")],
        |r| (sums(r).voluntary_switches, sums(r).involuntary_switches, sums(r).threads) == (None, None, 2),
    ),
    case(
        "the machine's figures gone",
        |k| {
            k.asked.counters = true;
            k.remove("proc/stat");
        },
        &[
            ("the machine", "/proc/stat", "that of the machine"),
            (KERNEL, "stat", "that of the machine"),
            (CODE, "stat", "that of the machine"),
            (FAULTS, "refuses", "root"),
            (LINES, "refuses", "root"),
        ],
        |r| {
            (r.machine.cpus, r.machine.busy_ns, r.machine.steal_ns) == (None, None, None)
                && !r.problems.is_empty()
        },
    ),
    case(
        "no softirq of each processor",
        |k| {
            k.asked.counters = true;
            k.write("proc/stat", "cpu  1 0 5 90 0 0 1 1 0 0\n");
        },
        &[
            ("softirq by processor", "names no processor", "that of the machine"),
            (KERNEL, "names no processor", "that of the machine"),
            (CODE, "names no processor", "that of the machine"),
            (FAULTS, "names no processor", "that of the machine"),
            (LINES, "names no processor", "that of the machine"),
        ],
        |r| r.machine.softirq_ns.is_empty() && r.machine.cpus.is_none(),
    ),
    case(
        "no stolen time",
        |k| k.write("proc/stat", "cpu 1 0 5 90 0 0 1\ncpu0 1 0 5 90 0 0 1\n"),
        &[("time stolen by the hypervisor", "no such column", "2.6.11")],
        |r| r.machine.steal_ns.is_none() && r.machine.cpus == Some(1),
    ),
    case(
        "no symbols of the kernel",
        |k| k.remove("proc/kallsyms"),
        &[(KERNEL, "hides where its functions are", "kptr_restrict")],
        |r| r.samples.as_ref().is_some_and(|s| s.kernel[0].activity == Some(KernelActivity::Unknown)),
    ),
    case(
        "symbols of the kernel hidden",
        |k| k.write("proc/kallsyms", "0000000000000000 T __x64_sys_futex\n"),
        &[(KERNEL, "kptr_restrict", "kptr_restrict")],
        |r| r.samples.as_ref().is_some_and(|s| s.frames.iter().any(|frame| frame.name == "[kernel]")),
    ),
];

/// Control groups of either version, whole and in part.
pub const GROUPS: &[Case] = &[
    case(
        "no control groups",
        |k| k.remove("proc/7/cgroup"),
        &[(GROUP, "no control group", "cpuacct")],
        |r| r.cgroup.is_none(),
    ),
    case(
        "control groups not mounted",
        |k| k.write("proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/vda rw\n"),
        &[(GROUP, "not mounted here", "mount")],
        |r| r.cgroup.is_none(),
    ),
    case(
        "version 1 only",
        |k| {
            k.write("proc/7/cgroup", "2:cpuacct:/shop\n1:cpu:/shop\n");
            let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n";
            k.write("proc/self/mountinfo", mounts);
            k.write("sys/fs/cgroup/cpuacct/shop/cpuacct.usage", "77\n");
            k.write("sys/fs/cgroup/cpu/shop/cpu.stat", "nr_periods 1\nnr_throttled 3\nthrottled_time 9\n");
        },
        &[],
        |r| {
            let group = r.cgroup.as_ref().expect("a group");
            (group.cpu_ns, group.throttled_periods, group.throttled_ns) == (0, Some(0), Some(0))
        },
    ),
    case(
        "version 1 without cpuacct",
        |k| {
            k.write("proc/7/cgroup", "1:cpu:/shop\n");
            k.write("proc/self/mountinfo", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
        },
        &[(GROUP, "no control group counts the CPU time", "mount the cpuacct controller")],
        |r| r.cgroup.is_none(),
    ),
    case(
        "version 2 without cpu.stat",
        |k| k.remove("sys/fs/cgroup/shop/cpu.stat"),
        &[(GROUP, "no control group counts the CPU time", "cgroup2")],
        |r| r.cgroup.is_none(),
    ),
    case(
        "version 2 without the cpu controller",
        |k| k.write("sys/fs/cgroup/shop/cpu.stat", "usage_usec 5\n"),
        &[(THROTTLED, "its cpu controller is off", "+cpu > cgroup.subtree_control")],
        |r| {
            let group = r.cgroup.as_ref().expect("a group");
            (group.cpu_ns, group.throttled_periods, group.throttled_ns) == (0, None, None)
        },
    ),
];

/// Records of threads that end.
pub const RECORDS: &[Case] = &[
    case(
        "taskstats without the right",
        |k| k.exits = Errno::PERM,
        &[(ENDS, "CAP_NET_ADMIN", "root")],
        |r| r.exit_records.is_none(),
    ),
    case(
        "taskstats not built",
        |k| k.exits = Errno::NOENT,
        &[(ENDS, "sends no records", "CONFIG_TASKSTATS")],
        |r| r.exit_records.is_none(),
    ),
    case(
        "taskstats in a PID namespace",
        |k| k.exits = Errno::INVAL,
        &[(ENDS, "PID and user namespaces", "on the host")],
        |r| r.exit_records.is_none(),
    ),
    case(
        "taskstats in a network namespace",
        |k| k.exits = Errno::AGAIN,
        &[(ENDS, "no record", "network namespace")],
        |r| r.exit_records.is_none(),
    ),
];
