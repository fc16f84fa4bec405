//! What can be typed. The doc comments here are the help texts.
#![expect(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "help texts name tables of files, `[rate]`, and placeholders, `<study>`"
)]

mod compare;
mod flags;
mod format;
mod gate_files;
mod gc;
mod heap;
#[cfg(target_os = "linux")]
mod linux;
mod number;
mod process_name;
mod reference;

pub use compare::CompareArguments;
pub use flags::{FlagsArguments, FlagsCondition};
pub use format::{ExtentArguments, Form, Format, FormatArguments};
pub use gate_files::GateFilesArguments;
pub use gc::{GcArguments, GcCommand, GcDiffArguments, GcReadArguments};
#[cfg(target_os = "linux")]
pub use heap::ModesArguments;
pub use heap::{HeapArguments, HeapCommand, LayoutArguments, PredictArguments};
#[cfg(target_os = "linux")]
pub use linux::*;
pub use process_name::ProcessName;
pub use reference::CompletionsArguments;
#[cfg(target_os = "linux")]
pub use reference::ReferenceArguments;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::sync::LazyLock;

static VERSION: LazyLock<String> = LazyLock::new(crate::version::long);

/// The laboratory for Java servers: where memory and time go, how much load a server sustains, which settings perform better.
///
/// Results go to standard output, diagnostics to standard error. Exit code 0: success. Exit code 1: a threshold that you set is exceeded,
/// or the result is not valid or empty. Exit code 2: wrong use or bad input. Exit code 3: the environment lacks something, or a condition
/// or comparison cannot be decided. Exit code 70: internal error. Exit code 130: stopped by Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "assay", version = VERSION.as_str(), max_term_width = 110, arg_required_else_help = true)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// Whether results are coloured.
    #[command(flatten)]
    pub color: colorchoice_clap::Color,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Those that start processes, load servers or look into a machine.
    #[cfg(target_os = "linux")]
    #[command(flatten)]
    Linux(LinuxCommand),
    /// Make the report of a stored result again: of a run directory, or of a file with a result as JSON
    ///
    /// Reads results of this version and of earlier ones.
    #[command(after_help = "EXAMPLES:\n  assay report runs/tuesday\n  \
        assay report runs/tuesday --format csv > tuesday.csv\n  \
        assay report kafka.json                      the page of assay memory 4242 --json > kafka.json\n  \
        assay report kafka.ndjson --format table     the last snapshot of assay memory 4242 --record kafka.ndjson")]
    Report(ReportArguments),
    /// Which figures of two runs differ beyond noise, and how their setups differ
    ///
    /// Compares variants of the same name: every metric with the interval of its ratio, then machine, JVMs, options and settings. The runs
    /// were not measured side by side. Comparisons within one study are more certain.
    #[command(after_help = "EXAMPLES:\n  assay compare runs/monday runs/tuesday\n  \
        assay compare runs/monday runs/tuesday --html changes.html")]
    Compare(CompareArguments),
    /// Analyse GC logs: pauses, throughput, live set, costs in time and memory, and what to change
    ///
    /// Reads logs of every collector, of JDK 6 to 28 and of OpenJ9: files, rotated sets in chronological order, folders, gzip, zip, pipes.
    /// Lines that are not recognized are counted and quoted.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "EXAMPLES:\n  assay gc gc.log                              the verdict, findings, tables \
            of pauses\n  assay gc gc.log gc.log.*                     a rotated set, in any order of its \
            names\n  assay gc /var/log/shop --html shop.html      a folder, as a page with a timeline\n  \
            kubectl logs shop | assay gc -               a pipe\n  assay gc gc.log --requests \
            1200000           with garbage per request\n  assay gc gc.log --fail-if 'pause_p99_ms > 200' \
            --fail-if 'full_collections > 0'\n  assay gc gc.log --follow --openmetrics 9400  a log that is \
            still written\n  assay gc diff before.log after.log           differences beyond noise"
    )]
    Gc(Box<GcArguments>),
    /// Size of a heap in other reference modes (compressed oops), and the mode that a heap size gets
    Heap(HeapArguments),
    /// How JVM releases treat options: removed, out of range, deprecated, locked, overridden, without effect, already the default
    ///
    /// Starts the installed JVMs with the options. Options that would run commands, load code, open files or ports, or take much memory are
    /// not tried. For these, and for other releases, it uses tables made from real JVMs. Options that neither covers are not judged.
    #[command(
        after_help = "EXAMPLES:\n  assay flags 4242                                    options of a running JVM\n  \
        assay flags 4242 --for 21,25                        before it moves to another release\n  \
        assay flags '-XX:+UseConcMarkSweepGC -Xmx4g'        in every known release\n  \
        assay flags config/jvm.options --for 17,21          a file, a Dockerfile, or a whole command in quotes\n  \
        assay flags config/jvm.options --for 21 --fail-if fails"
    )]
    Flags(FlagsArguments),
    /// Completions for a shell: commands, options, running JVMs, studies, scenarios and metrics
    ///
    /// The script calls the program for each completion. Generate it again after an update.
    #[command(
        after_help = "EXAMPLES:\n  assay completions bash > ~/.local/share/bash-completion/completions/assay\n  \
        assay completions zsh > ~/.zfunc/_assay      with fpath+=~/.zfunc before compinit\n  \
        assay completions fish > ~/.config/fish/completions/assay.fish"
    )]
    Completions(CompletionsArguments),
}

/// Arguments of `assay report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run directory, the folder of assay capacity --out, or a file with the JSON of another result
    pub run: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Output file, or `-` for standard output [default: a page goes next to the run or file, other formats are printed]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// How much of it.
    #[command(flatten)]
    pub extent: ExtentArguments,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One file that opens offline in a browser
    Html,
    /// Markdown
    Md,
    /// Raw numbers, a row for each figure or entry
    Csv,
    /// The stored form, in the newest version of its format
    Json,
    /// Text for a terminal
    Table,
    /// Raw numbers, one JSON object per line
    Ndjson,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds_together() {
        Arguments::command().debug_assert();
    }
}
