//! The outputs of a made-up run: golden files, determinism, what must never be in a page, and runs that lack
//! almost everything.

use crate::gc_sample;
use crate::golden;
use crate::kafka;
use crate::rendered::{csv, html, markdown, terminal as terminal_of};
use crate::sample;
use assay_model::Check;
use assay_model::*;
use assay_testkit::shown;
use expect_test::expect_file;

/// Where a text of the terminal goes on in the next line.
const CONTINUED: &str = "\n  ";

/// What the issue allows for the demo.
const DEMO_BYTES_MAX: usize = 1_000_000;

fn all_outputs(run: &StoredRun) -> String {
    format!("{}{}{}{}", html(run), markdown(run), csv(run), terminal_of(run, 80, true))
}

#[test]
fn texts_of_the_sample_are_the_golden_files() {
    golden::expect("study", &assay_report::study::document(&sample::run()));
}

#[test]
fn csv_of_the_demo_is_the_golden_file() {
    expect_file!["golden/demo.csv"].assert_eq(&csv(&sample::demo_run()));
}

/// What a check says of the server, and why its slowest requests took long: over the windows that count, and no others.
#[test]
fn windows_that_count_tell_their_marks_and_why_their_slowest_requests_took_long() {
    let run = sample::run();
    let is_marked = |w: &&Window| w.counts() && w.marks().any(|c| c.check == Check::LostResponses);
    let mut told = 0;
    for variant in &run.plan.variants {
        let trials = run.trials.iter().filter(|t| t.trial.variant == variant.name && t.trial.counts());
        let windows: Vec<&Window> = trials.flat_map(|t| &t.trial.windows).filter(|w| w.counts()).collect();
        let misses: u64 = windows.iter().filter_map(|w| w.attribution.as_ref()).map(|of| of.misses).sum();
        let slowest = format!("{}: {} requests beyond ", variant.name, assay_kit::number::count(misses));
        let marked = windows.iter().copied().filter(is_marked).count();
        let mark = format!("{marked} of {} windows", windows.len());
        let terminal = terminal_of(&run, 200, false);
        for text in [html(&run), markdown(&run).replace('\\', ""), terminal] {
            assert_eq!(text.contains(&slowest), misses > 0, "{slowest}");
            let of_variant = |line: &str| line.contains(&variant.name) && line.contains("lost-responses");
            let line = text.lines().find(|line| of_variant(line) && line.contains("had no answer"));
            assert_eq!(line.is_some_and(|line| line.contains(&mark)), marked > 0, "{mark}: {line:?}");
        }
        told += marked;
    }
    assert!(told > 0, "the sample has such windows");
}

#[test]
fn growth_with_the_level_of_a_factor_is_shown_with_its_interval_and_how_far_it_describes_the_levels() {
    let mut run = sample::demo_run();
    let scaling = |max_residual_ratio| Scaling {
        metric: run.plan.primary_metric.clone(),
        factor: "connections".to_owned(),
        others: std::collections::BTreeMap::from([("engine".to_owned(), "<selector>".to_owned())]),
        levels: vec![20.0, 200.0, 10_000.0],
        blocks: 4,
        exponent: Estimate { estimate: 0.12, low: Some(0.08), high: Some(0.16) },
        max_residual_ratio,
    };
    let scalings = vec![scaling(1.02), scaling(3.0)];
    run.summary.as_mut().expect("a summary").scalings = scalings;
    let terminal = terminal_of(&run, 116, false).replace(CONTINUED, " ");
    let lines: Vec<&str> = terminal.lines().filter(|line| line.contains(" grows as ")).collect();
    assert!(
        lines[0].ends_with("grows as connections to the power of 0.120 [0.0800, 0.160] (4 blocks)"),
        "{lines:?}"
    );
    assert!(
        lines[1].contains("one level is 3.00 times off, so no single exponent describes it"),
        "{lines:?}"
    );
    let (html, markdown) = (html(&run), markdown(&run));
    assert!(
        html.contains("engine &lt;selector&gt;") || html.contains("engine &#60;selector&#62;"),
        "escaped"
    );
    assert!(markdown.contains("20.0, 200, 10,000"), "{markdown}");
}

/// A run whose JIT compilers used such a part of each variant's CPU time.
fn compiling(share: f64) -> StoredRun {
    let mut run = sample::demo_run();
    let summary = run.summary.as_mut().expect("a summary");
    let rest = metric::CPU_WITHOUT_JIT_MS_PER_REQUEST;
    for variant in &mut summary.variants {
        let Some(all) = variant.metrics.get(metric::CPU_MS_PER_REQUEST) else { continue };
        let without = Estimate { estimate: all.estimate * (1.0 - share), ..*all };
        variant.metrics.insert(rest.to_owned(), without);
    }
    let of_cpu = summary.comparisons.iter().filter(|c| c.metric == metric::CPU_MS_PER_REQUEST);
    let of_rest: Vec<_> = of_cpu.map(|c| Comparison { metric: rest.to_owned(), ..c.clone() }).collect();
    summary.comparisons.extend(of_rest);
    run
}

#[test]
fn cpu_time_without_jit_compilers_has_a_place_where_they_used_some() {
    let (some, little) = (compiling(0.4), compiling(0.05));
    let (title, caution) =
        ("CPU time per request without JIT compilers", "JIT compilers used up to 40 % of a variant");
    let terminal = terminal_of(&some, 116, false);
    assert!(terminal.contains("without") && terminal.contains("JIT"), "{terminal}");
    assert!(terminal.contains(caution), "{terminal}");
    let page = html(&some);
    assert!(shown(&page).contains(caution));
    // Who is compared with whom stands before it.
    let rows = |page: &str| page.matches(&format!(": {title}")).count();
    let with_some = rows(&page);
    let terminal = terminal_of(&little, 116, false);
    // Charts that only the page has are named.
    let (terminal, _) = terminal.split_once("Only on the page").expect("what is left out");
    assert!(!terminal.contains("without JIT") && !terminal.contains("JIT compilers"), "{terminal}");
    // Every metric has its table, in any case.
    let page = html(&little);
    assert!(page.contains(title) && rows(&page) < with_some, "{with_some}");
}

#[test]
fn the_same_run_gives_the_same_page() {
    assert_eq!(html(&sample::run()), html(&sample::run()));
}

#[test]
fn the_page_of_the_demo_is_at_most_a_megabyte() {
    let bytes = html(&sample::demo_run()).len();
    assert!(bytes <= DEMO_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn the_page_refers_to_nothing_outside_itself() {
    // A picture that is saved goes through an address of its own.
    let page = html(&sample::run()).to_lowercase().replace("objecturl(", "");
    for reference in
        ["http:", "https:", "@import", "fetch(", "src=", "xmlhttprequest", "<link rel=\"stylesheet"]
    {
        assert!(!page.contains(reference), "{reference} in the page");
    }
    for (name, opening) in [("href", "href=\""), ("url", "url(")] {
        for target in page.split(opening).skip(1) {
            let allowed = target.starts_with('#') || (name == "href" && target.starts_with("data:,\""));
            assert!(allowed, "{name} to {}", target.chars().take(40).collect::<String>());
        }
    }
}

#[test]
fn every_figure_has_a_data_table_or_says_why_there_is_none() {
    for run in [sample::run(), sample::demo_run(), without_series()] {
        let page = html(&run);
        for figure in page.split("<figure ").skip(1) {
            let figure = figure.split("</figure>").next().unwrap_or("");
            let drawn = figure.contains("<svg role=\"img\"") && figure.contains("<table ");
            let absent = figure.contains("class=\"absent\">not available: ");
            assert!(drawn != absent, "{}", figure.chars().take(200).collect::<String>());
        }
    }
}

#[test]
fn hostile_names_and_logs_are_shown_and_do_nothing() {
    let run = sample::hostile_run();
    let page = html(&run);
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own script");
    assert!(page.contains("&lt;script&gt;alert(") || page.contains("&#60;script&#62;alert("));
    assert!(page.contains("\u{5e9}\u{5dc}"), "letters of right-to-left scripts stay");
    for output in [page, markdown(&run), csv(&run), terminal_of(&run, 100, false)] {
        assert!(!output.contains('\u{202E}') && !output.contains('\u{1b}'), "{}", &output[..200]);
    }
    // The study file's text stands in a fence that it cannot close.
    let markdown = markdown(&run);
    let (prose, study) = markdown.split_once("## How to repeat it").expect("the last part");
    assert!(!prose.contains("<script>") && study.contains("\n````toml\n"));
}

#[test]
fn the_scenario_is_in_the_report_so_that_the_run_can_be_repeated() {
    let run = sample::demo_run();
    let page = html(&run);
    let repeat = page.split("How to repeat it").last().expect("the section");
    assert!(
        repeat.contains("The scenario of the load</summary>") && repeat.contains("# &lt;mix&gt;"),
        "{repeat}"
    );
    let scenario = "### The scenario of the load\n\n```toml\nname = \"brokerage\" # <mix>\n```\n";
    assert!(markdown(&run).contains(scenario), "{}", markdown(&run));
}

#[test]
fn variants_with_another_baseline_have_an_axis_of_their_own() {
    let page = html(&sample::run());
    assert!(page.contains("ratio to 32-bit (1 = the same)"), "the usual baseline");
    assert!(page.contains("ratio to compressed (JDK 25) (1 = the same)"), "that of compact headers");
    assert!(page.contains("against compressed (JDK 25)"), "a heading says which");
}

#[test]
fn terminal_colour_is_the_callers_choice() {
    let run = sample::demo_run();
    assert!(terminal_of(&run, 100, true).contains('\u{1b}'));
    assert!(!terminal_of(&run, 100, false).contains('\u{1b}'));
}

#[test]
fn a_terminal_line_is_never_wider_than_asked_for() {
    for width in [60, 80, 116] {
        let text = terminal_of(&sample::run(), width, false);
        let table_lines = text.lines().filter(|l| l.contains('±') || l.contains('─'));
        let widest = table_lines.filter(|l| !l.starts_with('±')).map(|l| l.chars().count()).max();
        assert!(widest.is_some_and(|w| w <= usize::from(width)), "{widest:?} at {width}");
    }
}

#[test]
fn a_metric_that_was_not_measured_is_not_available_with_its_reason_and_never_zero() {
    let run = sample::demo_run();
    let reason = "smaps of the process could not be read: permission denied";
    assert!(html(&run).contains(&format!("not available: {reason}")));
    assert!(markdown(&run).contains(&format!("not available: {reason}")));
    assert!(csv(&run).contains(&format!("rss_bytes,bytes,,,,6,0,,,,,,,,,,,{reason}")));
    assert!(terminal_of(&run, 120, false).contains(reason));
}

#[test]
fn a_metric_that_no_variant_has_is_named_with_its_reason() {
    let mut run = sample::demo_run();
    for stored in &mut run.trials {
        stored.trial.problems.push(Problem::new("garbage_kib_per_request", "gc.log was not written"));
    }
    let summary = run.summary.as_mut().expect("the sample has it");
    summary.comparisons.retain(|c| c.metric != "garbage_kib_per_request");
    for variant in &mut summary.variants {
        variant.metrics.remove("garbage_kib_per_request");
    }
    let told = "Garbage per request: not available for any variant: gc.log was not written";
    assert!(html(&run).contains(told) && markdown(&run).contains(told));
    let answer = "64-bit against 32-bit, garbage per request: not available: 32-bit/1g has none (gc.log was not written)";
    assert!(html(&run).contains(answer));
    let terminal = terminal_of(&run, 110, false);
    assert!(terminal.contains("gc.log was not written"), "{terminal}");
    assert!(!terminal.contains("Garbage KiB/req"), "no column of nothing: {terminal}");
}

fn without_series() -> StoredRun {
    let mut run = sample::demo_run();
    for stored in &mut run.trials {
        stored.gc_events.clear();
        stored.memory.clear();
    }
    for variant in &mut run.summary.as_mut().expect("the sample has it").variants {
        variant.response_curve.clear();
    }
    run
}

#[test]
fn a_run_without_a_finished_trial_says_so() {
    let mut run = sample::demo_run();
    run.summary = None;
    run.trials.clear();
    let why = "not available: no trial was finished";
    assert!(html(&run).contains(why) && markdown(&run).contains(why));
    assert!(terminal_of(&run, 80, false).contains(why));
}

#[test]
fn a_run_whose_windows_were_all_disturbed_says_so_and_shows_the_evidence() {
    let mut run = sample::demo_run();
    let disturbance =
        Disturbance { kind: Check::Steal, evidence: "18 % stolen, the limit is 2 %".to_owned() };
    for window in run.trials.iter_mut().flat_map(|t| &mut t.trial.windows) {
        window.disturbances = vec![disturbance.clone()];
    }
    let summary = run.summary.as_mut().expect("the sample has it");
    summary.comparisons.clear();
    for variant in &mut summary.variants {
        variant.metrics.clear();
        variant.windows = 0;
    }
    for output in [html(&run), markdown(&run)] {
        assert!(output.contains("not available: every measured window was disturbed and is left out"));
        assert!(shown(&output).contains("18 % stolen, the limit is 2 %"));
    }
    let terminal = terminal_of(&run, 100, false).replace("\n  ", " ");
    assert!(terminal.contains("all windows were excluded; see Exclusions"), "{terminal}");
}

#[test]
fn runs_that_lack_almost_everything_or_hold_absurd_figures_are_rendered_without_a_panic() {
    let mut empty = sample::demo_run();
    empty.plan.factors.clear();
    empty.plan.variants.clear();
    empty.plan.trials.clear();
    empty.plan.published.clear();
    empty.trials.clear();
    let mut absurd = sample::run();
    for (index, stored) in absurd.trials.iter_mut().enumerate() {
        for window in &mut stored.trial.windows {
            window.end_monotonic_ns = window.start_monotonic_ns.wrapping_sub(index as u64);
        }
        for event in &mut stored.gc_events {
            event.duration_ns = Some(u64::MAX);
            event.heap.before_bytes = None;
        }
        stored.memory.iter_mut().for_each(|s| s.areas.clear());
    }
    let summary = absurd.summary.as_mut().expect("the sample has it");
    for (index, comparison) in summary.comparisons.iter_mut().enumerate() {
        let value = [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e300][index % 5];
        comparison.ratio = Estimate { estimate: value, low: Some(value), high: None };
    }
    for variant in &mut summary.variants {
        variant.metrics.values_mut().for_each(|e| e.low = Some(f64::NAN));
        variant.response_curve.iter_mut().for_each(|p| p.percentile = 100.0);
    }
    let mut no_heap = sample::run();
    no_heap.plan.variants.iter_mut().for_each(|v| v.max_heap_bytes = None);
    let mut one_block = sample::run();
    for comparison in &mut one_block.summary.as_mut().expect("the sample has it").comparisons {
        comparison.ratio = Estimate { low: None, high: None, ..comparison.ratio };
        comparison.verdict = Verdict::TooFewBlocks;
        comparison.shown = false;
    }
    for run in [empty, absurd, no_heap, without_series()] {
        assert!(!all_outputs(&run).contains("NaN"));
    }
    assert!(all_outputs(&one_block).contains("too few blocks"));
}

#[test]
fn trials_that_were_read_in_full_have_a_tree_map_for_each_variant_and_others_miss_nothing() {
    let mut run = sample::demo_run();
    assert!(!html(&run).contains("id=\"memory-map\""), "nobody asked for it");
    for (index, stored) in run.trials.iter_mut().enumerate().take(2) {
        let mut snapshot = kafka::snapshot();
        snapshot.rss_bytes += index as u64;
        stored.memory_report = Some(snapshot);
    }
    let page = html(&run);
    let figure = page.split("<figure id=\"memory-map\"").nth(1).and_then(|f| f.split("</figure>").next());
    let figure = figure.expect("the figure");
    assert_eq!(figure.matches("<svg role=\"img\"").count(), 2);
    assert!(figure.contains("Java heap") && figure.contains("<table "));
}

/// The table of the chart of memory by area: the cells of each row.
fn memory_by_area(run: &StoredRun) -> Vec<Vec<String>> {
    let page = html(run);
    let figure = page.split("<figure id=\"memory\"").nth(1).and_then(|f| f.split("</figure>").next());
    let body = figure.and_then(|f| f.split("<table ").nth(1)).expect("the table of the chart");
    // The text of a cell is what stands between its tags.
    let text = |cell: &str| {
        let text: String = cell.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
        text.trim().to_owned()
    };
    let is_cell = |part: &&str| part.starts_with("d>") || part.starts_with("d ") || part.starts_with("h ");
    let cells = |row: &str| row.split("<t").filter(is_cell).map(text).collect();
    body.split("<tr").skip(1).map(cells).collect()
}

/// Every trial has a full snapshot whose only area is of this size.
fn attributed() -> StoredRun {
    let mut run = sample::run();
    let areas = vec![AreaBytes { area: Area::JvmWork, resident_bytes: 777 << 20 }];
    for stored in &mut run.trials {
        stored.memory_report = Some(MemoryReport { areas: areas.clone(), ..kafka::snapshot() });
    }
    run
}

#[test]
fn memory_by_area_is_from_full_snapshots_and_a_variant_without_one_has_a_dash_and_the_reason() {
    let mut run = attributed();
    let all = memory_by_area(&run);
    assert!(all.iter().skip(1).all(|row| row.contains(&"777".to_owned())), "{all:?}");
    let alone = run.trials[0].trial.variant.clone();
    for stored in run.trials.iter_mut().filter(|t| t.trial.variant == alone) {
        stored.memory_report = None;
        stored.trial.problems.push(Problem::new(file::MEMORY_REPORT, "the process ended meanwhile"));
    }
    let table = memory_by_area(&run);
    let (without, with): (Vec<_>, Vec<_>) =
        table.iter().skip(1).partition(|row| row.first().is_some_and(|name| *name == alone));
    assert!(without.iter().flat_map(|row| &row[1..]).all(|cell| cell == "-"), "{without:?}");
    assert!(with.iter().all(|row| row.contains(&"777".to_owned())), "{with:?}");
    let note = format!("No figures for {alone}: no full snapshot (the process ended meanwhile).");
    assert!(html(&run).contains(&note));
}

#[test]
fn without_any_full_snapshot_there_is_no_memory_by_area() {
    assert!(html(&sample::run()).contains("no trial that counts has a full snapshot"));
}

#[test]
fn panels_over_time_have_the_time_of_day_of_each_window_where_the_trial_has_it() {
    let axes = |run: &StoredRun| html(run).matches(" data-clocks=\"0 17723").count();
    let mut run = sample::demo_run();
    assert!(0 < axes(&run), "2026-03-01");
    run.trials.iter_mut().for_each(|stored| stored.trial.started_monotonic_ns = None);
    assert_eq!(axes(&run), 0, "a run of before it was stored");
}

#[test]
fn memory_over_time_is_by_area_where_full_snapshots_were_sampled_and_a_line_elsewhere() {
    let figure = |run: &StoredRun| {
        let page = html(run);
        let figure =
            page.split("<figure id=\"memory-time\"").nth(1).and_then(|f| f.split("</figure>").next());
        figure.expect("the figure").to_owned()
    };
    let drawn =
        |figure: &str| ["area\" d=", "class=\"s0 ln rss\""].map(|mark| 0 < figure.matches(mark).count());
    let mut run = sample::demo_run();
    let mappings = figure(&run);
    assert_eq!(drawn(&mappings), [false, true], "areas of mappings are not shown");
    assert!(mappings.contains("the line is their sum"));
    let full = |stored: &mut StoredTrial| {
        let add =
            |s: &mut MemorySample| s.areas.push(AreaBytes { area: Area::JvmWork, resident_bytes: 5 << 20 });
        stored.memory.iter_mut().for_each(add);
    };
    full(&mut run.trials[0]);
    assert_eq!(drawn(&figure(&run)), [true, true]);
    run.trials.iter_mut().skip(1).for_each(full);
    assert_eq!(drawn(&figure(&run)), [true, false]);
}

#[test]
fn findings_in_gc_logs_stand_by_variant_where_there_are_any() {
    let mut run = sample::demo_run();
    assert!(!html(&run).contains("id=\"gc\""), "none was analysed");
    run.trials[0].gc_report = Some(gc_sample::g1());
    let page = html(&run);
    let section = page.split("<section id=\"gc\"").nth(1).expect("the section");
    let section = section.split("</section>").next().expect("its end");
    let finding = &gc_sample::g1().findings[0];
    for text in [&run.trials[0].trial.variant, &finding.claim, &"1 of 1 trial".to_owned()] {
        assert!(section.contains(text.as_str()), "{text}: {section}");
    }
    assert!(markdown(&run).contains("## Garbage collection"));
}

#[test]
fn changes_to_the_machine_are_shown_with_what_was_read_back_and_what_was_left() {
    let mut run = sample::demo_run();
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    for (index, undone) in [(0, true), (1, false)] {
        run.trials[index].trial.treatments.push(TreatmentRecord {
            setting: file.to_owned(),
            before: Some("madvise".to_owned()),
            requested: "always".to_owned(),
            found: (index == 0).then(|| "always".to_owned()),
            undone,
        });
    }
    let (first, second) = (run.trials[0].trial.variant.clone(), &run.trials[1].trial);
    let terminal = terminal_of(&run, 140, false);
    let row = |variant: &str| {
        let mut rows = terminal.lines().skip_while(|line| !line.starts_with("Changes to the machine"));
        let row = rows.find(|line| line.starts_with(variant)).unwrap_or_else(|| panic!("{terminal}"));
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert!(row(&first).contains("madvise always always 1"), "{}", row(&first));
    assert!(row(&second.variant).contains("madvise always - 1"), "{}", row(&second.variant));
    assert!(terminal.contains("could not be read"), "{terminal}");
    assert!(terminal.contains(&format!("NOT after trial {}", second.number)), "{terminal}");
    let caption = "Changes to the machine, made for each trial";
    for page in [html(&run), markdown(&run)] {
        assert!(page.contains(caption) && page.contains("NOT after trial"));
    }
    assert!(!html(&sample::demo_run()).contains(caption), "nothing was changed, and nothing is said");
}

#[test]
fn the_answer_is_one_comparison_in_the_words_of_the_study() {
    let mut run = sample::run();
    let names =
        [("64-bit", "a server with 64-bit references"), ("32-bit", "a server with 32-bit references")];
    run.plan.called = names.map(|(level, called)| (level.to_owned(), called.to_owned())).into();
    let text = markdown(&run);
    let headline = text.lines().find(|line| line.starts_with("**")).expect("an answer");
    let words = "**A server with 64-bit references allocates 54-55 % more per request than a server with 32-bit references (95 % CI";
    assert!(headline.starts_with(words) && !headline.contains(", and "), "{headline}");
}
