//! The server under load, and how it is spoken to.

use crate::LoadError;
use crate::clock::monotonic_ns;
use crate::connection::Connection;
use crate::protocol::Exchange;
use crate::protocol::chat::{self, Chat, Rooms};
use crate::protocol::http1::Http1;
use crate::tls::{Client, TlsOptions};
use crate::url::BaseUrl;
use assay_scenario::{Part, Scenario};
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
    spoken: Spoken,
}

/// What all connections of a protocol have in common.
enum Spoken {
    /// What stands in every request.
    Http1(Arc<str>),
    Chat(Arc<Rooms>),
}

impl Endpoint {
    /// Resolves the host's name; connects to nothing yet.
    ///
    /// # Errors
    /// A URL that cannot be used, or not by the scenario, an unknown host, or what is wrong with the certificates.
    pub fn new(
        base_url: &str,
        scenario: &Scenario,
        tls: &TlsOptions,
        part: Part,
    ) -> Result<Endpoint, LoadError> {
        let base = BaseUrl::parse(base_url)?;
        let wrong = |cause: String| LoadError::Url { url: base_url.to_owned(), cause };
        let addresses: Vec<SocketAddr> = (base.host.as_str(), base.port)
            .to_socket_addrs()
            .map_err(|error| wrong(format!("host {:?} cannot be resolved ({error})", base.host)))?
            .collect();
        if addresses.is_empty() {
            return Err(wrong("its host has no address".to_owned()));
        }
        let (protocols, spoken) = match (&scenario.chat, base.scheme.is_chat()) {
            (None, false) => (HTTP1, Spoken::Http1(Http1::fixed(&base.authority))),
            (Some(chat), true) => {
                let (users, text) = (chat.room_users, chat.text());
                (&[][..], Spoken::Chat(Arc::new(Rooms { tag: tag(part), users, text })))
            }
            (None, true) => return Err(wrong("its scenario has no [chat]".to_owned())),
            (Some(_), false) => {
                return Err(wrong(
                    "its scenario has [chat], so it begins with chat:// or chats://".to_owned(),
                ));
            }
        };
        let tls = base.scheme.is_secure().then(|| Client::new(tls, &base.host, protocols).map(Arc::new));
        Ok(Endpoint { addresses, tls: tls.transpose()?, spoken, base })
    }

    /// A connection to it, closed, with its number.
    pub fn connection(&self, number: usize) -> Connection {
        let exchange: Box<dyn Exchange> = match &self.spoken {
            Spoken::Http1(fixed) => Box::new(Http1::new(Arc::clone(fixed))),
            Spoken::Chat(rooms) => Box::new(Chat::new(Arc::clone(rooms), number)),
        };
        Connection::new(exchange, self.tls.clone())
    }

    /// How many requests a connection carries at once.
    pub fn streams(&self) -> usize {
        match self.spoken {
            Spoken::Http1(_) => 1,
            Spoken::Chat(_) => chat::STREAMS,
        }
    }

    /// Users of each room, where each user has a connection of its own.
    pub fn room_users(&self) -> Option<usize> {
        match &self.spoken {
            Spoken::Http1(_) => None,
            Spoken::Chat(rooms) => Some(rooms.users),
        }
    }
}

/// Names of users begin with it: at most 17 characters, so that a name has at most 32.
fn tag(part: Part) -> String {
    format!("{:x}-{:04x}-{:x}", std::process::id(), monotonic_ns() >> 20 & 0xffff, part.number)
}
