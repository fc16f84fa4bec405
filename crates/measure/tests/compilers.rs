//! What JIT compilers use, by the names that the kernel has of threads, is what it is by the JVM's own list of them.

use assay_counters::TimeGauge;
use assay_measure::{Watch, WatchConfig, Watcher};
use assay_model::ThreadRole;
use assay_testkit::{each_release, java_command, skip};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Of a process that has just started, as soon as the lists of a JVM can be read in it.
fn gauge_of_jvm(pid: u32) -> TimeGauge {
    let begun = Instant::now();
    loop {
        let gauge = TimeGauge::start(pid).expect("it runs");
        let knows_compilers = || gauge.report(None).roles.iter().any(|role| is_compiler(role.role));
        if knows_compilers() {
            return gauge;
        }
        assert!(begun.elapsed().as_secs() < 30, "no list of threads can be read");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_compiler(role: ThreadRole) -> bool {
    matches!(role, ThreadRole::C1 | ThreadRole::C2 | ThreadRole::OtherCompiler)
}

/// Under `-Xcomp` a JVM compiles every method before it runs. Compilers start under the name of the thread that starts them.
fn check(feature: u32, java: &Path) {
    let mut jvm = java_command(java, &["-Xcomp", "-XX:+UseSerialGC"], "Waiting")
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .expect("a JVM");
    let mut watch =
        Watch::start(&WatchConfig { pid: Some(jvm.id()), ..WatchConfig::default() }).expect("it runs");
    let mut gauge = gauge_of_jvm(jvm.id());
    let mut line = String::new();
    BufReader::new(jvm.stdout.take().expect("a pipe")).read_line(&mut line).expect("readable");
    let is_there = gauge.read();
    let report = gauge.report(None);
    let seen = watch.seen(report.monotonic_ns, report.monotonic_ns + report.duration_ns);
    jvm.kill().and_then(|()| jvm.wait()).expect("it ends");
    assert_eq!((line.trim(), is_there.ok()), ("waiting", Some(true)), "JDK {feature}");

    let by_list = report.roles.iter().filter(|role| is_compiler(role.role)).map(|role| role.sums.cpu_ns);
    let (by_list_ns, all_ns) = (by_list.sum::<u64>() as f64, seen.server_cpu_ns.expect("it ran") as f64);
    let by_names_ns = seen.compilers_cpu_ns.expect("a JVM has compilers") as f64;
    let what = format!("JDK {feature}: {by_names_ns} by names, {by_list_ns} by the list, {all_ns} in all");
    assert!(0.1 * all_ns < by_list_ns && by_list_ns < all_ns, "{what}");
    // Up to two samples of a new thread go by before its own name is known.
    assert!((by_names_ns - by_list_ns).abs() < 0.1 * by_list_ns, "{what}");
}

#[test]
#[ignore = "long: a thread that starts and ends while the machine is busy is in one of the two sums alone"]
fn what_compilers_use_is_told_by_the_names_of_their_threads() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    // Names of all releases are held by `names_are_those_that_the_kernel_has_of_real_jvms`.
    let ends = [javas.first_key_value(), javas.last_key_value()];
    for (feature, java) in ends.into_iter().flatten() {
        check(*feature, java);
    }
}
