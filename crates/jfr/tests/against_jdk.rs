//! Recordings of every release here: what is read of them is what the JDK's own tool prints, event by event.

use assay_jfr::{Event, EventStacks, FrameType, Profile, read};
use assay_testkit::{each_release, find_tool, java_command, short_run, skip};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Thread, allocated class, frames with the leaf first, by which events are told apart.
type Key = (String, Option<String>, Vec<String>);
/// Events and bytes.
type Sums = BTreeMap<Key, (u64, u64)>;

/// Recordings of a release until each thread that computes is in one.
const RECORDINGS_MAX: u32 = 4;
/// The thread that computes.
const COMPUTES: &str = "computes-1";

/// A recording of two seconds of the program, with every event that is read. The recorder starts before the program does.
fn record(java: &Path, feature: u32, into: &Path) {
    let cpu_time = if 25 <= feature { ",jdk.CPUTimeSample#enabled=true" } else { "" };
    let option = format!("-XX:StartFlightRecording=filename={},settings=profile{cpu_time}", into.display());
    let mut command: Command = java_command(java, &[&option, "-Xmx64m", "-XX:+UseSerialGC"], "Recorded");
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("java starts");
    let said = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(said.into_iter().any(|line| line == "waiting"), "JDK {feature}");
    std::thread::sleep(Duration::from_secs(2));
    drop(child.stdin.take());
    assert!(child.wait().expect("our child").success());
}

fn by_key(stacks: &EventStacks) -> Sums {
    let mut sums = Sums::new();
    for stack in &stacks.stacks {
        let frame = |number: &u32| {
            let frame = &stacks.frames[*number as usize];
            format!("{}.{} {:?}", frame.class, frame.method, frame.frame_type)
        };
        let thread = stacks.threads[stack.thread as usize].name.to_string();
        let key =
            (thread, stack.allocated.as_deref().map(str::to_owned), stack.frames.iter().map(frame).collect());
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + stack.events, sum.1 + stack.bytes);
    }
    sums
}

/// What `jfr print` says, by the name of the event.
fn printed(jfr: &Path, recording: &Path) -> BTreeMap<String, Sums> {
    let output = short_run(jfr)
        .args(["print", "--json", "--stack-depth", "64", "--events"])
        .arg(Event::ALL.map(Event::name).join(","))
        .arg(recording)
        .output()
        .expect("jfr runs");
    let whole: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut by_event = BTreeMap::<String, Sums>::new();
    for event_value in whole["recording"]["events"].as_array().expect("a list") {
        let name = event_value["type"].as_str().expect("a name");
        let sums = by_event.entry(name.to_owned()).or_default();
        let values = &event_value["values"];
        let thread = [&values["sampledThread"], &values["eventThread"]].into_iter().find(|of| of.is_object());
        let name = thread
            .and_then(|of| of["javaName"].as_str().filter(|name| !name.is_empty()).or(of["osName"].as_str()));
        let frames = values["stackTrace"]["frames"].as_array().map_or(&[][..], Vec::as_slice);
        let frame = |frame: &serde_json::Value| {
            let method = &frame["method"];
            let class = readable(method["type"]["name"].as_str().expect("a class"));
            let frame_type = match frame["type"].as_str() {
                Some("Interpreted") => FrameType::Interpreted,
                Some("JIT compiled") => FrameType::Compiled,
                Some("Inlined") => FrameType::Inlined,
                Some("Native") => FrameType::Native,
                _ => FrameType::Unknown,
            };
            format!("{class}.{} {frame_type:?}", method["name"].as_str().expect("a name"))
        };
        let allocated = values["objectClass"]["name"].as_str().map(readable);
        let bytes = ["weight", "tlabSize", "allocationSize"].map(|field| values[field].as_u64());
        let bytes = bytes.into_iter().flatten().next().unwrap_or(0);
        let key = (name.unwrap_or_default().to_owned(), allocated, frames.iter().map(frame).collect());
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    }
    by_event
}

fn readable(class: &str) -> String {
    let hidden = class.find("+0x").or_else(|| class.find("/0x")).unwrap_or(class.len());
    class[..hidden].replace('/', ".") + &class[hidden..]
}

fn is_seen(profile: &Profile, event: Event) -> bool {
    profile.events.get(&event).is_some_and(|of| of.events != 0)
}

#[test]
fn what_is_read_is_what_the_jdk_prints() {
    let Some(jfr) = newest_jfr() else { skip!("no JDK with the tool jfr") };
    let folder = tempfile::tempdir().expect("a folder");
    let mut releases = 0;
    for (feature, java) in each_release(64) {
        // JDK 8 has the recorder from 8u262 on, and 9 and 10 only with a commercial licence.
        if feature < 11 {
            continue;
        }
        let path = folder.path().join(format!("{feature}.jfr"));
        let profile = recorded(&java, feature, &path);
        assert_eq!(profile.problems, Vec::<String>::new(), "JDK {feature}");
        assert!(
            profile.chunks != 0 && 1_000_000 < profile.duration_ns,
            "JDK {feature}: {}",
            profile.duration_ns
        );
        let printed = printed(&jfr, &path);
        for event in Event::ALL {
            let read = profile.events.get(&event).map(by_key).unwrap_or_default();
            assert_eq!(
                read,
                printed.get(event.name()).cloned().unwrap_or_default(),
                "JDK {feature}: {}",
                event.name()
            );
        }
        assert!(is_seen(&profile, Event::ExecutionSample), "JDK {feature}");
        assert_eq!(is_seen(&profile, Event::CpuTimeSample), 25 <= feature, "JDK {feature}");
        assert_eq!(is_seen(&profile, Event::ObjectAllocationSample), 16 <= feature, "JDK {feature}");
        assert_eq!(is_seen(&profile, Event::AllocationInNewTlab), feature < 16, "JDK {feature}");
        computing_and_allocating_are_found(&profile, feature);
        releases += 1;
    }
    if releases == 0 {
        skip!("no JVM with a flight recorder");
    }
}

/// A recording. On a busy machine the recorder of JDK 21 may leave a thread out of so short a one: then it is made again.
fn recorded(java: &Path, feature: u32, path: &Path) -> Profile {
    for _ in 1..RECORDINGS_MAX {
        record(java, feature, path);
        let profile = read(File::open(path).expect("a recording")).expect("its form");
        if by_thread(&profile, Event::ExecutionSample, COMPUTES).0 != 0 {
            return profile;
        }
    }
    record(java, feature, path);
    read(File::open(path).expect("a recording")).expect("its form")
}

/// Events and bytes of a thread.
fn by_thread(profile: &Profile, event: Event, thread: &str) -> (u64, u64) {
    let Some(of) = profile.events.get(&event) else { return (0, 0) };
    let is_it = |stack: &&assay_jfr::Stack| &*of.threads[stack.thread as usize].name == thread;
    of.stacks.iter().filter(is_it).fold((0, 0), |sum, stack| (sum.0 + stack.events, sum.1 + stack.bytes))
}

/// The oldest has no `--json` of its own in older builds; the newest reads what all wrote.
fn newest_jfr() -> Option<std::path::PathBuf> {
    let beside = each_release(64).into_values().rev().map(|java| java.with_file_name("jfr"));
    beside.into_iter().find(|jfr| jfr.exists()).or_else(|| find_tool("jfr"))
}

fn computing_and_allocating_are_found(profile: &Profile, feature: u32) {
    assert_ne!(by_thread(profile, Event::ExecutionSample, COMPUTES).0, 0, "JDK {feature}");
    let allocation = if 16 <= feature { Event::ObjectAllocationSample } else { Event::AllocationInNewTlab };
    let (of_one, of_other) =
        (by_thread(profile, allocation, "allocates-1").1, by_thread(profile, allocation, COMPUTES).1);
    assert!(100 * of_other < of_one, "JDK {feature}: {of_one} and {of_other} bytes");
    let of = &profile.events[&allocation];
    let thread = of.threads.iter().find(|thread| &*thread.name == "allocates-1").expect("it allocates");
    assert!(!thread.is_virtual && thread.os_thread_id.is_some(), "JDK {feature}: {thread:?}");
}
