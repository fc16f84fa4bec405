//! What can be typed after `assay heap`.

use super::FormatArguments;
use super::number::parse_release;
use super::process_name::{ProcessName, parse_process};
use assay_text::{duration, size};
use clap::{ArgGroup, Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay heap`.
#[derive(Debug, Args)]
pub struct HeapArguments {
    /// The question.
    #[command(subcommand)]
    pub command: HeapCommand,
}

/// Questions about heaps.
#[derive(Debug, Subcommand)]
pub enum HeapCommand {
    /// Size of a heap in every object layout: the present one, and those of other reference modes (compressed oops)
    #[command(
        after_help = "EXAMPLES:\n  assay heap predict kafka.hprof\n  assay heap predict kafka.hprof.gz --html kafka.html\n  \
        ssh host cat kafka.hprof | assay heap predict -\n  assay heap predict --pid 4242 --freeze=10s\n  \
        assay heap predict kafka.hprof --jdk 25 --gc-log gc.log"
    )]
    Predict(PredictArguments),
    /// Offset, size and type of every field of a class in every reference mode
    #[command(after_help = "EXAMPLES:\n  assay heap layout 'java.util.HashMap$Node' --dump kafka.hprof\n  \
        assay heap layout com.example.Order --classpath target/classes")]
    Layout(LayoutArguments),
    #[cfg(target_os = "linux")]
    /// Which reference mode (unscaled, zero-based, 64-bit) each heap size gets on this host, and the thresholds between modes
    #[command(
        after_help = "EXAMPLES:\n  assay heap modes\n  assay heap modes --java /opt/jdk-25 --verify\n  \
        assay heap modes --want 40g --dump kafka.hprof\n  assay heap modes --pid 4242 --log gc.log"
    )]
    Modes(ModesArguments),
}

/// Arguments of `assay heap predict`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("heap").args(["dump", "pid"]).required(true))]
pub struct PredictArguments {
    /// Heap dump (HPROF), plain or gzip, or - for standard input
    pub dump: Option<PathBuf>,
    /// Walk the heap of a running JVM instead, by its number or a part of its program's name. This stops the JVM
    #[arg(long, value_name = "PID|NAME", value_parser = parse_process, allow_negative_numbers = true)]
    pub pid: Option<ProcessName>,
    /// Longest time that the process may be stopped
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive, default_value = "10s", conflicts_with = "dump")]
    pub freeze: Duration,
    /// Release whose layout rules hold [default: that of the heap]
    #[arg(long, value_name = "N", value_parser = parse_release)]
    pub jdk: Option<u32>,
    /// A GC log of the same server, to predict its garbage in each layout
    #[arg(long, value_name = "LOG")]
    pub gc_log: Option<PathBuf>,
    /// Classes to list
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub top: usize,
    /// Class whose layout the page shows [default: the one that changes most]
    #[arg(long, value_name = "CLASS")]
    pub class: Option<String>,
    /// The same as --format csv: one line for each class and layout
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub csv: bool,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page with pictures to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of `assay heap layout`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("where").args(["dump", "classpath"]).required(true))]
pub struct LayoutArguments {
    /// The class, as Java spells it: java.util.HashMap$Node
    pub class: String,
    /// A heap dump with the class
    #[arg(long, value_name = "DUMP")]
    pub dump: Option<PathBuf>,
    /// Folders, jars or the home of a JDK with the class and its superclasses, separated by colons
    #[arg(long, value_name = "PATHS")]
    pub classpath: Option<std::ffi::OsString>,
    /// Release whose layout rules hold [default: that of the dump, or of the JDK in the class path, else 25]
    #[arg(long, value_name = "N", value_parser = parse_release)]
    pub jdk: Option<u32>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page with pictures to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Below this a size is a slip.
const HEAP_BYTES_MIN: u64 = 1 << 20;

/// A heap of no bytes is a slip: to a JVM `-Xmx0` means its default.
fn parse_heap_bytes(text: &str) -> Result<u64, String> {
    match size::parse(text)? {
        0 => Err("a heap has more than 0 bytes".to_owned()),
        // No JVM starts with so little; `1,5g` would be two sizes.
        1..HEAP_BYTES_MIN => {
            Err("a heap takes at least 1 MiB; part of a unit is written in the smaller one, like 1536m"
                .to_owned())
        }
        bytes => Ok(bytes),
    }
}

/// Arguments of `assay heap modes`.
#[derive(Debug, Args)]
pub struct ModesArguments {
    /// A JVM: its release, its home or its java. Repeatable [default: all that are found]
    #[arg(long, value_name = "JAVA")]
    pub java: Vec<PathBuf>,
    /// Heap sizes [default: both sides of every threshold]
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = parse_heap_bytes)]
    pub max_heap: Vec<u64>,
    /// Further options of the JVMs, separated by blanks: "-XX:ObjectAlignmentInBytes=16"
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    pub options: Option<String>,
    /// Start each JVM once per cell, and compare its mode with the computed one
    #[arg(long)]
    pub verify: bool,
    /// Advice for a heap of this size
    #[arg(long, value_name = "SIZE", value_parser = parse_heap_bytes)]
    pub want: Option<u64>,
    /// A heap dump of the server, so that the advice rests on its objects
    #[arg(long, value_name = "DUMP", requires = "want")]
    pub dump: Option<PathBuf>,
    /// Mode of a running JVM, by its number or a part of its program's name. Repeatable
    #[arg(long, value_name = "PID|NAME", value_parser = parse_process, allow_negative_numbers = true)]
    pub pid: Vec<ProcessName>,
    /// Mode of the JVM that wrote a GC log. Repeatable
    #[arg(long, value_name = "LOG")]
    pub log: Vec<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page with address maps to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
