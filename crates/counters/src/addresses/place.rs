//! Where in the memory of a process an address is.

use assay_hotspot::Hotspot;
use assay_linux::{CachedMemory, LinuxError, LiveProcess, MemorySource, ProcRoot};
use assay_model::DataPlace;
use std::ops::Range;

/// The memory of a process as it is now.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Sorted by their beginnings; the later ones lie within the earlier.
    mapped: Vec<(Range<u64>, DataPlace)>,
    heap: Vec<Range<u64>>,
    tables: Vec<Range<u64>>,
    stacks: Vec<Range<u64>>,
}

impl Places {
    /// Reads them.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else.
    pub(crate) fn read(proc: &ProcRoot, pid: u32) -> Result<Places, LinuxError> {
        let process = LiveProcess::open(proc, pid)?;
        let memory = CachedMemory::new(&process);
        let place = |name: &str, is_file: bool| match name {
            "[stack]" => DataPlace::Stack,
            _ if is_file => DataPlace::MappedFile,
            _ => DataPlace::Native,
        };
        let mapped = memory.mappings().iter().map(|of| (of.addresses.clone(), place(&of.name, of.is_file())));
        let mut places = Places { mapped: mapped.collect(), ..Places::default() };
        if let Ok(Some(hotspot)) = Hotspot::open(&memory) {
            places.heap = hotspot.heap().map(|heap| heap.reserved).unwrap_or_default();
            places.tables = hotspot.gc_tables().into_iter().map(|table| table.addresses).collect();
            places.stacks = hotspot.threads().into_iter().filter_map(|thread| thread.stack).collect();
        }
        Ok(places)
    }

    pub(crate) fn of(&self, address: u64) -> DataPlace {
        let has = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&address));
        if has(&self.heap) {
            return DataPlace::JavaHeap;
        }
        if has(&self.tables) {
            return DataPlace::GcStructures;
        }
        if has(&self.stacks) {
            return DataPlace::Stack;
        }
        let next = self.mapped.partition_point(|(range, _)| range.start <= address);
        let found = next.checked_sub(1).and_then(|index| self.mapped.get(index));
        found.filter(|(range, _)| range.contains(&address)).map_or(DataPlace::Unknown, |(_, place)| *place)
    }
}
