//! A server for the runner's tests, with the faults that real ones have.
//!
//! `fake_server --port N`, with `FAKE_WORK_US` (processor time for each request), `FAKE_HOLD_US` (time in which a request holds
//! the only worker, asleep: so one knows how many it bears, whatever the machine) and `FAKE_FAULT` in the environment: one of
//! `never-ready`, `dies-when-ready`, `dies-after-requests`, `ignores-sigterm`, `answers-wrongly`, `fails-audit`,
//! `leaves-a-child`, `tells-all` (prints its arguments and environment, and writes them into the file `FAKE_TELL`); or several,
//! parted by commas.
//!
//! With `FAKE_CERT` and `FAKE_KEY`, files in PEM, it speaks TLS.
//!
//! `/login` has a form with a token, and gives whoever sends it back a session; `/shop` wants one. `/audit` says how many there were.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Requests after which `dies-after-requests` dies.
const REQUESTS_TO_DEATH: u64 = 200;

struct Server {
    fault: String,
    work: Duration,
    hold: Duration,
    worker: Mutex<()>,
    requests: AtomicU64,
    logins: AtomicU64,
}

/// What the server answers: status, more headers, body.
type Answer = (u16, String, String);

/// The beginning of the cookie of a session.
const SESSION: &str = "SESSION=fake-";
const TOKEN: &str = "token-1";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments.iter().position(|a| a == "--port").expect("--port");
    let port: u16 = arguments[at + 1].parse().expect("a port");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let work = Duration::from_micros(variable("FAKE_WORK_US").parse().unwrap_or(0));
    let server = Arc::new(Server {
        fault: variable("FAKE_FAULT"),
        work,
        hold: Duration::from_micros(variable("FAKE_HOLD_US").parse().unwrap_or(0)),
        worker: Mutex::new(()),
        requests: AtomicU64::new(0),
        logins: AtomicU64::new(0),
    });
    println!("fake server on port {port}");
    if server.has("tells-all") {
        let variables = std::env::vars().map(|(name, value)| format!("{name}={value}"));
        let told = arguments.iter().cloned().chain(variables).collect::<Vec<String>>().join("\n");
        println!("{told}");
        std::fs::write(variable("FAKE_TELL"), told).expect("a file");
    }
    if server.has("ignores-sigterm") {
        let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGTERM, flag).expect("a handler");
    }
    if server.has("leaves-a-child") {
        // In a session of its own, as start scripts do: it is in no group of the server's.
        let mut child = std::process::Command::new("setsid").args(["sleep", "600"]).spawn().expect("sleep");
        println!("child {}", child.id());
        std::thread::spawn(move || child.wait());
    }
    if server.has("never-ready") {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    let tls = std::env::var("FAKE_CERT").ok().map(|cert| Arc::new(tls(&cert, &variable("FAKE_KEY"))));
    for stream in listener.incoming().flatten() {
        let (server, tls) = (Arc::clone(&server), tls.clone());
        std::thread::spawn(move || match tls {
            Some(tls) => server.serve(StreamOwned::new(ServerConnection::new(tls).ok()?, stream)),
            None => server.serve(stream),
        });
    }
}

fn tls(cert: &str, key: &str) -> ServerConfig {
    let certs = CertificateDer::pem_file_iter(cert).expect("a file").collect::<Result<_, _>>().expect("PEM");
    let key = PrivateKeyDer::from_pem_file(key).expect("a key");
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the library's own")
        .with_no_client_auth()
        .with_single_cert(certs, key)
        .expect("they belong together")
}

impl Server {
    fn has(&self, fault: &str) -> bool {
        self.fault.split(',').any(|of| of == fault)
    }

    fn serve(&self, stream: impl Read + Write) -> Option<()> {
        let mut reader = BufReader::new(stream);
        loop {
            let mut request = String::new();
            reader.read_line(&mut request).ok().filter(|count| *count > 0)?;
            let (mut line, mut has_session, mut length) = (String::new(), false, 0);
            while reader.read_line(&mut line).ok()? > 2 {
                has_session |= line.contains(SESSION);
                let value = line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned);
                length = value.and_then(|value| value.trim().parse().ok()).unwrap_or(length);
                line.clear();
            }
            let mut form = vec![0; length];
            reader.read_exact(&mut form).ok()?;
            let path = request.split(' ').nth(1).unwrap_or("/");
            let path = path.split('?').next().unwrap_or(path).to_owned();
            let has_token =
                request.starts_with("POST").then(|| String::from_utf8_lossy(&form).contains(TOKEN));
            let (status, headers, body) = match path.as_str() {
                "/login" => self.login(has_token),
                "/shop" if !has_session => (302, "Location: /login\r\n".to_owned(), String::new()),
                _ => self.answer(&path),
            };
            let length = body.len();
            let answer = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
            reader.get_mut().write_all(answer.as_bytes()).ok()?;
            reader.get_mut().flush().ok()?;
            if path == "/ready" && self.has("dies-when-ready") {
                eprintln!("fake server: out of luck");
                std::process::exit(3);
            }
        }
    }

    /// The form, or a session for whoever sent it back.
    fn login(&self, has_token: Option<bool>) -> Answer {
        match has_token {
            None => {
                let field = format!("<input type=\"hidden\" name=\"_csrf\" value=\"{TOKEN}\">");
                (200, String::new(), format!("<form id=\"login\">{field}</form>"))
            }
            Some(false) => (403, String::new(), "no token".to_owned()),
            Some(true) => {
                let number = self.logins.fetch_add(1, Ordering::Relaxed);
                (302, format!("Set-Cookie: {SESSION}{number}; Path=/\r\nLocation: /shop\r\n"), String::new())
            }
        }
    }

    fn answer(&self, path: &str) -> Answer {
        let (status, body) = match path {
            "/ready" => (200, "ready".to_owned()),
            "/audit" if self.has("fails-audit") => (500, "{\"passed\": false, \"lost\": 1}".to_owned()),
            "/audit" => match self.logins.load(Ordering::Relaxed) {
                0 => (200, "{\"passed\": true}".to_owned()),
                logins => (200, format!("{{\"passed\": true, \"logins\": {logins}}}")),
            },
            "/stats" => (200, format!("{{\"requests\": {}}}", self.requests.load(Ordering::Relaxed))),
            _ => {
                let number = self.requests.fetch_add(1, Ordering::Relaxed);
                if number == REQUESTS_TO_DEATH && self.has("dies-after-requests") {
                    eprintln!("fake server: worn out");
                    std::process::exit(4);
                }
                let begun = Instant::now();
                while begun.elapsed() < self.work {
                    std::hint::spin_loop();
                }
                if !self.hold.is_zero() {
                    let _worker = self.worker.lock().expect("nobody panics with it");
                    std::thread::sleep(self.hold);
                }
                if self.has("answers-wrongly") { (500, "no".to_owned()) } else { (200, "yes".to_owned()) }
            }
        };
        (status, String::new(), body)
    }
}
