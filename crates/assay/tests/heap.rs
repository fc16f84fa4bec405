//! `assay heap predict` and `assay heap layout` as they are typed: exit codes, messages, what goes where.

use crate::hprof_writer;
use assay_model::{HeapLayouts, HeapPrediction, ModelName, schema};
use assay_testkit::testdata;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn assay(arguments: &[&str]) -> Output {
    let mut command = Command::new(ASSAY);
    command.args(arguments).env("COLUMNS", "100").stdin(Stdio::null()).output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A dump as a JVM with compressed references has it: 500 objects of `a.Order { long number; Object what; }` (24 bytes),
/// 500 of `a.OrderLine extends a.Order { int count; }` (32), and 500 arrays of up to 8 bytes (16, 24). 38,400 bytes in all.
fn dump_bytes() -> Vec<u8> {
    let mut dump = hprof_writer::Dump::new("1.0.2", 8);
    for (class, name) in
        [(0x1000, "java/lang/Object"), (0x2000, "a/Order"), (0x3000, "a/OrderLine"), (0x4000, "[B")]
    {
        dump.class_named(class, name);
    }
    for (name, text) in [(0x31, "number"), (0x32, "what"), (0x33, "count")] {
        dump.name(name, text);
    }
    let mut subs = dump.subs();
    subs.class(0x1000, 0, &[], &[]);
    subs.class(0x2000, 0x1000, &[], &[(0x31, 11), (0x32, 2)]);
    subs.class(0x3000, 0x2000, &[], &[(0x33, 10)]);
    subs.class(0x4000, 0x1000, &[], &[]);
    let mut address = 0x10_0000;
    for index in 0..500 {
        subs.instance(address, 0x2000, &[0; 16]);
        subs.instance(address + 24, 0x3000, &[0; 20]);
        let length = 1 + index % 8;
        subs.numbers(address + 56, 8, length);
        address += 56 + u64::from(16 + length).next_multiple_of(8);
    }
    dump.record(0x0C, &subs.bytes);
    dump.bytes
}

fn dump() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("orders.hprof");
    std::fs::write(&path, dump_bytes()).expect("written");
    (folder, path)
}

fn predicted(arguments: &[&str]) -> HeapPrediction {
    let output = assay(&[&["heap", "predict"], arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the stored form")
}

fn bytes_of(prediction: &HeapPrediction, model: ModelName, class: &str) -> u64 {
    let model = prediction.model(model).expect("every model");
    let class = model.classes.iter().find(|weight| weight.name == class);
    class.unwrap_or_else(|| panic!("{model:?}")).bytes
}

#[test]
fn a_dump_is_weighed_in_every_mode() {
    let (_folder, path) = dump();
    let prediction = predicted(&[&path.display().to_string(), "--jdk", "17"]);
    assert_eq!(prediction.schema, schema::HEAP_PREDICTION);
    assert_eq!(prediction.dump_model, Some(ModelName::Compressed), "{:?}", prediction.problems);
    assert_eq!(prediction.models.len(), 11);
    // Sizes by hand: header, long, reference, and the int in the hole where there is one.
    for (model, order, line) in [
        (ModelName::Bits32, 24, 24),
        (ModelName::Compressed, 24, 32),
        (ModelName::CompressedAlign32, 32, 32),
        (ModelName::Bits64CompressedClassPointers, 32, 32),
        (ModelName::Bits64, 32, 40),
        (ModelName::Compact, 24, 24),
        (ModelName::Compact64, 24, 32),
    ] {
        assert_eq!(bytes_of(&prediction, model, "a.Order"), 500 * order, "{}", model.name());
        assert_eq!(bytes_of(&prediction, model, "a.OrderLine"), 500 * line, "{}", model.name());
    }
    assert_eq!(bytes_of(&prediction, ModelName::Compressed, "byte[]"), 500 * 24);
    assert!(prediction.cross_overs.iter().any(|cross_over| cross_over.break_even_bytes.is_some()));
    assert_eq!(prediction.example.len(), 11);
}

#[test]
fn packed_and_piped_dumps_give_the_same() {
    let (folder, path) = dump();
    let plain = predicted(&[&path.display().to_string()]);
    let packed = folder.path().join("orders.hprof.gz");
    let file = File::create(&packed).expect("a file");
    assert!(Command::new("gzip").arg("-c").arg(&path).stdout(file).status().expect("gzip").success());
    let of_packed = predicted(&[&packed.display().to_string()]);
    assert_eq!(plain.models, of_packed.models);
    for path in [&path, &packed] {
        let input = File::open(path).expect("the dump");
        let output = Command::new(ASSAY)
            .args(["heap", "predict", "-", "--json"])
            .stdin(input)
            .output()
            .expect("assay");
        let piped: HeapPrediction = serde_json::from_slice(&output.stdout).expect("the stored form");
        assert_eq!((piped.source.as_str(), &piped.models), ("stdin", &plain.models));
    }
}

#[test]
fn text_csv_and_page_say_the_same_and_data_is_all_that_standard_output_gets() {
    let (folder, path) = dump();
    let path = path.display().to_string();
    let output = assay(&["heap", "predict", &path, "--top", "2", "--all"]);
    let told = text(&output.stdout);
    assert!(told.contains("compressed-align16") && told.contains("a.OrderLine"), "{told}");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let csv = text(&assay(&["heap", "predict", &path, "--csv"]).stdout);
    assert!(csv.contains("compressed,a.OrderLine,500,16000"), "{csv}");
    let page = folder.path().join("orders.html");
    let output = assay(&["heap", "predict", &path, "--html", &page.display().to_string()]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(text(&output.stderr).contains("written: "));
    assert!(std::fs::read_to_string(&page).expect("a page").contains("a.OrderLine"));
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 2, "the dump and the page: {left:?}");
}

#[test]
fn a_log_tells_garbage_in_every_mode_and_what_that_rests_on() {
    let (_folder, path) = dump();
    let log = testdata("gclog/17-g1.log").display().to_string();
    let prediction = predicted(&[&path.display().to_string(), "--gc-log", &log]);
    let basis = prediction.garbage_basis.as_deref().expect("a basis");
    assert!(basis.contains("Assumption:") && basis.contains("17-g1.log"), "{basis}");
    let of = |name| prediction.garbage.iter().find(|garbage| garbage.name == name).expect("every model");
    let total = |name| prediction.model(name).expect("every model").total_bytes as f64;
    let (here, there) = (of(ModelName::Compressed), of(ModelName::Bits64));
    let ratio = total(ModelName::Bits64) / total(ModelName::Compressed);
    assert!((there.freed_bytes_per_s / here.freed_bytes_per_s - ratio).abs() < 1e-9);
    assert!(0.0 < here.freed_bytes_per_s);
    // A log of which nothing is understood is a problem of the result, no end of it.
    let none = predicted(&[
        &path.display().to_string(),
        "--gc-log",
        &testdata("java/Varied.java").display().to_string(),
    ]);
    assert!(none.garbage.is_empty());
    assert!(
        none.problems.iter().any(|problem| problem.text.contains("no rate of garbage")),
        "{:?}",
        none.problems
    );
}

#[test]
fn a_class_is_laid_out_in_every_mode() {
    let (folder, path) = dump();
    let path = path.display().to_string();
    let output = assay(&["heap", "layout", "a.OrderLine", "--dump", &path, "--jdk", "17", "--json"]);
    let layouts: HeapLayouts = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(layouts.layouts.len(), 11);
    let of = |name| layouts.layouts.iter().find(|layout| layout.model.name == name).expect("every model");
    let count =
        of(ModelName::Bits64CompressedClassPointers).places.iter().find(|place| place.name == "count");
    assert_eq!(count.map(|place| place.offset_bytes), Some(12));
    assert!(text(&assay(&["heap", "layout", "OrderLine", "--dump", &path]).stdout).contains("count"));
    let page = folder.path().join("line.html");
    let output =
        assay(&["heap", "layout", "a.Order", "--dump", &path, "--html", &page.display().to_string()]);
    assert!(output.status.success() && page.exists());
}

#[test]
fn wrong_use_says_what_on_what_and_what_mends_it() {
    let (folder, path) = dump();
    let path = path.display().to_string();
    let text_file = folder.path().join("notes.txt");
    std::fs::write(&text_file, "no dump").expect("written");
    let text_file = text_file.display().to_string();
    let torn = folder.path().join("torn.hprof");
    std::fs::write(&torn, &dump_bytes()[..40]).expect("written");
    let torn = torn.display().to_string();
    let cases: [(&[&str], &[&str]); 11] = [
        (&["predict", &path, "--freeze", "3s"], &["--freeze"]),
        (&["predict", "/no/such.hprof"], &["/no/such.hprof", "jcmd PID GC.heap_dump"]),
        (&["predict", &text_file], &["notes.txt", "jcmd PID GC.heap_dump"]),
        (&["predict", &torn], &["torn.hprof", "jcmd PID GC.heap_dump"]),
        (&["predict", "/tmp"], &["/tmp is a folder"]),
        (
            &["predict", &path, "--class", "a.OrderLin"],
            &["orders.hprof", "no class a.OrderLin", "a.OrderLine"],
        ),
        (&["predict", &path, "--gc-log", "/no/gc.log"], &["/no/gc.log", "-Xlog:gc"]),
        (&["predict", &path, "--html", "/no/such/page.html"], &["mkdir -p /no/such"]),
        (&["layout", "b.Nothing", "--dump", &path], &["no class b.Nothing"]),
        (&["layout", "byte[]", "--dump", &path], &["array class"]),
        (&["layout", "a.Order", "--classpath", &text_file], &["notes.txt"]),
    ];
    for (arguments, wanted) in cases {
        let output = assay(&[&["heap"], arguments].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        for part in wanted {
            assert!(told.contains(part), "{arguments:?} lacks {part}: {told}");
        }
    }
}

#[test]
fn a_torn_dump_gives_what_was_read_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("torn.hprof");
    let whole = dump_bytes();
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("written");
    let prediction = predicted(&[&path.display().to_string()]);
    assert!(0 < prediction.objects && prediction.objects < 1500);
    assert_eq!(prediction.dump_model, Some(ModelName::Compressed));
    assert!(!prediction.problems.is_empty());
    assert!(prediction.is_part);
    let path = path.display().to_string();
    let told = text(&assay(&["heap", "predict", &path]).stdout);
    assert!(told.contains("\nOnly a part of the heap could be read."), "{told}");
    let csv = assay(&["heap", "predict", &path, "--csv"]);
    assert_eq!(csv.status.code(), Some(0));
    assert!(text(&csv.stderr).contains("torn.hprof: the dump ends within"), "{}", text(&csv.stderr));
    assert!(text(&csv.stdout).starts_with("model,class,"), "{}", text(&csv.stdout));
}

#[test]
fn a_class_path_is_as_good_as_a_dump() {
    let Some(java) = assay_testkit::find_java(17, 64) else { assay_testkit::skip!("no JDK 17") };
    let home = java.ancestors().nth(2).map(Path::to_path_buf).expect("a home");
    let arguments = ["heap", "layout", "java.util.HashMap$Node", "--json", "--classpath"];
    let output = assay(&[&arguments[..], &[&home.display().to_string()]].concat());
    let layouts: HeapLayouts = serde_json::from_slice(&output.stdout).expect("the stored form");
    let of = |name| layouts.layouts.iter().find(|layout| layout.model.name == name).expect("every model");
    // Known of old: 32 bytes with compressed references, 24 with compact headers.
    assert_eq!(of(ModelName::Compressed).instance_bytes, 32);
    assert_eq!(of(ModelName::Compact).instance_bytes, 24);
    let output =
        assay(&["heap", "layout", "java.util.HashMap$Nod", "--classpath", &home.display().to_string()]);
    let said = text(&output.stderr).replace("\n    ", " ");
    assert!(said.contains("did you mean java.util.HashMap$Node"), "{said}");
}
