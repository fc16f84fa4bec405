//! Roles of all threads of real JVMs, held against what the JVM answers to `Thread.print`.

use crate::jvm::{Label, Reads, read_jvm};
use assay_hotspot::attach_command;
use assay_linux::ProcRoot;
use assay_model::ThreadRole;
use assay_testkit::{
    PrintedThread, Running, each_release, find_tool, printed_threads, role_in_working, skip, start_java,
};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

/// Readings until a collector that moves names has left each alone once.
const READINGS_MAX: u32 = 100;

/// On a machine that is busy with other tests.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// All of the releases that are supported longest, and two of each other.
fn collectors(feature: u32) -> &'static [&'static str] {
    match feature {
        8 => &["UseParallelGC", "UseG1GC"],
        11 => &["UseConcMarkSweepGC", "UseG1GC"],
        17 | 25 => &["UseSerialGC", "UseParallelGC", "UseG1GC", "UseZGC", "UseShenandoahGC"],
        21 => &["UseG1GC", "UseZGC"],
        _ => &["UseG1GC", "UseZGC", "UseShenandoahGC"],
    }
}

/// The contents of a libjvm's file, by the names of the JVM's variables in it.
#[derive(Clone, Copy)]
struct LibjvmNames {
    java_names: bool,
    other_list: bool,
}

impl LibjvmNames {
    fn by(java: &Path) -> LibjvmNames {
        let home = java.parent().and_then(Path::parent).expect("a home");
        let places =
            ["lib/server/libjvm.so", "jre/lib/amd64/server/libjvm.so", "jre/lib/aarch64/server/libjvm.so"];
        let libjvm = places.iter().find_map(|place| std::fs::read(home.join(place)).ok()).expect("a libjvm");
        let text = String::from_utf8_lossy(&libjvm);
        let has = |variable| text.contains(variable);
        LibjvmNames {
            java_names: has("_ZN16java_lang_Thread12_name_offsetE"),
            other_list: has("_ZN13NonJavaThread9_the_listE"),
        }
    }
}

fn ask(jvm: &Running, command: &str) -> String {
    attach_command(&ProcRoot::default(), jvm.pid(), command, ANSWER_WITHIN).expect("a JVM that answers")
}

fn check(jvm: &Running, told: LibjvmNames, case: &str) -> BTreeSet<ThreadRole> {
    // The first command starts the thread that answers.
    ask(jvm, "VM.version");
    let before = printed_threads(&ask(jvm, "Thread.print"));
    let mut labels: HashMap<u32, Label> = HashMap::new();
    for reading in 0.. {
        let seen =
            read_jvm(&ProcRoot::default(), jvm.pid(), Reads::Threads).expect("readable").expect("a JVM");
        assert!(seen.problems.is_empty() == told.other_list, "{case}: {:?}", seen.problems);
        // A label that is not whole claims no role that it may not have.
        labels.retain(|_, label| label.is_whole);
        seen.labels.into_iter().for_each(|(tid, label)| {
            labels.entry(tid).or_insert(label);
        });
        if labels.values().all(|label| label.is_whole) {
            break;
        }
        assert!(reading < READINGS_MAX, "{case}: {labels:?}");
        std::thread::sleep(Duration::from_millis(50));
        // References to objects that ZGC has moved are updated by the next collection at the latest, which an idle program does not need.
        if reading % 10 == 9 {
            ask(jvm, "GC.run");
        }
    }
    let after = printed_threads(&ask(jvm, "Thread.print"));
    let mut roles = BTreeSet::new();
    // Compilers and collectors start and stop threads as they like.
    for (tid, thread) in before.iter().filter(|(tid, of)| after.get(tid) == Some(of)) {
        let PrintedThread { name, is_java } = thread;
        let Some(Label { role, is_inferred, name: labelled, .. }) = labels.get(tid) else {
            panic!("{case}: {name} {tid} has no role")
        };
        if if *is_java { told.java_names } else { told.other_list } {
            assert_eq!((labelled, is_inferred), (name, &false), "{case}: {tid}");
        } else {
            let comm = std::fs::read_to_string(format!("/proc/{}/task/{tid}/comm", jvm.pid()));
            assert_eq!(labelled, comm.expect("a thread").trim_end(), "{case}: {name} {tid}");
            // Where the name of a Java thread is unknown its class, or the function that it begins with, may still give the role.
            let begins_in_vm = *is_java && [ThreadRole::Vm, ThreadRole::C1, ThreadRole::C2].contains(role);
            let has_own_class = begins_in_vm
                || ["Reference Handler", "Finalizer"].contains(&name.as_str())
                || name.starts_with("ForkJoinPool-");
            assert_eq!(*is_inferred, !has_own_class, "{case}: {name} {tid}");
        }
        let expected = role_in_working(thread);
        assert!(
            expected.is_none_or(|expected| role.word() == expected),
            "{case}: {name} {tid} is {role}, not {expected:?}"
        );
        roles.insert(*role);
    }
    // JDK 8 has fewer threads of its own.
    let more_than = if told.java_names { 18 } else { 16 };
    assert!(more_than < before.len(), "{case}: {before:?}");
    let named_poller = labels.values().filter(|label| label.name == "Read-Poller");
    let own = named_poller.filter(|label| label.role == ThreadRole::Application).count();
    assert_eq!(own, 1, "{case}: the program's own thread of that name");
    roles
}

#[test]
fn every_thread_that_the_jvm_prints_has_its_role() {
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let mut cases = 0;
    for (feature, java) in each_release(64) {
        let told = LibjvmNames::by(&java);
        for collector in collectors(feature) {
            let case = format!("JDK {feature}, {collector}");
            let option = format!("-XX:+{collector}");
            let jvm = start_java(&java, &["-Xmx128m", &option], &[], "Working");
            let roles = check(&jvm, told, &case);
            for role in [
                ThreadRole::Application,
                ThreadRole::Collector,
                ThreadRole::C1,
                ThreadRole::C2,
                ThreadRole::Vm,
                ThreadRole::Jdk,
            ] {
                // Serial collections run on the VM thread.
                assert!(
                    roles.contains(&role) || (role, *collector) == (ThreadRole::Collector, "UseSerialGC"),
                    "{case}: no {role}"
                );
            }
            for role in [ThreadRole::Carrier, ThreadRole::Poller] {
                assert_eq!(roles.contains(&role), 21 <= feature, "{case}: {role}");
            }
            cases += 1;
        }
    }
    if cases == 0 {
        skip!("no JVM");
    }
}
