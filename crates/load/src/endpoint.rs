//! The server under load, and how it is spoken to.

use crate::LoadError;
use crate::connection::Connection;
use crate::protocol::http1::Http1;
use crate::tls::{Client, TlsOptions};
use crate::url::BaseUrl;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// Protocols that are offered within TLS.
const HTTP1: &[&[u8]] = &[b"http/1.1"];

/// A server's address, and what all connections to it have in common.
pub(crate) struct Endpoint {
    pub base: BaseUrl,
    /// At least one.
    pub addresses: Vec<SocketAddr>,
    tls: Option<Arc<Client>>,
    /// What stands in every request.
    fixed: Arc<str>,
}

impl Endpoint {
    /// Resolves the host's name; connects to nothing yet.
    ///
    /// # Errors
    /// A URL that cannot be used, an unknown host, or what is wrong with the certificates.
    pub fn new(base_url: &str, tls: &TlsOptions) -> Result<Endpoint, LoadError> {
        let base = BaseUrl::parse(base_url)?;
        let wrong = |cause: String| LoadError::Url { url: base_url.to_owned(), cause };
        let addresses: Vec<SocketAddr> = (base.host.as_str(), base.port)
            .to_socket_addrs()
            .map_err(|error| wrong(format!("host {:?} cannot be resolved ({error})", base.host)))?
            .collect();
        if addresses.is_empty() {
            return Err(wrong("its host has no address".to_owned()));
        }
        let tls = base.scheme.is_secure().then(|| Client::new(tls, &base.host, HTTP1).map(Arc::new));
        let fixed = Http1::fixed(&base.authority);
        Ok(Endpoint { addresses, tls: tls.transpose()?, fixed, base })
    }

    /// A connection to it, closed.
    pub fn connection(&self) -> Connection {
        Connection::new(Box::new(Http1::new(Arc::clone(&self.fixed))), self.tls.clone())
    }

    /// How many requests a connection carries at once.
    pub fn streams(&self) -> usize {
        1
    }
}
