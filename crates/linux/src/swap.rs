//! Swap: the machine's devices, the pages that it moves, and how much of it a control group may still take.
//!
//! Formats: `proc_swaps(5)`; `proc_vmstat(5)`; `memory.swap.max` in `Documentation/admin-guide/cgroup-v2.rst`. Version 1 limits memory and swap as one sum,
//! which paging out does not change.

use crate::cgroup::CgroupVersion;
use crate::fields::lines;
use crate::root::{optional, read_text};
use crate::{Cgroups, LinuxError, ParseError, ProcRoot};
use std::path::Path;

/// A line of `/proc/swaps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swap {
    /// The device or file.
    pub device: String,
    /// Its size.
    pub size_bytes: u64,
    /// What of it is in use.
    pub used_bytes: u64,
    /// The higher, the earlier it is used; negative ones are the kernel's own choice.
    pub priority: i32,
}

impl Swap {
    /// Whether it keeps pages in compressed memory, and on no disk.
    pub fn is_in_memory(&self) -> bool {
        self.device.starts_with("/dev/zram")
    }
}

/// Parses `/proc/swaps`. A name with a space is written with `\040`. Lines of another form are left out.
pub fn parse_swaps(text: &str) -> Vec<Swap> {
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let device = words.next()?.replace("\\040", " ");
        let mut kib = words.skip(1);
        let mut bytes = || kib.next()?.parse::<u64>().ok()?.checked_mul(1024);
        let (size_bytes, used_bytes) = (bytes()?, bytes()?);
        Some(Swap { device, size_bytes, used_bytes, priority: kib.next()?.parse().ok()? })
    };
    text.lines().skip(1).filter_map(of).collect()
}

/// Pages that the machine has moved since its start; those in compressed memory (zram) count as those on a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwapTraffic {
    /// Read back from swap.
    pub in_pages: u64,
    /// Written to swap.
    pub out_pages: u64,
}

/// Parses what `/proc/vmstat` says of swap; `None` where the kernel has none.
///
/// # Errors
/// When a count is not a number.
pub fn parse_swap_traffic(path: &Path, text: &str) -> Result<Option<SwapTraffic>, ParseError> {
    let (mut in_pages, mut out_pages) = (None, None);
    for (at, line) in lines(path, text) {
        match line.split_once(' ') {
            Some((key @ "pswpin", count)) => in_pages = Some(at.number(key, Some(count))?),
            Some((key @ "pswpout", count)) => out_pages = Some(at.number(key, Some(count))?),
            _ => {}
        }
    }
    Ok(in_pages.zip(out_pages).map(|(in_pages, out_pages)| SwapTraffic { in_pages, out_pages }))
}

impl ProcRoot {
    /// Pages that the machine has swapped in and out; `None` where the kernel has no swap.
    ///
    /// # Errors
    /// When the counts cannot be read.
    pub fn read_swap_traffic(&self) -> Result<Option<SwapTraffic>, LinuxError> {
        let (path, text) = self.read_text("vmstat")?;
        Ok(parse_swap_traffic(&path, &text)?)
    }

    /// The machine's swap devices; none where the kernel has no swap.
    ///
    /// # Errors
    /// When the list is there and cannot be read.
    pub fn read_swaps(&self) -> Result<Vec<Swap>, LinuxError> {
        let text = optional(self.read_text("swaps"))?;
        Ok(text.map(|(_, text)| parse_swaps(&text)).unwrap_or_default())
    }
}

impl Cgroups {
    /// Bytes that the group, and those above it, may still swap out; `None` without such a limit.
    ///
    /// # Errors
    /// When a limit is there and cannot be read.
    pub fn read_swap_room(&self) -> Result<Option<u64>, LinuxError> {
        let mut room: Option<u64> = None;
        let of_v2 = self.memory.iter().filter(|hierarchy| hierarchy.version == CgroupVersion::V2);
        for folder in of_v2.flat_map(|hierarchy| &hierarchy.folders) {
            let read = |name| optional(read_text(&folder.join(name)));
            // `max` is no number: no limit.
            let Some(limit) = read("memory.swap.max")?.and_then(|text| text.trim().parse::<u64>().ok())
            else {
                continue;
            };
            let current = read("memory.swap.current")?.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            let left = limit.saturating_sub(current);
            room = Some(room.map_or(left, |room| room.min(left)));
        }
        Ok(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_listed_with_their_sizes_in_bytes() {
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
            /dev/zram0                              partition\t1048572\t\t12\t\t100\n\
            /var/my\\040swap                         file\t\t2048\t\t0\t\t-2\n\
            broken\n";
        let swaps = parse_swaps(text);
        assert_eq!(swaps.len(), 2);
        assert_eq!((swaps[0].size_bytes, swaps[0].used_bytes), (1_048_572 << 10, 12 << 10));
        assert!(swaps[0].is_in_memory() && !swaps[1].is_in_memory());
        assert_eq!((swaps[1].device.as_str(), swaps[1].priority), ("/var/my swap", -2));
        assert!(parse_swaps("").is_empty());
    }

    #[test]
    fn pages_in_and_out_are_read_and_a_kernel_without_swap_has_none() {
        let read = |text: &str| parse_swap_traffic(Path::new("vmstat"), text);
        let text = "nr_free_pages 5\npswpin 12\npswpout 34\npgpgin 9\n";
        assert_eq!(read(text), Ok(Some(SwapTraffic { in_pages: 12, out_pages: 34 })));
        assert_eq!(read("nr_free_pages 5\n"), Ok(None));
        assert!(read("pswpin x\n").is_err());
    }
}
