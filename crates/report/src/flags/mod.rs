//! What releases make of options: on a terminal a column for each release, then the reasons; as a page, CSV and Markdown.

mod csv;
mod markdown;
mod page;
mod words;

pub use csv::render as render_flags_csv;
pub use markdown::render as render_flags_markdown;
pub use page::render as render_flags_html;

use assay_kit::ink::{Ink, fit};
use assay_kit::text::clean;
use assay_kit::{Terminal, TerminalView};
use assay_model::{FlagsOfRelease, FlagsReport, OptionRemark};
use words::{first, is_grave, reasons};

const COLUMN: usize = 13;
const OPTION_MIN: usize = 24;

/// The table, and what there is to say of each option.
pub fn render(report: &FlagsReport, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &words::subject(report), Ink::bold);
    for block in report.releases.chunks(((out.width - OPTION_MIN) / COLUMN).max(1)) {
        table(&mut out, report, block);
    }
    let remarked =
        (0..report.options.len()).filter(|at| report.releases.iter().any(|of| first(of, *at).is_some()));
    for at in remarked {
        out.heading(&clean(&report.options[at]));
        for (releases, text) in reasons(report, at) {
            let names: Vec<String> = releases.iter().map(u32::to_string).collect();
            out.paragraph(2, &format!("JDK {}: {text}", names.join(", ")), Ink::plain);
        }
    }
    out.heading("Where this comes from");
    for of in &report.releases {
        let source = of.home.as_deref().map_or("the table of Assay".to_owned(), clean);
        out.paragraph(2, &format!("JDK {}: {} ({source})", of.release, clean(&of.version)), Ink::dim);
    }
    out.finish()
}

fn table(out: &mut Terminal, report: &FlagsReport, releases: &[FlagsOfRelease]) {
    let option = out.width - releases.len() * COLUMN;
    let widest = report.options.iter().map(|option| option.chars().count() + 2).max().unwrap_or(0);
    let option = option.min(widest.max(OPTION_MIN));
    let column = |text: &str| format!("{text:>COLUMN$}");
    out.blank();
    let names: String = releases.iter().map(|of| column(&format!("JDK {}", of.release))).collect();
    out.line(&out.ink.dim(&format!("{}{names}", fit("", option))));
    for (at, text) in report.options.iter().enumerate() {
        let cells = releases.iter().map(|of| {
            let remark = first(of, at);
            let cell = column(remark.map_or("fits", OptionRemark::word));
            match remark {
                Some(remark) if is_grave(remark) => out.ink.warn(&cell),
                None => out.ink.good(&cell),
                Some(_) => out.ink.dim(&cell),
            }
        });
        let cells: String = cells.collect();
        out.line(&format!("{}{cells}", fit(&clean(text), option)));
    }
    let starts: String =
        releases.iter().map(|of| column(if of.starts { "starts" } else { "fails" })).collect();
    out.line(&out.ink.bold(&format!("{}{starts}", fit("a JVM with all of them", option))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_kit::EntriesShown;

    #[test]
    fn each_release_has_a_column_and_what_they_say_alike_is_said_once() {
        let report: FlagsReport =
            serde_json::from_str(include_str!("../../../../testdata/formats/flags-1.json"))
                .expect("a kept result");
        let text = render(&report, TerminalView { width: 80, color: false, entries: EntriesShown::All });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(
            text.contains("JDK 17, 21, 25, 26, 27, 28: unrecognized: this release does not have it"),
            "{text}"
        );
        assert_eq!(text.matches("a JVM with all of them").count(), 2, "{text}");
    }
}
