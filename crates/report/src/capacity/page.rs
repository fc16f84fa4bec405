//! The page of a capacity.

use super::lines;
use super::{attribution_picture, csv, curve_picture, page_tables, words};
use assay_kit::key::{line_mark, mark, marks};
use assay_kit::number::{count, significant};
use assay_kit::page::{absent, copied_text, drawings, figure, lines_in_full, list, panels};
use assay_kit::quantity::seconds;
use assay_kit::svg::marker_path;
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Page, Section};
use assay_model::{CapacityMethod, CapacityReport, LimitAttribution};
use std::fmt::Write as _;
use std::io;

const STYLE: &str = include_str!("../../../../web/capacity.css");

/// A capacity as one HTML file that opens without a network: response time and throughput over the rate, limits, what made
/// requests late, checks, every window.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &CapacityReport, out: &mut impl io::Write) -> io::Result<()> {
    let answer = Answer {
        not_valid: if report.valid == Some(false) { why_not_valid(report) } else { Vec::new() },
        sentence: clean(&words::answer(report).join(" ")),
        action: words::next_step(report),
        chart: curve_html(report),
        rest: page_tables::left_out(report).map_or_else(String::new, |table| table.html()),
    };
    let sections = vec![
        answer.section(),
        Section::new("reached", "Throughput", reached_html(report)),
        Section::new("limits", "Limits", page_tables::limits(report).html()),
        Section::new("late", "Causes of slow requests", late_html(report)),
        Section::new("checks", "Validity checks", checks_html(report)),
        Section::new("windows", "Windows", windows_html(report)?),
        Section::new("how", "How it was found", how_html(report)),
        Section::problems(&words::other_problems(report)),
    ];
    Page {
        style: STYLE,
        script: include_str!("../../../../web/csv.js"),
        lines: vec![("", subject(report))],
        sections,
        ..Page::new("Load sustained within response-time limits, by Assay", clean(&report.target))
    }
    .write(out)
}

fn method(report: &CapacityReport) -> &'static str {
    match report.method {
        CapacityMethod::Search => "search",
        CapacityMethod::Sweep => "sweep",
    }
}

fn subject(report: &CapacityReport) -> String {
    let (windows, method) = (report.windows.len(), method(report));
    format!("A {method} of {windows} windows, {} in all", seconds(report.duration_s))
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

fn curve_html(report: &CapacityReport) -> String {
    let counted = lines::counted(report);
    if counted.is_empty() && lines::left_out(report).is_empty() {
        return absent("no window was measured");
    }
    let mut items: Vec<(String, String)> = lines::lines(report)
        .iter()
        .filter(|line| counted.iter().any(|step| (line.value)(*step).is_some()))
        .map(|line| {
            let note = if line.is_limited { ": the limits hold for it" } else { "" };
            (line_mark(line.look, line.is_limited), format!("{}{note}", line.name))
        })
        .collect();
    let diamond = marker_path(3, (15.0, 6.0), 4.5);
    items.push((mark("M1 6H29", "limit"), "limit".to_owned()));
    if report.limits.iter().any(|limit| limit.rate_per_s.is_some()) {
        items.push((mark(&diamond, "cross"), "rate that keeps the limit, with its interval".to_owned()));
    }
    items.extend(rate_keys(report));
    let mut caption = "Response time, on a logarithmic axis, from the intended start of a request to the last byte of its answer. \
         A mark is a window of load, a line goes through the medians of windows of the same rate. Bands are the intervals of the rates."
        .to_owned();
    if !lines::left_out(report).is_empty() {
        let hollow = marker_path(0, (15.0, 6.0), 4.0);
        items.push((mark(&hollow, "pub"), "window that was left out".to_owned()));
        caption += " Windows that were left out are hollow and on no line.";
    }
    if let Some(note) = lines::not_drawn(report) {
        let _ = write!(caption, " {note}");
    }
    let pictures = drawings("curve", |width, id| curve_picture::curve(report, width, id));
    figure("response-curve", "answer", &marks(&items), &pictures, &caption)
}

/// Keys of the rates that were found, and of what lies beyond the highest.
fn rate_keys(report: &CapacityReport) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    if report.critical_rate_per_s.is_some() {
        keys.push((mark("M1 6H29", "step"), "critical rate".to_owned()));
    }
    if report.max_rate_per_s.is_some() {
        keys.push((mark("M1 6H29", "one"), "max rate".to_owned()));
        keys.push((mark("M1 0H29V12H1Z", "out"), "more than the server sustains".to_owned()));
    }
    keys
}

fn reached_html(report: &CapacityReport) -> String {
    if lines::counted(report).is_empty() && lines::left_out(report).is_empty() {
        return absent("no window was measured");
    }
    let (dot, cross) = (marker_path(0, (15.0, 6.0), 4.0), marker_path(7, (15.0, 6.0), 4.0));
    let mut items = vec![
        (mark(&dot, "s0 mk"), "answers kept up with requests".to_owned()),
        (mark(&cross, "s7 mk"), "answers did not keep up".to_owned()),
        (mark("M1 6H29", "step"), "slanted: all that was offered".to_owned()),
    ];
    items.extend(rate_keys(report));
    let caption = "Successful responses a second over the offered requests a second. On the slanted line every request was \
                   answered in its window; marks below it are requests that waited, failed, or were not sent.";
    let pictures = drawings("reached", |width, id| curve_picture::reached(report, width, id));
    figure("reached-rate", "reached", &marks(&items), &pictures, caption)
}

fn late_html(report: &CapacityReport) -> String {
    let with_misses: Vec<&LimitAttribution> = report.attribution.iter().filter(|b| b.misses > 0).collect();
    if with_misses.is_empty() {
        let why = match report.attribution.is_empty() {
            true => "not available: no possible cause was observed",
            false => "No request took longer than a limit in windows that the server kept up with.",
        };
        return format!("<p class=\"absent\">{why}</p>");
    }
    let name =
        |of: &LimitAttribution| format!("{} requests beyond {}", count(of.misses), words::limit(of.limit_ms));
    let panel = |(index, attribution): (usize, &&LimitAttribution)| {
        let title = format!("Why requests took longer than {}", words::limit(attribution.limit_ms));
        (name(attribution), attribution_picture::draw(attribution, &title, &format!("late-{index}")))
    };
    let pictures = panels(with_misses.iter().enumerate().map(panel));
    let tables: String = with_misses
        .iter()
        .map(|attribution| page_tables::causes(attribution, name(attribution)).html())
        .collect();
    let caption = "Of the requests that took longer than a limit, in windows that the server kept up with: what was going on \
         while they waited. One request may have several causes, so shares may add up to more than all.";
    figure("causes", "late", &attribution_picture::key(), &pictures, caption)
        + &format!("<details><summary>Figures behind it: causes</summary>{tables}</details>")
}

fn checks_html(report: &CapacityReport) -> String {
    let tables: String = [Some(false), None, Some(true)]
        .into_iter()
        .filter_map(|passed| page_tables::checks(report, passed))
        .map(|table| table.html())
        .collect();
    let verdict = match report.valid {
        Some(true) => "No check failed: the figures may be used.",
        Some(false) => "The result is not valid: do not use the figures.",
        None => {
            "No check failed, but it is not known whether the figures may be used: see the problems below."
        }
    };
    let none =
        if tables.is_empty() { "<p class=\"absent\">not available: nothing was checked</p>" } else { "" };
    format!("<p>{verdict}</p>{none}{tables}")
}

fn windows_html(report: &CapacityReport) -> io::Result<String> {
    let mut text = Vec::new();
    csv::render(report, &mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let (all, counted) = (report.windows.len(), lines::counted(report).len());
    Ok(format!(
        "<p>{all} windows were measured; {counted} of them undisturbed.</p>\
         <details><summary>Figures of every window</summary>{}</details>\
{}",
        page_tables::windows(report).html(),
        copied_text("windows-csv", "Windows as CSV", "The same as CSV", &text)
    ))
}

fn how_html(report: &CapacityReport) -> String {
    let operations = match report.limited_operations.as_slice() {
        [] => "all".to_owned(),
        names => clean(&names.join(", ")),
    };
    let counted = lines::counted(report);
    let measured: f64 = counted.iter().map(|(window, _)| window.seconds()).sum();
    let requests = counted.iter().fold(0u64, |sum, (window, _)| sum.saturating_add(window.requests));
    let method = match report.method {
        CapacityMethod::Search => {
            "search: windows of load at the rates most informative about where the limits are crossed, until the intervals are \
             narrow, and then at the answers to confirm them, or until the time is used up"
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
    let mut out = list(rows);
    if let Some(scenario) = &report.scenario {
        let _ = write!(
            out,
            "<details><summary>The scenario of the load</summary>\
             <pre tabindex=\"0\" aria-label=\"Scenario file\"><bdi>{}</bdi></pre></details>",
            lines_in_full(scenario)
        );
    }
    out += "<h3>What it cannot say</h3><ul>";
    for line in cannot_say(report, measured) {
        let _ = write!(out, "<li><bdi>{}</bdi></li>", html(&line));
    }
    out + "</ul>"
}

/// The bounds of what was measured.
fn cannot_say(report: &CapacityReport, measured_s: f64) -> Vec<String> {
    let mut lines = vec![
        "The rates hold for this mix of operations, this data, this machine and what else ran on it; another mix has others."
            .to_owned(),
        format!(
            "What happens more rarely than once in the {} that were measured is not in it: a nightly job, a full collection once \
             an hour.",
            seconds(measured_s)
        ),
    ];
    if words::has_interval(report) {
        lines.push(words::HOW_SURE.to_owned());
    }
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
        lines.push("What the server sustains at most was not found.".to_owned());
    }
    for limit in report.limits.iter().filter(|l| l.rate_per_s.is_none()) {
        lines.push(format!(
            "No rate for {}: {}.",
            words::limit(limit.limit_ms),
            words::absent(report, limit)
        ));
    }
    if report.limits.iter().filter_map(|l| l.rate_per_s).any(|r| r.low.is_none() || r.high.is_none()) {
        lines.push("Some rates have no interval: how far chance moves them is not known.".to_owned());
    }
    lines.push(
        "A cause of late requests is what was going on at the same time: it explains a miss where the time that it took was \
         enough, which does not prove that it was the only cause."
            .to_owned(),
    );
    lines
}
