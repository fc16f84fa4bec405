//! The heap of a running JVM, held against what the JVM counts itself, and against the class files.

use assay_heap::live::{LiveError, LiveHistogram};
use assay_heap::{ClassHistogram, ClassShape, FieldKind, PrimitiveKind};
use assay_hotspot::attach_command;
use assay_jdk::Release;
use assay_linux::ProcRoot;
use assay_model::ModelName;
use assay_testkit::{Running, class_histogram, each_java, each_release, find_java, skip, start_java};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(20);

fn start(java: &Path, options: &[&str]) -> Running {
    let common = ["-XX:+UnlockExperimentalVMOptions", "-Xmx200m", "-Dobjects=50000"];
    let options: Vec<&str> = common.into_iter().chain(options.iter().copied()).collect();
    start_java(java, &options, &[], "Objects")
}

/// Objects by name as the class histogram spells it: `[I` is `int[]`.
fn histogram(pid: u32) -> BTreeMap<String, u64> {
    let answer = attach_command(&ProcRoot::default(), pid, "GC.class_histogram -all", LIMIT);
    let counts = class_histogram(&answer.expect("the JVM answers"));
    counts.into_iter().map(|(name, (instances, _))| (name, instances)).collect()
}

fn objects(class_histogram: &ClassHistogram) -> BTreeMap<String, u64> {
    let mut objects = BTreeMap::new();
    for class in &class_histogram.classes {
        let arrays = class.arrays.as_ref().map(assay_heap::ArrayLengths::count);
        assert!(arrays.is_none_or(|arrays| arrays == class.instances), "{}", class.name);
        *objects.entry(class.name.to_string()).or_default() += class.instances;
    }
    objects
}

/// A class histogram between two equal histograms of the JVM.
fn steady(jvm: &Running) -> (LiveHistogram, BTreeMap<String, u64>) {
    let mut before = histogram(jvm.pid());
    for _ in 0..20 {
        let live = assay_heap::live::histogram(jvm.pid(), LIMIT).expect("a heap");
        let after = histogram(jvm.pid());
        if before == after {
            return (live, after);
        }
        before = after;
    }
    panic!("the heap never stood still");
}

fn counts_are_the_jvm_s(feature: u32, collector: &str) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let jvm = start(&java, &[collector]);
    let (live, theirs) = steady(&jvm);
    let ours = objects(&live.histogram);
    let bytes = live.freeze.bytes;
    assert_eq!((bytes.skipped_bytes, bytes.absent_bytes, bytes.not_walked_bytes), (0, 0, 0), "{bytes:?}");
    for (name, count) in &theirs {
        let of_ours = ours.get(name).copied().unwrap_or(0);
        // The JVM fills what threads keep for their next objects before it counts.
        let is_filler = if feature < 19 {
            name == "int[]" || name == "java.lang.Object"
        } else {
            name.contains(".Filler")
        };
        if is_filler {
            assert!(of_ours <= *count, "{name}: {of_ours}, {count}");
        } else if name == "java.lang.Class" {
            // The JVM counts those of archived classes that nothing has loaded, too.
            let mirrors = live.histogram.classes.iter().filter(|class| class.has_mirror).count() as u64;
            assert!(400 < mirrors && mirrors <= *count, "{mirrors}, {count}");
        } else {
            assert_eq!(of_ours, *count, "{feature} {collector} {name}");
        }
    }
    assert!(ours.iter().all(|(name, count)| *count == 0 || theirs.contains_key(name)), "{ours:?}");
    let model = live.model.expect("a model");
    let is_compact = Release::of(feature).modes.headers_are_compact;
    let name = if is_compact { ModelName::Compact } else { ModelName::Compressed };
    assert_eq!((model.name, model.jdk), (name, Some(feature)));
    assert!(model.jdk_version.is_some_and(|version| version.starts_with(&feature.to_string())));
    assert_eq!((live.histogram.word_bytes, live.histogram.alignment_bytes), (8, Some(8)));
    let void =
        live.histogram.classes.iter().filter(|class| &*class.name == "void" && class.has_mirror).count();
    assert_eq!(void, 1);
}

#[test]
fn counts_of_a_running_jvm_17_are_its_own() {
    counts_are_the_jvm_s(17, "-XX:+UseG1GC");
    counts_are_the_jvm_s(17, "-XX:+UseSerialGC");
}

#[test]
fn counts_of_a_running_jvm_25_are_its_own() {
    counts_are_the_jvm_s(25, "-XX:+UseG1GC");
    counts_are_the_jvm_s(25, "-XX:+UseParallelGC");
}

#[test]
fn counts_of_every_other_running_release_are_its_own() {
    // Packs of 8 and 11 are of metaspace and of tables alone: 8 does not export the lists of classes, and 11 numbers those of lambdas.
    let known = |feature: &u32| {
        let pack = Release::exactly(*feature).and_then(|release| release.pack.as_ref());
        pack.is_some_and(|pack| pack.types.contains_key("metaspace::Metachunk"))
    };
    for feature in
        each_release(64).into_keys().filter(|feature| ![17, 25].contains(feature) && known(feature))
    {
        for collector in ["-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseParallelGC"] {
            counts_are_the_jvm_s(feature, collector);
        }
    }
}

/// `static? name descriptor` of each field, by class, as `javap` prints class files.
fn declared(java: &Path, class_path: &str, classes: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut javap = Command::new(java.with_file_name("javap"));
    let javap = javap.args(["-p", "-s", "-cp", class_path]).args(classes).stderr(Stdio::null());
    let output = javap.output().expect("javap runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut declared: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut class, mut member) = (String::new(), "");
    for line in text.lines() {
        if line.ends_with('{') {
            let mut words =
                line.split_whitespace().skip_while(|word| !["class", "interface", "enum"].contains(word));
            let name = words.nth(1).unwrap_or("").split('<').next().unwrap_or("");
            name.clone_into(&mut class);
            declared.entry(class.clone()).or_default();
        } else if let Some(descriptor) = line.trim().strip_prefix("descriptor: ") {
            if !descriptor.starts_with('(') {
                let name = member.trim_end_matches(';').rsplit(' ').next().unwrap_or("");
                let is_static = if member.split(' ').any(|word| word == "static") { "static " } else { "" };
                let kind = &descriptor[..1].replace('[', "L");
                declared.entry(class.clone()).or_default().push(format!("{is_static}{name} {kind}"));
            }
        } else {
            member = line.trim();
        }
    }
    declared
}

fn letter(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Reference => "L",
        FieldKind::Primitive(PrimitiveKind::Boolean) => "Z",
        FieldKind::Primitive(PrimitiveKind::Char) => "C",
        FieldKind::Primitive(PrimitiveKind::Float) => "F",
        FieldKind::Primitive(PrimitiveKind::Double) => "D",
        FieldKind::Primitive(PrimitiveKind::Byte) => "B",
        FieldKind::Primitive(PrimitiveKind::Short) => "S",
        FieldKind::Primitive(PrimitiveKind::Int) => "I",
        FieldKind::Primitive(PrimitiveKind::Long) => "J",
    }
}

fn fields_are_those_of_the_class_files(feature: u32, options: &[&str]) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    if !java.with_file_name("javap").exists() {
        skip!("no javap beside {}", java.display());
    }
    let jvm = start(&java, options);
    let live = assay_heap::live::histogram(jvm.pid(), LIMIT).expect("a heap");
    assert!(
        !live.histogram.problems.iter().any(|problem| problem.text.contains("fields")),
        "{:?}",
        live.histogram.problems
    );
    let arguments = fs::read_to_string(format!("/proc/{}/cmdline", jvm.pid())).expect("our child");
    let class_path =
        arguments.split('\0').skip_while(|word| *word != "-cp").nth(1).expect("a class path").to_owned();
    // Not those that were made at run time: no file has them.
    let is_in_file = |class: &&ClassShape| {
        class.arrays.is_none() && !class.name.contains('/') && class.has_mirror && class.name.contains('.')
            || class.name.starts_with("Objects")
    };
    let shapes: Vec<&ClassShape> = live.histogram.classes.iter().filter(is_in_file).collect();
    let shapes: Vec<&ClassShape> = shapes.into_iter().filter(|class| !class.name.contains('/')).collect();
    let names: Vec<&str> = shapes.iter().map(|class| &*class.name).collect();
    let declared = declared(&java, &class_path, &names);
    let mut compared = 0;
    for shape in shapes {
        let Some(file) = declared.get(&*shape.name) else { continue };
        let of = |prefix: &str, fields: &[assay_heap::Field]| {
            let spelt = fields.iter().map(|field| format!("{prefix}{} {}", field.name, letter(field.kind)));
            spelt.collect::<Vec<_>>()
        };
        let (statics, own): (Vec<_>, Vec<_>) =
            file.iter().cloned().partition(|field| field.starts_with("static "));
        assert_eq!((of("", &shape.fields), of("static ", &shape.statics)), (own, statics), "{}", shape.name);
        compared += 1;
    }
    println!("{feature}: {compared} of {} classes compared", names.len());
    assert!(400 < compared, "{compared} of {}", names.len());
}

#[test]
fn fields_of_a_running_jvm_17_are_those_of_the_class_files() {
    fields_are_those_of_the_class_files(17, &["-XX:+UseSerialGC"]);
}

#[test]
fn fields_of_a_running_jvm_25_are_those_of_the_class_files() {
    fields_are_those_of_the_class_files(25, &["-XX:+UseG1GC"]);
}

/// State of the process, who traces it, its threads, and what is resident of it.
fn state(pid: u32) -> (String, Vec<String>, String, u64, Option<u64>) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("our child");
    let line = |key: &str| status.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
    let mut threads: Vec<String> = fs::read_dir(format!("/proc/{pid}/task"))
        .expect("our child")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    threads.sort();
    let proc = ProcRoot::default();
    let rollup = proc.read_smaps_rollup(pid).expect("our child").expect("with memory");
    let memory = proc.read_memory_status(pid).expect("our child");
    (line("TracerPid"), threads, line("State"), rollup.rss_bytes, memory.page_tables_bytes)
}

fn leaves_no_footprints(feature: u32, collector: &str) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let jvm = start(&java, &[collector]);
    // A process that was stopped by somebody else stays so, and does nothing on its own.
    jvm.freeze();
    let before = state(jvm.pid());
    for _ in 0..3 {
        let live = assay_heap::live::histogram(jvm.pid(), LIMIT).expect("a heap");
        assert!(0 < live.freeze.objects);
        assert_eq!(before, state(jvm.pid()), "{feature} {collector}");
    }
    jvm.thaw();
}

#[test]
fn a_walk_leaves_the_process_as_it_was() {
    for feature in each_java(64).into_keys() {
        for collector in ["-XX:+UseG1GC", "-XX:+UseZGC"] {
            leaves_no_footprints(feature, collector);
        }
    }
}

#[test]
fn the_limit_is_kept_and_the_process_goes_on() {
    let Some((_, java)) = each_java(64).pop_last() else { skip!("no 64-bit JDK") };
    let jvm = start(&java, &["-XX:+UseSerialGC", "-Dobjects=300000"]);
    let mut cut_short = 0;
    for limit_ms in [1, 5, 20, 50, 100, 200] {
        let limit = Duration::from_millis(limit_ms);
        let began = Instant::now();
        match assay_heap::live::histogram(jvm.pid(), limit) {
            Ok(live) => {
                let bytes = live.freeze.bytes;
                assert_eq!(bytes.accounted_bytes(), bytes.used_bytes, "{bytes:?}");
                assert!(0 < bytes.not_walked_bytes || !live.freeze.is_cut_short, "{bytes:?}");
                let says = live
                    .histogram
                    .problems
                    .iter()
                    .any(|problem| problem.text.contains("not be read in the time"));
                assert_eq!(says, 0 < bytes.not_walked_bytes);
                cut_short += u32::from(says);
            }
            Err(LiveError::TimeOver { .. }) => cut_short += 1,
            Err(LiveError::Freeze(error)) => {
                assert!(error.to_string().contains("did not stop within"), "{error}");
            }
            Err(error) => panic!("{error}"),
        }
        let (tracer, _, status, ..) = state(jvm.pid());
        assert_eq!(tracer, "TracerPid:\t0", "{limit_ms} ms, after {:?}", began.elapsed());
        assert!(!status.contains('T') && !status.contains("(tracing"), "{status}");
    }
    assert!(0 < cut_short, "a heap is not read in a millisecond");
    // It answers.
    assert!(!histogram(jvm.pid()).is_empty());
}

#[test]
fn a_process_that_is_no_jvm_is_told_so() {
    let mut child = Command::new("sleep").arg("60").spawn().expect("sleep runs");
    let error = assay_heap::live::histogram(child.id(), LIMIT).expect_err("no JVM");
    let _ = (child.kill(), child.wait());
    assert!(matches!(error, LiveError::NoJvm { .. }), "{error}");
    assert!(matches!(assay_heap::live::histogram(u32::MAX - 1, LIMIT), Err(LiveError::Linux(_))));
}

/// Threads make garbage, a collector runs, classes are unloaded: the process is stopped anywhere. What the program keeps
/// is met all the same.
fn what_is_kept_is_met_while_others_churn(feature: u32, collector: &str) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let jvm = start(&java, &[collector, "-Dchurn=true"]);
    // Every thirteenth is one of these, and two of three are kept, or are in the map as well.
    let kept = (0..50_000).filter(|i| i % 13 == 8 && (i % 3 != 0 || i % 10 == 0)).count() as u64;
    for _ in 0..5 {
        let live = assay_heap::live::histogram(jvm.pid(), LIMIT).expect("a heap");
        let bytes = live.freeze.bytes;
        assert_eq!(bytes.accounted_bytes(), bytes.used_bytes, "{bytes:?}");
        assert_eq!(bytes.not_walked_bytes, 0);
        let met = objects(&live.histogram)["Objects$Kept"];
        assert!(kept <= met, "{feature} {collector}: {met} of {kept}, {bytes:?}");
        println!("{feature} {collector}: {met}, kept {kept}, attempts {}, {bytes:?}", live.freeze.attempts);
        std::thread::sleep(Duration::from_millis(100));
    }
}

const COLLECTORS: [&str; 4] =
    ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC", "-XX:+UseShenandoahGC"];

/// The oldest release with two of the collectors, the newest with the others: such a JVM keeps the processors busy for as long as it runs.
#[test]
fn a_busy_jvm_is_walked_wherever_it_was_stopped() {
    for (turn, feature) in each_java(64).into_keys().enumerate() {
        for collector in COLLECTORS.into_iter().skip(turn).step_by(2) {
            what_is_kept_is_met_while_others_churn(feature, collector);
        }
    }
}

#[test]
#[ignore = "long: both releases with each collector"]
fn a_busy_jvm_is_walked_wherever_it_was_stopped_with_each_collector() {
    for feature in each_java(64).into_keys() {
        for collector in COLLECTORS {
            what_is_kept_is_met_while_others_churn(feature, collector);
        }
    }
}
