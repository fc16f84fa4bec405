//! What can be typed about injectors.

use assay_inject::InjectorAddress;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `assay inject`.
#[derive(Debug, Args)]
pub struct InjectArguments {
    /// Address and port to listen on; other hosts can reach any address but loopback
    #[arg(long, default_value = "127.0.0.1:7447", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// File whose first line is the secret that the controller must know, too; only you may be able to read it
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
}

/// Load from injectors instead of from this process.
#[derive(Debug, Args)]
pub struct InjectorsArguments {
    /// Injectors that make the load together, each HOST:PORT, or HOST:PORT=URL for a URL of its own; see assay inject
    #[arg(long, value_delimiter = ',', requires = "token_file", value_name = "HOST:PORT,...")]
    pub injectors: Vec<InjectorAddress>,
    /// File whose first line is the secret of the injectors; only you may be able to read it
    #[arg(long, requires = "injectors", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// When an injector is lost, make the window again with the rest, at the same load; the result says so
    #[arg(long, requires = "injectors")]
    pub go_on_without: bool,
}
