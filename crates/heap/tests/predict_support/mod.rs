//! JVMs in every mode that those at hand can run, with what they say of their heaps: a dump, and their own class histogram.

use assay_heap::{ClassHistogram, hprof};
use assay_model::ModelName;
use assay_testkit::{Running, find_java, start_java};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A JVM in one mode.
#[derive(Debug, Clone)]
pub struct Mode {
    pub jdk: u32,
    pub name: ModelName,
    pub options: Vec<String>,
}

impl Mode {
    pub fn new(jdk: u32, name: ModelName, options: &[&str]) -> Mode {
        Mode { jdk, name, options: options.iter().map(|option| (*option).to_owned()).collect() }
    }

    pub fn with(mut self, options: &[&str]) -> Mode {
        self.options.extend(options.iter().map(|option| (*option).to_owned()));
        self
    }

    /// How messages call it.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.jdk, self.name.name(), self.options.join(" "))
    }

    pub fn java(&self) -> Option<PathBuf> {
        find_java(self.jdk, if self.name == ModelName::Bits32 { 32 } else { 64 })
    }
}

/// Every mode that JDK 17 and 25 can run.
pub fn modes() -> Vec<Mode> {
    let plain: [(ModelName, &[&str]); 5] = [
        (ModelName::Compressed, &["-XX:+UseCompressedOops"]),
        (ModelName::CompressedAlign16, &["-XX:ObjectAlignmentInBytes=16"]),
        (ModelName::CompressedAlign32, &["-XX:ObjectAlignmentInBytes=32"]),
        (ModelName::Bits64CompressedClassPointers, &["-XX:-UseCompressedOops"]),
        (ModelName::Bits64, &["-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"]),
    ];
    let compact = "-XX:+UseCompactObjectHeaders";
    let mut modes = vec![Mode::new(17, ModelName::Bits32, &[])];
    modes.extend(
        [17, 25].into_iter().flat_map(|jdk| plain.map(|(name, options)| Mode::new(jdk, name, options))),
    );
    modes.extend([
        Mode::new(25, ModelName::Compact, &[compact]),
        Mode::new(25, ModelName::CompactAlign16, &[compact, "-XX:ObjectAlignmentInBytes=16"]),
        Mode::new(25, ModelName::Compact64, &[compact, "-XX:-UseCompressedOops"]),
    ]);
    modes
}

/// A row of a class histogram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// External name, without what differs from run to run.
    pub name: String,
    pub instances: u64,
    pub bytes: u64,
}

/// What a JVM said of its heap.
pub struct Seen {
    pub mode: Mode,
    pub class_histogram: Option<ClassHistogram>,
    pub histogram: Vec<Row>,
}

impl Seen {
    pub fn histogram_bytes(&self) -> u64 {
        self.histogram.iter().map(|row| row.bytes).sum()
    }
}

/// Starts `Varied` in a mode and asks it for its histogram, and for a dump. `None` when there is no such JVM.
pub fn look(mode: &Mode, with_dump: bool, options: &[&str]) -> Option<Seen> {
    let running = start(mode, options)?;
    let class_histogram = with_dump.then(|| dump(&running));
    let histogram = parse(&running.jcmd(&["GC.class_histogram"]));
    assert!(100 < histogram.len(), "a histogram of {}", mode.text());
    Some(Seen { mode: mode.clone(), class_histogram, histogram })
}

/// A dump of `Varied` in a mode. `None` when there is no such JVM.
pub fn dump_of(mode: &Mode, options: &[&str]) -> Option<ClassHistogram> {
    Some(dump(&start(mode, options)?))
}

fn start(mode: &Mode, options: &[&str]) -> Option<Running> {
    let java = mode.java()?;
    let options: Vec<&str> = mode.options.iter().map(String::as_str).chain(options.iter().copied()).collect();
    Some(start_java(&java, &options, &[], "Varied"))
}

fn dump(running: &Running) -> ClassHistogram {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("heap.hprof");
    let said = running.jcmd(&["GC.heap_dump", &path.display().to_string()]);
    assert!(said.contains("Heap dump file created"), "{said}");
    hprof::read_file(&path, &|_| {}).expect("a dump that can be read")
}

/// Does something with every mode, two JVMs at a time; results in the order of the modes.
pub fn for_each<T: Send>(modes: &[Mode], work: impl Fn(usize, &Mode) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<usize, T>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((index, mode)) = Some(next.fetch_add(1, Ordering::Relaxed))
                    .and_then(|index| Some((index, modes.get(index)?)))
                {
                    let result = work(index, mode);
                    results.lock().expect("no other thread panicked").insert(index, result);
                }
            });
        }
    });
    results.into_inner().expect("no thread panicked").into_values().collect()
}

/// Rows of a histogram. Fillers of gaps have rows of their own in newer JDKs (seen: 25), and are not counted in a dump.
fn parse(text: &str) -> Vec<Row> {
    let rows = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        words.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
        let (instances, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Row { name: stable_name(&external_name(words.next()?)), instances, bytes })
    });
    rows.filter(|row| !row.name.starts_with("jdk.internal.vm.Filler")).collect()
}

/// `[[Ljava.lang.String;` as Java spells it.
fn external_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    let element = match element {
        _ if dimensions == 0 => element,
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        class => class.trim_start_matches('L').trim_end_matches(';'),
    };
    format!("{element}{}", "[]".repeat(dimensions))
}

/// A name without the address of a hidden class and the number of a lambda, which differ from run to run.
pub fn stable_name(name: &str) -> String {
    let cut = ["/0x", "+0x"].iter().filter_map(|mark| name.find(mark)).min();
    let arrays = name.matches("[]").count();
    let name = cut.map_or(name, |at| &name[..at]);
    let name = match name.split_once("$$Lambda$") {
        Some((class, number)) if number.chars().all(|c| c.is_ascii_digit()) => format!("{class}$$Lambda"),
        _ => name.to_owned(),
    };
    if cut.is_some() { name + &"[]".repeat(arrays) } else { name }
}
