//! Programs that the kernel does not take.

use super::super::fake_kernel::ProgramsState;
use super::super::{CALLS, Case, case};
use assay_model::TimeReport;
use rustix::io::Errno;

/// Programs in the kernel.
pub const PROGRAMS: &[Case] = &[
    case(
        "another architecture",
        |k| k.programs = ProgramsState::OtherArchitecture,
        &[(CALLS, "x86-64", "x86-64")],
        untraced,
    ),
    case(
        "a PID namespace",
        |k| k.enter_pid_namespace("pid:[4026532189]"),
        &[(CALLS, "PID namespace", "--pid=host")],
        untraced,
    ),
    case(
        "no BTF",
        |k| k.remove("sys/kernel/btf/vmlinux"),
        &[(CALLS, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")],
        untraced,
    ),
    case(
        "BTF cut off",
        |k| k.write("sys/kernel/btf/vmlinux", "\u{1}\u{2}"),
        &[(CALLS, "was not understood", "report")],
        untraced,
    ),
    case(
        "EPERM without the capabilities",
        |k| k.programs = ProgramsState::NoRight,
        &[(CALLS, "CAP_BPF", "setcap")],
        untraced,
    ),
    case(
        "EPERM on a locked kernel",
        |k| {
            k.programs = ProgramsState::Refused(Errno::PERM);
            k.write("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
        },
        &[(CALLS, "locked down", "lockdown=confidentiality")],
        untraced,
    ),
    case(
        "EPERM by a filter of system calls",
        |k| {
            k.programs = ProgramsState::Refused(Errno::PERM);
            k.write("proc/self/status", "Name:\tassay\nSeccomp:\t2\n");
        },
        &[(CALLS, "filter of system calls", "seccomp")],
        untraced,
    ),
    case(
        "EPERM for no visible reason",
        |k| k.programs = ProgramsState::Refused(Errno::PERM),
        &[(CALLS, "security module", "ulimit -l")],
        untraced,
    ),
    case(
        "ENOSYS",
        |k| k.programs = ProgramsState::Refused(Errno::NOSYS),
        &[(CALLS, "no such call", "CONFIG_BPF_SYSCALL")],
        untraced,
    ),
    case(
        "ENOMEM",
        |k| k.programs = ProgramsState::Refused(Errno::NOMEM),
        &[(CALLS, "no memory", "0.7 KiB")],
        untraced,
    ),
    case(
        "EMFILE",
        |k| k.programs = ProgramsState::Refused(Errno::MFILE),
        &[(CALLS, "files may be open", "ulimit -n")],
        untraced,
    ),
    case(
        "the verifier refuses",
        |k| k.programs = ProgramsState::NotVerified,
        &[(CALLS, "processed 7 insns", "Linux 5.18")],
        untraced,
    ),
    case(
        "no tracepoint",
        |k| k.programs = ProgramsState::NoTracepoint,
        &[(CALLS, "tracepoint sys_enter", "CONFIG_FTRACE_SYSCALLS")],
        untraced,
    ),
    case(
        "programs that count wrongly",
        |k| k.programs = ProgramsState::Wrong,
        &[(CALLS, "not to be trusted", "report")],
        untraced,
    ),
];

fn untraced(report: &TimeReport) -> bool {
    report.traced.is_none() && report.samples.is_some()
}
