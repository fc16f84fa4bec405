//! A JVM and the limits of its control group: what it may use, and what it took for its own size when it started.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

closed! {
    /// What decided the largest heap of a JVM.
    HeapSizedBy {
        /// `-Xmx`, `-Xms` above what it would have been, or their long forms.
        Size = "size",
        /// `-XX:MaxRAM`, the memory to take for the machine's.
        MaxRam = "max-ram",
        /// `-XX:MaxRAMPercentage`, a share of the memory that the JVM sees.
        Share = "share",
        /// No option: a quarter of the memory that the JVM sees.
        Ergonomics = "ergonomics",
    }
}

/// What a JVM took from its control group when it started, from its memory and flags.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContainerView {
    /// Whether it uses the limits of its control group; absent where its library has no symbols.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is_containerized: Option<bool>,
    /// Processors that it counted when it started; absent where its library has no symbols.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub processors: Option<u64>,
    /// Whether `-XX:ActiveProcessorCount` says how many there are.
    #[serde(default)]
    pub are_processors_set: bool,
    /// Whether its library reads `cgroup.controllers`, and so needs no line of `/proc/cgroups` (JDK-8349988).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reads_controllers_file: Option<bool>,
    /// `UseContainerSupport`; absent where the release does not have it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub has_support: Option<bool>,
    /// `MaxHeapSize`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub heap_bytes_max: Option<u64>,
    /// What decided that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub heap_sized_by: Option<HeapSizedBy>,
}

/// Limits of a process's control group and the groups above it, and how the kernel shows them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContainerLimits {
    /// The tightest memory limit; absent means none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory_bytes: Option<u64>,
    /// Whether that is a limit of a group above the process's own.
    #[serde(default)]
    pub is_memory_of_parent: bool,
    /// CPU time per time, in processors; absent means no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cpus: Option<f64>,
    /// Whether the groups are those of version 2; absent where no memory controller was found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub is_version_2: Option<bool>,
    /// Whether `/proc/cgroups` has a line `memory`: kernels built without version 1 do not; absent where there is no such file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lists_memory: Option<bool>,
    /// Memory of the machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub machine_bytes: Option<u64>,
}

/// A JVM in its control group.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmContainer {
    /// What the JVM took.
    pub view: ContainerView,
    /// What it may use now.
    pub limits: ContainerLimits,
}
