//! The work in the guest: a server is started, loaded from one thread, counted between two marks, and asked for its audit.

use crate::compilers::Compilers;
use crate::mark::{self, Mark};
use assay_launch::http;
use assay_load::{Generator, GeneratorConfig, Load, Measured};
use assay_model::Audit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The command of this program, not meant for people, that calls [`work`] in the guest.
pub const GUEST_COMMAND: &str = "emulated-guest";

/// The port whose other end is the report's file. The guest's first program makes it a link to the machine's own.
pub(crate) const REPORT_PORT: &str = "/dev/assay-report";
/// How often it is looked whether the server is ready.
const LOOK: Duration = Duration::from_millis(20);
/// Rest between a warm-up of so many requests and the window.
const REST: Duration = Duration::from_secs(3);
/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(30);
/// Largest report: a log, an audit's answer, a few numbers.
const REPORT_BYTES_MAX: u64 = 8 << 20;
/// Bytes of a log that are handed out: each takes the emulator long.
const LOG_BYTES_MAX: usize = 64 << 10;

/// The server in a guest. All paths are the guest's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerInGuest {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables; it gets no others but a path.
    pub env: BTreeMap<String, String>,
    /// Folder in which it starts.
    pub cwd: PathBuf,
    /// It is ready when this URL answers with success.
    pub ready_url: String,
    /// How long that may take, seconds of the guest's clock.
    pub ready_timeout_s: f64,
    /// Asked after the load: any answer but success fails the audit.
    pub audit_url: Option<String>,
    /// A log whose beginning goes into the report.
    pub log: Option<PathBuf>,
}

/// What a guest does.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GuestWork {
    /// What is loaded.
    pub server: ServerInGuest,
    /// By what.
    pub generator: GeneratorConfig,
    /// How.
    pub load: Load,
    /// Before counting.
    pub warm_up: Amount,
    /// While it is counted; the last requests are waited for.
    pub window: Amount,
}

/// How much load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    /// Requests begin for so long, seconds of the guest's clock.
    Time {
        /// Nothing for 0.
        length_s: f64,
    },
    /// So many requests: a faster server gets no more of them.
    Requests {
        /// How many; nothing for 0.
        requests: u64,
        /// How long they may take, seconds of the guest's clock.
        longest_s: f64,
    },
}

impl Amount {
    fn longest(&self) -> Duration {
        let (Amount::Time { length_s: seconds } | Amount::Requests { longest_s: seconds, .. }) = *self;
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    }
}

/// What a guest says of its work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestReport {
    /// Why it did not come to its end; the later results must then not be used.
    pub failed: Option<String>,
    /// Requests that began between the marks; all of them ended there.
    pub requests: u64,
    /// Of them, those that were answered rightly.
    pub completed: u64,
    /// Of them, failed ones.
    pub errors: u64,
    /// Connections that were open.
    pub connections: u32,
    /// Requests of the warm-up that were answered rightly.
    pub warm_up_completed: u64,
    /// CPU time of the JVM's compiler threads between the marks, nanoseconds of the guest's clock, which are instructions. Absent where the
    /// server has no such threads.
    #[serde(default)]
    pub compilers_ns: Option<u64>,
    /// An address in the stack of each of these threads that compiled between the marks, which tells them apart in the counts. Absent where
    /// one compiled at both marks.
    #[serde(default)]
    pub compiler_stacks: Option<Vec<u64>>,
    /// From the start of the server until it answered, milliseconds of the guest's clock.
    pub ready_after_ms: f64,
    /// What the server says of its data.
    pub audit: Option<Audit>,
    /// The beginning of the server's log.
    pub log: Option<String>,
    /// What was not as it should be.
    pub problems: Vec<String>,
}

impl GuestReport {
    /// Reads what a guest wrote.
    ///
    /// # Errors
    /// Why there is no report, naming the file.
    pub fn read(path: &Path) -> Result<GuestReport, String> {
        let size = fs_err::metadata(path).map_err(|e| e.to_string())?.len();
        if REPORT_BYTES_MAX < size {
            return Err(format!("{} has {size} bytes, too many for a report", path.display()));
        }
        let text = fs_err::read_to_string(path).map_err(|e| e.to_string())?;
        if text.trim().is_empty() {
            return Err("the guest ended before it reported".to_owned());
        }
        serde_json::from_slice(text.trim().as_bytes())
            .map_err(|e| format!("{} is not the report of a guest: {e}", path.display()))
    }
}

/// Does the guest's work, which `file` says, and reports it to the emulator.
///
/// # Errors
/// When even the report could not be made.
pub fn work(file: &Path) -> Result<(), String> {
    let text = fs_err::read_to_string(file).map_err(|e| e.to_string())?;
    let wanted: GuestWork =
        serde_json::from_slice(text.as_bytes()).map_err(|e| format!("{}: {e}", file.display()))?;
    let report =
        measured(&wanted).unwrap_or_else(|why| GuestReport { failed: Some(why), ..GuestReport::default() });
    let text = serde_json::to_string(&report).map_err(|e| e.to_string())?;
    let mut port = fs_err::OpenOptions::new().write(true).open(REPORT_PORT).map_err(|e| e.to_string())?;
    writeln!(port, "{text}").map_err(|e| e.to_string())
}

fn measured(wanted: &GuestWork) -> Result<GuestReport, String> {
    let begun = Instant::now();
    let mut server = start(&wanted.server)?;
    wait(&wanted.server, &mut server)?;
    let ready_after_ms = begun.elapsed().as_secs_f64() * 1e3;
    let mut generator = Generator::new(wanted.generator.clone()).map_err(|e| e.to_string())?;
    // Users begin their sessions before anything is counted.
    let length = wanted.window.longest().max(wanted.warm_up.longest());
    generator.ready(&wanted.load, length, &AtomicBool::new(false), &mut |_| ()).map_err(|e| e.to_string())?;
    let warm_up = load_with(&mut generator, &wanted.load, wanted.warm_up)?;
    if let Amount::Requests { .. } = wanted.warm_up {
        // What the JVM compiles behind the requests is compiled by then. An idle guest takes no time: the emulator passes over that.
        std::thread::sleep(REST);
        Compilers::wait_until_idle(server.id());
    }
    // Its connections stand, and stay until all is counted.
    mark::set(Mark::Client);
    let compilers = Compilers::of(server.id());
    mark::set(Mark::Begin);
    let window = load_with(&mut generator, &wanted.load, wanted.window);
    mark::set(Mark::End);
    let compiled = Compilers::of(server.id()).since(&compilers);
    let window = window?.ok_or("nothing was counted: the window has no length")?;
    let audit = wanted.server.audit_url.as_ref().map(|url| audit(url));
    let log = wanted.server.log.as_ref().and_then(|log| std::fs::read(log).ok());
    let connections = wanted.generator.connections;
    let report = GuestReport {
        failed: None,
        requests: window.requests,
        // Also those that were answered after the end of the window, which were waited for.
        completed: window.requests.saturating_sub(window.errors()),
        errors: window.errors(),
        connections,
        warm_up_completed: warm_up.map_or(0, |warm_up| warm_up.completed),
        compilers_ns: compiled.ran_ns,
        compiler_stacks: compiled.stacks,
        ready_after_ms,
        audit,
        log: log.map(|log| String::from_utf8_lossy(&log[..log.len().min(LOG_BYTES_MAX)]).into_owned()),
        problems: window
            .problems
            .iter()
            .map(|problem| format!("{}: {}", problem.about, problem.text))
            .collect(),
    };
    // It is ended with the machine, at once: nobody waits for an orderly end in a guest that is thrown away.
    let _ = server.kill();
    Ok(report)
}

fn start(server: &ServerInGuest) -> Result<Child, String> {
    let (program, arguments) = server.argv.split_first().ok_or("the server has no command")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", "/bin:/usr/bin")
        .envs(&server.env)
        .current_dir(&server.cwd);
    command
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| format!("{program} could not be started in the guest: {e}"))
}

fn wait(server: &ServerInGuest, child: &mut Child) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        if http::get(&server.ready_url, ANSWER).is_ok_and(|answer| answer.is_good()) {
            return Ok(());
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(format!(
                "the server ended in the guest before it was ready: {status}; if it lacks a file, [emulated] files = [\"...\"] adds it"
            ));
        }
        if server.ready_timeout_s <= begun.elapsed().as_secs_f64() {
            let seconds = server.ready_timeout_s;
            return Err(format!(
                "the server was not ready within {seconds} s of the guest's clock (ready_timeout_s)"
            ));
        }
        std::thread::sleep(LOOK);
    }
}

/// So much load, until the last of it is answered; nothing of none.
fn load_with(generator: &mut Generator, load: &Load, amount: Amount) -> Result<Option<Measured>, String> {
    let (stop, longest) = (AtomicBool::new(false), amount.longest());
    if longest.is_zero() || matches!(amount, Amount::Requests { requests: 0, .. }) {
        return Ok(None);
    }
    let measured = match amount {
        Amount::Time { .. } => generator.run(load, longest, &stop, None, &mut |_| ()),
        Amount::Requests { requests, .. } => generator.run_requests(load, requests, longest, &stop),
    };
    let measured = measured.map_err(|e| e.to_string())?;
    match amount {
        Amount::Requests { requests, longest_s } if measured.requests < requests => Err(format!(
            "only {} of {requests} requests began within {longest_s} s of the guest's clock: ask for fewer, or give them longer",
            measured.requests
        )),
        _ => Ok(Some(measured)),
    }
}

fn audit(url: &str) -> Audit {
    match http::get(url, ANSWER) {
        Ok(answer) => Audit { passed: answer.is_good(), detail: answer.body },
        Err(e) => Audit { passed: false, detail: e.to_string() },
    }
}
