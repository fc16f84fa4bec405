//! What releases make of options, as a document.

use super::remarks::{self, first, is_grave, not_judged, releases};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Answer, Document, Figure, Section};
use assay_kit::key;
use assay_kit::number::counted;
use assay_kit::page::drawings;
use assay_kit::stack::fill_class;
use assay_kit::text::clean;
use assay_model::{FlagsOfRelease, FlagsReport};

/// Fills of options that fit, that have a remark, and that have to change.
const LOOKS: [usize; 3] = [2, 11, 9];
const NAMES: [&str; 3] = ["fit", "have a remark", "have to change"];

/// Which releases have all of the options, and why others do not.
pub fn document(report: &FlagsReport) -> Document {
    let answer = Answer {
        sentence: headline(report),
        action: next_step(report),
        chart: Some(chart(report)),
        ..Answer::default()
    };
    let mut why = vec![remarks::reasons_table(report).into()];
    if report.releases.iter().any(|of| of.refusal.is_some()) {
        why.push(remarks::refusals(report).into());
    }
    let sections = [
        Section::new("options", "Options by release", [remarks::matrix(report).into()]).called("Options"),
        Section::new("why", "Why", why),
        Section::new("sources", "Where this comes from", [remarks::sources(report).into()]).called("Sources"),
    ];
    Document {
        lines: vec![subject(report).into()],
        sections: sections.into(),
        ..Document::new("What JVM releases make of options, by Assay", "JVM options by release", answer)
    }
}

/// How many options, and whose.
fn subject(report: &FlagsReport) -> String {
    let of = match (&report.pid, &report.file) {
        (Some(pid), _) => format!(" of JVM {pid}"),
        (None, Some(file)) => format!(" of {}", clean(file)),
        (None, None) => String::new(),
    };
    format!("{}{of}", counted(report.options.len() as u64, "option", "options"))
}

/// On which releases a JVM starts with all of the options, and on which that is not known.
fn headline(report: &FlagsReport) -> String {
    let of = |starts: Option<bool>| -> Vec<u32> {
        report.releases.iter().filter(|of| of.starts == starts).map(|of| of.release).collect()
    };
    let known = match (&of(Some(true))[..], &of(Some(false))[..]) {
        ([], []) => String::new(),
        (all, []) => format!("A JVM starts with all of these options on JDK {}.", releases(all)),
        ([], none) => format!("No JVM starts with all of these options on JDK {}.", releases(none)),
        (some, none) => format!(
            "A JVM starts with all of these options on JDK {}, and does not on JDK {}.",
            releases(some),
            releases(none)
        ),
    };
    let open = of(None);
    let not_judged = report.releases.iter().filter(|of| of.starts.is_none()).map(not_judged).max();
    match not_judged {
        None if known.is_empty() => "No release was asked.".to_owned(),
        None => known,
        Some(count) => format!(
            "{known} Whether one starts on JDK {} is not known: {} of {} not judged.",
            releases(&open),
            count,
            counted(report.options.len() as u64, "option was", "options were")
        )
        .trim_start()
        .to_owned(),
    }
}

/// The first option that has to change, of the releases on which no JVM starts before the others.
fn next_step(report: &FlagsReport) -> String {
    let mut of: Vec<&FlagsOfRelease> = report.releases.iter().collect();
    of.sort_by_key(|of| of.starts != Some(false));
    let grave = of.iter().flat_map(|of| of.remarks.iter().map(move |remark| (of.release, remark)));
    let Some((release, remark)) = grave.into_iter().find(|(_, remark)| is_grave(remark.remark)) else {
        let is_refused = report.releases.iter().any(|of| of.starts == Some(false));
        return if is_refused {
            "→ Read what the JVM wrote: no option alone keeps it from starting."
        } else {
            "No option has to change."
        }
        .to_owned();
    };
    let option = report.options.get(remark.option).map_or_else(String::new, |option| clean(option));
    let instead = remark.instead.as_deref().map(|instead| format!(": {}", clean(instead)));
    format!("→ Begin with {option}, {} on JDK {release}{}.", remark.remark, instead.unwrap_or_default())
}

/// Options of each release by what it makes of them.
fn chart(report: &FlagsReport) -> Figure {
    let (anchor, name) = ("releases-figure", "options by release");
    if report.releases.is_empty() || report.options.is_empty() {
        return Figure::absent(anchor, name, "no option was looked up");
    }
    let bars: Vec<Bar> = report.releases.iter().map(|of| bar(of, report.options.len())).collect();
    let pictures = drawings("releases", |width, id| {
        bar_rows::bars(&bars, (None, None), width, (id, "Options by release"))
    });
    Figure::new(anchor, name, pictures)
        .key(key::fills(LOOKS.into_iter().zip(NAMES).map(|(look, name)| (fill_class(look), name))))
        .caption("Number of options that fit each release, that have a remark, and that have to change.")
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
            "{} of {options} fit, {grave} to change. {}",
            counts[0],
            match of.starts {
                Some(true) => "it starts",
                Some(false) => "it does not start",
                None => "whether it starts is not known",
            }
        ),
        parts: counts.into_iter().zip(LOOKS).zip(NAMES).map(part).collect(),
        name: name.clone(),
    }
}
