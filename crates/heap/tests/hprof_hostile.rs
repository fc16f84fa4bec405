//! Damaged dumps and bytes that are none: never a panic, never more time than their length takes, and the same answer
//! however the bytes come in. Runs the seeds of the fuzz target (`fuzz/fuzz_targets/hprof_read.rs`) as a test.

use crate::hprof_writer::{Trickle, small};
use assay_heap::ClassHistogram;
use assay_heap::hprof::{HprofError, read};
use assay_heap::predict::{PredictOptions, predict};
use assay_model::HeapPrediction;
use assay_testkit::{each_java, find_tool, start_java};
use proptest::prelude::*;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Reads it twice, whole and in small pieces.
fn check(bytes: &[u8]) -> Result<ClassHistogram, HprofError> {
    let whole = read(bytes, "damaged", &|_| {});
    if is_packed(bytes) {
        // How far damage lets a packed stream come depends on how much of it is at hand.
        return whole;
    }
    match (&whole, &read(Trickle::of(bytes), "damaged", &|_| {})) {
        (Ok(whole), Ok(in_pieces)) => {
            assert!(whole == in_pieces, "{:?} {:?}", whole.problems, in_pieces.problems);
            // More objects than a sub-record each would be invented.
            let objects: u64 = whole.classes.iter().map(|class| class.instances).sum();
            assert!(objects <= bytes.len() as u64 / 10, "{objects} of {} bytes", bytes.len());
        }
        (Err(whole), Err(in_pieces)) => assert_eq!(whole.to_string(), in_pieces.to_string()),
        (whole, in_pieces) => panic!("{:?} or {:?}", whole.as_ref().err(), in_pieces.as_ref().err()),
    }
    whole
}

fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn seeds() -> PathBuf {
    assay_testkit::testdata("../fuzz/corpus/hprof_read")
}

#[test]
fn seeds_of_the_fuzz_target_are_read_without_panic() {
    let seeds = files(&seeds());
    assert!(seeds.len() >= 6, "the seeds are there");
    for path in seeds {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let histogram = check(&fs::read(&path).expect("the seed"));
        assert_eq!(histogram.is_ok(), name.starts_with("dump"), "{name}: {:?}", histogram.err());
    }
}

#[test]
#[ignore = "writes the seeds of the fuzz target anew"]
fn write_the_seeds() {
    let write = |name: &str, bytes: &[u8]| fs::write(seeds().join(name), bytes).expect("a seed");
    fs::create_dir_all(seeds()).expect("the folder");
    for (version, id_bytes) in [("1.0", 4), ("1.0.1", 4), ("1.0.2", 8), ("1.0.3", 4)] {
        write(&format!("dump-{version}-{id_bytes}"), &small::whole(version, id_bytes).bytes);
    }
    let whole = small::whole("1.0.2", 8).bytes;
    let mut packed = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(whole.as_slice(), flate2::Compression::best());
    encoder.read_to_end(&mut packed).expect("packed");
    write("dump-packed", &packed);
    write("dump-torn", &whole[..whole.len() - 1_000]);
    write("none-header-only", &whole[..31]);
    write("none-text", b"JAVA PROFILE of something else\0");
    write("none-packed", &packed[..40]);
}

/// Dumps as JVMs write them: small ones, of the JVMs at hand and of those beside the checkout.
static REAL: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let samples = files(&assay_testkit::testdata("../../shared/data/hprof"));
    let samples = samples.iter().filter(|path| path.extension().is_some_and(|kind| kind == "hprof"));
    let mut dumps: Vec<Vec<u8>> = samples.map(|path| fs::read(path).expect("the sample")).collect();
    if find_tool("javac").is_none() {
        return dumps;
    }
    for java in each_java(64).into_values().chain(each_java(32).into_values()) {
        let running = start_java(&java, &["-Xmx64m"], &[], "Counted");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("counted.hprof");
        running.jcmd(&["GC.heap_dump", &path.display().to_string()]);
        dumps.push(fs::read(&path).expect("a dump"));
    }
    dumps
});

/// The releases whose classes have the same fields as those of this one.
fn shape_of(version: &str) -> Option<&'static str> {
    const SHAPES: [(&str, &str); 5] = [
        ("1.6.", "6 to 7"),
        ("6", "6 to 7"),
        ("11.", "9 to 12"),
        ("17.", "15 to 18"),
        ("25.", "25 or later"),
    ];
    SHAPES.iter().find(|(begin, _)| version.starts_with(begin)).map(|(_, shape)| *shape)
}

/// What ends before the version, or within the objects, is never said to be of the oldest release that it can be.
#[test]
fn cut_off_dumps_are_of_their_version_or_of_all_releases_of_their_shape() {
    if REAL.is_empty() {
        assay_testkit::skip!("no dumps at hand");
    }
    let mut by_shape = 0;
    for dump in REAL.iter() {
        let known = read(dump.as_slice(), "whole", &|_| {}).expect("a dump").jdk_text().expect("a version");
        for part in 12..24 {
            let cut = &dump[..dump.len() / 24 * part];
            let Ok(histogram) = read(cut, "part", &|_| {}) else { continue };
            let Some(told) = histogram.jdk_text() else { continue };
            assert!(told == known || Some(told.as_str()) == shape_of(&known), "{told} of {known}, {part}/24");
            by_shape += usize::from(told != known);
            let Ok(HeapPrediction { dump: Some(dump), .. }) = predict(&histogram, &PredictOptions::default())
            else {
                continue;
            };
            assert_eq!(dump.jdk_version.as_deref(), Some(told.as_str()), "{known}");
        }
    }
    assert!(0 < by_shape, "no cut hides the version");
}

#[test]
fn cut_off_dumps_of_jvms_give_what_is_there() {
    if REAL.is_empty() {
        assay_testkit::skip!("no dumps at hand");
    }
    for dump in REAL.iter() {
        let objects =
            |histogram: &ClassHistogram| histogram.classes.iter().map(|class| class.instances).sum::<u64>();
        let whole = objects(&check(dump).expect("a whole dump"));
        let mut before = 0;
        for part in 1..16 {
            let Ok(histogram) = check(&dump[..dump.len() / 16 * part]) else { continue };
            let there = objects(&histogram);
            assert!((before..=whole).contains(&there) && !histogram.problems.is_empty());
            before = there;
        }
        assert!(before > 0, "the last cut has objects");
    }
}

/// A field of another name hides the version.
#[test]
fn a_dump_without_the_version_is_read_by_the_shape_of_its_classes() {
    let mut dumps = REAL.clone();
    let packed = assay_testkit::testdata("../../shared/data/hprof/openjdk_jdk11_04_x64.hprof.gz");
    if let Ok(packed) = fs::File::open(packed) {
        let mut dump = Vec::new();
        flate2::read::MultiGzDecoder::new(packed).read_to_end(&mut dump).expect("unpacked");
        dumps.push(dump);
    }
    if dumps.is_empty() {
        assay_testkit::skip!("no dumps at hand");
    }
    for mut dump in dumps {
        let known = read(dump.as_slice(), "whole", &|_| {}).expect("a dump").jdk_text().expect("a version");
        while let Some(at) = dump.windows(12).position(|name| name == b"java_version") {
            dump[at] = b'J';
        }
        let histogram = read(dump.as_slice(), "without", &|_| {}).expect("a dump");
        let expected = shape_of(&known);
        assert_eq!(histogram.jdk_text().as_deref(), expected, "{known}");
        let predicted = predict(&histogram, &PredictOptions::default()).expect("no class is asked for");
        if let Some(dump) = predicted.dump {
            assert_eq!((dump.jdk, dump.jdk_version), (None, histogram.jdk_text()), "{known}");
        }
        let problem = &histogram.problems.last().expect("a problem").text;
        assert!(problem.contains("have the shape of JDK"), "{known}: {problem}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn damaged_dumps_of_jvms_are_read_without_panic(
        dumps in (0usize..100, 0usize..100),
        cuts in (0.0..1.0, 0.0..1.0),
        damage in prop::collection::vec((0.0..1.0, any::<u8>()), 0..12),
    ) {
        if !REAL.is_empty() {
            check_damaged(&REAL[dumps.0 % REAL.len()], &REAL[dumps.1 % REAL.len()], cuts, damage);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// A small fuzzing of its own, since the fuzz target needs a nightly compiler: two seeds spliced, bytes changed.
    #[test]
    fn damaged_seeds_are_read_without_panic(
        dumps in (0usize..100, 0usize..100),
        cuts in (0.0..1.0, 0.0..1.0),
        damage in prop::collection::vec((0.0..1.0, any::<u8>()), 0..12),
    ) {
        static SEEDS: LazyLock<Vec<Vec<u8>>> =
            LazyLock::new(|| files(&seeds()).iter().map(|path| fs::read(path).expect("the seed")).collect());
        check_damaged(&SEEDS[dumps.0 % SEEDS.len()], &SEEDS[dumps.1 % SEEDS.len()], cuts, damage);
    }
}

/// Checks the front of one dump with the back of another behind it, and some bytes changed.
fn check_damaged(front: &[u8], back: &[u8], cuts: (f64, f64), damage: Vec<(f64, u8)>) {
    let place = |share: f64, bytes: &[u8]| (share * bytes.len() as f64) as usize;
    let mut bytes = front[..place(cuts.0, front)].to_vec();
    bytes.extend_from_slice(&back[place(cuts.1, back)..]);
    for (share, byte) in damage {
        let at = place(share, &bytes);
        if let Some(damaged) = bytes.get_mut(at) {
            *damaged = byte;
        }
    }
    let _ = check(&bytes);
}
