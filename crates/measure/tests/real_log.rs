//! The GC log of a real JVM, followed while it grows: each collection that `jcmd` asked for lies between the moments before and
//! after it was asked.

use assay_load::monotonic_ns;
use assay_measure::{Observation, Span, Watch, WatchConfig, Watcher};
use assay_model::LateCause;
use assay_testkit::{StandstillWatch, find_java, skip, start_java};
use std::path::Path;
use std::time::Duration;

const COLLECTIONS: usize = 5;
/// Lines appear in the file, and are looked at, a little later than they are stamped.
const LATER: Duration = Duration::from_millis(300);
/// What `uptime` alone leaves open: the time between two samples, on a machine that does other things.
const UPTIME_OFF_NS: u64 = 150_000_000;
/// A machine that stood still for longer may have done so between two samples.
const STANDSTILL_MAX: Duration = Duration::from_millis(50);

fn pauses(seen: &Observation) -> Vec<Span> {
    seen.spans.iter().filter(|span| span.cause == LateCause::GcPause).copied().collect()
}

/// Each collection has at least one pause, and no pause is anywhere else.
#[track_caller]
fn lie_within(pauses: &[Span], asked: &[(u64, u64)], off_ns: u64, name: &str) {
    let is_in = |pause: &Span, (from, to): &(u64, u64)| {
        from.saturating_sub(off_ns) <= pause.start_ns && pause.end_ns <= to + off_ns
    };
    for pause in pauses {
        assert!(asked.iter().any(|one| is_in(pause, one)), "{name}: {pause:?} is none of {asked:?}");
    }
    for one in asked {
        assert!(
            pauses.iter().any(|pause| is_in(pause, one)),
            "{name}: none in {one:?} of {asked:?}: {pauses:?}"
        );
    }
}

fn check(java: &Path, collector: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let (stamped, uptime) = (folder.path().join("gc.log"), folder.path().join("uptime.log"));
    let options = [
        "-Xmx256m".to_owned(),
        collector.to_owned(),
        assay_gclog::xlog_option(&stamped.display().to_string()),
        format!("-Xlog:gc:file={}:uptime:filecount=0", uptime.display()),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let jvm = start_java(java, &options, &[], "Waiting");
    let watch = |log: &Path| {
        Watch::start(&WatchConfig {
            pid: Some(jvm.pid()),
            companions: Vec::new(),
            gc_log: Some(log.to_owned()),
            every: None,
        })
        .expect("it runs")
    };
    let standstill = StandstillWatch::start();
    let mut watches = [watch(&stamped), watch(&uptime)];
    std::thread::sleep(LATER);
    let start_ns = monotonic_ns();
    let mut asked = Vec::new();
    for _ in 0..COLLECTIONS {
        let before_ns = monotonic_ns();
        jvm.jcmd(&["GC.run"]);
        asked.push((before_ns, monotonic_ns()));
        // Longer than the instants of a log without `timenanos` may be off.
        std::thread::sleep(Duration::from_millis(250));
    }
    let end_ns = monotonic_ns();
    std::thread::sleep(LATER);
    let stood_still = standstill.end();
    for (watch, (name, off_ns)) in
        watches.iter_mut().zip([("with timenanos", 0), ("with uptime alone", UPTIME_OFF_NS)])
    {
        if 0 < off_ns && STANDSTILL_MAX < stood_still {
            println!("skipped: {collector}, {name}: the machine stood still for {stood_still:?}");
            continue;
        }
        // The first pause may be laid before the moment at which it was asked for.
        let seen = watch.seen(start_ns - off_ns, end_ns);
        assert!(seen.watched.contains(&LateCause::GcPause), "{name}: {:?}", watch.problems());
        lie_within(&pauses(&seen), &asked, off_ns, &format!("{collector}, {name}"));
        assert!(seen.restart.is_none() && seen.server_cpu_ns.is_some_and(|ns| 0 < ns));
    }
}

#[test]
#[ignore = "long: beside busy neighbours an uptime is off by more than the test allows"]
fn collections_of_a_real_jvm_are_laid_where_they_were_asked_for() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    check(&java, "-XX:+UseSerialGC");
    check(&java, "-XX:+UseG1GC");
}
