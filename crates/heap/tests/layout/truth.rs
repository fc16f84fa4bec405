//! What a JVM says about the layout of its classes (`tests/layout/java/LayoutTruth.java`), and how a layout is held against it.

use assay_heap::layout::{LayoutOrder, Layouts, Sizes};
use assay_heap::{ClassHistogram, ClassShape, Field, FieldKind, PrimitiveKind};
use assay_jdk::Release;
use assay_jdk::objects::ObjectFacts;
use assay_jdk::release::OptionState;
use assay_model::{HeapModel, LayoutPart, ModelName};
use assay_testkit::{find_tool, java_classes_of, short_run};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// A field as the JVM has it.
pub struct TrueField {
    pub name: String,
    pub kind: String,
    pub offset_bytes: u64,
    pub is_injected: bool,
    /// Its group, empty for none, if it is contended.
    pub contended: Option<String>,
}

/// A class as the JVM has it.
pub struct TrueClass {
    pub name: String,
    pub above: String,
    pub is_interface: bool,
    pub instance_bytes: u64,
    pub mirror_bytes: u64,
    pub is_contended: bool,
    pub fields: Vec<TrueField>,
    pub statics: Vec<TrueField>,
}

/// All that it said.
pub struct Truth {
    pub classes: Vec<TrueClass>,
    /// First element by the JVM's name of the array class.
    pub array_bases: HashMap<String, u64>,
    /// Classes that it could not load.
    pub not_loaded: usize,
}

/// The compiler, if there is one.
pub fn javac() -> Option<PathBuf> {
    find_tool("javac")
}

/// Where the program is that asks a JVM for its layouts.
fn classes() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/layout/java/LayoutTruth.java");
    java_classes_of(&source, &["-nowarn", "-source", "8", "-target", "8"])
}

/// Compiles with these options.
pub fn compile(sources: &[PathBuf], into: &Path, options: &[&str]) {
    let output = short_run(&javac().expect("a compiler"))
        .arg("-nowarn")
        .args(options)
        .arg("-d")
        .arg(into)
        .args(sources)
        .output()
        .expect("javac runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a JVM needs that lets a program read its memory: from JDK 9 on its modules are closed.
fn openings(jdk: u32) -> Vec<String> {
    if jdk < 9 {
        return Vec::new();
    }
    let open = |how: &str, package: &str| [how.to_owned(), format!("java.base/{package}=ALL-UNNAMED")];
    let openings = [
        ["--add-modules", "ALL-SYSTEM"].map(str::to_owned),
        open("--add-exports", "jdk.internal.misc"),
        open("--add-exports", "jdk.internal.vm.annotation"),
        open("--add-opens", "java.lang"),
        open("--add-opens", "jdk.internal.loader"),
    ];
    openings.into_iter().flatten().collect()
}

impl Truth {
    /// Asks a JVM with these options about all classes of modules, or of folders of class files.
    pub fn of(java: &Path, jdk: u32, options: &[&str], modules_and_folders: &[&str]) -> Truth {
        let mut path = classes().into_os_string();
        for folder in modules_and_folders.iter().filter(|of| of.starts_with('/')) {
            path.push(":");
            path.push(folder);
        }
        let output = Command::new("timeout")
            .arg("300")
            .arg(java)
            .args(["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"])
            .args(openings(jdk))
            .args(options)
            .arg("-cp")
            .arg(path)
            .arg("LayoutTruth")
            .args(modules_and_folders)
            .output()
            .expect("java runs");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.ends_with("done\n"), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
        Truth::parse(&text)
    }

    fn parse(text: &str) -> Truth {
        let mut truth = Truth { classes: Vec::new(), array_bases: HashMap::new(), not_loaded: 0 };
        let number = |text: &str| text.parse().expect("a number");
        for line in text.lines() {
            let cells: Vec<&str> = line.split('\t').collect();
            match cells[0] {
                "A" => {
                    truth.array_bases.insert(cells[1].to_owned(), number(cells[2]));
                }
                "C" => truth.classes.push(TrueClass {
                    name: cells[1].to_owned(),
                    above: cells[2].to_owned(),
                    is_interface: cells[3] == "interface",
                    instance_bytes: number(cells[4]),
                    mirror_bytes: number(cells[5]),
                    is_contended: cells[6] != "-",
                    fields: Vec::new(),
                    statics: Vec::new(),
                }),
                "X" => truth.not_loaded += 1,
                "F" | "S" | "I" => {
                    let class = truth.classes.last_mut().expect("fields stand below their class");
                    let field = TrueField {
                        name: cells[1].to_owned(),
                        kind: cells[2].to_owned(),
                        offset_bytes: number(cells[3]),
                        is_injected: cells[0] == "I",
                        contended: cells[4].strip_prefix('@').map(str::to_owned),
                    };
                    if cells[0] == "S" { &mut class.statics } else { &mut class.fields }.push(field);
                }
                _ => {}
            }
        }
        truth
    }

    /// The same classes, as a dump of that JVM would have them.
    pub fn histogram(&self) -> ClassHistogram {
        let index: HashMap<&str, u32> =
            self.classes.iter().enumerate().map(|(at, class)| (&*class.name, at as u32)).collect();
        let fields = |fields: &[TrueField]| {
            let declared = fields.iter().filter(|field| !field.is_injected);
            declared.map(|field| Field { name: (*field.name).into(), kind: kind(&field.kind) }).collect()
        };
        let classes = self.classes.iter().map(|class| ClassShape {
            name: (*class.name).into(),
            super_class: index.get(&*class.above).copied(),
            fields: fields(&class.fields),
            statics: fields(&class.statics),
            instances: 0,
            arrays: None,
            has_mirror: true,
        });
        ClassHistogram { classes: classes.collect(), word_bytes: 8, ..ClassHistogram::default() }
    }

    /// Facts with the annotations of these classes added, as `-XX:-RestrictContended` does it.
    pub fn with_contended(&self, facts: Arc<ObjectFacts>) -> Arc<ObjectFacts> {
        let mut facts = Arc::unwrap_or_clone(facts);
        for class in &self.classes {
            if class.is_contended {
                facts.contended_classes.insert(class.name.clone());
            }
            for field in class.fields.iter().chain(&class.statics) {
                if let Some(group) = &field.contended {
                    let fields = facts.contended_fields.entry(class.name.clone()).or_default();
                    fields.insert(field.name.clone(), group.clone());
                }
            }
        }
        Arc::new(facts)
    }
}

fn kind(name: &str) -> FieldKind {
    let primitive = PrimitiveKind::ALL.into_iter().find(|kind| kind.name() == name);
    primitive.map_or(FieldKind::Reference, FieldKind::Primitive)
}

/// Compares every field's offset, every size and every mirror; says what differs, and how many fields were compared.
pub fn compare(truth: &Truth, layouts: &Layouts, histogram: &ClassHistogram) -> (Vec<String>, usize) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (at, class) in truth.classes.iter().enumerate() {
        let at = at as u32;
        if layouts.mirror_bytes(histogram, at) != Some(class.mirror_bytes) {
            let ours = layouts.mirror_bytes(histogram, at);
            wrong.push(format!("{}: mirror {} B, we say {ours:?}", class.name, class.mirror_bytes));
        }
        if class.is_interface {
            continue;
        }
        let ours = layouts.instance_bytes(at);
        if ours != Some(class.instance_bytes) {
            wrong.push(format!("{}: {} B, we say {ours:?}", class.name, class.instance_bytes));
        }
        let layout = layouts.class_layout(histogram, at).expect("a class");
        assert_eq!(Some(layout.instance_bytes), ours, "{}", class.name);
        let mut end = 0;
        for place in &layout.places {
            assert_eq!(place.offset_bytes, end, "{}: parts touch", class.name);
            assert_ne!(place.bytes, 0, "{}: no part is empty", class.name);
            end += place.bytes;
        }
        assert_eq!(end, layout.instance_bytes, "{}: parts add up", class.name);
        let own: HashMap<(&str, bool), u64> = layout
            .places
            .iter()
            .filter(|place| place.declared_by == class.name)
            .map(|place| ((&*place.name, place.part == LayoutPart::Injected), place.offset_bytes))
            .collect();
        assert_eq!(own.len(), layout.places.iter().filter(|place| place.declared_by == class.name).count());
        if own.len() != class.fields.len() {
            wrong.push(format!("{}: {} fields, we say {}", class.name, class.fields.len(), own.len()));
        }
        for field in &class.fields {
            compared += 1;
            let ours = own.get(&(&*field.name, field.is_injected));
            if ours != Some(&field.offset_bytes) {
                wrong.push(format!(
                    "{}.{} at {}, we say {ours:?}",
                    class.name, field.name, field.offset_bytes
                ));
            }
        }
    }
    (wrong, compared)
}

/// Compares where elements of arrays begin.
pub fn compare_arrays(truth: &Truth, layouts: &Layouts) {
    for (letter, kind) in "ZCFDBSIJ".chars().zip(PrimitiveKind::ALL) {
        assert_eq!(
            layouts.array_base_bytes(Some(kind)),
            truth.array_bases[&format!("[{letter}")],
            "{kind:?}"
        );
    }
    assert_eq!(layouts.array_base_bytes(None), truth.array_bases["[Ljava.lang.Object;"]);
}

/// A mode that a JVM can run in.
pub struct Mode {
    pub name: ModelName,
    pub options: Vec<&'static str>,
}

const COMPACT: &str = "-XX:+UseCompactObjectHeaders";
const NO_OOPS: &str = "-XX:-UseCompressedOops";
const NO_CLASSES: &str = "-XX:-UseCompressedClassPointers";

/// Modes of a 64-bit JVM of a release.
pub fn modes(jdk: u32) -> Vec<Mode> {
    let release = Release::of(jdk);
    let ordinary: &[&str] =
        if release.modes.headers_are_compact { &["-XX:-UseCompactObjectHeaders"] } else { &[] };
    let mode = |name, options: &[&'static str]| Mode { name, options: [ordinary, options].concat() };
    let mut modes = vec![
        mode(ModelName::Compressed, &[]),
        mode(ModelName::CompressedAlign16, &["-XX:ObjectAlignmentInBytes=16"]),
        mode(ModelName::CompressedAlign32, &["-XX:ObjectAlignmentInBytes=32"]),
    ];
    if release.option("UseCompressedClassPointers") != OptionState::Absent {
        modes.push(mode(ModelName::Bits64, &[NO_OOPS, NO_CLASSES]));
    }
    if 15 <= jdk {
        modes.push(mode(ModelName::Bits64CompressedClassPointers, &[NO_OOPS]));
    }
    if 24 <= jdk {
        modes.push(mode(ModelName::Compact, &[COMPACT]));
        modes.push(mode(ModelName::CompactAlign16, &[COMPACT, "-XX:ObjectAlignmentInBytes=16"]));
        modes.push(mode(ModelName::Compact64, &[COMPACT, NO_OOPS]));
    }
    modes
}

/// What `./check` tries without `--long`: JDKs, the oldest first, take turns, each in every other mode. So each JDK is there, and two
/// neighbours, of one layout or next to where it changed, have all modes of both. The whole matrix is long.
pub fn in_turn<'a>(javas: &'a BTreeMap<u32, PathBuf>) -> impl Iterator<Item = (u32, &'a Path, Mode)> {
    let is_even =
        |mode: &Mode| ModelName::ALL.iter().position(|name| *name == mode.name).is_some_and(|at| at % 2 == 0);
    let of_one = move |(turn, (jdk, java)): (usize, (&u32, &'a PathBuf))| {
        let (jdk, java) = (*jdk, java.as_path());
        let modes = modes(jdk).into_iter().filter(move |mode| is_even(mode) == (turn % 2 == 1));
        modes.map(move |mode| (jdk, java, mode))
    };
    javas.iter().enumerate().flat_map(of_one)
}

/// The whole matrix.
pub fn in_every_mode(javas: &BTreeMap<u32, PathBuf>) -> impl Iterator<Item = (u32, &Path, Mode)> {
    javas.iter().flat_map(|(jdk, java)| modes(*jdk).into_iter().map(|mode| (*jdk, java.as_path(), mode)))
}

/// Holds a whole JVM in one mode against the rules, and says what was compared.
#[track_caller]
pub fn check(java: &Path, jdk: u32, mode: &Mode, options: &[&str], modules_and_folders: &[&str]) -> Truth {
    let options: Vec<&str> = mode.options.iter().chain(options).copied().collect();
    let truth = Truth::of(java, jdk, &options, modules_and_folders);
    let histogram = truth.histogram();
    let model = HeapModel { name: mode.name, jdk };
    let facts = Arc::clone(&Release::of(jdk).objects);
    let is_restricted = !options.contains(&"-XX:-RestrictContended");
    let facts = if is_restricted { facts } else { truth.with_contended(facts) };
    let layouts = Layouts::with(&histogram, &LayoutOrder::all(&histogram), model, Sizes::of(model), facts);
    let (wrong, fields) = compare(&truth, &layouts, &histogram);
    println!(
        "JDK {jdk} {}: {} classes, {fields} fields, {} not loaded, {} wrong",
        mode.name.name(),
        truth.classes.len(),
        truth.not_loaded,
        wrong.len()
    );
    assert!(
        wrong.is_empty(),
        "JDK {jdk} {}: {} wrong: {:#?}",
        mode.name.name(),
        wrong.len(),
        &wrong[..wrong.len().min(20)]
    );
    compare_arrays(&truth, &layouts);
    truth
}
