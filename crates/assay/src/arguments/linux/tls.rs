//! What can be typed about TLS.

use clap::Args;
use std::path::PathBuf;

/// How TLS is spoken with a URL that begins with https://.
#[derive(Debug, Args)]
pub struct TlsArguments {
    /// Trust the certificates in this file (PEM) instead of the system's
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
    /// Certificate (PEM, with its chain) for a server that wants one of its clients
    #[arg(long, value_name = "FILE", requires = "client_key")]
    pub client_cert: Option<PathBuf>,
    /// Private key of --client-cert (PEM). Injectors get it over their encrypted connection
    #[arg(long, value_name = "FILE", requires = "client_cert")]
    pub client_key: Option<PathBuf>,
    /// The name that the server's certificate must hold, sent to it (SNI) [default: the host of the URL]
    #[arg(long, value_name = "NAME")]
    pub server_name: Option<String>,
    /// Accept any server certificate. Third parties could read and change the traffic
    #[arg(short = 'k', long, conflicts_with = "trust")]
    pub insecure: bool,
    /// Make every handshake whole instead of resuming sessions of earlier connections
    #[arg(long)]
    pub no_resumption: bool,
}
