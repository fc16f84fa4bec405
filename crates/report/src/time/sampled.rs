//! What samples say of CPU time: what the kernel did, and where in the code.

use super::figures::{SAMPLES_MIN, share_with_error};
use assay_kit::document::{Block, Section};
use assay_kit::number::{count, counted, duration, percent, percent_share};
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{Estimate, SampledPart, SampledRole, ThreadRole, TimeReport, TimeSamples};
use std::cmp::Reverse;

/// How many samples there are, and how good they are.
fn quality(samples: &TimeSamples) -> String {
    let lost = match samples.lost {
        0 => "none lost".to_owned(),
        number => format!("{} lost, of any process", count(number)),
    };
    let paused = match samples.throttled {
        0 => String::new(),
        number => format!(", paused {} by the kernel", counted(number, "time", "times")),
    };
    let coverage = samples.coverage.map_or_else(String::new, |coverage| {
        format!(", {} of those that its CPU time should give", percent_share(coverage))
    });
    let few = if samples.samples < SAMPLES_MIN {
        format!("; too few for shares: a longer --for gives more than {SAMPLES_MIN}")
    } else {
        String::new()
    };
    format!(
        "{} at {} per second of CPU time{coverage}, {lost}{paused}{few}",
        counted(samples.samples, "sample", "samples"),
        samples.rate_per_s
    )
}

/// The name of a part.
fn title(part: &&SampledPart) -> String {
    match (part.activity, part.place, &part.library) {
        (Some(activity), _, _) => activity.title().to_owned(),
        (None, Some(_), Some(library)) => clean(library),
        (None, Some(place), None) => place.title().to_owned(),
        (None, None, _) => "unknown".to_owned(),
    }
}

fn role_title(role: &SampledRole) -> &'static str {
    role.role.map_or("not in these threads", ThreadRole::title)
}

/// What the kernel did and where in the code samples were taken: of the process, then of each role.
pub fn section(samples: &TimeSamples, report: &TimeReport) -> Section {
    let kernel = samples.kernel_share;
    let user = kernel.map(|share| Estimate {
        estimate: 1.0 - share.estimate,
        low: share.high.map(|high| 1.0 - high),
        high: share.low.map(|low| 1.0 - low),
    });
    let blocks = [
        Block::explanation(format!("{}.", quality(samples))),
        parts("In the kernel", &samples.kernel, kernel).into(),
        parts("In user mode", &samples.user, user).into(),
        roles(samples, report).into(),
    ];
    Section::new("samples", "What the kernel did, and where in the code", blocks).called("Kinds")
}

/// Parts of one mode, and their sum, whose share of all is `share`.
fn parts(caption: &str, parts: &[SampledPart], share: Option<Estimate>) -> Table {
    let mut table = Table::of(caption, parts)
        .words("What", title)
        .figures("CPU time", |part| duration(part.cpu_ns))
        .figures("Share", |part| share_with_error(Some(&part.share)))
        .figures("Samples", |part| count(part.samples))
        .if_room()
        .table();
    let sum = |of: fn(&SampledPart) -> u64| parts.iter().map(of).fold(0u64, u64::saturating_add);
    if !parts.is_empty() {
        table.push_total([
            Cell::from("all of it"),
            duration(sum(|part| part.cpu_ns)).into(),
            share_with_error(share.as_ref()).into(),
            count(sum(|part| part.samples)).into(),
        ]);
    }
    table
}

/// Parts of each role, those that used most first.
fn roles(samples: &TimeSamples, report: &TimeReport) -> Table {
    let mut by_role: Vec<(&SampledRole, &SampledPart)> =
        samples.roles.iter().flat_map(|role| role.parts.iter().map(move |part| (role, part))).collect();
    by_role.sort_by_key(|(_, part)| Reverse(part.cpu_ns));
    Table::of("By role", &by_role)
        .words("Role", |(role, _)| role_title(role))
        .words("Mode", |(_, part)| if part.activity.is_some() { "kernel" } else { "user" })
        .words("What", |(_, part)| title(part))
        .figures("CPU time", |(_, part)| duration(part.cpu_ns))
        .figures("Of the process", |(_, part)| percent(part.cpu_ns, report.process.cpu_ns))
        .if_room()
        .figures("Of the role", |(_, part)| share_with_error(Some(&part.share)))
        .figures("Samples", |(_, part)| count(part.samples))
        .if_room()
        .class("dense")
}
