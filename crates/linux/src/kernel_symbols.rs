//! `/proc/kallsyms`: the functions of the kernel and its modules, by address.

use crate::{LinuxError, ProcRoot};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

/// A kernel with everything built in has 250,000 symbols in 15 MB.
const BYTES_MAX: u64 = 128 << 20;
const SYMBOLS_MAX: usize = 2_000_000;
/// Longest line: names have at most 512 bytes.
const LINE_BYTES_MAX: u64 = 1024;
/// A function that begins further below an address does not cover it.
const FUNCTION_BYTES_MAX: u64 = 16 << 20;

/// Functions of the kernel, by address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelSymbols {
    /// Address of the first byte, and where the name lies in `names`; sorted.
    functions: Vec<(u64, u32)>,
    /// Names, each ended by a line feed.
    names: String,
}

impl ProcRoot {
    /// Reads `/proc/kallsyms`. Takes about 40 ms. `None` where the kernel has the file, but hides the addresses
    /// (`kernel.kptr_restrict`, or a reader without `CAP_SYSLOG`): all are 0 then.
    ///
    /// # Errors
    /// When it cannot be read. Lines in another form are left out.
    pub fn read_kernel_symbols(&self) -> Result<Option<KernelSymbols>, LinuxError> {
        let path = self.path().join("kallsyms");
        let failed = |e| LinuxError::read(&path, e);
        let file = File::open(&path).map_err(failed)?;
        let mut symbols = KernelSymbols::default();
        let mut reader = BufReader::with_capacity(1 << 16, file.take(BYTES_MAX));
        let mut line = Vec::new();
        while symbols.functions.len() < SYMBOLS_MAX {
            line.clear();
            if reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line).map_err(failed)? == 0 {
                break;
            }
            symbols.add(&line);
        }
        // The sort is stable, so that of several names of an address the kernel's first one is found.
        symbols.functions.sort_by_key(|(address, _)| *address);
        Ok((!symbols.functions.is_empty()).then_some(symbols))
    }
}

impl KernelSymbols {
    /// Functions.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The function that an address lies in, without what the compiler adds to the name of a part of it (`.cold`, `.isra.0`).
    pub fn name_at(&self, address: u64) -> Option<&str> {
        let next = self.functions.partition_point(|(start, _)| *start <= address);
        let (start, _) = *self.functions.get(next.checked_sub(1)?)?;
        if FUNCTION_BYTES_MAX <= address - start {
            return None;
        }
        let first = self.functions.partition_point(|(other, _)| *other < start);
        let (_, at) = *self.functions.get(first)?;
        let name = self.names.get(at as usize..)?.split('\n').next()?;
        name.split('.').find(|part| !part.is_empty())
    }

    /// A line is `ffffffff81000000 T name`, with `[module]` behind it where it is one's.
    fn add(&mut self, line: &[u8]) -> Option<()> {
        let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
        let address = u64::from_str_radix(fields.next()?, 16).ok().filter(|address| *address != 0)?;
        let kind = fields.next()?;
        let name = fields.next()?;
        // Padding before functions is nobody's code.
        if !matches!(kind, "t" | "T" | "w" | "W") || name.starts_with("__pfx_") {
            return None;
        }
        self.functions.push((address, u32::try_from(self.names.len()).ok()?));
        self.names.push_str(name);
        self.names.push('\n');
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(text: &str) -> Option<KernelSymbols> {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("kallsyms"), text).expect("writable");
        ProcRoot::at(folder.path()).read_kernel_symbols().expect("readable")
    }

    #[test]
    fn an_address_has_the_function_that_begins_at_or_before_it() {
        let text = "ffffffff81000200 t do_futex\nffffffff81000100 T __x64_sys_futex\nffffffff81000100 T alias\n\
                    ffffffff81000180 t __x64_sys_futex.cold\nffffffff81000150 d data\nnot a line\n\
                    ffffffff810001f0 t __pfx_do_futex\nffffffffc0000000 t nf_hook\t[nf]\n";
        let symbols = symbols(text).expect("functions");
        assert_eq!(symbols.len(), 5);
        for (address, name) in [
            (0xffff_ffff_8100_0100, Some("__x64_sys_futex")),
            (0xffff_ffff_8100_017f, Some("__x64_sys_futex")),
            (0xffff_ffff_8100_0180, Some("__x64_sys_futex")),
            (0xffff_ffff_8100_01ff, Some("__x64_sys_futex")),
            (0xffff_ffff_8100_0200, Some("do_futex")),
            (0xffff_ffff_c000_0001, Some("nf_hook")),
            (0xffff_ffff_8100_00ff, None),
            (0xffff_ffff_ff60_0000, None),
            (0, None),
            (u64::MAX, None),
        ] {
            assert_eq!(symbols.name_at(address), name, "{address:x}");
        }
    }

    #[test]
    fn hidden_addresses_are_no_symbols() {
        assert_eq!(symbols("0000000000000000 T _text\n0000000000000000 T do_futex\n"), None);
        assert_eq!(symbols(""), None);
    }
}
