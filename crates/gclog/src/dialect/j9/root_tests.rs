//! Marks and attributes of J9s, in texts of our own and in real samples.

use super::*;
use proptest::prelude::*;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

fn read(text: &str) -> Option<J9Mode> {
    read_j9(text.as_bytes())
}

fn compressed(text: &str) -> Option<bool> {
    read(text).expect("a J9 wrote it").is_compressed
}

#[test]
fn the_mark_is_read_in_its_three_spellings() {
    for version in ["20080724_AA CMPRSS", "R29_Java8_20190311_CMPRSS", "fa000e8_CMPRSS"] {
        let log = format!("<?xml version=\"1.0\" ?>\n\n<verbosegc version=\"{version}\">\n");
        assert_eq!(compressed(&log), Some(true), "{version}");
    }
    // The version of the XML declaration is not the version of a J9, and a mark is a whole word.
    for version in ["200811_07", "R28_20150116", "UNCMPRSS", "CMPRSS_20200101"] {
        assert_eq!(compressed(&format!("<verbosegc version='{version}'>")), Some(false), "{version}");
    }
}

const HEAD: &str =
    "<verbosegc xmlns=\"http://www.ibm.com/j9/verbosegc\" version=\"x\">\n<initialized id=\"1\">\n";

fn with_attributes(attributes: &[(&str, &str)]) -> J9Mode {
    let lines = attributes.iter().map(|(n, v)| format!("  <attribute name=\"{n}\" value=\"{v}\" />\n"));
    read(&(HEAD.to_owned() + &lines.collect::<String>())).expect("a J9 wrote it")
}

#[test]
fn the_attributes_say_more_than_the_mark() {
    let mode = |attributes: &[(&str, &str)]| with_attributes(attributes).mode.map(|m| (m.mode, m.shift_bits));
    let on = ("compressedRefs", "true");
    use ReferenceMode as M;
    assert_eq!(mode(&[on, ("compressedRefsShift", "0x0")]), Some((M::CompressedUnscaled, Some(0))));
    assert_eq!(mode(&[on, ("compressedRefsShift", "0x3")]), Some((M::CompressedZeroBased, Some(3))));
    let displaced = [on, ("compressedRefsDisplacement", "0x1000"), ("compressedRefsShift", "0x4")];
    assert_eq!(mode(&displaced), Some((M::CompressedNonZeroBase, Some(4))));
    assert_eq!(mode(&[on]), None, "compressed, but the shift is not given");
    let off = ("compressedRefs", "false");
    assert_eq!(mode(&[off, ("architecture", "ppc64")]), Some((M::Full64, None)));
    assert_eq!(mode(&[off, ("architecture", "x86")]), Some((M::Bits32, None)));
    assert_eq!(mode(&[off]), None);
    assert_eq!(with_attributes(&[off]).is_compressed, Some(false));
}

#[test]
fn of_several_roots_the_last_counts_and_other_text_is_passed_over() {
    let log = format!(
        "JVMJ9VM007W a message\n{HEAD}<attribute name=\"compressedRefs\" value=\"true\" />\n<verbosegc version=\"a_CMPRSS\">\nnoise\n{HEAD}"
    );
    assert_eq!(compressed(&log), Some(false));
    assert_eq!(read("[0.1s][info][gc] Using G1\n"), None);
    assert_eq!(read(""), None);
}

#[test]
fn a_javacore_tells_mark_and_word_size() {
    let javacore = |mark: &str| {
        read(&format!(
            "1CIJAVAVERSION JRE 1.7.0 Linux amd64-64 build x\n1CIGCVERSION   GC - R26_Java726_1{mark}\n"
        ))
        .expect("a J9 wrote it")
    };
    assert_eq!(javacore("_CMPRSS"), J9Mode { is_compressed: Some(true), mode: None });
    assert_eq!(javacore("").mode.map(|m| m.mode), Some(ReferenceMode::Full64));
}

/// Logs and a javacore that J9s wrote; they lie beside the checkout, if at all.
#[test]
fn samples_of_real_j9s_are_told_apart() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/j9");
    let samples = [
        ("verbosegc-5.0-af-global.xml", false, None),
        ("verbosegc-R26_GAFP1_global.xml", true, None),
        ("verbosegc-R27_SR1_full_header.xml", true, Some(ReferenceMode::CompressedUnscaled)),
        ("verbosegc-R28_af_scavenge_full_header.xml", true, Some(ReferenceMode::CompressedUnscaled)),
        ("verbosegc-R28_sys_global.xml", true, None),
        ("javacore-r26-amd64-cmprss.txt", true, None),
    ];
    if !folder.is_dir() {
        assay_testkit::skip!("no samples of J9 in {}", folder.display());
    }
    for (name, is_compressed, mode) in samples {
        let file = File::open(folder.join(name)).expect("the sample is there");
        let read = read_j9(BufReader::new(file)).expect("a J9 wrote it");
        assert_eq!(read.is_compressed, Some(is_compressed), "{name}");
        assert_eq!(read.mode.map(|m| m.mode), mode, "{name}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange(text in "(<verbosegc |version=|name=|value=|<attribute |compressedRefs|[\"'\\n ]|\\PC){0,60}") {
        read(&text);
    }
}
