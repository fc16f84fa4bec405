//! TLS against rustls servers: what is trusted and what is not, certificates of clients, names, resumption, and what handshakes cost.

use crate::certificates::Authority;
use assay_load::{ErrorKind, Generator, GeneratorConfig, Load, LoadError, Measured, TlsOptions, for_url};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const HOST: &str = "localhost";
const VALID: i32 = 2200;

/// A server, and the names that its clients asked for.
struct Server {
    port: u16,
    names: Arc<Mutex<Vec<Option<String>>>>,
}

impl Server {
    /// Answers so many requests on each connection.
    fn start(config: Arc<ServerConfig>, requests: usize) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("bound").port();
        let names = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&names);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, asked) = (Arc::clone(&config), Arc::clone(&asked));
                std::thread::spawn(move || answer(stream, config, requests, &asked));
            }
        });
        Server { port, names }
    }

    fn url(&self) -> String {
        format!("https://{HOST}:{}/", self.port)
    }
}

fn answer(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    requests: usize,
    names: &Mutex<Vec<Option<String>>>,
) -> Option<()> {
    let mut tls = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
    for number in 0..requests {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            tls.read_exact(&mut byte).ok()?;
            head.push(byte[0]);
        }
        if number == 0 {
            names.lock().ok()?.push(tls.conn.server_name().map(str::to_owned));
        }
        let last = if number + 1 == requests { "Connection: close\r\n" } else { "" };
        // Longer than a record, and than what is read at once.
        let body = "x".repeat(100_000);
        write!(tls, "HTTP/1.1 200 OK\r\n{last}Content-Length: {}\r\n\r\n{body}", body.len()).ok()?;
        tls.flush().ok()?;
    }
    tls.conn.send_close_notify();
    tls.flush().ok()
}

fn generator(url: &str, tls: TlsOptions) -> Generator {
    let (base_url, scenario) = for_url(url).expect("a good URL");
    let config = GeneratorConfig { tls, ..GeneratorConfig::new(base_url, scenario, 4) };
    Generator::new(config).expect("a good configuration")
}

fn run(generator: &mut Generator) -> Result<Measured, LoadError> {
    let load = Load::Closed { users: 4, think: None };
    generator.run(&load, Duration::from_millis(300), &AtomicBool::new(false), None, &mut |_| ())
}

fn trusting(authority: &Authority) -> TlsOptions {
    TlsOptions::default().with_files(Some(&authority.trust()), (None, None)).expect("its file")
}

#[test]
fn requests_over_tls_are_answered_and_handshakes_are_no_part_of_them() {
    let authority = Authority::new("test");
    let server = Server::start(authority.server(&authority.certify(&[HOST], VALID), false), usize::MAX);
    let mut generator = generator(&server.url(), trusting(&authority));
    let measured = run(&mut generator).expect("a good stretch");
    assert!(0 < measured.completed && measured.errors() == 0, "{:?}", measured.problems);
    let handshakes = &measured.handshakes;
    assert_eq!((handshakes.times.len(), measured.sent_again), (4, 0));
    assert!(0 < handshakes.cpu_ns && 0 < handshakes.times.min());
    assert_eq!(*server.names.lock().expect("no panic"), vec![Some(HOST.to_owned()); 4]);
    let result = measured.result();
    let told = result.handshakes.expect("there were some");
    assert_eq!((told.count, told.resumed), (4, handshakes.resumed));
    assert!(told.ms.p50.is_some() && told.cpu_ms_mean.is_some_and(|ms| 0.0 < ms));
    // Connections last, and with them what made them secure: tickets that came meanwhile are no reason to close them.
    let second = run(&mut generator).expect("a good stretch");
    assert_eq!((second.handshakes.times.len(), second.errors()), (0, 0), "{:?}", second.problems);
    assert_eq!(second.result().handshakes, None);
}

#[track_caller]
fn check_refused(url: &str, tls: TlsOptions, why: &[&str]) {
    let Err(error @ LoadError::Connect { .. }) = run(&mut generator(url, tls)) else {
        panic!("the server was trusted");
    };
    let error = error.to_string();
    assert!(
        why.iter().all(|part| error.contains(part)) && !error.contains("is the server started"),
        "{error}"
    );
}

#[test]
fn a_certificate_for_another_name_is_refused_unless_that_name_is_given() {
    let authority = Authority::new("test");
    let server =
        Server::start(authority.server(&authority.certify(&["shop.test"], VALID), false), usize::MAX);
    check_refused(&server.url(), trusting(&authority), &["shop.test", "--server-name"]);
    let named = TlsOptions { server_name: Some("shop.test".to_owned()), ..trusting(&authority) };
    let measured = run(&mut generator(&server.url(), named)).expect("a good stretch");
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    assert!(server.names.lock().expect("no panic").iter().all(|name| name.as_deref() == Some("shop.test")));
}

#[test]
fn an_expired_certificate_is_refused() {
    let authority = Authority::new("test");
    let server = Server::start(authority.server(&authority.certify(&[HOST], 2001), false), usize::MAX);
    check_refused(&server.url(), trusting(&authority), &["expired", "renew it"]);
}

#[test]
fn any_certificate_is_taken_where_that_is_asked_for() {
    let [authority, unknown] = ["test", "unknown"].map(Authority::new);
    let server =
        Server::start(authority.server(&authority.certify(&["other.test"], 2001), false), usize::MAX);
    check_refused(&server.url(), trusting(&unknown), &[]);
    let unchecked = TlsOptions { verify: false, ..TlsOptions::default() };
    let measured = run(&mut generator(&server.url(), unchecked)).expect("a good stretch");
    assert!(0 < measured.completed && measured.errors() == 0, "{:?}", measured.problems);
}

#[test]
fn an_unknown_authority_is_refused() {
    let [authority, same_name, other] = ["one", "one", "other"].map(Authority::new);
    let server = Server::start(authority.server(&authority.certify(&[HOST], VALID), false), usize::MAX);
    check_refused(&server.url(), trusting(&other), &["UnknownIssuer", "--trust"]);
    check_refused(&server.url(), trusting(&same_name), &["another authority of the same name", "--trust"]);
}

#[test]
fn a_server_that_speaks_no_tls_is_named_as_one() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("https://{}/", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    check_refused(&url, TlsOptions::default(), &["a port that speaks TLS"]);
}

/// A handshake that fails before the server asked for anything does not fail for want of a certificate of the client.
#[test]
fn a_server_without_a_common_cipher_is_told_from_one_that_wants_a_certificate() {
    const HANDSHAKE_FAILURE: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("https://{HOST}:{}/", listener.local_addr().expect("bound").port());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&HANDSHAKE_FAILURE);
        }
    });
    check_refused(&url, TlsOptions::default(), &["no cipher, group or kind of certificate in common"]);
}

/// Answers each connection once with these bytes, and ends it with or without saying so.
fn answers_once(authority: &Authority, answer: &'static str, says_end: bool) -> String {
    let config = authority.server(&authority.certify(&[HOST], VALID), false);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || {
                let mut tls = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
                let _ = tls.read(&mut [0; 4096]).ok()?;
                tls.write_all(answer.as_bytes()).ok()?;
                if says_end {
                    tls.conn.send_close_notify();
                }
                tls.flush().ok()
            });
        }
    });
    format!("https://{HOST}:{port}/")
}

#[test]
fn a_body_that_ends_with_the_connection_is_whole_only_where_the_server_said_so() {
    let authority = Authority::new("test");
    let endless = "HTTP/1.1 200 OK\r\n\r\nall of it";
    let counted = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    for (answer, says_end, is_whole) in
        [(endless, true, true), (endless, false, false), (counted, false, true), (chunked, false, true)]
    {
        let url = answers_once(&authority, answer, says_end);
        let measured = run(&mut generator(&url, trusting(&authority))).expect("it listens");
        assert!(0 < measured.requests);
        let errors = if is_whole { 0 } else { measured.requests };
        assert_eq!(measured.errors(), errors, "{answer:?}: {:?}", measured.problems);
        assert!(is_whole || measured.problems[0].text.contains("without the close_notify of TLS"));
    }
}

#[test]
fn a_server_that_wants_a_certificate_of_its_client_gets_it() {
    let authority = Authority::new("test");
    let server = Server::start(authority.server(&authority.certify(&[HOST], VALID), true), usize::MAX);
    // TLS 1.3 tells of it only after the handshake.
    let without =
        run(&mut generator(&server.url(), trusting(&authority))).expect("requests fail, not the load");
    let broken = ErrorKind::ALL.iter().position(|kind| *kind == ErrorKind::Broken).expect("listed");
    assert!(0 < without.requests);
    assert_eq!(without.errors_by_kind[broken], without.requests, "{:?}", without.problems);
    assert!(without.problems[0].text.contains("--client-cert and --client-key"), "{:?}", without.problems);

    let client = authority.certify(&["client.test"], VALID);
    let files = [authority.file("client.pem", &client.chain), authority.file("client.key", &client.key)];
    let with = TlsOptions::default().with_files(Some(&authority.trust()), (Some(&files[0]), Some(&files[1])));
    let measured = run(&mut generator(&server.url(), with.expect("their files"))).expect("a good stretch");
    assert!(0 < measured.completed && measured.errors() == 0, "{:?}", measured.problems);
}

#[test]
fn connections_resume_earlier_sessions_unless_they_should_not() {
    let authority = Authority::new("test");
    let server = Server::start(authority.server(&authority.certify(&[HOST], VALID), false), 1);
    let counts = |resumption| {
        let tls = TlsOptions { resumption, ..trusting(&authority) };
        let measured = run(&mut generator(&server.url(), tls)).expect("a good stretch");
        assert!(8 < measured.completed && measured.errors() == 0, "{:?}", measured.problems);
        (measured.handshakes.times.len(), measured.handshakes.resumed)
    };
    let (all, resumed) = counts(true);
    assert!(all - 4 <= resumed && resumed < all, "all but the first of each user: {resumed} of {all}");
    assert_eq!(counts(false).1, 0);
}

#[test]
fn files_that_hold_something_else_are_named() {
    let authority = Authority::new("test");
    let said = |trust: Option<PathBuf>, client: (Option<PathBuf>, Option<PathBuf>)| {
        let wrong =
            TlsOptions::default().with_files(trust.as_deref(), (client.0.as_deref(), client.1.as_deref()));
        wrong.expect_err("not what it should be").to_string()
    };
    let (ca, text) = (authority.trust(), authority.file("text", "hello"));
    assert!(said(Some(text), (None, None)).contains("text: holds no certificate"));
    assert!(said(None, (Some(ca.clone()), Some(ca.clone()))).contains("ca.pem: holds no private key"));
    assert!(said(None, (None, Some(ca))).contains("give both"));
    assert!(said(Some(authority.folder.path().join("none")), (None, None)).contains("none: No such file"));
    let key = authority.certify(&[HOST], VALID).key;
    let shown = format!(
        "{:?}",
        TlsOptions::default().with_files(None, (Some(&authority.trust()), Some(&authority.file("k", &key))))
    );
    assert!(!shown.contains("PRIVATE"), "{shown}");
}
