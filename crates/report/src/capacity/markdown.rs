//! A capacity as Markdown: the answer, whether to believe it, then the tables of its page.

use super::{page_tables, words};
use assay_kit::MarkdownDocument;
use assay_kit::number::count;
use assay_kit::text::clean;
use assay_model::{CapacityReport, LimitAttribution};

/// The answer and its tables. The windows are in the stored form and on the page.
pub fn render(report: &CapacityReport) -> String {
    let warning = match report.valid {
        Some(true) => "",
        Some(false) => "Not valid: do not use these figures.",
        None => "It is not known whether these figures may be used.",
    };
    let answer = [warning.to_owned(), clean(&words::answer(report).join(" ")), words::next_step(report)];
    let name =
        |of: &LimitAttribution| format!("{} requests beyond {}", count(of.misses), words::limit(of.limit_ms));
    let with_misses = report.attribution.iter().filter(|attribution| attribution.misses > 0);
    let mut tables = vec![page_tables::limits(report)];
    tables.extend(with_misses.map(|attribution| page_tables::causes(attribution, name(attribution))));
    tables.extend([Some(false), None].into_iter().filter_map(|passed| page_tables::checks(report, passed)));
    tables.extend(page_tables::left_out(report));
    MarkdownDocument {
        tables,
        problems: words::other_problems(report),
        ..MarkdownDocument::new(clean(&report.target), answer)
    }
    .markdown()
}
