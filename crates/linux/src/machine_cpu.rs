//! `/proc/stat`: what the processors of the machine did since boot.

use crate::fields::{At, lines};
use crate::{LinuxError, ParseError, ProcRoot, Processors};
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

impl CpuTicks {
    /// The sum of two; steal is absent where either does not know it.
    fn plus(self, other: CpuTicks) -> CpuTicks {
        CpuTicks {
            user: self.user.saturating_add(other.user),
            nice: self.nice.saturating_add(other.nice),
            system: self.system.saturating_add(other.system),
            idle: self.idle.saturating_add(other.idle),
            io_wait: self.io_wait.saturating_add(other.io_wait),
            irq: self.irq.saturating_add(other.irq),
            soft_irq: self.soft_irq.saturating_add(other.soft_irq),
            steal: self.steal.zip(other.steal).map(|(one, other)| one.saturating_add(other)),
        }
    }
}

/// Parses `/proc/stat`, as far as it is about some of the processors: the sum is over those that are online.
///
/// # Errors
/// When none of them is there or a value is not a number.
pub fn parse_stat_of(path: &Path, text: &str, of: &Processors) -> Result<MachineCpu, ParseError> {
    let mut each = Vec::new();
    for (at, line) in lines(path, text) {
        let mut fields = line.split_ascii_whitespace();
        let number = fields.next().and_then(|name| name.strip_prefix("cpu")?.parse().ok());
        if number.is_some_and(|number| of.contains(number)) && each.len() < CPUS_MAX {
            each.push(parse_ticks(at, fields)?);
        }
    }
    let all = each.iter().copied().reduce(CpuTicks::plus);
    let all = all.ok_or_else(|| ParseError::new(path, 1, "cpu", "missing"))?;
    Ok(MachineCpu { all, each })
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

    /// The same of some processors.
    ///
    /// # Errors
    /// As of [`ProcRoot::read_machine_cpu`], and when none of them is online.
    pub fn read_machine_cpu_of(&self, of: &Processors) -> Result<MachineCpu, LinuxError> {
        let (path, text) = self.read_text("stat")?;
        Ok(parse_stat_of(&path, &text, of)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_processors_are_the_sum_of_their_lines() {
        let text = "cpu 9 9 9 9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8\ncpu1 10 20 30 40 50 60 70 80\ncpu10 100 0 0 0 0 0 0 1\nintr 5\n";
        let of =
            |list: &str| parse_stat_of(Path::new("stat"), text, &Processors::parse(list).expect("a list"));
        let sum = of("0,10").expect("both are there");
        let want = CpuTicks {
            user: 101,
            nice: 2,
            system: 3,
            idle: 4,
            io_wait: 5,
            irq: 6,
            soft_irq: 7,
            steal: Some(9),
        };
        assert_eq!((sum.all, sum.each.len()), (want, 2));
        assert_eq!(of("1").expect("it is there").all.user, 10);
        assert!(of("2-9").is_err(), "absent is not idle");
    }
}
