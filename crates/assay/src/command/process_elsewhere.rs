//! Processes on systems where Assay reads files alone: none is found, and the message says where they can be read.

use crate::arguments::ProcessName;
use crate::failure::Failure;

/// The options of a JVM that set flags.
pub struct JvmOptions {
    pub options: Vec<String>,
    /// Its release.
    pub feature: Option<u32>,
}

/// No process is found here.
pub fn pid_of(_: &ProcessName) -> Result<u32, Failure> {
    Err(not_here())
}

/// No running JVM has the name, so it may stand for something else.
pub fn jvm_named(_: &str) -> Result<Option<u32>, Failure> {
    Ok(None)
}

/// No process is read here.
pub fn options_of(_: u32) -> Result<Option<JvmOptions>, Failure> {
    Err(not_here())
}

/// Where processes can be read.
pub fn not_here() -> Failure {
    Failure::environment(
        "running processes are read on Linux alone; this program reads GC logs, heap dumps, options and stored results",
    )
}
