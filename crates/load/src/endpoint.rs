//! The server under load, and how it is spoken to.

use crate::LoadError;
use crate::clock::monotonic_ns;
use crate::connection::Connection;
use crate::protocol::Exchange;
use crate::protocol::chat::{self, Chat, Rooms};
use crate::protocol::http1::{Fixed, Http1};
use crate::protocol::http2::{Http2, Server};
use crate::protocol::websocket::{WebSocket, WebSocketTarget};
use crate::protocol_counters::ProtocolCounters;
use crate::tls::{Client, TlsOptions};
use crate::url::BaseUrl;
use assay_model::Protocol;
use assay_scenario::{Part, Scenario};
use serde::{Deserialize, Serialize};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// Protocols that are offered within TLS.
const HTTP1: &[&[u8]] = &[b"http/1.1"];
const HTTP2: &[&[u8]] = &[b"h2"];
const STREAMS_MAX: u32 = 1_000;
/// Of `workloads/chat`.
const CHAT_PATH: &str = "/chat";

/// Which HTTP is spoken. Over TLS that and no other is agreed on (ALPN); without TLS the server must be known to speak it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Http {
    /// HTTP/1.1.
    One,
    /// HTTP/2.
    Two {
        /// Requests that a connection carries at once.
        streams: u32,
    },
}

/// A server's address, and what all connections to it have in common.
pub(crate) struct Endpoint {
    pub base: BaseUrl,
    /// At least one.
    pub addresses: Vec<SocketAddr>,
    tls: Option<Arc<Client>>,
    spoken: ProtocolState,
}

/// State shared by all connections of a protocol.
enum ProtocolState {
    /// What stands in every request.
    Http1(Arc<Fixed>),
    Http2(Arc<Server>),
    WebSocket(Arc<WebSocketTarget>),
    /// With the place of WebSocket, where they speak that.
    Chat(Arc<Rooms>, Option<Arc<WebSocketTarget>>),
}

impl Endpoint {
    /// Resolves the host's name; connects to nothing yet.
    ///
    /// # Errors
    /// A URL that cannot be used, or not by the scenario, an unknown host, or what is wrong with the certificates.
    pub fn new(
        base_url: &str,
        scenario: &Scenario,
        (tls, http): (&TlsOptions, Http),
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
            (_, is_chat) if http != Http::One && (is_chat || base.scheme.is_websocket()) => {
                return Err(wrong(
                    "only http:// and https:// are spoken over HTTP/2; leave --http out".to_owned(),
                ));
            }
            (None, false) if base.scheme.is_websocket() => {
                if let Some(mute) = scenario.operations.iter().find(|operation| operation.body.is_none()) {
                    let fix = "give it a body, which is the message, in a scenario file (--scenario)";
                    return Err(wrong(format!("operation {:?} says nothing: {fix}", mute.name)));
                }
                (HTTP1, ProtocolState::WebSocket(place(&base, "/")))
            }
            (None, false) => match http {
                Http::One if scenario.calls_grpc() => {
                    return Err(wrong(
                        "gRPC is spoken over HTTP/2; add --http 2 (in a study: http2_streams = 10)"
                            .to_owned(),
                    ));
                }
                Http::One => (HTTP1, ProtocolState::Http1(Fixed::new(&base.authority))),
                Http::Two { streams } => {
                    if !(1..=STREAMS_MAX).contains(&streams) {
                        let (value, fix) = (streams.to_string(), "use 1 to 1000".into());
                        return Err(LoadError::Setting { name: "streams", value, fix });
                    }
                    let (is_secure, authority) = (base.scheme.is_secure(), Arc::clone(&base.authority));
                    let streams = streams as usize;
                    (HTTP2, ProtocolState::Http2(Arc::new(Server { is_secure, authority, streams })))
                }
            },
            (Some(chat), true) => {
                let (users, text) = (chat.room_users, chat.text());
                let place = base.scheme.is_websocket().then(|| place(&base, CHAT_PATH));
                (&[][..], ProtocolState::Chat(Arc::new(Rooms { tag: tag(part), users, text }), place))
            }
            (None, true) => return Err(wrong("its scenario has no [chat]".to_owned())),
            (Some(_), false) => {
                return Err(wrong(
                    "its scenario has [chat], so it begins with chat://, chats://, chat+ws:// or chat+wss://"
                        .to_owned(),
                ));
            }
        };
        let tls = base.scheme.is_secure().then(|| Client::new(tls, &base.host, protocols).map(Arc::new));
        Ok(Endpoint { addresses, tls: tls.transpose()?, spoken, base })
    }

    /// A connection to it, closed, with its number.
    pub fn connection(&self, number: usize) -> Connection {
        let exchange: Box<dyn Exchange> = match &self.spoken {
            ProtocolState::Http1(fixed) => Box::new(Http1::new(Arc::clone(fixed))),
            ProtocolState::Http2(server) => Box::new(Http2::new(Arc::clone(server))),
            ProtocolState::WebSocket(place) => Box::new(WebSocket::new(Arc::clone(place), number)),
            ProtocolState::Chat(rooms, place) => {
                Box::new(Chat::new(Arc::clone(rooms), number, place.clone()))
            }
        };
        Connection::new(exchange, self.tls.clone())
    }

    /// How many requests a connection carries at once.
    pub fn streams(&self) -> usize {
        match &self.spoken {
            ProtocolState::Http1(_) | ProtocolState::WebSocket(_) => 1,
            ProtocolState::Http2(server) => server.streams,
            ProtocolState::Chat(..) => chat::STREAMS,
        }
    }

    /// What is said of connections before any was opened.
    pub fn nothing_spoken(&self) -> ProtocolCounters {
        let protocol = match &self.spoken {
            ProtocolState::Http1(_) => Protocol::Http1,
            ProtocolState::Http2(_) => Protocol::Http2,
            ProtocolState::WebSocket(_) => Protocol::WebSocket,
            ProtocolState::Chat(_, None) => Protocol::Chat,
            ProtocolState::Chat(_, Some(_)) => Protocol::ChatWebSocket,
        };
        ProtocolCounters::nothing(protocol, self.streams())
    }

    /// Whether what comes on a connection is the answer to its one request, and nothing else.
    pub fn is_only_answered(&self) -> bool {
        matches!(self.spoken, ProtocolState::Http1(_))
    }

    /// Whether messages may come that are the answer to no request.
    pub fn is_pushed_to(&self) -> bool {
        matches!(self.spoken, ProtocolState::WebSocket(_))
    }

    /// Users of each room, where each user has a connection of its own.
    pub fn room_users(&self) -> Option<usize> {
        match &self.spoken {
            ProtocolState::Http1(_) | ProtocolState::Http2(_) | ProtocolState::WebSocket(_) => None,
            ProtocolState::Chat(rooms, _) => Some(rooms.users),
        }
    }
}

/// Where a WebSocket is opened: what the URL says, or else `usual`.
fn place(base: &BaseUrl, usual: &str) -> Arc<WebSocketTarget> {
    let target = if base.prefix.is_empty() { usual } else { &base.prefix };
    Arc::new(WebSocketTarget { authority: Arc::clone(&base.authority), target: target.to_owned() })
}

/// Names of users begin with it: at most 17 characters, so that a name has at most 32.
fn tag(part: Part) -> String {
    format!("{:x}-{:04x}-{:x}", std::process::id(), monotonic_ns() >> 20 & 0xffff, part.number)
}
