//! CPU time by role of the threads, and by their names.

use super::figures::{each, rate, share_with_error};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::{Figure, Shown};
use assay_kit::number::{count, duration, percent};
use assay_kit::page::drawings;
use assay_kit::stack::fill_class;
use assay_kit::text::clean;
use assay_kit::{Cell, Table, key};
use assay_model::{RoleTime, ThreadTime, TimeGroup, TimeReport, TimeSums};
use std::cmp::Reverse;

/// Fills of user time, kernel time, and what is not split.
const LOOKS: [usize; 3] = [0, 1, 7];
const NAMES: [&str; 3] = ["user", "kernel", "not known which"];

/// A bar for each role; other forms have the tree of roles and names in its place.
pub fn chart(report: &TimeReport) -> Figure {
    let bar = |role: &RoleTime| {
        let sums = &role.sums;
        let (user, kernel) = (sums.user_ns.unwrap_or(0), sums.kernel_ns.unwrap_or(0));
        let lengths = [user, kernel, sums.cpu_ns.saturating_sub(user + kernel)];
        let parts = lengths.into_iter().zip(LOOKS).zip(NAMES).map(|((ns, look), name)| {
            (ns as f64 / 1e9, fill_class(look), format!("{}, {name}: {}", role.role.title(), duration(ns)))
        });
        let value = format!("{}, {}", duration(sums.cpu_ns), percent(sums.cpu_ns, report.process.cpu_ns));
        Bar { name: role.role.title().to_owned(), value, parts: parts.collect() }
    };
    let bars: Vec<Bar> = report.roles.iter().filter(|role| is_drawn(role, report)).map(bar).collect();
    let pictures = drawings("roles-bars", |width, id| {
        bar_rows::bars(&bars, (Some("CPU time, s"), None), width, (id, "CPU time by role"))
    });
    Figure::new("roles-figure", "CPU time by role", pictures)
        .key(key::fills(LOOKS.into_iter().zip(NAMES).map(|(look, name)| (fill_class(look), name))))
        .caption("CPU time by role, divided into user and kernel as far as the kernel's samples allow.")
        .behind([tree(report)], Shown::OtherForms)
}

/// Roles of less than a thousandth are in the tables alone.
fn is_drawn(role: &RoleTime, report: &TimeReport) -> bool {
    role.sums.cpu_ns != 0 && report.process.cpu_ns / 1_000 <= role.sums.cpu_ns
}

/// A role, the threads of a name below it, or what is in no thread.
struct Part<'a> {
    path: Vec<String>,
    /// Absent of what is in no thread.
    sums: Option<&'a TimeSums>,
    /// Its number in the order of CPU time, among the names.
    rank: usize,
}

impl Part<'_> {
    fn cpu_ns(&self) -> u64 {
        self.sums.map_or(0, |sums| sums.cpu_ns)
    }
}

fn parts(report: &TimeReport) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for role in &report.roles {
        let title = || role.role.title().to_owned();
        parts.push(Part { path: vec![title()], sums: Some(&role.sums), rank: 0 });
        let groups = report.groups.iter().filter(|group| group.role == role.role && group.sums.cpu_ns != 0);
        parts.extend(groups.map(|group| {
            let path = vec![title(), name_and_number(group)];
            Part { path, sums: Some(&group.sums), rank: 0 }
        }));
    }
    let mut names: Vec<&mut Part> = parts.iter_mut().filter(|part| part.path.len() == 2).collect();
    names.sort_by_key(|part| Reverse(part.cpu_ns()));
    names.into_iter().enumerate().for_each(|(rank, part)| part.rank = rank);
    parts.push(Part { path: vec!["not in these threads".to_owned()], sums: None, rank: 0 });
    parts
}

/// Roles, the names of threads below them, and what is in no thread: they add up to the process.
fn tree(report: &TimeReport) -> Table {
    let all_ns = report.process.cpu_ns;
    let sign = if report.difference_ns < 0 { "-" } else { "" };
    let difference_ns = report.difference_ns.unsigned_abs();
    let time = |part: &Part| match part.sums {
        Some(sums) => duration(sums.cpu_ns),
        None => format!("{sign}{}", duration(difference_ns)),
    };
    let share = |part: &Part| match part.sums {
        Some(sums) => percent(sums.cpu_ns, all_ns),
        None => format!("{sign}{}", percent(difference_ns, all_ns)),
    };
    let of = |part: &Part, number: fn(&TimeSums) -> Option<u64>| Some(rate(number(part.sums?)?, report));
    let table = Table::of("CPU time by role and by name of the threads", parts(report))
        .words("Role, threads", |part| Cell::Path(part.path.clone()))
        .figures("CPU time", time)
        .figures("Share", share)
        .figures("In the kernel", |part| share_with_error(part.sums?.kernel_share.as_ref()));
    let table = match report.requests {
        Some(requests) => {
            table.figures("For each request", move |part| each(part.sums?.cpu_ns, requests)).if_room()
        }
        None => table,
    };
    table
        .figures("Waited for a processor", |part| part.sums?.run_delay_ns.map(duration))
        .if_room()
        .figures("Switches", |part| of(part, |sums| sums.voluntary_switches))
        .if_room()
        .figures("Forced", |part| of(part, |sums| sums.involuntary_switches))
        .if_room()
        .figures("Faults", |part| of(part, |sums| Some(sums.minor_faults)))
        .page_only()
        .figures("From disk", |part| of(part, |sums| Some(sums.major_faults)))
        .page_only()
        .tree(|part| (part.rank, part.cpu_ns()), duration)
        .table()
}

/// Every group of threads, with all its figures.
pub fn groups(report: &TimeReport) -> Table {
    let table = Table::of("Threads by role and name", &report.groups)
        .words("Name", |group| name_of_group(group))
        .words("Role", |group| group.role.title())
        .figures("Threads", |group| count(group.sums.threads))
        .figures("CPU time", |group| duration(group.sums.cpu_ns))
        .figures("Share", |group| percent(group.sums.cpu_ns, report.process.cpu_ns))
        .figures("In the kernel", |group| share_with_error(group.sums.kernel_share.as_ref()));
    let table = match report.requests {
        Some(requests) => table.figures("For each request", move |group| each(group.sums.cpu_ns, requests)),
        None => table,
    };
    let of = |number: Option<u64>| number.map(|number| rate(number, report));
    table
        .figures("Waited for a processor", |group| group.sums.run_delay_ns.map(duration))
        .figures("Switches", |group| of(group.sums.voluntary_switches))
        .figures("Forced", |group| of(group.sums.involuntary_switches))
        .figures("Faults", |group| rate(group.sums.minor_faults, report))
        .figures("From disk", |group| rate(group.sums.major_faults, report))
        .folded(|group| group.sums.cpu_ns < report.process.cpu_ns / 1_000)
        .class("dense")
}

/// The busiest threads.
pub fn threads(report: &TimeReport) -> Table {
    Table::of("The threads that used most CPU time", &report.threads)
        .words("Name", |thread| name_of_thread(thread))
        .words("Role", |thread| thread.role.title())
        .figures("Thread id", |thread| thread.tid.to_string())
        .figures("CPU time", |thread| duration(thread.cpu_ns))
        .figures("Waited for a processor", |thread| thread.run_delay_ns.map(duration))
        .if_room()
        .words("State", |thread| if thread.has_ended { "ended" } else { "" })
        .if_room()
        .table()
}

/// The name of threads that share one, and how many there are where they are several.
fn name_and_number(group: &TimeGroup) -> String {
    match group.sums.threads {
        1 => name_of_group(group),
        number => format!("{} ×{}", name_of_group(group), count(number)),
    }
}

/// The name, and whether the role is inferred from it.
fn name_of_group(group: &TimeGroup) -> String {
    clean(&group.name) + by_name(group.is_role_inferred)
}

fn name_of_thread(thread: &ThreadTime) -> String {
    clean(&thread.name) + by_name(thread.is_role_inferred)
}

fn by_name(is_role_inferred: bool) -> &'static str {
    if is_role_inferred { " (by name)" } else { "" }
}
