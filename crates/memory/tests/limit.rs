//! Whether the limit that is advised is enough, and how much too much: a JVM at work runs in a control group with that limit.

use assay_memory::{ReadOptions, advise, read};
use assay_testkit::{MemoryGroup, each_java, java_command, skip, start_java};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const OPTIONS: [&str; 2] = ["-Xmx128m", "-XX:MaxDirectMemorySize=24m"];

/// What became of the program in a group with a limit.
#[derive(Debug)]
struct Outcome {
    has_done_its_work: bool,
    peak_bytes: Option<u64>,
}

impl Outcome {
    fn word(&self) -> &'static str {
        if self.has_done_its_work { "did its work" } else { "was killed" }
    }
}

/// A `java` that joins the group before it starts.
fn java_in(group: &MemoryGroup, java: &Path, folder: &Path) -> PathBuf {
    let script = folder.join("java-in-group");
    let procs = group.path().join("cgroup.procs");
    let text =
        format!("#!/bin/sh\necho $$ >'{}' || exit 99\nexec '{}' \"$@\"\n", procs.display(), java.display());
    std::fs::write(&script, text).expect("a script");
    let is_executable = Command::new("chmod").arg("+x").arg(&script).status();
    assert!(is_executable.is_ok_and(|status| status.success()));
    script
}

fn run_limited(java: &Path, bytes: u64) -> Option<Outcome> {
    let group = MemoryGroup::new(&format!("limit-{bytes}")).filter(|group| group.limit(bytes))?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = java_command(&java_in(&group, java, folder.path()), &OPTIONS, "Loaded");
    let output = command.stdin(Stdio::null()).output().expect("a shell");
    assert_ne!(output.status.code(), Some(99), "the group takes processes");
    let has_done_its_work =
        output.status.success() && String::from_utf8_lossy(&output.stdout).contains("waiting");
    Some(Outcome { has_done_its_work, peak_bytes: group.peak_bytes() })
}

#[test]
fn a_server_lives_within_the_limit_that_it_is_advised() {
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let server = start_java(&java, &OPTIONS, &[], "Loaded");
        let snapshot = read(server.pid(), &ReadOptions::default()).expect("our child");
        drop(server);
        let advice = advise(std::slice::from_ref(&snapshot));
        let limit = advice.limit_bytes;
        let Some(at_limit) = run_limited(&java, limit) else { skip!("no right to make a control group") };
        let below = run_limited(&java, limit / 10 * 9).expect("another group");
        let mib = |bytes: u64| bytes >> 20;
        println!(
            "JDK {feature}: RSS {} MiB, advised {} MiB; at the limit: {}, charged {:?} MiB; 10 % below: {}, charged {:?} MiB",
            mib(snapshot.rss_bytes),
            mib(limit),
            at_limit.word(),
            at_limit.peak_bytes.map(mib),
            below.word(),
            below.peak_bytes.map(mib)
        );
        for line in &advice.lines {
            println!(
                "  {:>5} {:>5} {:?} {}: {}",
                mib(line.now_bytes),
                mib(line.bound_bytes),
                line.certainty,
                line.name,
                line.bound_from
            );
        }
        assert!(at_limit.has_done_its_work, "JDK {feature}: {at_limit:?}, {advice:#?}");
        // It was more than twice as much while all of the code cache's reserve was provided for.
        let peak = snapshot.outside_rss.rss_peak_bytes.expect("the kernel remembers it");
        assert!(limit < 2 * peak, "JDK {feature}: {limit} advised, {peak} at most resident: {advice:#?}");
    }
}
