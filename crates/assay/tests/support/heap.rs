//! `assay heap` against the JVM's own histogram of classes, and against the modes that JVMs say they have.

use super::cell::Cell;
use super::subject::{Collector, Subject, assay};
use assay_model::{HeapModes, HeapPrediction};
use assay_testkit::{class_histogram, start_java};
use std::time::Duration;

/// Ways to lay out objects: title, and the options that ask for it.
pub const LAYOUTS: [(&str, &[&str]); 4] = [
    ("as started", &[]),
    ("full references", &["-XX:-UseCompressedOops"]),
    ("aligned to 16", &["-XX:ObjectAlignmentInBytes=16"]),
    ("compact headers", &["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"]),
];
/// Classes of the program and of the JDK that a run has, at least.
const CLASSES_MIN: usize = 100;

/// Sizes of objects by a dump's model, and by the JVM. Arrays are left out: until JDK 18 gaps are filled with some, which only a
/// histogram counts.
pub fn sizes(subject: &Subject, options: &[&str]) -> Cell {
    if !subject.takes(options) {
        return Cell::Absent("none".to_owned());
    }
    let options = [options, &["-Xmx256m", "-XX:+UseSerialGC"]].concat();
    let jvm = start_java(&subject.java, &options, &[], "Counted");
    let Ok(folder) = tempfile::tempdir() else { return Cell::Wrong("no temporary folder".to_owned()) };
    let dump = folder.path().join("heap.hprof").display().to_string();
    // Each collects all garbage first; the second histogram stands right before the dump. What has a finalizer (of JDK 8) is gone only when
    // that has run.
    jvm.jcmd(&["GC.class_histogram"]);
    std::thread::sleep(Duration::from_millis(300));
    let histogram = class_histogram(&jvm.jcmd(&["GC.class_histogram"]));
    jvm.jcmd(&["GC.heap_dump", &dump]);
    let prediction: HeapPrediction = match assay(&["heap", "predict", &dump]) {
        Ok(prediction) => prediction,
        Err(why) => return Cell::Wrong(why),
    };
    let Some(model) = prediction.dump_model.and_then(|name| prediction.model(name)) else {
        return Cell::Wrong("the layout is not found".to_owned());
    };
    let mut wrong = Vec::new();
    let mut right = 0;
    for class in model.classes.iter().filter(|class| class.instances != 0 && !class.name.ends_with("[]")) {
        let Some((instances, bytes)) = histogram.get(&class.name) else { continue };
        // Mirrors differ by class: an archive's are counted by the JVM alone.
        if class.name == "java.lang.Class" {
            continue;
        }
        if class.bytes * instances == bytes * class.instances {
            right += 1;
        } else {
            wrong.push(class.name.as_str());
        }
    }
    let name = wrong.first().map_or(String::new(), |name| format!(", not `{name}`"));
    let is_right = wrong.is_empty() && CLASSES_MIN <= right;
    Cell::of(is_right, format!("{right} of {} {}{name}", right + wrong.len(), model.name.name()))
}

/// Which reference mode a heap size gets, by computation and by a JVM that is started.
pub fn modes(subject: &Subject, collector: Collector) -> Cell {
    let java = subject.java.display().to_string();
    let sizes = if subject.row.bits == 64 { "1g,3g,31g,40g" } else { "64m,1g" };
    let options = collector.options().join(" ");
    let arguments =
        ["heap", "modes", "--java", &java, "--verify", "--max-heap", sizes, "--options", &options];
    let modes: HeapModes = match assay(&arguments) {
        Ok(modes) => modes,
        Err(why) => return Cell::Wrong(why),
    };
    let computed = modes.cells.iter().filter(|cell| cell.computed_mode.is_some()).count();
    if computed == 0 {
        return Cell::Wrong("not computed".to_owned());
    }
    let verified: Vec<_> = modes.cells.iter().filter(|cell| cell.verified_mode.is_some()).collect();
    if verified.is_empty() {
        let why = modes.cells.iter().find_map(|cell| cell.not_verified_because.as_deref());
        return Cell::Wrong(format!("not verified: {}", why.unwrap_or("no reason given").replace('|', "/")));
    }
    let equal = verified.iter().filter(|cell| cell.verified_mode == cell.computed_mode).count();
    Cell::of(equal == verified.len(), format!("{equal} of {}", verified.len()))
}
