//! The page of what releases make of options.

use super::words::{self, first, is_grave};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::page::{absent, drawings, figure};
use assay_kit::stack::fill_class;
use assay_kit::{Answer, Page, Section, key};
use assay_model::{FlagsOfRelease, FlagsReport};
use std::io;

/// Fills of options that fit, that have a remark, and that have to change.
const LOOKS: [usize; 3] = [2, 11, 9];
const NAMES: [&str; 3] = ["fit", "have a remark", "have to change"];

/// What releases make of options as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &FlagsReport, out: &mut impl io::Write) -> io::Result<()> {
    let answer = Answer {
        sentence: words::headline(report),
        action: words::next_step(report),
        chart: chart(report),
        ..Answer::default()
    };
    let mut sections = vec![
        answer.section(),
        Section::new("options", "Options by release", words::matrix(report).html()).called("Options"),
    ];
    let why = words::why(report).unless_empty();
    sections.extend(why.map(|table| Section::new("why", "Why", table.html())));
    sections.push(
        Section::new("sources", "Where this comes from", words::sources(report).html()).called("Sources"),
    );
    Page {
        lines: vec![("", words::subject(report))],
        sections,
        ..Page::new("What JVM releases make of options, by Assay", "JVM options by release")
    }
    .write(out)
}

fn chart(report: &FlagsReport) -> String {
    if report.releases.is_empty() || report.options.is_empty() {
        return absent("no option was looked up");
    }
    let bars: Vec<Bar> = report.releases.iter().map(|of| bar(of, report.options.len())).collect();
    let title = "Options by release";
    let pictures = drawings("releases", |width, id| bar_rows::bars(&bars, (None, None), width, (id, title)));
    let key = key::fills(LOOKS.into_iter().zip(NAMES).map(|(look, name)| (fill_class(look), name)));
    let caption = "Number of options that fit each release, that have a remark, and that have to change.";
    figure("releases-figure", "answer", &key, &pictures, caption)
}

fn bar(of: &FlagsOfRelease, options: usize) -> Bar {
    let remarks: Vec<_> = (0..options).filter_map(|at| first(of, at)).collect();
    let grave = remarks.iter().filter(|remark| is_grave(**remark)).count();
    let counts = [options - remarks.len(), remarks.len() - grave, grave];
    let name = format!("JDK {}", of.release);
    let part = |((number, look), what): ((usize, usize), &str)| {
        (number as f64, fill_class(look), format!("{name}: {number} {what}"))
    };
    Bar {
        value: format!(
            "{} of {options} fit, {grave} to change; {}",
            counts[0],
            if of.starts { "it starts" } else { "it does not start" }
        ),
        parts: counts.into_iter().zip(LOOKS).zip(NAMES).map(part).collect(),
        name: name.clone(),
    }
}
