//! Whether all resident servers fit into this machine.

use assay_linux::ProcRoot;
use assay_model::Design;

/// Resident memory of a server on top of its heap, about, for the check that all resident servers fit.
const BESIDE_HEAP_BYTES: u64 = 400 << 20;

/// Memory of this machine that resident servers may still take, bytes; absent in the fresh design.
pub(crate) struct MemoryLeft(Option<u64>);

impl MemoryLeft {
    pub fn for_design(design: Design) -> MemoryLeft {
        let available = || ProcRoot::default().read_meminfo().ok().and_then(|m| m.available_bytes);
        MemoryLeft(if design == Design::Resident { available() } else { None })
    }

    pub fn take(&mut self, heap_bytes: Option<u64>) -> Result<(), String> {
        let (Some(left), Some(heap)) = (self.0.as_mut(), heap_bytes) else { return Ok(()) };
        let needed = heap.saturating_add(BESIDE_HEAP_BYTES);
        match left.checked_sub(needed) {
            Some(rest) => {
                *left = rest;
                Ok(())
            }
            None => Err(format!(
                "all resident servers together need more memory than is free here ({} MiB are left, about {} are needed); \
                 the fresh design runs one at a time",
                *left >> 20,
                needed >> 20
            )),
        }
    }
}
