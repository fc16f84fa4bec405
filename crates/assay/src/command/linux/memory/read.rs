//! One snapshot of a process, for whoever typed its number.

use crate::arguments::{DepthName, SnapshotArguments};
use crate::command::process::identity_of;
use crate::failure::Failure;
use crate::progress::waiting;
use assay_linux::ProcRoot;
use assay_memory::{MarkHeap, ReadOptions, SnapshotDepth};
use assay_model::MemoryReport;

/// From here on a snapshot says that it takes its time.
const LONG_LOOK_S: u64 = 2;

/// Takes a snapshot, and says so while it takes long.
pub fn read(pid: u32, options: &ReadOptions) -> Result<MemoryReport, Failure> {
    identity_of(pid)?;
    let resident_bytes =
        ProcRoot::default().read_process_status(pid).ok().and_then(|status| status.rss_bytes);
    let _shown = waiting(resident_bytes.and_then(|bytes| long_look(bytes, options.depth)));
    Ok(assay_memory::read(pid, options)?)
}

/// What to say while a snapshot takes long.
fn long_look(resident_bytes: u64, depth: Option<SnapshotDepth>) -> Option<String> {
    let seconds = assay_memory::heap_read_cpu_ns(resident_bytes) / 1_000_000_000;
    (depth == Some(SnapshotDepth::Owners) && LONG_LOOK_S <= seconds).then(|| {
        format!(
            "looking for owners in {} GiB, about {seconds} s of work; --depth structures leaves that out and is much faster",
            resident_bytes >> 30
        )
    })
}

/// How a snapshot is taken.
pub fn options(snapshot: &SnapshotArguments) -> ReadOptions {
    let depth = match snapshot.depth {
        DepthName::Auto => None,
        DepthName::Owners => Some(SnapshotDepth::Owners),
        DepthName::Structures => Some(SnapshotDepth::Structures),
    };
    // A record looks for growth, and garbage is not growth.
    let is_marked = snapshot.live || snapshot.record.is_some();
    let mark_heap = if is_marked { MarkHeap::Always } else { MarkHeap::IfCheap };
    ReadOptions {
        depth,
        freeze: snapshot.freeze,
        mark_heap,
        ask_jvm: snapshot.jcmd,
        with_ranges: snapshot.ranges,
        ..ReadOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_look_at_the_owners_in_a_large_process_says_that_it_takes_its_time() {
        let told = long_look(16 << 30, Some(SnapshotDepth::Owners)).expect("a line");
        assert!(
            told.contains("16 GiB") && told.contains("about 8 s") && told.contains("--depth structures"),
            "{told}"
        );
        assert_eq!(long_look(1 << 30, Some(SnapshotDepth::Owners)), None);
        assert_eq!(long_look(16 << 30, Some(SnapshotDepth::Structures)), None);
        assert_eq!(long_look(16 << 30, None), None, "it chooses what does not take long");
    }
}
