//! Trims of real JVMs: what was predicted is what comes of it.

use assay_memory::{ReadOptions, TrimError, Trimmed, read, trim, trim_in_thread};
use assay_testkit::{
    Running, each_release, find_java, find_library, skip, start_buffers, start_buffers_with, start_java,
};
use std::path::Path;
use std::process::Command;

#[test]
fn a_trim_brings_what_was_predicted() {
    let mut trimmed = 0;
    for (feature, collector, buffers) in [
        (17, "-XX:+UseSerialGC", 8000),
        (17, "-XX:+UseG1GC", 3000),
        (25, "-XX:+UseSerialGC", 3000),
        (25, "-XX:+UseParallelGC", 8000),
    ] {
        let Some(java) = find_java(feature, 64) else { continue };
        let jvm = start_buffers(&java, &["-Xmx64m", collector], buffers);
        // The first command starts the thread that answers commands, and what the JVM compiles takes memory meanwhile.
        jvm.jcmd(&["VM.version"]);
        jvm.rest();
        let result = match trim(jvm.pid()) {
            Ok(result) => result,
            Err(TrimError::NoCommand { .. }) => continue,
            Err(error) => panic!("JDK {feature}: {error}"),
        };
        let predicted = result.predicted_bytes.expect("glibc can be trimmed");
        let actual = u64::try_from(result.actual_bytes).expect("RSS fell");
        println!("JDK {feature} {collector}: {predicted} predicted, {actual} given back: {}", result.answer);
        assert!(4 << 20 < actual, "JDK {feature} {collector}: nothing to speak of was given back");
        assert!(predicted.abs_diff(actual) <= (actual / 100).max(64 << 10), "{predicted} {actual}");
        assert_eq!(result.before.rss_bytes - result.after.rss_bytes, actual);
        let left = result.after.allocator.and_then(|allocator| allocator.trim_gain_bytes);
        assert!(
            left.is_some_and(|left| left < predicted / 100 + (64 << 10)),
            "nothing is left to trim: {left:?}"
        );
        trimmed += 1;
    }
    if trimmed == 0 {
        skip!("no JVM with System.trim_native_heap");
    }
}

#[test]
fn a_trim_is_promised_where_the_jvm_lists_the_command() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 3000);
        let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
        let found = report.findings.iter().find(|found| found.rule == "retained-by-malloc");
        let found =
            found.unwrap_or_else(|| panic!("JDK {feature}: nothing is retained: {:?}", report.findings));
        let is_promised = found.ways().any(|way| way.contains("--trim") && !way.contains("--in-thread"));
        let lists = jvm.jcmd(&["help"]).contains("System.trim_native_heap");
        println!("JDK {feature}: {:?}", found.ways().collect::<Vec<_>>());
        assert_eq!(is_promised, lists, "JDK {feature}: {found:?}");
    }
}

#[test]
fn a_process_that_is_no_jvm_is_left_alone() {
    let child = Running::start(Command::new("sh").args(["-c", "echo ready; read line"]), "ready");
    assert!(matches!(trim(child.pid()), Err(TrimError::Attach(_))));
    assert!(Path::new(&format!("/proc/{}/exe", child.pid())).exists(), "it still runs");
}

/// Trims by a call in the main thread.
fn called(what: &str, jvm: &Running) -> (u64, Trimmed) {
    jvm.rest();
    let result = trim_in_thread(jvm.pid()).unwrap_or_else(|e| panic!("{what}: {e}"));
    let call = result.call.as_ref().unwrap_or_else(|| panic!("{what}: nothing was called"));
    println!("{what}: {:?} predicted, {} given back, {call:?}", result.predicted_bytes, result.actual_bytes);
    assert!(call.took_ns.is_some() && call.thread == jvm.pid(), "{what}: {call:?}");
    (u64::try_from(result.actual_bytes).expect("RSS fell"), result)
}

#[test]
fn a_call_in_the_main_thread_brings_what_was_predicted_on_every_release() {
    let javas = each_release(64);
    if javas.is_empty() || !cfg!(target_arch = "x86_64") {
        skip!("no 64-bit JDK on x86-64");
    }
    for (feature, java) in javas {
        let jvm = start_buffers(&java, &["-Xmx64m", "-XX:+UseSerialGC"], 3000);
        let (actual, result) = called(&format!("JDK {feature}"), &jvm);
        let predicted = result.predicted_bytes.expect("glibc can be trimmed");
        assert!(4 << 20 < actual, "JDK {feature}: nothing to speak of was given back");
        assert!(predicted * 95 / 100 <= actual + (64 << 10), "JDK {feature}: {predicted} {actual}");
        assert!(jvm.jcmd(&["VM.version"]).contains("VM"), "JDK {feature}: it does not go on");
    }
}

#[test]
fn jemalloc_and_tcmalloc_are_called_by_their_own_functions() {
    let javas: Vec<_> =
        [17, 25].into_iter().filter_map(|feature| Some((feature, find_java(feature, 64)?))).collect();
    let libraries = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4"].map(find_library);
    if javas.is_empty() || libraries.iter().all(Option::is_none) || !cfg!(target_arch = "x86_64") {
        skip!("no 64-bit JDK on x86-64, or neither jemalloc nor tcmalloc");
    }
    for (library, (feature, java)) in libraries
        .iter()
        .flatten()
        .flat_map(|of| javas.iter().map(move |(feature, java)| (of, (feature, java))))
    {
        let what = format!("JDK {feature} {}", library.display());
        let jvm = start_buffers_with(java, &["-Xmx64m", "-XX:+UseSerialGC"], 3000, Some(library));
        let (actual, result) = called(&what, &jvm);
        let predicted =
            result.predicted_bytes.unwrap_or_else(|| panic!("{what}: {:?}", result.before.problems));
        assert!(4 << 20 < actual, "{what}: nothing to speak of was given back");
        assert!(predicted.abs_diff(actual) <= (actual / 20).max(256 << 10), "{what}: {predicted} {actual}");
        // What comes of a second call is nothing: the first gave all back.
        let (again, _) = called(&what, &jvm);
        assert!(again < (4 << 20) && again <= actual, "{what}: {actual} {again}");
        assert!(jvm.jcmd(&["VM.version"]).contains("VM"), "{what}: it does not go on");
    }
}

#[test]
fn an_idle_jvm_is_called_and_a_program_that_waits_for_nothing_is_refused() {
    if !cfg!(target_arch = "x86_64") {
        skip!("calls in threads are built for x86-64");
    }
    let sleeper = Running::start(Command::new("sh").args(["-c", "echo ready; read line"]), "ready");
    let error = trim_in_thread(sleeper.pid()).expect_err("it sleeps").to_string();
    assert!(error.contains("does not wait in futex") || error.contains("no arena"), "{error}");
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let jvm = start_java(&java, &["-Xmx128m"], &[], "Waiting");
    for _ in 0..20 {
        trim_in_thread(jvm.pid()).expect("its main thread waits");
    }
}
