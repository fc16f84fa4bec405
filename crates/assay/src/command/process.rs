//! Which process a name on the command line means.

use super::what_file::said_of;
use crate::arguments::ProcessName;
use crate::failure::Failure;
use assay_host::running_jvms;
use assay_host::{JvmOptions, jvm_options};
use assay_linux::{ProcRoot, ProcessIdentity};
use assay_model::RunningJvm;
use std::path::Path;

/// JVMs that are listed in a message; the rest is counted.
const LISTED_MAX: usize = 10;
const LIST: &str = "  to list the running JVMs: assay memory";

/// Which process has this number now.
pub fn identity_of(pid: u32) -> Result<ProcessIdentity, Failure> {
    ProcRoot::default().identity_of(pid).map_err(|error| {
        if !error.is_absent() {
            return error.into();
        }
        Failure::input(format!(
            "there is no process with PID {pid}\n  to list the running JVMs: assay memory"
        ))
    })
}

/// The options of a JVM that set flags; none of a process that is not a JVM.
///
/// # Errors
/// When there is no such process, or it cannot be read.
pub fn options_of(pid: u32) -> Result<Option<JvmOptions>, Failure> {
    identity_of(pid)?;
    Ok(jvm_options(&ProcRoot::default(), pid)?)
}

/// The number of a process: of a name that of the one running JVM whose program has it, which is said on standard error.
///
/// # Errors
/// When no JVM has that name, or several have: each is listed.
pub fn pid_of(process: &ProcessName) -> Result<u32, Failure> {
    let name = match process {
        ProcessName::Pid(pid) => return Ok(*pid),
        ProcessName::Program(name) => name,
    };
    let (found, denial) = running_jvms(&ProcRoot::default())?;
    if let Some(pid) = one_of(name, &found.jvms)? {
        return Ok(pid);
    }
    if let Some(said) = said_of(Path::new(name)) {
        return Err(Failure::input(format!("{name} is not a process: {said}")));
    }
    let unseen = match (found.not_readable, denial) {
        (0, _) | (_, None) => String::new(),
        (count, Some(denial)) => {
            format!("\n  processes that could not be read: {count}, since {denial}")
        }
    };
    Err(Failure::input(format!("no running JVM has `{name}` in its name{unseen}\n{LIST}")))
}

/// The running JVM of a name, where a name may stand for something else as well; none where no JVM has it, or none can be listed.
///
/// # Errors
/// When several have it: each is listed.
pub fn jvm_named(name: &str) -> Result<Option<u32>, Failure> {
    running_jvms(&ProcRoot::default()).map_or(Ok(None), |(found, _)| one_of(name, &found.jvms))
}

/// The only one of a name, which is said on standard error.
fn one_of(name: &str, jvms: &[RunningJvm]) -> Result<Option<u32>, Failure> {
    match named(name, jvms).as_slice() {
        [] => Ok(None),
        [jvm] => {
            say!("note: {name} is process {}, {}", jvm.pid, jvm.program);
            Ok(Some(jvm.pid))
        }
        several => Err(Failure::input(format!(
            "{} running JVMs have `{name}` in their names: give a PID\n{}",
            several.len(),
            listed(several)
        ))),
    }
}

/// The JVMs with this in their program's name, in upper or lower case; those that have it as their whole name go before.
fn named<'a>(name: &str, jvms: &'a [RunningJvm]) -> Vec<&'a RunningJvm> {
    let wanted = name.to_lowercase();
    let simple = |jvm: &RunningJvm| {
        let program = jvm.program.to_lowercase();
        program.rsplit(['.', '/']).next().map(str::to_owned) == Some(wanted.clone()) || program == wanted
    };
    let exact: Vec<&RunningJvm> = jvms.iter().filter(|jvm| simple(jvm)).collect();
    if exact.is_empty() {
        jvms.iter().filter(|jvm| jvm.program.to_lowercase().contains(&wanted)).collect()
    } else {
        exact
    }
}

fn listed(jvms: &[&RunningJvm]) -> String {
    let mut lines: Vec<String> =
        jvms.iter().take(LISTED_MAX).map(|jvm| format!("  {:>8}  {}", jvm.pid, jvm.program)).collect();
    if LISTED_MAX < jvms.len() {
        lines.push(format!("  {} more: assay memory", jvms.len() - LISTED_MAX));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jvm(pid: u32, program: &str) -> RunningJvm {
        RunningJvm { pid, rss_bytes: None, version: None, program: program.to_owned() }
    }

    #[test]
    fn a_whole_name_goes_before_parts_of_others() {
        let jvms = [jvm(1, "com.example.Shop"), jvm(2, "com.example.ShopTest"), jvm(3, "/opt/kafka.jar")];
        let found = |name: &str| named(name, &jvms).iter().map(|jvm| jvm.pid).collect::<Vec<_>>();
        assert_eq!(found("shop"), [1]);
        assert_eq!(found("com.example.ShopTest"), [2]);
        assert_eq!(found("example"), [1, 2]);
        assert_eq!(found("kafka"), [3]);
        assert!(found("billing").is_empty());
        let lines = listed(&(1..13).map(|pid| jvm(pid, "x")).collect::<Vec<_>>().iter().collect::<Vec<_>>());
        assert!(lines.contains("2 more: assay memory") && lines.lines().count() == 11);
    }
}
