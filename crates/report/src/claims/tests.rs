//! Claims of real papers and made-up ones, against their own numbers and a small run.

use super::check_claims;
use assay_model::*;
use std::collections::BTreeMap;

/// The judgement about each claim of a text, and its short form.
#[track_caller]
fn check(text: &str, summary: Option<&Summary>, wanted: &[(ClaimVerdict, &str)]) -> Vec<CheckedClaim> {
    let claims = check_claims(text, summary);
    let found: Vec<(ClaimVerdict, &str)> = claims.iter().map(|c| (c.verdict, c.claim.as_str())).collect();
    assert_eq!(found, wanted, "{claims:#?}");
    claims
}

use ClaimVerdict::*;

// Sentences of "SPECjbb2015 on OCI Ampere A1" (Oracle Linux blog, 2021): a direction that is the wrong way round, and a
// conclusion that says 59 % where its numbers give 51 %.
const AMPERE_SWAPPED: &str = "The critical-jOPS improves by 51% from 72,171 to 47,729.";
const AMPERE_RIGHT: &str = "The critical-jOPS improves from 72,171 to 97,810, which is a 35.5% uplift.";
const AMPERE_CONCLUSION: &str = "It shows our tuning settings improve the max-jOPS and critical-jOPS by 30% and 59%, respectively on OpenJDK-11.0.12-ga.";
const AMPERE_UPLIFT: &str = "The best max-jOPS with the tuned configurations with this version of OpenJDK is 122,074, an almost 31% uplift from the baseline score 92,973.";

#[test]
fn a_change_that_its_numbers_give_only_backwards_is_the_wrong_way_round() {
    let claims = check(AMPERE_SWAPPED, None, &[(WrongDirection, "critical-jOPS 51 % better")]);
    assert_eq!(
        claims[0].evidence,
        "from 72,171 to 47,729 is -33.9 %; from 47,729 to 72,171 it would be +51.2 %"
    );
    assert_eq!((claims[0].from, claims[0].to), (Some(72_171.0), Some(47_729.0)));
    check(AMPERE_RIGHT, None, &[(Right, "critical-jOPS +35.5 %")]);
    check(AMPERE_UPLIFT, None, &[(Right, "max-jOPS +31 %")]);
}

#[test]
fn two_figures_for_the_same_comparison_conflict() {
    let text = format!("{AMPERE_UPLIFT} {AMPERE_SWAPPED}\n{AMPERE_CONCLUSION}");
    let claims = check(
        &text,
        None,
        &[
            (Right, "max-jOPS +31 %"),
            (WrongDirection, "critical-jOPS 51 % better"),
            (NotChecked, "max-jOPS 30 % better"),
            (Conflicts, "critical-jOPS 59 % better"),
        ],
    );
    assert!(
        claims[3].evidence.starts_with("line 1 says critical-jOPS 51 % better"),
        "{}",
        claims[3].evidence
    );
    assert_eq!(claims[3].line, 2);
}

#[test]
fn different_versions_do_not_conflict() {
    let text = "With JDK-11.0.8-ga, LSE improves critical-jOPS by 109.9%.\nWith JDK-11.0.12-ga, LSE uplifts critical-jOPS by only 5%.";
    check(text, None, &[(NotChecked, "critical-jOPS 109.9 % better"), (NotChecked, "critical-jOPS +5 %")]);
}

#[test]
fn arithmetic_is_held_to_the_digits_that_are_written() {
    check("It falls from 72 to 48 ms (-33 %).", None, &[(Right, "-33 %")]);
    check("It falls from 72 to 48 ms (-34 %).", None, &[(WithinRounding, "-34 %")]);
    check("It falls from 72 to 48 ms (-35 %).", None, &[(WrongArithmetic, "-35 %")]);
    check(
        "Throughput rose from 1,000 to 2,100, 2.1 times as much.",
        None,
        &[(Right, "Throughput 2.1 times")],
    );
    check("Memory grew from 1.5 GiB to 512 MiB, by 200 %.", None, &[(WrongDirection, "Memory +200 %")]);
    check("RSS shrinks from 1 GiB to 512 MiB, by half or 50 %.", None, &[(Right, "RSS -50 %")]);
    check("Latency improves by 50 % from 100 ms to 50 ms.", None, &[(Right, "Latency 50 % better")]);
    check(
        "Throughput improves by 50 % from 100 to 50.",
        None,
        &[(WrongArithmetic, "Throughput 50 % better")],
    );
    check("p99 → 20 ms to 30 ms is 50 % higher.", None, &[(NotChecked, "p99 +50 %")]);
    check("p99 10 ms → 12 ms (+20 %).", None, &[(Right, "p99 +20 %")]);
    check("It drops by about 30 % from 100 to 68.", None, &[(WithinRounding, "-30 %")]);
    check("It takes more than 30% longer, 140 over 100.", None, &[(NotChecked, "+30 %")]);
}

#[test]
fn what_is_not_understood_is_counted_only_with_a_percentage_or_a_factor() {
    check("The server has 2 cores. It ran for 3 minutes.", None, &[]);
    check("Response times are 10 to 100 ms.", None, &[]);
    check("A p99 under 10 ms was kept by 99 % of requests.", None, &[(NotUnderstood, "")]);
    check("It does not improve throughput by 30 %.", None, &[(NotUnderstood, "")]);
    check("It uses 30 to 40 % less memory.", None, &[(NotUnderstood, "")]);
    check("We ran it 10 times.", None, &[(NotUnderstood, "")]);
    check("Memory is 5 % lower.", None, &[(NotChecked, "Memory -5 %")]);
}

#[test]
fn odd_numbers_give_no_verdict_and_no_panic() {
    check("It rises by 10 % from 0 to 5.", None, &[(NotChecked, "+10 %")]);
    check("It falls by 100 % from 5 to 0.", None, &[(NotChecked, "-100 %")]);
    check("It is 0 times that, from 1 to 2.", None, &[(WrongArithmetic, "0 times")]);
    for text in
        ["%%% 5% 5 %", "from to by 5%", "5% above", "→ 5 → 5 → 5%", "-5%-5%-5%", &"9 % up ".repeat(3_000)]
    {
        let _ = check_claims(text, None);
    }
}

fn estimate(estimate: f64, low: f64, high: f64) -> Estimate {
    Estimate { estimate, low: Some(low), high: Some(high) }
}

/// Two variants against a baseline.
fn run() -> Summary {
    let variant = |name: &str| VariantSummary {
        name: name.to_owned(),
        levels: BTreeMap::new(),
        trials: 1,
        windows: 10,
        left_out: 0,
        mode_read: None,
        metrics: BTreeMap::new(),
        response_curve: Vec::new(),
    };
    let row = |metric: &str, variant: &str, ratio: Estimate| Comparison {
        metric: metric.to_owned(),
        variant: variant.to_owned(),
        baseline: "g1".to_owned(),
        blocks: 10,
        ratio,
        shown: !(ratio.low.unwrap_or(0.0)..=ratio.high.unwrap_or(f64::MAX)).contains(&1.0),
        verdict: Verdict::Higher,
    };
    let provenance = Provenance {
        assay_version: "0".to_owned(),
        kernel: None,
        os: None,
        architecture: "x86_64".to_owned(),
        cpu_model: None,
        cpus: None,
        memory_bytes: None,
    };
    Summary {
        schema: schema::SUMMARY.to_owned(),
        provenance,
        study: "collectors".to_owned(),
        variants: ["g1", "g1-tuned", "parallel"].map(variant).into(),
        comparisons: vec![
            row("throughput_per_s", "g1-tuned", estimate(1.312, 1.29, 1.35)),
            row("throughput_per_s", "parallel", estimate(1.01, 0.97, 1.05)),
            row("response_p99_ms", "parallel", estimate(0.50, 0.45, 0.55)),
            row("rss_bytes", "parallel", Estimate { estimate: 0.8, low: None, high: None }),
        ],
        findings: Vec::new(),
        problems: Vec::new(),
    }
}

#[test]
fn claims_about_a_run_are_held_against_its_intervals() {
    let run = run();
    let of = |text: &str, verdict, claim: &str| check(text, Some(&run), &[(verdict, claim)]).remove(0);
    // One metric was compared between these two: it need not be named.
    let claim = of("G1-tuned is 31% above g1.", Right, "throughput_per_s +31 %");
    assert_eq!((claim.variant.as_deref(), claim.baseline.as_deref()), (Some("g1-tuned"), Some("g1")));
    assert_eq!(claim.computed_ratio, Some(estimate(1.312, 1.29, 1.35)));
    of("g1-tuned gives 32 % more throughput than g1.", WithinRounding, "throughput_per_s +32 %");
    of("g1-tuned gives 34 % more throughput than g1.", WithinInterval, "throughput_per_s +34 %");
    of("g1-tuned gives 36 % more throughput than g1.", OutsideInterval, "throughput_per_s +36 %");
    of("parallel gives 1 % more throughput than g1.", NotShown, "throughput_per_s +1 %");
    of("Compared with g1, parallel halves p99: 50 % less.", Right, "response_p99_ms -50 %");
    of("From g1 to parallel, p99 improves by 50 %.", Right, "response_p99_ms 50 % better");
    of("The p99 of g1 is 2.0 times that of parallel.", Right, "response_p99_ms 2.0 times");
    of("By p99, parallel is 100 % faster than g1.", Right, "response_p99_ms 100 % faster");
    of("parallel needs 20 % less resident memory than g1.", NotChecked, "rss_bytes -20 %");
    of("parallel is 20 % better than g1.", NotChecked, "20 % better");
    of("parallel has 5 % less throughput than g1-tuned.", NotChecked, "throughput_per_s -5 %");
    of("g1-tuned lowers throughput by 31 % against g1.", OutsideInterval, "throughput_per_s -31 %");
}

#[test]
fn own_numbers_that_contradict_a_claim_decide_before_the_run() {
    let text = "Throughput of g1-tuned is 31 % above g1: from 150 to 100.";
    check(text, Some(&run()), &[(WrongArithmetic, "throughput_per_s +31 %")]);
}
