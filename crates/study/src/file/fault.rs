//! `[[fault]]` tables as they are written: what happens to a process in every window.

use crate::file::units::{Seconds, Size, parse_duration};
use assay_launch::GroupLimits;
use assay_model::{FaultAction, PlannedFault, PlannedTreatment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Instead of a time: the seed draws it.
const RANDOM: &str = "random";
/// A flag's value; the JVM takes commands of 1,024 bytes.
const VALUE_BYTES_MAX: usize = 256;

/// A fault of every window: a process is ended, stopped, or limited for a while. Failed requests and long response times in the
/// window are then expected, and leave nothing out; the audit is read as ever.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FaultTable {
    /// `server`, or the name of a `[[process]]` table.
    pub role: String,
    /// Which of several, from 1. Default: the study's seed draws one for each window, the same for all variants.
    #[schemars(range(min = 1, max = 64))]
    pub instance: Option<u32>,
    /// When, from the start of the window, such as `"3s"`; or `"random"`: the study's seed draws it for each window, the same for all
    /// variants, and not in the last tenth. Default: `"random"`.
    pub at: Option<String>,
    /// The signal that the process is sent; or there is a `limit`, or there are `flags`.
    pub signal: Option<FaultSignal>,
    /// Limits that hold all processes of the role for a while: lower or higher ones, where a level limits the server. They need
    /// `--allow-host-changes`.
    pub limit: Option<FaultLimit>,
    /// Flags of the JVM that may change while it runs, with their values as the JVM takes them, such as
    /// `{ SoftMaxHeapSize = "268435456" }`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flags: BTreeMap<String, String>,
    /// For how long it is stopped or limited, or flags are set. Default for flags: until the process ends.
    #[serde(rename = "for")]
    pub lasts: Option<Seconds>,
    /// Start an ended process again, as it was started, and wait until it is ready. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
}

/// Signals of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum FaultSignal {
    /// It ends at once, with all that it started.
    Kill,
    /// It gets `SIGTERM`, to end in order.
    Term,
    /// It is stopped, `for` a while.
    Stop,
}

/// Limits of a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FaultLimit {
    /// CPU time per time, in processors, for example `0.2`.
    #[schemars(range(min = 0.01, max = 10_000))]
    pub cpus: Option<f64>,
    /// Memory. With less than they use, the kernel takes pages back, and ends processes where it cannot.
    pub memory: Option<Size>,
}

impl FaultTable {
    /// When, seconds; none where the seed draws it.
    pub(crate) fn at_s(&self) -> Result<Option<f64>, String> {
        match self.at.as_deref() {
            None | Some(RANDOM) => Ok(None),
            Some(text) => match parse_duration(text) {
                Ok(at) => Ok(Some(at.0)),
                Err(what) => Err(format!("{what}; or \"{RANDOM}\"")),
            },
        }
    }

    /// The action that the keys describe.
    ///
    /// # Errors
    /// The key that is wrong or missing, and a correct form.
    pub(crate) fn action(&self) -> Result<FaultAction, (&'static str, &'static str)> {
        let for_s = self.lasts.map(|lasts| lasts.0).filter(|for_s| 0.0 < *for_s);
        if !self.flags.is_empty() {
            return self.set_flags(for_s);
        }
        let too_long = "a process that ends has ended for good: leave `for` out";
        match (self.signal, self.limit, for_s) {
            (Some(_), Some(_), _) => Err(("limit", "a fault has a `signal` or a `limit`, not both")),
            (None, None, _) => Err((
                "signal",
                "a fault needs a `signal` (\"KILL\", \"TERM\", \"STOP\"), a `limit` or `flags`",
            )),
            (Some(FaultSignal::Kill | FaultSignal::Term), None, _) if self.lasts.is_some() => {
                Err(("for", too_long))
            }
            (Some(FaultSignal::Kill), None, _) => Ok(FaultAction::Kill),
            (Some(FaultSignal::Term), None, _) => Ok(FaultAction::Terminate),
            (_, _, None) => Err(("for", "`for` says how long it is stopped or limited, such as \"2s\"")),
            (Some(FaultSignal::Stop), None, _) if self.restart => {
                Err(("restart", "a stopped process continues by itself: leave `restart` out"))
            }
            (Some(FaultSignal::Stop), None, Some(for_s)) => Ok(FaultAction::Stop { for_s }),
            (None, Some(FaultLimit { cpus: None, memory: None }), _) => {
                Err(("limit", "a limit is of `cpus` or `memory`, or both"))
            }
            (None, Some(limit), Some(for_s)) => {
                let memory_bytes = limit.memory.map(|memory| memory.bytes);
                Ok(FaultAction::Limit { for_s, cpus: limit.cpus, memory_bytes })
            }
        }
    }

    fn set_flags(&self, for_s: Option<f64>) -> Result<FaultAction, (&'static str, &'static str)> {
        let is_name = |name: &String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
        let is_value = |value: &String| {
            !value.is_empty() && value.len() <= VALUE_BYTES_MAX && value.chars().all(|c| c.is_ascii_graphic())
        };
        if self.signal.is_some() || self.limit.is_some() {
            return Err(("flags", "a fault has a `signal`, a `limit` or `flags`, only one of them"));
        }
        if self.restart {
            return Err(("restart", "flags end no process: leave `restart` out"));
        }
        if !self.flags.keys().all(is_name) || !self.flags.values().all(is_value) {
            return Err((
                "flags",
                "names of flags without -XX:, values without spaces, such as { SoftMaxHeapSize = \"268435456\" }",
            ));
        }
        Ok(FaultAction::SetFlags { for_s, flags: self.flags.clone() })
    }

    /// Absent where something is wrong in it.
    pub(crate) fn planned(&self) -> Option<PlannedFault> {
        Some(PlannedFault {
            role: self.role.clone(),
            instance: self.instance,
            at_s: self.at_s().ok()?,
            action: self.action().ok()?,
            restart: self.restart,
        })
    }
}

/// The limits of a fault. Their control group is made before the fault, and limits nothing until then.
pub(crate) fn group_of(action: &FaultAction) -> Option<GroupLimits> {
    let FaultAction::Limit { cpus, memory_bytes, .. } = action else { return None };
    let (cpus, memory_bytes) = (*cpus, *memory_bytes);
    Some(GroupLimits { cpus, memory_bytes, is_open: true, ..GroupLimits::default() })
}

/// The change to the machine that a fault makes, for the plan and for `--allow-host-changes`.
pub(crate) fn treatment_of(fault: &PlannedFault) -> Option<PlannedTreatment> {
    group_of(&fault.action)?;
    let setting = format!("control group of {}", fault.role);
    Some(PlannedTreatment { setting, value: fault.action.to_string(), is_global: false })
}
