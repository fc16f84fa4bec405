//! What samples say of CPU time: for the terminal, and as tables of the page.

use super::words::share_with_error;
use assay_kit::ink::{Ink, fit};
use assay_kit::number::{count, counted, duration, percent, percent_share};
use assay_kit::text::clean;
use assay_kit::{Table, Terminal};
use assay_model::{Estimate, SampledPart, SampledRole, ThreadRole, TimeReport, TimeSamples};

const TIME: usize = 10;
const SHARE: usize = 16;
/// Parts of a role in its line.
const PARTS_IN_LINE: usize = 4;
/// What is less is not worth a line of the terminal; the page has it.
const SHARE_MIN: f64 = 0.002;

/// How many samples there are, and how good they are.
pub fn quality(samples: &TimeSamples) -> String {
    let lost = match samples.lost {
        0 => "none lost".to_owned(),
        number => format!("{} lost, of whatever process", count(number)),
    };
    let paused = match samples.throttled {
        0 => String::new(),
        number => format!(", paused {} by the kernel", counted(number, "time", "times")),
    };
    let coverage = samples.coverage.map_or_else(String::new, |coverage| {
        format!(", {} of those that its CPU time should give", percent_share(coverage))
    });
    format!(
        "{} at {} a second of CPU time{coverage}; {lost}{paused}",
        counted(samples.samples, "sample", "samples"),
        samples.rate_per_s
    )
}

/// What a part is called.
pub fn title(part: &SampledPart) -> String {
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

/// The lines of the terminal: the process as a whole, then each role.
pub fn tree(out: &mut Terminal, report: &TimeReport) {
    let Some(samples) = &report.samples else { return };
    out.heading("What the kernel did, and where in the code");
    out.paragraph(2, &format!("{}.", quality(samples)), Ink::dim);
    let name = (out.width.saturating_sub(TIME + SHARE)).min(46);
    let whole = samples.kernel_share;
    let user = whole.map(|share| Estimate {
        estimate: 1.0 - share.estimate,
        low: share.high.map(|high| 1.0 - high),
        high: share.low.map(|low| 1.0 - low),
    });
    for (mode, parts, share) in
        [("in the kernel", &samples.kernel, whole), ("in user mode", &samples.user, user)]
    {
        let sum = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.cpu_ns));
        let line = |title: &str, ns: u64, share: Option<&Estimate>| {
            format!("{}{:>TIME$}{:>SHARE$}", fit(title, name), duration(ns), share_with_error(share))
        };
        out.line(&out.ink.bold(&line(&format!("  {mode}"), sum, share.as_ref())));
        for part in parts.iter().filter(|part| SHARE_MIN <= part.share.estimate) {
            out.line(&line(&format!("    {}", title(part)), part.cpu_ns, Some(&part.share)));
        }
    }
    for role in samples.roles.iter().filter(|role| !role.parts.is_empty()) {
        let most: Vec<String> = role
            .parts
            .iter()
            .take(PARTS_IN_LINE)
            .map(|part| format!("{} {}", title(part), percent(part.samples, role.samples)))
            .collect();
        out.paragraph(2, &format!("{}: {}", role_title(role), most.join(", ")), Ink::plain);
    }
}

/// The tables of the page.
pub fn tables(samples: &TimeSamples, report: &TimeReport) -> String {
    let parts = |caption: &str, parts: &[SampledPart]| {
        let table = Table::of(caption, parts)
            .words("What", |part| title(part))
            .figures("CPU time", |part| duration(part.cpu_ns))
            .figures("Share", |part| share_with_error(Some(&part.share)))
            .figures("Samples", |part| count(part.samples));
        table.table().unless_empty().map_or_else(String::new, |table| table.html())
    };
    let by_role: Vec<(&SampledRole, &SampledPart)> =
        samples.roles.iter().flat_map(|role| role.parts.iter().map(move |part| (role, part))).collect();
    let roles = Table::of("By role", &by_role)
        .words("Role", |(role, _)| role_title(role).to_owned())
        .words("Mode", |(_, part)| if part.activity.is_some() { "kernel" } else { "user" }.to_owned())
        .words("What", |(_, part)| title(part))
        .figures("CPU time", |(_, part)| duration(part.cpu_ns))
        .figures("Of the process", |(_, part)| percent(part.cpu_ns, report.process.cpu_ns))
        .figures("Of the role", |(_, part)| share_with_error(Some(&part.share)))
        .figures("Samples", |(_, part)| count(part.samples))
        .class("dense");
    format!("<p class=\"how\">{}.</p>", quality(samples))
        + &parts("In the kernel", &samples.kernel)
        + &parts("In user mode", &samples.user)
        + &roles.html()
}
