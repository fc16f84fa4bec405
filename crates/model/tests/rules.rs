//! Rules: their ids as they are stored, thresholds as they are written, and texts that name them.

use assay_model::*;

const LIVE_SHARE: Threshold = Threshold::percent("live_share", 70.0);
const COLLECTIONS: Threshold = Threshold::count("collections", 3);

fn rule(thresholds: &'static [Threshold], evidence: &'static str, fix: &'static str) -> Rule<()> {
    Rule {
        id: RuleId::of("heap-too-small"),
        severity: Severity::Warning,
        thresholds,
        evidence,
        cause: "The heap is too small.",
        fix,
        alternatives: &["Keep fewer objects."],
        judge: (),
    }
}

fn read(id: &str) -> Result<RuleId, String> {
    serde_json::from_value(serde_json::json!(id)).map_err(|error| error.to_string())
}

#[test]
fn ids_of_newer_versions_are_kept_and_shown_and_those_of_older_ones_are_today_s() {
    for id in ["full-gc", "a-rule-of-tomorrow", "thp2"] {
        let known = read(id).expect("an id");
        assert_eq!((known.as_str(), format!("{known:>20}").trim_start()), (id, id));
        assert_eq!(serde_json::to_string(&known).expect("written"), format!("\"{id}\""));
    }
    assert_eq!(read("huge-pages-unasked").expect("an id"), "huge-pages-unrequested");
    assert_eq!(read("go-past").expect("an id"), RuleId::of("above-threshold"));
}

#[test]
fn what_has_not_the_shape_of_an_id_is_refused_by_name() {
    let long = "x".repeat(65);
    for wrong in ["", "Full-GC", "full gc", "-full", "full-", "full--gc", "f\u{fc}ll", "a\u{1b}[31m", &long] {
        assert!(read(wrong).is_err_and(|error| error.contains("`rule` is not an id")), "{wrong}");
    }
    assert!(read(&long[1..]).is_ok());
}

#[test]
fn thresholds_are_written_with_their_unit_and_nothing_is_rounded() {
    let written = [
        (LIVE_SHARE, "70 %"),
        (Threshold::percent("x", 0.5), "0.5 %"),
        (Threshold::count("x", 500), "500"),
        (Threshold::count("x", 10_000), "10,000"),
        (Threshold::count("x", 1_234_567), "1,234,567"),
        (Threshold::bytes("x", 64 << 10), "64 KiB"),
        (Threshold::bytes("x", 16 << 20), "16 MiB"),
        (Threshold::bytes("x", 2_300 << 20), "2,300 MiB"),
        (Threshold::bytes("x", 30 << 30), "30 GiB"),
        (Threshold::bytes("x", 1_025), "1,025 bytes"),
        (Threshold::bytes_per_s("x", 10 << 20), "10 MiB/s"),
        (Threshold::ms("x", 400.0), "400 ms"),
        (Threshold::seconds("x", 0.5), "0.5 s"),
        (Threshold::seconds("x", 60.0), "60 s"),
        (Threshold::seconds("x", 1_800.0), "30 min"),
        (Threshold::seconds("x", 1_801.0), "1801 s"),
    ];
    for (threshold, text) in written {
        assert_eq!(threshold.to_string(), text);
    }
}

#[test]
fn a_share_of_a_whole_is_exact_up_to_the_largest_whole() {
    assert_eq!((LIVE_SHARE.share(), LIVE_SHARE.share_of(1_001)), (0.7, 700));
    assert_eq!(Threshold::percent("x", 0.5).share_of(1_000), 5);
    assert_eq!(Threshold::percent("x", 25.0).share_of(u64::MAX), u64::MAX / 4);
    assert_eq!(Threshold::percent("x", 100.0).share_of(u64::MAX), u64::MAX);
}

#[test]
fn texts_show_the_thresholds_that_they_name_and_findings_have_the_rule_s_id_and_severity() {
    let rule = rule(&[LIVE_SHARE], "The live set, from {live_share} on.", "Set `-Xmx`, below {live_share}.");
    assert_eq!(rule.mistakes(), [""; 0]);
    let said = rule.explained();
    assert_eq!((said.id.as_str(), said.evidence.as_str()), ("heap-too-small", "The live set, from 70 % on."));
    assert_eq!((said.fix.as_str(), said.alternatives.len()), ("Set `-Xmx`, below 70 %.", 1));
    let found = rule.finding("a claim", "evidence");
    assert_eq!((found.rule.as_str(), found.severity), ("heap-too-small", Severity::Warning));
    assert_eq!(rule.graded(Severity::Error, "a claim", "evidence").severity, Severity::Error);
}

#[test]
fn a_threshold_without_a_name_in_texts_a_name_without_a_threshold_and_a_figure_that_stands_twice_are_mistakes()
 {
    const LARGE: &[Threshold] = &[Threshold::count("large", 10_000)];
    const LONG: &[Threshold] = &[Threshold::seconds("long", 600.0)];
    let both: &[Threshold] = &[LIVE_SHARE, COLLECTIONS];
    let twice: &[Threshold] = &[LIVE_SHARE, LIVE_SHARE];
    let cases: [(&[Threshold], &str, &str, &[&str]); 12] = [
        (both, "From {live_share} on.", "f", &["no text names the threshold collections"]),
        (twice, "From {live_share} on.", "f", &["two thresholds are called live_share"]),
        (&[], "From {live_share} on.", "f", &["a placeholder without a threshold"]),
        (
            both,
            "From {live_share} on, {collection}.",
            "{collections}",
            &["a placeholder without a threshold"],
        ),
        (
            both,
            "From {live_share} on.",
            "{collections} and 70 %.",
            &["the figure of live_share stands itself"],
        ),
        (both, "{live_share}", "{collections}: three or more.", &["the figure of collections stands itself"]),
        (both, "{live_share}", "{collections}: JDK 30, 0.3, 13, 3rd, -XX:X=70m.", &[]),
        (both, "{live_share}", "{collections}: `-XX:MaxRAMPercentage=70`.", &[]),
        (LARGE, "{large}", "10,000, or more", &["the figure of large stands itself"]),
        (LARGE, "{large}", "10000 or more", &["the figure of large stands itself"]),
        (LONG, "{long}", "after 10 minutes", &["the figure of long stands itself"]),
        (LONG, "{long}", "after 600 s", &["the figure of long stands itself"]),
    ];
    for (thresholds, evidence, fix, wanted) in cases {
        let mistakes = rule(thresholds, evidence, fix).mistakes();
        let fits = mistakes.len() == wanted.len() && mistakes.iter().zip(wanted).all(|(m, w)| m.contains(w));
        assert!(fits, "{evidence} {fix}: {mistakes:?}");
    }
}
