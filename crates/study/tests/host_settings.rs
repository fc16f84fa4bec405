//! Settings of this machine as a study changes them: made, read back, recorded and taken back, whatever becomes of the run.
//!
//! Every run has a folder of its own for what it leaves word of (`XDG_RUNTIME_DIR`), so that no other run takes its changes back.

use crate::support::{Fixture, example};
use assay_model::{RunEvent, RunEventKind, Trial};
use assay_study::{Study, StudyError};
use assay_testkit::{Turn, skip, turn};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One launch of each level.
const DESIGN: &str =
    "design = { blocks = 1, window = \"300ms\", warm_up = { cap = \"0s\" }, repeats_max = 0 }\n";
const KILLS: u32 = 5;
const KILLS_LONG: u32 = 50;
/// Of the instants at which runs are killed.
const SEED: u64 = 20_180_420;

/// What differs from moment to moment without anybody's doing: the part of a path, and why.
const VOLATILE: &[(&str, &str)] = &[
    ("/sys/fs/cgroup/", "groups and counters of all processes; groups of ours are looked for by name"),
    ("/sys/kernel/debug", "not settings; some files block, some act when read"),
    ("/sys/kernel/tracing", "the same"),
    ("/sys/class/zram-control/hot_add", "reading it makes a device"),
    ("/sys/kernel/slab/", "counters of the allocator, and a folder for each cache that comes and goes"),
    ("/sys/kernel/irq/", "counters of interrupts"),
    ("/sys/kernel/mm/ksm/", "counters of a scanner"),
    ("/sys/kernel/mm/hugepages/hugepages-", "free and surplus pages; their number is in /proc/sys/vm too"),
    ("/stats/", "counters (huge pages by size, batches)"),
    ("/sys/kernel/rcu_", "grace periods"),
    ("/sys/kernel/uevent_seqnum", "counts events of devices"),
    ("/sys/kernel/security", "counters"),
    ("/sys/module/", "counters of users; parameters are set by nobody here"),
    ("/statistics/", "counters of packets"),
    ("/byte_queue_limits/", "adapted by the kernel while packets are sent"),
    ("/inflight", "requests under way"),
    ("/stat", "counters of a disk"),
    ("mm_stat", "counters of compressed memory"),
    ("/power/", "runtime accounting"),
    ("/wakeup", "counters"),
    ("/cpuidle/", "counters of idle states"),
    ("/topology/cluster", "not a setting"),
    ("/devices/system/node/node", "counters of memory"),
    ("/virtual/bdi", "write-back counters"),
    ("/session_write_kbytes", "counters of a file system"),
    ("/lifetime_write_kbytes", "the same"),
    ("/sys/fs/ext4/", "counters of a file system"),
    ("/sys/fs/xfs/", "the same"),
    ("/sys/fs/btrfs/", "the same"),
    ("/sys/devices/virtual/net/veth", "devices of tests of other programs come and go"),
    ("/sys/class/", "links to /sys/devices, which is looked through"),
    ("/sys/bus/", "the same, and counters of drivers"),
    ("/sys/firmware/", "tables of the firmware"),
    ("/sys/devices/LNX", "firmware"),
    ("/sys/devices/pnp", "firmware"),
    ("/rtc", "the time"),
    ("/sys/devices/system/clocksource/", "not changed here; reading is slow"),
    ("/proc/sys/fs/", "counts of files, inodes and names; nothing of it is changed here"),
    ("/proc/sys/kernel/random/", "a new number at each reading"),
    ("/proc/sys/kernel/ns_last_pid", "the last process"),
    ("/proc/sys/kernel/pty/nr", "terminals"),
    ("/proc/sys/kernel/keys/", "counts"),
    ("/proc/sys/kernel/sched_domain", "costs that the scheduler measures"),
    ("/proc/sys/net/netfilter/nf_conntrack_count", "connections"),
    ("/proc/sys/net/ipv4/route/", "flushes when written; some cannot be read"),
    ("/proc/sys/net/ipv4/conf/veth", "devices of tests of other programs come and go"),
    ("/proc/sys/net/ipv6/conf/veth", "the same"),
    ("/proc/sys/net/ipv4/neigh/veth", "the same"),
    ("/proc/sys/net/ipv6/neigh/veth", "the same"),
    ("/proc/sys/vm/stat_refresh", "acts when it is read"),
];

/// Every setting below `/proc/sys` and `/sys` that stands still by itself.
fn settings() -> BTreeMap<PathBuf, Vec<u8>> {
    const FILE_BYTES_MAX: u64 = 64 << 10;
    let (mut found, mut folders) = (BTreeMap::new(), vec![PathBuf::from("/proc/sys"), PathBuf::from("/sys")]);
    let is_volatile = |path: &Path| {
        let shown = format!("{}/", path.display());
        VOLATILE.iter().any(|(part, _)| shown.contains(part))
    };
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() || is_volatile(&path) {
                continue;
            } else if kind.is_dir() {
                folders.push(path);
                continue;
            }
            use std::os::unix::fs::PermissionsExt;
            // A file that cannot be written is not a setting.
            if !entry
                .metadata()
                .is_ok_and(|of| of.permissions().mode() & 0o222 != 0 && of.permissions().mode() & 0o444 != 0)
            {
                continue;
            }
            let mut text = Vec::new();
            let read =
                std::fs::File::open(&path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut text));
            if read.is_ok() {
                found.insert(path, text);
            }
        }
    }
    found
}

#[track_caller]
fn assert_unchanged(before: &BTreeMap<PathBuf, Vec<u8>>, when: &str) {
    let after = settings();
    let mut differ = String::new();
    for path in before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)) {
        let shown = |of: &BTreeMap<PathBuf, Vec<u8>>| {
            of.get(path).map(|text| String::from_utf8_lossy(text).into_owned())
        };
        let _ = writeln!(differ, "{}: {:?}, now {:?}", path.display(), shown(before), shown(&after));
    }
    assert!(differ.is_empty(), "{when}: not as before\n{differ}");
    assert!(200 < before.len(), "settings were read: {}", before.len());
    assert_eq!(own_groups(), Vec::<PathBuf>::new(), "{when}");
}

/// Control groups that a run of these tests made.
fn own_groups() -> Vec<PathBuf> {
    let below =
        |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let two_deep = below("/sys/fs/cgroup".into())
        .flat_map(below)
        .flat_map(|at| std::iter::once(at.clone()).chain(below(at)));
    let deeper = two_deep.flat_map(|at| std::iter::once(at.clone()).chain(below(at)));
    let is_own = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let pid = name.strip_prefix("assay-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        // Runs of others, which live, may have theirs.
        pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists())
    };
    deeper.filter(is_own).collect()
}

/// What the level changes, as it stands in the study file, and with what each must be found while the server runs.
struct Levers {
    level: String,
    expected: Vec<(PathBuf, String)>,
}

/// The first of two values that a setting does not have.
fn another<'a>(path: &str, [one, two]: [&'a str; 2]) -> &'a str {
    let now = std::fs::read_to_string(path).unwrap_or_default();
    let is_one = now.trim() == one || now.contains(&format!("[{one}]"));
    if is_one { two } else { one }
}

/// The levers of this machine; `None` with what is missing where it has fewer than twelve.
fn levers() -> Result<Levers, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("settings of the machine are changed by root".to_owned());
    }
    let mut expected: Vec<(PathBuf, String)> = Vec::new();
    let mut host: Vec<String> = Vec::new();
    let mut sysctl: Vec<String> = Vec::new();
    let has = |path: &str| Path::new(path).exists();
    let choices = [
        ("enabled", "transparent_huge_pages", ["never", "madvise"]),
        ("defrag", "transparent_huge_pages_defrag", ["defer", "madvise"]),
        ("shmem_enabled", "transparent_huge_pages_shared", ["advise", "never"]),
    ];
    for (name, key, words) in choices {
        let path = format!("/sys/kernel/mm/transparent_hugepage/{name}");
        if has(&path) {
            let word = another(&path, words);
            host.push(format!("{key} = \"{word}\""));
            expected.push((path.into(), format!("[{word}]")));
        }
    }
    if has("/proc/sys/vm/nr_hugepages") {
        let bytes = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = bytes.lines().find_map(|l| {
            l.strip_prefix("Hugepagesize:")?.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        let now: u64 = std::fs::read_to_string("/proc/sys/vm/nr_hugepages")
            .unwrap_or_default()
            .trim()
            .parse()
            .unwrap_or(0);
        if let Some(kib) = kib {
            host.push(format!("huge_pages = \"{}k\"", kib * (now + 2)));
            expected.push(("/proc/sys/vm/nr_hugepages".into(), (now + 2).to_string()));
        }
    }
    for (name, values) in [
        ("vm.swappiness", ["41", "42"]),
        ("vm.max_map_count", ["65531", "65532"]),
        ("vm.min_free_kbytes", ["70001", "70002"]),
        ("net.core.somaxconn", ["4097", "4098"]),
        ("net.core.netdev_max_backlog", ["1001", "1002"]),
        ("net.core.netdev_budget", ["301", "302"]),
        ("net.ipv4.tcp_max_syn_backlog", ["1025", "1026"]),
        ("kernel.threads-max", ["100001", "100002"]),
    ] {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        if has(&path) {
            let value = another(&path, values);
            sysctl.push(format!("\"{name}\" = \"{value}\""));
            expected.push((path.into(), value.to_owned()));
        }
    }
    host.push(format!("sysctl = {{ {} }}", sysctl.join(", ")));
    let devices = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let steered = devices
        .map(|d| d.path().join("queues/rx-0/rps_cpus"))
        .find(|path| path.exists() && !path.starts_with("/sys/class/net/lo"));
    if let Some(path) = steered {
        let device = path.iter().nth(4).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_first = std::fs::read_to_string(&path).is_ok_and(|mask| mask.trim().ends_with('1'));
        let (cpu, mask) = if is_first { ("1", "2") } else { ("0", "1") };
        host.push(format!("rps = {{ {device} = \"{cpu}\" }}"));
        expected.push((path, mask.to_owned()));
    }
    // An interrupt that can be moved takes its own mask back.
    let interrupts = std::fs::read_dir("/proc/irq")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("smp_affinity"));
    let movable = |path: &PathBuf| {
        std::fs::read_to_string(path)
            .is_ok_and(|mask| mask.trim().ends_with('3') && std::fs::write(path, &mask).is_ok())
    };
    if let Some(path) = interrupts.filter(|path| path.exists()).find(movable) {
        let number = path.iter().nth(3).map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        host.push(format!("irq_affinity = {{ {number} = \"0\" }}"));
        expected.push((path, "1".to_owned()));
    }
    if has("/sys/class/zram-control/hot_add") {
        host.push("swap = \"16m\"".to_owned());
        expected.push(("/proc/swaps".into(), "/dev/zram".to_owned()));
    }
    host.push("cpuset = \"0\"".to_owned());
    // Processors, CPU time and memory of the server are three more.
    match expected.len() + 3 {
        12.. => Ok(Levers {
            level: format!("host = {{ {} }}, limits = {{ cpus = 0.75, memory = \"512m\" }}", host.join(", ")),
            expected,
        }),
        few => Err(format!("this machine has {few} of 12 levers")),
    }
}

impl Levers {
    /// A study of the machine as it is, and as the levers make it.
    fn fixture(&self) -> Fixture {
        let factor = format!(
            "[[factor]]\nname = \"machine\"\nlevel = [{{ name = \"as it is\" }}, {{ name = \"changed\", {} }}]\n",
            self.level
        );
        Fixture::new(DESIGN, &factor)
    }
}

/// The tests change the same settings: one after the other.
fn the_machine() -> Turn {
    turn("settings-of-the-machine")
}

/// A run that is interrupted, and waited for, when a test fails beside it: what it has changed does not stay.
struct Runner(Child);

impl Runner {
    fn interrupt(&self) {
        let pid = i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw);
        let _ = rustix::process::kill_process(pid.expect("a process"), rustix::process::Signal::INT);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            self.interrupt();
            let _ = self.0.wait();
        }
    }
}

/// The runner in a process of its own.
fn start(study: &Path, out: &Path, runtime: &Path, is_allowed: bool) -> Child {
    let mut command = Command::new(example("run_study"));
    command.args([study, out]).env("XDG_RUNTIME_DIR", runtime);
    if is_allowed {
        command.arg("--allow-host-changes");
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the runner starts")
}

/// Any start of Assay takes back what a killed one has left.
fn next_start(runtime: &Path) {
    let fixture = Fixture::new(DESIGN, "");
    let output = start(&fixture.study, &fixture.out(), runtime, false).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn trial_of<'a>(trials: &'a [Trial], variant: &str) -> &'a Trial {
    trials.iter().find(|trial| trial.variant == variant).expect("a trial")
}

#[test]
fn twelve_levers_are_made_read_back_recorded_and_taken_back() {
    let _machine = the_machine();
    let levers = match levers() {
        Ok(levers) => levers,
        Err(why) => skip!("{why}"),
    };
    let before = settings();
    let (fixture, runtime) = (levers.fixture(), tempfile::tempdir().expect("a folder"));
    let mut runner = Runner(start(&fixture.study, &fixture.out(), runtime.path(), true));
    let mut looked = 0;
    for line in BufReader::new(runner.0.stdout.take().expect("a pipe")).lines() {
        let Ok(event) = serde_json::from_str::<RunEvent>(&line.expect("text")) else { continue };
        // The variants come in an order that the seed draws.
        let changed = |number: u32| {
            std::fs::read_dir(fixture.out().join("trials")).into_iter().flatten().flatten().any(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                name.contains("changed")
                    && name.split('-').next().and_then(|n| n.parse().ok()) == Some(number)
            })
        };
        if let RunEventKind::ServerReady { number, .. } = event.kind {
            let is_changed = changed(number);
            looked += u32::from(is_changed);
            for (path, value) in &levers.expected {
                let text = std::fs::read_to_string(path).expect("a setting");
                let has = |text: &str| text.split_whitespace().any(|word| word.starts_with(value.as_str()));
                assert_eq!(has(&text), is_changed, "{} is {text:?} in trial {number}", path.display());
            }
        }
    }
    let mut said = String::new();
    runner.0.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert!(runner.0.wait().expect("it ends").success(), "{said}");
    assert_eq!(looked, 1, "the changed machine was seen");
    assert_unchanged(&before, "after the run");
    let trials: Vec<Trial> = fixture.load().trials.into_iter().map(|t| t.trial).collect();
    assert_eq!(trial_of(&trials, "as it is").treatments, []);
    let changed = trial_of(&trials, "changed");
    assert!(changed.problems.iter().all(|p| p.about != "host settings"), "{:?}", changed.problems);
    assert!(changed.treatments.iter().all(|of| of.undone && of.found.is_some()), "{:#?}", changed.treatments);
    assert_eq!(
        changed.treatments.len(),
        levers.expected.len() + 1,
        "one for each, and one for the control group"
    );
    let group = changed.treatments.last().and_then(|of| of.found.clone()).expect("the group");
    let version_1 =
        group.contains("cpu.cfs_quota_us=75000") && group.contains("memory.limit_in_bytes=536870912");
    assert!(version_1 || group.contains("cpu.max=75000 100000"), "{group}");
    assert!(group.contains("cpuset.cpus=0"), "{group}");
}

fn killed_at_random_instants(kills: u32) {
    let _machine = the_machine();
    let levers = match levers() {
        Ok(levers) => levers,
        Err(why) => skip!("{why}"),
    };
    let before = settings();
    let runtime = tempfile::tempdir().expect("a folder");
    // How long a whole run takes here and now.
    let whole = levers.fixture();
    let begun = Instant::now();
    let output = start(&whole.study, &whole.out(), runtime.path(), true).wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let whole_ms = begun.elapsed().as_millis() as u64;
    let (mut state, mut left_changed) = (SEED, 0);
    for kill in 1..=kills {
        // A linear congruential generator (Knuth's MMIX) is random enough for instants.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = Duration::from_millis((state >> 33) % whole_ms);
        let fixture = levers.fixture();
        let mut child = start(&fixture.study, &fixture.out(), runtime.path(), true);
        std::thread::sleep(at);
        child.kill().expect("SIGKILL");
        child.wait().expect("it is gone");
        left_changed += u32::from(
            std::fs::read_to_string(&levers.expected[0].0)
                .is_ok_and(|text| text.contains(&levers.expected[0].1)),
        );
        next_start(runtime.path());
        assert_unchanged(&before, &format!("kill {kill}, after {at:?}"));
        assert_eq!(fixture.left_over(), Vec::<String>::new());
    }
    println!("{left_changed} of {kills} kills left the machine changed until the next start");
}

#[test]
fn after_kill_9_the_next_start_takes_everything_back() {
    killed_at_random_instants(KILLS);
}

#[test]
#[ignore = "long: kills fifty runs"]
fn after_kill_9_at_fifty_instants_the_next_start_takes_everything_back() {
    killed_at_random_instants(KILLS_LONG);
}

#[test]
fn ctrl_c_takes_everything_back() {
    let _machine = the_machine();
    let levers = match levers() {
        Ok(levers) => levers,
        Err(why) => skip!("{why}"),
    };
    let before = settings();
    let (fixture, runtime) = (levers.fixture(), tempfile::tempdir().expect("a folder"));
    let mut runner = Runner(start(&fixture.study, &fixture.out(), runtime.path(), true));
    let (path, value) = &levers.expected[0];
    let begun = Instant::now();
    while !std::fs::read_to_string(path).is_ok_and(|text| text.contains(value)) {
        assert!(begun.elapsed() < Duration::from_secs(120), "nothing was changed");
        std::thread::sleep(Duration::from_millis(2));
    }
    runner.interrupt();
    runner.0.wait().expect("it ends");
    assert_unchanged(&before, "after Ctrl-C");
}

#[test]
fn without_leave_nothing_is_touched_and_what_would_be_is_listed() {
    let fixture = Fixture::new(
        DESIGN,
        "[[factor]]\nname = \"n\"\nlevel = [{ name = \"a\" }, { name = \"b\", host = { sysctl = { \"vm.swappiness\" = \"41\" } } }]\n",
    );
    let prepared = fixture.prepare().expect("a plan");
    let planned = &prepared.plan().variants[1].treatments;
    assert_eq!((planned[0].setting.as_str(), planned[0].is_global), ("/proc/sys/vm/swappiness", true));
    let error = fixture.run(false, |_, _| ()).0.expect_err("refused");
    let text = error.to_string();
    assert!(matches!(error, StudyError::Use(_)), "{text}");
    assert!(
        text.contains("/proc/sys/vm/swappiness = 41 (b)") && text.contains("--allow-host-changes"),
        "{text}"
    );
    assert!(!fixture.out().exists(), "nothing was begun");
}

#[test]
fn resident_servers_cannot_differ_in_a_setting_of_the_whole_machine() {
    let design = "design = { kind = \"resident\", blocks = 3, window = \"300ms\" }\n";
    let refused = |level: &str| {
        let fixture = Fixture::new(
            design,
            &format!("[[factor]]\nname = \"n\"\nlevel = [{{ name = \"a\" }}, {{ name = \"b\", {level} }}]\n"),
        );
        Study::read(&fixture.study)
            .err()
            .map(|found| found.iter().map(ToString::to_string).collect::<String>())
    };
    let why = refused("host = { transparent_huge_pages = \"never\" }").expect("refused");
    assert!(why.contains("holds for the whole machine") && why.contains("fresh"), "{why}");
    assert_eq!(refused("host = { cpuset = \"0\" }, limits = { cpus = 0.5 }"), None);
}

#[test]
fn a_variant_whose_setting_this_machine_lacks_is_skipped_with_the_reason() {
    let fixture = Fixture::new(
        DESIGN,
        "[[factor]]\nname = \"n\"\nlevel = [{ name = \"a\" }, { name = \"b\", host = { sysctl = { \"vm.no_such\" = \"1\" } } }]\n",
    );
    let prepared = fixture.prepare().expect("a plan");
    let skipped = &prepared.plan().skipped;
    assert_eq!(skipped.len(), 1);
    assert!(skipped[0].reason.contains("/proc/sys/vm/no_such"), "{:?}", skipped[0]);
}
