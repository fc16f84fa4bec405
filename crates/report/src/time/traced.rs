//! What programs in the kernel say of CPU time: what the kernel did, each time measured.

use assay_kit::Table;
use assay_kit::document::{Block, Section};
use assay_kit::number::{count, counted, duration, percent, percent_share};
use assay_kit::text::clean;
use assay_model::{Certainty, ThreadRole, TimeReport, TimeTraced, TracedPart, TracedRole};
use std::cmp::Reverse;

/// What was timed, and how well that agrees with the other sources.
fn quality(traced: &TimeTraced) -> String {
    let coverage = traced.coverage.map_or_else(String::new, |coverage| {
        format!(", {} of the CPU time of the process", percent_share(coverage))
    });
    let lost = match traced.lost {
        0 => String::new(),
        number => format!("; no room for a thread {}", counted(number, "time", "times")),
    };
    let named = traced.kernel_coverage.map_or_else(String::new, |share| {
        format!(", its kernel time is {} of the sampled kernel time", percent_share(share))
    });
    format!(
        "{} timed by programs in the kernel (BPF){coverage}{lost}{named}",
        counted(traced.threads, "thread", "threads")
    )
}

fn role_title(role: &&TracedRole) -> &'static str {
    role.role.map_or("not in these threads", ThreadRole::title)
}

fn title(part: &&TracedPart) -> String {
    let inferred = if part.basis == Certainty::Inferred { ", inferred" } else { "" };
    format!("{}{inferred}", part.activity.title())
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

/// Activities of the kernel, of the process and of each role, system calls, soft interrupts, waits for a processor.
pub fn section(traced: &TimeTraced, report: &TimeReport) -> Section {
    let mut blocks = vec![
        Block::explanation(format!("{}.", quality(traced))),
        activities(traced, report).into(),
        modes(traced).into(),
        by_role(traced).into(),
        calls(traced).into(),
        softirqs(traced).into(),
    ];
    blocks.extend(delays(traced).map(|delays| Block::explanation(format!("{delays}."))));
    Section::new("calls", "What the kernel did, each time measured", blocks).called("Kernel")
}

fn activities(traced: &TimeTraced, report: &TimeReport) -> Table {
    Table::of("In the kernel, each time measured", &traced.kernel)
        .words("What", title)
        .figures("CPU time", |part| duration(part.cpu_ns))
        .figures("Of the process", |part| percent(part.cpu_ns, report.process.cpu_ns))
        .figures("Times", |part| count(part.count))
        .figures("Waits", |part| count(part.waits))
        .if_room()
        .figures("Blocked", |part| duration(part.blocked_ns))
        .if_room()
        .table()
}

fn modes(traced: &TimeTraced) -> Table {
    Table::of("User and kernel by role", &traced.roles)
        .words("Role", role_title)
        .figures("CPU time", |role| duration(role.cpu_ns))
        .figures("User", |role| percent(role.user_ns, role.cpu_ns))
        .figures("Kernel", |role| percent(role.kernel_ns, role.cpu_ns))
        .table()
}

/// Activities of each role, those that used most first.
fn by_role(traced: &TimeTraced) -> Table {
    let mut by_role: Vec<(&TracedRole, &TracedPart)> =
        traced.roles.iter().flat_map(|role| role.parts.iter().map(move |part| (role, part))).collect();
    by_role.sort_by_key(|(_, part)| Reverse(part.cpu_ns));
    Table::of("In the kernel by role", &by_role)
        .words("Role", |(role, _)| role_title(role))
        .words("What", |(_, part)| title(part))
        .figures("CPU time", |(_, part)| duration(part.cpu_ns))
        .figures("Of the role", |(role, part)| percent(part.cpu_ns, role.cpu_ns))
        .figures("Times", |(_, part)| count(part.count))
        .if_room()
        .figures("Blocked", |(_, part)| duration(part.blocked_ns))
        .if_room()
        .class("dense")
}

fn calls(traced: &TimeTraced) -> Table {
    Table::of("System calls that returned", &traced.calls)
        .words("Call", |call| clean(&call.name))
        .figures("CPU time", |call| duration(call.cpu_ns))
        .figures("Calls", |call| count(call.count))
        .figures("Waits", |call| count(call.waits))
        .figures("Blocked", |call| duration(call.blocked_ns))
        .class("dense")
}

fn softirqs(traced: &TimeTraced) -> Table {
    Table::of("Soft interrupts on the time of these threads, for any process", &traced.softirqs)
        .words("Kind", |softirq| clean(&softirq.name))
        .figures("CPU time", |softirq| duration(softirq.cpu_ns))
        .figures("Times", |softirq| count(softirq.count))
        .table()
}
