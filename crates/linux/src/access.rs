//! Why this process may not look into another one, and what to do about it.
//!
//! The kernel's rule (`ptrace(2)`, "Ptrace access mode checking"): the same user and a process that may dump core, or
//! the capability `CAP_SYS_PTRACE` in the target's user namespace. Yama's `ptrace_scope` narrows it for what may read
//! memory or stop (`mem`, `process_vm_readv`, ptrace), but not for `smaps`, `pagemap` and `status`.

use crate::root::optional;
use crate::threads::pids_of;
use crate::{Denial, LinuxError, ProcRoot};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const CAP_SYS_PTRACE: u64 = 1 << 19;

/// Facts that decide about access, as far as they are visible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Effective user of this process.
    own_uid: Option<u32>,
    /// Whether this process has `CAP_SYS_PTRACE`.
    has_capability: Option<bool>,
    /// Whether this process lies in a user namespace of its own, in which root is not the machine's.
    is_in_user_namespace: bool,
    /// Real user of the target; absent when it is not visible.
    target_uid: Option<u32>,
    /// Whether the target's files belong to root though it does not: it may not dump core, and so hides from its user.
    is_undumpable: bool,
    /// Number of PID namespaces in which the target lies.
    namespaces: usize,
    /// Who traces it.
    tracer_pid: Option<u32>,
    /// Yama's setting, where the kernel has Yama.
    ptrace_scope: Option<u32>,
    /// Whether other users' processes are hidden (mount option `hidepid`).
    is_hidden: bool,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// `smaps`, `pagemap`, `status`: Yama has no say.
    Look,
    /// Memory, or to stop it.
    Attach,
}

impl ProcRoot {
    /// Why this process may not read the memory of that one, for a message. Call it after a refusal: it explains, it
    /// does not test.
    pub fn explain_denied(&self, pid: u32) -> Denial {
        self.access_facts(pid).explain(pid, Wish::Attach)
    }

    pub(crate) fn explain_denied_look(&self, pid: u32) -> Denial {
        self.access_facts(pid).explain(pid, Wish::Look)
    }

    /// Yama's `ptrace_scope`; `None` where the kernel has no Yama.
    ///
    /// # Errors
    /// When the setting is there and cannot be read.
    pub fn read_ptrace_scope(&self) -> Result<Option<u32>, LinuxError> {
        let text = optional(self.read_text("sys/kernel/yama/ptrace_scope"))?;
        Ok(text.and_then(|(_, text)| text.trim().parse().ok()))
    }

    /// The process that traces this one (a debugger, `strace`); `None` when nobody does.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn read_tracer_pid(&self, pid: u32) -> Result<Option<u32>, LinuxError> {
        let (_, text) = self.read_text_of(pid, "status")?;
        Ok(field(&text, "TracerPid:").and_then(|v| v.parse().ok()).filter(|pid| *pid != 0))
    }

    /// The real user of a process.
    pub(crate) fn read_owner(&self, pid: u32) -> Result<Option<u32>, LinuxError> {
        let (_, text) = self.read_text_of(pid, "status")?;
        Ok(uid(&text, 0))
    }

    fn access_facts(&self, pid: u32) -> Facts {
        let own = self.read_text("self/status").map(|(_, text)| text).unwrap_or_default();
        let target = self.read_text_of(pid, "status").map(|(_, text)| text).ok();
        let target_uid = target.as_deref().and_then(|t| uid(t, 0));
        let folder_uid = std::fs::metadata(self.file_of(pid, "stat")).ok().map(|m| m.uid());
        let capabilities = field(&own, "CapEff:").and_then(|v| u64::from_str_radix(v, 16).ok());
        let uid_map = self.read_text("self/uid_map").map(|(_, text)| text).unwrap_or_default();
        let mounts = self.read_text("self/mounts").map(|(_, text)| text).unwrap_or_default();
        Facts {
            own_uid: uid(&own, 1),
            has_capability: capabilities.map(|set| set & CAP_SYS_PTRACE != 0),
            is_in_user_namespace: !is_whole_map(&uid_map),
            is_undumpable: folder_uid == Some(0) && target_uid.is_some_and(|uid| uid != 0),
            target_uid,
            namespaces: target.as_deref().map_or(0, |t| pids_of(t).len()),
            tracer_pid: self.read_tracer_pid(pid).ok().flatten(),
            ptrace_scope: self.read_ptrace_scope().ok().flatten(),
            is_hidden: target.is_none() && mounts.lines().any(|line| hides(self.path(), line)),
        }
    }
}

impl Facts {
    fn explain(&self, pid: u32, wish: Wish) -> Denial {
        let says = |cause: String, fix: &str| Denial { cause, fix: fix.to_owned() };
        let root = "run assay as root: sudo assay ...";
        if self.target_uid.is_none() {
            return if self.is_hidden {
                says(
                    "processes of other users are hidden here (/proc is mounted with hidepid)".to_owned(),
                    root,
                )
            } else {
                says(format!("there is no process {pid}, or it has ended"), "ps -e lists what runs")
            };
        }
        let owner = self.target_uid.unwrap_or(0);
        if self.has_capability == Some(true) {
            if let Some(3) = self.ptrace_scope.filter(|_| wish == Wish::Attach) {
                let cause = "Yama forbids all (/proc/sys/kernel/yama/ptrace_scope is 3 until the next boot)";
                return says(cause.to_owned(), "boot with kernel.yama.ptrace_scope below 3");
            }
            let cause = if self.is_in_user_namespace {
                format!("process {pid} lies outside of this container's user namespace")
            } else {
                format!("a security module or a filter of system calls protects process {pid}")
            };
            return says(cause, "run assay on the host as root, and not in a container: sudo assay ...");
        }
        if self.own_uid != Some(owner) {
            let own = self.own_uid.map_or_else(|| "another user".to_owned(), |uid| format!("user {uid}"));
            let cause =
                format!("process {pid} belongs to user {owner}, and this is {own} without CAP_SYS_PTRACE");
            return Denial { cause, fix: self.fix_for_owner(owner) };
        }
        let scope = self.ptrace_scope.filter(|scope| *scope != 0 && wish == Wish::Attach);
        if let Some(scope) = scope {
            let cause = format!(
                "Yama lets {} read memory (/proc/sys/kernel/yama/ptrace_scope is {scope}), and CAP_SYS_PTRACE is not there",
                match scope {
                    1 => "only a process's own ancestors",
                    2 => "only root",
                    _ => "nobody",
                }
            );
            let fix = match scope {
                1 => {
                    "run assay as root: sudo assay ... (or, until the next boot: sudo sysctl kernel.yama.ptrace_scope=0)"
                }
                2 => root,
                _ => "boot with kernel.yama.ptrace_scope below 3",
            };
            return says(cause, fix);
        }
        if self.is_undumpable {
            let cause =
                format!("process {pid} changed its user or capabilities, and so hides from its own user");
            return says(cause, root);
        }
        let cause =
            format!("process {pid} has rights (capabilities or a user namespace) that this process lacks");
        Denial { cause, fix: self.fix_for_owner(owner) }
    }

    fn fix_for_owner(&self, owner: u32) -> String {
        if self.own_uid == Some(0) {
            // Root without the capability: the usual container.
            return "start this container with --cap-add SYS_PTRACE (Kubernetes: securityContext.capabilities.add), \
                    or run assay on the host as root: sudo assay ..."
                .to_owned();
        }
        let user = if owner == 0 || 1 < self.namespaces {
            String::new()
        } else {
            format!(" (or as the process's user: sudo -u '#{owner}' assay ...)")
        };
        format!("run assay as root: sudo assay ...{user}")
    }
}

fn field<'a>(status: &'a str, key: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// `Uid: 1000 1000 1000 1000`: real, effective, saved, of the file system.
fn uid(status: &str, index: usize) -> Option<u32> {
    field(status, "Uid:")?.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// The first user namespace maps all users to themselves: `0 0 4294967295`.
fn is_whole_map(uid_map: &str) -> bool {
    uid_map.is_empty() || uid_map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

/// `proc /proc proc rw,nosuid,hidepid=invisible 0 0`
fn hides(root: &Path, mount: &str) -> bool {
    let mut fields = mount.split(' ').skip(1);
    let is_here = fields.next().is_some_and(|at| Path::new(at) == root);
    let mut options = fields.nth(1).unwrap_or("").split(',');
    is_here
        && options.any(|o| {
            matches!(
                o,
                "hidepid=1"
                    | "hidepid=2"
                    | "hidepid=noaccess"
                    | "hidepid=invisible"
                    | "hidepid=ptraceable"
                    | "hidepid=4"
            )
        })
}

impl LinuxError {
    /// A file of a process that could not be opened or read; a refusal is explained.
    pub(crate) fn read_of(proc: &ProcRoot, pid: u32, path: &Path, source: io::Error) -> Self {
        LinuxError::read(path, source).explained(proc, pid)
    }

    /// A refusal with its reason; other errors as they are.
    pub(crate) fn explained(self, proc: &ProcRoot, pid: u32) -> Self {
        let LinuxError::Read { path, source } = self else { return self };
        // Where processes are hidden, those of other users look as if they were not there.
        let denial = match source.kind() {
            io::ErrorKind::PermissionDenied if path.ends_with("mem") => proc.explain_denied(pid),
            io::ErrorKind::PermissionDenied => proc.explain_denied_look(pid),
            io::ErrorKind::NotFound if exists_for_signals(pid) => proc.explain_denied_look(pid),
            _ => return LinuxError::Read { path, source },
        };
        LinuxError::Denied { path, denial }
    }
}

/// Whether a process that `/proc` does not show is there all the same, and belongs to somebody else.
fn exists_for_signals(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::PERM))
}

#[cfg(test)]
mod tests;
