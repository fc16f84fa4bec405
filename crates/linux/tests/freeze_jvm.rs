//! A JVM under work is stopped for a reading again and again, and comes to no harm.

use assay_linux::{Freeze, LiveProcess, MemorySource, ProcRoot};
use assay_testkit::{find_java, skip};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Threads that allocate, wait and hand each other work; a round is only over when all sums are right.
const PROGRAM: &str = r#"
import java.nio.channels.Selector;
import java.util.concurrent.*;
public class Rounds {
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        Thread selector = new Thread(() -> {
            try (Selector s = Selector.open()) { while (true) s.select(5); } catch (Exception e) { Runtime.getRuntime().halt(3); }
        });
        selector.setDaemon(true);
        selector.start();
        Thread end = new Thread(() -> {
            try { System.in.read(); } catch (Exception e) { }
            System.exit(0);
        });
        end.setDaemon(true);
        end.start();
        for (long round = 0; ; round++) {
            CompletableFuture<?>[] parts = new CompletableFuture<?>[8];
            for (int i = 0; i < 8; i++) {
                int of = i;
                parts[i] = CompletableFuture.runAsync(() -> {
                    long[] numbers = new long[10000];
                    for (int n = 0; n < numbers.length; n++) numbers[n] = n + of;
                    long sum = 0;
                    for (long number : numbers) sum += number;
                    if (sum != 49995000L + 10000L * of) Runtime.getRuntime().halt(4);
                    try { Thread.sleep(1); } catch (InterruptedException e) { Runtime.getRuntime().halt(5); }
                }, pool);
            }
            CompletableFuture.allOf(parts).get();
            System.out.println(round);
        }
    }
}
"#;

/// Ends with the test, also with one that fails.
struct Jvm(std::process::Child);

impl Drop for Jvm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check(java: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("Rounds.java");
    std::fs::write(&source, PROGRAM).expect("a file");
    let child = Command::new(java)
        .args(["-Xmx64m", "-XX:+UseG1GC"])
        .arg(&source)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut jvm = Jvm(child.expect("a JVM"));
    let child = &mut jvm.0;
    let mut rounds = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next_round = || rounds.next()?.ok()?.parse::<u64>().ok();
    if next_round().is_none() {
        skip!("no compiler in {}", java.display());
    }
    let proc = ProcRoot::default();
    for _ in 0..15 {
        let frozen = Freeze::start(&proc, child.id(), Duration::from_secs(30)).expect("our child");
        let live = LiveProcess::open(&proc, child.id()).expect("our child");
        for mapping in live.mappings() {
            let resident_bytes = live.pages().resident_bytes_in(mapping.addresses.clone());
            assert_eq!(resident_bytes, mapping.rss_bytes, "{mapping:?}");
        }
        let now = live.mappings_now().expect("our child");
        assert_eq!(now.iter().map(|m| m.rss_bytes).sum::<u64>(), live.rss_bytes());
        assert!(frozen.is_still_frozen());
        let times = frozen.end().expect("the freezer's times");
        println!(
            "{} threads, stopped after {} us, for {} us",
            times.threads,
            times.stopping_ns / 1000,
            times.stopped_ns / 1000
        );
        // More rounds than the pipe may have held.
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(100) {
            next_round().expect("it goes on");
        }
    }
    drop(child.stdin.take());
    while next_round().is_some() {}
    assert!(child.wait().expect("our child").success());
}

#[test]
fn java_17_goes_on() {
    let Some(java) = find_java(17, 64) else { skip!("no JDK 17") };
    check(&java);
}

#[test]
fn java_25_goes_on() {
    let Some(java) = find_java(25, 64) else { skip!("no JDK 25") };
    check(&java);
}
