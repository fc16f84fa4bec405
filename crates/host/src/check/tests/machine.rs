//! A machine in memory, and what changes it.

use crate::check::rules;
use assay_model::{
    ContainerLimits, ContainerView, FileRead, FlagOrigin, HeapSizedBy, HostFlag, HostGroup, HostJvm,
    HostProxy, HostSnapshot, JvmContainer, Provenance, schema,
};
use std::collections::BTreeMap;

const PID: u32 = 42;
pub(super) const GIB: u64 = 1 << 30;

/// A virtual machine with two processors, one node and one JVM, on which every rule that applies is good.
pub(super) fn virtual_machine() -> HostSnapshot {
    let files = [
        ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("/sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"),
        (
            "/sys/kernel/mm/transparent_hugepage/shmem_enabled",
            "always within_size advise [never] deny force\n",
        ),
        (
            "/proc/meminfo",
            "MemTotal: 25165824 kB\nMemAvailable: 20000000 kB\nSwapTotal: 0 kB\nCommitLimit: 12582912 kB\n\
             Committed_AS: 3000000 kB\nHugePages_Total: 0\nHugePages_Free: 0\nHugePages_Rsvd: 0\n",
        ),
        ("/proc/42/smaps_rollup", "AnonHugePages: 0 kB\nShared_Hugetlb: 0 kB\nPrivate_Hugetlb: 0 kB\n"),
        ("/proc/42/status", "Name:\tjava\nVmSwap:\t       0 kB\nThreads:\t40\nCpus_allowed_list:\t0-1\n"),
        (
            "/proc/42/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max processes             100000               100000               processes \n\
             Max open files            20000                20000                files     \n",
        ),
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/proc/sys/vm/overcommit_memory", "0\n"),
        ("/proc/sys/vm/panic_on_oom", "0\n"),
        ("/proc/sys/vm/zone_reclaim_mode", "0\n"),
        ("/proc/sys/vm/max_map_count", "65530\n"),
        ("/sys/devices/system/node/node0/cpulist", "0-1\n"),
        ("/proc/pressure/memory", "some avg10=0.00 avg60=0.10 avg300=0.00 total=1\n"),
        ("/proc/pressure/cpu", "some avg10=50.00 avg60=3.00 avg300=0.00 total=1\n"),
        ("/proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n"),
        ("/sys/devices/system/cpu/present", "0-1\n"),
        ("/sys/devices/system/cpu/online", "0-1\n"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n"),
        ("/proc/stat", "cpu  1000 0 500 90000 10 0 20 100 0 0\ncpu0 1 1 1\n"),
        ("/proc/loadavg", "0.50 0.70 0.90 1/300 4242\n"),
        ("/proc/softirqs", "                    CPU0       CPU1\n      NET_RX:     600000     700000\n"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
        ("/sys/class/net/lo/queues/rx-0/rps_cpus", "0\n"),
        ("/proc/net/softnet_stat", "0010a1b2 00000000 00000001 0\n0010a1b2 00000000 00000000 0\n"),
        ("/proc/sys/net/core/somaxconn", "4096\n"),
        ("/proc/net/netstat", "TcpExt: SyncookiesSent ListenOverflows TCPReqQFullDrop\nTcpExt: 0 0 0\n"),
        ("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
        ("/proc/sys/fs/file-nr", "2000\t0\t2000000\n"),
        ("/proc/sys/kernel/threads-max", "192730\n"),
        ("/proc/sys/kernel/pid_max", "32768\n"),
        ("/proc/cpuinfo", "processor : 0\nflags : fpu\n"),
    ];
    let mut snapshot = HostSnapshot {
        schema: schema::HOST_SNAPSHOT.to_owned(),
        provenance: Provenance {
            assay_version: "0".to_owned(),
            kernel: Some("6.18.0".to_owned()),
            os: None,
            architecture: "x86_64".to_owned(),
            cpu_model: None,
            cpus: Some(2),
            memory_bytes: Some(24 * GIB),
        },
        taken_at: "2026-11-24T03:00:00Z".to_owned(),
        files: files.map(|(path, text)| (path.to_owned(), FileRead::Text(text.to_owned()))).into(),
        jvms: vec![jvm()],
        proxies: Vec::new(),
        not_readable: 0,
        problems: Vec::new(),
    };
    let named: Vec<String> =
        rules().iter().flat_map(|rule| &rule.reads).map(|path| path.replace("{pid}", "42")).collect();
    for path in named.into_iter().filter(|path| !path.contains('*')) {
        snapshot.files.entry(path).or_insert(FileRead::Absent);
    }
    snapshot
}

pub(super) fn jvm() -> HostJvm {
    let flags = [
        ("HeapDumpOnOutOfMemoryError", "true", FlagOrigin::User),
        ("MaxHeapSize", "4294967296", FlagOrigin::User),
        ("ParallelGCThreads", "2", FlagOrigin::Ergonomics),
        ("ReservedCodeCacheSize", "251658240", FlagOrigin::Ergonomics),
        ("THPStackMitigation", "true", FlagOrigin::Default),
        ("ThreadStackSize", "1024", FlagOrigin::Default),
        ("UseCompressedOops", "true", FlagOrigin::Ergonomics),
        ("UseG1GC", "true", FlagOrigin::Ergonomics),
    ];
    let flag = |value: &str, set_by| HostFlag { value: value.to_owned(), set_by };
    HostJvm {
        pid: PID,
        program: "shop.jar".to_owned(),
        version: Some("21.0.5".to_owned()),
        feature: Some(21),
        collector: Some("G1".to_owned()),
        flags: Some(flags.map(|(name, value, set_by)| (name.to_owned(), flag(value, set_by))).into()),
        logs_collections: Some(true),
        open_files: Some(300),
        mappings: Some(900),
        malloc_arenas: Some(8),
        limits_arenas: Some(false),
        group: Some(HostGroup::default()),
        container: Some(JvmContainer {
            view: ContainerView {
                is_containerized: Some(true),
                processors: Some(2),
                reads_controllers_file: Some(false),
                has_support: Some(true),
                heap_bytes_max: Some(4 * GIB),
                heap_sized_by: Some(HeapSizedBy::Size),
                ..ContainerView::default()
            },
            limits: ContainerLimits { machine_bytes: Some(24 * GIB), ..ContainerLimits::default() },
        }),
    }
}

pub(super) fn proxy(directives: &[(&str, &str)]) -> HostProxy {
    let mut of: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in directives {
        of.entry((*name).to_owned()).or_default().push((*value).to_owned());
    }
    HostProxy { pid: 7, directives: Some(of) }
}

pub(super) fn file(snapshot: &mut HostSnapshot, path: &str, text: &str) {
    snapshot.files.insert(path.to_owned(), FileRead::Text(text.to_owned()));
}

pub(super) fn flag(snapshot: &mut HostSnapshot, name: &str, value: &str, set_by: FlagOrigin) {
    let flags = snapshot.jvms[0].flags.as_mut().expect("it has flags");
    flags.insert(name.to_owned(), HostFlag { value: value.to_owned(), set_by });
}

pub(super) fn group(snapshot: &mut HostSnapshot) -> &mut HostGroup {
    snapshot.jvms[0].group.as_mut().expect("it has a group")
}

/// Its control group, as the JVM and the kernel see it, with the limits of a container: 6 GiB and a processor.
pub(super) fn container(snapshot: &mut HostSnapshot) -> &mut JvmContainer {
    let of_group = group(snapshot);
    (of_group.memory_bytes, of_group.cpus) = (Some(6 * GIB), Some(1.0));
    let container = snapshot.jvms[0].container.as_mut().expect("it was read");
    container.view.processors = Some(1);
    container.limits.memory_bytes = Some(6 * GIB);
    container.limits.cpus = Some(1.0);
    container.limits.lists_memory = Some(true);
    container
}

pub(super) fn two_nodes(snapshot: &mut HostSnapshot, allowed: &str) {
    file(snapshot, "/sys/devices/system/cpu/present", "0-15\n");
    file(snapshot, "/sys/devices/system/cpu/online", "0-15\n");
    file(snapshot, "/sys/devices/system/node/node0/cpulist", "0-7\n");
    file(snapshot, "/sys/devices/system/node/node1/cpulist", "8-15\n");
    let status = format!("VmSwap: 0 kB\nThreads: 40\nCpus_allowed_list:\t{allowed}\n");
    file(snapshot, "/proc/42/status", &status);
}

pub(super) fn arm(snapshot: &mut HostSnapshot) {
    snapshot.provenance.architecture = "aarch64".to_owned();
    file(snapshot, "/proc/cpuinfo", "processor : 0\nFeatures\t: fp asimd atomics\n");
    flag(snapshot, "UseLSE", "true", FlagOrigin::Ergonomics);
    file(snapshot, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter\n");
}
