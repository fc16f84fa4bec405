//! What programs in the kernel say of CPU time: for the terminal, and as tables of the page.

use assay_kit::ink::{Ink, fit};
use assay_kit::number::{count, counted, duration, percent, percent_share};
use assay_kit::text::clean;
use assay_kit::{Table, Terminal};
use assay_model::{Certainty, ThreadRole, TimeReport, TimeTraced, TracedPart, TracedRole};

const TIME: usize = 10;
const SHARE: usize = 8;
const COUNT: usize = 14;
/// Calls that the terminal lists.
const CALLS_LISTED: usize = 8;
/// Parts of a role in its line.
const PARTS_IN_LINE: usize = 4;
/// What is less is not worth a line of the terminal; the page has it.
const SHARE_MIN: f64 = 0.002;

/// What was seen, and how well that agrees with the other sources.
fn quality(traced: &TimeTraced) -> String {
    let coverage = traced.coverage.map_or_else(String::new, |coverage| {
        format!(", {} of the CPU time of the process", percent_share(coverage))
    });
    let lost = match traced.lost {
        0 => String::new(),
        number => format!("; no room for a thread {}", counted(number, "time", "times")),
    };
    let named = traced.kernel_coverage.map_or_else(String::new, |share| {
        format!("; its kernel time is {} of what the samples give", percent_share(share))
    });
    format!(
        "{} timed by programs in the kernel (BPF){coverage}{lost}{named}",
        counted(traced.threads, "thread", "threads")
    )
}

fn role_title(role: &TracedRole) -> &'static str {
    role.role.map_or("not in these threads", ThreadRole::title)
}

fn title(part: &TracedPart) -> String {
    let inferred = if part.basis == Certainty::Inferred { ", inferred" } else { "" };
    format!("{}{inferred}", part.activity.title())
}

fn waits_of(waits: u64, blocked_ns: u64) -> String {
    if (waits, blocked_ns) == (0, 0) { String::new() } else { duration(blocked_ns) }
}

/// The waiting times for a processor that half of all and 99 of 100 were shorter than.
fn delays(traced: &TimeTraced) -> Option<String> {
    let all: u64 = traced.run_delays.iter().map(|row| row.count).sum();
    let below = |part: u64| {
        let mut sum = 0u64;
        let row = traced.run_delays.iter().find(|row| {
            sum = sum.saturating_add(row.count);
            all.saturating_mul(part) <= sum.saturating_mul(100)
        });
        row.map(|row| duration(row.below_us.saturating_mul(1000)))
    };
    (all != 0).then_some(())?;
    Some(format!(
        "{}: half shorter than {}, 99 % shorter than {}",
        counted(all, "wait for a processor", "waits for a processor"),
        below(50)?,
        below(99)?
    ))
}

/// The lines of the terminal.
pub fn tree(out: &mut Terminal, report: &TimeReport) {
    let Some(traced) = &report.traced else { return };
    out.heading("What the kernel did, each time measured");
    out.paragraph(2, &format!("{}.", quality(traced)), Ink::dim);
    let name = (out.width.saturating_sub(2 * TIME + SHARE + COUNT)).min(40);
    let heading = format!(
        "{}{:>TIME$}{:>SHARE$}{:>COUNT$}{:>TIME$}",
        fit("", name),
        "CPU time",
        "share",
        "times",
        "blocked"
    );
    out.line(&out.ink.dim(&heading));
    let line = |title: &str, ns: u64, number: u64, blocked: &str| {
        let share = percent(ns, traced.cpu_ns);
        format!(
            "{}{:>TIME$}{share:>SHARE$}{:>COUNT$}{blocked:>TIME$}",
            fit(title, name),
            duration(ns),
            count(number)
        )
    };
    let calls: u64 = traced.roles.iter().map(|role| role.calls).sum();
    out.line(&out.ink.bold(&line("  in the kernel", traced.kernel_ns, calls, "")));
    let is_worth = |part: &&TracedPart| SHARE_MIN * traced.cpu_ns as f64 <= part.cpu_ns as f64;
    for part in traced.kernel.iter().filter(is_worth) {
        let blocked = waits_of(part.waits, part.blocked_ns);
        out.line(&line(&format!("    {}", title(part)), part.cpu_ns, part.count, &blocked));
    }
    for role in traced.roles.iter().filter(|role| SHARE_MIN * traced.cpu_ns as f64 <= role.cpu_ns as f64) {
        let most = role.parts.iter().take(PARTS_IN_LINE);
        let parts: Vec<String> = most
            .map(|part| format!("{} {}", part.activity.title(), percent(part.cpu_ns, role.cpu_ns)))
            .collect();
        let text = format!(
            "{}: user {}, kernel {}: {}",
            role_title(role),
            percent(role.user_ns, role.cpu_ns),
            percent(role.kernel_ns, role.cpu_ns),
            parts.join(", ")
        );
        out.paragraph(2, &text, Ink::plain);
    }
    let calls: Vec<String> = traced
        .calls
        .iter()
        .take(CALLS_LISTED)
        .map(|call| format!("{} {} in {}", clean(&call.name), duration(call.cpu_ns), count(call.count)))
        .collect();
    out.paragraph(2, &format!("System calls: {}", calls.join(", ")), Ink::plain);
    if let Some(delays) = delays(traced) {
        out.paragraph(2, &delays, Ink::plain);
    }
}

/// The tables of the page.
pub fn tables(traced: &TimeTraced, report: &TimeReport) -> String {
    let by_role: Vec<(&TracedRole, &TracedPart)> =
        traced.roles.iter().flat_map(|role| role.parts.iter().map(move |part| (role, part))).collect();
    let all = Table::of("In the kernel, each time measured", &traced.kernel)
        .words("What", |part| title(part))
        .figures("CPU time", |part| duration(part.cpu_ns))
        .figures("Of the process", |part| percent(part.cpu_ns, report.process.cpu_ns))
        .figures("Times", |part| count(part.count))
        .figures("Waits", |part| count(part.waits))
        .figures("Blocked", |part| duration(part.blocked_ns));
    let roles = Table::of("In the kernel by role", &by_role)
        .words("Role", |(role, _)| role_title(role).to_owned())
        .words("What", |(_, part)| title(part))
        .figures("CPU time", |(_, part)| duration(part.cpu_ns))
        .figures("Of the role", |(role, part)| percent(part.cpu_ns, role.cpu_ns))
        .figures("Times", |(_, part)| count(part.count))
        .figures("Blocked", |(_, part)| duration(part.blocked_ns))
        .class("dense");
    let calls = Table::of("System calls that returned", &traced.calls)
        .words("Call", |call| clean(&call.name))
        .figures("CPU time", |call| duration(call.cpu_ns))
        .figures("Calls", |call| count(call.count))
        .figures("Waits", |call| count(call.waits))
        .figures("Blocked", |call| duration(call.blocked_ns))
        .class("dense");
    let softirqs =
        Table::of("Soft interrupts on the time of these threads, whoever they were for", &traced.softirqs)
            .words("Kind", |softirq| clean(&softirq.name))
            .figures("CPU time", |softirq| duration(softirq.cpu_ns))
            .figures("Times", |softirq| count(softirq.count));
    let waits = delays(traced).map_or_else(String::new, |text| format!("<p class=\"how\">{text}.</p>"));
    let softirqs = softirqs.table().unless_empty().map_or_else(String::new, |table| table.html());
    format!("<p class=\"how\">{}.</p>", quality(traced))
        + &all.table().html()
        + &roles.html()
        + &calls.html()
        + &softirqs
        + &waits
}
