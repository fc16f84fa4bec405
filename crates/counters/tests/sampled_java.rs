//! In whose code JVMs are, on every JDK: the interpreter, compiled Java, the collector's functions of libjvm.

use assay_counters::TimeGauge;
use assay_model::{CodePlace, SampledRole, ThreadRole, TimeSamples};
use assay_testkit::{each_java, find_tool, skip, start_java};
use std::path::Path;
use std::time::Duration;

/// Half a second after its start, for 2 s.
fn sampled(java: &Path, options: &[&str]) -> Option<TimeSamples> {
    let jvm = start_java(java, options, &[], "Burning");
    let mut gauge = TimeGauge::start(jvm.pid()).expect("our child");
    std::thread::sleep(Duration::from_millis(500));
    gauge.start_sampling().expect("our child");
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(500));
        assert!(gauge.look().expect("our child"));
    }
    gauge.report(None).samples
}

fn role(samples: &TimeSamples, role: ThreadRole) -> &SampledRole {
    samples.roles.iter().find(|of| of.role == Some(role)).expect("it ran")
}

/// The share of a place in the user mode of a role.
fn share(role: &SampledRole, place: CodePlace) -> f64 {
    let user = || role.parts.iter().filter(|part| part.place.is_some());
    let all: u64 = user().map(|part| part.samples).sum();
    user().filter(|part| part.place == Some(place)).map(|part| part.samples).sum::<u64>() as f64 / all as f64
}

#[test]
fn user_mode_is_found_where_the_options_put_it() {
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let mut cases = 0;
    for (feature, java) in each_java(64) {
        let Some(interpreted) = sampled(&java, &["-Xint"]) else { skip!("the machine does not let sample") };
        let application = role(&interpreted, ThreadRole::Application);
        assert!(0.9 <= share(application, CodePlace::Interpreter), "JDK {feature}: {application:?}");
        let compiled = sampled(&java, &[]).expect("samples");
        let application = role(&compiled, ThreadRole::Application);
        assert!(0.9 <= share(application, CodePlace::CompiledJava), "JDK {feature}: {application:?}");
        let names: Vec<&str> = compiled.frames.iter().map(|frame| &*frame.name).collect();
        assert!(names.contains(&"compiled Java") && names.contains(&"application"), "{names:?}");
        let garbage = ["-Dwork=garbage", "-Xmx96m", "-XX:+UseParallelGC", "-XX:ParallelGCThreads=2"];
        let garbage = sampled(&java, &garbage).expect("samples");
        let collector = role(&garbage, ThreadRole::Collector);
        assert!(20 <= collector.samples, "JDK {feature}: {collector:?}");
        assert!(0.6 <= share(collector, CodePlace::JvmCollector), "JDK {feature}: {collector:?}");
        let claimed = share(collector, CodePlace::JvmCompiler) + share(collector, CodePlace::JvmClasses);
        assert!(claimed <= 0.1, "JDK {feature}: {collector:?}");
        cases += 1;
    }
    if cases == 0 {
        skip!("no JDK");
    }
}
