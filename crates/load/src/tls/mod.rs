//! TLS by `rustls`, which does no I/O of its own: bytes of the socket on one side, those of the protocol on the other.
//!
//! Its cryptography is `ring`: it builds with the C compiler that Rust links with anyway, where aws-lc-rs wants CMake on some
//! hosts, and has been the longer in use of the two.

mod failure;
mod options;
mod store;
mod unverified;

pub use options::{ClientCertificate, Pem, TlsOptions};

use crate::recorder::{counts, empty_histogram, sum, summary_ms};
use crate::{LoadError, clock};
use assay_model::HandshakeSummary;
use failure::{OwnCertificate, failed};
use hdrhistogram::Histogram;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore};
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use unverified::AnyCertificate;

/// Read at once during a handshake: less than what rustls holds of decrypted bytes.
const HANDSHAKE_READ_BYTES: usize = 4096;

/// State shared by all connections to a server.
#[derive(Debug)]
pub(crate) struct Client {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    own: Arc<OwnCertificate>,
    /// The protocol that the server must have agreed to; HTTP/1.1 needs no agreement.
    agreed: Option<Vec<u8>>,
}

/// How connections came to be secure. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handshakes {
    /// From the accepted connection to the end of the handshake; the generator's own cryptography is in it.
    #[serde(with = "counts")]
    pub times: Histogram<u64>,
    /// Of these, resumptions of an earlier session.
    pub resumed: u64,
    /// CPU time of the generator for all of them.
    pub cpu_ns: u64,
}

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handshake {
    ns: u64,
    cpu_ns: u64,
    is_resumed: bool,
}

impl Handshakes {
    /// None yet.
    pub fn none() -> Handshakes {
        Handshakes { times: empty_histogram(), resumed: 0, cpu_ns: 0 }
    }

    /// Those of another generator, too.
    pub fn add_all(&mut self, others: &Handshakes) {
        let Handshakes { times, resumed, cpu_ns } = others;
        sum(&mut self.times, times);
        self.resumed = self.resumed.saturating_add(*resumed);
        self.cpu_ns = self.cpu_ns.saturating_add(*cpu_ns);
    }

    /// The stored form; absent for none.
    pub(crate) fn summary(&self) -> Option<HandshakeSummary> {
        let count = self.times.len();
        (0 < count).then(|| HandshakeSummary {
            count,
            resumed: self.resumed,
            ms: summary_ms(&self.times),
            cpu_ms_mean: Some(self.cpu_ns as f64 / count as f64 / 1e6),
        })
    }

    pub(crate) fn add(&mut self, one: Handshake) {
        self.times.saturating_record(one.ns);
        self.resumed += u64::from(one.is_resumed);
        self.cpu_ns = self.cpu_ns.saturating_add(one.cpu_ns);
    }
}

impl Client {
    /// For a server on `host`; `protocols` are offered (ALPN).
    pub fn new(options: &TlsOptions, host: &str, protocols: &[&[u8]]) -> Result<Client, LoadError> {
        let wrong = |what: &str, cause: String| LoadError::Tls { what: what.to_owned(), cause };
        let name = options.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(name.to_owned()).map_err(|_| {
            wrong(name, "is neither a host name nor an address; give --server-name".to_owned())
        })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong("rustls", error.to_string()))?;
        let builder = match options.verify {
            true => builder.with_root_certificates(trusted(options)?),
            false => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
        };
        let own = Arc::new(OwnCertificate::new(options.client.is_some()));
        let mut config = match &options.client {
            None => builder.with_client_cert_resolver(Arc::clone(&own) as _),
            Some(client) => {
                let (chain, key) = client.parts()?;
                let with = builder.with_client_auth_cert(chain, key);
                with.map_err(|error| wrong(client.path(), format!("does not fit its key ({error})")))?
            }
        };
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        config.resumption = match options.resumption {
            true => Resumption::store(Arc::new(store::Sessions::default())),
            false => Resumption::disabled(),
        };
        let agreed = protocols.first().filter(|name| **name != b"http/1.1").map(|name| name.to_vec());
        Ok(Client { config: Arc::new(config), name, own, agreed })
    }
}

fn trusted(options: &TlsOptions) -> Result<RootCertStore, LoadError> {
    let mut roots = RootCertStore::empty();
    let (what, certificates) = match &options.trust {
        Some(trust) => (trust.path(), trust.certificates()?),
        None => ("the system's certificates", rustls_native_certs::load_native_certs().certs),
    };
    if roots.add_parsable_certificates(certificates).0 == 0 {
        let cause = "none that can be trusted is among them; give a file of your own with --trust".to_owned();
        return Err(LoadError::Tls { what: what.to_owned(), cause });
    }
    Ok(roots)
}

/// The TLS of one connection.
pub(crate) struct Secure {
    session: ClientConnection,
    own: Arc<OwnCertificate>,
    agreed: Option<Vec<u8>>,
    begun_ns: u64,
    cpu_ns: u64,
    /// No more bytes come.
    is_ended: bool,
    /// The connection ended without the server having said so (close_notify).
    is_cut: bool,
}

/// What came through TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decrypted {
    /// Nothing by now.
    Nothing,
    Bytes {
        count: usize,
        may_hold_more: bool,
    },
    /// The server closed its side.
    End,
}

impl Secure {
    /// On a socket that was just connected.
    pub fn begin(client: &Client) -> io::Result<Secure> {
        let session = ClientConnection::new(Arc::clone(&client.config), client.name.clone());
        let mut session = session.map_err(|error| failed(&error, &client.own))?;
        session.set_buffer_limit(None);
        let agreed = client.agreed.clone();
        Ok(Secure {
            session,
            own: Arc::clone(&client.own),
            agreed,
            begun_ns: clock::monotonic_ns(),
            cpu_ns: 0,
            is_ended: false,
            is_cut: false,
        })
    }

    pub fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// Goes on with the handshake as far as the socket allows; says what it was when it is over.
    pub fn handshake(&mut self, socket: &mut TcpStream, raw: &mut [u8]) -> io::Result<Option<Handshake>> {
        let cpu_start_ns = clock::thread_cpu_ns();
        let gone_on = self.go_on(socket, raw);
        self.cpu_ns += clock::thread_cpu_ns().saturating_sub(cpu_start_ns);
        Ok(gone_on?.then(|| Handshake {
            ns: clock::monotonic_ns().saturating_sub(self.begun_ns),
            cpu_ns: self.cpu_ns,
            is_resumed: self.session.handshake_kind() == Some(HandshakeKind::Resumed),
        }))
    }

    fn go_on(&mut self, socket: &mut TcpStream, raw: &mut [u8]) -> io::Result<bool> {
        loop {
            self.flush(socket)?;
            if !self.session.is_handshaking() {
                return self.check_agreed().map(|()| true);
            }
            // Bytes after the handshake stay in the socket where possible.
            let few = raw.len().min(HANDSHAKE_READ_BYTES);
            match socket.read(&mut raw[..few]) {
                Ok(0) => {
                    let what = "TLS: connection closed within the handshake: is this a port that speaks TLS?";
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, what));
                }
                Ok(count) => {
                    let mut rest = &raw[..count];
                    while !rest.is_empty() {
                        self.take_in(&mut rest, socket)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
    }

    fn check_agreed(&self) -> io::Result<()> {
        match &self.agreed {
            Some(agreed) if self.session.alpn_protocol() != Some(agreed) => {
                let what = "TLS: the server did not agree to HTTP/2 (ALPN h2): leave --http out, or turn it \
                    on in the server";
                Err(io::Error::new(ErrorKind::InvalidData, what))
            }
            _ => Ok(()),
        }
    }

    /// Decrypts some of what came. An alert that says what is wrong is sent as far as the socket takes it.
    fn take_in(&mut self, rest: &mut &[u8], socket: &mut impl Write) -> io::Result<()> {
        self.session.read_tls(rest)?;
        if let Err(error) = self.session.process_new_packets() {
            let _ = self.flush(socket);
            return Err(failed(&error, &self.own));
        }
        Ok(())
    }

    /// After the end: whether the server did not say that it ends, so that anybody may have cut off what it sent.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Encrypts bytes to be written.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.session.writer().write_all(bytes)
    }

    /// Writes what the socket takes.
    pub fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.session.wants_write() {
            match self.session.write_tls(socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => (),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub fn is_flushed(&self) -> bool {
        !self.session.wants_write()
    }

    /// Reads once from the socket, at most as much as `raw` holds. `plain` must have room for that and what two records hold
    /// beyond it.
    pub fn read(
        &mut self,
        socket: &mut (impl Read + Write),
        raw: &mut [u8],
        plain: &mut [u8],
    ) -> io::Result<Decrypted> {
        loop {
            let mut count = self.decrypted(plain)?;
            if self.is_ended {
                return Ok(match count {
                    0 => Decrypted::End,
                    count => Decrypted::Bytes { count, may_hold_more: true },
                });
            }
            let came = match socket.read(raw) {
                Ok(0) => {
                    (self.is_ended, self.is_cut) = (true, true);
                    continue;
                }
                Ok(came) => came,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock && count == 0 => {
                    return Ok(Decrypted::Nothing);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Decrypted::Bytes { count, may_hold_more: false });
                }
                Err(error) => return Err(error),
            };
            let mut rest = &raw[..came];
            while !rest.is_empty() && !self.is_ended {
                self.take_in(&mut rest, socket)?;
                count += self.decrypted(&mut plain[count..])?;
            }
            let may_hold_more = self.is_ended || came == raw.len();
            if 0 < count || !may_hold_more {
                self.flush(socket)?;
                return Ok(match count {
                    0 => Decrypted::Nothing,
                    count => Decrypted::Bytes { count, may_hold_more },
                });
            }
        }
    }

    /// Takes out what is decrypted.
    fn decrypted(&mut self, plain: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        loop {
            match self.session.reader().read(&mut plain[count..]) {
                Ok(0) if count < plain.len() => {
                    // The server said that nothing more comes.
                    self.is_ended = true;
                    return Ok(count);
                }
                Ok(0) => return Ok(count),
                Ok(more) => count += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(count),
                Err(error) => return Err(error),
            }
        }
    }
}
