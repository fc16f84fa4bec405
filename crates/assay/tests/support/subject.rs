//! The JVMs that the table is about, and `assay` asked about them.

use assay_jdk::{Release, jvm_at};
use assay_testkit::each_release;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A collector: its name in the table, and the option that chooses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collector {
    pub name: &'static str,
    pub option: &'static str,
}

pub const COLLECTORS: [Collector; 7] = [
    Collector { name: "Serial", option: "-XX:+UseSerialGC" },
    Collector { name: "Parallel", option: "-XX:+UseParallelGC" },
    Collector { name: "CMS", option: "-XX:+UseConcMarkSweepGC" },
    Collector { name: "G1", option: "-XX:+UseG1GC" },
    Collector { name: "ZGC", option: "-XX:+UseZGC" },
    Collector { name: "Shenandoah", option: "-XX:+UseShenandoahGC" },
    Collector { name: "Epsilon", option: "-XX:+UseEpsilonGC" },
];

impl Collector {
    /// With what unlocks it.
    pub fn options(self) -> [&'static str; 2] {
        ["-XX:+UnlockExperimentalVMOptions", self.option]
    }
}

/// A release, in a word size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub feature: u32,
    pub bits: u8,
}

impl Row {
    /// Every release of which Assay knows the layout, and 17 in 32 bits, the only one of them that can be had.
    pub fn all() -> Vec<Row> {
        let known = Release::all().iter().filter(|release| release.pack.is_some());
        let mut rows: Vec<Row> = known.map(|release| Row { feature: release.feature, bits: 64 }).collect();
        rows.push(Row { feature: 17, bits: 32 });
        rows.sort_by_key(|row| (row.feature, row.bits == 32));
        rows
    }

    /// Releases with a file in `crates/jdk` that have no row: something changed with each, and nothing more is known of it.
    pub fn without() -> Vec<u32> {
        Release::all()
            .iter()
            .filter(|release| release.pack.is_none())
            .map(|release| release.feature)
            .collect()
    }

    /// The first cell of its rows.
    pub fn name(self) -> String {
        if self.bits == 64 {
            self.feature.to_string()
        } else {
            format!("{}, {} bits", self.feature, self.bits)
        }
    }
}

/// A JVM that is here.
#[derive(Debug, Clone)]
pub struct Subject {
    pub row: Row,
    pub java: PathBuf,
    pub version: String,
}

impl Subject {
    /// Those of the rows that are here; of some alone, where `ASSAY_TEST_ROWS` names them (`8;17, 32 bits`).
    pub fn all() -> Vec<Subject> {
        let mut rows = Row::all();
        if let Some(only) = some_rows() {
            rows.retain(|row| only.split(';').any(|name| name == row.name()));
        }
        let of =
            |bits| each_release(bits).into_iter().map(move |(feature, java)| (Row { feature, bits }, java));
        let here = of(64).chain(of(32)).filter(|(row, _)| rows.contains(row));
        here.filter_map(|(row, java)| {
            let version = jvm_at(&java).ok()?.version;
            Some(Subject { row, java, version })
        })
        .collect()
    }

    /// Whether the JVM starts with these options.
    pub fn takes(&self, options: &[&str]) -> bool {
        let mut command = Command::new(&self.java);
        command.args(options).args(["-Xmx64m", "-version"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

/// The rows that are to be tested, where not all are; the page then stays as it is.
pub fn some_rows() -> Option<String> {
    std::env::var("ASSAY_TEST_ROWS").ok()
}

/// What `assay` prints as JSON.
///
/// # Errors
/// What it says on standard error where it fails, or prints something else.
pub fn assay<T: DeserializeOwned>(arguments: &[&str]) -> Result<T, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).arg("--json").output();
    let output = output.map_err(|e| e.to_string())?;
    let said = || String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("assay {}: {e}; {}", arguments.join(" "), said()))
}
