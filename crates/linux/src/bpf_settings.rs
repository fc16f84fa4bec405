//! Settings of the kernel that decide whether programs may be loaded into it (BPF).

use crate::machine::chosen;
use crate::root::optional;
use crate::{LinuxError, ProcRoot, SysRoot};

/// Number of the machine's first PID namespace in `/proc/PID/ns/pid` (`PROC_PID_INIT_INO` of the kernel's `include/linux/proc_ns.h`).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Settings that decide about programs in the kernel; absent where the kernel does not report them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BpfSettings {
    /// Whether the reader is in the machine's first PID namespace, whose numbers are those that programs in the kernel see.
    pub is_in_first_pid_namespace: Option<bool>,
    /// Whether a filter of system calls (seccomp) is on the reader.
    pub has_call_filter: Option<bool>,
    /// `none`, `integrity` or `confidentiality`: the last one lets nobody read the kernel's memory.
    pub lockdown: Option<String>,
    /// Whether the kernel describes its types (`/sys/kernel/btf/vmlinux`).
    pub has_btf: bool,
}

impl BpfSettings {
    /// Reads these settings, of the calling process where they are a process's own.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn read(proc: &ProcRoot, sys: &SysRoot) -> Result<BpfSettings, LinuxError> {
        let namespace = std::fs::read_link(proc.path().join("self/ns/pid")).ok();
        let status = optional(proc.read_text("self/status"))?.map(|(_, text)| text);
        let lockdown = sys.read_optional("kernel/security/lockdown")?;
        Ok(BpfSettings {
            is_in_first_pid_namespace: namespace.map(|link| link.as_os_str() == FIRST_PID_NAMESPACE),
            has_call_filter: status.as_deref().and_then(has_call_filter),
            lockdown: lockdown.as_deref().and_then(chosen),
            has_btf: sys.place("/sys/kernel/btf/vmlinux".as_ref()).exists(),
        })
    }
}

/// `Seccomp: 2` in `/proc/PID/status`: 0 none, 1 strict, 2 a filter.
fn has_call_filter(status: &str) -> Option<bool> {
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"))?;
    Some(mode.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn roots(namespace: &str, status: &str, lockdown: Option<&str>) -> (tempfile::TempDir, BpfSettings) {
        let root = tempfile::tempdir().expect("a folder");
        let [proc, sys] = ["proc", "sys"].map(|name| root.path().join(name));
        fs::create_dir_all(proc.join("self/ns")).expect("a folder");
        symlink(namespace, proc.join("self/ns/pid")).expect("a link");
        fs::write(proc.join("self/status"), status).expect("a file");
        fs::create_dir_all(sys.join("kernel/security")).expect("a folder");
        if let Some(lockdown) = lockdown {
            fs::write(sys.join("kernel/security/lockdown"), lockdown).expect("a file");
        }
        let settings = BpfSettings::read(&ProcRoot::at(&proc), &SysRoot::at(&sys)).expect("settings");
        (root, settings)
    }

    #[test]
    fn a_container_with_a_filter_on_a_locked_kernel_is_told_from_the_machine_itself() {
        let inside =
            roots("pid:[4026532189]", "Name:\tsh\nSeccomp:\t2\n", Some("none integrity [confidentiality]\n"));
        let expected = BpfSettings {
            is_in_first_pid_namespace: Some(false),
            has_call_filter: Some(true),
            lockdown: Some("confidentiality".to_owned()),
            has_btf: false,
        };
        assert_eq!(inside.1, expected);
        let outside = roots("pid:[4026531836]", "Seccomp:\t0\n", None).1;
        let expected = BpfSettings {
            is_in_first_pid_namespace: Some(true),
            has_call_filter: Some(false),
            ..BpfSettings::default()
        };
        assert_eq!(outside, expected);
        assert_eq!(roots("x", "Name:\tsh\n", Some("nothing chosen")).1.has_call_filter, None);
    }
}
