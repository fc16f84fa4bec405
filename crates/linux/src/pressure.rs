//! Pressure stall information: how long tasks waited for a processor, memory or I/O. `Documentation/accounting/psi.rst`.

use crate::fields::lines;
use crate::{LinuxError, ParseError, ProcRoot};
use std::path::Path;

/// What tasks may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// A processor.
    Cpu,
    /// Memory.
    Memory,
    /// I/O.
    Io,
}

/// One line of a pressure file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PressureTotals {
    /// Share of the last ten seconds, 0 to 100 (an exponentially weighted average).
    pub avg10_percent: f64,
    /// Time since boot, microseconds. Updated every two seconds or so, and when the file is read.
    pub total_us: u64,
}

/// `/proc/pressure/*`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pressure {
    /// Some task waited.
    pub some: PressureTotals,
    /// All tasks waited; absent for the processor before Linux 5.13, and without meaning for it since.
    pub full: Option<PressureTotals>,
}

/// Parses a file of `/proc/pressure`.
///
/// # Errors
/// When there is no `some` line or a value is not a number.
pub fn parse_pressure(path: &Path, text: &str) -> Result<Pressure, ParseError> {
    let (mut some, mut full) = (None, None);
    for (at, line) in lines(path, text) {
        let value =
            |key: &str| line.split_ascii_whitespace().find_map(|f| f.strip_prefix(key)?.strip_prefix('='));
        let totals = || -> Result<PressureTotals, ParseError> {
            Ok(PressureTotals {
                avg10_percent: at.number("avg10", value("avg10"))?,
                total_us: at.number("total", value("total"))?,
            })
        };
        match line.split_ascii_whitespace().next() {
            Some("some") => some = Some(totals()?),
            Some("full") => full = Some(totals()?),
            _ => {}
        }
    }
    Ok(Pressure { some: some.ok_or_else(|| ParseError::new(path, 1, "some", "missing"))?, full })
}

impl ProcRoot {
    /// Reads a pressure file; `None` where the kernel has none, or was booted with `psi=0`.
    ///
    /// # Errors
    /// When it may not be read or is not in the documented form.
    pub fn read_pressure(&self, resource: Resource) -> Result<Option<Pressure>, LinuxError> {
        let name = match resource {
            Resource::Cpu => "pressure/cpu",
            Resource::Memory => "pressure/memory",
            Resource::Io => "pressure/io",
        };
        match self.read_text(name) {
            Ok((path, text)) => Ok(Some(parse_pressure(&path, &text)?)),
            Err(e) if e.is_absent() || is_switched_off(&e) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// With `psi=0`, or built in but off by default, the file is there and opening it says EOPNOTSUPP.
fn is_switched_off(error: &LinuxError) -> bool {
    matches!(error, LinuxError::Read { source, .. } if source.raw_os_error() == Some(libc::EOPNOTSUPP))
}
