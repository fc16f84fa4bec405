//! The kernel's figures beside the RSS, and what a control group is charged: as kernels write them, and on this machine.

use crate::target::{ALTERNATING_BYTES, Target};
use assay_linux::{ProcRoot, SysRoot, kernel_stack_bytes, parse_memory_status};
use assay_model::{CgroupMemory, OutsideRss, Problem};
use assay_testkit::{FakeTree, MemoryGroup, skip};
use std::fs;
use std::path::Path;

#[test]
fn lines_about_memory_are_read_and_missing_ones_absent() {
    let text = "Name:\tjava\nNSpid:\t4711\t12\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\nRssAnon:\t 512 kB\n\
                RssFile:\t 500 kB\nRssShmem:\t 12 kB\nVmPTE:\t 40 kB\nVmSwap:\t 8 kB\nVmLck:\t 4 kB\n\
                HugetlbPages:\t 2048 kB\nTHP_enabled:\t0\nThreads:\t33\n";
    let status = parse_memory_status(Path::new("status"), text).expect("as documented");
    let kib = |kib: u64| Some(kib * 1024);
    assert_eq!((status.rss_bytes, status.rss_bytes_max), (kib(1024), kib(2048)));
    assert_eq!(
        (status.anonymous_bytes, status.file_bytes, status.shmem_bytes),
        (kib(512), kib(500), kib(12))
    );
    assert_eq!((status.page_tables_bytes, status.swap_bytes, status.locked_bytes), (kib(40), kib(8), kib(4)));
    assert_eq!((status.hugetlb_bytes, status.threads), (kib(2048), Some(33)));
    assert_eq!((status.pids, status.may_have_huge_pages), (vec![4711, 12], Some(false)));
    let kernel_thread =
        parse_memory_status(Path::new("status"), "Name:\tkthreadd\nThreads:\t1\n").expect("short");
    assert_eq!((kernel_thread.rss_bytes, kernel_thread.may_have_huge_pages), (None, None));
    assert!(parse_memory_status(Path::new("status"), "VmRSS:\tx kB\n").is_err());
}

#[test]
fn figures_of_a_stopped_child_agree_with_its_mappings() {
    let target = Target::start("memory");
    target.stop();
    let proc = ProcRoot::default();
    let beside = proc.read_beside_rss(target.pid()).expect("our child");
    let mappings: Vec<_> =
        proc.open_smaps(target.pid()).expect("our child").collect::<Result<_, _>>().expect("as documented");
    let rss_bytes: u64 = mappings.iter().map(|m| m.rss_bytes).sum();
    assert_eq!(beside.uss_bytes.zip(beside.shared_bytes).map(|(own, shared)| own + shared), Some(rss_bytes));
    let threads = fs::read_dir(format!("/proc/{}/task", target.pid())).expect("our child").count() as u64;
    assert_eq!((beside.hugetlb_bytes, beside.threads), (Some(0), Some(threads)));
    assert_eq!(beside.kernel_stacks_bytes, kernel_stack_bytes().map(|bytes| bytes * threads));
    let rollup = proc.read_smaps_rollup(target.pid()).expect("our child").expect("with memory");
    let anon_huge_pages_bytes = mappings.iter().map(|m| m.anon_huge_pages_bytes).sum::<Option<u64>>();
    assert_eq!(rollup.anon_huge_pages_bytes, anon_huge_pages_bytes);
    // Those of files and of shared memory, which the mappings' own lines are not read for, come on top.
    assert!(anon_huge_pages_bytes <= beside.huge_pages_bytes, "{beside:?}");
    assert_eq!(rollup.anonymous_bytes, mappings.iter().map(|m| m.anonymous_bytes).sum());
    let by_mappings = proc.read_beside_rss_of(target.pid(), &mappings).expect("our child");
    let (pss, exact_pss) = by_mappings.pss_bytes.zip(beside.pss_bytes).expect("two figures");
    let rounded_max = 1024 * mappings.iter().filter(|m| m.shared_bytes != Some(0)).count() as u64;
    assert!((exact_pss.saturating_sub(rounded_max)..=exact_pss).contains(&pss), "{pss} of {exact_pss}");
    assert_eq!(OutsideRss { pss_bytes: None, ..by_mappings }, OutsideRss { pss_bytes: None, ..beside });
    // 64 MiB of untouched addresses need no page tables; 16 MiB with every other page touched need eight.
    assert!((8 * 4096..1 << 20).contains(&beside.page_tables_bytes.expect("a figure")), "{beside:?}");
}

#[test]
fn kernel_stacks_are_as_large_as_meminfo_says() {
    let Some(bytes) = kernel_stack_bytes() else { skip!("not known for this architecture") };
    let threads = || {
        let text = fs::read_to_string("/proc/loadavg").expect("readable");
        let field =
            text.split_ascii_whitespace().nth(3).and_then(|f| f.split_once('/')).expect("as documented");
        field.1.parse::<u64>().expect("a number")
    };
    // Threads come and go meanwhile, and the kernel counts dying ones: the ratio, rounded to whole pages, is exact.
    let text = fs::read_to_string("/proc/meminfo").expect("readable");
    let line = text.lines().find_map(|l| l.strip_prefix("KernelStack:")).expect("always there");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    let each = kib as f64 * 1024.0 / threads() as f64;
    let page = rustix::param::page_size() as f64;
    assert!((each - bytes as f64).abs() < page / 2.0, "{each} for each thread, {bytes} expected");
}

fn read(tree: &FakeTree) -> (Option<CgroupMemory>, Vec<Problem>) {
    let sys = SysRoot::at(tree.path().join("sys"));
    let proc = ProcRoot::at(tree.path().join("proc"));
    let mut problems = Vec::new();
    let memory = proc.read_cgroups(&sys, None).expect("as documented").read_memory(&proc, &mut problems);
    (memory.expect("as documented"), problems)
}

const V2_MOUNT: (&str, &str) =
    ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");

#[test]
fn version_2_is_split_into_what_it_is_charged_for() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/app/worker\n"),
        V2_MOUNT,
        // The controller is not enabled in the innermost group: the one above is charged.
        ("sys/fs/cgroup/app/worker/cgroup.procs", "11\n"),
        ("sys/fs/cgroup/app/cgroup.procs", "12\n"),
        ("sys/fs/cgroup/app/memory.current", "1000000\n"),
        ("sys/fs/cgroup/app/memory.max", "max\n"),
        ("sys/fs/cgroup/app/memory.peak", "1500000\n"),
        ("sys/fs/cgroup/app/memory.events", "low 0\nhigh 0\nmax 40\noom 2\noom_kill 2\noom_group_kill 0\n"),
        (
            "sys/fs/cgroup/app/memory.stat",
            "anon 600000\nfile 250000\nkernel 130000\nkernel_stack 16384\npagetables 8192\nsock 4096\nshmem 50000\n\
             inactive_file 70000\nslab 90000\n",
        ),
        ("sys/fs/cgroup/memory.max", "2000000\n"),
        ("proc/11/status", "Name:\tworker\nVmRSS:\t     100 kB\n"),
        ("proc/12/status", "Name:\tmain\nVmRSS:\t     200 kB\n"),
    ]);
    let (memory, problems) = read(&tree);
    let expected = CgroupMemory {
        path: "/app".to_owned(),
        current_bytes: Some(1_000_000),
        limit_bytes: Some(2_000_000),
        peak_bytes: Some(1_500_000),
        anonymous_bytes: Some(600_000),
        file_bytes: Some(250_000),
        inactive_file_bytes: Some(70_000),
        shmem_bytes: Some(50_000),
        kernel_stacks_bytes: Some(16384),
        page_tables_bytes: Some(8192),
        slab_bytes: Some(90_000),
        sockets_bytes: Some(4096),
        kernel_bytes: Some(130_000),
        processes_rss_bytes: Some(300 << 10),
        processes: Some(2),
        unexplained_bytes: Some(1_000_000 - 600_000 - 250_000 - 130_000 - 4096),
        oom_kills: Some(2),
        limit_hits: Some(40),
    };
    assert_eq!((memory, problems), (Some(expected), Vec::new()));
}

#[test]
fn an_older_version_2_adds_the_kernel_s_parts() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/\n"),
        V2_MOUNT,
        ("sys/fs/cgroup/memory.current", "1000\n"),
        (
            "sys/fs/cgroup/memory.stat",
            "anon 1\nfile 2\nkernel_stack 10\npagetables 20\npercpu 30\nslab 40\nsock 5\n",
        ),
    ]);
    let memory = read(&tree).0.expect("a controller");
    assert_eq!((memory.kernel_bytes, memory.unexplained_bytes), (Some(100), Some(1000 - 108)));
    assert_eq!((memory.limit_bytes, memory.peak_bytes), (None, None));
}

#[test]
fn version_1_has_other_names() {
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "4:memory:/jobs\n"),
        ("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
        ("sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "5000\n"),
        ("sys/fs/cgroup/memory/jobs/memory.max_usage_in_bytes", "6000\n"),
        ("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "7000\n"),
        ("sys/fs/cgroup/memory/jobs/memory.kmem.usage_in_bytes", "300\n"),
        ("sys/fs/cgroup/memory/jobs/memory.kmem.tcp.usage_in_bytes", "40\n"),
        (
            "sys/fs/cgroup/memory/jobs/memory.stat",
            "cache 1\nrss 2\ntotal_cache 2000\ntotal_rss 2500\ntotal_shmem 100\ntotal_inactive_file 900\n",
        ),
        ("sys/fs/cgroup/memory/jobs/cgroup.procs", "0\n3\n"),
    ]);
    let (memory, problems) = read(&tree);
    let memory = memory.expect("a controller");
    assert_eq!(
        (memory.current_bytes, memory.peak_bytes, memory.limit_bytes),
        (Some(5000), Some(6000), Some(7000))
    );
    assert_eq!(
        (memory.anonymous_bytes, memory.file_bytes, memory.shmem_bytes),
        (Some(2500), Some(2000), Some(100))
    );
    assert_eq!((memory.kernel_bytes, memory.sockets_bytes), (Some(300), Some(40)));
    assert_eq!((memory.unexplained_bytes, memory.inactive_file_bytes), (Some(200), Some(900)));
    assert_eq!((memory.processes, memory.processes_rss_bytes), (None, None));
    assert!(problems[0].text.contains("outside of this PID namespace"), "{problems:?}");
}

#[test]
fn version_1_counts_socket_buffers_only_where_they_were_limited() {
    let sockets_bytes = |usage: &str, limit: &str| {
        let tree = FakeTree::with(&[
            ("proc/self/cgroup", "4:memory:/\n"),
            ("proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n"),
            ("sys/fs/cgroup/memory/memory.kmem.tcp.usage_in_bytes", usage),
            ("sys/fs/cgroup/memory/memory.kmem.tcp.limit_in_bytes", limit),
        ]);
        read(&tree).0.expect("a controller").sockets_bytes
    };
    let no_limit = "9223372036854771712\n";
    assert_eq!(sockets_bytes("0\n", no_limit), None, "nobody counts");
    assert_eq!(sockets_bytes("0\n", "1048576\n"), Some(0));
    assert_eq!(sockets_bytes("4096\n", no_limit), Some(4096), "a limit that was taken back");
}

#[test]
fn no_controller_and_wrong_figures_are_told_apart() {
    assert_eq!(read(&FakeTree::with(&[("proc/self/status", "Name: x\n")])).0, None);
    let tree = FakeTree::with(&[
        ("proc/self/cgroup", "0::/\n"),
        V2_MOUNT,
        ("sys/fs/cgroup/memory.current", "many\n"),
    ]);
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    let groups = proc.read_cgroups(&sys, None).expect("as documented");
    assert!(
        groups
            .read_memory(&proc, &mut Vec::new())
            .expect_err("no number")
            .to_string()
            .contains("memory.current")
    );
}

#[test]
fn a_group_s_charge_is_explained_by_its_parts() {
    let Some(group) = MemoryGroup::new("charge") else { skip!("no right to make a control group") };
    let target = Target::start_with("grouped", &group.path().join("cgroup.procs").display().to_string());
    let (proc, sys) = (ProcRoot::default(), SysRoot::default());
    let groups = proc.read_cgroups(&sys, Some(target.pid())).expect("as documented");
    let name = group.path().file_name().and_then(|n| n.to_str()).expect("a name").to_owned();
    // Each processor takes up to 64 pages in advance.
    let processors = std::thread::available_parallelism().expect("a number").get() as i64;
    let in_advance = processors * 64 * rustix::param::page_size() as i64;
    // The kernel adds the statistics of its processors up every two seconds, and later where it is busy.
    let began = std::time::Instant::now();
    let (memory, problems) = loop {
        std::thread::sleep(std::time::Duration::from_millis(2500));
        let mut problems = Vec::new();
        let memory = groups.read_memory(&proc, &mut problems).expect("as documented").expect("a controller");
        let is_added_up = memory.unexplained_bytes.is_none_or(|bytes| (0..=in_advance).contains(&bytes));
        if is_added_up || began.elapsed().as_secs() > 60 {
            break (memory, problems);
        }
    };
    let rollup = proc.read_smaps_rollup(target.pid()).expect("our child").expect("with memory");
    let status = proc.read_memory_status(target.pid()).expect("our child");
    println!("{memory:?}");
    drop(target);
    assert_eq!((memory.path, problems), (format!("/{name}"), Vec::new()));
    assert_eq!((memory.processes, memory.processes_rss_bytes), (Some(1), status.rss_bytes));
    // What it touched since it joined is charged, what it had before is not.
    let anonymous_bytes = memory.anonymous_bytes.expect("a figure");
    assert!(
        (ALTERNATING_BYTES as u64 / 2..=rollup.anonymous_bytes.expect("a figure")).contains(&anonymous_bytes)
    );
    // A file of 32 MiB that it wrote.
    assert!(32 << 20 <= memory.file_bytes.expect("a figure"));
    let unexplained = memory.unexplained_bytes.expect("all parts");
    assert!((0..=in_advance).contains(&unexplained), "{unexplained}");
}
