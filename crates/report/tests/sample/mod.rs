//! A made-up run of the compressed-references study, from a seed: for tests, and for looking at the report.
//!
//! The figures are like those measured once on a real server of this kind; nothing here is a measurement.

mod series;

use assay_model::*;
use assay_testkit::SplitMix;
use std::collections::BTreeMap;

const MIB: u64 = 1 << 20;
const BLOCKS: u32 = 6;
const WINDOW_NS: u64 = 10_000_000_000;

/// `value` with noise of about this relative size.
fn around(noise: &mut SplitMix, value: f64, relative: f64) -> f64 {
    value * (1.0 + relative * (noise.share() + noise.share() + noise.share() - 1.5))
}

/// Level, garbage KiB/request, CPU ms/request at a roomy heap, JVM feature, baseline level.
const MODES: [(&str, f64, f64, u32, Option<&str>); 6] = [
    ("32-bit", 143.0, 0.501, 17, None),
    ("compressed-unscaled", 156.6, 0.424, 17, Some("32-bit")),
    ("compressed-zero-based", 156.9, 0.428, 17, Some("32-bit")),
    ("64-bit", 221.5, 0.438, 17, Some("32-bit")),
    ("compressed (JDK 25)", 151.0, 0.429, 25, Some("32-bit")),
    ("compact (JDK 25)", 141.4, 0.425, 25, Some("compressed (JDK 25)")),
];
const HEAPS: [(&str, u64); 4] = [("96m", 96), ("1g", 1024), ("2g", 2048), ("3g", 3072)];

/// The full sample: six modes by four heaps.
pub fn run() -> StoredRun {
    run_with_heaps(&HEAPS)
}

/// What the demo gives: six modes at one heap.
pub fn demo_run() -> StoredRun {
    run_with_heaps(&HEAPS[1..2])
}

/// A text that would run, be markup, or turn what follows, if it were shown as it is.
pub fn hostile_text() -> String {
    format!("<script>alert('1')</script>\"'&|`*\u{202E}\u{1b}[2J\u{5e9}\u{5dc}{}", "x".repeat(300))
}

/// The demo with [`hostile_text`] as the name of a variant and in all that comes from outside.
pub fn hostile_run() -> StoredRun {
    let hostile = hostile_text();
    let stored = serde_json::to_string(&demo_run()).expect("the model is JSON");
    let escaped = serde_json::to_string(&hostile).expect("a string is JSON");
    let stored = stored.replace("compact (JDK 25)", &escaped[1..escaped.len() - 1]);
    let mut run: StoredRun = serde_json::from_str(&stored).expect("still the model");
    run.study_text = format!("name = \"{hostile}\"\n```\n</code></pre><script>");
    run.plan.question.clone_from(&hostile);
    run.trials[0].trial.problems.push(Problem::new(hostile.clone(), hostile.clone()));
    run.trials[0].trial.treatments.push(TreatmentRecord {
        setting: hostile.clone(),
        before: Some(hostile.clone()),
        requested: hostile.clone(),
        found: Some(hostile.clone()),
        undone: false,
    });
    run.trials[0].trial.outcome = TrialOutcome::Failed { reason: hostile.clone() };
    run.trials[1].trial.mode.as_mut().expect("the sample has it").evidence.clone_from(&hostile);
    run.plan.published[0].source = hostile;
    run
}

fn run_with_heaps(heaps: &[(&str, u64)]) -> StoredRun {
    let mut noise = SplitMix(42);
    let plan = plan(heaps);
    let mut trials = Vec::new();
    for (index, variant) in plan.variants.iter().enumerate() {
        trials.push(series::trial(&plan, variant, index as u32 + 1, &mut noise));
    }
    let mut summary = summary(&plan, &trials, &mut noise);
    summary.claims = assay_results::check_claims(&plan, &summary);
    let study_text = STUDY.to_owned();
    StoredRun { study_text, host: host(), hosts: None, plan, trials, summary: Some(summary) }
}

/// Base figures of a variant: garbage and CPU, with the small heap's pressure and the step of shifted references.
pub fn base(level: &str, heap_mib: u64) -> (f64, f64) {
    let (_, garbage, cpu, ..) = MODES.iter().find(|m| m.0 == level).expect("a level of the sample");
    let pressure = match (level, heap_mib) {
        ("64-bit", 96) => 1.9,
        (_, 96) => 1.06,
        _ => 1.0,
    };
    let shifted = if heap_mib > 2048 && *level != *"32-bit" { 1.02 } else { 1.0 };
    (garbage * if heap_mib == 96 { 0.99 } else { 1.0 }, cpu * pressure * shifted)
}

fn plan(heaps: &[(&str, u64)]) -> Plan {
    let mut variants = Vec::new();
    let mut skipped = Vec::new();
    for (heap, mib) in heaps {
        for (level, _, _, feature, baseline) in MODES {
            let name = format!("{level}/{heap}");
            let levels: BTreeMap<String, String> =
                [("reference mode", level), ("heap", heap)].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
            if level == "32-bit" && *mib > 2048 {
                let reason =
                    "a 32-bit JVM cannot reserve a heap of 3 GiB: -Xmx2200m is the most it starts with";
                skipped.push(SkippedVariant { name, levels, reason: reason.to_owned() });
                continue;
            }
            // Where 32-bit cannot run, compressed references are the baseline.
            let baseline = match baseline {
                Some("32-bit") if *mib > 2048 && level == "compressed-unscaled" => None,
                Some("32-bit") if *mib > 2048 => Some("compressed-unscaled"),
                other => other,
            };
            variants.push(variant(
                name,
                levels,
                level,
                *mib,
                feature,
                baseline.map(|b| format!("{b}/{heap}")),
            ));
        }
    }
    let trials = variants.iter().enumerate().map(|(i, v)| PlannedTrial {
        number: i as u32 + 1,
        variant: v.name.clone(),
        block: 1,
        seed: 1000 + i as u64,
    });
    Plan {
        schema: schema::PLAN.to_owned(),
        provenance: provenance(),
        study: "compressed-references".to_owned(),
        question: "What do 64-bit references cost a Java server, and how much of it do compressed references give back?"
            .to_owned(),
        background: "After IBM's study of compressed references in WebSphere Application Server V7 (2008).".to_owned(),
        workload: "brokerage".to_owned(),
        procedure: PlannedProcedure::Windows,
        quick: true,
        design: Design::Resident,
        duet: None,
        seed: 20_081_117,
        blocks: BLOCKS,
        load: "closed loop, 8 users".to_owned(),
        load_sets_rate: false,
        warm_up: "until three slices of 5 s differ by less than 3 % in CPU time per request, at most 60 s".to_owned(),
        window_s: 10.0,
        repeats_max: 2,
        called: BTreeMap::new(),
        factors: vec![
            ("reference mode".to_owned(), MODES.iter().map(|m| m.0.to_owned()).collect()),
            ("heap".to_owned(), heaps.iter().map(|h| h.0.to_owned()).collect()),
        ],
        primary_metric: "garbage_kib_per_request".to_owned(),
        scenarios: vec![PlannedScenario {
            text: "name = \"brokerage\" # <mix>".to_owned(),
            variants: variants.iter().map(|v| v.name.clone()).collect(),
        }],
        requests: Vec::new(),
        trials: trials.collect(),
        variants,
        skipped,
        expected_s: 330.0,
        published: published(),
        claims: claims(),
        faults: Vec::new(),
        part: Vec::new(),
        guest: None,
        budget: None,
    }
}

fn variant(
    name: String,
    levels: BTreeMap<String, String>,
    level: &str,
    mib: u64,
    feature: u32,
    baseline: Option<String>,
) -> Variant {
    let mode = match level {
        "32-bit" => Some(ReferenceMode::Bits32),
        "compressed-unscaled" => Some(ReferenceMode::CompressedUnscaled),
        "compressed-zero-based" => Some(ReferenceMode::CompressedZeroBased),
        "64-bit" => Some(ReferenceMode::Full64),
        _ => None,
    };
    let mut options = vec![format!("-Xmx{mib}m"), format!("-Xms{mib}m"), "-XX:+UseParallelGC".to_owned()];
    if level == "64-bit" {
        options.push("-XX:-UseCompressedOops".to_owned());
        options.push("-XX:-UseCompressedClassPointers".to_owned());
    }
    if level.starts_with("compact") {
        options.push("-XX:+UseCompactObjectHeaders".to_owned());
    }
    Variant {
        name,
        levels,
        reference_mode: mode.map(RequestedMode::Exactly),
        compact_headers: level.starts_with("compact"),
        max_heap_bytes: Some(mib * MIB),
        jvm: Some(jvm(feature, if level == "32-bit" { 32 } else { 64 })),
        jvm_options: options,
        environment_names: vec![],
        workload_options: BTreeMap::new(),
        baseline,
        treatments: vec![],
        build: None,
    }
}

fn published() -> Vec<Published> {
    let values =
        |values: [(&str, f64); 3]| -> BTreeMap<String, f64> { values.map(|(k, v)| (k.to_owned(), v)).into() };
    let at = |heap: &str| BTreeMap::from([("heap".to_owned(), heap.to_owned())]);
    let row = |source: &str, metric: &str, heap: &str, cr: f64, full: f64| Published {
        source: source.to_owned(),
        metric: metric.to_owned(),
        relative: values([("32-bit", 1.0), ("compressed-unscaled", cr), ("64-bit", full)]),
        absolute: BTreeMap::new(),
        within_percent: None,
        at: at(heap),
    };
    let (garbage, rate) = ("garbage_kib_per_request", "throughput_per_s");
    vec![
        row("Figure 4, SLES 10.1 x86-64", garbage, "1g", 115.0 / 113.0, 169.0 / 113.0),
        row("Figure 4, Windows 2003 x86-64", garbage, "1g", 116.0 / 113.0, 174.0 / 113.0),
        row("Figure 4, AIX 6.1 Power6", garbage, "1g", 123.0 / 117.0, 183.0 / 117.0),
        row("Figure 5, SLES 10.1 x86-64", rate, "1g", 0.94, 0.85),
        row("Figure 6, Linux", garbage, "2g", 115.0 / 111.0, 177.0 / 111.0),
        row("Figure 7, Linux", rate, "2g", 3020.0 / 3196.0, 2736.0 / 3196.0),
    ]
}

/// A post that holds, one that does not, and one that contradicts itself.
fn claims() -> Vec<Claim> {
    let claim = |source: &str, place: Option<&str>, metric: &str, change_percent: f64| Claim {
        about: ClaimSubject {
            source: source.to_owned(),
            place: place.map(str::to_owned),
            quotation: None,
            metric: metric.to_owned(),
            variant: "64-bit".to_owned(),
            baseline: Some("32-bit".to_owned()),
        },
        change_percent: Some(change_percent),
        reading: Reading::default(),
        direction: None,
        value: None,
        within_percent: None,
        at: [("heap".to_owned(), "1g".to_owned())].into(),
    };
    let mut value = claim("release notes", None, "garbage_kib_per_request", 0.0);
    value.about.baseline = None;
    vec![
        claim("release notes", None, "garbage_kib_per_request", 45.0),
        claim("a talk", Some("slide 4"), "rss_bytes", 100.0),
        claim("a talk", Some("summary"), "rss_bytes", 50.0),
        Claim { change_percent: None, value: Some(170.0), ..value },
    ]
}

/// Estimates from the windows that count, and comparisons: simple means, for looking only.
fn summary(plan: &Plan, trials: &[StoredTrial], noise: &mut SplitMix) -> Summary {
    let mut variants = Vec::new();
    for (variant, stored) in plan.variants.iter().zip(trials) {
        let counted: Vec<&Window> =
            stored.trial.windows.iter().filter(|w| w.disturbances.is_empty()).collect();
        let mut metrics = BTreeMap::new();
        for metric in METRICS {
            let values: Vec<f64> =
                counted.iter().filter_map(|w| w.metrics.get(&*metric.id).copied()).collect();
            if !values.is_empty() {
                metrics.insert(metric.id.to_string(), mean(&values));
            }
        }
        variants.push(VariantSummary {
            name: variant.name.clone(),
            levels: variant.levels.clone(),
            trials: 1,
            windows: counted.len() as u32,
            left_out: stored.trial.windows.len() as u32 - counted.len() as u32,
            mode_read: stored.trial.mode.as_ref().map(|m| {
                format!("{}{}", m.mode.name(), if m.compact_headers == Some(true) { "+compact" } else { "" })
            }),
            metrics,
            response_curve: series::curve(&mut *noise, stored),
        });
    }
    let comparisons = comparisons(plan, &variants);
    Summary {
        schema: schema::SUMMARY.to_owned(),
        provenance: provenance(),
        study: plan.study.clone(),
        variants,
        comparisons,
        scalings: vec![],
        findings: vec![Finding::measured(
            StudyRule::HeapTooSmall,
            Severity::Warning,
            "At heap 96m the 64-bit server spends much of its time in collections: its live data hardly fits.",
            "318 ms/s stopped for collection, 8 to 12 ms/s in the other modes (gc.log of trial 4)",
        )],
        claims: ClaimCheck::default(),
        decisions: vec![],
        problems: vec![Problem::at_line(
            "trials/02-compressed-unscaled-1g/gc.log",
            1187,
            "pause without a duration",
        )],
    }
}

fn mean(values: &[f64]) -> Estimate {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance =
        values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0).max(1.0);
    let half = 2.57 * (variance / values.len() as f64).sqrt();
    let interval = values.len() > 1;
    Estimate { estimate: mean, low: interval.then_some(mean - half), high: interval.then_some(mean + half) }
}

fn comparisons(plan: &Plan, variants: &[VariantSummary]) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for metric in METRICS {
        for variant in &plan.variants {
            let Some(baseline) = &variant.baseline else { continue };
            let of = |name: &str| variants.iter().find(|v| v.name == name)?.metrics.get(&*metric.id).copied();
            let (Some(own), Some(base)) = (of(&variant.name), of(baseline)) else { continue };
            let (Some(a), Some(b)) = (own.high, base.high) else { continue };
            let ratio = own.estimate / base.estimate;
            let half = ratio * ((a / own.estimate - 1.0).powi(2) + (b / base.estimate - 1.0).powi(2)).sqrt();
            let (low, high) = (ratio - half, ratio + half);
            let verdict = match () {
                () if low > 1.0 => Verdict::Higher,
                () if high < 1.0 => Verdict::Lower,
                () => Verdict::NoDifferenceShown,
            };
            let ratio = Estimate { estimate: ratio, low: Some(low), high: Some(high) };
            let verdict = plan.verdict(metric, &ratio, verdict);
            comparisons.push(Comparison {
                metric: metric.id.to_string(),
                variant: variant.name.clone(),
                baseline: baseline.clone(),
                blocks: BLOCKS,
                ratio,
                shown: verdict.is_shown(),
                verdict,
            });
        }
    }
    comparisons
}

fn jvm(feature: u32, bits: u8) -> JvmFacts {
    let version = if feature == 25 { "25.0.3+9-Debian-1deb12u1" } else { "17.0.19+10-Debian-1deb12u2" };
    JvmFacts {
        home: format!("/opt/jvm/java-{feature}-{bits}"),
        version: version.to_owned(),
        feature,
        vendor: Some("Debian".to_owned()),
        bits,
    }
}

fn provenance() -> Provenance {
    Provenance {
        assay_version: "0.1.0".to_owned(),
        kernel: Some("6.1.0-37-amd64".to_owned()),
        os: Some("Debian GNU/Linux 12 (bookworm)".to_owned()),
        architecture: "x86_64".to_owned(),
        cpu_model: Some("AMD EPYC 7B13".to_owned()),
        cpus: Some(2),
        memory_bytes: Some(24 << 30),
    }
}

fn host() -> HostFacts {
    HostFacts {
        schema: schema::HOST.to_owned(),
        provenance: provenance(),
        transparent_huge_pages: Some("madvise".to_owned()),
        cpu_governor: None,
        hypervisor: Some("KVM".to_owned()),
        cgroup_cpu_limit: None,
        cgroup_memory_limit_bytes: None,
        swap_bytes: Some(0),
        cpu_pressure_some_percent: Some(1.84),
        boot_id: None,
        allowed_processors: None,
        kernel_settings: BTreeMap::new(),
        jvms: vec![jvm(17, 32), jvm(17, 64), jvm(25, 64)],
        problems: vec![],
    }
}

const STUDY: &str = r#"schema = "assay.study/1"
name = "compressed-references"
question = "What do 64-bit references cost a Java server, and how much of it do compressed references give back?"
workload = "brokerage"

[factors]
"reference mode" = ["32-bit", "compressed-unscaled", "compressed-zero-based", "64-bit"]
heap = ["96m", "1g", "2g", "3g"]
"#;
