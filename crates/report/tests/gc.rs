//! What GC logs say as people and programs see it: golden files, widths, hostile values, the grammar of OpenMetrics.

use crate::gc_sample as sample;
use crate::golden;
use assay_model::*;
use assay_report::*;
use expect_test::expect_file;

const VIEW: TerminalView = TerminalView { width: 100, color: false, extent: Extent::All };

fn document(report: &GcReport) -> Document {
    gc::document(report, "/var/log/shop/gc.log")
}

fn terminal(report: &GcReport, width: u16) -> String {
    golden::terminal(&document(report), width)
}

fn page(report: &GcReport) -> String {
    golden::page(&gc::document(report, "gc.log"))
}

fn csv(report: &GcReport) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    gc::data(report).write_csv(&mut out).expect("a vector takes all");
    let text = String::from_utf8(out).expect("UTF-8");
    text.lines().map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn the_forms_of_the_samples_are_the_golden_files() {
    golden::expect("gc", &document(&sample::g1()));
    golden::expect("gc-z", &document(&sample::z()));
    golden::expect("gc-diff", &gc::comparison(&sample::comparison()));
    let screen = gc::screen(&sample::g1(), "gc.log", 40, VIEW).join("\n");
    expect_file!["golden/gc-screen.txt"].assert_eq(&format!("{screen}\n{}\n", gc::line(&sample::g1())));
}

#[test]
fn the_page_of_two_logs_says_first_what_differs_and_draws_every_ratio() {
    let page_of = |comparison: &GcComparison| golden::page(&gc::comparison(comparison));
    let page = page_of(&sample::comparison());
    let at = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} in {page}"));
    assert!(at("2 figures differ by more than noise") < at("allocated_bytes_per_s"), "the largest first");
    assert!(at("→ Compare logs of the same JVM and options") < at("id=\"forest\""));
    assert!(page.contains("1.36 [1.21, 1.52]") && page.contains("stalls_per_s"));
    let same = GcComparison { differences: Vec::new(), ..sample::comparison() };
    let same = GcComparison { after_jvm: same.before_jvm.clone(), ..same };
    let page = page_of(&same);
    assert!(
        page.contains("No figure differs by more than noise")
            && !page.contains("Compare logs of the same JVM")
    );
    assert!(page.contains("not available: no figure is in both logs") && !page.contains("NaN"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 72, 80, 120, 200] {
        for report in [sample::g1(), sample::z(), sample::hostile(), sample::empty()] {
            golden::fits(&terminal(&report, width), width);
            let view = TerminalView { width, ..VIEW };
            golden::fits(&gc::screen(&report, "gc.log", 50, view).join("\n"), width);
        }
    }
}

#[test]
fn the_verdict_stands_before_the_tables_and_the_gravest_finding_first() {
    let text = terminal(&sample::g1(), 120);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
    assert!(at("The application ran") < at("error    The live set grows"));
    assert!(
        at("error    The live set grows") < at("warning  Two collections")
            && at("warning  Two collections") < at("note     References")
    );
    assert!(at("note     References") < at("Pauses by kind"));
    let words: Vec<&str> = text.split_whitespace().collect();
    let told = words.join(" ");
    assert!(told.contains("[gc.log:9120, gc.log:4100, gc.log.0:60000, gc.log.0:41000 and 1 more]"), "{text}");
}

#[test]
fn what_is_absent_is_no_zero() {
    let text = terminal(&sample::empty(), 100);
    assert!(text.contains("No pause for the collector was read."), "{text}");
    assert!(
        !text.contains("NaN")
            && !text.contains("throughput")
            && text.contains("not available: the log has no sizes"),
        "{text}"
    );
    let page = page(&sample::empty());
    assert!(page.contains("not available: the log has no times") && !page.contains("<figure"));
    let names: Vec<String> =
        csv(&sample::empty()).into_iter().map(|r| format!("{}/{}", r[0], r[2])).collect();
    assert_eq!(
        names,
        [
            "table/metric",
            "log/lines",
            "log/lines_not_understood",
            "log/messages_dropped",
            "log/jvms",
            "log/findings_of_error",
            "time_to_safepoint/count"
        ],
        "counts of nothing are known to be 0"
    );
}

#[test]
fn what_a_log_says_of_references_is_told_without_their_mode() {
    let mut report = sample::empty();
    for (is_compressed, told) in
        [("true", "· references compressed\n"), ("false", "· references not compressed\n")]
    {
        let settings = [("compressed references".to_owned(), is_compressed.to_owned())];
        report.jvms = vec![GcJvm { settings: settings.into(), ..GcJvm::default() }];
        assert!(terminal(&report, 100).contains(told), "{}", terminal(&report, 100));
    }
}

#[test]
fn figures_that_disagree_with_the_log_come_first_and_those_that_agree_are_on_the_page_alone() {
    let mut report = sample::g1();
    let agreeing = report.reconciliations[0].clone();
    let said = "1 figure that the log gives itself was checked: all agree with the events read.";
    let text = terminal(&report, 120);
    assert!(text.contains(said) && !text.contains(&agreeing.what), "{text}");
    assert!(page(&report).contains(said) && page(&report).contains(&agreeing.what));
    report.reconciliations.push(GcReconciliation { what: "bytes freed".to_owned(), read: 7.0, ..agreeing });
    let text = terminal(&report, 120);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
    assert!(at("checked: 1 does not agree with the events read.") < at("bytes freed"));
    assert!(at("bytes freed") < at("collections by number"));
}

#[test]
fn a_followed_log_without_a_pause_has_none_yet() {
    assert_eq!(gc::line(&sample::empty()), "no pause for the collector yet");
}

#[test]
fn figures_by_the_hour_are_not_told_where_no_trend_is_known() {
    let mut report = sample::g1();
    let text = terminal(&report, 120).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("it grows, 410 MiB an hour (372 to 439)"), "the slope of a trend: {text}");
    report.live_set.as_mut().expect("a live set").trend = GcTrend::Unknown;
    report.findings.clear();
    assert!(!terminal(&report, 120).contains("an hour"), "{}", terminal(&report, 120));
}

#[test]
fn csv_has_every_figure_in_full_under_its_name() {
    let report = sample::g1();
    let rows = csv(&report);
    let value = |table: &str, name: &str, metric: &str| -> f64 {
        let row = rows.iter().find(|r| r[0] == table && r[1] == name && r[2] == metric);
        row.unwrap_or_else(|| panic!("{table} {name} {metric}"))[4].parse().expect("a number")
    };
    assert_eq!(value("log", "all", gc_figure::PAUSE_TOTAL_MS), report.pauses.total_ms);
    assert_eq!(
        Some(value("pauses_by_phase", "Pause Full", "max_ms")),
        report.pauses_by_phase[1].durations.max_ms
    );
    assert_eq!(value("log", "all", gc_figure::ALLOCATED_BYTES_PER_S), 96.4e6);
    assert_eq!(
        (
            value("log", "all", gc_figure::GC_CPU_USER_S),
            value("log", "all", gc_figure::GC_CONCURRENT_CPU_USER_S)
        ),
        (31.2, 14.8)
    );
    assert!(rows.iter().all(|r| r.len() == 7), "columns");
}

#[test]
fn a_timeline_is_broken_where_the_log_is_silent_for_hours() {
    let lines = |report: &GcReport| page(report).matches("ln after").count();
    let whole = sample::g1();
    let mut silent = whole.clone();
    let half = silent.series.points.len() / 2;
    silent.series.points[half..].iter_mut().for_each(|point| point.at_s += 12_600.0);
    assert!(0 < lines(&whole));
    assert_eq!(lines(&silent), 2 * lines(&whole));
}

/// So many pauses, of which two follow each other within a tenth of a second.
fn with_collections(count: u32) -> GcReport {
    let mut report = sample::g1();
    let one = |index: u32| GcCollection {
        at_s: f64::from(index / 2) * 3.0 + f64::from(index % 2) * 0.05,
        before_bytes: Some(200 << 20),
        after_bytes: Some(50 << 20),
        capacity_bytes: Some(512 << 20),
        pause: Some(("young".to_owned(), 4.5)),
        ..GcCollection::default()
    };
    report.series.collections = (0..count).map(one).collect();
    report
}

#[test]
fn a_timeline_has_the_time_of_day_of_each_jvm_and_the_line_of_each_pause() {
    let g1 = page(&sample::g1());
    assert!(g1.contains("data-clocks=\"0 1758010652000\"") && g1.contains(">08:17:32</text>"));
    assert!(g1.contains("the longest") && g1.contains(" ms, /var/log/shop/gc.log:6003</title>"), "{}", 6_003);
    let z = page(&sample::z());
    assert!(z.contains("data-clocks=\"0 1758010652000;25 1758014277000\""));
    assert!(
        z.contains(">08:17:32</text>") && z.contains(">09:18:02</text>"),
        "30 s are 5 s of the second JVM"
    );
    let mut without = sample::g1();
    without.series.clocks.clear();
    let without = page(&without);
    assert!(!without.contains("data-clocks") && !without.contains("time of day in UTC</text>"));
}

#[test]
fn every_collection_is_drawn_while_there_are_fewer_than_pixels() {
    let signs = |page: &str, id: &str| {
        let svg =
            page.split(&format!("aria-labelledby=\"{id}-")).nth(1).and_then(|svg| svg.split("</svg>").next());
        svg.unwrap_or_else(|| panic!("{id}")).matches(" mk pause").count()
    };
    for (count, wide, narrow) in
        [(15, true, true), (290, true, true), (291, true, false), (1_000, true, false), (1_001, false, false)]
    {
        let page = page(&with_collections(count));
        let drawn = [signs(&page, "timeline"), signs(&page, "timeline-narrow")];
        let is_each = drawn.map(|signs| signs == count as usize);
        assert_eq!(is_each, [wide, narrow], "{count}: {drawn:?}");
        assert_eq!(page.contains("Every collection is drawn"), wide);
        assert_eq!(page.contains("equal intervals"), !narrow);
    }
}

#[test]
fn stops_within_a_concurrent_cycle_are_drawn_as_pauses_and_not_as_collections_of_the_heap() {
    let points = |report: &GcReport| {
        let page = page(report);
        let line = page.split("class=\"s2 ln after\" d=\"").nth(1).and_then(|d| d.split('"').next());
        line.expect("the line").matches(['M', 'L']).count()
    };
    let mut report = with_collections(40);
    assert_eq!(points(&report), 40);
    for one in report.series.collections.iter_mut().skip(3).step_by(4) {
        one.pause = Some(("old".to_owned(), 0.5));
    }
    assert_eq!(points(&report), 30);
    report.series.collections.iter_mut().for_each(|one| one.pause = Some(("old".to_owned(), 0.5)));
    assert_eq!(points(&report), 40, "what there is is drawn");
}

#[test]
fn the_same_report_gives_the_same_page_and_hostile_values_are_drawn_without_panic() {
    assert!(page(&sample::g1()) == page(&sample::g1()));
    for report in [sample::hostile(), sample::z()] {
        let page = page(&report);
        assert!(!page.contains("<script>alert") && !page.contains("=\"NaN") && !page.contains("=\"inf"));
        assert!(page.contains("id=\"gc-timeline\""));
    }
}

/// A name of a family or label.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Labels `a="b",c="d"` with escapes; returns the names.
fn labels(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, behind) = rest.split_once("=\"")?;
        names.push(name.to_owned());
        let mut escaped = false;
        let end = behind.char_indices().find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        })?;
        match behind[end.0 + 1..].strip_prefix(',') {
            Some(more) => rest = more,
            None => return (behind.len() == end.0 + 1).then_some(names),
        }
    }
}

/// Holds a text against the grammar of OpenMetrics 1.0 as far as counters, gauges and summaries go.
fn check_openmetrics(text: &str) {
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
    let mut families: Vec<(String, String)> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for line in text.lines().filter(|l| *l != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a kind");
            assert!(is_name(name) && ["counter", "gauge", "summary"].contains(&kind), "{line}");
            assert!(!families.iter().any(|f| f.0 == name), "{name} stands twice");
            families.push((name.to_owned(), kind.to_owned()));
            continue;
        }
        let (family, kind) = families.last().expect("a TYPE first");
        if let Some(rest) = line.strip_prefix("# UNIT ") {
            let (name, unit) = rest.split_once(' ').expect("a unit");
            assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
            continue;
        }
        if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&format!("{family} ")), "{line}");
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        value.parse::<f64>().expect("a number");
        let (name, names) = match series.split_once('{') {
            Some((name, rest)) => (name, labels(rest.strip_suffix('}').expect("a brace")).expect(line)),
            None => (series, Vec::new()),
        };
        assert!(names.iter().all(|n| is_name(n)), "{line}");
        let suffix = name.strip_prefix(family.as_str()).unwrap_or_else(|| panic!("{line} in {family}"));
        let has_quantile = names.iter().any(|n| n == "quantile");
        let fits = match kind.as_str() {
            "counter" => suffix == "_total",
            "summary" => (suffix.is_empty() && has_quantile) || ["_count", "_sum"].contains(&suffix),
            _ => suffix.is_empty(),
        };
        assert!(fits, "{line} of a {kind}");
        assert!(seen.insert(series.to_owned()), "{series} stands twice");
    }
}

#[test]
fn metrics_keep_the_grammar_of_openmetrics() {
    for report in [sample::g1(), sample::z(), sample::hostile(), sample::empty()] {
        let text = gc::openmetrics(&report);
        check_openmetrics(&text);
        let families = gc::openmetrics_families();
        let listed = |line: &str| families.iter().any(|f| line == format!("{} {}", f.name(), f.kind));
        let unlisted: Vec<&str> =
            text.lines().filter_map(|l| l.strip_prefix("# TYPE ")).filter(|l| !listed(l)).collect();
        assert!(unlisted.is_empty(), "families that are in no list: {unlisted:?}");
    }
    let text = gc::openmetrics(&sample::g1());
    assert!(text.contains("assay_gc_pause_seconds_count{phase=\"Pause Full\"} 2\n"), "{text}");
    assert!(text.contains("assay_gc_allocated_bytes_total 347000000000\n"), "{text}");
    let beside = "assay_gc_cpu_seconds_total{during=\"concurrent\",mode=\"user\"} 14.8\n";
    assert!(text.contains(beside), "{text}");
    assert!(!gc::openmetrics(&sample::z()).contains("assay_gc_cpu"), "absent is not zero");
    // A figure has one name wherever it appears.
    let rows = csv(&sample::g1());
    for figure in GC_FIGURES.iter().filter(|f| f.read(&sample::g1()).is_some()) {
        assert!(rows.iter().any(|r| r[2] == figure.id), "{} in the CSV", figure.id);
        let name = match figure.exposition {
            Exposition::CounterAs(name) => name,
            Exposition::Counter | Exposition::Gauge => figure.id,
            Exposition::Unexposed => continue,
        };
        assert!(text.contains(&format!("# TYPE assay_gc_{name} ")), "{name} in {text}");
    }
}

#[test]
#[should_panic(expected = "of a counter")]
fn the_check_of_the_grammar_can_fail() {
    check_openmetrics("# TYPE a counter\na 1\n# EOF\n");
}
