//! The role of a thread, by what the JVM's own list says of it.
//!
//! Classes decide, names only where a class does not tell: everybody may name a Java thread `G1 Conc#0`, but only the JVM makes one of
//! class `ConcurrentGCThread`. A thread of native code that attached itself (`AttachCurrentThread`) cannot be told from one of the
//! application.

use assay_hotspot::JvmThread;
use assay_model::{ThreadKind, ThreadRole};
use std::collections::HashSet;

/// JDK's own threads by the class of their Java object; the pollers are among the last.
const JDK_CLASSES: [&str; 3] =
    ["java.lang.ref.Reference$ReferenceHandler", "java.lang.ref.Finalizer$FinalizerThread", INNOCUOUS];
const INNOCUOUS: &str = "jdk.internal.misc.InnocuousThread";
const CARRIER: &str = "jdk.internal.misc.CarrierThread";
/// Names that the JDK gives to threads that wait on behalf of virtual threads (21 to 25).
const POLLER_NAMES: [&str; 6] = [
    "Read-Poller",
    "Write-Poller",
    "Master-Poller",
    "MasterPoller",
    "VirtualThread-unparker",
    "VirtualThread-unblocker",
];
/// The timer of a pool of class `ForkJoinPool` (JDK 25): that of the carriers wakes virtual threads.
const POOL_TIMER: &str = "java.util.concurrent.DelayScheduler";

/// What each of the threads of a JVM does.
pub(crate) fn roles_of(threads: &[JvmThread]) -> Vec<ThreadRole> {
    let roles: Vec<ThreadRole> = threads.iter().map(role_of).collect();
    let pool = |thread: &JvmThread| {
        let (pool, _) =
            thread.name.as_deref()?.rsplit_once("-worker-").or(thread.name.as_deref()?.rsplit_once('-'))?;
        Some(pool.to_owned())
    };
    let with_roles = || threads.iter().zip(&roles);
    let carriers: HashSet<String> = with_roles()
        .filter(|(_, role)| **role == ThreadRole::Carrier)
        .filter_map(|(thread, _)| pool(thread))
        .collect();
    let is_timer = |thread: &JvmThread| {
        thread.java_class.as_deref() == Some(POOL_TIMER)
            && pool(thread).is_some_and(|pool| carriers.contains(&pool))
    };
    with_roles().map(|(thread, role)| if is_timer(thread) { ThreadRole::Poller } else { *role }).collect()
}

fn role_of(thread: &JvmThread) -> ThreadRole {
    let name = thread.name.as_deref().unwrap_or_default();
    match thread.kind {
        ThreadKind::Compiler => thread.name.as_deref().map_or(ThreadRole::Unknown, compiler_of),
        ThreadKind::Gc => ThreadRole::Collector,
        ThreadKind::Vm if thread.jvm_class.as_deref() == Some("JvmtiAgentThread") => ThreadRole::Agent,
        ThreadKind::Vm => ThreadRole::Vm,
        // Without its class a Java thread may be anything.
        ThreadKind::Java => {
            thread.java_class.as_deref().map_or(ThreadRole::Unknown, |class| of_java(class, name))
        }
        ThreadKind::Native | ThreadKind::Other => ThreadRole::Unknown,
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
        assert_eq!(role_of(&thread(None)), ThreadRole::Unknown);
        assert_eq!(role_of(&thread(Some("C2 CompilerThread0"))), ThreadRole::C2);
        assert_eq!(role_of(&thread(Some("JVMCI CompilerThread0"))), ThreadRole::OtherCompiler);
        assert_eq!(compiler_of("C1 CompilerThre"), ThreadRole::C1);
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
            assert_eq!(role_of(&thread(name, class)), role, "{name} {class}");
        }
        let timer = |pool: u32| thread(&format!("ForkJoinPool-{pool}-delayScheduler"), POOL_TIMER);
        let all = [timer(1), timer(2), thread("ForkJoinPool-2-worker-1", CARRIER)];
        assert_eq!(roles_of(&all), [ThreadRole::Application, ThreadRole::Poller, ThreadRole::Carrier]);
    }
}
