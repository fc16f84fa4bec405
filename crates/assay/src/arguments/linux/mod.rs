//! What can be typed after commands that exist on Linux alone.
#![expect(
    rustdoc::broken_intra_doc_links,
    rustdoc::invalid_html_tags,
    reason = "help texts name tables of files, `[rate]`, and placeholders, `<study>`"
)]

mod ab;
mod bisect;
mod budget;
mod capacity;
mod fit;
mod host;
mod http;
mod inject;
mod judge;
mod key_value;
mod load;
mod memory;
mod merge;
mod on;
mod pair;
mod request;
mod setup;
mod studies;
mod time;
mod tls;
mod why;

pub use ab::AbArguments;
pub use bisect::BisectArguments;
pub use budget::BudgetArguments;
pub use capacity::{AtLeast, CapacityArguments, MethodName};
pub use fit::{FitArguments, FitOnly};
pub use host::{HostArguments, HostCommand, HostDiffArguments, Severity};
pub use http::HttpArguments;
pub use inject::{InjectArguments, InjectorsArguments};
pub use judge::JudgeArguments;
pub use load::{Arrivals, LoadArguments, RecordingArguments};
pub use memory::{
    AdviseArguments, DepthName, DiffArguments, MemoryArguments, MemoryCommand, SnapshotArguments,
};
pub use merge::MergeArguments;
pub use on::OnArguments;
pub use pair::PairArguments;
pub use request::RequestArguments;
pub use setup::SetupArguments;
pub use studies::{FileKind, StudiesArguments};
pub use time::{TimeAccountArguments, TimeArguments, TimeCommand, TimeDiffArguments};
pub use tls::TlsArguments;
pub use why::WhyArguments;

use super::{FormatArguments, GateFilesArguments, ReferenceArguments, number, process_name};
use assay_results::Gate;
use assay_study::Blocks;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Commands that start processes, load servers or look into a machine.
#[derive(Debug, Subcommand)]
pub enum LinuxCommand {
    /// Run the first study in its short form, and make its report
    ///
    /// Puts the brokerage server under load with 32-bit, compressed and full 64-bit references
    /// (studies/compressed-references.toml) and takes at most six minutes once everything is built.
    Demo(DemoArguments),
    /// Run a study and make its report
    #[command(after_help = "EXAMPLES:\n  assay run studies/compressed-references.toml --quick\n  \
        assay run my-server.toml --out runs/tuesday\n  assay run my-server.toml --out runs/tuesday --resume")]
    Run(Box<RunArguments>),
    /// Ready-made studies and scenarios: list them, or print one
    ///
    /// They are part of the program. A study that names a workload needs its server, which `assay setup` builds.
    #[command(after_help = "EXAMPLES:\n  assay studies                              what there is\n  \
        assay studies own-server > my-server.toml  a study to start from\n  \
        assay studies --schema study > study.schema.json   next to it: editors complete its keys\n  \
        assay run compressed-references --plan     what a study would run\n  \
        assay load http://127.0.0.1:8080/ --users 8 --scenario supermarket-small")]
    Studies(StudiesArguments),
    /// Make what ready-made studies need: servers, probes, other JVMs
    ///
    /// Fetches missing sources of Assay into assay/VERSION in $XDG_DATA_HOME or ~/.local/share, and builds there. This takes git, Maven, a
    /// JDK, a C compiler and some minutes. Studies find the builds there.
    #[command(
        after_help = "EXAMPLES:\n  assay setup                                  the sources of this release\n  \
        assay setup --from ~/src/assay               a clone of a clone"
    )]
    Setup(SetupArguments),
    /// Join the parts of a run that several machines made
    ///
    /// A study consists of blocks, and any machine can run one: assay run --blocks. This command joins their run directories. It first
    /// proves that plan, program and JVMs were the same and that each block is there once. The result shows whether the answer depends on
    /// the host.
    #[command(after_help = "EXAMPLES:\n  assay run shop.toml --blocks 1-4 --out part1    on one machine\n  \
        assay run shop.toml --blocks 5-8 --out part2    on another\n  \
        assay merge part1 part2 --out runs/shop")]
    Merge(MergeArguments),
    /// Is the new build of a server slower? Two commands side by side, without a study file
    ///
    /// Runs both at the same time, each with its load generator on its own half of the processors. It starts new pairs until every figure
    /// is decided or the time is over. It reports allocation, CPU time, memory and response time, each with its interval and the smallest
    /// detectable change. If time permits, it first counts instructions in emulated guests. Write {port} where a command takes the server's
    /// port. Nothing else has to be prepared.
    #[command(
        after_help = "EXAMPLES:\n  assay ab --before 'java -jar old.jar --server.port={port}' --after 'java -jar new.jar --server.port={port}'\n  \
        assay ab --before 'java -jar app.jar {port}' --after 'java -XX:+UseZGC -jar app.jar {port}' --rate 200 --url-path /orders\n  \
        assay ab --before './start {port}' --before-dir ../main --after './start {port}' --scenario shop.toml --limit +3% --summary ab.md"
    )]
    Ab(Box<AbArguments>),
    /// Which commit made a server slower: a bisection that noise does not fool
    ///
    /// Builds commits in clean copies and compares each with the good one under a study's load. Each comparison updates the probability
    /// that a commit is the first slow one. The next comparison is the most informative one. It ends when one answer reaches 95 %: a
    /// commit, a range whose other commits cannot be measured, or no change. Exit code 3 if the time ends first.
    #[command(
        after_help = "EXAMPLES:\n  assay bisect v2.3 main shop.toml --build 'mvn --quiet --offline package'\n  \
        assay bisect v2.3 main shop.toml --least 5 --budget 3h --html bisect.html\n  \
        assay bisect v2.3 main shop.toml --plan"
    )]
    Bisect(BisectArguments),
    /// Effect of a set of JVM flags on a server: as a whole, by group, and flag by flag
    ///
    /// First lists the flags that are the default already, removed, or without effect in this release. They need no trial. Then compares
    /// the server with and without all flags, in pairs that run at the same time, as `assay ab` does. Then it leaves out each group, and
    /// then each flag. "No effect shown" is an answer, and the smallest detectable change is stated.
    #[command(
        after_help = "EXAMPLES:\n  assay judge '-XX:+UseZGC -Xmx2g' --command 'java -jar shop.jar --server.port={port}'\n  \
        assay judge '-XX:MaxRAMPercentage=75' --command 'java -jar shop.jar {port}' --rate 200 --url-path /orders --budget 15m\n  \
        assay judge \"$JAVA_OPTS\" my-server.toml --budget 2h --html flags.html\n  \
        assay judge \"$JAVA_OPTS\" my-server.toml --plan"
    )]
    Judge(Box<JudgeArguments>),
    /// The smallest memory limit, then the smallest CPU limit, at which a server keeps its response times: tried, and proved
    ///
    /// Runs the server in control groups, first without limits and then in several sizes. Each size gets a fresh process, whose -Xmx is the
    /// limit less everything else. The answer has the limit, the first failure below it, a block to paste into a deployment, and the
    /// settings of common formulas. With --size: the smallest value of a numeric option within 3 % of the best.
    #[command(
        after_help = "EXAMPLES:\n  assay fit --command 'java -jar shop.jar --server.port={port}' --rate 500 --limit p99=50ms\n  \
        assay fit my-server.toml --limit p99=50ms --limit p50=5ms --budget 1h --html fit.html\n  \
        assay fit --workload kiosk --rate 200 --limit p99=50ms --format md\n  \
        assay fit --command 'java -jar shop.jar {port} --threads={size}' --rate 500 --size '{size}' --between 1..64 --budget 1h"
    )]
    Fit(Box<FitArguments>),
    /// Put a URL under load
    #[command(
        after_help = "EXAMPLES:\n  assay load http://127.0.0.1:8080/ --rate 200 --duration 30s --connections 10\n  \
        assay load http://127.0.0.1:8080/ --users 8 --duration 30s --scenario shop.toml --json\n  \
        assay load http://127.0.0.1:8080/orders -c 10 -r 200 -z 30s -H 'X-Shop: a' --json-body '{\"item\": 4}'\n  \
        assay load http://127.0.0.1:8080/ --rate 200 --scenario shop.toml --fail-if 'p99_ms{operation=buy} > 200'\n  \
        assay load http://shop:8080/ --rate 20000 --connections 200 --injectors a:7447,b:7447 --token-file token"
    )]
    Load(Box<LoadArguments>),
    /// Make load for a controller elsewhere: assay load --injectors
    ///
    /// Listens until Ctrl-C and serves one controller at a time. A load ends when its controller disconnects. Both prove that they know the
    /// token, which is never sent. Their connection is encrypted.
    #[command(
        after_help = "EXAMPLES:\n  (umask 077; head -c 24 /dev/urandom | base64 > token)   copy it to all hosts\n  \
        assay inject --token-file token --listen 10.0.0.7:7447\n  \
        assay load http://shop:8080/ --rate 20000 --connections 200 --injectors 10.0.0.7:7447,10.0.0.8:7447 --token-file token"
    )]
    Inject(InjectArguments),
    /// Highest request rate that a server sustains within response-time limits
    ///
    /// Loads a URL in windows of Poisson arrivals at the most informative rates. It ends when the highest rate within each limit is known
    /// with its 95 % interval. It reports why requests were late, and whether the result is valid.
    #[command(after_help = "EXAMPLES:\n  assay capacity http://127.0.0.1:8080/\n  \
        assay capacity http://127.0.0.1:8080 --scenario shop.toml --limits 20,100 --limited buy\n  \
        assay capacity http://127.0.0.1:8080/ --pid 4242 --gc-log gc.log --at-least 500@25 --json\n  \
        assay capacity --workload supermarket --java 25 --heap 2g --jvm-option=-XX:+UseZGC")]
    Capacity(Box<CapacityArguments>),
    /// Diagnose a JVM: its most expensive problem and the first safe step, from memory, CPU time, GC log and machine
    ///
    /// Combines `memory`, `time`, `gc` and `host`. Findings are ranked by their share of the memory limit, the CPU time, and the time in
    /// which the application was stopped. If one of the four cannot answer, the reason is shown.
    #[command(after_help = "EXAMPLES:\n  assay why 4242                               a running JVM\n  \
        assay why 4242 --html why.html               the same as a page\n  \
        assay why gc.log                             a log of a JVM that has ended\n  \
        assay why kafka.ndjson                       a record of assay memory 4242 --record kafka.ndjson")]
    Why(WhyArguments),
    /// RSS breakdown of a running JVM, by cause, or a list of the running JVMs
    ///
    /// Works from outside: no flag, agent, restart or stop of the process is needed. The parts add up to the kernel's RSS.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "EXAMPLES:\n  assay memory                                 the JVMs that run here\n  \
            assay memory 4242                            the tree, with reclaimable memory\n  assay memory \
            4242 --html kafka.html          the same as a page with a tree map\n  assay memory 4242 \
            --watch                    areas over time, until Ctrl-C\n  assay memory 4242 --record \
            kafka.ndjson --for 1h --every 30s\n  assay memory diff kafka.ndjson kafka.ndjson  growth from \
            its first to its last snapshot\n  assay memory advise 4242                     the container \
            limit that it needs\n  assay memory smaps.txt                       a file of /proc/PID/smaps, pmap -X or jcmd PID \
            VM.native_memory\n\nProcesses of other users need root or CAP_SYS_PTRACE."
    )]
    Memory(MemoryArguments),
    /// CPU time of a process by the role of its threads, user and kernel
    ///
    /// Works from outside: no flag, agent, restart or stop of the process is needed. The parts add up to the kernel's own total for the
    /// process. Roles come from the JVM's own list of threads. They are unknown for other processes.
    #[command(after_help = "EXAMPLES:\n  assay time 4242 --for 30s\n  assay time 4242 --for 60s \
        --requests-per-second 500   CPU time per request, by role\n  assay time 4242 \
        --watch                               every two seconds, until Ctrl-C\n  assay time 4242 --for 30s \
        --html time.html\n  assay time 4242 --for 60s --jfr --html time.html      Java methods and \
        allocation, by the flight recorder\n\nRoles of other users' processes need root or CAP_SYS_PTRACE. \
        Everything else works without.")]
    Time(TimeArguments),
    /// Check the machine and the JVMs on it: settings that cost memory, time or connections
    ///
    /// Reads kernel files and the flags of running JVMs. Changes nothing, and needs root only for JVMs of other users. Settings that cannot
    /// be read are unknown, never good.
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "EXAMPLES:\n  assay host                                   broken rules, and unknown ones\n  \
        assay host --all                             every rule\n  \
        assay host --fail-on error                   exit code 1 if a rule of this severity is broken: for scripts\n  \
        assay host --snapshot monday.json            what was read, to be judged or compared elsewhere\n  \
        assay host monday.json                       judge that snapshot\n  \
        assay host diff monday.json tuesday.json     what differs between two machines, or before and after"
    )]
    Host(HostArguments),
    /// Pages of docs/reference that come from the program, and its man pages
    #[command(hide = true)]
    Reference(ReferenceArguments),
    /// A worker of `assay run --on`: started on a host by an engine, and of no use elsewhere
    #[command(hide = true)]
    BlockWorker(BlockWorkerArguments),
    /// The work of an emulated guest: started in one by a study with [emulated], and of no use elsewhere
    #[command(hide = true)]
    EmulatedGuest(EmulatedGuestArguments),
}

/// Arguments of `assay block-worker`, which by default talks over standard input and output.
#[derive(Debug, Args)]
pub struct BlockWorkerArguments {
    /// Wait for a caller within this pod, and work for it
    #[arg(long, conflicts_with = "connect")]
    pub listen: bool,
    /// Connect standard input and output with the worker of this pod
    #[arg(long)]
    pub connect: bool,
}

/// Arguments of `assay emulated-guest`.
#[derive(Debug, Args)]
pub struct EmulatedGuestArguments {
    /// The command
    pub work: PathBuf,
}

/// Arguments of `assay demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Folder for the run [default: runs/<study>-<time>]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

/// Arguments of `assay run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The study file, or the name of a ready-made study (assay studies): compressed-references
    pub study: PathBuf,
    /// The short form: the [quick] part of the study file
    #[arg(long)]
    pub quick: bool,
    /// Folder for the run [default: runs/<study>-<time>]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Continue after the last complete trial of the folder given by --out
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Run these blocks only: 7 or 7,8 or 1-4. assay merge joins the parts
    #[arg(long, value_name = "NUMBERS", value_parser = Blocks::parse)]
    pub blocks: Option<Blocks>,
    /// Hosts that run the blocks.
    #[command(flatten)]
    pub on: OnArguments,
    /// Print what would be run, and run nothing
    #[arg(long, conflicts_with_all = ["resume", "junit", "summary", "html"])]
    pub plan: bool,
    /// Let the study change settings of this machine while its trials run. --plan lists them
    #[arg(long)]
    pub allow_host_changes: bool,
    /// Exit with 1 if this holds beyond noise for any variant, with 3 if the run cannot decide it. With a sign and %, it is the change
    /// against the variant's baseline: cpu_ms_per_request > +3 %. Repeatable. --plan checks it
    #[arg(long, value_name = "CONDITION", value_parser = parse_gate)]
    pub fail_if: Vec<Gate>,
    /// Exit with 0 even if nothing counts or nothing is compared
    #[arg(long)]
    pub allow_invalid: bool,
    /// Time instead of a number of blocks.
    #[command(flatten)]
    pub budget: BudgetArguments,
    /// The verdicts on the conditions.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Write the page to FILE as well as to the run directory
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

fn parse_gate(text: &str) -> Result<Gate, String> {
    Gate::parse(text).map_err(|error| error.to_string())
}
