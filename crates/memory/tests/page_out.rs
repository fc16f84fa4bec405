//! Dead memory of real JVMs, written to swap in compressed memory: as much as was predicted, and nothing is lost.

use assay_linux::process_cpu_ns;
use assay_memory::{PageOutError, PageOutOptions, page_out};
use assay_model::{DeadMemory, MemoryPageOut};
use assay_testkit::{Running, TestSwap, each_java, each_release, find_java, skip, start_java, turn};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const MIB: u64 = 1 << 20;
/// Swap for one JVM of these tests.
const SWAP_MIB: u64 = 512;

fn options<'a>(memory: &'a [DeadMemory], stop: &'a AtomicBool) -> PageOutOptions<'a> {
    PageOutOptions { memory, is_dry_run: false, watch: Duration::from_millis(1), stop, watch_begins: &|| () }
}

fn audited(java: &Path, collector: &str) -> Running {
    start_java(java, &["-Xms256m", "-Xmx256m", collector, "-XX:MaxDirectMemorySize=256m"], &[], "Audited")
}

fn bytes_of(result: &MemoryPageOut, memory: DeadMemory) -> (u64, u64) {
    let part = result.parts.iter().find(|part| part.memory == memory).expect("it was asked for");
    (part.predicted_bytes, part.paged_out_bytes.expect("it was done"))
}

#[test]
fn dead_pages_leave_memory_as_predicted_and_every_audit_holds_under_churn() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    let _swap = match TestSwap::new(SWAP_MIB) {
        Ok(swap) => swap,
        Err(why) => skip!("{why}"),
    };
    let stop = AtomicBool::new(false);
    let newest = javas.keys().max().copied();
    for (feature, java) in javas {
        let collectors: &[&str] = match feature {
            // Where its library has no symbols, the regions of G1 are not known.
            8 => &["-XX:+UseParallelGC"],
            _ if Some(feature) == newest => &["-XX:+UseG1GC", "-XX:+UseParallelGC", "-XX:+UseSerialGC"],
            _ => &["-XX:+UseG1GC"],
        };
        for collector in collectors {
            let mut jvm = audited(&java, collector);
            jvm.rest();
            let result = match page_out(jvm.pid(), &options(DeadMemory::ALL, &stop)) {
                Ok(result) => result,
                Err(e @ (PageOutError::Kernel | PageOutError::Refused { .. })) => skip!("{e}"),
                Err(e) => panic!("JDK {feature} {collector}: {e}"),
            };
            println!("JDK {feature} {collector}: {:?} {:?}", result.parts, result.problems);
            let (free, free_out) = bytes_of(&result, DeadMemory::FreeHeap);
            let (freed, freed_out) = bytes_of(&result, DeadMemory::Freed);
            let (stale, stale_out) = bytes_of(&result, DeadMemory::StaleStacks);
            assert!(40 * MIB < free, "JDK {feature} {collector}: {free} bytes of free heap");
            assert!(4 * MIB < freed, "JDK {feature} {collector}: {freed} bytes of freed blocks");
            assert!(64 << 10 < stale, "JDK {feature} {collector}: {stale} bytes of stale stacks");
            let (predicted, out) = (free + freed + stale, free_out + freed_out + stale_out);
            assert!(predicted * 95 / 100 <= out, "JDK {feature} {collector}: {out} of {predicted}");
            let fell = u64::try_from(result.actual_bytes.expect("it was done")).expect("RSS fell");
            assert!(out.abs_diff(fell) <= out / 20 + MIB, "JDK {feature} {collector}: {out} {fell}");
            assert_eq!(jvm.ask("audit"), "right");
            assert_eq!(jvm.ask("churn"), "right");
            // Between scan and call the process takes pages into use again.
            for _ in 0..3 {
                page_out(jvm.pid(), &options(DeadMemory::ALL, &stop)).expect("once more");
                assert_eq!(jvm.ask("churn"), "right");
            }
        }
    }
}

#[test]
fn what_the_process_uses_again_is_said_to_have_come_back() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let _swap = match TestSwap::new(SWAP_MIB) {
        Ok(swap) => swap,
        Err(why) => skip!("{why}"),
    };
    let stop = AtomicBool::new(false);
    let mut jvm = audited(&java, "-XX:+UseParallelGC");
    jvm.rest();
    let pid = jvm.pid();
    let (begins, begun) = std::sync::mpsc::channel();
    let (out, answer) = std::thread::scope(|scope| {
        let stop = &stop;
        let watched = scope.spawn(move || {
            let memory = [DeadMemory::FreeHeap];
            // A receiver that is gone asks for nothing.
            let watch_begins = || begins.send(()).unwrap_or(());
            let watch = Duration::from_secs(600);
            page_out(pid, &PageOutOptions { watch, watch_begins: &watch_begins, ..options(&memory, stop) })
        });
        // An error: nothing was paged out.
        let answer = begun.recv().map(|()| jvm.ask("churn"));
        stop.store(true, Ordering::SeqCst);
        (watched.join().expect("no panic"), answer)
    });
    let result = match out {
        Ok(result) => result,
        Err(e @ (PageOutError::Kernel | PageOutError::Refused { .. })) => skip!("{e}"),
        Err(e) => panic!("{e}"),
    };
    assert_eq!(answer.as_deref(), Ok("right"));
    let part = &result.parts[0];
    let (out, back) = (part.paged_out_bytes.expect("done"), part.came_back_bytes.expect("watched"));
    println!("{out} bytes out, {back} back");
    assert!(out / 10 < back && back <= out, "{out} {back}");
    assert!(result.watched_ns.is_some());
}

#[test]
fn a_dry_run_predicts_and_leaves_the_process_as_it_is() {
    let Some((_, java)) = each_java(64).into_iter().next() else { skip!("no 64-bit JDK") };
    let mut jvm = audited(&java, "-XX:+UseG1GC");
    let stop = AtomicBool::new(false);
    let options = PageOutOptions { is_dry_run: true, ..options(DeadMemory::ALL, &stop) };
    let result = page_out(jvm.pid(), &options).expect("no swap is needed for that");
    assert!(result.is_dry_run && result.rss_bytes_after.is_none() && result.actual_bytes.is_none());
    assert!(result.parts.iter().all(|part| part.paged_out_bytes.is_none() && part.came_back_bytes.is_none()));
    assert!(
        result.sum(|part| Some(part.predicted_bytes)).is_some_and(|bytes| 20 * MIB < bytes),
        "{result:?}"
    );
    assert_eq!(jvm.ask("audit"), "right");
}

#[test]
fn without_swap_nothing_is_done_and_the_command_that_adds_it_is_named() {
    // Other tests make swap.
    let _turn = turn("swap");
    let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    if 1 < swaps.lines().count() {
        skip!("this machine has swap");
    }
    let child = Running::start(Command::new("sh").args(["-c", "echo ready; read line"]), "ready");
    let stop = AtomicBool::new(false);
    match page_out(child.pid(), &options(DeadMemory::ALL, &stop)) {
        Err(e @ PageOutError::NoSwap) => assert!(e.to_string().contains("swapon"), "{e}"),
        // Another test has made swap meanwhile.
        Ok(_) => skip!("this machine has swap"),
        Err(e) => panic!("{e}"),
    }
}

/// JVMs that are paged out in turn while they work, and are replaced by new ones.
const MANY: usize = 50;
/// Rounds of work; in every other one, all are paged out in turn meanwhile.
const ROUNDS: usize = 6;

/// Pages out one process after the other while `is_on`; gives predicted and paged out bytes, and how many had ended.
fn page_out_in_turn(pids: &Mutex<Vec<u32>>, is_on: &AtomicBool, is_over: &AtomicBool) -> (u64, u64, u32) {
    let (mut predicted, mut out, mut ended) = (0, 0, 0);
    let stop = AtomicBool::new(false);
    while !is_over.load(Ordering::SeqCst) {
        let now = pids.lock().expect("no panic").clone();
        for pid in now.into_iter().take_while(|_| is_on.load(Ordering::SeqCst)) {
            match page_out(pid, &options(DeadMemory::ALL, &stop)) {
                Ok(result) => {
                    for part in &result.parts {
                        let of_part = part.paged_out_bytes.expect("it was done");
                        assert!(of_part <= part.predicted_bytes, "{result:?}");
                        (predicted, out) = (predicted + part.predicted_bytes, out + of_part);
                    }
                }
                // It was replaced by another meanwhile.
                Err(PageOutError::Memory(_)) => ended += 1,
                Err(e) => panic!("process {pid}: {e}"),
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    (predicted, out, ended)
}

#[test]
#[ignore = "long: fifty JVMs work, are paged out and are replaced for some minutes"]
fn fifty_jvms_that_come_and_go_are_paged_out_and_every_audit_holds() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let _swap = match TestSwap::new(4096) {
        Ok(swap) => swap,
        Err(why) => skip!("{why}"),
    };
    let options = ["-Xms64m", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
    let start = || start_java(&java, &options, &[], "Audited");
    let mut jvms: Vec<Running> = (0..MANY).map(|_| start()).collect();
    let pids = Mutex::new(jvms.iter().map(Running::pid).collect::<Vec<_>>());
    let (is_on, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let cpu_ns =
        |jvms: &[Running]| jvms.iter().map(|jvm| process_cpu_ns(jvm.pid()).expect("it runs")).sum::<u64>();
    let mut of_rounds = [0, 0];
    let (predicted, out, ended) = std::thread::scope(|scope| {
        let pager = scope.spawn(|| page_out_in_turn(&pids, &is_on, &is_over));
        for round in 0..ROUNDS {
            is_on.store(round % 2 == 1, Ordering::SeqCst);
            let before_ns = cpu_ns(&jvms);
            for jvm in &mut jvms {
                assert_eq!(jvm.ask("churn"), "right");
            }
            of_rounds[round % 2] += cpu_ns(&jvms) - before_ns;
            // Every tenth ends and another one takes its place, while it may be looked at.
            for at in (round % 10..MANY).step_by(10) {
                jvms[at] = start();
                pids.lock().expect("no panic")[at] = jvms[at].pid();
            }
        }
        for jvm in &mut jvms {
            assert_eq!(jvm.ask("audit"), "right");
        }
        is_over.store(true, Ordering::SeqCst);
        pager.join().expect("nothing unexpected")
    });
    println!(
        "{predicted} bytes predicted, {out} paged out, {ended} had ended, {of_rounds:?} ns without and with it"
    );
    assert!(predicted / 2 <= out && (MANY as u64) * MIB < out, "{out} of {predicted}");
}
