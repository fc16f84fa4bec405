//! The page of a load.

use super::{tables, words};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::page::{absent, drawings, figure, lines_in_full};
use assay_kit::text::clean;
use assay_kit::{Answer, Page, Section, Table};
use assay_model::{LoadResult, Problem};
use std::io;

const STYLE: &str = include_str!("../../../../web/capacity.css");
/// Reasons below the chart why the figures must not be used; the problems have all.
const REASONS_SHOWN: usize = 3;

/// A load as one HTML file that opens without a network: response times by percentile, operations, the rate over time. `target` is
/// the address that was loaded.
///
/// # Errors
/// Those of the writer.
pub fn render(result: &LoadResult, target: &str, out: &mut impl io::Write) -> io::Result<()> {
    let answer = Answer {
        not_valid: if result.valid { Vec::new() } else { why_not_valid(result) },
        sentence: words::answer(result),
        action: words::next_step(result).to_owned(),
        chart: chart(result),
        ..Answer::default()
    };
    let mut sections = vec![answer.section(), Section::new("times", "Times", tables::times(result).html())];
    let parts = [
        ("operations", "Operations", tables::operations(result)),
        ("rates", "Rate over time", tables::rates(result)),
        ("figures", "Counts", tables::figures(result)),
        ("injectors", "Injectors", tables::injectors(result)),
    ];
    let parts = parts.into_iter().filter_map(|(id, title, table)| {
        Some(Section::new(id, title, table.unless_empty().as_ref().map(Table::html)?))
    });
    sections.extend(parts);
    sections.extend(result.scenario.as_ref().map(|text| {
        Section::new("scenario", "The scenario of the load", scenario(text)).called("Scenario").on_screen()
    }));
    sections.push(Section::problems(&Problem::listed(&result.problems)));
    Page {
        style: STYLE,
        lines: vec![("", clean(&words::subject(result)))],
        sections,
        ..Page::new("Response times under load, by Assay", clean(target))
    }
    .write(out)
}

fn why_not_valid(result: &LoadResult) -> Vec<String> {
    let why = Problem::listed(&result.problems).into_iter().take(REASONS_SHOWN);
    let why: Vec<String> = why.map(|(about, text)| format!("{about}: {text}")).collect();
    if why.is_empty() { vec!["the result does not say why".to_owned()] } else { why }
}

fn chart(result: &LoadResult) -> String {
    let (response, service) = (&result.response_ms, &result.service_ms);
    let percentiles = [
        ("p50", response.p50, service.p50),
        ("p95", response.p95, service.p95),
        ("p99", response.p99, service.p99),
        ("p99.9", response.p99_9, service.p99_9),
        ("longest", response.max, service.max),
    ];
    let bar = |(name, response, service): (&str, Option<f64>, Option<f64>)| {
        let value = format!("{}; service time {}", words::ms(response), words::ms(service));
        Some(Bar::whole(name, value, response?, "bar s0"))
    };
    let bars: Vec<Bar> = percentiles.into_iter().filter_map(bar).collect();
    if bars.is_empty() {
        return absent("no request was answered");
    }
    let title = "Response time by percentile";
    let pictures = drawings("percentiles", |width, id| {
        bar_rows::bars(&bars, (Some("response time, ms"), None), width, (id, title))
    });
    let caption = "Response time by percentile, from the intended start of a request to the last byte of its answer. Service time \
                   counts from the send: what lies between the two is time that requests waited to be sent.";
    figure("percentiles-figure", "answer", "", &pictures, caption)
}

fn scenario(text: &str) -> String {
    format!(
        "<details><summary>Scenario file</summary>\
         <pre tabindex=\"0\" aria-label=\"Scenario file\"><bdi>{}</bdi></pre></details>",
        lines_in_full(text)
    )
}
