//! For each rule a machine on which it is bad, and one on which it is good.

use super::machine::{GIB, arm, container, file, flag, group, proxy, two_nodes};
use assay_model::{FlagOrigin, HeapSizedBy, HostGroup, HostRule, HostSnapshot};

pub(super) const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

pub(super) type Change = fn(&mut HostSnapshot);

/// For each rule what makes it bad, and what makes it good where the machine above does not.
pub(super) const CASES: &[(HostRule, Change, Option<Change>)] = {
    use FlagOrigin::{Default, Ergonomics, User};
    use HostRule as R;
    &[
        (R::ThpMode, |s| file(s, THP, "[always] madvise never"), None),
        (
            R::ThpDefrag,
            |s| file(s, "/sys/kernel/mm/transparent_hugepage/defrag", "[always] defer madvise never"),
            None,
        ),
        (
            R::ThpThreadStacks,
            |s| {
                file(s, THP, "[always] madvise never");
                s.jvms[0].flags.as_mut().expect("flags").remove("THPStackMitigation");
            },
            Some(|s| file(s, THP, "[always] madvise never")),
        ),
        (
            R::ThpRequested,
            |s| {
                flag(s, "UseTransparentHugePages", "true", User);
                s.jvms[0].collector = Some("ZGC".to_owned());
            },
            Some(|s| flag(s, "UseTransparentHugePages", "true", User)),
        ),
        (
            R::HugePagesUnused,
            |s| file(s, "/proc/meminfo", "HugePages_Total: 512\nHugePages_Free: 512\nHugePages_Rsvd: 0\n"),
            Some(|s| {
                file(s, "/proc/meminfo", "HugePages_Total: 512\nHugePages_Free: 512\nHugePages_Rsvd: 500\n");
            }),
        ),
        (
            R::HugePagesDelivered,
            |s| flag(s, "UseLargePages", "true", User),
            Some(|s| {
                flag(s, "UseLargePages", "true", User);
                file(s, "/proc/42/smaps_rollup", "AnonHugePages: 0 kB\nPrivate_Hugetlb: 4194304 kB\n");
            }),
        ),
        (R::SwapUsed, |s| file(s, "/proc/42/status", "VmSwap: 4 kB\nThreads: 40\n"), None),
        (
            R::Swappiness,
            |s| file(s, "/proc/meminfo", "SwapTotal: 1048576 kB\n"),
            Some(|s| {
                file(s, "/proc/meminfo", "SwapTotal: 1048576 kB\n");
                file(s, "/proc/sys/vm/swappiness", "10\n");
            }),
        ),
        (
            R::Overcommit,
            |s| {
                file(s, "/proc/sys/vm/overcommit_memory", "2\n");
                file(s, "/proc/meminfo", "CommitLimit: 1000 kB\nCommitted_AS: 950 kB\n");
            },
            None,
        ),
        (R::PanicOnOom, |s| file(s, "/proc/sys/vm/panic_on_oom", "1\n"), None),
        (R::ZoneReclaim, |s| file(s, "/proc/sys/vm/zone_reclaim_mode", "1\n"), None),
        (
            R::NumaBalancing,
            |s| {
                two_nodes(s, "0-7");
                file(s, "/proc/sys/kernel/numa_balancing", "1\n");
            },
            Some(|s| {
                two_nodes(s, "0-7");
                file(s, "/proc/sys/kernel/numa_balancing", "0\n");
            }),
        ),
        (R::NumaSpanned, |s| two_nodes(s, "4-11"), Some(|s| two_nodes(s, "0-3,5"))),
        (R::MappingsHeadroom, |s| s.jvms[0].mappings = Some(60_000), None),
        (
            R::MemoryAvailable,
            |s| file(s, "/proc/meminfo", "MemTotal: 25165824 kB\nMemAvailable: 1000000 kB\n"),
            None,
        ),
        (R::MemoryPressure, |s| file(s, "/proc/pressure/memory", "some avg10=0 avg60=20.5 avg300=0\n"), None),
        (R::HeapsOverMemory, |s| flag(s, "MaxHeapSize", "34359738368", User), None),
        (
            R::HeapOverContainer,
            |s| group(s).memory_bytes = Some(4 * GIB),
            Some(|s| group(s).memory_bytes = Some(6 * GIB)),
        ),
        (
            R::ContainerUnseen,
            |s| {
                s.jvms[0].version = Some("17.0.15".to_owned());
                let of = container(s);
                of.view.is_containerized = Some(false);
                of.view.heap_sized_by = Some(HeapSizedBy::Ergonomics);
                of.limits.lists_memory = Some(false);
            },
            Some(|s| {
                container(s);
            }),
        ),
        (R::MallocArenas, |s| s.jvms[0].malloc_arenas = Some(60), None),
        (
            R::Governor,
            |s| {
                file(s, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
                file(s, "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
            },
            Some(|s| file(s, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")),
        ),
        (
            R::EnergyPreference,
            |s| {
                file(
                    s,
                    "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                    "balance_power\n",
                );
            },
            Some(|s| {
                file(
                    s,
                    "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                    "performance\n",
                );
            }),
        ),
        (
            R::Smt,
            |s| file(s, "/sys/devices/system/cpu/smt/control", "off\n"),
            Some(|s| file(s, "/sys/devices/system/cpu/smt/control", "8\n")),
        ),
        (R::OfflineProcessors, |s| file(s, "/sys/devices/system/cpu/online", "0\n"), None),
        (
            R::ClockSource,
            |s| file(s, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
            None,
        ),
        (R::Steal, |s| file(s, "/proc/stat", "cpu  1000 0 500 90000 10 0 20 2000 0 0\n"), None),
        (R::CpuPressure, |s| file(s, "/proc/pressure/cpu", "some avg10=0 avg60=40.00 avg300=0\n"), None),
        (R::IoPressure, |s| file(s, "/proc/pressure/io", "some avg10=0 avg60=40.00 avg300=0\n"), None),
        (R::LoadAverage, |s| file(s, "/proc/loadavg", "9.00 8.00 7.00 9/300 4242\n"), None),
        (
            R::NmiWatchdog,
            |s| file(s, "/proc/sys/kernel/nmi_watchdog", "1\n"),
            Some(|s| file(s, "/proc/sys/kernel/nmi_watchdog", "0\n")),
        ),
        (
            R::Prefetcher,
            |s| file(s, "/sys/devices/system/cpu/dscr_default", "1\n"),
            Some(|s| file(s, "/sys/devices/system/cpu/dscr_default", "0\n")),
        ),
        (
            R::Throttled,
            |s| {
                let (cpus, throttled_ns, cpu_ns) = (Some(2.0), Some(9_000_000_000), Some(100_000_000_000));
                *group(s) = HostGroup { cpus, throttled_ns, cpu_ns, ..HostGroup::default() };
            },
            Some(|s| {
                let (cpus, throttled_ns, cpu_ns) = (Some(2.0), Some(90_000_000), Some(100_000_000_000));
                *group(s) = HostGroup { cpus, throttled_ns, cpu_ns, ..HostGroup::default() };
            }),
        ),
        (R::GcThreadsOverLimit, |s| group(s).cpus = Some(0.5), Some(|s| group(s).cpus = Some(1.5))),
        (R::GcThreadsSum, |s| flag(s, "ParallelGCThreads", "9", User), None),
        (
            R::SerialByDefault,
            |s| {
                s.jvms[0].collector = Some("Serial".to_owned());
                flag(s, "UseSerialGC", "true", Ergonomics);
            },
            Some(|s| {
                s.jvms[0].collector = Some("Serial".to_owned());
                flag(s, "UseSerialGC", "true", User);
            }),
        ),
        (R::ReceiveOnOneCpu, |s| file(s, "/proc/softirqs", "  CPU0 CPU1\n NET_RX: 990000 10000\n"), None),
        (
            R::ReceiveSteering,
            |s| {
                file(s, "/sys/devices/system/cpu/online", "0-15\n");
                file(s, "/sys/devices/system/cpu/present", "0-15\n");
            },
            None,
        ),
        (R::PacketsDropped, |s| file(s, "/proc/net/softnet_stat", "0010a1b2 00000064 00000001\n"), None),
        (R::ReceiveBudget, |s| file(s, "/proc/net/softnet_stat", "0010a1b2 00000000 0000ffff\n"), None),
        (R::AcceptQueue, |s| file(s, "/proc/sys/net/core/somaxconn", "128\n"), None),
        (
            R::AcceptOverflow,
            |s| {
                file(
                    s,
                    "/proc/net/netstat",
                    "IpExt: InOctets\nIpExt: 1\nTcpExt: A ListenOverflows\nTcpExt: 0 7\n",
                );
            },
            None,
        ),
        (R::LocalPorts, |s| file(s, "/proc/sys/net/ipv4/ip_local_port_range", "50000 60999\n"), None),
        (R::SynQueue, |s| file(s, "/proc/net/netstat", "TcpExt: A TCPReqQFullDrop\nTcpExt: 0 7\n"), None),
        (
            R::ConnectionTracking,
            |s| {
                file(s, "/proc/sys/net/netfilter/nf_conntrack_count", "60000\n");
                file(s, "/proc/sys/net/netfilter/nf_conntrack_max", "65536\n");
            },
            Some(|s| {
                file(s, "/proc/sys/net/netfilter/nf_conntrack_count", "600\n");
                file(s, "/proc/sys/net/netfilter/nf_conntrack_max", "65536\n");
            }),
        ),
        (
            R::AdapterNode,
            |s| {
                two_nodes(s, "0-7");
                file(s, "/sys/class/net/eth0/device/numa_node", "1\n");
            },
            Some(|s| {
                two_nodes(s, "8-9");
                file(s, "/sys/class/net/eth0/device/numa_node", "1\n");
            }),
        ),
        (R::OpenFiles, |s| s.jvms[0].open_files = Some(19_000), None),
        (R::OpenFilesOfMachine, |s| file(s, "/proc/sys/fs/file-nr", "1900000 0 2000000\n"), None),
        (R::ThreadsOfMachine, |s| file(s, "/proc/loadavg", "0.1 0.1 0.1 1/30000 4242\n"), None),
        (
            R::ThreadsOfGroup,
            |s| (group(s).threads, group(s).threads_max) = (Some(95), Some(100)),
            Some(|s| (group(s).threads, group(s).threads_max) = (Some(40), Some(100))),
        ),
        (
            R::ProcessesOfUser,
            |s| file(s, "/proc/42/status", "VmSwap: 0 kB\nThreads: 90000\nCpus_allowed_list: 0-1\n"),
            None,
        ),
        (
            R::CompressedOopsThreshold,
            |s| {
                flag(s, "UseCompressedOops", "false", Default);
                flag(s, "MaxHeapSize", "35433480192", User);
            },
            None,
        ),
        (R::CodeCache, |s| flag(s, "ReservedCodeCacheSize", "67108864", User), None),
        (
            R::ThreadStackSize,
            |s| {
                flag(s, "ThreadStackSize", "8192", User);
                file(s, "/proc/42/status", "VmSwap: 0 kB\nThreads: 900\nCpus_allowed_list: 0-1\n");
            },
            None,
        ),
        (R::GcLog, |s| s.jvms[0].logs_collections = Some(false), None),
        (R::HeapDumpOnOom, |s| flag(s, "HeapDumpOnOutOfMemoryError", "false", Default), None),
        (
            R::NumaWithoutNodes,
            |s| flag(s, "UseNUMA", "false", User),
            Some(|s| {
                two_nodes(s, "0-15");
                flag(s, "UseNUMA", "true", User);
            }),
        ),
        (
            R::StackTraceOmitted,
            |s| flag(s, "OmitStackTraceInFastThrow", "true", User),
            Some(|s| flag(s, "OmitStackTraceInFastThrow", "false", User)),
        ),
        (
            R::Atomics,
            |s| {
                arm(s);
                flag(s, "UseLSE", "false", Default);
            },
            Some(arm),
        ),
        (
            R::ProxyConnections,
            |s| s.proxies = vec![proxy(&[("worker_connections", "1024")])],
            Some(|s| s.proxies = vec![proxy(&[("worker_connections", "163840")])]),
        ),
        (
            R::ProxyRequestsPerConnection,
            |s| s.proxies = vec![proxy(&[])],
            Some(|s| s.proxies = vec![proxy(&[("keepalive_requests", "10000")])]),
        ),
        (
            R::ProxyUpstreamKeepalive,
            |s| s.proxies = vec![proxy(&[("proxy_pass", "http://shop"), ("upstream", "shop")])],
            Some(|s| {
                s.proxies = vec![proxy(&[
                    ("proxy_pass", "http://shop"),
                    ("upstream", "shop"),
                    ("keepalive", "1000"),
                ])];
            }),
        ),
        (
            R::ProxyAccessLog,
            |s| s.proxies = vec![proxy(&[("access_log", "/var/log/nginx/access.log")])],
            Some(|s| s.proxies = vec![proxy(&[("access_log", "/var/log/a.log combined buffer=64k")])]),
        ),
        (
            R::ProxyOpenFiles,
            |s| s.proxies = vec![proxy(&[("worker_connections", "16384"), ("worker_rlimit_nofile", "1024")])],
            Some(|s| {
                s.proxies =
                    vec![proxy(&[("worker_connections", "16384"), ("worker_rlimit_nofile", "81920")])];
            }),
        ),
    ]
};
