//! What the kernel did, by the functions on its stack.
//!
//! Three tables, looked up by whole names:
//! 1. `INTERRUPTING`: work that is not the thread's own; the one nearest the leaf decides, wherever it stands.
//! 2. System calls and `ENTRIES`: how the kernel was entered; the one nearest the root decides.
//! 3. `REFINING`: an entry that serves several purposes (`read` of a socket or a file) is decided by what it called.
//!
//! Folklore: the compiler turns last calls into jumps, so that the system call's own function may be missing on the stack:
//! `__x64_sys_read` jumps to `ksys_read`, and only that is sampled. Hence several prefixes, and inner functions among `ENTRIES`.
//! Held by: `recorded_stacks_have_their_activity`.

use assay_model::KernelActivity::{self, *};
use std::collections::HashMap;
use std::sync::LazyLock;

/// How architectures and layers spell a system call's function. Behind the first ones there is nothing but system calls.
const CALL_PREFIXES: [&str; 9] = [
    "__x64_sys_",
    "__ia32_sys_",
    "__ia32_compat_sys_",
    "__arm64_sys_",
    "__arm64_compat_sys_",
    "__se_sys_",
    "__do_sys_",
    "compat_sys_",
    "sys_",
];
/// Behind these there are other functions, too.
const INNER_PREFIXES: [&str; 3] = ["ksys_", "__sys_", "do_sys_"];

/// System calls by their kernel names.
const CALLS: &[(KernelActivity, &str)] = &[
    (NetworkSend, "sendto sendmsg sendmmsg send sendfile sendfile64"),
    (NetworkReceive, "recvfrom recvmsg recvmmsg recv recvmmsg_time32"),
    (
        NetworkConnections,
        "socket socketpair socketcall bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt",
    ),
    (Futex, "futex futex_time32 futex_wait futex_wake futex_waitv futex_requeue"),
    (
        Polling,
        "epoll_wait epoll_pwait epoll_pwait2 epoll_ctl epoll_create epoll_create1 poll ppoll select pselect6 old_select eventfd \
         eventfd2",
    ),
    (
        MemoryMappings,
        "mmap mmap_pgoff munmap mremap mprotect pkey_mprotect madvise process_madvise brk mlock mlock2 munlock mlockall munlockall \
         mincore msync mbind set_mempolicy get_mempolicy move_pages migrate_pages membarrier shmat shmdt shmget memfd_create \
         userfaultfd",
    ),
    (
        Files,
        "read write readv writev pread64 pwrite64 preadv preadv2 pwritev pwritev2 open openat openat2 creat close close_range stat \
         fstat lstat newstat newfstat newlstat newfstatat statx fstatat64 access faccessat faccessat2 lseek llseek getdents getdents64 \
         rename renameat renameat2 unlink unlinkat mkdir mkdirat rmdir link linkat symlink symlinkat readlink readlinkat fsync \
         fdatasync sync syncfs sync_file_range truncate ftruncate fallocate flock fcntl fcntl64 dup dup2 dup3 pipe pipe2 splice tee \
         vmsplice copy_file_range statfs fstatfs chdir fchdir getcwd chmod fchmod fchmodat chown fchown fchownat utimensat readahead \
         fadvise64 ioctl io_uring_enter io_uring_setup io_submit io_getevents inotify_add_watch inotify_rm_watch",
    ),
    (Scheduling, "sched_yield sched_setaffinity sched_getaffinity sched_setscheduler setpriority"),
    (
        Timers,
        "nanosleep clock_nanosleep nanosleep_time32 clock_nanosleep_time32 timer_create timer_settime timer_gettime timer_delete \
         timerfd_create timerfd_settime timerfd_gettime setitimer alarm",
    ),
    (
        Tasks,
        "clone clone3 fork vfork execve execveat exit exit_group wait4 waitid set_robust_list set_tid_address rseq prctl arch_prctl",
    ),
];

/// Other functions through which the kernel is entered, and inner ones of system calls whose own function is not on the stack.
const ENTRIES: &[(KernelActivity, &str)] = &[
    (
        PageFaults,
        "asm_exc_page_fault exc_page_fault page_fault do_page_fault do_user_addr_fault do_mem_abort el0_da el0_ia el1_abort",
    ),
    (Futex, "do_futex"),
    (Polling, "do_epoll_wait do_epoll_pwait do_epoll_ctl do_poll core_sys_select"),
    (MemoryMappings, "vm_mmap_pgoff __vm_munmap do_mprotect_pkey do_madvise do_mlock"),
    (
        Files,
        "do_readv do_writev do_preadv do_pwritev vfs_fstatat vfs_fstat do_faccessat do_readlinkat do_renameat2 do_unlinkat do_mkdirat \
         do_fsync filp_close",
    ),
    (NetworkSend, "do_sendfile"),
    (Timers, "hrtimer_nanosleep common_nsleep do_nanosleep"),
    (
        Tasks,
        "kernel_clone _do_fork do_fork ret_from_fork ret_from_fork_asm schedule_tail do_exit do_group_exit kernel_wait4 do_wait",
    ),
    (Scheduling, "schedule __schedule preempt_schedule_irq preempt_schedule"),
    // Work that was put off to the way back to user mode.
    (Files, "task_work_run ____fput __fput"),
    (OtherCalls, "arch_do_signal_or_restart do_signal get_signal exc_debug exc_general_protection"),
];

/// The kernel was entered by a system call, but none of its functions is on the stack: it is being entered or left.
const AT_THE_DOOR: [&str; 8] = [
    "entry_SYSCALL_64",
    "entry_SYSCALL_64_after_hwframe",
    "entry_SYSCALL_64_safe_stack",
    "do_syscall_64",
    "x64_sys_call",
    "el0_svc",
    "do_el0_svc",
    "invoke_syscall",
];

/// What an entry for several purposes was used for.
const REFINING: &[(KernelActivity, KernelActivity, &str)] = &[
    (Files, NetworkSend, "sock_write_iter sock_sendmsg __sock_sendmsg sock_splice_write splice_to_socket"),
    (Files, NetworkReceive, "sock_read_iter sock_recvmsg sock_splice_read"),
    (Files, NetworkConnections, "sock_close sock_ioctl __sock_release"),
    (Files, Polling, "eventfd_read eventfd_write ep_eventpoll_release eventpoll_release_file"),
    (Files, Timers, "timerfd_read timerfd_read_iter"),
];

/// Work that runs on a thread's time, whoever it is for.
const INTERRUPTING: &[(KernelActivity, &str)] = &[
    (
        Softirq,
        "__do_softirq handle_softirqs do_softirq __softirqentry_text_start do_softirq_own_stack net_rx_action run_timer_softirq \
         rcu_core_si",
    ),
    (
        Interrupts,
        "asm_common_interrupt common_interrupt asm_sysvec_apic_timer_interrupt sysvec_apic_timer_interrupt asm_sysvec_reschedule_ipi \
         asm_sysvec_call_function asm_sysvec_call_function_single asm_sysvec_irq_work asm_sysvec_hyperv_callback \
         asm_sysvec_hyperv_stimer0 asm_sysvec_kvm_asyncpf_interrupt asm_sysvec_xen_hvm_callback ret_from_intr apic_timer_interrupt \
         reschedule_interrupt call_function_interrupt call_function_single_interrupt el0_interrupt el1_interrupt el0_irq el1_irq",
    ),
];
/// What an interrupt leads to on the way back: choosing another thread.
const SCHEDULING_AFTER: [&str; 4] =
    ["schedule", "__schedule", "preempt_schedule_irq", "raw_irqentry_exit_cond_resched"];

/// What the kernel did, by its stack with the leaf first. `None` stands for an address without a symbol.
pub(crate) fn activity_of<'a>(leaf_first: impl Iterator<Item = Option<&'a str>>) -> KernelActivity {
    let names: Vec<&str> = leaf_first.flatten().collect();
    let has_any = |of: &[&str]| names.iter().any(|name| of.contains(name));
    for name in &names {
        match OF_INTERRUPTING.find(name) {
            // An interrupt that ends in another thread's turn.
            Some(Interrupts) if has_any(&SCHEDULING_AFTER) => {
                return Scheduling;
            }
            Some(activity) => return activity,
            None => {}
        }
    }
    let Some(entry) = names.iter().rev().find_map(|name| entry_of(name)) else {
        return if has_any(&AT_THE_DOOR) { Crossing } else { Unknown };
    };
    let refined = |name: &&str| {
        let row = REFINING.iter().find(|(from, _, functions)| {
            *from == entry && functions.split(' ').any(|function| function == *name)
        });
        row.map(|(_, to, _)| *to)
    };
    names.iter().rev().find_map(refined).unwrap_or(entry)
}

/// The tables by name.
struct Table(HashMap<&'static str, KernelActivity>);

static OF_CALLS: LazyLock<Table> = LazyLock::new(|| Table::of(CALLS));
static OF_ENTRIES: LazyLock<Table> = LazyLock::new(|| Table::of(ENTRIES));
static OF_INTERRUPTING: LazyLock<Table> = LazyLock::new(|| Table::of(INTERRUPTING));

impl Table {
    fn of(rows: &[(KernelActivity, &'static str)]) -> Table {
        let named = rows.iter().flat_map(|(activity, names)| names.split(' ').map(|name| (name, *activity)));
        Table(named.collect())
    }

    fn find(&self, name: &str) -> Option<KernelActivity> {
        self.0.get(name).copied()
    }
}

/// Purpose of a system call, by its name.
pub(crate) fn activity_of_call(name: &str) -> KernelActivity {
    OF_CALLS.find(name).unwrap_or(OtherCalls)
}

fn entry_of(name: &str) -> Option<KernelActivity> {
    let behind = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
    if let Some(call) = behind(&CALL_PREFIXES) {
        return Some(activity_of_call(call));
    }
    behind(&INNER_PREFIXES).and_then(|call| OF_CALLS.find(call)).or_else(|| OF_ENTRIES.find(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks of Linux 6.18 on x86-64 as `perf script` printed them, the root first.
    const RECORDED: [(&str, KernelActivity); 31] = [
        ("do_syscall_64 __x64_sys_recvfrom __sys_recvfrom sock_recvmsg tcp_recvmsg", NetworkReceive),
        ("do_syscall_64 ksys_read vfs_read sock_read_iter sock_recvmsg", NetworkReceive),
        ("do_syscall_64 __x64_sys_sendto __sys_sendto tcp_sendmsg tcp_sendmsg_locked", NetworkSend),
        ("do_syscall_64 ksys_write vfs_write sock_write_iter tcp_sendmsg", NetworkSend),
        ("do_syscall_64 __x64_sys_connect __sys_connect inet_stream_connect", NetworkConnections),
        ("do_syscall_64 __x64_sys_socket __sys_socket sock_alloc_file", NetworkConnections),
        ("do_syscall_64 __x64_sys_close __fput sock_close inet_release", NetworkConnections),
        ("do_syscall_64 __x64_sys_close filp_flush dnotify_flush", Files),
        ("do_syscall_64 __x64_sys_futex do_futex futex_wait __futex_wait schedule __schedule", Futex),
        ("do_syscall_64 __x64_sys_futex get_timespec64 _copy_from_user", Futex),
        ("do_syscall_64 __x64_sys_epoll_wait do_epoll_wait ep_send_events", Polling),
        ("do_syscall_64 __x64_sys_poll do_sys_poll _copy_from_user", Polling),
        ("do_syscall_64 __x64_sys_pselect6 do_pselect core_sys_select do_select", Polling),
        ("do_syscall_64 ksys_write vfs_write eventfd_write _raw_spin_unlock_irq", Polling),
        ("asm_exc_page_fault exc_page_fault handle_mm_fault __handle_mm_fault", PageFaults),
        ("do_syscall_64 ksys_read vfs_read copy_to_iter asm_exc_page_fault handle_mm_fault", Files),
        ("do_syscall_64 vm_mmap_pgoff do_mmap __mmap_region", MemoryMappings),
        ("do_syscall_64 __x64_sys_munmap __vm_munmap do_vmi_munmap", MemoryMappings),
        ("do_syscall_64 __x64_sys_madvise do_madvise madvise_do_behavior", MemoryMappings),
        ("do_syscall_64 __x64_sys_pwrite64 vfs_write ext4_buffered_write_iter", Files),
        ("do_syscall_64 __do_sys_newfstatat cp_new_stat _copy_to_user", Files),
        ("do_syscall_64 __x64_sys_openat do_sys_openat2 do_filp_open path_openat", Files),
        ("do_syscall_64 exit_to_user_mode_loop task_work_run __fput dput", Files),
        ("do_syscall_64 exit_to_user_mode_loop schedule __schedule finish_task_switch", Scheduling),
        ("do_syscall_64 __x64_sys_clock_nanosleep hrtimer_nanosleep do_nanosleep schedule", Timers),
        ("do_syscall_64 __do_sys_clone3 kernel_clone copy_process", Tasks),
        ("do_syscall_64 __x64_sys_getppid __task_pid_nr_ns", OtherCalls),
        ("entry_SYSCALL_64_after_hwframe do_syscall_64", Crossing),
        (
            "do_syscall_64 __x64_sys_sendto __sys_sendto tcp_sendmsg asm_sysvec_apic_timer_interrupt \
             sysvec_apic_timer_interrupt __irq_exit_rcu handle_softirqs run_timer_softirq",
            Softirq,
        ),
        ("asm_sysvec_apic_timer_interrupt irqentry_exit_to_user_mode", Interrupts),
        ("__x86_indirect_thunk_rax", Unknown),
    ];

    fn of(root_first: &str) -> KernelActivity {
        let names: Vec<_> = root_first.split(' ').map(Some).collect();
        activity_of(names.into_iter().rev())
    }

    #[test]
    fn recorded_stacks_have_their_activity() {
        for (stack, activity) in RECORDED {
            assert_eq!(of(stack), activity, "{stack}");
        }
    }

    /// By the kernel's sources; not verified on a machine.
    #[test]
    fn spellings_of_other_kernels_and_architectures_are_known() {
        let stacks = [
            (
                "el0t_64_sync el0t_64_sync_handler el0_svc do_el0_svc invoke_syscall __arm64_sys_futex do_futex",
                Futex,
            ),
            (
                "el0t_64_sync el0t_64_sync_handler el0_da do_mem_abort do_page_fault handle_mm_fault",
                PageFaults,
            ),
            ("el0t_64_sync el0_svc do_el0_svc invoke_syscall", Crossing),
            ("el0t_64_irq el0t_64_irq_handler el0_interrupt", Interrupts),
            ("entry_SYSCALL_64_after_hwframe do_syscall_64 sys_sendto", NetworkSend),
            ("page_fault do_page_fault handle_mm_fault", PageFaults),
        ];
        for (stack, activity) in stacks {
            assert_eq!(of(stack), activity, "{stack}");
        }
    }

    #[test]
    fn only_whole_names_count_and_what_has_no_symbol_is_unknown() {
        assert_eq!(of("my_futex_helper not___x64_sys_futex"), Unknown);
        assert_eq!(of("do_syscall_64 __x64_sys_futex_of_tomorrow"), OtherCalls);
        assert_eq!(of("do_syscall_64 __x64_sys_something do_sys_poll"), OtherCalls, "nearest the root");
        assert_eq!(activity_of([None, None].into_iter()), Unknown);
        assert_eq!(activity_of([None, Some("do_futex"), None].into_iter()), Futex);
        assert_eq!(
            of("asm_sysvec_reschedule_ipi irqentry_exit_to_user_mode schedule __schedule"),
            Scheduling
        );
    }

    #[test]
    fn no_name_stands_in_two_rows() {
        for table in [CALLS, ENTRIES, INTERRUPTING] {
            let mut names: Vec<&str> = table.iter().flat_map(|(_, names)| names.split(' ')).collect();
            let before = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), before);
        }
    }
}
