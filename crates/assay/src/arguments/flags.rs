//! What can be typed after `assay flags`.

use clap::Args;

/// Arguments of `assay flags`.
#[derive(Debug, Args)]
pub struct FlagsArguments {
    /// A running JVM, or options as one word: '-Xmx4g -XX:+UseZGC'
    #[arg(value_name = "PID|OPTIONS", allow_hyphen_values = true)]
    pub what: String,
    /// Releases to ask, such as 21,25 [default: that of the JVM; for options every release that is known]
    #[arg(long = "for", value_name = "RELEASES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(8..=99))]
    pub releases: Vec<u32>,
    /// Print the stored form as JSON
    #[arg(long)]
    pub json: bool,
}
