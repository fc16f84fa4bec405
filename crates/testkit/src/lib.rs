//! What tests of several crates share: skips that can be counted, JVMs to test with, programs to look at, damage to what is
//! read of them, a server that counts, what a step is, the least plan and trials of a run, and small fake `/proc` trees.
//!
//! Only tests use this crate; it may panic where a test should fail.

mod allocations;
mod attach;
mod compiled;
mod counting_server;
mod damage;
mod deaf_server;
mod memory_group;
mod numbered_log;
mod one_step;
pub mod planned;
mod run_delay;
mod running;
mod said_by_jvm;
mod shown;
mod splitmix;
mod standstill;
mod stripped;
mod swap;
mod turn;
mod worker_server;

pub use allocations::{CountingAllocator, allocations};
pub use attach::jcmd;
pub use compiled::{c_program, java_classes, java_classes_of};
pub use counting_server::CountingServer;
pub use damage::Damage;
pub use deaf_server::{OPEN_MAX, deaf_server};
pub use memory_group::MemoryGroup;
pub use numbered_log::log_of_numbers;
pub use one_step::assert_one_step_each;
pub use run_delay::{RunDelay, RunDelayWatch};
pub use running::{Running, java_command, output_of_copy, start_buffers, start_buffers_with, start_java};
pub use said_by_jvm::{
    PrintedThread, TrackedMemory, class_histogram, printed_threads, role_in_working, tracked_memory,
    tracking_report,
};
pub use shown::shown;
pub use splitmix::SplitMix;
pub use standstill::StandstillWatch;
pub use stripped::stripped_java;
pub use swap::TestSwap;
pub use turn::{Turn, turn};

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;
pub use worker_server::WorkerServer;

/// The release that the tests' programs are compiled for, and the newest whose every part is known.
const FEATURES: RangeInclusive<u32> = 17..=25;

/// Ends a test that cannot run here. Prints `skipped: why`, the line that `./check` counts, and returns.
///
/// ```
/// # fn a_test() {
/// let Some(java) = assay_testkit::find_java(17, 64) else { assay_testkit::skip!("no 64-bit JDK 17") };
/// # let _ = java;
/// # }
/// ```
#[macro_export]
macro_rules! skip {
    ($($why:tt)+) => {{
        println!("skipped: {}", format_args!($($why)+));
        return;
    }};
}

/// A `java` of this feature release and word size, for tests about one release.
pub fn find_java(feature: u32, bits: u8) -> Option<PathBuf> {
    installed(bits).remove(&feature)
}

/// A `java` of every feature release that is here in this word size, the oldest and the newest included: for tests whose subject is
/// the release (reference modes, object layout, sums of memory, counts of GC logs and class histograms). Which are here decides
/// `./check`. All others take `each_java`: what they look at hardly differs from release to release, and each JVM takes its time.
pub fn each_release(bits: u8) -> BTreeMap<u32, PathBuf> {
    installed(bits)
}

/// A `java` of the oldest and of the newest feature release that are here in this word size, can run the tests' programs and are
/// known in every part.
pub fn each_java(bits: u8) -> BTreeMap<u32, PathBuf> {
    let mut javas = installed(bits);
    javas.retain(|feature, _| FEATURES.contains(feature));
    let ends = [javas.pop_first(), javas.pop_last()];
    ends.into_iter().flatten().collect()
}

/// Writes bytes that may be a class file, a jar or an image of a JDK's classes, by the name under which a class path has such a file;
/// returns what stands in the class path.
pub fn class_path_of(folder: &Path, bytes: &[u8]) -> PathBuf {
    let (name, is_folder) = match bytes {
        [0xca, 0xfe, 0xba, 0xbe, ..] => ("shop/Sample.class", true),
        [b'P', b'K', ..] => ("shop.jar", false),
        _ => ("modules", false),
    };
    let file = folder.join(name);
    fs::create_dir_all(folder.join("shop")).expect("a folder that can be written");
    fs::write(&file, bytes).expect("a file that can be written");
    if is_folder { folder.to_owned() } else { file }
}

/// A tool of a JDK that is here, such as `javac` or `jcmd`: of the oldest that has it.
pub fn find_tool(name: &str) -> Option<PathBuf> {
    each_java(64).into_values().map(|java| java.with_file_name(name)).find(|tool| tool.exists())
}

/// Runs a tool of a JDK. It ends within a second, for which C2 and G1's threads cost more than they give: this way jcmd takes a
/// third less CPU time, and javac almost half.
pub fn short_run(tool: &Path) -> Command {
    let mut command = Command::new(tool);
    command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
    command
}

/// Looks at `ASSAY_TEST_JAVA_HOMES` (a list of homes separated by `:`), `JAVA_HOME`, `/usr/lib/jvm/*`, and the JVMs in
/// `.assay/jvm` that were fetched. The release is read from the `release` file, the word size from the ELF class of
/// the virtual machine's library (the launcher may be a script).
fn installed(bits: u8) -> BTreeMap<u32, PathBuf> {
    let listed = ["ASSAY_TEST_JAVA_HOMES", "JAVA_HOME"].into_iter().filter_map(std::env::var_os);
    let mut homes: Vec<PathBuf> =
        listed.flat_map(|l| std::env::split_paths(&l).collect::<Vec<_>>()).collect();
    homes.extend(folders(Path::new("/usr/lib/jvm")));
    // Last: they have no compiler, which some tests look for beside the JVM.
    homes.extend(folders(&checkout().join(".assay/jvm")).map(|pair| pair.join("home")));
    let found = homes.iter().rev().filter_map(|home| Some((feature_of(home, bits)?, home.join("bin/java"))));
    found.collect()
}

/// Homes of the JVMs that logs of all kinds are made with: each that is here, those with 32 bits last. `None` without a compiler
/// beside the first.
pub fn homes_with_compiler_first() -> Option<Vec<PathBuf>> {
    let javas = each_java(64).into_values().chain(each_java(32).into_values());
    let homes: Vec<PathBuf> =
        javas.filter_map(|java| java.ancestors().nth(2).map(Path::to_path_buf)).collect();
    homes.first()?.join("bin/javac").exists().then_some(homes)
}

/// A shared library by its name, for tests that preload one: in the folders of `ASSAY_TEST_LIBRARY_FOLDERS` (separated by
/// `:`), then where distributions have them.
pub fn find_library(file: &str) -> Option<PathBuf> {
    let listed = std::env::var_os("ASSAY_TEST_LIBRARY_FOLDERS");
    let mut folders: Vec<PathBuf> = listed.iter().flat_map(std::env::split_paths).collect();
    let usual = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    folders.extend(usual.map(PathBuf::from));
    folders.into_iter().map(|folder| folder.join(file)).find(|path| path.exists())
}

fn folders(above: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(above).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The feature release of the JVM at this home, if it has this word size.
fn feature_of(home: &Path, bits: u8) -> Option<u32> {
    let release = fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    let version = version.strip_prefix("1.").unwrap_or(version);
    let feature = version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    let mut identification = [0; 5];
    let libraries = ["lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so"];
    let mut library = libraries.iter().find_map(|library| fs::File::open(home.join(library)).ok())?;
    library.read_exact(&mut identification).ok()?;
    (identification[4] == if bits == 32 { 1 } else { 2 }).then_some(feature)
}

/// A folder that looks like `/proc` or `/sys`, or a JVM's home; gone when dropped.
pub struct FakeTree {
    folder: tempfile::TempDir,
}

impl FakeTree {
    /// A tree with these files: path below the root, and content.
    pub fn with(files: &[(&str, &str)]) -> FakeTree {
        let tree = FakeTree { folder: tempfile::tempdir().expect("a temporary folder") };
        for (path, content) in files {
            tree.write(path, content.as_bytes());
        }
        tree
    }

    /// Adds a file, with the folders above it.
    pub fn write(&self, path: &str, content: &[u8]) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder above")).expect("a writable folder");
        fs::write(path, content).expect("a writable file");
    }

    /// The root.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A file or folder below `testdata/` of the checkout.
pub fn testdata(path: &str) -> PathBuf {
    checkout().join("testdata").join(path)
}

/// A folder beside the test programs, for what tests share: `target/debug/NAME`.
fn beside_tests(name: &str) -> PathBuf {
    let program = std::env::current_exe().expect("a test program");
    program.ancestors().nth(2).expect("target/debug").join(name)
}

/// The root of the checkout.
pub fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
