//! What releases make of options, in words and tables that terminal, page and Markdown share.

use assay_kit::Table;
use assay_kit::number::counted;
use assay_kit::text::clean;
use assay_model::{Certainty, FlagsOfRelease, FlagsReport, OptionRemark};

/// How many options, and whose.
pub fn subject(report: &FlagsReport) -> String {
    let of = report.pid.map_or_else(String::new, |pid| format!(" of JVM {pid}"));
    format!("{}{of}", counted(report.options.len() as u64, "option", "options"))
}

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
            | OptionRemark::Malformed
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

fn releases(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<String>>().join(", ")
}

/// On which releases a JVM starts with all of the options.
pub fn headline(report: &FlagsReport) -> String {
    let of = |starts: bool| -> Vec<u32> {
        report.releases.iter().filter(|of| of.starts == starts).map(|of| of.release).collect()
    };
    match (&of(true)[..], &of(false)[..]) {
        ([], []) => "No release was asked.".to_owned(),
        (all, []) => format!("A JVM starts with all of these options on JDK {}.", releases(all)),
        ([], none) => format!("No JVM starts with all of these options on JDK {}.", releases(none)),
        (some, none) => format!(
            "A JVM starts with all of these options on JDK {}, and does not on JDK {}.",
            releases(some),
            releases(none)
        ),
    }
}

/// The first option that has to change, of the releases on which no JVM starts before the others.
pub fn next_step(report: &FlagsReport) -> String {
    let mut of: Vec<&FlagsOfRelease> = report.releases.iter().collect();
    of.sort_by_key(|of| of.starts);
    let grave = of.iter().flat_map(|of| of.remarks.iter().map(move |remark| (of.release, remark)));
    let Some((release, remark)) = grave.into_iter().find(|(_, remark)| is_grave(remark.remark)) else {
        return "No option has to change.".to_owned();
    };
    let option = report.options.get(remark.option).map_or_else(String::new, |option| clean(option));
    let instead = remark.instead.as_deref().map(|instead| format!(": {}", clean(instead)));
    format!("→ Begin with {option}, {} on JDK {release}{}.", remark.remark, instead.unwrap_or_default())
}

/// A column for each release, and whether a JVM starts.
pub fn matrix(report: &FlagsReport) -> Table {
    let mut rows = Table::of("What each release makes of the options", report.options.iter().enumerate())
        .words("Option", |(_, text)| clean(text));
    for of in &report.releases {
        rows = rows.words(format!("JDK {}", of.release), |(at, _)| {
            first(of, *at).map_or("fits", OptionRemark::word).to_owned()
        });
    }
    let mut table = rows.table();
    let starts = report.releases.iter().map(|of| if of.starts { "starts" } else { "fails" }.to_owned());
    table.push(["a JVM with all of them".to_owned()].into_iter().chain(starts));
    table
}

/// Why, for every option that there is something to say of.
pub fn why(report: &FlagsReport) -> Table {
    let options = report.options.iter().enumerate();
    let rows = options.flat_map(|(at, option)| reasons(report, at).into_iter().map(move |r| (option, r)));
    Table::of("Remarks on the options", rows)
        .words("Option", |(option, _)| clean(option))
        .words("JDK", |(_, (numbers, _))| releases(numbers))
        .words("Remark", |(_, (_, text))| text.clone())
        .table()
}

/// Which JVM or table said so.
pub fn sources(report: &FlagsReport) -> Table {
    Table::of("Versions that were asked", &report.releases)
        .words("JDK", |of| of.release.to_string())
        .words("Version", |of| clean(&of.version))
        .words("Source", |of| of.home.as_deref().map_or("the table of Assay".to_owned(), clean))
        .table()
}
