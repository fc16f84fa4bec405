//! What can be typed after `assay memory`.

use super::FormatArguments;
use super::process_name::{ProcessName, parse_process};
use assay_model::DeadMemory;
use assay_report::Extent;
use assay_text::{duration, size};
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay memory`.
#[derive(Debug, Args)]
pub struct MemoryArguments {
    /// A command in place of the snapshot.
    #[command(subcommand)]
    pub command: Option<MemoryCommand>,
    /// A snapshot, or looks, at a process.
    #[command(flatten)]
    pub snapshot: SnapshotArguments,
}

/// Commands in place of the snapshot.
#[derive(Debug, Subcommand)]
pub enum MemoryCommand {
    /// Changes between two snapshots, by cause
    #[command(
        after_help = "EXAMPLES:\n  assay memory 4242 --json > monday.json\n  assay memory diff monday.json tuesday.json\n  \
        assay memory diff kafka.ndjson kafka.ndjson      first and last snapshot of a record\n  \
        assay memory diff kafka.ndjson@3 kafka.ndjson@9  its third and its ninth snapshot"
    )]
    Diff(DiffArguments),
    /// The container limit that a process needs, with its arithmetic, and settings that lower it
    #[command(
        after_help = "EXAMPLES:\n  assay memory advise 4242\n  assay memory advise 4242 --watch-for 10m   to catch peaks"
    )]
    Advise(AdviseArguments),
}

/// Arguments of a snapshot of a process.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("series").args(["watch", "record"]).multiple(true),
    group = ArgGroup::new("timed").args(["watch", "record", "page_out"]).multiple(true),
    group = ArgGroup::new("acting").args(["trim", "page_out"]),
)]
pub struct SnapshotArguments {
    /// Process: its number, or a part of its program's name. Or a report of another tool: a file of /proc/PID/smaps, pmap -X, or
    /// jcmd PID VM.native_memory [default: lists the running JVMs]
    #[arg(value_name = "PID|NAME|FILE", value_parser = parse_process, allow_negative_numbers = true)]
    pub pid: Option<ProcessName>,
    /// Output format. The JSON of --watch has one line per snapshot, whose `depth` is quick or full.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Stop the process while it is copied, for exact sums. It continues after DURATION at the latest
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = "2s",
          value_parser = duration::parse_positive, requires = "pid")]
    pub freeze: Option<Duration>,
    /// How deep a snapshot goes
    #[arg(long, value_enum, default_value_t = DepthName::Auto, requires = "pid")]
    pub depth: DepthName,
    /// Show areas over time until Ctrl-C, with a quick snapshot every INTERVAL and a full one every 30 s
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, require_equals = true, default_missing_value = "2s",
          value_parser = duration::parse_positive, requires = "pid")]
    pub watch: Option<Duration>,
    /// Write full snapshots to FILE, for `assay memory diff` and for --html. %p in its name becomes the PID
    #[arg(long, value_name = "FILE", requires = "pid", conflicts_with_all = ["format", "json"])]
    pub record: Option<PathBuf>,
    /// How long to watch or record, or to watch returning pages after --page-out [default: until Ctrl-C or the end of the process, 1m for
    /// --page-out]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse_positive, requires = "timed")]
    pub duration: Option<Duration>,
    /// Time between recorded snapshots
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive, default_value = "10s", requires = "record")]
    pub every: Duration,
    /// Maximum size of the record: a full one is thinned evenly, and keeps its first and its latest snapshot
    #[arg(long, value_name = "BYTES", value_parser = size::parse, default_value = "64m", requires = "record")]
    pub record_max_bytes: u64,
    /// Ask the JVM to return freed memory, and compare the result with the prediction
    #[arg(long, requires = "pid", conflicts_with_all = ["series", "freeze", "html", "depth", "entries"])]
    pub trim: bool,
    /// With --trim: call malloc_trim(0), or the function of jemalloc or tcmalloc, in the stopped main thread. For JVMs without the command, and
    /// for other programs
    #[arg(long, requires = "trim")]
    pub in_thread: bool,
    /// Write whole pages of dead memory to swap, compare the result with the prediction, and show the bytes that return. Contents are kept.
    /// Several KINDS are separated by commas
    #[arg(long, value_name = "KINDS", value_enum, value_delimiter = ',', requires = "pid",
          conflicts_with_all = ["series", "freeze", "html", "depth", "entries", "jcmd", "live", "ranges"])]
    pub page_out: Vec<DeadMemoryName>,
    /// With --page-out: predict only, and leave the process as it is
    #[arg(long, requires = "page_out")]
    pub dry_run: bool,
    /// Do not ask before acting on another user's process, calling a function in a process, or writing to swap on a disk
    #[arg(long, requires = "acting")]
    pub yes: bool,
    /// Ask the JVM (22 and later, with native memory tracking) to name otherwise unknown memory. The JVM starts a thread for that, which
    /// stays
    #[arg(long, requires = "pid", conflicts_with_all = ["series", "trim"])]
    pub jcmd: bool,
    /// Mark the live objects of the Java heap from outside, however many, to find holders and garbage. --record implies it
    #[arg(long, requires = "pid", conflicts_with = "trim")]
    pub live: bool,
    /// Add to the JSON where each entry lies, as address ranges: for tools that know addresses, such as perf, heaptrack and gdb
    #[arg(long, requires = "pid", conflicts_with_all = ["series", "trim"])]
    pub ranges: bool,
    /// Write a page with a tree map to FILE, and areas over time if snapshots were recorded
    #[arg(long, value_name = "FILE", requires = "pid")]
    pub html: Option<PathBuf>,
    /// Print every part, and the N biggest entries or all of them
    #[arg(long = "entries", alias = "leaves", value_name = "N|all", value_parser = parse_entries, conflicts_with = "all")]
    pub entries: Option<Extent>,
}

/// Arguments of `assay memory diff`.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// The earlier snapshot: a file of --json, or of --record (its first snapshot, or the N-th as FILE@N)
    pub before: String,
    /// The later snapshot: a file of --json, or of --record (its last snapshot, or the N-th as FILE@N)
    pub after: String,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page to FILE, with areas over time if the snapshots are of one record
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print every part, and the N biggest causes or all of them
    #[arg(long = "entries", alias = "leaves", value_name = "N|all", value_parser = parse_entries, conflicts_with = "all")]
    pub entries: Option<Extent>,
}

/// Arguments of `assay memory advise`.
#[derive(Debug, Args)]
pub struct AdviseArguments {
    /// The process: its number, or a part of its program's name
    #[arg(value_name = "PID|NAME", value_parser = parse_process, allow_negative_numbers = true)]
    pub pid: ProcessName,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Take several snapshots over this time, to catch peaks
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive)]
    pub watch_for: Option<Duration>,
}

impl SnapshotArguments {
    /// The same, with the process in the name of its record. A sidecar that records each next process of a name keeps the earlier records.
    pub fn of_process(self, pid: u32) -> Self {
        let named = |path: PathBuf| match path.to_str() {
            Some(name) => PathBuf::from(name.replace("%p", &pid.to_string())),
            None => path,
        };
        SnapshotArguments { record: self.record.map(named), ..self }
    }
}

/// Memory whose contents nobody reads again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DeadMemoryName {
    /// Freed blocks that malloc keeps: glibc, jemalloc, tcmalloc
    Freed,
    /// Stacks of waiting threads, below the stack pointer
    StaleStacks,
    /// The Java heap's free regions, and its spaces above their last object: all collectors but ZGC
    FreeHeap,
}

impl DeadMemoryName {
    /// As results name it.
    pub fn memory(self) -> DeadMemory {
        match self {
            DeadMemoryName::Freed => DeadMemory::Freed,
            DeadMemoryName::StaleStacks => DeadMemory::StaleStacks,
            DeadMemoryName::FreeHeap => DeadMemory::FreeHeap,
        }
    }
}

/// How deep a snapshot goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DepthName {
    /// Owners if that reads at most 3 GiB of Java objects (2 to 3 s of CPU time), otherwise structures. The output shows which
    Auto,
    /// Search the whole Java heap for the owner of each malloc block: 0.4 to 0.7 s of CPU time per resident GiB
    Owners,
    /// Mappings and structures only: below 0.1 s per resident GiB, but malloc blocks in use are not split by owner
    Structures,
}

/// `all`, or a number of entries.
fn parse_entries(text: &str) -> Result<Extent, String> {
    if text == "all" {
        return Ok(Extent::All);
    }
    let entries = text.parse().map_err(|_| "neither a number nor `all`".to_owned())?;
    Ok(Extent::Biggest(entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command, LinuxCommand};
    use clap::Parser;

    fn snapshot(line: &str) -> Result<SnapshotArguments, String> {
        match Arguments::try_parse_from(line.split(' ')).map_err(|e| e.to_string())?.command {
            Command::Linux(LinuxCommand::Memory(MemoryArguments { command: None, snapshot })) => Ok(snapshot),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_pid_stands_beside_the_commands() {
        assert_eq!(snapshot("assay memory 4242").map(|l| l.pid), Ok(Some(ProcessName::Pid(4242))));
        assert_eq!(snapshot("assay memory").map(|l| l.pid), Ok(None));
        assert!(snapshot("assay memory 0").is_err());
        assert_eq!(
            snapshot("assay memory kafka").map(|l| l.pid),
            Ok(Some(ProcessName::Program("kafka".to_owned())))
        );
        let diff = Arguments::try_parse_from(["assay", "memory", "diff", "a", "b@3"]).expect("a diff");
        assert!(matches!(
            diff.command,
            Command::Linux(LinuxCommand::Memory(MemoryArguments { command: Some(_), .. }))
        ));
        assert!(Arguments::try_parse_from(["assay", "memory", "4242", "advise", "4242"]).is_err());
    }

    #[test]
    fn durations_may_be_left_out_and_then_have_their_default() {
        let freeze = |line| snapshot(line).expect("a snapshot").freeze;
        assert_eq!(freeze("assay memory 1 --freeze"), Some(Duration::from_secs(2)));
        assert_eq!(freeze("assay memory 1 --freeze=500ms"), Some(Duration::from_millis(500)));
        assert_eq!(freeze("assay memory 1"), None);
        assert_eq!(
            snapshot("assay memory --watch 7").map(|l| (l.pid, l.watch)),
            Ok((Some(ProcessName::Pid(7)), Some(Duration::from_secs(2))))
        );
    }

    #[test]
    fn what_makes_no_sense_alone_says_what_it_needs() {
        for wrong in [
            "assay memory --watch",
            "assay memory 7 --for 1m",
            "assay memory 7 --every 1s",
            "assay memory 7 --trim --watch",
            "assay memory 7 --trim --depth owners",
            "assay memory 7 --trim --entries all",
            "assay memory 7 --ranges --watch",
            "assay memory --ranges",
            "assay memory 7 --record f --json",
            "assay memory 7 --entries few",
            "assay memory 7 --dry-run",
            "assay memory 7 --in-thread",
            "assay memory 7 --yes",
            "assay memory 7 --page-out heap",
            "assay memory 7 --page-out freed --trim",
            "assay memory 7 --page-out freed --watch",
            "assay memory --page-out freed",
        ] {
            assert!(snapshot(wrong).is_err(), "{wrong}");
        }
        assert!(snapshot("assay memory 7 --trim --json --yes").is_ok());
        let out =
            snapshot("assay memory 7 --page-out freed,free-heap --dry-run --for 5s").expect("a snapshot");
        assert_eq!(out.page_out, [DeadMemoryName::Freed, DeadMemoryName::FreeHeap]);
        assert!(snapshot("assay memory 7 --record f --for 1m --every 5s --watch --html p.html").is_ok());
    }

    #[test]
    fn a_record_may_be_named_after_the_process() {
        let of = |line| snapshot(line).expect("a snapshot").of_process(42).record;
        assert_eq!(of("assay memory 42 --record /data/shop-%p.ndjson"), Some("/data/shop-42.ndjson".into()));
        assert_eq!(of("assay memory 42 --record shop.ndjson"), Some("shop.ndjson".into()));
        assert_eq!(of("assay memory 42"), None);
    }

    #[test]
    fn sizes_are_1024_based_and_bounded() {
        assert_eq!(size::parse("64m"), Ok(64 << 20));
        assert_eq!(size::parse("1000"), Ok(1000));
        for bad in ["", "m", "-1", "99999999999999999999", "18446744073709551615k"] {
            assert!(size::parse(bad).is_err(), "{bad}");
        }
    }
}
