//! Faults that a study asks for: a process that is killed, stands still or is limited while a window is measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happens to a process, or to all of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FaultAction {
    /// It is ended at once, with all that it started (`SIGKILL`).
    Kill,
    /// It gets `SIGTERM`, to end in order.
    Terminate,
    /// It is stopped (`SIGSTOP`), and continues.
    Stop {
        /// For so long, seconds.
        for_s: f64,
    },
    /// All processes of the role are held within limits, by a control group of their own.
    Limit {
        /// For so long, seconds.
        for_s: f64,
        /// CPU time per time, in processors.
        cpus: Option<f64>,
        /// Memory.
        memory_bytes: Option<u64>,
    },
    /// Flags of the JVM that may change while it runs are set (`VM.set_flag`).
    SetFlags {
        /// For so long, seconds, then back; absent where they stay set until the process ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_s: Option<f64>,
        /// Values by name.
        flags: BTreeMap<String, String>,
    },
}

impl FaultAction {
    /// How long it lasts, seconds; absent where it has no end of its own.
    pub fn lasts_s(&self) -> Option<f64> {
        match self {
            FaultAction::Kill | FaultAction::Terminate => None,
            FaultAction::Stop { for_s } | FaultAction::Limit { for_s, .. } => Some(*for_s),
            FaultAction::SetFlags { for_s, .. } => *for_s,
        }
    }

    /// Whether it ends the process by itself.
    pub fn ends(&self) -> bool {
        matches!(self, FaultAction::Kill | FaultAction::Terminate)
    }
}

impl std::fmt::Display for FaultAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FaultAction::Kill => f.write_str("KILL"),
            FaultAction::Terminate => f.write_str("TERM"),
            FaultAction::Stop { for_s } => write!(f, "STOP for {for_s} s"),
            FaultAction::Limit { for_s, cpus, memory_bytes } => {
                let cpus = cpus.map(|cpus| format!("{cpus} CPUs"));
                let memory = memory_bytes.map(|bytes| format!("{} MiB of memory", bytes >> 20));
                let limits: Vec<String> = cpus.into_iter().chain(memory).collect();
                write!(f, "limit of {} for {for_s} s", limits.join(" and "))
            }
            FaultAction::SetFlags { for_s, flags } => {
                let flags: Vec<String> =
                    flags.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "set {}", flags.join(", "))?;
                for_s.map_or(Ok(()), |for_s| write!(f, " for {for_s} s"))
            }
        }
    }
}

/// A fault of every window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedFault {
    /// `server`, or the name of a `[[process]]` table.
    pub role: String,
    /// Which of several, from 1; absent where the seed draws one, and for a role with one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<u32>,
    /// When, seconds from the start of the window; absent where the seed draws it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_s: Option<f64>,
    /// What happens.
    pub action: FaultAction,
    /// Whether what has ended is started again, as it was started.
    #[serde(default)]
    pub restart: bool,
}

/// A fault as it was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRecord {
    /// The process: its role, with its number where the role has several (`flight-2`). Of a limit the role.
    pub role: String,
    /// Number of the process; absent of a limit, and where the process was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What was done.
    pub action: FaultAction,
    /// When it was to be done, seconds from the start of the window.
    pub planned_s: f64,
    /// When it was done, `CLOCK_MONOTONIC`; absent where it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_monotonic_ns: Option<u64>,
    /// When the process went on or the limit was taken back, `CLOCK_MONOTONIC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_monotonic_ns: Option<u64>,
    /// How processes ended of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<String>,
    /// Processes that the kernel's OOM killer ended while the limit held; absent where memory was not limited, or that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oom_kills: Option<u64>,
    /// Seconds from the fault until what had ended was ready again; absent where nothing was started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_after_s: Option<f64>,
    /// Number of the process that was started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_pid: Option<u32>,
    /// Why it was not done, or not as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl FaultRecord {
    /// In words: how processes ended of it, and by what.
    pub fn came_of_it(&self) -> impl Iterator<Item = String> {
        let by_kernel = self.oom_kills.filter(|kills| 0 < *kills).map(|kills| {
            let processes = if kills == 1 { "process" } else { "processes" };
            format!("the kernel's OOM killer ended {kills} {processes} at the limit of memory")
        });
        self.ended.iter().cloned().chain(by_kernel)
    }

    /// In words: what was done to whom, and what came of it.
    pub fn told(&self, window_start_ns: u64) -> String {
        let pid = self.pid.map_or_else(String::new, |pid| format!(" (PID {pid})"));
        let since_start = |at_ns: u64| (at_ns as f64 - window_start_ns as f64) / 1e9;
        let done = match self.done_monotonic_ns {
            Some(at_ns) => format!("at {:.2} s", since_start(at_ns)),
            None => format!("not done at {:.2} s", self.planned_s),
        };
        let mut told = format!("{}{pid}: {} {done}", self.role, self.action);
        told.extend(self.came_of_it().map(|what| format!("; {what}")));
        told.extend(self.over_monotonic_ns.map(|at_ns| format!("; over at {:.2} s", since_start(at_ns))));
        told.extend(self.ready_after_s.map(|s| format!("; ready again after {s:.2} s")));
        told.extend(self.failed.iter().map(|why| format!("; {why}")));
        told
    }
}
