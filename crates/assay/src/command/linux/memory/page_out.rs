//! `assay memory PID --page-out KINDS`: dead memory written to swap, with what was predicted, what it gave and what came back.

use super::consent::{consent, not_ours};
use crate::arguments::SnapshotArguments;
use crate::command::process::identity_of;
use crate::failure::Failure;
use crate::output;
use crate::progress::waiting;
use crate::stop;
use assay_linux::ProcRoot;
use assay_memory::PageOutOptions;
use assay_model::{DeadMemory, MemoryPageOut};
use std::cell::RefCell;
use std::process::ExitCode;
use std::time::Duration;

/// How long it is watched what comes back.
const WATCH: Duration = Duration::from_secs(60);
const MIB: f64 = 1_048_576.0;

/// Pages out what was asked for, and prints the gain.
pub fn page_out(pid: u32, arguments: &SnapshotArguments) -> Result<ExitCode, Failure> {
    let json = arguments.format.is_json("--page-out")?;
    identity_of(pid)?;
    if !arguments.dry_run {
        let mut reasons: Vec<String> = not_ours(pid)?.into_iter().collect();
        let swaps = ProcRoot::default().read_swaps()?;
        let on_disk = swaps.iter().find(|swap| !swap.is_in_memory());
        reasons.extend(on_disk.map(|swap| {
            format!("{} is swap on a disk, from which each page takes milliseconds to come back", swap.device)
        }));
        consent(pid, "page out", &reasons, arguments.yes)?;
    }
    let mut memory: Vec<DeadMemory> = arguments.page_out.iter().map(|name| name.memory()).collect();
    memory.sort_unstable();
    memory.dedup();
    let watch = arguments.duration.unwrap_or(WATCH);
    let stop = stop::flag_on_signal()?;
    let shown = RefCell::new(None);
    let watch_begins = || {
        let what =
            format!("watching for {} s what comes back; Ctrl-C ends that early", watch.as_secs().max(1));
        shown.replace(waiting(Some(what)));
    };
    let options = PageOutOptions {
        memory: &memory,
        is_dry_run: arguments.dry_run,
        watch,
        stop: &stop,
        watch_begins: &watch_begins,
    };
    let result = assay_memory::page_out(pid, &options)?;
    drop(shown);
    if json {
        output::print_json(&result)?;
    } else {
        output::print(|out| lines(&result).iter().try_for_each(|line| writeln!(out, "{line}")))?;
        output::note(&result.problems);
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(result: &MemoryPageOut) -> Vec<String> {
    let mib = |bytes: f64| format!("{:.2} MiB", bytes / MIB);
    let cell = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), |bytes| mib(bytes as f64));
    let row = |name: &str, predicted: Option<u64>, out: Option<u64>, back: Option<u64>| {
        format!("{name:<14}{:>14}{:>14}{:>14}", cell(predicted), cell(out), cell(back))
    };
    let mut lines = Vec::new();
    let before = mib(result.rss_bytes_before as f64);
    lines.push(match result.rss_bytes_after {
        Some(after) => format!("RSS {before} → {}", mib(after as f64)),
        None => format!("RSS {before}, left as it is (--dry-run)"),
    });
    lines.push(format!("{:<14}{:>14}{:>14}{:>14}", "memory", "predicted", "paged out", "came back"));
    lines.extend(result.parts.iter().map(|part| {
        row(part.memory.word(), Some(part.predicted_bytes), part.paged_out_bytes, part.came_back_bytes)
    }));
    if 1 < result.parts.len() {
        let sum = |figure: fn(&assay_model::PagedOutPart) -> Option<u64>| result.sum(figure);
        lines.push(row(
            "total",
            sum(|part| Some(part.predicted_bytes)),
            sum(|part| part.paged_out_bytes),
            sum(|part| part.came_back_bytes),
        ));
    }
    lines.extend(result.actual_bytes.map(|bytes| format!("RSS fell by {}", mib(bytes as f64))));
    lines.extend(result.watched_ns.map(|ns| format!("watched for {:.1} s", ns as f64 / 1e9)));
    let on_disk = &result.swap_on_disk;
    let disk = if on_disk.is_empty() { String::new() } else { format!(", on disk: {}", on_disk.join(", ")) };
    lines.push(format!("swap free before: {}{disk}", mib(result.swap_free_bytes as f64)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{PagedOutPart, schema};

    #[test]
    fn figures_that_are_absent_are_a_dash_and_never_zero() {
        let part = |memory, out, back| PagedOutPart {
            memory,
            predicted_bytes: 3 << 20,
            paged_out_bytes: out,
            came_back_bytes: back,
        };
        let result = MemoryPageOut {
            schema: schema::MEMORY_PAGE_OUT.to_owned(),
            pid: 7,
            is_dry_run: false,
            swap_free_bytes: 1 << 30,
            swap_on_disk: vec!["/dev/vdb".to_owned()],
            rss_bytes_before: 100 << 20,
            rss_bytes_after: Some(94 << 20),
            actual_bytes: Some(6 << 20),
            watched_ns: None,
            parts: vec![
                part(DeadMemory::Freed, Some(3 << 20), None),
                part(DeadMemory::FreeHeap, Some(1 << 20), None),
            ],
            problems: Vec::new(),
        };
        let text = lines(&result).join("\n");
        assert!(text.contains("RSS 100.00 MiB → 94.00 MiB"), "{text}");
        assert!(text.contains("total               6.00 MiB      4.00 MiB             -"), "{text}");
        assert!(text.contains("on disk: /dev/vdb") && !text.contains("watched"), "{text}");
    }
}
