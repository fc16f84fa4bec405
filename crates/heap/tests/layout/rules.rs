//! Layouts of classes that no JDK has: random ones held against JVMs, rings that no JVM makes, OpenJ9's estimate by hand.

use super::truth::{Mode, check, compile, in_every_mode, in_turn, javac};
use assay_heap::layout::Layouts;
use assay_heap::{ClassHistogram, ClassShape, Field, FieldKind, PrimitiveKind};
use assay_jdk::Release;
use assay_model::{HeapModel, LayoutPart, ModelName};
use assay_testkit::{each_release, find_java, skip};
use proptest::prelude::*;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const CONTENDED: &str = "jdk.internal.vm.annotation.Contended";
const TYPES: [&str; 10] =
    ["boolean", "byte", "char", "short", "int", "float", "long", "double", "Object", "int[]"];

/// Numbers that are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Classes of random fields, each below a random earlier one or `Object`.
fn random_classes(name: &str, classes: u64, one_contended_in: Option<u64>) -> String {
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    let mut text = String::new();
    for class in 0..classes {
        let is_contended = |draw: &mut Draw| one_contended_in.is_some_and(|one_in| draw.below(one_in) == 0);
        if is_contended(&mut draw) {
            text.push_str("@Contended ");
        }
        write!(text, "class {name}{class}").expect("memory");
        if class != 0 && draw.below(6) != 0 {
            // Mostly a late one, so that chains get long.
            write!(text, " extends {name}{}", class - 1 - draw.below(class.min(4))).expect("memory");
        }
        text.push_str(" {\n");
        for field in 0..draw.below(9) {
            if is_contended(&mut draw) {
                let groups = ["", "(\"first group\")", "(\"second group\")"];
                write!(text, "@Contended{} ", groups[draw.below(3) as usize]).expect("memory");
            }
            let is_static = if draw.below(4) == 0 { "static " } else { "" };
            writeln!(text, "{is_static}{} f{field};", TYPES[draw.below(10) as usize]).expect("memory");
        }
        text.push_str("}\n");
    }
    text
}

/// Compiles the classes into a folder of their own, for JDK 8 where its `rt.jar` is given, else for later releases: where `@Contended` is,
/// and the option that lets the compiler see it, differ.
fn compiled(source: &str, folder: &Path, rt_jar: Option<&Path>) -> PathBuf {
    let classes = folder.join(if rt_jar.is_some() { "8" } else { "later" });
    fs::create_dir(&classes).expect("a writable folder");
    let file = folder.join("Random.java");
    let source =
        if rt_jar.is_some() { source.replace(CONTENDED, "sun.misc.Contended") } else { source.to_owned() };
    fs::write(&file, source).expect("a writable file");
    let exports = "java.base/jdk.internal.vm.annotation=ALL-UNNAMED";
    let options = match rt_jar {
        Some(jar) => ["-source", "8", "-target", "8", "-bootclasspath", jar.to_str().expect("UTF-8")],
        None => ["-source", "11", "-target", "11", "--add-exports", exports],
    };
    compile(&[file], &classes, &options);
    classes
}

/// The classes of a JDK 8.
fn rt_jar(java: &Path) -> PathBuf {
    let home = java.parent().and_then(Path::parent).expect("a home");
    let jars = ["jre/lib/rt.jar", "lib/rt.jar"].map(|jar| home.join(jar));
    jars.into_iter().find(|jar| jar.is_file()).expect("rt.jar")
}

/// Where random classes are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Modes {
    InTurn,
    All,
}

/// Holds random classes, with contended ones and without, against JVMs that heed all of their annotations.
fn check_random(modes: Modes) {
    if javac().is_none() {
        skip!("no compiler");
    }
    let source = format!(
        "import {CONTENDED};\n{}{}",
        random_classes("Plain", 400, None),
        random_classes("Contending", 300, Some(12))
    );
    let options = ["-XX:-RestrictContended"];
    let folder = tempfile::tempdir().expect("a folder");
    let later = compiled(&source, folder.path(), None);
    let mut javas = each_release(64);
    javas.retain(|jdk, _| Release::of(*jdk).verified.object_tables.is_some());
    let of_8 = javas.get(&8).map(|java| compiled(&source, folder.path(), Some(&rt_jar(java))));
    let tried: Vec<_> =
        if modes == Modes::All { in_every_mode(&javas).collect() } else { in_turn(&javas).collect() };
    for (jdk, java, mode) in &tried {
        let classes = of_8.as_ref().filter(|_| *jdk == 8).unwrap_or(&later);
        let truth = check(java, *jdk, mode, &options, &[classes.to_str().expect("UTF-8")]);
        assert!(700 < truth.classes.len());
    }
    let mut jvms = tried.len();
    if let Some(java) = find_java(17, 32) {
        jvms += 1;
        let mode = Mode { name: ModelName::Bits32, options: Vec::new() };
        check(&java, 17, &mode, &options, &[later.to_str().expect("UTF-8")]);
    }
    if jvms == 0 {
        skip!("no JVM");
    }
}

#[test]
fn random_and_contended_classes_are_laid_out_as_the_jvm_does() {
    check_random(Modes::InTurn);
}

#[test]
#[ignore = "long: the whole matrix, of which the plain check has every other cell"]
fn random_and_contended_classes_of_each_jdk_in_every_mode() {
    check_random(Modes::All);
}

fn field(kind: FieldKind) -> Field {
    Field { name: "f".into(), kind }
}

fn shape(name: &str, super_class: Option<u32>, fields: &[FieldKind]) -> ClassShape {
    ClassShape {
        name: name.into(),
        super_class,
        fields: fields.iter().copied().map(field).collect(),
        statics: Vec::new(),
        instances: 0,
        arrays: None,
        has_mirror: true,
    }
}

const INT: FieldKind = FieldKind::Primitive(PrimitiveKind::Int);
const BYTE: FieldKind = FieldKind::Primitive(PrimitiveKind::Byte);
const LONG: FieldKind = FieldKind::Primitive(PrimitiveKind::Long);
const REFERENCE: FieldKind = FieldKind::Reference;

fn some_classes() -> ClassHistogram {
    let classes = vec![
        shape("java.lang.Object", None, &[]),
        shape("java.lang.String", Some(0), &[REFERENCE, BYTE, INT]),
        shape("java.lang.Integer", Some(0), &[INT]),
        shape("java.util.HashMap$Node", Some(0), &[INT, REFERENCE, REFERENCE, REFERENCE]),
        shape("java.lang.Long", Some(0), &[LONG]),
        shape("java.lang.invoke.MethodHandle", Some(0), &[REFERENCE, REFERENCE]),
        shape("java.lang.invoke.DirectMethodHandle", Some(5), &[REFERENCE]),
    ];
    ClassHistogram { classes, ..ClassHistogram::default() }
}

/// By hand, from OpenJ9's rules: a header of 4 or 8 bytes, a lock word of the same size but for strings and handles, all
/// fields of at least 4 bytes, multiples of 8, at least 16.
#[test]
fn openj9_has_lock_words_and_no_short_fields() {
    let histogram = some_classes();
    let sizes = |name| {
        let layouts = Layouts::of(&histogram, HeapModel { name, jdk: 21 });
        (0..histogram.classes.len() as u32).map(|class| layouts.instance_bytes(class)).collect::<Vec<_>>()
    };
    assert_eq!(sizes(ModelName::OpenJ9Compressed), [16, 16, 16, 24, 16, 16, 24].map(Some));
    assert_eq!(sizes(ModelName::OpenJ9Full), [16, 24, 24, 48, 24, 24, 40].map(Some));
}

/// Places of an object must touch and add up, and the parts of its size be sums of them.
fn check_whole(histogram: &ClassHistogram, layouts: &Layouts, class: u32) {
    let layout = layouts.class_layout(histogram, class).expect("a class");
    let mut end = 0;
    for place in &layout.places {
        assert_eq!(place.offset_bytes, end, "{layout:#?}");
        end += place.bytes;
    }
    assert_eq!(end, layout.instance_bytes, "{layout:#?}");
    let parts = layouts.instance_parts(class).expect("a class");
    let of =
        |part| layout.places.iter().filter(|place| place.part == part).map(|place| place.bytes).sum::<u64>();
    assert_eq!(parts.headers_bytes, of(LayoutPart::Header));
    assert_eq!(parts.padding_bytes, of(LayoutPart::Padding));
    let fields = of(LayoutPart::Field) + of(LayoutPart::Injected);
    assert_eq!(parts.references_bytes + parts.primitives_bytes, fields);
}

#[test]
fn parts_of_a_size_are_those_of_the_picture_in_every_model() {
    let histogram = some_classes();
    for name in ModelName::ALL {
        for jdk in [8, 17, 25] {
            let layouts = Layouts::of(&histogram, HeapModel { name, jdk });
            (0..histogram.classes.len() as u32).for_each(|class| check_whole(&histogram, &layouts, class));
            assert_eq!(layouts.instance_bytes(7), None);
            // Nothing says how long a mirror is where there is no `java.lang.Class`.
            assert_eq!(layouts.mirror_bytes(&histogram, 0), None);
        }
    }
}

proptest! {
    /// Super classes may be anything in a torn dump: rings, themselves, numbers beyond.
    #[test]
    fn rings_and_wild_super_classes_end(
        supers in proptest::collection::vec((any::<bool>(), 0u32..12), 1..12),
        kinds in proptest::collection::vec(0usize..4, 0..12),
    ) {
        let fields: Vec<FieldKind> = kinds.iter().map(|kind| [INT, BYTE, LONG, REFERENCE][*kind]).collect();
        let classes: Vec<ClassShape> = supers
            .iter()
            .map(|(has, above)| shape("C", has.then_some(*above), &fields))
            .collect();
        let histogram = ClassHistogram { classes, ..ClassHistogram::default() };
        for name in ModelName::ALL {
            for jdk in [8, 17, 25] {
                let layouts = Layouts::of(&histogram, HeapModel { name, jdk });
                for class in 0..supers.len() as u32 {
                    let layout = layouts.class_layout(&histogram, class).expect("a class");
                    let sum: u64 = layout.places.iter().map(|place| place.bytes).sum();
                    prop_assert_eq!(sum, layout.instance_bytes);
                }
            }
        }
    }
}
