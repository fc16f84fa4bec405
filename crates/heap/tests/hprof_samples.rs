//! Dumps of old JVMs, beside the checkout (not ours to copy into it), against what was noted when they were taken.

use assay_heap::{ClassHistogram, hprof};
use std::collections::HashMap;
use std::path::PathBuf;

fn sample(name: &str) -> Option<PathBuf> {
    let path = assay_testkit::testdata("../../shared/data/hprof").join(name);
    path.exists().then_some(path)
}

fn read(name: &str) -> Option<ClassHistogram> {
    sample(name).map(|path| hprof::read_file(&path, &|_| {}).expect("a dump"))
}

fn instances(class_histogram: &ClassHistogram) -> HashMap<&str, u64> {
    let mut counts = HashMap::new();
    for class in &class_histogram.classes {
        *counts.entry(&*class.name).or_insert(0) += class.instances;
    }
    counts
}

#[test]
fn strings_of_each_sample_have_the_fields_of_their_class_file() {
    let samples = [
        // That JVM had not yet initialised the class that knows its version: by shape.
        ("sun_jdk6_18_x32.hprof", 4, "value offset count hash", Some("6 to 7")),
        ("sun_jdk6_30_x64_compressedOops.hprof", 8, "value offset count hash", Some("1.6.0_30")),
        ("sun_jdk6_30_x64_nocompressedOops.hprof", 8, "value offset count hash", Some("1.6.0_30")),
        ("openjdk_jdk11_04_x64.hprof.gz", 8, "value coder hash", Some("11.0.4")),
    ];
    for (name, word_bytes, fields, version) in samples {
        let Some(class_histogram) = read(name) else { assay_testkit::skip!("sample data not there") };
        let string =
            class_histogram.classes.iter().find(|class| &*class.name == "java.lang.String").expect("strings");
        let names: Vec<&str> = string.fields.iter().map(|field| &*field.name).collect();
        assert_eq!(names.join(" "), fields, "{name}");
        assert_eq!(class_histogram.word_bytes, word_bytes, "{name}");
        assert_eq!(class_histogram.alignment_bytes, Some(8), "{name}");
        assert_eq!(class_histogram.jdk_text().as_deref(), version, "{name}");
        let is_by_shape = version == Some("6 to 7");
        assert_eq!(
            class_histogram.problems.len(),
            usize::from(is_by_shape),
            "{name}: {:?}",
            class_histogram.problems
        );
        assert!(
            !is_by_shape || class_histogram.problems[0].text.contains("the shape of JDK 6 to 7"),
            "{:?}",
            class_histogram.problems
        );
        println!("{name}: {} objects", instances(&class_histogram).values().sum::<u64>());
    }
}

/// Notes taken with the dump: a histogram in which the JVM's own objects are listed as `<methodKlass>` and the like.
#[test]
fn counts_of_jdk_6_are_those_noted_with_the_dump() {
    for name in ["sun_jdk6_30_x64_compressedOops", "sun_jdk6_30_x64_nocompressedOops"] {
        let (Some(class_histogram), Some(notes)) =
            (read(&format!("{name}.hprof")), sample(&format!("{name}.notes.txt")))
        else {
            assay_testkit::skip!("sample data not there");
        };
        let counts = instances(&class_histogram);
        let notes = std::fs::read_to_string(notes).expect("the notes");
        let mut rows = 0;
        for line in notes.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [number, instances, _, class] = words[..] else { continue };
            let (true, Ok(instances)) = (number.ends_with(':'), instances.parse::<u64>()) else { continue };
            if class.starts_with('<') || class == "java.lang.Class" {
                continue;
            }
            let counted = counts.get(spelt(class).as_str()).copied().unwrap_or(0);
            // Of the permanent generation, whose objects are not dumped: symbols' caches, and a lock.
            let is_permanent = matches!(class, "[[I" | "java.lang.Object");
            assert!(counted == instances || is_permanent, "{name}: {class}: {counted}, noted {instances}");
            rows += 1;
        }
        assert!(rows > 100, "{name}: {rows}");
    }
}

/// `[Ljava.lang.String;` as `java.lang.String[]`.
fn spelt(name: &str) -> String {
    let stem = name.trim_start_matches('[');
    let dimensions = name.len() - stem.len();
    let letters = ["Z", "C", "F", "D", "B", "S", "I", "J"];
    let words = ["boolean", "char", "float", "double", "byte", "short", "int", "long"];
    let stem = match letters.iter().position(|letter| *letter == stem && dimensions > 0) {
        Some(at) => words[at],
        None if dimensions > 0 => stem.trim_start_matches('L').trim_end_matches(';'),
        None => stem,
    };
    format!("{stem}{}", "[]".repeat(dimensions))
}
