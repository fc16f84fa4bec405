//! A capacity: what the server sustains within its limits, what makes requests late, and whether to believe it.

use super::{charts, data, lines, tables, words};
use assay_kit::document::{Answer, Block, Document, PageParts, Section, Tone};
use assay_kit::number::{count, significant};
use assay_kit::quantity::seconds;
use assay_kit::text::clean;
use assay_model::{CapacityMethod, CapacityReport};

/// The answer, throughput, limits, causes of slow requests, checks, every window, and how it was found.
pub fn document(report: &CapacityReport) -> Document {
    let answer = Answer {
        not_valid: if report.valid == Some(false) { why_not_valid(report) } else { Vec::new() },
        sentence: clean(&words::answer(report).join(" ")),
        action: words::next_step(report),
        chart: Some(charts::curve(report)),
        rest: unknown_validity(report).into_iter().chain(tables::left_out(report).map(Block::from)).collect(),
        ..Answer::default()
    };
    let how_sure = words::has_interval(report).then(|| Block::explanation(words::HOW_SURE));
    Document {
        lines: vec![subject(report).into()],
        sections: vec![
            Section::new("reached", "Throughput", [charts::reached(report).into()]),
            Section::new("limits", "Limits", [tables::limits(report).into()].into_iter().chain(how_sure))
                .of_entries(),
            Section::new("late", "Causes of slow requests", [charts::late(report).into()]),
            Section::new("operations", "Operations", tables::operations(report).map(Block::from)),
            Section::new("checks", "Validity checks", checks(report)),
            Section::new("windows", "Windows", windows(report)),
            Section::new("how", "How it was found", how(report)).page_only(),
        ],
        page: PageParts {
            style: include_str!("../../../../web/capacity.css"),
            script: include_str!("../../../../web/csv.js"),
            ..PageParts::default()
        },
        ..Document::new("Load sustained within response-time limits, by Assay", clean(&report.target), answer)
            .with_problems(words::other_problems(report))
    }
}

fn subject(report: &CapacityReport) -> String {
    let method = match report.method {
        CapacityMethod::Search => "search",
        CapacityMethod::Sweep => "sweep",
    };
    let (windows, seed) = (report.windows.len(), report.seed);
    format!("A {method} of {windows} windows, {} in all, seed {seed}", seconds(report.duration_s))
}

/// What failed, in words; a result that names nothing says so.
fn why_not_valid(report: &CapacityReport) -> Vec<String> {
    let failed = report.checks.iter().filter(|c| c.passed == Some(false));
    let mut why: Vec<String> = failed.map(|c| format!("{}: {}", c.check, clean(&c.evidence))).collect();
    if why.is_empty() {
        why.extend(report.problems.iter().map(|p| format!("{}: {}", clean(&p.about), clean(&p.text))));
    }
    if why.is_empty() {
        why.push("the result does not say why".to_owned());
    }
    why
}

fn unknown_validity(report: &CapacityReport) -> Option<Block> {
    let text = "It is not known whether these figures may be used.";
    report.valid.is_none().then(|| Block::Text(Tone::Warning, text.to_owned()))
}

fn checks(report: &CapacityReport) -> Vec<Block> {
    let verdict = match report.valid {
        Some(true) => "No check failed: the figures may be used.",
        Some(false) => "The result is not valid: do not use the figures.",
        None => {
            "No check failed, but it is not known whether the figures may be used: see the problems below."
        }
    };
    let mut blocks = vec![Block::text(verdict)];
    if report.checks.is_empty() {
        blocks.push(Block::absent("nothing was checked"));
    }
    blocks.extend(
        [Some(false), None].into_iter().filter_map(|passed| Some(tables::checks(report, passed)?.into())),
    );
    blocks.extend(tables::checks(report, Some(true)).map(|table| Block::from(table).page_only()));
    blocks
}

fn windows(report: &CapacityReport) -> Vec<Block> {
    let (all, counted) = (report.windows.len(), lines::counted(report).len());
    let table = Block::Folded("Figures of every window".to_owned(), vec![tables::windows(report).into()]);
    let csv = Block::Verbatim {
        name: "Windows as CSV".to_owned(),
        id: Some("windows-csv"),
        text: data::windows(report).csv(),
        language: "csv",
    };
    vec![
        Block::text(format!("{all} windows were measured, {counted} of them undisturbed.")),
        table.page_only(),
        csv.page_only(),
    ]
}

fn how(report: &CapacityReport) -> Vec<Block> {
    let has_own = report.limits.iter().any(|limit| limit.operation.is_some());
    let operations = match report.limited_operations.as_slice() {
        [] if has_own => "all, where a limit names none".to_owned(),
        [] => "all".to_owned(),
        names => clean(&names.join(", ")),
    };
    let counted = lines::counted(report);
    let measured: f64 = counted.iter().map(|(window, _)| window.seconds()).sum();
    let requests = counted.iter().fold(0u64, |sum, (window, _)| sum.saturating_add(window.requests));
    let method = match report.method {
        CapacityMethod::Search => {
            "search: windows of load at the most informative rates until the intervals are narrow, then \
                windows at the answers to confirm them. It ends earlier if the time is used up"
        }
        CapacityMethod::Sweep => {
            "sweep: level by level upwards, with settle and steady phases, retries and stop rules after the published rules \
             of SPECjbb2015"
        }
    };
    let rows = [
        ("Target", clean(&report.target)),
        ("Percentile that the limits hold for", words::percentile(report)),
        ("Operations that they hold for", operations),
        ("Method", method.to_owned()),
        ("Undisturbed windows", format!("{} of {}", counted.len(), report.windows.len())),
        ("Requests in them", count(requests)),
        ("Time measured in them", seconds(measured)),
        ("Time in all", seconds(report.duration_s)),
        ("Seed of every random draw", report.seed.to_string()),
    ];
    let users = report.users.map(|users| ("Users", users.to_string()));
    let starts = report.session_starts.as_ref().map(|of| {
        let ms = of.ms.p99.map_or_else(|| "-".to_owned(), significant);
        let [begun, failed, within] = [of.count, of.failed, of.in_window].map(count);
        (
            "Sessions begun outside of the figures",
            format!("{begun} (p99 {ms} ms), {failed} failed, {within} in windows"),
        )
    });
    let rows = rows.into_iter().chain(users).chain(starts);
    let scenario = report.scenario.as_ref().map(|text| Block::Verbatim {
        name: "The scenario of the load".to_owned(),
        id: None,
        text: text.clone(),
        language: "toml",
    });
    let mut blocks = vec![Block::terms(rows)];
    blocks.extend(scenario);
    blocks.push(Block::heading("What it cannot say"));
    blocks.push(Block::Items(Tone::Plain, cannot_say(report, measured)));
    blocks
}

/// The bounds of what was measured.
fn cannot_say(report: &CapacityReport, measured_s: f64) -> Vec<String> {
    let mut lines = vec![
        "The rates hold for this mix of operations, this data, and this machine with everything that ran on \
            it. Another mix has other rates."
            .to_owned(),
        format!(
            "Events rarer than once in the measured {} are not covered, such as a nightly job or a full \
                collection once an hour.",
            seconds(measured_s)
        ),
    ];
    let counted = lines::counted(report);
    let share = (100.0 - report.percentile) / 100.0;
    if let Some(least) = counted.iter().map(|(window, _)| window.requests).filter(|r| *r > 0).min() {
        lines.push(format!(
            "In the smallest window {} rests on the slowest {} of {} requests.",
            words::percentile(report),
            significant((least as f64 * share).max(1.0).round()),
            count(least)
        ));
    }
    if report.max_rate_per_s.is_none() {
        lines.push("The highest rate that the server sustains was not found.".to_owned());
    }
    for limit in report.limits.iter().filter(|l| l.rate_per_s.is_none()) {
        lines.push(format!(
            "No rate for {}: {}.",
            words::limit_with_rate(limit),
            words::absent(report, limit)
        ));
    }
    if report.limits.iter().filter_map(|l| l.rate_per_s).any(|r| r.low.is_none() || r.high.is_none()) {
        lines.push("Some rates have no interval: how far chance moves them is not known.".to_owned());
    }
    lines.push(
        "A cause of late requests happened at the same time as they did. It explains a miss if it took long \
            enough. That does not prove that it was the only cause."
            .to_owned(),
    );
    lines
}
