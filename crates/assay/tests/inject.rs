//! `assay inject` and `assay load --injectors` as processes: killed injectors and controllers, tokens, and hosts of their
//! own in network namespaces.

use assay_model::{CapacityReport, Check};
use assay_testkit::{CountingServer, Running, WorkerServer, skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// Nothing takes so long but a fault.
const HANG: Duration = Duration::from_secs(120);
/// Of a window whose end no test waits for.
const ENDLESS: &str = "3600s";
/// Told of an injector that was not heard.
const SILENT: &str = "nothing came for";

/// A folder with a token file that only we can read.
struct Secret {
    folder: tempfile::TempDir,
}

impl Secret {
    fn new() -> Secret {
        let secret = Secret { folder: tempfile::tempdir().expect("a temporary folder") };
        fs::write(secret.path(), "a token of the tests\n").expect("a writable file");
        fs::set_permissions(secret.path(), fs::Permissions::from_mode(0o600)).expect("our file");
        secret
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("token")
    }
}

/// An injector process, and where it listens.
fn inject(mut command: Command, listen: &str, token: &Path) -> (Running, String) {
    command.args(["inject", "--listen", listen, "--token-file"]).arg(token);
    let running = Running::start(&mut command, "listening on");
    let address = running.said.trim().rsplit(' ').next().expect("an address").to_owned();
    (running, address)
}

fn inject_here(secret: &Secret) -> (Running, String) {
    inject(Command::new(ASSAY), "127.0.0.1:0", &secret.path())
}

/// A controller of these injectors.
fn load(url: &str, injectors: &[String], secret: &Secret, more: &[&str]) -> Command {
    let mut command = Command::new(ASSAY);
    command.args(["load", url, "--json", "--arrivals", "poisson", "--connections", "12"]);
    command.args(["--injectors", &injectors.join(","), "--token-file"]).arg(secret.path()).args(more);
    command
}

fn result(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The result of a load on this server, and the requests that reached it. An injector that lives and is not heard for
/// 0.8 s is lost; where nobody ended it, the machine kept it from running, and the load is made again.
fn heard_by_all(server: &CountingServer, mut load: Command) -> (Value, u64) {
    for _ in 0..5 {
        let before = server.count();
        let output = load.output().expect("assay runs");
        let said = [output.stdout.as_slice(), &output.stderr].map(String::from_utf8_lossy).concat();
        if !said.contains(SILENT) {
            return (result(&output), server.count() - before);
        }
        load_ends(server);
    }
    panic!("injectors that nobody ended were not heard, five times");
}

fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("assay starts")
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a pid");
    kill_process(pid, signal).expect("our child takes signals");
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + HANG;
    while !holds() {
        assert!(Instant::now() < end, "{what} in {HANG:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until no requests come any more, long before the window is over.
#[track_caller]
fn load_ends(server: &CountingServer) {
    let (end, mut count, mut looks) = (Instant::now() + HANG, server.count(), 0);
    while looks < 20 {
        std::thread::sleep(Duration::from_millis(50));
        looks = if server.count() == count { looks + 1 } else { 0 };
        count = server.count();
        assert!(Instant::now() < end, "the load goes on");
    }
}

#[test]
fn two_processes_make_one_load() {
    let (server, secret) = (CountingServer::start(), Secret::new());
    let injectors = [inject_here(&secret), inject_here(&secret)];
    let addresses = injectors.each_ref().map(|(_, address)| address.clone());
    let more = ["--rate", "400", "--duration", "2s"];
    let (result, sent) = heard_by_all(&server, load(&server.url, &addresses, &secret, &more));
    assert_eq!(result["requests"].as_u64(), Some(sent));
    assert!((sent as f64 - 800.0).abs() < 4.0 * 800_f64.sqrt(), "{sent}");
    assert_eq!(result["errors"], 0);
    let parts = result["injectors"].as_array().expect("one for each");
    let named: Vec<_> = parts.iter().filter_map(|part| part["address"].as_str()).collect();
    assert_eq!(named, addresses);
    let sum: u64 = parts.iter().filter_map(|part| part["requests"].as_u64()).sum();
    assert_eq!(sum, sent);
    // One clock, so the truth is 0.
    for part in parts {
        let offset_ns = part["clock_offset_ns"].as_i64().expect("measured");
        assert!(
            offset_ns.unsigned_abs() <= part["clock_uncertainty_ns"].as_u64().expect("measured"),
            "{part}"
        );
    }
    let mut text = Command::new(ASSAY);
    text.args(["load", &server.url, "--rate", "100", "--duration", "500ms", "--all", "--token-file"])
        .arg(secret.path());
    text.args(["--injectors", &addresses.join(",")]);
    let mut output = text.output().expect("assay runs");
    if String::from_utf8_lossy(&output.stderr).contains(SILENT) {
        output = text.output().expect("assay runs");
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(addresses.iter().all(|address| said.contains(address)) && said.contains("50 requests"), "{said}");
}

#[test]
#[ignore = "long: an injector that gets no processor for 0.8 s is lost, as it must be"]
fn an_injector_killed_within_the_window_is_named_and_what_it_did_is_unknown() {
    let (servers, secret) = ([(); 3].map(|()| CountingServer::start()), Secret::new());
    let injectors = [inject_here(&secret), inject_here(&secret), inject_here(&secret)];
    let addresses = injectors.each_ref().map(|(_, address)| address.clone());
    // Each has a server of its own, so that each is known to load.
    let places = [0, 1, 2].map(|at: usize| format!("{}={}", addresses[at], servers[at].url));
    let more = ["--rate", "300", "--duration", ENDLESS];
    let controller = start(&mut load(&servers[0].url, &places, &secret, &more));
    wait_until("the load begins", || servers.iter().all(|server| server.count() > 60));
    signal(injectors[1].0.pid(), Signal::KILL);
    // The rest of the window is not waited for.
    let result = result(&controller.wait_with_output().expect("assay ends"));
    assert_eq!(result["valid"], false);
    let name = format!("injector {}", addresses[1]);
    let problems = result["problems"].as_array().expect("problems");
    let told = problems.iter().find(|one| one["about"] == name.as_str()).expect("one that names it");
    assert!(told["text"].as_str().is_some_and(|what| what.contains("are unknown")), "{told}");
    let part = &result["injectors"][1];
    assert!(part["requests"].is_null() && part["errors"].is_null(), "not zero: {part}");
    assert!(part["lost"]["last_report_age_s"].is_number(), "{part}");
    let known = result["requests"].as_u64().expect("of the rest");
    let all: u64 = servers.iter().map(CountingServer::count).sum();
    assert!(known < all, "{known} of {all}");
}

#[test]
fn the_rest_goes_on_where_that_is_asked_for() {
    let (server, secret) = (CountingServer::start(), Secret::new());
    let injectors = [inject_here(&secret), inject_here(&secret)];
    let addresses = injectors.each_ref().map(|(_, address)| address.clone());
    let more = ["--rate", "300", "--duration", "8s", "--go-on-without"];
    let controller = start(&mut load(&server.url, &addresses, &secret, &more));
    wait_until("the load begins", || server.count() > 60);
    signal(injectors[0].0.pid(), Signal::KILL);
    let result = result(&controller.wait_with_output().expect("assay ends"));
    let requests = result["requests"].as_f64().expect("a number");
    assert!((requests - 2_400.0).abs() < 4.0 * 2_400_f64.sqrt(), "the whole rate by one: {requests}");
    assert_eq!(result["injectors"].as_array().map(Vec::len), Some(1));
    assert!(result["problems"].to_string().contains("1 repeated it"), "{}", result["problems"]);
}

#[test]
fn a_load_ends_when_its_controller_is_killed_or_stands_still() {
    for how in [Signal::KILL, Signal::STOP] {
        let (server, secret) = (CountingServer::start(), Secret::new());
        let (_injector, address) = inject_here(&secret);
        let more = ["--rate", "200", "--duration", ENDLESS];
        let mut controller = start(&mut load(&server.url, &[address], &secret, &more));
        wait_until("the load begins", || server.count() > 50);
        signal(controller.id(), how);
        load_ends(&server);
        let _ = (controller.kill(), controller.wait());
    }
}

#[test]
fn ctrl_c_ends_an_injector_with_its_load_and_leaves_nothing() {
    let (server, secret) = (CountingServer::start(), Secret::new());
    let (mut command, folder) = (Command::new(ASSAY), tempfile::tempdir().expect("a temporary folder"));
    command.current_dir(folder.path()).env("HOME", folder.path()).env("TMPDIR", folder.path());
    let (injector, address) = inject(command, "127.0.0.1:0", &secret.path());
    let more = ["--rate", "200", "--duration", ENDLESS];
    let controller = start(&mut load(&server.url, &[address], &secret, &more));
    wait_until("the load begins", || server.count() > 50);
    signal(injector.pid(), Signal::INT);
    load_ends(&server);
    let output = controller.wait_with_output().expect("assay ends");
    assert_eq!(output.status.code(), Some(3), "nobody is left");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no injector gave a result"), "{output:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 0, "no file is left");
}

#[test]
fn a_wrong_or_open_token_is_refused_with_the_cause() {
    let (server, secret, other) = (CountingServer::start(), Secret::new(), Secret::new());
    let (_injector, address) = inject_here(&secret);
    fs::write(other.path(), "another token of the tests\n").expect("our file");
    let more = ["--rate", "100", "--duration", "1s"];
    let output = load(&server.url, std::slice::from_ref(&address), &other, &more).output();
    let output = output.expect("assay runs");
    assert_eq!((output.status.code(), server.count()), (Some(3), 0));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&address) && said.contains("token files differ"), "{said}");
    fs::set_permissions(other.path(), fs::Permissions::from_mode(0o644)).expect("our file");
    let output = Command::new(ASSAY).args(["inject", "--token-file"]).arg(other.path()).output();
    let output = output.expect("assay runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("chmod 600"), "{output:?}");
}

/// A host of its own: a network namespace that a pair of virtual interfaces joins to ours. Gone when dropped.
struct Host {
    name: String,
    near: String,
    /// Our address and its, on the wire between us.
    ours: String,
    its: String,
}

impl Host {
    /// Number 0 or 1; what cannot be made is told.
    fn new(number: u8) -> Result<Host, String> {
        let id = std::process::id();
        // 198.18.0.0/15 is for tests of network devices (RFC 2544).
        let net = format!("198.{}.{}", 18 + number, id % 256);
        let host = Host {
            name: format!("assay-{id}-{number}"),
            near: format!("as{id}n{number}"),
            ours: format!("{net}.1"),
            its: format!("{net}.2"),
        };
        let Host { name, near, ours, its } = &host;
        let far = format!("as{id}f{number}");
        ip(&format!("netns add {name}"))?;
        ip(&format!("link add {near} type veth peer name {far} netns {name}"))?;
        ip(&format!("addr add {ours}/30 dev {near}"))?;
        ip(&format!("link set {near} up"))?;
        ip(&format!("-n {name} addr add {its}/30 dev {far}"))?;
        ip(&format!("-n {name} link set {far} up"))?;
        Ok(host)
    }

    /// A command that runs there.
    fn command(&self) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.name, ASSAY]);
        command
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = (ip(&format!("link del {}", self.near)), ip(&format!("netns del {}", self.name)));
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output().map_err(|e| format!("ip: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("ip {arguments}: {}", said.trim())) }
}

#[test]
#[ignore = "long: an injector that gets no processor for 0.8 s is lost, as it must be"]
fn injectors_on_two_hosts_make_one_load_and_a_cut_wire_is_noticed() {
    let hosts = match (Host::new(0), Host::new(1)) {
        (Ok(first), Ok(second)) => [first, second],
        (Err(why), _) | (_, Err(why)) => skip!("no network namespaces: {why}"),
    };
    let (server, secret) = (CountingServer::start_on("0.0.0.0"), Secret::new());
    let injectors =
        hosts.each_ref().map(|host| inject(host.command(), &format!("{}:7447", host.its), &secret.path()));
    // Each has a URL of its own: our address on its wire.
    let addresses: Vec<String> =
        (0..2).map(|at| format!("{}=http://{}:{}", injectors[at].1, hosts[at].ours, server.port)).collect();
    let more = ["--rate", "300", "--duration", "2s"];
    let (together, sent) = heard_by_all(&server, load(&server.url, &addresses, &secret, &more));
    assert_eq!(together["requests"].as_u64(), Some(sent));
    assert!((sent as f64 - 600.0).abs() < 4.0 * 600_f64.sqrt(), "{sent}");
    for (part, host) in together["injectors"].as_array().expect("two").iter().zip(&hosts) {
        assert!(part["base_url"].as_str().is_some_and(|url| url.contains(&host.ours)), "{part}");
        assert!(part["requests"].as_u64().is_some_and(|count| count > 200), "{part}");
    }
    let before = server.count();
    let controller =
        start(&mut load(&server.url, &addresses, &secret, &["--rate", "300", "--duration", ENDLESS]));
    wait_until("the load begins", || server.count() > before + 100);
    ip(&format!("link set {} down", hosts[0].near)).expect("our interface");
    let cut = result(&controller.wait_with_output().expect("assay ends"));
    assert_eq!(cut["valid"], false);
    let part = &cut["injectors"][0];
    assert!(part["lost"]["why"].as_str().is_some_and(|why| why.contains("nothing came")), "{part}");
    assert!(part["lost"]["last_report_age_s"].is_number(), "{part}");
    assert!(part["requests"].is_null() && cut["injectors"][1]["requests"].as_u64().is_some());
}

/// Two workers of 5 ms answer 400 a second, whoever asks them.
#[test]
#[ignore = "long: an injector that gets no processor for 0.8 s is lost, as it must be"]
fn injectors_make_the_load_of_a_capacity() {
    let (server, secret) = (WorkerServer::start(2, Duration::from_millis(5)), Secret::new());
    let injectors = [inject_here(&secret), inject_here(&secret)];
    let addresses = injectors.each_ref().map(|(_, address)| address.clone());
    let mut command = Command::new(ASSAY);
    command.args(["capacity", &server.url, "--limits=40,100", "--budget=20s", "--no-warm-up", "--json"]);
    command
        .args(["--count-disturbed", "--injectors", &addresses.join(","), "--token-file"])
        .arg(secret.path());
    let mut output = command.output().expect("assay runs");
    for _ in 0..4 {
        // As in `heard_by_all`.
        if !String::from_utf8_lossy(&output.stderr).contains(SILENT) {
            break;
        }
        output = command.output().expect("assay runs");
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: CapacityReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(output.status.code(), Some(i32::from(report.valid == Some(false))), "{said}");
    let most = report.windows.iter().map(assay_model::Window::achieved_rate_per_s).fold(0.0, f64::max);
    assert!(0.0 < most && most < 440.0, "two workers of 5 ms answer 400 a second: {most}");
    let requests: u64 = report.windows.iter().map(|w| w.requests).sum();
    assert!(100 < requests, "{said}");
    assert!(requests <= server.services_ns().len() as u64 + 100, "what was counted reached the server");
    let priority =
        report.checks.iter().find(|check| check.check == Check::GeneratorPriority).expect("listed");
    assert!(priority.passed.is_none() && priority.evidence.contains("made elsewhere"), "{priority:?}");
}
