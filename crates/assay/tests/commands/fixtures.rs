//! What the commands of our texts are run on: files under the names that texts give theirs, a server, a JVM.

use super::ASSAY;
use super::ways::Way;
use assay_testkit::{Running, WorkerServer, checkout, short_run, testdata};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a command may take on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(120);
/// What a command that runs until Ctrl-C does in this time is enough.
const ENDLESS_FOR: Duration = Duration::from_secs(3);

/// How long a worker of a search's server takes for a request.
const SERVICE: Duration = Duration::from_millis(5);

/// Files of `testdata`, and under which names texts show such.
const FILES: [(&str, &[&str]); 9] = [
    (
        "gclog/17-g1.log",
        &["gc.log", "before.log", "after.log", "monday.log", "tuesday.log", "logs/gc.log", "gc.log.1"],
    ),
    ("formats/memory-5.json", &["monday.json", "tuesday.json", "kafka.json"]),
    ("formats/time-4.json", &["before.json", "after.json"]),
    ("formats/host-snapshot-1.json", &["host.json"]),
    ("../fuzz/corpus/hprof_read/dump-1.0.2-8", &["brokerage.hprof"]),
    ("../fuzz/corpus/memory_report_read/smaps-17", &["smaps.txt"]),
    ("formats/run", &["runs/monday", "runs/tuesday"]),
    ("../studies", &["studies"]),
    ("../workloads", &["workloads"]),
];
/// Longer files are linked.
const COPIED_BYTES_MAX: u64 = 4 << 20;
/// Snapshots in a record.
const SNAPSHOTS: usize = 9;

const ACCESS_LOG: &str = "127.0.0.1 - - [10/Oct/2026:13:55:36 +0000] \"GET /shops/1 HTTP/1.1\" 200 12\n\
                          127.0.0.1 - - [10/Oct/2026:13:55:37 +0000] \"GET /shops/2 HTTP/1.1\" 200 12\n";
const POSTMAN: &str = r#"{ "item": [{ "name": "items", "request": "http://127.0.0.1:8080/items" }] }"#;
const JMETER: &str = r#"<jmeterTestPlan><hashTree><HTTPSamplerProxy testname="items"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp>
<stringProp name="HTTPSampler.path">/items</stringProp></HTTPSamplerProxy><hashTree/></hashTree></jmeterTestPlan>"#;
const HAR: &str = r#"{"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{"startedDateTime":"2026-10-10T13:55:36.000Z",
"time":1,"request":{"method":"GET","url":"http://h/shops","httpVersion":"HTTP/1.1","headers":[],"queryString":[],"cookies":[],
"headersSize":0,"bodySize":0},"response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"cookies":[],
"content":{"size":0,"mimeType":""},"redirectURL":"","headersSize":0,"bodySize":0},"cache":{},"timings":{"send":0,"wait":1,"receive":0}}]}}"#;
const SHOP: &str =
    "schema = \"assay.scenario/1\"\nname = \"shop\"\n[[operation]]\nname = \"buy\"\npath = \"/\"\n";

/// A folder that each command gets a copy of, and what stands for the reader's process and server.
pub struct Fixtures {
    folder: tempfile::TempDir,
    pid: u32,
    url: String,
    java_home: String,
}

impl Fixtures {
    /// `pid` is the process that is looked at, and `url` that of the server.
    pub fn new(pid: u32, url: Option<&str>) -> Fixtures {
        let folder = tempfile::tempdir().expect("a folder");
        let url = url.unwrap_or_default().to_owned();
        let fixtures = Fixtures { folder, pid, url, java_home: String::new() };
        for (from, names) in FILES {
            names.iter().for_each(|name| fixtures.link(&testdata(from), name));
        }
        let log = fs::read(testdata("gclog/17-g1.log")).expect("a log");
        let mut archive = zip::ZipWriter::new(File::create(fixtures.path("logs.zip")).expect("a file"));
        archive.start_file("gc.log", zip::write::SimpleFileOptions::default()).expect("an entry");
        archive.write_all(&log).and_then(|()| Ok(archive.finish()?)).expect("an archive");
        let record = fs::read_to_string(testdata("formats/memory-record-4.ndjson")).expect("a record");
        let (header, snapshot) = record.split_once('\n').expect("a header");
        let record = format!("{header}\n{}", snapshot.repeat(SNAPSHOTS));
        for (name, text) in [
            ("night.ndjson", record.as_str()),
            ("kafka.ndjson", &record),
            ("access.log", ACCESS_LOG),
            ("session.har", HAR),
            ("openapi.yaml", "openapi: 3.0.3\npaths: { /items: { get: { operationId: items } } }\n"),
            ("shop.postman_collection.json", POSTMAN),
            ("plan.jmx", JMETER),
            ("shop.toml", SHOP),
            ("jvm.options", "-Xmx1g\n17-:-XX:+UseG1GC\n"),
            ("token", "a token of this test and of no other one\n"),
            ("my-server.toml", &example("docs/tutorials/own-server.md")),
            ("my-jdks.toml", &example("docs/tutorials/two-jdks.md")),
        ] {
            fs::write(fixtures.path(name), text).expect("written");
        }
        fixtures
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn link(&self, from: &Path, name: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        symlink(from.canonicalize().unwrap_or_else(|e| panic!("{}: {e}", from.display())), path)
            .expect("a link");
    }

    /// What only a JVM leaves: its classes, a heap dump, a recording.
    pub fn add_those_of_a_jvm(&mut self, java: &Path, jvm: &Running, classes: &Path) {
        self.link(classes, "classes");
        self.java_home = java.ancestors().nth(2).expect("a home").display().to_string();
        let jcmd = |words: &[&str]| {
            let said =
                short_run(&java.with_file_name("jcmd")).arg(jvm.pid().to_string()).args(words).output();
            assert!(said.expect("jcmd runs").status.success(), "{words:?}");
        };
        let named = |name: &str| self.path(name).display().to_string();
        jcmd(&["JFR.start", "name=fixture"]);
        jcmd(&["GC.heap_dump", &named("kafka.hprof")]);
        jcmd(&["JFR.stop", "name=fixture", &format!("filename={}", named("recording.jfr"))]);
        let dump = fs::read(self.path("kafka.hprof")).expect("a dump");
        let mut packed =
            GzEncoder::new(File::create(self.path("kafka.hprof.gz")).expect("a file"), Compression::fast());
        packed.write_all(&dump).and_then(|()| packed.finish()).expect("packed");
    }

    /// A folder of a command's own, so that several can write at once.
    fn copy(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for entry in fs::read_dir(self.folder.path()).expect("a folder").flatten() {
            let to = folder.path().join(entry.file_name());
            match entry.file_name().to_str() {
                Some("runs") => copy_runs(&testdata("formats/run"), &to),
                // A command may write to a file of that name, and is particular about who may read a token.
                Some(_)
                    if fs::metadata(entry.path())
                        .is_ok_and(|of| of.is_file() && of.len() <= COPIED_BYTES_MAX) =>
                {
                    fs::copy(entry.path(), &to).expect("copied");
                    fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("ours");
                }
                _ => symlink(entry.path(), &to).expect("a link"),
            }
        }
        folder
    }

    /// Words with this process and this server.
    fn ours(&self, command: &[String]) -> Vec<String> {
        let mut is_pid = false;
        // Each search has a slow server of its own: against one that answers at once it would keep both processors busy.
        let own = (command[0] == "capacity").then(|| WorkerServer::start(2, SERVICE).url);
        let server = own.as_ref().unwrap_or(&self.url);
        let mut put = |word: &String| {
            let is_of_pid = std::mem::replace(&mut is_pid, word == "--pid");
            match word.as_str() {
                "PID" => self.pid.to_string(),
                _ if is_of_pid => self.pid.to_string(),
                "JAVA_HOME" => self.java_home.clone(),
                url if url.starts_with("http://") && !self.url.is_empty() => format!("{server}/"),
                word => word.to_owned(),
            }
        };
        command.iter().map(&mut put).collect()
    }
}

fn copy_runs(from: &Path, below: &Path) {
    for name in ["monday", "tuesday"] {
        let mut copy = Command::new("cp");
        fs::create_dir_all(below).expect("a folder");
        assert!(copy.arg("-R").arg(from).arg(below.join(name)).status().expect("cp runs").success());
    }
}

/// The first TOML block of a text.
fn example(text: &str) -> String {
    let text = fs::read_to_string(checkout().join(text)).expect("a text");
    let rest = text.split_once("```toml\n").expect("an example").1;
    rest.split_once("```").expect("its end").0.to_owned()
}

/// Runs a command in a folder with the fixtures; its exit code, and what it said.
pub fn run_in(fixtures: &Fixtures, command: &[String], way: Way) -> (Option<i32>, String) {
    let folder = fixtures.copy();
    let words = fixtures.ours(command);
    if let Some(at) = words.iter().position(|word| word == "--record") {
        // A record of another process is refused.
        let _ = fs::remove_file(folder.path().join(&words[at + 1]));
    }
    let said = folder.path().join("said");
    let out = File::create(&said).expect("a file");
    let mut child = Command::new(ASSAY)
        .args(&words)
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(out.try_clone().expect("a copy"))
        .stdout(out)
        .spawn()
        .expect("assay starts");
    if way == Way::UntilCtrlC {
        std::thread::sleep(ENDLESS_FOR);
        kill_process(Pid::from_child(&child), Signal::INT).expect("our child takes signals");
    }
    let since = Instant::now();
    let status = loop {
        match child.try_wait().expect("our child") {
            Some(status) => break Some(status),
            None if TIME_MAX < since.elapsed() => break None,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if status.is_none() {
        child.kill().expect("our child");
        child.wait().expect("our child");
    }
    (status.and_then(|status| status.code()), fs::read_to_string(said).unwrap_or_default())
}
