//! `assay memory`: every resident byte of a process.

mod advise;
mod diff;
mod list;
mod look;
pub mod screen;
mod series;
mod trim;

use crate::arguments::{DepthName, LookArguments, MemoryArguments, MemoryCommand};
use crate::failure::Failure;
use crate::output;
use crate::output_file::can_be_written;
use crate::progress::Waiting;
use assay_linux::{ProcRoot, ProcessIdentity};
use assay_memory::{LookDepth, ReadOptions};
use assay_model::MemoryReport;
use assay_report::{LeavesShown, TerminalView};
use std::process::ExitCode;

/// From here on a look says that it takes its time.
const LONG_LOOK_S: u64 = 2;

/// Does what was asked for.
pub fn memory(arguments: &MemoryArguments) -> Result<ExitCode, Failure> {
    arguments.look.html.as_deref().map_or(Ok(()), can_be_written)?;
    match (&arguments.command, arguments.look.pid) {
        (Some(MemoryCommand::Diff(diff)), _) => diff::diff(diff),
        (Some(MemoryCommand::Advise(advise)), _) => advise::advise(advise),
        (None, None) => list::list(arguments.look.json),
        (None, Some(pid)) if arguments.look.trim => trim::trim(pid, arguments.look.json),
        (None, Some(pid)) if is_series(&arguments.look) => series::series(pid, &arguments.look),
        (None, Some(pid)) => look::look(pid, &arguments.look),
    }
}

fn is_series(look: &LookArguments) -> bool {
    look.watch.is_some() || look.record.is_some()
}

/// Takes a look; who cannot be looked at is told in words for whoever typed the number.
fn read(pid: u32, options: &ReadOptions) -> Result<MemoryReport, Failure> {
    identity_of(pid)?;
    let resident_bytes =
        ProcRoot::default().read_process_status(pid).ok().and_then(|status| status.rss_bytes);
    let waiting = Waiting::new(resident_bytes.and_then(|bytes| long_look(bytes, options.depth)));
    let read = assay_memory::read(pid, options);
    drop(waiting);
    Ok(read?)
}

/// What to say while a look takes long.
fn long_look(resident_bytes: u64, depth: Option<LookDepth>) -> Option<String> {
    let seconds = assay_memory::heap_read_cpu_ns(resident_bytes) / 1_000_000_000;
    (depth == Some(LookDepth::Owners) && LONG_LOOK_S <= seconds).then(|| {
        format!(
            "looking for owners in {} GiB, about {seconds} s of work; --depth structures leaves that out and is much faster",
            resident_bytes >> 30
        )
    })
}

/// Who has this number now.
fn identity_of(pid: u32) -> Result<ProcessIdentity, Failure> {
    ProcRoot::default().identity_of(pid).map_err(|error| {
        if !error.is_absent() {
            return error.into();
        }
        Failure::input(format!("there is no process {pid}\n  assay memory lists the JVMs that run here"))
    })
}

/// How a look is taken.
fn options(look: &LookArguments) -> ReadOptions {
    let depth = match look.depth {
        DepthName::Auto => None,
        DepthName::Owners => Some(LookDepth::Owners),
        DepthName::Structures => Some(LookDepth::Structures),
    };
    ReadOptions { depth, freeze: look.freeze, ask_jvm: look.jcmd, ..ReadOptions::default() }
}

/// The terminal that standard output is.
fn view(leaves: LeavesShown) -> TerminalView {
    TerminalView { width: output::width(), color: output::is_coloured(), leaves }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_look_at_the_owners_in_a_large_process_says_that_it_takes_its_time() {
        let told = long_look(16 << 30, Some(LookDepth::Owners)).expect("a line");
        assert!(
            told.contains("16 GiB") && told.contains("about 8 s") && told.contains("--depth structures"),
            "{told}"
        );
        assert_eq!(long_look(1 << 30, Some(LookDepth::Owners)), None);
        assert_eq!(long_look(16 << 30, Some(LookDepth::Structures)), None);
        assert_eq!(long_look(16 << 30, None), None, "it chooses what does not take long");
    }
}
