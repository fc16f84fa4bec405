//! Whether servers that run at the same time fit into this machine.

use assay_linux::ProcRoot;
use assay_model::Design;

/// Resident memory of a server on top of its heap, about.
const BESIDE_HEAP_BYTES: u64 = 400 << 20;

/// Memory of this machine that servers which run at the same time may still take.
pub(crate) struct MemoryLeft {
    /// Bytes; absent in the fresh design, and where the kernel does not say.
    left: Option<u64>,
    /// Which servers they are.
    together: &'static str,
}

impl MemoryLeft {
    pub fn for_design(design: Design) -> MemoryLeft {
        let available = || ProcRoot::default().read_meminfo().ok().and_then(|m| m.available_bytes);
        let (left, together) = match design {
            Design::Fresh => (None, ""),
            Design::Resident => (available(), "all resident servers together"),
            Design::Duet => (available(), "both servers of a pair together"),
        };
        MemoryLeft { left, together }
    }

    pub fn take(&mut self, heap_bytes: Option<u64>) -> Result<(), String> {
        let (Some(left), Some(heap)) = (self.left.as_mut(), heap_bytes) else { return Ok(()) };
        let needed = heap.saturating_add(BESIDE_HEAP_BYTES);
        match left.checked_sub(needed) {
            Some(rest) => {
                *left = rest;
                Ok(())
            }
            None => Err(format!(
                "{} need more memory than is free here ({} MiB are left, about {} are needed). Give them a smaller \
                    heap, or run a study with kind = \"fresh\", which runs one at a time",
                self.together,
                *left >> 20,
                needed >> 20
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_server_of_a_pair_needs_memory_too() {
        let mut memory = MemoryLeft { left: Some(3 << 30), together: "both servers of a pair together" };
        assert_eq!(memory.take(Some(2 << 30)), Ok(()));
        let why = memory.take(Some(2 << 30)).expect_err("it does not fit");
        let want = "both servers of a pair together need more memory than is free here (624 MiB are left, about 2448 are needed). \
                    Give them a smaller heap, or run a study with kind = \"fresh\", which runs one at a time";
        assert_eq!(why, want);
        assert_eq!(memory.take(None), Ok(()), "a heap that is not known is not judged");
        assert!(MemoryLeft::for_design(Design::Fresh).left.is_none());
    }
}
