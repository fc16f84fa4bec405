//! A server for the runner's tests, with the faults that real ones have.
//!
//! `fake_server --port N`, with `FAKE_WORK_US` (processor time for each request), `FAKE_HOLD_US` (time in which a request holds
//! the only worker, asleep: so one knows how many it bears, whatever the machine) and `FAKE_FAULT` in the environment: one of
//! `never-ready`, `dies-when-ready`, `dies-after-requests`, `ignores-sigterm`, `answers-wrongly`, `fails-audit`,
//! `leaves-a-child`, `tells-all` (prints its arguments and environment, and writes them into the file `FAKE_TELL`); or several,
//! parted by commas.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
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
}

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
    for stream in listener.incoming().flatten() {
        let server = Arc::clone(&server);
        std::thread::spawn(move || server.serve(stream));
    }
}

impl Server {
    fn has(&self, fault: &str) -> bool {
        self.fault.split(',').any(|of| of == fault)
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        loop {
            let mut request = String::new();
            reader.read_line(&mut request).ok().filter(|count| *count > 0)?;
            let mut line = String::new();
            while reader.read_line(&mut line).ok()? > 2 {
                line.clear();
            }
            let path = request.split(' ').nth(1).unwrap_or("/");
            let path = path.split('?').next().unwrap_or(path).to_owned();
            let (status, body) = self.answer(&path);
            let length = body.len();
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).ok()?;
            if path == "/ready" && self.has("dies-when-ready") {
                eprintln!("fake server: out of luck");
                std::process::exit(3);
            }
        }
    }

    fn answer(&self, path: &str) -> (u16, String) {
        match path {
            "/ready" => (200, "ready".to_owned()),
            "/audit" if self.has("fails-audit") => (500, "{\"passed\": false, \"lost\": 1}".to_owned()),
            "/audit" => (200, "{\"passed\": true}".to_owned()),
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
        }
    }
}
