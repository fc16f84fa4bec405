//! The machine, the JVMs on it, and the program that made a file.

use crate::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who made a stored file, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Version of Assay.
    pub assay_version: String,
    /// Kernel release, as `uname -r` gives it.
    pub kernel: Option<String>,
    /// Operating system's name and version, from os-release.
    pub os: Option<String>,
    /// Machine architecture, for example `x86_64`.
    pub architecture: String,
    /// Processor model.
    pub cpu_model: Option<String>,
    /// Processors that the program may use.
    pub cpus: Option<u32>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
}

/// `host.json`: the conditions of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// `assay.host/2`
    pub schema: String,
    /// Machine and program.
    pub provenance: Provenance,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Frequency governor of the first processor.
    pub cpu_governor: Option<String>,
    /// Hypervisor, where the kernel names it.
    pub hypervisor: Option<String>,
    /// CPU limit of the control group, in processors; absent means none or unknown.
    pub cgroup_cpu_limit: Option<f64>,
    /// Memory limit of the control group; absent means none or unknown.
    pub cgroup_memory_limit_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// Share of time in which some task waited for a processor over the ten seconds before the run, 0 to 100.
    pub cpu_pressure_some_percent: Option<f64>,
    /// The kernel since it was started: the same for all runs of one machine, in its containers too, until it starts again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// Processors that the run may use, as the kernel lists them: `0-3,8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_processors: Option<String>,
    /// Settings of the kernel that a kubelet changes, by name as `sysctl` writes it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kernel_settings: BTreeMap<String, String>,
    /// The JVMs that the run uses.
    pub jvms: Vec<JvmFacts>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// A JVM on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JvmFacts {
    /// Its home folder (`bin/java` lies below).
    pub home: String,
    /// Full version, for example `17.0.15+6-Debian-1deb12u1`.
    pub version: String,
    /// Feature release, for example 17.
    pub feature: u32,
    /// Who built it.
    pub vendor: Option<String>,
    /// 32 or 64.
    pub bits: u8,
}
