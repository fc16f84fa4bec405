//! A stopped JVM with 155 waiting threads in a guest of each machine: what Assay finds there, against what the kernel there counts.

use super::{ASSAY, lacks};
use assay_emulate::{GuestStatus, IMAGE_FILE, PLACE_PROGRAM, Place, RESULTS, RESULTS_FILE, stripped};
use assay_model::{Area, GuestMachine, MemoryReport, PlannedGuest};
use assay_testkit::{checkout, find_java, java_classes, skip};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// CPU time of an emulator after which it hangs, however many neighbours there are.
const CPU_MAX: Duration = Duration::from_secs(600);
const CLASSES: &str = "/classes";

/// What the guest does. The server answers when its threads have been started.
const SCRIPT: &str = "
WAITING=155 java -Xms32m -Xmx32m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp CLASSES PlainServer 8080 >&2 &
pid=$!
until wget -q -O /dev/null http://127.0.0.1:8080/; do
    kill -0 $pid || exit 1
    sleep 1
done
kill -STOP $pid
cat /proc/$pid/smaps >RESULTS/smaps
ASSAY memory $pid --json >RESULTS/stopped.json
code=$?
kill -CONT $pid
ASSAY memory $pid --json --freeze >RESULTS/frozen.json || code=$?
kill -KILL $pid
exit $code
";

/// What a guest left.
struct Seen {
    /// Of the JVM that was stopped by a signal, and of the running one that Assay stopped itself.
    report: MemoryReport,
    frozen: MemoryReport,
    /// The kernel's sum of resident bytes, and its size of a page.
    rss_bytes: u64,
    page_bytes: u64,
}

impl Seen {
    fn of(machine: GuestMachine, architecture: &str) -> Seen {
        let planned = PlannedGuest { machine, kernel: None, processors: 1, nodes: 1, memory_mib: 1024 };
        let cache = checkout().join(".assay");
        let place = Place::find(&cache, &planned).expect("it was fetched");
        let folder = tempfile::tempdir().expect("a folder");
        let script =
            SCRIPT.replace("CLASSES", CLASSES).replace("RESULTS", RESULTS).replace("ASSAY", PLACE_PROGRAM);
        let words = ["sh", "-c", &script].map(str::to_owned);
        let mut image = place.image(&words, Path::new("/")).expect("an image");
        image.add(&java_classes("java/PlainServer.java"), Path::new(CLASSES)).expect("classes");
        // `Place::program` is what runs, which is a test here.
        let program = match place.runs_own_programs() {
            true => Path::new(ASSAY).to_owned(),
            false => place.program().expect("it was built"),
        };
        let home = match place.jvm_homes().first() {
            Some(home) => home.clone(),
            None => {
                let java = find_java(17, 64).expect("a JDK");
                let home = java.parent().and_then(Path::parent).expect("bin/java").to_owned();
                image.add_runtime(&home, &home).expect("a runtime");
                home
            }
        };
        image.add_link(Path::new("/usr/bin/java"), &home.join("bin/java"));
        if place.runs_own_programs() {
            let small = stripped(&program, folder.path()).expect("a smaller program");
            image.add(&small, Path::new(PLACE_PROGRAM)).expect("this program");
            image.add_libraries();
        } else {
            image.add(&program, Path::new(PLACE_PROGRAM)).expect("its program");
        }
        let mut file = BufWriter::new(fs::File::create(folder.path().join(IMAGE_FILE)).expect("a file"));
        let bytes = image.write(&mut file).expect("written");
        file.flush().expect("written");
        boot(&place.command(&planned, bytes, 1), folder.path());
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
        let console = read("console");
        let status = GuestStatus::read(folder.path()).unwrap_or_else(|e| panic!("{e}\n{console}"));
        assert_eq!((status.code, status.oom_kills), (0, 0), "{console}");
        let report_of = |name| serde_json::from_str(&read(name)).expect("a report");
        let smaps = read("smaps");
        let of =
            |key: &'static str| smaps.lines().filter_map(move |line| kib(line, key)).map(|kib| kib << 10);
        let seen = Seen {
            report: report_of("stopped.json"),
            frozen: report_of("frozen.json"),
            rss_bytes: of("Rss:").sum(),
            page_bytes: of("KernelPageSize:").min().expect("pages"),
        };
        seen.check(architecture);
        seen
    }

    fn check(&self, architecture: &str) {
        let Seen { report, frozen, rss_bytes, page_bytes } = self;
        let areas: Vec<_> = report.areas.iter().map(|area| (area.area, area.resident_bytes)).collect();
        println!(
            "{architecture}: pages of {page_bytes}, {rss_bytes} bytes, {} unknown: {areas:?}",
            report.unknown_bytes
        );
        report.problems.iter().for_each(|problem| println!("{architecture}: {problem:?}"));
        for report in [report, frozen] {
            let of_entries: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
            assert_eq!((of_entries, report.rss_change_during_scan_bytes), (report.rss_bytes, 0));
        }
        assert_eq!(report.rss_bytes, *rss_bytes, "what the kernel counts");
        assert!(frozen.frozen_ns.is_some());
    }

    fn stacks_bytes(&self) -> u64 {
        let stacks = self.report.areas.iter().find(|area| area.area == Area::Stacks);
        stacks.expect("stacks").resident_bytes
    }
}

/// Runs a guest to its end and unpacks what it handed out.
fn boot(command: &assay_emulate::Command, folder: &Path) {
    let console = fs::File::create(folder.join("console")).expect("a file");
    let mut emulator = Command::new(&command.argv[0])
        .args(&command.argv[1..])
        .envs(&command.env)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(console.try_clone().expect("a file"))
        .stdout(console)
        .spawn()
        .expect("an emulator");
    while emulator.try_wait().expect("it is ours").is_none() {
        let used = assay_linux::process_cpu_ns(emulator.id()).map_or(Duration::ZERO, Duration::from_nanos);
        if CPU_MAX < used {
            emulator.kill().expect("it runs");
            emulator.wait().expect("it ends");
            let console = fs::read_to_string(folder.join("console")).unwrap_or_default();
            panic!("the guest hangs:\n{console}");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let unpacked = Command::new("tar").arg("-xf").arg(RESULTS_FILE).current_dir(folder).status();
    assert!(unpacked.expect("tar").success());
}

fn kib(line: &str, key: &str) -> Option<u64> {
    line.strip_prefix(key)?.trim().strip_suffix(" kB")?.trim().parse().ok()
}

#[test]
#[ignore = "long: two machines are emulated for a minute each"]
fn stacks_of_155_threads_in_pages_of_64_kib_are_as_large_as_the_pages_make_them() {
    for architecture in ["powerpc64le", "x86-64"] {
        if let Some(why) = lacks(architecture) {
            skip!("{why}");
        }
    }
    let x86 = Seen::of(GuestMachine::X86_64, "x86-64");
    let power = Seen::of(GuestMachine::Power9, "powerpc64le");
    assert_eq!((power.page_bytes, x86.page_bytes), (64 << 10, 4 << 10));
    let ratio = power.stacks_bytes() as f64 / x86.stacks_bytes() as f64;
    println!("stacks: {} and {} bytes, ratio {ratio:.2}", power.stacks_bytes(), x86.stacks_bytes());
    assert!((3.5..4.5).contains(&ratio), "{ratio}");
}

#[test]
#[ignore = "long: a machine is emulated for a minute"]
fn entries_of_a_stopped_jvm_on_neoverse_n1_add_up_to_what_the_kernel_counts() {
    if let Some(why) = lacks("aarch64") {
        skip!("{why}");
    }
    let arm = Seen::of(GuestMachine::NeoverseN1, "aarch64");
    assert_eq!(arm.page_bytes, 4 << 10);
}
