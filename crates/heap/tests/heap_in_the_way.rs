//! The search for the heap's place, held against JVMs in whose way something was put: a debugger maps memory before the
//! JVM reserves its heap, and what the JVM then does must be what was computed for these addresses.

use assay_jdk::Collector;
use assay_jdk::modes::{AddressSpace, DecidingOptions, HeapSetting};
use assay_model::ReferenceMode;
use assay_testkit::{each_java, skip};
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// `PROT_NONE`, and `MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE`.
const MAP: &str = "0, 0x104022, -1, 0";

/// `-Xmx` in MiB, an option, and the addresses that are taken.
type Case<'a> = (u64, &'a str, &'a [(u64, u64)]);

fn has_gdb() -> bool {
    let version = Command::new("gdb").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Starts a JVM with these addresses taken; mode and address of its heap as its log says.
fn start(java: &Path, options: &[String], taken: &[(u64, u64)]) -> (String, u64) {
    let mut gdb = Command::new("timeout");
    gdb.args(["--kill-after=5", "60", "gdb", "-q", "-batch", "-nx"]);
    let mut command = |text: &str| {
        gdb.args(["-ex", text]);
    };
    command("set breakpoint pending on");
    command("handle SIGSEGV nostop noprint pass");
    command("break JLI_Launch");
    command("run");
    for (start, end) in taken {
        let bytes = end - start;
        let function = "((void*(*)(unsigned long, unsigned long, int, int, int, long))mmap)";
        command(&format!("call (void*){function}({start:#x}, {bytes:#x}, {MAP})"));
    }
    command("delete");
    // Reading the symbols of libjvm takes most of gdb's time.
    command("set auto-solib-add off");
    command("continue");
    let output =
        gdb.arg("--args").arg(java).args(options).arg("-version").env_remove("JAVA_TOOL_OPTIONS").output();
    let text = String::from_utf8_lossy(&output.expect("gdb starts").stdout).into_owned();
    let (_, rest) = text.split_once("Heap address: 0x").unwrap_or_else(|| panic!("{options:?}: {text}"));
    let (address, rest) = rest.split_once(',').expect("an address");
    let (_, mode) = rest.split_once("Compressed Oops mode: ").expect("a mode");
    let mode = mode.split(['\n', ',', ':']).next().unwrap_or_default().trim().to_owned();
    (mode, u64::from_str_radix(address, 16).expect("hexadecimal"))
}

fn name(mode: ReferenceMode) -> &'static str {
    match mode {
        ReferenceMode::CompressedUnscaled => "32-bit",
        ReferenceMode::CompressedZeroBased => "Zero based",
        ReferenceMode::CompressedDisjointBase => "Non-zero disjoint base",
        ReferenceMode::CompressedNonZeroBase => "Non-zero based",
        other => other.name(),
    }
}

#[test]
fn what_is_in_the_way_moves_the_heap_as_computed() {
    if !has_gdb() {
        skip!("no gdb");
    }
    let top = (0xff00_0000, 0xff00_1000);
    let near_32_gib = (0x7_8000_0000, 0x7_8000_1000);
    let below_32_gib = (2 * GIB, 32 * GIB);
    let gib_at = |start: u64| (start * GIB, (start + 1) * GIB);
    let cases: [Case<'_>; 10] = [
        (1024, "", &[top]),
        (100, "", &[top, (0xbd00_0000, 0xbd00_1000), (0xd200_0000, 0xd200_1000)]),
        (1024, "", &[(2 * GIB, 4 * GIB)]),
        (3072, "", &[near_32_gib]),
        (20480, "", &[near_32_gib]),
        (64, "", &[below_32_gib]),
        (64, "", &[below_32_gib, gib_at(64)]),
        (64, "", &[below_32_gib, gib_at(64), gib_at(96), gib_at(128)]),
        (1024, "-XX:HeapBaseMinAddress=40g", &[gib_at(40)]),
        (31744, "-XX:HeapBaseMinAddress=1g", &[top]),
    ];
    let mut tried = 0;
    for (feature, java) in each_java(64) {
        for (mib, option, taken) in cases {
            let words: Vec<String> = option.split_whitespace().map(str::to_owned).collect();
            let setting = HeapSetting {
                feature,
                update: None,
                bits: 64,
                collector: Collector::Parallel,
                options: DecidingOptions::of(words.iter().map(String::as_str)),
            };
            let space = AddressSpace::default().occupied_by(taken.iter().map(|(start, end)| *start..*end));
            let computed = setting.mode_of(mib * MIB, &space);
            let mut options = words;
            options.extend(["-XX:+UseParallelGC".to_owned(), "-Xms4m".to_owned()]);
            options.push(format!("-Xmx{}", assay_text::size::option(mib * MIB)));
            options.push("-Xlog:gc+heap+coops=debug".to_owned());
            let (mode, address) = start(&java, &options, taken);
            let at = format!("JDK {feature} -Xmx{mib}m {option} {taken:x?}: {}", computed.decided_by);
            assert_eq!(computed.mode.map(name), Some(mode.as_str()), "{at}");
            // Where the kernel chooses, no address is claimed.
            assert!(
                computed.base_address.is_none_or(|base| base == address),
                "{at}: {address:#x} {computed:x?}"
            );
            tried += 1;
        }
    }
    println!("{tried} places computed as taken");
    if tried == 0 {
        skip!("no 64-bit JDK");
    }
}
