//! Why there are no programs in the kernel, and what would allow them.

use crate::sampling::Refused;
use assay_linux::BpfSettings;
use rustix::io::Errno;
use std::io;

/// What a process may do, as far as the kernel asks before it takes a program.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rights {
    /// `CAP_BPF` and `CAP_PERFMON`, or `CAP_SYS_ADMIN`; `None` where that could not be read.
    pub(crate) may_load: Option<bool>,
    pub(crate) settings: BpfSettings,
}

/// Why the programs are not there.
#[derive(Debug)]
pub enum Refusal {
    /// Registers of another architecture lie elsewhere.
    Architecture,
    /// Threads have other numbers in the kernel than here.
    PidNamespace,
    /// The kernel does not describe its types.
    NoTypes,
    /// It does, and what it says was not understood.
    Types(String),
    /// The kernel refuses what is needed to load the programs.
    Kernel {
        /// What is needed.
        what: &'static str,
        /// Its answer.
        error: io::Error,
    },
    /// The kernel does not take this program, for a reason of its own.
    Program {
        /// Its tracepoint.
        name: &'static str,
        /// The kernel's answer.
        error: io::Error,
        /// What its verifier wrote.
        log: String,
    },
    /// The kernel has no such tracepoint.
    NoTracepoint(&'static str),
    /// The program does not do what it should, tried on Assay itself.
    Wrong(String),
    /// The loader, in its words.
    Loader(String),
}

const RIGHTS: &str =
    "run assay as root, or with CAP_BPF and CAP_PERFMON (setcap cap_bpf,cap_perfmon+ep assay)";

impl Refusal {
    /// In words.
    pub(super) fn explain(&self, rights: &Rights) -> Refused {
        let (why, enable) = match self {
            Refusal::Architecture => {
                ("its programs read the registers of x86-64".to_owned(), "an x86-64 machine")
            }
            Refusal::PidNamespace => (
                "assay runs in a PID namespace of its own, where threads have other numbers than in the kernel".to_owned(),
                "run assay outside of the container (docker run --pid=host)",
            ),
            Refusal::NoTypes => (
                "the kernel does not describe its types: /sys/kernel/btf/vmlinux is missing".to_owned(),
                "a kernel with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted",
            ),
            Refusal::Types(what) => {
                (format!("the kernel's description of its types was not understood: {what}"), "report this with the kernel's release")
            }
            Refusal::Kernel { what, error } => Self::denied(what, error, rights),
            Refusal::Program { name, error, log } => match Errno::from_io_error(error) {
                Some(Errno::PERM | Errno::NOSYS) => Self::denied(name, error, rights),
                _ => {
                    let last = log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
                    (
                        format!("the kernel does not take the program for {name}: {} ({error})", last.trim()),
                        "Linux 5.18 or later. Report this with the kernel's release",
                    )
                }
            },
            Refusal::NoTracepoint(name) => (
                format!("the kernel has no tracepoint {name}"),
                "a kernel with CONFIG_FTRACE_SYSCALLS=y and CONFIG_BPF_EVENTS=y",
            ),
            Refusal::Wrong(what) => {
                (format!("the programs are not to be trusted here: {what}"), "report this with the kernel's release")
            }
            Refusal::Loader(what) => (format!("the programs could not be loaded: {what}"), "report this with the kernel's release"),
        };
        Refused { why, enable: enable.to_owned() }
    }

    fn denied(what: &str, error: &io::Error, rights: &Rights) -> (String, &'static str) {
        let failed = |why: &str| format!("bpf, for {what}: {why} ({error})");
        let settings = &rights.settings;
        match Errno::from_io_error(error) {
            Some(Errno::NOSYS) => (
                failed("the kernel has no such call, or a filter hides it"),
                "a kernel with CONFIG_BPF_SYSCALL=y; in a container a seccomp profile that allows bpf",
            ),
            Some(Errno::PERM | Errno::ACCESS) => {
                if rights.may_load == Some(false) {
                    (failed("assay has neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN"), RIGHTS)
                } else if settings.lockdown.as_deref() == Some("confidentiality") {
                    (
                        failed("the kernel is locked down: nobody may read its memory"),
                        "boot without lockdown=confidentiality",
                    )
                } else if settings.has_call_filter == Some(true) {
                    (
                        failed("a filter of system calls forbids it"),
                        "allow bpf in the container's seccomp profile, or run assay outside of it",
                    )
                } else {
                    (
                        failed(
                            "a security module forbids it, or before Linux 5.11 the limit of locked memory",
                        ),
                        "ulimit -l unlimited before Linux 5.11; else the policy of the security module",
                    )
                }
            }
            Some(Errno::NOMEM) => {
                (failed("no memory for the records of threads"), "free memory: about 0.7 KiB for each thread")
            }
            Some(Errno::MFILE | Errno::NFILE) => {
                (failed("too few files may be open"), "raise ulimit -n by 40")
            }
            _ => (failed("the kernel refuses"), RIGHTS),
        }
    }
}
