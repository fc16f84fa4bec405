//! A study of the fake server in a folder of its own, and what is left of it.

use assay_model::{RunEvent, RunEventKind, StoredRun};
use assay_results::load_run;
use assay_study::{Prepared, RunOptions, RunResult, Study, StudyError, run};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// A program that is built beside the tests.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE/deps");
    let program = folder.join("examples").join(name);
    assert!(
        program.is_file(),
        "{} is not built: cargo test -p assay-study builds it, --test alone does not",
        program.display()
    );
    program
}

/// A folder with a study file; gone when dropped.
pub struct Fixture {
    pub folder: tempfile::TempDir,
    pub study: PathBuf,
}

impl Fixture {
    /// `head` goes before the server's table, `tail` after it. The limits let a loud machine pass, as these tests are
    /// about something else.
    pub fn new(head: &str, tail: &str) -> Fixture {
        Fixture::with_load("load = { kind = \"closed\", users = 2, think = \"10ms\" }", head, tail)
    }

    /// The same with another load, or none.
    pub fn with_load(load: &str, head: &str, tail: &str) -> Fixture {
        let folder = tempfile::tempdir().expect("a folder");
        let study = folder.path().join("study.toml");
        let program = example("fake_server");
        let text = format!(
            r#"
schema = "assay.study/1"
name = "fake"
{load}
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
{head}
[server]
command = "{} --port {{port}}"
ready_url = "http://127.0.0.1:{{port}}/ready"
audit_url = "http://127.0.0.1:{{port}}/audit"
stats_url = "http://127.0.0.1:{{port}}/stats"
ready_timeout_s = 300
stop_timeout_s = 0.5
{tail}
"#,
            program.display()
        );
        std::fs::write(&study, text).expect("a study file");
        std::fs::write(folder.path().join("scenario.toml"), SCENARIO).expect("a scenario");
        Fixture { folder, study }
    }

    pub fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    pub fn options(&self) -> RunOptions {
        RunOptions { out: Some(self.out()), ..RunOptions::default() }
    }

    pub fn prepare(&self) -> Result<Prepared, StudyError> {
        Study::read(&self.study).map_err(StudyError::Diagnostics)?.prepare(false)
    }

    /// Runs the study; `on_event` may set the flag that stops it.
    pub fn run(
        &self,
        resume: bool,
        on_event: impl Fn(&RunEventKind, &AtomicBool),
    ) -> (Result<RunResult, StudyError>, Vec<RunEvent>) {
        let (stop, mut events) = (AtomicBool::new(false), Vec::new());
        let options = RunOptions { resume, ..self.options() };
        let result = self.prepare().and_then(|prepared| {
            run(&prepared, &options, &stop, &mut |event| {
                on_event(&event.kind, &stop);
                events.push(event.clone());
            })
        });
        (result, events)
    }

    pub fn load(&self) -> StoredRun {
        load_run(&self.out()).expect("a run directory")
    }

    /// Processes whose command line names this fixture's run, or whose folder is in it.
    pub fn left_over(&self) -> Vec<String> {
        let folder = self.folder.path().to_string_lossy().into_owned();
        processes().filter(|(_, text)| text.contains(&folder)).map(|(pid, _)| pid).collect()
    }
}

/// Pids of all processes, with command line and working folder.
pub fn processes() -> impl Iterator<Item = (String, String)> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().into_string().ok().filter(|n| n.bytes().all(|b| b.is_ascii_digit()))?;
        let words = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        let folder = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        Some((pid, format!("{words} {}", folder.display())))
    })
}

/// One operation that the fake server answers.
pub const SCENARIO: &str = r#"
schema = "assay.scenario/1"
name = "fake"
[[operation]]
name = "work"
weight = 1
path = "/work"
contains = "yes"
"#;
