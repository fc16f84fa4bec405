//! `/proc/stat`: what the processors of the machine did since boot.

use crate::fields::{At, lines};
use crate::{LinuxError, ParseError, ProcRoot};
use std::path::Path;
use std::str::SplitAsciiWhitespace;

/// Most processors that a kernel can be built for.
const CPUS_MAX: usize = 8192;

/// Time of one processor or all of them since boot, in ticks of [`crate::ticks_per_s`].
///
/// Folklore: user, nice and system are sampled at the timer interrupt (100 to 1,000 a second) on kernels with tick
/// accounting, which most are; idle, I/O wait and steal are measured. So what is busy is better derived from what is
/// not idle. A tick is 10 ms: over 3 s, rounding of the sums is at most 1 % of a processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTicks {
    /// User mode, guests included.
    pub user: u64,
    /// User mode at low priority.
    pub nice: u64,
    /// Kernel.
    pub system: u64,
    /// Nothing to do.
    pub idle: u64,
    /// Nothing to do while some task waits for I/O: idle too.
    pub io_wait: u64,
    /// Interrupts.
    pub irq: u64,
    /// Deferred interrupt work.
    pub soft_irq: u64,
    /// The hypervisor ran something else while a task was ready; absent before Linux 2.6.11.
    pub steal: Option<u64>,
}

/// `/proc/stat`, as far as it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineCpu {
    /// Sum over all processors.
    pub all: CpuTicks,
    /// Processors that are online, in the order of their numbers.
    pub each: Vec<CpuTicks>,
}

/// Parses `/proc/stat`.
///
/// # Errors
/// When the line `cpu` is missing or a value is not a number.
pub fn parse_stat(path: &Path, text: &str) -> Result<MachineCpu, ParseError> {
    let mut all = None;
    let mut each = Vec::new();
    for (at, line) in lines(path, text) {
        let mut fields = line.split_ascii_whitespace();
        match fields.next() {
            Some("cpu") => all = Some(parse_ticks(at, fields)?),
            Some(name) if name.starts_with("cpu") && each.len() < CPUS_MAX => {
                each.push(parse_ticks(at, fields)?);
            }
            _ => {}
        }
    }
    let all = all.ok_or_else(|| ParseError::new(path, 1, "cpu", "missing"))?;
    Ok(MachineCpu { all, each })
}

fn parse_ticks(at: At<'_>, mut fields: SplitAsciiWhitespace<'_>) -> Result<CpuTicks, ParseError> {
    Ok(CpuTicks {
        user: at.number("user", fields.next())?,
        nice: at.number("nice", fields.next())?,
        system: at.number("system", fields.next())?,
        idle: at.number("idle", fields.next())?,
        io_wait: at.number("iowait", fields.next())?,
        irq: at.number("irq", fields.next())?,
        soft_irq: at.number("softirq", fields.next())?,
        steal: fields.next().map(|steal| at.number("steal", Some(steal))).transpose()?,
    })
}

impl ProcRoot {
    /// Reads `/proc/stat`.
    ///
    /// # Errors
    /// When it cannot be read or is not in the documented form.
    pub fn read_machine_cpu(&self) -> Result<MachineCpu, LinuxError> {
        let (path, text) = self.read_text("stat")?;
        Ok(parse_stat(&path, &text)?)
    }
}
