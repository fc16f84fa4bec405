//! The sentences about flags.

use crate::ab::{clause, visible};
use assay_kit::number::counted;
use assay_kit::text::clean;
use assay_model::{
    AbFigure, AbVerdict, FlagGroup, JudgeReport, JudgedFlag, JudgedPart, JudgedPartKind, NotMeasured,
    NotMeasuredReason, OptionRemark,
};

/// Remarks that are said before the figures, in this order, and what is said of their flags.
const IDLE: [(OptionRemark, &str); 5] = [
    (OptionRemark::AlreadyDefault, "default already"),
    (OptionRemark::Ignored, "gone, and ignored"),
    (OptionRemark::NoEffect, "of a collector that is not in use"),
    (OptionRemark::Overridden, "overridden by a later option"),
    (OptionRemark::OtherRelease, "for other releases"),
];

/// What the whole set does, or that it does nothing that would have been visible.
pub fn answer(report: &JudgeReport) -> String {
    let Some(whole) = report.parts.first() else { return "Nothing was measured.".to_owned() };
    let subject = match report.flags.len() {
        1 => "The flag".to_owned(),
        several => format!("The {several} flags together"),
    };
    if let Some(why) = &whole.not_measured {
        return format!("{subject}: {}.", unmeasured(why));
    }
    let shown: Vec<String> = shown(whole).filter_map(clause).collect();
    if whole.figures.iter().all(|figure| figure.verdict == AbVerdict::Undecided) {
        return format!("Nothing can be said of the {}: no figure has an interval.", counted_flags(report));
    }
    if shown.is_empty() {
        let verb = if report.flags.len() == 1 { "does" } else { "do" };
        return format!("{subject} {verb} nothing that is shown.{}", visible(&whole.figures));
    }
    let beyond = whole.figures.iter().any(|figure| figure.verdict == AbVerdict::Worse);
    let beyond = if beyond {
        format!(" That is beyond the limit of {} %, and fresh pairs alone say so, too.", report.limit_percent)
    } else {
        String::new()
    };
    // The clauses are of one thing: it allocates, uses, takes.
    format!("With the {}, the server {}.{beyond}", counted_flags(report), shown.join(", and "))
}

fn counted_flags(report: &JudgeReport) -> String {
    match report.flags.len() {
        1 => "flag".to_owned(),
        several => format!("{several} flags"),
    }
}

/// Figures that differ, what is worse first.
fn shown(part: &JudgedPart) -> impl Iterator<Item = &AbFigure> {
    use AbVerdict::{Better, Unconfirmed, Worse, WorseWithinLimit};
    let with = |wanted: AbVerdict| part.figures.iter().filter(move |figure| figure.verdict == wanted);
    [Worse, Unconfirmed, WorseWithinLimit, Better].into_iter().flat_map(with)
}

/// What a part does, in a cell.
pub fn effect(part: &JudgedPart) -> String {
    if let Some(why) = &part.not_measured {
        return unmeasured(why);
    }
    let shown: Vec<String> = shown(part).filter_map(clause).collect();
    match shown.is_empty() {
        true if part.figures.iter().all(|figure| figure.verdict == AbVerdict::Undecided) => {
            "cannot be said: too few pairs".to_owned()
        }
        true => "nothing that is shown".to_owned(),
        false => shown.join(", and "),
    }
}

/// Why a part was not measured.
pub fn unmeasured(why: &NotMeasured) -> String {
    let detail = clean(&why.detail);
    match why.reason {
        NotMeasuredReason::NoTime => "no time was left".to_owned(),
        NotMeasuredReason::SameOptions => "nothing: without it the JVM takes the same here".to_owned(),
        NotMeasuredReason::DoesNotStart => format!("no JVM starts without it: {detail}"),
        NotMeasuredReason::Stopped => "stopped by Ctrl-C".to_owned(),
        NotMeasuredReason::Failed | NotMeasuredReason::Other => format!("not measured: {detail}"),
    }
}

/// Whether no time was left for a part.
pub fn has_no_time(part: &JudgedPart) -> bool {
    part.not_measured.as_ref().is_some_and(|why| why.reason == NotMeasuredReason::NoTime)
}

/// Name of a part; of a group of one flag that acts with the flag.
pub fn name(report: &JudgeReport, part: &JudgedPart) -> String {
    let acting: Vec<&JudgedFlag> =
        part.flags.iter().filter_map(|at| report.flags.get(*at)).filter(|flag| !flag.is_idle).collect();
    match (part.kind, &acting[..]) {
        (JudgedPartKind::Group, [flag]) => clean(&flag.text),
        (JudgedPartKind::Group, several) => {
            format!("{} ({})", clean(&part.name), counted(several.len() as u64, "flag", "flags"))
        }
        _ => clean(&part.name),
    }
}

/// Lines of what costs no trial: flags by the remark for which they do nothing, and those that only unlock others.
pub fn idle_lines(report: &JudgeReport) -> Vec<String> {
    let release = report.jvm.as_ref().map_or_else(String::new, |jvm| format!(" in JDK {}", jvm.feature));
    let of = |label: &str, release: &str, is_of: &dyn Fn(&JudgedFlag) -> bool| {
        let texts: Vec<String> =
            report.flags.iter().filter(|flag| is_of(flag)).map(|flag| clean(&flag.text)).collect();
        (!texts.is_empty()).then(|| format!("{label}{release}: {}", texts.join(" ")))
    };
    let by_remark = IDLE.iter().filter_map(|(remark, label)| {
        of(label, &release, &|flag| flag.remark == Some(*remark) && flag.group != FlagGroup::Unlock)
    });
    let unlocking = of("only unlocks others", "", &|flag| flag.group == FlagGroup::Unlock);
    by_remark.chain(unlocking).collect()
}

/// What had no time, and that more would help.
pub fn without_time(report: &JudgeReport) -> Option<String> {
    let names: Vec<String> =
        report.parts.iter().filter(|part| has_no_time(part)).map(|part| name(report, part)).collect();
    let measured = report.parts.iter().filter(|part| part.run.is_some()).count().max(1);
    let needed_min = report.took_s / measured as f64 * report.parts.len() as f64 / 60.0;
    (!names.is_empty()).then(|| {
        format!(
            "No time was left for {}: {}. All {} comparisons take about {} min at this pace.",
            counted(names.len() as u64, "part", "parts"),
            names.join(" "),
            report.parts.len(),
            needed_min.ceil()
        )
    })
}
