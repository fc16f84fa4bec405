//! Programs that hold known amounts of memory (`workloads/probes`), started and looked at.

use assay_memory::{MarkHeap, ReadOptions, read};
use assay_model::MemoryReport;
use assay_testkit::Running;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Nothing may come or go but what the probe asks for: the heap is resident from the start, and the collector that has
/// the fewest threads keeps no tables that grow.
const OPTIONS: [&str; 5] =
    ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=1g"];

/// A running probe.
pub struct Probe {
    running: Running,
    /// Its temporary files; gone with it, also when it is killed.
    _files: TempDir,
}

/// The folder with the built probes, if they are.
pub fn built() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.assay/probes");
    let folder = folder.canonicalize().ok()?;
    folder.join("probes.jar").exists().then_some(folder)
}

impl Probe {
    /// Starts one that holds nothing yet; `kind` is what it is asked for, as `malloc 0 40000`.
    pub fn start(java: &Path, folder: &Path, kind: &str, options: &[&str]) -> Probe {
        let files = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(java);
        command.args(OPTIONS).args(options);
        command.arg(format!("-Djava.io.tmpdir={}", files.path().display()));
        command.arg(format!("-Dprobe.native={}", folder.join("libprobe.so").display()));
        command.arg("-cp").arg(folder.join("probes.jar")).arg("assay.probes.Probe").args(kind.split(' '));
        // What is measured is glibc's malloc with its own settings.
        command.env_remove("LD_PRELOAD").env_remove("MALLOC_ARENA_MAX").env_remove("GLIBC_TUNABLES");
        command.env_remove("JAVA_TOOL_OPTIONS").env_remove("JDK_JAVA_OPTIONS");
        Probe { running: Running::start(&mut command, "\"ready\":true"), _files: files }
    }

    /// Asks for something, as `grow 100`; what the probe holds now.
    pub fn ask(&mut self, line: &str) -> Value {
        let answer = self.running.ask(line);
        let held: Value = serde_json::from_str(&answer).expect("the probe speaks JSON");
        assert!(held.get("error").is_none(), "{line}: {answer}");
        held
    }

    /// A snapshot of it while it stands still.
    pub fn snapshot(&self) -> MemoryReport {
        self.snapshot_with(&ReadOptions::default())
    }

    /// The same with a mark of the live objects, as in a record.
    pub fn marked_snapshot(&self) -> MemoryReport {
        self.snapshot_with(&ReadOptions { mark_heap: MarkHeap::Always, ..ReadOptions::default() })
    }

    fn snapshot_with(&self, options: &ReadOptions) -> MemoryReport {
        let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..options.clone() };
        let snapshot = read(self.running.pid(), &options).expect("our child");
        assert_eq!(
            (snapshot.difference_bytes, snapshot.rss_change_during_scan_bytes),
            (0, 0),
            "{:?}",
            snapshot.problems
        );
        snapshot
    }
}
