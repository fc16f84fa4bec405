//! Advice for sizes on both sides of the thresholds, with ratios that are easy to reckon with.

use super::*;
use assay_jdk::modes::DecidingOptions;

const RATIOS: FootprintRatios = FootprintRatios {
    full: 1.4,
    alignment_16: Some(1.1),
    compact: Some(0.9),
    compact_full: Some(1.26),
    is_typical: false,
};

fn advice(feature: u32, collector: Collector, options: &[&str], gib: u64) -> Vec<Advice> {
    let options = DecidingOptions::of(options.iter().copied());
    let setting = HeapSetting { feature, update: None, bits: 64, collector, options };
    let space = AddressSpace::default();
    let wanted = WantedHeap { max_heap_bytes: gib << 30, setting: &setting, space: &space, ratios: RATIOS };
    let advice = advise(&wanted);
    advice.iter().for_each(|finding| assay_testkit::assert_one_step_each(finding.ways()));
    advice
}

fn rules(advice: &[Advice]) -> Vec<(&str, String)> {
    advice.iter().map(|a| (a.rule.as_str(), a.command().to_owned())).collect()
}

fn pair<'a>(rule: &'a str, options: &str) -> (&'a str, String) {
    (rule, options.to_owned())
}

#[test]
fn the_texts_of_each_rule_name_its_thresholds() {
    let mistakes: Vec<String> = RULES.iter().flat_map(|rule| rule.mistakes()).collect();
    assert_eq!(mistakes, [""; 0]);
}

#[test]
fn up_to_30_gib_one_stays() {
    assert_eq!(rules(&advice(17, Collector::G1, &[], 2)), [pair("keep-size", "-Xmx2g")]);
    let at_30 = advice(25, Collector::G1, &[], 30);
    // 30 x 0.9
    let compact = pair("compact-headers", "-Xmx27g -XX:+UseCompactObjectHeaders");
    assert_eq!(rules(&at_30), [pair("keep-size", "-Xmx30g"), compact]);
    assert!(at_30[0].claim.contains("zero-based"), "{}", at_30[0].claim);
}

#[test]
fn at_31_gib_the_base_can_be_saved_in_three_ways() {
    let at_31 = advice(25, Collector::G1, &[], 31);
    assert_eq!(
        rules(&at_31),
        [
            pair("below-threshold", "-Xmx30g"),
            pair("lower-base", "-Xmx31g -XX:HeapBaseMinAddress=1g"),
            // 31 x 0.9 = 27.9 GiB = 28569.6 MiB
            pair("compact-headers", "-Xmx28570m -XX:+UseCompactObjectHeaders"),
        ]
    );
    assert!(at_31[0].claim.contains("1 GiB less"), "{}", at_31[0].claim);
    assert!(at_31[2].claim.contains("zero-based"), "{}", at_31[2].claim);
}

#[test]
fn just_past_the_threshold_less_heap_holds_more() {
    let at_40 = advice(17, Collector::G1, &[], 40);
    // 40 / 1.4 = 28.6 GiB fit under 30; 32736 MiB x 1.4 = 44.76 GiB.
    assert_eq!(
        rules(&at_40),
        [
            pair("below-threshold", "-Xmx30g"),
            pair("alignment-16", "-Xmx40g -XX:ObjectAlignmentInBytes=16"),
            pair("above-threshold", "-Xmx45g"),
        ]
    );
    assert!(at_40[0].claim.contains("28.6 GiB"), "{}", at_40[0].claim);
    // 1.4 / 1.1 = 1.27; 28.57 x 1.1 = 31.4
    assert!(at_40[1].claim.contains("27 % more: 31.4 GiB"), "{}", at_40[1].claim);
}

#[test]
fn far_past_the_threshold_there_is_no_way_under_it() {
    let at_100 = advice(25, Collector::Parallel, &[], 100);
    assert_eq!(
        rules(&at_100),
        [
            pair("above-threshold", "-Xmx100g"),
            pair("compact-headers", "-Xmx90g -XX:+UseCompactObjectHeaders")
        ]
    );
    assert!(at_100[0].claim.contains("from -Xmx45g on"), "{}", at_100[0].claim);
}

#[test]
fn compact_headers_may_lead_under_the_threshold() {
    // 46 / 1.4 x 0.9 = 29.57 GiB
    let at_46 = advice(25, Collector::G1, &[], 46);
    let compact = at_46.last().expect("advice");
    assert_eq!(compact.rule, "compact-headers");
    assert!(compact.claim.contains("and is zero-based"), "{}", compact.claim);
    assert!(compact.command().starts_with("-Xmx30282m "), "{compact:?}");
}

#[test]
fn zgc_and_switched_off_compression_know_no_threshold() {
    assert_eq!(rules(&advice(17, Collector::Z, &[], 40)), [pair("keep-size", "-Xmx40g")]);
    assert_eq!(
        rules(&advice(17, Collector::G1, &["-XX:-UseCompressedOops"], 8)),
        [pair("keep-size", "-Xmx8g")]
    );
    assert_eq!(rules(&advice(11, Collector::G1, &[], 8)), [pair("keep-size", "-Xmx8g")]);
    // The rules of JDK 9 have not been verified, so Assay gives no advice.
    assert_eq!(rules(&advice(9, Collector::G1, &[], 8)), []);
}
