//! What can be typed about injectors.

use assay_inject::InjectorAddress;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `assay inject`.
#[derive(Debug, Args)]
pub struct InjectArguments {
    /// Address and port to listen on. Other hosts can reach any address but loopback
    #[arg(long, default_value = "127.0.0.1:7447", value_name = "ADDRESS:PORT")]
    pub listen: String,
    /// File whose first line is the secret shared with the controller. Only you may have read access
    #[arg(long, value_name = "FILE")]
    pub token_file: PathBuf,
}

/// Load from injectors instead of from this process.
#[derive(Debug, Args)]
pub struct InjectorsArguments {
    /// Injectors that make the load together, each HOST:PORT, or HOST:PORT=URL for a URL of its own. See assay inject
    #[arg(long, value_delimiter = ',', requires = "token_file", value_name = "HOST:PORT,...")]
    pub injectors: Vec<InjectorAddress>,
    /// File whose first line is the secret of the injectors. Only you may have read access
    #[arg(long, requires = "injectors", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// If an injector is lost, repeat the window with the rest at the same load. The result shows it
    #[arg(long, requires = "injectors")]
    pub go_on_without: bool,
}
