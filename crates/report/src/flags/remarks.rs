//! Remarks of releases on options: the matrix, the reasons, and where they come from.

use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{Certainty, FlagsOfRelease, FlagsReport, OptionRemark};

/// The gravest remark on an option.
pub fn first(of: &FlagsOfRelease, at: usize) -> Option<OptionRemark> {
    of.remarks.iter().find(|remark| remark.option == at).map(|remark| remark.remark)
}

/// Whether a remark is a reason to change an option.
pub const fn is_grave(remark: OptionRemark) -> bool {
    matches!(
        remark,
        OptionRemark::Unrecognized
            | OptionRemark::Locked
            | OptionRemark::Conflict
            | OptionRemark::Malformed
            | OptionRemark::OutOfRange
            | OptionRemark::OtherJvm
            | OptionRemark::Refused
            | OptionRemark::Ignored
            | OptionRemark::Deprecated
    )
}

/// The remarks on an option, each with the releases that it applies to.
pub fn reasons(report: &FlagsReport, at: usize) -> Vec<(Vec<u32>, String)> {
    let mut reasons: Vec<(Vec<u32>, String)> = Vec::new();
    for of in &report.releases {
        for remark in of.remarks.iter().filter(|remark| remark.option == at) {
            let inferred = if remark.certainty == Certainty::Inferred { " (inferred)" } else { "" };
            let instead =
                remark.instead.as_deref().map(|instead| format!(" → {}", clean(instead))).unwrap_or_default();
            // Releases that say the same, but for their own number.
            let why = clean(&remark.why).replace(&format!("JDK {}", of.release), "this release");
            let text = format!("{}: {why}{inferred}{instead}", remark.remark);
            match reasons.iter_mut().find(|(_, known)| *known == text) {
                Some((releases, _)) => releases.push(of.release),
                None => reasons.push((vec![of.release], text)),
            }
        }
    }
    reasons
}

/// Releases in words.
pub fn releases(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<String>>().join(", ")
}

/// Whether a JVM starts, in a word.
fn starts_word(of: &FlagsOfRelease) -> &'static str {
    match of.starts {
        Some(true) => "starts",
        Some(false) => "fails",
        None => "not known",
    }
}

/// The options of which a release makes nobody knows what.
pub fn not_judged(of: &FlagsOfRelease) -> usize {
    of.remarks.iter().filter(|remark| remark.remark == OptionRemark::NotJudged).count()
}

/// A column for each release, and whether a JVM starts.
pub fn matrix(report: &FlagsReport) -> Table {
    let mut rows = Table::of("What each release makes of the options", report.options.iter().enumerate())
        .words("Option", |(_, text)| clean(text));
    for of in &report.releases {
        rows = rows.words(format!("JDK {}", of.release), |(at, _)| {
            let remark = first(of, *at);
            let look = match remark {
                None => Look::Good,
                Some(remark) if is_grave(remark) => Look::Bad,
                Some(_) => Look::Dim,
            };
            Cell::looks(remark.map_or("fits", OptionRemark::word), look)
        });
    }
    let mut table = rows.table();
    let starts = report.releases.iter().map(|of| starts_word(of));
    table.push_total(["a JVM with all of them"].into_iter().chain(starts));
    table
}

/// Why, for every option that there is something to say of.
pub fn reasons_table(report: &FlagsReport) -> Table {
    let options = report.options.iter().enumerate();
    let rows = options.flat_map(|(at, option)| reasons(report, at).into_iter().map(move |r| (option, r)));
    Table::of("Remarks on the options", rows)
        .words("Option", |(option, _)| clean(option))
        .words("JDK", |(_, (numbers, _))| releases(numbers))
        .words("Remark", |(_, (_, text))| text.clone())
        .table()
}

/// What JVMs wrote that did not start.
pub fn refusals(report: &FlagsReport) -> Table {
    let refused = report.releases.iter().filter_map(|of| Some((of.release, of.refusal.as_deref()?)));
    Table::of("What the JVMs wrote that did not start", refused)
        .words("JDK", |(release, _)| release.to_string())
        .words("Text", |(_, text)| clean(text))
        .table()
}

/// Which JVM or table said so.
pub fn sources(report: &FlagsReport) -> Table {
    Table::of("Versions that were asked", &report.releases)
        .words("JDK", |of| of.release.to_string())
        .words("Version", |of| clean(&of.version))
        .words("Source", |of| match (of.home.as_deref().map(clean), of.tried) {
            (Some(home), true) => format!("{home}, started with the options"),
            (Some(home), false) => format!("{home}, its list of flags"),
            (None, _) => "the table of Assay".to_owned(),
        })
        .table()
}
