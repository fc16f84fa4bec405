//! Classes read from class paths are those that a JVM has; damaged ones give an error. Runs the seeds of the fuzz target
//! `class_path_read` as a test: one class of each kind, a jar, and images of a JDK's form with the same classes.

use super::truth::{Truth, javac};
use assay_heap::class_path::{ClassPathError, read, shapes_of};
use assay_heap::layout::Layouts;
use assay_heap::{ClassHistogram, FieldKind};
use assay_model::{HeapModel, ModelName};
use assay_testkit::{class_path_of, each_java, find_java, skip, testdata};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn seed(name: &str) -> PathBuf {
    testdata("../fuzz/corpus/class_path_read").join(name)
}

fn seeds() -> Vec<Vec<u8>> {
    let entries = fs::read_dir(seed("")).expect("the seeds").flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

fn kinds(fields: &[assay_heap::Field]) -> String {
    let names = fields.iter().map(|field| match field.kind {
        FieldKind::Primitive(kind) => format!("{} {}", kind.name(), field.name),
        FieldKind::Reference => format!("reference {}", field.name),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// A class path element of its own from a seed.
fn element(seed_name: &str, file: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a writable folder");
    fs::copy(seed(seed_name), &path).expect("a copy");
    (folder, path)
}

#[test]
fn a_class_of_a_folder_a_jar_and_an_image_is_the_same() {
    let (folder, _) = element("class-contended", "shop/Sample$Apart.class");
    let (_jar_folder, jar) = element("jar", "shop.jar");
    let (_image_folder, image) = element("image", "modules");
    let (_packed_folder, packed) = element("image-packed", "modules");
    let (_newer_folder, newer) = element("image-1.1", "modules");
    for path in [folder.path().to_owned(), jar, image, packed, newer] {
        for name in ["shop.Sample$Apart", "shop/Sample$Apart"] {
            let histogram = shapes_of(name, std::slice::from_ref(&path)).expect("the class");
            let names: Vec<&str> = histogram.classes.iter().map(|shape| &*shape.name).collect();
            assert_eq!(names, ["shop.Sample$Apart", "java.lang.Object"], "{}", path.display());
            assert_eq!(histogram.classes[0].super_class, Some(1));
            assert_eq!(kinds(&histogram.classes[0].fields), "int field");
        }
        let error = shapes_of("shop.Missing", std::slice::from_ref(&path)).expect_err("no class");
        assert!(matches!(error, ClassPathError::NotFound(_)), "{error}");
        let error = shapes_of("shop.Sample", std::slice::from_ref(&path));
        let is_folder = path.is_dir();
        match error.expect_err("its super class is the JDK's") {
            ClassPathError::NotFound(_) => assert!(is_folder),
            error => assert!(error.to_string().contains("extends java.util.AbstractMap"), "{error}"),
        }
    }
}

#[test]
fn every_kind_of_field_and_the_jdk_s_super_classes() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let home = home(&java);
    let (_folder, jar) = element("jar", "shop.jar");
    let histogram = shapes_of("shop.Sample", &[jar, home]).expect("the class");
    let names: Vec<&str> = histogram.classes.iter().map(|shape| &*shape.name).collect();
    assert_eq!(names, ["shop.Sample", "java.util.AbstractMap", "java.lang.Object"]);
    assert!(histogram.jdk_version.as_deref().is_some_and(|version| version.starts_with("17.")));
    let own = &histogram.classes[0];
    assert_eq!(
        kinds(&own.fields),
        "boolean open, byte kind, char letter, short room, int count, float share, double price, long total, \
         reference name, reference table, long hits, int alone"
    );
    assert_eq!(kinds(&own.statics), "long VERSION, reference shared");
    assert_eq!(kinds(&histogram.classes[1].fields), "reference keySet, reference values");
}

fn home(java: &Path) -> PathBuf {
    java.parent().and_then(Path::parent).expect("a home").to_owned()
}

/// Every 20th class of `java.base`, read from the JDK's image, must be what the JVM says it is.
fn image_of(jdk: u32, java: &Path) {
    let truth = Truth::of(java, jdk, &[], &["java.base"]);
    let histogram = truth.histogram();
    let classes: HashMap<&str, usize> =
        truth.classes.iter().enumerate().map(|(at, class)| (&*class.name, at)).collect();
    let paths = [home(java)];
    for class in truth.classes.iter().step_by(20) {
        let found = shapes_of(&class.name, &paths).expect("a class of the image");
        for (at, shape) in found.classes.iter().enumerate() {
            if shape.name.starts_with("jdk.internal.event.") {
                // Flight Recorder changes events as they are loaded: they get a static field.
                continue;
            }
            let mut said = histogram.classes[classes[&*shape.name]].clone();
            // The JVM says interfaces have no super class; the file says `java.lang.Object`.
            if !truth.classes[classes[&*shape.name]].is_interface {
                assert_eq!(shape.super_class.is_some(), said.super_class.is_some(), "{}", shape.name);
            }
            said.super_class = shape.super_class;
            said.has_mirror = shape.has_mirror;
            assert_eq!(*shape, said);
            if at + 1 < found.classes.len() {
                assert_eq!(shape.super_class, Some(at as u32 + 1));
            }
        }
    }
}

/// Those of some vendors are packed.
#[test]
fn the_image_of_each_jdk() {
    let javas = find_java(11, 64).map(|java| (11, java)).into_iter().chain(each_java(64));
    if javas.filter(|_| javac().is_some()).map(|(jdk, java)| image_of(jdk, &java)).count() == 0 {
        skip!("no JDK with a compiler");
    }
}

#[test]
fn what_is_no_class_path_is_said_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().join("notes.txt");
    fs::write(&text, "no classes").expect("a writable file");
    let check = |paths: &[PathBuf], class: &str| shapes_of(class, paths).expect_err("an error").to_string();
    assert!(
        check(std::slice::from_ref(&text), "A").contains("neither a folder nor a jar nor the home of a JDK")
    );
    assert!(check(&[folder.path().join("missing")], "A").contains("No such file"));
    assert!(check(&[], "A").starts_with("no class A"));
    for class in ["", "..", "/etc/passwd", "a..b", "A[]"] {
        let error = shapes_of(class, &[folder.path().to_owned()]).expect_err("no class");
        assert!(matches!(error, ClassPathError::NotFound(_)), "{class}: {error}");
    }
}

/// Whether a class path of such a file has the class. It lacks the JDK's, which its super class is one of.
fn is_class_in(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let shapes = shapes_of("shop.Sample", &[class_path_of(folder.path(), bytes)]);
    matches!(shapes, Ok(_) | Err(ClassPathError::NoSuperClass { .. }))
}

#[test]
fn seeds_of_the_fuzz_target_are_read_without_panic() {
    let found: Vec<bool> = seeds().iter().map(|bytes| is_class_in(bytes)).collect();
    // class, class-contended, image, image-1.1, image-packed, jar
    assert_eq!(found, [true, false, true, true, true, true]);
}

#[test]
fn a_seed_cut_anywhere_is_an_error_or_lacks_the_class() {
    for bytes in seeds() {
        for end in 0..bytes.len() {
            let _ = is_class_in(&bytes[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A small fuzzing of its own, since the fuzz target needs a nightly compiler.
    #[test]
    fn damaged_seeds_are_read_without_panic(
        seed in 0usize..100,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        let seeds = seeds();
        let mut bytes = seeds[seed % seeds.len()].clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = is_class_in(&bytes);
    }
}

#[test]
fn paths_may_be_joined_by_colons() {
    let (folder, _) = element("class-contended", "shop/Sample$Apart.class");
    let (_jar_folder, jar) = element("jar", "shop.jar");
    let joined = std::env::join_paths([folder.path(), Path::new(""), &jar]).expect("no colon in a path");
    assert_eq!(read(&joined, "shop.Sample$Apart").expect("the class").classes.len(), 2);
    let error = read(&joined, "shop.Sampel$Apart").expect_err("misspelt").to_string();
    assert!(error.starts_with("no class shop.Sampel$Apart; did you mean shop.Sample$Apart or "), "{error}");
}

#[test]
fn a_class_histogram_from_a_class_path_is_laid_out() {
    let (folder, _) = element("class-contended", "shop/Sample$Apart.class");
    let histogram: ClassHistogram =
        shapes_of("shop.Sample$Apart", &[folder.path().to_owned()]).expect("the class");
    let bytes = |name, jdk| Layouts::of(&histogram, HeapModel { name, jdk }).instance_bytes(0);
    assert_eq!(bytes(ModelName::Compressed, 17), Some(16));
    assert_eq!(bytes(ModelName::Compact, 25), Some(16));
    assert_eq!(bytes(ModelName::Bits64, 11), Some(24));
}
