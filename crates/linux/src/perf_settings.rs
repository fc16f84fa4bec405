//! Settings of the kernel that decide what may be sampled.

use crate::root::optional;
use crate::{LinuxError, ProcRoot};

/// `kernel.perf_event_paranoid` and `kernel.kptr_restrict`; absent where the kernel has no such setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerfSettings {
    /// What a user without `CAP_PERFMON` may measure: -1 everything, 0 whole processors, 1 the kernel's part of own processes, 2 their
    /// user mode only; some distributions have 3 and 4, nothing.
    pub paranoid: Option<i64>,
    /// Who sees addresses of the kernel: 0 users who may profile it, 1 those with `CAP_SYSLOG`, 2 nobody.
    pub kptr_restrict: Option<i64>,
}

impl ProcRoot {
    /// Reads these settings.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn read_perf_settings(&self) -> Result<PerfSettings, LinuxError> {
        let number = |name: &str| -> Result<Option<i64>, LinuxError> {
            let text = optional(self.read_text(&format!("sys/kernel/{name}")))?;
            Ok(text.and_then(|(_, text)| text.trim().parse().ok()))
        };
        Ok(PerfSettings { paranoid: number("perf_event_paranoid")?, kptr_restrict: number("kptr_restrict")? })
    }

    /// Numbers of the processors that are online, by `/proc/stat`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_online_cpus(&self) -> Result<Vec<u32>, LinuxError> {
        let (_, text) = self.read_text("stat")?;
        let number = |line: &str| line.strip_prefix("cpu")?.split_ascii_whitespace().next()?.parse().ok();
        Ok(text
            .lines()
            .filter(|line| line.starts_with("cpu"))
            .filter_map(|line| {
                // The line of all together has a blank there.
                if line.starts_with("cpu ") { None } else { number(line) }
            })
            .collect())
    }
}
