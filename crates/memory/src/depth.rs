//! How deep a snapshot goes where nobody says.

use crate::jvm::Jvm;
use crate::options::ReadOptions;
use crate::owners::object_ranges;
use assay_linux::MemorySource;
use assay_model::{OwnersLeftOut, SnapshotDepth};

/// Measured: the more objects a GiB holds, the longer it takes.
const CPU_NS_PER_READ_GIB: u64 = 500_000_000;

/// CPU time that a search for owners takes to read so many bytes of the Java heap once, estimated.
pub fn heap_read_cpu_ns(bytes: u64) -> u64 {
    let ns = (u128::from(bytes) * u128::from(CPU_NS_PER_READ_GIB)) >> 30;
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// The depth of a snapshot: the one that was asked for, else owners as long as that does not read too much. Nothing of the
/// heap is read for it: the page map says what is resident.
pub(crate) fn depth_of(
    source: &dyn MemorySource,
    jvm: Option<&Jvm<'_>>,
    options: &ReadOptions,
) -> (SnapshotDepth, Option<OwnersLeftOut>) {
    if let Some(depth) = options.depth {
        return (depth, None);
    }
    let objects = jvm.and_then(|jvm| jvm.heap.as_ref()).map(object_ranges).unwrap_or_default();
    let resident = objects.into_iter().map(|range| source.readable_pages().resident_bytes_in(range));
    chosen(resident.fold(0, u64::saturating_add), options.heap_read_bytes_max, source.pid())
}

/// The depth for so many bytes of objects, and where it is not the full one, why.
fn chosen(
    heap_resident_bytes: u64,
    heap_read_bytes_max: u64,
    pid: u32,
) -> (SnapshotDepth, Option<OwnersLeftOut>) {
    if heap_resident_bytes <= heap_read_bytes_max {
        return (SnapshotDepth::Owners, None);
    }
    let left_out = OwnersLeftOut {
        heap_resident_bytes,
        heap_read_bytes_max,
        heap_read_cpu_ns: heap_read_cpu_ns(heap_resident_bytes),
        command: format!("assay memory {pid} --depth owners"),
    };
    (SnapshotDepth::Structures, Some(left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::HEAP_READ_BYTES_MAX;

    #[test]
    fn owners_are_looked_for_up_to_the_bound_and_beyond_it_the_look_says_what_it_left_out() {
        for bytes in [0, 1, HEAP_READ_BYTES_MAX] {
            assert_eq!(chosen(bytes, HEAP_READ_BYTES_MAX, 7), (SnapshotDepth::Owners, None), "{bytes}");
        }
        let (depth, left_out) = chosen(HEAP_READ_BYTES_MAX + 1, HEAP_READ_BYTES_MAX, 7);
        assert_eq!(depth, SnapshotDepth::Structures);
        let left_out = left_out.expect("a reason");
        assert_eq!(left_out.heap_resident_bytes, HEAP_READ_BYTES_MAX + 1);
        assert_eq!(left_out.command, "assay memory 7 --depth owners");
        assert_eq!(chosen(16 << 30, 0, 7).1.map(|l| l.heap_read_cpu_ns), Some(8_000_000_000));
        assert_eq!(heap_read_cpu_ns(u64::MAX), ((u128::from(u64::MAX) * 500_000_000) >> 30) as u64);
    }

    #[test]
    fn the_bound_keeps_a_look_at_about_two_seconds() {
        assert!((1_000_000_000..2_000_000_000).contains(&heap_read_cpu_ns(HEAP_READ_BYTES_MAX)));
    }
}
