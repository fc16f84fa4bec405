//! Parsers over text: what kernels write, what they may leave out, and what nobody should write.

use assay_linux::*;
use proptest::prelude::*;
use std::path::Path;

fn path() -> &'static Path {
    Path::new("/proc/1/file")
}

fn mappings(text: &str) -> Result<Vec<Mapping>, LinuxError> {
    parse_smaps(path(), text.as_bytes()).collect()
}

const SMAPS: &str = "\
55e970d16000-55e970d18000 r-xp 00002000 fe:00 247026                     /usr/lib/a folder/lib x.so (deleted)
Size:                  8 kB
Rss:                   8 kB
Pss:                   3 kB
Shared_Clean:          4 kB
Shared_Dirty:          0 kB
Private_Clean:         0 kB
Private_Dirty:         4 kB
Anonymous:             4 kB
AnonHugePages:         0 kB
Swap:                 12 kB
THPeligible:    0
VmFlags: rd mr mw me
7ffd190ec000-7ffd190ed000 ---p 00000000 00:00 0
Size:                  4 kB
Rss:                   0 kB
";

#[test]
fn a_mapping_has_its_header_and_its_sizes_in_bytes() {
    let read = mappings(SMAPS).unwrap();
    let library = &read[0];
    assert_eq!(library.addresses, 0x55e9_70d1_6000..0x55e9_70d1_8000);
    assert_eq!(library.name, "/usr/lib/a folder/lib x.so (deleted)");
    assert_eq!((library.offset_bytes, library.device.as_str(), library.inode), (0x2000, "fe:00", 247_026));
    assert!(library.is_executable() && library.is_file() && !library.is_inaccessible());
    assert_eq!((library.rss_bytes, library.pss_bytes), (8192, Some(3072)));
    assert_eq!((library.private_bytes, library.shared_bytes), (Some(4096), Some(4096)));
    assert_eq!((library.anonymous_bytes, library.swap_bytes), (Some(4096), Some(12_288)));
    assert_eq!(library.anon_huge_pages_bytes, Some(0));
}

#[test]
fn what_the_kernel_does_not_write_is_absent() {
    let guard = &mappings(SMAPS).unwrap()[1];
    assert!(guard.is_inaccessible() && !guard.is_file());
    assert_eq!(
        (guard.name.as_str(), guard.rss_bytes, guard.pss_bytes, guard.swap_bytes),
        ("", 0, None, None)
    );
}

#[test]
fn a_text_that_was_cut_off_says_so() {
    let error = mappings(&SMAPS[..SMAPS.len() - 30]).unwrap_err().to_string();
    assert!(error.contains("/proc/1/file, line 15") && error.contains("Rss: missing"), "{error}");
}

#[test]
fn bad_mappings_name_the_line_and_the_item() {
    for (text, item) in [
        ("Rss: 4 kB\n", "mapping: no address line"),
        ("1-0 rw-p 0 00:00 0\n", "addresses: end before start"),
        ("0-z rw-p 0 00:00 0\n", "addresses: not hexadecimal"),
        ("0-1 rwxps 0 00:00 0\n", "permissions: not four letters"),
        ("0-1 rw-p 0 00:00 x\n", "inode: not a number"),
        ("0-1 rw-p\n", "offset: missing"),
        ("0-1 rw-p 0 00:00 0\nRss: 99999999999999999999 kB\n", "Rss: not a number"),
        ("0-1 rw-p 0 00:00 0\nRss: 18446744073709551615 kB\n", "Rss: larger than 2^64"),
        ("0-1 rw-p 0 00:00 0\nRss\n", "mapping: no colon"),
    ] {
        let error = mappings(text).unwrap_err().to_string();
        assert!(error.contains(item), "{text:?}: {error}");
    }
}

#[test]
fn a_line_that_never_ends_is_refused_and_not_kept() {
    let endless = std::io::BufReader::new(std::io::repeat(b'a'));
    let error = parse_smaps(path(), endless).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("line without an end"), "{error}");
}

#[test]
fn a_rollup_needs_its_rss() {
    let text = "1-2 ---p 00000000 00:00 0    [rollup]\nRss:    1620 kB\nPss:     250 kB\nSwap:   0 kB\n";
    let rollup = parse_smaps_rollup(path(), text).unwrap();
    assert_eq!((rollup.rss_bytes, rollup.pss_bytes), (1620 * 1024, Some(250 * 1024)));
    assert_eq!((rollup.swap_bytes, rollup.anon_huge_pages_bytes), (Some(0), None));
    assert!(parse_smaps_rollup(path(), "Pss: 1 kB\n").is_err());
}

#[test]
fn a_command_may_hold_parentheses_blanks_and_line_ends() {
    let text = "42 (a) S (b\n) R 1 40 39 0 -1 4194304 1 2 3 4 500 60 7 8 20 0 33 0 9876 1000 200 18446744073709551615\n";
    let stat = parse_process_stat(path(), text).unwrap();
    assert_eq!((stat.pid, stat.command.as_str(), stat.state), (42, "a) S (b\n", 'R'));
    assert_eq!((stat.parent_pid, stat.group_id, stat.session_id), (1, 40, 39));
    assert_eq!((stat.user_ticks, stat.system_ticks, stat.threads, stat.start_ticks), (500, 60, 33, 9876));
}

#[test]
fn a_stat_that_is_too_short_names_the_field() {
    let error = parse_process_stat(path(), "42 (java) S 1 40 39 0 -1 0 1 2 3 4 500").unwrap_err();
    assert_eq!(error.item, "stime");
    assert!(parse_process_stat(path(), "").is_err());
}

#[test]
fn a_status_without_memory_has_none() {
    let status =
        parse_process_status(path(), "Name:\tkthreadd\nState:\tS (sleeping)\nThreads:\t1\n").unwrap();
    assert_eq!(status, ProcessStatus { threads: Some(1), ..ProcessStatus::default() });
    let status =
        parse_process_status(path(), "VmHWM:\t    1688 kB\nVmRSS:\t    1680 kB\nVmPTE:\t 48 kB\n").unwrap();
    assert_eq!((status.rss_bytes, status.rss_bytes_max), (Some(1680 * 1024), Some(1688 * 1024)));
    assert_eq!(status.page_table_bytes, Some(48 * 1024));
}

#[test]
fn a_thread_s_schedstat_has_three_numbers() {
    let read = parse_schedstat(path(), "123 456 7\n").unwrap();
    assert_eq!(read, Schedstat { run_ns: 123, wait_ns: 456, slices: 7 });
    assert_eq!(parse_schedstat(path(), "123 456\n").unwrap_err().item, "slices");
}

#[test]
fn pressure_without_a_full_line_is_that_of_an_older_kernel() {
    let text = "some avg10=1.25 avg60=0.64 avg300=3.40 total=32411772\n";
    let pressure = parse_pressure(path(), text).unwrap();
    assert_eq!(pressure.some, PressureTotals { avg10_percent: 1.25, total_us: 32_411_772 });
    assert_eq!(pressure.full, None);
    let full =
        parse_pressure(path(), &format!("{text}full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n")).unwrap();
    assert_eq!(full.full.unwrap().total_us, 7);
    assert!(parse_pressure(path(), "some avg10=1.25\n").is_err());
    assert!(parse_pressure(path(), "").is_err());
}

#[test]
fn processors_are_summed_and_listed_and_steal_may_be_missing() {
    let text =
        "cpu  4 3 2 1 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\ncpu3 1 1 1 1 1 1 1\nintr 5 cpu\nctxt 9\n";
    let cpu = parse_stat(path(), text).unwrap();
    assert_eq!(
        cpu.all,
        CpuTicks { user: 4, nice: 3, system: 2, idle: 1, io_wait: 5, irq: 6, soft_irq: 7, steal: Some(8) }
    );
    assert_eq!(cpu.each.iter().map(|c| c.steal).collect::<Vec<_>>(), [Some(1), None]);
    assert!(parse_stat(path(), "intr 1\n").is_err());
}

#[test]
fn processors_are_described_on_intel_and_on_arm() {
    let intel = "processor\t: 0\nmodel name\t: Some Processor\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\nmodel name\t: B\n";
    let info = parse_cpuinfo(intel);
    assert_eq!(
        (info.model.as_deref(), info.processors, info.hypervisor_flag),
        (Some("Some Processor"), 2, true)
    );
    let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
    assert_eq!(parse_cpuinfo(arm).model.as_deref(), Some("Arm implementer 0x41 part 0xd0c"));
    assert_eq!(parse_cpuinfo(""), CpuInfo::default());
}

#[test]
fn a_distribution_has_a_name_with_or_without_quotes() {
    let release = parse_os_release("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n");
    assert_eq!(release.pretty_name.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
    assert_eq!(release.id.as_deref(), Some("debian"));
    assert_eq!(parse_os_release("# nothing\n"), OsRelease::default());
}

#[test]
fn memory_of_the_machine_is_in_bytes() {
    let info =
        parse_meminfo(path(), "MemTotal:  24684092 kB\nMemAvailable: 5 kB\nHugePages_Total: 0\n").unwrap();
    assert_eq!((info.total_bytes, info.available_bytes), (Some(24_684_092 * 1024), Some(5 * 1024)));
    assert_eq!(info.swap_total_bytes, None);
}

/// Every parser, to be fed with anything.
fn parse_all(text: &str) {
    let _ = mappings(text);
    let _ = parse_smaps_rollup(path(), text);
    let _ = parse_process_stat(path(), text);
    let _ = parse_process_status(path(), text);
    let _ = parse_schedstat(path(), text);
    let _ = parse_pressure(path(), text);
    let _ = parse_stat(path(), text);
    let _ = parse_cgroup(path(), text);
    let _ = parse_mountinfo(path(), text);
    let _ = parse_meminfo(path(), text);
    parse_cpuinfo(text);
    parse_os_release(text);
}

/// Texts as kernels write them, to be damaged.
const SEEDS: &[&str] = &[
    SMAPS,
    "42 (a) S (b) R 1 40 39 0 -1 4194304 1 2 3 4 500 60 7 8 20 0 33 0 9876 1000 200 18446744073709551615\n",
    "VmRSS:\t    1680 kB\nThreads:\t1\n",
    "some avg10=1.25 avg60=0.64 avg300=3.40 total=32411772\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    "cpu  4 3 2 1 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n",
    "4:memory:/a/b\n0::/\n",
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n",
];

proptest! {
    #[test]
    fn no_text_makes_a_parser_panic(text in "(?s).{0,400}") {
        parse_all(&text);
    }

    #[test]
    fn no_damage_to_a_real_text_makes_a_parser_panic(
        seed in proptest::sample::select(SEEDS), at in any::<proptest::sample::Index>(), with in "(?s).{0,6}", cut in 0usize..9
    ) {
        let characters: Vec<char> = seed.chars().collect();
        let at = at.index(characters.len());
        let damaged: String = characters[..at].iter().copied()
            .chain(with.chars())
            .chain(characters[characters.len().min(at + cut)..].iter().copied())
            .collect();
        parse_all(&damaged);
    }

    #[test]
    fn mappings_come_back_as_they_were_written(
        sizes in proptest::collection::vec((1u64..1 << 30, 0u64..1 << 30, "[ -~]{0,30}"), 0..20)
    ) {
        let mut text = String::new();
        let mut start = 0x1000;
        for (size, rss_kib, name) in &sizes {
            text += &format!("{start:08x}-{:08x} rw-p 00000000 00:00 0     {name}\n", start + size);
            text += &format!("Rss: {rss_kib:8} kB\nPss: {rss_kib:8} kB\n");
            start += size;
        }
        let read = mappings(&text).unwrap();
        prop_assert_eq!(read.len(), sizes.len());
        for (mapping, (size, rss_kib, name)) in read.iter().zip(&sizes) {
            prop_assert_eq!(mapping.size_bytes(), *size);
            prop_assert_eq!(mapping.rss_bytes, rss_kib * 1024);
            prop_assert_eq!(&mapping.name, name.trim_start_matches(' '));
        }
    }
}
