//! A snapshot: what the rules read, as it was read, so that it can be judged elsewhere and by newer rules.

mod files;
mod jvm;
mod proxy;

use crate::check::rules;
use crate::facts;
use crate::running::running_jvms;
use assay_linux::{LinuxError, ProcRoot, SysRoot};
use assay_model::{HostSnapshot, Problem, schema};
use std::path::Path;

#[cfg(test)]
pub(crate) use files::read as read_files;

/// Takes a snapshot of this machine.
///
/// # Errors
/// When the list of processes cannot be read. Other values that cannot be read are problems in their place.
pub fn take_snapshot(assay_version: &str) -> Result<HostSnapshot, LinuxError> {
    of(Path::new("/"), &ProcRoot::default(), &SysRoot::default(), assay_version)
}

/// The same of a folder that looks like the root of a machine; `proc` and `sys` lie in it.
fn of(root: &Path, proc: &ProcRoot, sys: &SysRoot, assay_version: &str) -> Result<HostSnapshot, LinuxError> {
    let (found, denial) = running_jvms(proc)?;
    let mut problems: Vec<Problem> =
        denial.into_iter().map(|denial| Problem::new("processes", denial.to_string())).collect();
    let pids: Vec<u32> = found.jvms.iter().map(|jvm| jvm.pid).collect();
    let files = files::read(root, rules().iter().flat_map(|rule| &rule.reads), &pids);
    let jvms = found.jvms.into_iter().filter_map(|jvm| jvm::read(proc, sys, jvm, &mut problems)).collect();
    Ok(HostSnapshot {
        schema: schema::HOST_SNAPSHOT.to_owned(),
        provenance: facts::provenance(proc, assay_version),
        taken_at: jiff::Timestamp::now().to_string(),
        files,
        jvms,
        proxies: proxy::read(proc, &mut problems),
        not_readable: found.not_readable,
        problems,
    })
}
