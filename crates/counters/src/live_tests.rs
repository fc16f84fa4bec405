//! Roles of all threads of real JVMs, held against what the JVM answers to `Thread.print`.

use crate::jvm::{Label, read_jvm};
use assay_linux::ProcRoot;
use assay_model::ThreadRole;
use assay_testkit::{Running, each_java, find_tool, skip, start_java};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

/// Readings until a collector that moves names has left each alone once.
const READINGS_MAX: u32 = 100;

const COLLECTORS: [&str; 5] = ["UseSerialGC", "UseParallelGC", "UseG1GC", "UseZGC", "UseShenandoahGC"];

/// `"main" #1 prio=5 os_prio=0 cpu=1.39ms elapsed=0.35s tid=0x00007f nid=0x1c2 runnable`, and `nid=450` or `[450]` since JDK 19: thread
/// id and name. The JVM's own threads have no `#`.
fn printed(answer: &str) -> BTreeMap<u32, (String, bool)> {
    let thread = |line: &str| {
        let (name, rest) = line.strip_prefix('"')?.rsplit_once("\" ")?;
        let number = |text: &str| {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
            match text[..end].strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => text[..end].parse().ok(),
            }
        };
        let tid = match rest.split_once("nid=") {
            Some((_, rest)) => number(rest)?,
            None => number(rest.split_once('[')?.1)?,
        };
        Some((tid, (name.to_owned(), rest.starts_with('#'))))
    };
    answer.lines().filter_map(thread).collect()
}

/// What the program's source and the names that the JVM gives to its own threads tell.
fn expected(name: &str, is_java: bool) -> ThreadRole {
    let starts = |names: &[&str]| names.iter().any(|own| name.starts_with(own));
    if !is_java {
        let is_vm = ["VM Thread", "VM Periodic Task Thread", "AsyncLog Thread"].contains(&name);
        return if is_vm { ThreadRole::Vm } else { ThreadRole::Collector };
    }
    let vm = [
        "Signal Dispatcher",
        "Service Thread",
        "Monitor Deflation Thread",
        "Notification Thread",
        "Sweeper thread",
        "Attach Listener",
    ];
    match name {
        "Reference Handler" | "Finalizer" | "Common-Cleaner" => ThreadRole::Jdk,
        name if vm.contains(&name) => ThreadRole::Vm,
        // The program's own pool is the first.
        _ if starts(&["ForkJoinPool-1-"]) => ThreadRole::Application,
        _ if starts(&["ForkJoinPool-2-worker"]) => ThreadRole::Carrier,
        _ if starts(&["ForkJoinPool-2-"]) => ThreadRole::Poller,
        _ if starts(&["C1 CompilerThread"]) => ThreadRole::C1,
        _ if starts(&["C2 CompilerThread"]) => ThreadRole::C2,
        _ if starts(&["Read-Poller-", "Write-Poller", "MasterPoller", "Master-Poller", "VirtualThread-"]) => {
            ThreadRole::Poller
        }
        // Both the program's and the JDK's: told apart below.
        "Read-Poller" => ThreadRole::Other,
        _ => ThreadRole::Application,
    }
}

fn check(jvm: &Running, java: &Path, case: &str) -> BTreeSet<ThreadRole> {
    // The first command starts the thread that answers.
    jvm.jcmd(java, &["VM.version"]);
    let before = printed(&jvm.jcmd(java, &["Thread.print"]));
    let mut labels: HashMap<u32, Label> = HashMap::new();
    for reading in 0.. {
        let seen = read_jvm(&ProcRoot::default(), jvm.pid()).expect("readable").expect("a JVM");
        assert_eq!(seen.problems, [], "{case}");
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
        // What ZGC has moved has its new address at the latest with the next collection, which an idle program does not need.
        if reading % 10 == 9 {
            jvm.jcmd(java, &["GC.run"]);
        }
    }
    let after = printed(&jvm.jcmd(java, &["Thread.print"]));
    let mut roles = BTreeSet::new();
    // Compilers and collectors start and stop threads as they like.
    for (tid, (name, is_java)) in before.iter().filter(|(tid, of)| after.get(tid) == Some(of)) {
        let Some(Label { role, name: labelled, .. }) = labels.get(tid) else {
            panic!("{case}: {name} {tid} has no role")
        };
        assert_eq!(labelled, name, "{case}: {tid}");
        let expected = expected(name, *is_java);
        assert!(
            *role == expected || expected == ThreadRole::Other,
            "{case}: {name} {tid} is {role}, not {expected}"
        );
        roles.insert(*role);
    }
    assert!(18 < before.len(), "{case}: {before:?}");
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
    for (feature, java) in each_java(64) {
        if !java.with_file_name("jcmd").exists() {
            continue;
        }
        for collector in COLLECTORS {
            let case = format!("JDK {feature}, {collector}");
            let option = format!("-XX:+{collector}");
            let jvm = start_java(&java, &["-Xmx128m", &option], &[], "Working");
            let roles = check(&jvm, &java, &case);
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
                    roles.contains(&role) || (role, collector) == (ThreadRole::Collector, "UseSerialGC"),
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
        skip!("no JDK with jcmd");
    }
}
