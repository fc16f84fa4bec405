//! The role of a thread, by what the JVM's own list says of it.
//!
//! Classes decide, names only where a class is not enough: everybody may name a Java thread `G1 Conc#0`, but only the JVM makes one of
//! class `ConcurrentGCThread`. A thread of native code that attached itself (`AttachCurrentThread`) cannot be distinguished from one of the
//! application.
//!
//! Where a libjvm without symbols gives neither the class of a thread nor its Java name, the name that the kernel has of it decides
//! between those that only differ in that: such a role is inferred.

use crate::own_names::{is_kernel_name, of_java_list};
use assay_hotspot::JvmThread;
use assay_model::{ThreadKind, ThreadRole};
use std::collections::HashMap;

/// JDK's own threads by the class of their Java object; the pollers are among the last.
const JDK_CLASSES: [&str; 4] = [
    "java.lang.ref.Reference$ReferenceHandler",
    "java.lang.ref.Finalizer$FinalizerThread",
    INNOCUOUS,
    "sun.misc.InnocuousThread",
];
/// The application's threads have it, and some of the JVM's own.
const THREAD: &str = "java.lang.Thread";
const INNOCUOUS: &str = "jdk.internal.misc.InnocuousThread";
const CARRIER: &str = "jdk.internal.misc.CarrierThread";
/// Names that the JDK gives to threads that wait on behalf of virtual threads (21 to 25).
const POLLER_NAMES: [&str; 8] = [
    "Read-Poller",
    "Write-Poller",
    "Read-Updater",
    "Write-Updater",
    "Master-Poller",
    "MasterPoller",
    "VirtualThread-unparker",
    "VirtualThread-unblocker",
];
/// The timer of a pool of class `ForkJoinPool` (JDK 25): that of the carriers wakes virtual threads.
const POOL_TIMER: &str = "java.util.concurrent.DelayScheduler";
/// The pool of all applications. Carriers have one of their own. Its timer often runs without its workers: it serves `orTimeout` of
/// `CompletableFuture`.
const COMMON_POOL: &str = "ForkJoinPool.commonPool";
/// The timer's thread name, after the pool's name and a hyphen.
const TIMER: &str = "delayScheduler";
/// Thread names of such a pool's workers, before their number.
const WORKER: &str = "worker";

/// What a thread does, and whether that rests on the kernel's name of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) role: ThreadRole,
    pub(crate) is_inferred: bool,
}

impl Role {
    pub(crate) const UNKNOWN: Role = Role::known(ThreadRole::Unknown);

    const fn known(role: ThreadRole) -> Role {
        Role { role, is_inferred: false }
    }

    pub(crate) const fn inferred(role: ThreadRole) -> Role {
        Role { role, is_inferred: true }
    }
}

/// What each of the threads of a JVM does, with the kernel's names of them.
pub(crate) fn roles_of(threads: &[(JvmThread, &str)]) -> Vec<Role> {
    let roles: Vec<Role> = threads.iter().map(|(thread, kernel_name)| role_of(thread, kernel_name)).collect();
    let pool = |thread: &JvmThread| {
        let (pool, _) =
            thread.name.as_deref()?.rsplit_once("-worker-").or(thread.name.as_deref()?.rsplit_once('-'))?;
        Some(pool.to_owned())
    };
    // Pools with whether they are known by what the kernel keeps of names alone.
    let pools_of = |of: ThreadRole| -> HashMap<String, bool> {
        let mut pools = HashMap::new();
        for ((thread, kernel_name), _) in threads.iter().zip(&roles).filter(|(_, role)| role.role == of) {
            let by_kernel = || pool_in_kernel(kernel_name, WORKER).filter(|_| thread.name.is_none());
            if let Some(pool) = pool(thread).or_else(by_kernel).filter(|_| !is_timer(thread)) {
                *pools.entry(pool).or_insert(true) &= thread.name.is_none();
            }
        }
        pools
    };
    let (carriers, application) = (pools_of(ThreadRole::Carrier), pools_of(ThreadRole::Application));
    let of_timer = |thread: &JvmThread, kernel_name: &str| {
        let is_nameless = thread.name.is_none();
        let pool = pool(thread).or_else(|| pool_in_kernel(kernel_name, TIMER).filter(|_| is_nameless));
        let in_pools = |pools: &HashMap<String, bool>| pools.get(pool.as_deref()?).copied();
        match (in_pools(&carriers), in_pools(&application)) {
            (Some(by_kernel), _) => Role { role: ThreadRole::Poller, is_inferred: by_kernel || is_nameless },
            (None, Some(by_kernel)) => {
                Role { role: ThreadRole::Application, is_inferred: by_kernel || is_nameless }
            }
            (None, None) if pool.as_deref() == Some(COMMON_POOL) => Role::known(ThreadRole::Application),
            // Its pool has no thread with a name that could be read: it may be that of the carriers.
            (None, None) => Role::UNKNOWN,
        }
    };
    let with_names = threads.iter().zip(&roles);
    let role = |((thread, kernel_name), role): (&(JvmThread, &str), &Role)| {
        if is_timer(thread) { of_timer(thread, kernel_name) } else { *role }
    };
    with_names.map(role).collect()
}

/// The pool of a thread by what the kernel keeps of its name, where the pool's is whole in it: `ForkJoinPool-2-` of
/// `ForkJoinPool-2-delayScheduler`. `own`: what the thread is called in its pool.
fn pool_in_kernel(kernel_name: &str, own: &str) -> Option<String> {
    let (pool, rest) = kernel_name.rsplit_once('-')?;
    own.starts_with(rest).then(|| pool.to_owned())
}

/// Whether a thread is the timer of a pool, whose owner only the other threads show.
pub(crate) fn is_timer(thread: &JvmThread) -> bool {
    thread.java_class.as_deref() == Some(POOL_TIMER)
}

fn role_of(thread: &JvmThread, kernel_name: &str) -> Role {
    let name = thread.name.as_deref();
    match thread.kind {
        // The JVM gives its compilers their names in the kernel, too, and nobody else runs in them.
        ThreadKind::Compiler => Role::known(compiler_of(name.unwrap_or(kernel_name))),
        ThreadKind::Gc => Role::known(ThreadRole::Collector),
        ThreadKind::Vm if thread.jvm_class.as_deref() == Some("JvmtiAgentThread") => {
            Role::known(ThreadRole::Agent)
        }
        ThreadKind::Vm => Role::known(ThreadRole::Vm),
        ThreadKind::Java => match (thread.java_class.as_deref(), name) {
            (Some(class), Some(name)) => Role::known(of_java(class, name)),
            (class, None) => of_nameless(class, kernel_name),
            // Without its class a Java thread may be anything.
            (None, Some(_)) => Role::UNKNOWN,
        },
        ThreadKind::Native | ThreadKind::Other => Role::UNKNOWN,
    }
}

/// The role of a Java thread whose Java name could not be read.
fn of_nameless(class: Option<&str>, kernel_name: &str) -> Role {
    match class {
        // Compilers and some of the JVM's own threads have it, too.
        Some(THREAD) => Role::inferred(of_java_list(kernel_name).unwrap_or(ThreadRole::Application)),
        Some(INNOCUOUS) if POLLER_NAMES.iter().any(|own| is_kernel_name(own, kernel_name)) => {
            Role::inferred(ThreadRole::Poller)
        }
        Some(INNOCUOUS) => Role::inferred(of_java(INNOCUOUS, kernel_name)),
        Some(class) => Role::known(of_java(class, "")),
        None => of_java_list(kernel_name).map_or(Role::UNKNOWN, Role::inferred),
    }
}

/// Which compiler a thread of one runs, by its name: the JVM's own, or the first letters of it that the kernel has.
pub(crate) fn compiler_of(name: &str) -> ThreadRole {
    match name.get(..3) {
        Some("C1 ") => ThreadRole::C1,
        Some("C2 ") => ThreadRole::C2,
        _ => ThreadRole::OtherCompiler,
    }
}

fn of_java(class: &str, name: &str) -> ThreadRole {
    let is_poller = || POLLER_NAMES.iter().any(|own| name.starts_with(own));
    match class {
        CARRIER => ThreadRole::Carrier,
        INNOCUOUS if is_poller() => ThreadRole::Poller,
        class if JDK_CLASSES.contains(&class) => ThreadRole::Jdk,
        _ => ThreadRole::Application,
    }
}

/// The name that a thread shares with those of its pool: the last number that counts threads replaced, which stands at the end, or
/// does not belong to a word as in `G1 Service`.
pub(crate) fn pool_of(name: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut rest = name;
    while let Some(last) = rest.rfind(is_digit) {
        let end = last + 1;
        let before = rest[..end].trim_end_matches(is_digit);
        if end == name.len() || !before.ends_with(char::is_alphabetic) {
            return format!("{before}*{}", &name[end..]);
        }
        rest = before;
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_pool_share_a_name() {
        let pools = [
            ("http-nio-8080-exec-17", "http-nio-8080-exec-*"),
            ("pool-2-thread-1", "pool-2-thread-*"),
            ("ForkJoinPool.commonPool-worker-3", "ForkJoinPool.commonPool-worker-*"),
            ("GC Thread#0", "GC Thread#*"),
            ("C2 CompilerThread0", "C2 CompilerThread*"),
            ("G1 Service", "G1 Service"),
            ("worker-7 of G1", "worker-7 of G*"),
            ("worker-7 of G1 pool", "worker-* of G1 pool"),
            ("main", "main"),
            ("7", "*"),
            ("größe-7é", "größe-*é"),
            ("é7", "é*"),
            ("", ""),
        ];
        for (name, pool) in pools {
            assert_eq!(pool_of(name), pool, "{name}");
        }
    }

    #[test]
    fn a_compiler_whose_name_cannot_be_read_is_not_taken_for_another_one() {
        let thread = |name: Option<&str>| JvmThread {
            tid_inside: 1,
            name: name.map(str::to_owned),
            kind: ThreadKind::Compiler,
            jvm_class: Some("CompilerThread".to_owned()),
            java_class: None,
            stack: None,
            address: 8,
        };
        let role = |name, kernel_name| role_of(&thread(name), kernel_name);
        assert_eq!(role(None, "C1 CompilerThre"), Role::known(ThreadRole::C1));
        assert_eq!(role(Some("C2 CompilerThread0"), "C2 Comp..hread0"), Role::known(ThreadRole::C2));
        let other = Role::known(ThreadRole::OtherCompiler);
        assert_eq!(role(Some("JVMCI CompilerThread0"), "JVMCI CompilerT"), other);
    }

    #[test]
    fn a_java_thread_that_only_calls_itself_so_is_the_application_s() {
        let thread = |name: &str, class: &str| JvmThread {
            tid_inside: 1,
            name: Some(name.to_owned()),
            kind: ThreadKind::Java,
            jvm_class: Some("JavaThread".to_owned()),
            java_class: Some(class.to_owned()),
            stack: None,
            address: 8,
        };
        let roles = [
            ("G1 Conc#0", "java.lang.Thread", ThreadRole::Application),
            ("Read-Poller", "java.lang.Thread", ThreadRole::Application),
            ("Read-Poller", INNOCUOUS, ThreadRole::Poller),
            ("Common-Cleaner", INNOCUOUS, ThreadRole::Jdk),
            ("ForkJoinPool-1-worker-1", "java.util.concurrent.ForkJoinWorkerThread", ThreadRole::Application),
            ("ForkJoinPool-1-worker-1", CARRIER, ThreadRole::Carrier),
        ];
        for (name, class, role) in roles {
            assert_eq!(role_of(&thread(name, class), "x"), Role::known(role), "{name} {class}");
        }
        let timer = |pool: u32| thread(&format!("ForkJoinPool-{pool}-delayScheduler"), POOL_TIMER);
        let common = thread("ForkJoinPool.commonPool-delayScheduler", POOL_TIMER);
        assert_eq!(roles_of(&[(common, "x")]), [Role::known(ThreadRole::Application)]);
        let nameless = JvmThread { name: None, ..timer(3) };
        let worker = thread("ForkJoinPool-1-worker-2", "java.util.concurrent.ForkJoinWorkerThread");
        let carrier = thread("ForkJoinPool-2-worker-1", CARRIER);
        let all = [timer(1), timer(2), timer(4), worker, carrier, nameless];
        let (none, own) = (ThreadRole::Unknown, ThreadRole::Application);
        let roles = [own, ThreadRole::Poller, none, own, ThreadRole::Carrier, none];
        assert_eq!(roles_of(&all.map(|thread| (thread, "ForkJoinPool-3-"))), roles.map(Role::known));
        // Of a timer whose name could not be read: the kernel's part of it may still name the pool.
        let of = |kernel_name| {
            let carrier = thread("ForkJoinPool-2-worker-1", CARRIER);
            let roles = roles_of(&[(carrier, "x"), (JvmThread { name: None, ..timer(2) }, kernel_name)]);
            roles[1]
        };
        assert_eq!(of("ForkJoinPool-2-"), Role::inferred(ThreadRole::Poller));
        // Nor of its carriers.
        let carrier = JvmThread { name: None, ..thread("x", CARRIER) };
        let timer_of =
            |kernel_name| roles_of(&[(carrier.clone(), "ForkJoinPool-2-"), (timer(2), kernel_name)])[1];
        assert_eq!(timer_of("ForkJoinPool-2-"), Role::inferred(ThreadRole::Poller));
        for kernel_name in ["ForkJoinPool-12", "ForkJoi..eduler", "ForkJoinPool-2", "java"] {
            assert_eq!(of(kernel_name), Role::UNKNOWN, "{kernel_name}");
        }
    }

    #[test]
    fn a_thread_of_a_jvm_without_symbols_is_not_the_application_s_by_default() {
        let thread = |class: Option<&str>| JvmThread {
            tid_inside: 1,
            name: None,
            kind: ThreadKind::Java,
            jvm_class: None,
            java_class: class.map(str::to_owned),
            stack: None,
            address: 8,
        };
        let inferred = Role::inferred;
        let roles = [
            (Some(THREAD), "C2 CompilerThre", inferred(ThreadRole::C2)),
            (Some(THREAD), "Surrogate Locke", inferred(ThreadRole::Vm)),
            (Some(THREAD), "pool-1-thread-1", inferred(ThreadRole::Application)),
            (Some("shop.Worker"), "C2 CompilerThre", Role::known(ThreadRole::Application)),
            (Some(JDK_CLASSES[0]), "Reference Handl", Role::known(ThreadRole::Jdk)),
            (Some(INNOCUOUS), "Read-Poller", inferred(ThreadRole::Poller)),
            (Some(INNOCUOUS), "Common-Cleaner", inferred(ThreadRole::Jdk)),
            (Some(INNOCUOUS), "VirtualThread-u", inferred(ThreadRole::Poller)),
            (Some(INNOCUOUS), "Virtual..parker", inferred(ThreadRole::Poller)),
            (Some(CARRIER), "ForkJoinPool-1-", Role::known(ThreadRole::Carrier)),
            (None, "C1 Comp..hread0", inferred(ThreadRole::C1)),
            (None, "pool-1-thread-1", Role::UNKNOWN),
        ];
        for (class, kernel_name, role) in roles {
            assert_eq!(role_of(&thread(class), kernel_name), role, "{class:?} {kernel_name}");
        }
    }
}
