//! Names of threads while ZGC moves the objects that they are made of, held against what the JVM answers to `Thread.print`.

use crate::support::Jvm;
use assay_hotspot::Hotspot;
use assay_testkit::{each_release, printed_threads, skip};
use std::collections::BTreeMap;
use std::time::Duration;

const READINGS: usize = 8;
/// Looks until each name was read once.
const LOOKS_MAX: usize = 8;
/// Threads of `Moving.java`: those that it names, the workers of its pool, `main` and the one that allocates.
const THREADS: usize = 16 + 4 + 2;

/// Java threads by id that the JVM prints.
fn printed(jvm: &Jvm) -> BTreeMap<u32, String> {
    let threads = printed_threads(&jvm.jcmd(&["Thread.print"])).into_iter();
    threads.filter(|(_, thread)| thread.is_java).map(|(tid, thread)| (tid, thread.name)).collect()
}

#[test]
fn names_are_right_while_the_collector_moves_them() {
    let mut ran = 0;
    for (feature, java) in each_release(64).into_iter().filter(|(feature, _)| 17 <= *feature) {
        for options in [&["-XX:+UseZGC"][..], &["-XX:+UseZGC", "-XX:+ZGenerational"]] {
            let case = format!("JDK {feature} {options:?}");
            let all = [&["-Xmx96m"], options].concat();
            let Some(jvm) = Jvm::start_program(&java, &all, "Moving", &[]) else { continue };
            // The first command starts the thread that answers.
            jvm.jcmd(&["VM.version"]);
            let truth = printed(&jvm);
            assert!(THREADS <= truth.len(), "{case}: {truth:?}");
            let (mut wrong, mut looks) = (Vec::new(), 0);
            for reading in 0..READINGS {
                let mut unknown = truth.clone();
                // What was moved to a page that is newer than the look at the process is read at the next one.
                for _ in 0..LOOKS_MAX {
                    looks += 1;
                    let process = jvm.process();
                    let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
                    for thread in hotspot.threads() {
                        let Some(name) = truth.get(&thread.tid_inside) else { continue };
                        if let Some(read) = thread.name {
                            unknown.remove(&thread.tid_inside);
                            wrong.extend((read != *name).then(|| format!("{reading}: {name:?} is {read:?}")));
                        }
                    }
                    if unknown.is_empty() {
                        break;
                    }
                }
                assert_eq!(unknown, BTreeMap::new(), "{case}, reading {reading}");
                std::thread::sleep(Duration::from_millis(20));
            }
            println!("{case}: {READINGS} readings of {} names in {looks} looks", truth.len());
            assert_eq!(wrong, [""; 0], "{case}");
            ran += 1;
        }
    }
    if ran == 0 {
        skip!("no JDK 17, 21 or 25");
    }
}
