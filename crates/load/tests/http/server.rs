//! A server that does what a test says, and loads on it.

use assay_load::{ArrivalLaw, ErrorKind, Generator, GeneratorConfig, Load, Measured, Scenario};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A request as a test's server sees it.
pub struct Request {
    pub line: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
    /// Number of the connection, and of the request on it.
    pub connection: u64,
    pub number: u64,
}

/// What a test's server does with a request.
pub enum Reply {
    Bytes(Vec<u8>),
    /// Reads the request and resets the connection.
    Reset,
    /// Answers and closes, without having said so.
    BytesAndClose(Vec<u8>),
    Close,
    /// Keeps the connection and never answers.
    Silence,
}

pub fn ok(body: &str) -> Reply {
    status(200, "", body)
}

pub fn status(status: u16, headers: &str, body: &str) -> Reply {
    Reply::Bytes(answer(status, headers, body))
}

pub fn answer(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Serves each connection in a thread, until the test's process ends. Returns the base URL.
pub fn serve(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let reply = Arc::new(reply);
    std::thread::spawn(move || {
        for (connection, stream) in listener.incoming().enumerate() {
            let (Ok(stream), reply) = (stream, Arc::clone(&reply)) else { return };
            std::thread::spawn(move || serve_connection(&stream, connection as u64, &*reply));
        }
    });
    url
}

pub fn serve_connection(
    stream: &TcpStream,
    connection: u64,
    reply: &dyn Fn(&Request) -> Reply,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    for number in 0.. {
        let request = read_request(&mut reader, connection, number)?;
        match reply(&request) {
            Reply::Bytes(bytes) => writer.write_all(&bytes).ok()?,
            Reply::BytesAndClose(bytes) => {
                writer.write_all(&bytes).ok()?;
                // In good order: closing with a request unread would reset the connection.
                writer.shutdown(Shutdown::Write).ok()?;
                return reader.read_to_end(&mut Vec::new()).map(drop).ok();
            }
            Reply::Close => return None,
            Reply::Reset => {
                return rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).ok();
            }
            Reply::Silence => drop(reader.read_to_end(&mut Vec::new())),
        }
    }
    None
}

pub fn read_request(reader: &mut impl BufRead, connection: u64, number: u64) -> Option<Request> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Request { line: line.trim_end().to_owned(), headers, body, connection, number })
}

pub fn generator(base_url: &str, scenario: &str, connections: u32) -> Generator {
    let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{scenario}");
    let scenario = Scenario::parse(&text, "test.toml").expect("a right scenario");
    Generator::new(GeneratorConfig::new(base_url, scenario, connections)).expect("a good configuration")
}

/// A load in which at least one request ended.
pub fn run(generator: &mut Generator, load: &Load, ms: u64) -> Measured {
    run_until(generator, load, ms, |measured| 0 < measured.completed + measured.errors())
}

/// Loads, each twice as long as the one before, until one has what a check needs: a machine may stand still for longer than a short load.
pub fn run_until(
    generator: &mut Generator,
    load: &Load,
    ms: u64,
    is_enough: impl Fn(&Measured) -> bool,
) -> Measured {
    let (stop, mut ms) = (AtomicBool::new(false), ms);
    loop {
        let length = Duration::from_millis(ms);
        let measured = generator.run(load, length, &stop, None, &mut |_| ()).expect("the server listens");
        if is_enough(&measured) {
            return measured;
        }
        assert!(ms < 100_000, "not enough in {ms} ms: {:?}", measured.problems);
        ms *= 2;
    }
}

/// Time enough for a machine that stands still now and then.
pub const GET: &str = "[[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 120000\n";

pub fn closed(users: u32) -> Load {
    Load::Closed { users, think: None }
}

pub fn thinking(users: u32) -> Load {
    Load::Closed { users, think: Some(Duration::from_millis(5)) }
}

pub fn open(rate_per_s: f64) -> Load {
    Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s }
}

pub fn errors(measured: &Measured, kind: ErrorKind) -> u64 {
    let at = ErrorKind::ALL.iter().position(|known| *known == kind).expect("listed");
    measured.errors_by_kind[at]
}
