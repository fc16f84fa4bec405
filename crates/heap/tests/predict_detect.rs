//! The mode in which a dump was taken is found from the dump alone: every mode, every collector, heaps of any size.

use crate::predict_support::{Mode, dump_of, for_each, modes};
use assay_heap::hprof;
use assay_heap::predict::{PredictOptions, detect, predict};
use assay_model::ModelName;
use assay_testkit::{skip, testdata};

/// A JVM that has just begun has 9,000 objects: this is as small as a heap gets.
const TINY: &str = "-Dscale=0";

#[test]
fn every_mode_is_found_in_a_heap_of_almost_nothing() {
    let tiny: Vec<Mode> = modes().into_iter().map(|mode| mode.with(&[TINY])).collect();
    check(&tiny);
}

#[test]
fn the_mode_is_found_whatever_the_collector() {
    // G1 is what the other tests run with. ZGC has no compressed references.
    let compressed = |jdk, option: &'static str| Mode::new(jdk, ModelName::Compressed, &[option]);
    let z = "-XX:+UseZGC";
    let compact_z = [z, "-XX:+UseCompactObjectHeaders"];
    let mut modes: Vec<Mode> = ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseShenandoahGC"]
        .into_iter()
        .flat_map(|option| [compressed(17, option), compressed(25, option)])
        .collect();
    modes.extend([17, 25].map(|jdk| Mode::new(jdk, ModelName::Bits64CompressedClassPointers, &[z])));
    modes.push(Mode::new(25, ModelName::Compact64, &compact_z));
    modes.push(Mode::new(25, ModelName::Compact64, &compact_z).with(&[TINY]));
    modes.push(Mode::new(17, ModelName::Bits64, &[z, "-XX:-UseCompressedClassPointers"]).with(&[TINY]));
    modes.push(compressed(17, "-XX:+UseShenandoahGC").with(&[TINY]));
    check(&modes);
}

#[test]
fn a_mode_that_is_none_of_the_models_is_told_as_not_known() {
    let full = "-XX:-UseCompressedOops";
    let compact = "-XX:+UseCompactObjectHeaders";
    let (align_16, align_32) = ("-XX:ObjectAlignmentInBytes=16", "-XX:ObjectAlignmentInBytes=32");
    let of = |jdk, options: &[&str]| (jdk, options.iter().map(ToString::to_string).collect::<Vec<_>>());
    let mut unknown = vec![
        of(17, &["-XX:-UseCompressedClassPointers"]),
        of(25, &["-XX:-UseCompressedClassPointers"]),
        of(17, &[full, align_16]),
        of(25, &[full, align_16]),
        of(25, &[full, align_32]),
        of(25, &[compact, full, align_16]),
        of(25, &[compact, align_32]),
    ];
    let tiny =
        unknown.clone().into_iter().map(|(jdk, options)| (jdk, [options, vec![TINY.to_owned()]].concat()));
    unknown.extend(tiny.collect::<Vec<_>>());
    // The name says no more than that the JVM has 64 bits.
    let modes: Vec<Mode> = unknown
        .into_iter()
        .map(|(jdk, options)| Mode { jdk, name: ModelName::Bits64, options }.with(&["-XX:+UseSerialGC"]))
        .collect();
    let histograms = for_each(&modes, |_, mode| dump_of(mode, &["-Xmx512m"]));
    let found = modes.iter().zip(histograms).filter_map(|(mode, histogram)| Some((mode, histogram?)));
    for (mode, histogram) in found {
        let detected = detect(&histogram);
        println!("{}: {:?}", mode.text(), detected.fits[0]);
        assert!(
            !detected.is_sure && detected.dump_model(&histogram).is_none(),
            "{}: {detected:?}",
            mode.text()
        );
        let problem = detected.problem("the dump").expect("a reason");
        assert!(problem.text.contains("none that Assay knows"), "{}: {problem:?}", mode.text());
    }
}

fn check(modes: &[Mode]) {
    let found = for_each(modes, |_, mode| dump_of(mode, &["-Xmx512m"]).map(|histogram| detect(&histogram)));
    let found: Vec<_> = modes.iter().zip(found).filter_map(|(mode, found)| Some((mode, found?))).collect();
    if found.is_empty() {
        skip!("no JVM");
    }
    for (mode, detected) in found {
        let best = detected.fits[0];
        println!("{}: {} of {} agree", mode.text(), best.agreements, detected.neighbours);
        assert!(detected.is_sure && best.model.name == mode.name, "{}: {detected:?}", mode.text());
        assert_eq!(best.contradictions, 0, "{}: {detected:?}", mode.text());
        assert_eq!(detected.jdk, Some(mode.jdk));
    }
}

#[test]
fn dumps_of_old_releases_tell_their_mode_too() {
    let folder = testdata("../../shared/data/hprof");
    if !folder.is_dir() {
        skip!("no sample dumps");
    }
    for (name, mode) in [
        ("sun_jdk6_18_x32.hprof", ModelName::Bits32),
        ("sun_jdk6_30_x64_compressedOops.hprof", ModelName::Compressed),
        ("sun_jdk6_30_x64_nocompressedOops.hprof", ModelName::Bits64),
        ("openjdk_jdk11_04_x64.hprof.gz", ModelName::Compressed),
    ] {
        let histogram = hprof::read_file(&folder.join(name), &|_| {}).expect("a dump");
        let prediction = predict(&histogram, &PredictOptions::default()).expect("no class is asked for");
        assert_eq!(prediction.dump_model, Some(mode), "{name}: {:?}", detect(&histogram));
    }
}
