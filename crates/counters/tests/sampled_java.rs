//! In whose code JVMs are, on every JDK: the interpreter, compiled Java, the collector's functions of libjvm.

use assay_counters::TimeGauge;
use assay_model::{CodePlace, SampledRole, ThreadRole, TimeSamples};
use assay_testkit::{each_java, find_tool, skip, start_java};
use std::path::Path;
use std::time::Duration;

/// Half a second after its start, for 2 s. `names`: whether the JVM is asked for its methods.
fn sampled(java: &Path, options: &[&str], names: bool) -> Option<TimeSamples> {
    let jvm = start_java(java, options, &[], "Burning");
    // Memory that a starting JVM has just got is not there yet for who looks at it, and its list of threads is read again after 20 times
    // as long as that took.
    std::thread::sleep(Duration::from_millis(500));
    let mut gauge = TimeGauge::start(jvm.pid()).expect("our child");
    gauge.start_sampling().expect("our child");
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(500));
        assert!(gauge.read().expect("our child"));
    }
    if names {
        gauge.ask_for_methods();
        let left = format!("/tmp/perf-{}.map", jvm.pid());
        assert!(!Path::new(&left).exists(), "what the JVM wrote is removed");
    }
    let report = gauge.report(None);
    assert_eq!(report.problems, []);
    report.samples
}

fn role(samples: &TimeSamples, role: ThreadRole) -> &SampledRole {
    let found = samples.roles.iter().find(|of| of.role == Some(role));
    found.unwrap_or_else(|| panic!("{role:?} ran: {samples:?}"))
}

/// The share of a place in the user mode of a role.
fn share(role: &SampledRole, place: CodePlace) -> f64 {
    let user = || role.parts.iter().filter(|part| part.place.is_some());
    let all: u64 = user().map(|part| part.samples).sum();
    user().filter(|part| part.place == Some(place)).map(|part| part.samples).sum::<u64>() as f64 / all as f64
}

/// What stands above `compute` in the stack in which it was seen most, the role left out.
fn callers_of_compute(samples: &TimeSamples) -> Option<Vec<String>> {
    let name = |frame: &u32| &*samples.frames[*frame as usize].name;
    let is_it = |frames: &[u32]| frames.last().is_some_and(|leaf| name(leaf) == "Burning.compute");
    let stack = samples.stacks.iter().find(|stack| is_it(&stack.frames)).expect("it ran");
    let callers = &stack.frames[1..stack.frames.len() - 1];
    (!callers.is_empty()).then(|| callers.iter().map(|frame| name(frame).to_owned()).collect())
}

#[test]
fn user_mode_is_found_where_the_options_put_it() {
    if find_tool("javac").is_none() {
        skip!("no JDK");
    }
    let mut cases = 0;
    for (feature, java) in each_java(64) {
        let Some(interpreted) = sampled(&java, &["-Xint"], false) else {
            skip!("the machine does not let sample")
        };
        let application = role(&interpreted, ThreadRole::Application);
        assert!(0.9 <= share(application, CodePlace::Interpreter), "JDK {feature}: {application:?}");
        let compiled = sampled(&java, &[], true).expect("samples");
        let application = role(&compiled, ThreadRole::Application);
        assert!(0.9 <= share(application, CodePlace::CompiledJava), "JDK {feature}: {application:?}");
        let names: Vec<&str> = compiled.frames.iter().map(|frame| &*frame.name).collect();
        assert!(names.contains(&"Burning.compute") && names.contains(&"application"), "{names:?}");
        assert_eq!(
            callers_of_compute(&compiled),
            None,
            "JDK {feature}: without frame pointers there are none"
        );
        let framed = sampled(&java, &["-XX:+PreserveFramePointer"], true).expect("samples");
        let callers = callers_of_compute(&framed).expect("frame pointers");
        assert!(
            callers.iter().any(|name| name == "Burning.main" || name == "interpreter"),
            "{feature}: {callers:?}"
        );
        let garbage = ["-Dwork=garbage", "-Xmx96m", "-XX:+UseParallelGC", "-XX:ParallelGCThreads=2"];
        let garbage = sampled(&java, &garbage, false).expect("samples");
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
