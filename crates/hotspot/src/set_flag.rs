//! Setting a flag that a JVM lets be changed while it runs (`manageable`), as `jinfo -flag NAME=VALUE PID` does.
//!
//! The JVM's answer is text for people: what came of it is read from its memory.

use crate::attach::attach_set_flag;
use crate::{AttachError, FlagValue, Hotspot, HotspotError};
use assay_linux::{CachedMemory, LinuxError, LiveProcess, ProcRoot};
use std::time::Duration;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Why a flag was not set.
#[derive(Debug, thiserror::Error)]
pub enum SetFlagError {
    /// The process cannot be looked at.
    #[error(transparent)]
    Linux(#[from] LinuxError),
    /// Its JVM cannot be read.
    #[error(transparent)]
    Hotspot(#[from] HotspotError),
    /// The JVM could not be asked.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// This JVM does not have the flag.
    #[error("the JVM of process {pid} has no flag {name}")]
    Unknown {
        /// The process.
        pid: u32,
        /// The flag.
        name: String,
    },
    /// The JVM kept its value.
    #[error(
        "the JVM of process {pid} keeps {name}={now} instead of {asked}: the flag cannot change at run time, or the value is not \
         allowed; `java -XX:+PrintFlagsFinal -version | grep manageable` lists what may change"
    )]
    Kept {
        /// The process.
        pid: u32,
        /// The flag.
        name: String,
        /// The value that was asked for.
        asked: String,
        /// The value in force.
        now: String,
    },
}

/// Sets a flag, and gives the value before, in the form in which it is set.
///
/// The first command ever sent to a JVM makes it start a thread, which stays.
///
/// # Errors
/// When the process is not a JVM, has no such flag, cannot be asked, or keeps its value.
pub fn set_flag(proc: &ProcRoot, pid: u32, name: &str, value: &str) -> Result<String, SetFlagError> {
    let before = read_flag(proc, pid, name)?;
    // JDK 8 takes a number alone for what is on or off; later releases take both.
    let sent = match (&before, value) {
        (FlagValue::Bool(_), "true") => "1",
        (FlagValue::Bool(_), "false") => "0",
        (_, value) => value,
    };
    match attach_set_flag(proc, pid, [name, sent], ANSWER_TIMEOUT) {
        // It says so in words; the value says it, too.
        Ok(_) | Err(AttachError::Refused { .. }) => {}
        Err(e) => return Err(e.into()),
    }
    let now = read_flag(proc, pid, name)?;
    if is_same(&now, value) {
        return Ok(written(&before));
    }
    Err(SetFlagError::Kept { pid, name: name.to_owned(), asked: value.to_owned(), now: written(&now) })
}

fn read_flag(proc: &ProcRoot, pid: u32, name: &str) -> Result<FlagValue, SetFlagError> {
    let process = LiveProcess::open(proc, pid)?;
    let memory = CachedMemory::new(&process);
    let hotspot = Hotspot::open(&memory)?.ok_or(AttachError::NotJvm { pid })?;
    let unknown = || SetFlagError::Unknown { pid, name: name.to_owned() };
    hotspot.flags().value(name).cloned().ok_or_else(unknown)
}

/// As `VM.set_flag` takes it.
fn written(value: &FlagValue) -> String {
    match value {
        FlagValue::Bool(value) => value.to_string(),
        FlagValue::Int(value) => value.to_string(),
        FlagValue::Uint(value) => value.to_string(),
        FlagValue::Double(value) => value.to_string(),
        FlagValue::Text(value) => value.clone().unwrap_or_default(),
    }
}

fn is_same(value: &FlagValue, asked: &str) -> bool {
    match value {
        FlagValue::Bool(value) => (if *value { ["true", "1"] } else { ["false", "0"] }).contains(&asked),
        FlagValue::Int(value) => asked.parse() == Ok(*value),
        FlagValue::Uint(value) => asked.parse() == Ok(*value),
        FlagValue::Double(value) => asked.parse() == Ok(*value),
        FlagValue::Text(value) => value.as_deref() == Some(asked),
    }
}
