//! What can be typed about HTTP.

use assay_load::Http;
use clap::{Args, ValueEnum};

/// Streams of a connection where nothing else is asked for.
const STREAMS: u32 = 10;

/// Which HTTP is spoken.
#[derive(Debug, Args)]
pub struct HttpArguments {
    /// HTTP version. Over https:// it is negotiated (ALPN) and required. Over http:// the server must support it without negotiation
    #[arg(long, value_enum, default_value_t = Version::One)]
    http: Version,
    /// Requests that a connection carries at once, with --http 2 [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    streams: Option<u32>,
}

/// Versions of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Version {
    /// HTTP/1.1
    #[value(name = "1.1")]
    One,
    /// HTTP/2
    #[value(name = "2")]
    Two,
}

impl HttpArguments {
    /// The version that was typed, or none if streams are requested, which HTTP/1.1 does not have.
    pub fn http(&self) -> Option<Http> {
        match (self.http, self.streams) {
            (Version::One, None) => Some(Http::One),
            (Version::One, Some(_)) => None,
            (Version::Two, streams) => Some(Http::Two { streams: streams.unwrap_or(STREAMS) }),
        }
    }
}
