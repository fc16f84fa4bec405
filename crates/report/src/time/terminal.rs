//! An account of CPU time as a tree for the terminal, and as one line.

use super::words::{self, UNKNOWN, rate, share_with_error};
use super::{hardware, recorded, sampled, traced};
use assay_findings::{to_terminal, told};
use assay_kit::ink::{Ink, fit};
use assay_kit::number::{count, duration, percent};
use assay_kit::text::{clean, shorten, to_the_second};
use assay_kit::{Terminal, TerminalView};
use assay_model::{Problem, TimeGroup, TimeReport, TimeSums};

const TIME: usize = 10;
const SHARE: usize = 8;
const SPLIT: usize = 15;
const REQUEST: usize = 11;
const RATE: usize = 11;
/// From here on there is room for switches and faults.
const WIDE: usize = 100;
/// Roles in a line.
const ROLES_IN_LINE: usize = 3;

/// The tree: roles, the names below them, the line that says that they add up, what stands beside CPU time. Its lines are at most as
/// wide as the terminal, from 72 columns on.
pub fn render(report: &TimeReport, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.line(&out.ink.bold(&shorten(&clean(&report.program), 40)));
    out.paragraph(0, &words::subject(report), Ink::plain);
    out.paragraph(0, &words::headline(report), Ink::bold);
    if let Some(per_request) = words::per_request(report) {
        out.paragraph(0, &per_request, Ink::bold);
    }
    out.blank();
    tree(&mut out, report, view.entries.most());
    out.blank();
    out.paragraph(0, &words::closure(report), Ink::bold);
    out.paragraph(0, &words::difference(report), Ink::dim);
    if let Some(group) = words::cgroup(report) {
        out.paragraph(0, &group, Ink::plain);
    }
    sampled::tree(&mut out, report);
    recorded::lines(&mut out, report);
    hardware::lines(&mut out, report);
    traced::tree(&mut out, report);
    findings(&mut out, report);
    out.rows("Waits, switches and faults", &words::beside(report));
    out.heading("Where the figures come from");
    for (figure, basis, from) in words::figures(report) {
        out.paragraph(2, &format!("{figure}: {from} ({basis})"), Ink::dim);
    }
    if !report.left_out.is_empty() {
        out.heading("Not available");
    }
    for left_out in &report.left_out {
        let [figure, why, enable] =
            [&left_out.figure, &left_out.why, &left_out.enable].map(|text| clean(text));
        out.paragraph(2, &format!("{figure}: {why}"), Ink::plain);
        out.paragraph(4, &format!("→ {enable}"), Ink::dim);
    }
    out.problems(&Problem::listed(&report.problems));
    out.finish()
}

/// One line for a pipe: when, CPU time, its split, and the roles that used most.
pub fn line(report: &TimeReport) -> String {
    let processors = report.process.cpu_ns as f64 / report.duration_ns.max(1) as f64;
    let taken = to_the_second(&report.taken_at);
    let roles: Vec<String> = report
        .roles
        .iter()
        .take(ROLES_IN_LINE)
        .map(|role| format!("{} {}", role.role.title(), percent(role.sums.cpu_ns, report.process.cpu_ns)))
        .collect();
    let kernel = share_with_error(report.process.kernel_share.as_ref());
    format!("{taken}  {processors:.2} CPUs  kernel {kernel}  {}", roles.join(", "))
}

fn findings(out: &mut Terminal, report: &TimeReport) {
    if report.findings.is_empty() {
        return;
    }
    out.heading("Findings");
    to_terminal(out, &told(&report.findings, ""));
}

fn tree(out: &mut Terminal, report: &TimeReport, groups_max: usize) {
    let columns = Columns::of(out.width, report);
    out.line(&out.ink.dim(&columns.heading()));
    let mut shown = 0;
    for role in &report.roles {
        let name = fit(role.role.title(), columns.name);
        out.line(&format!("{}{}", out.ink.bold(&name), columns.figures(&role.sums)));
        let groups = report.groups.iter().filter(|group| group.role == role.role && group.sums.cpu_ns != 0);
        let groups: Vec<&TimeGroup> = groups.collect();
        let listed = groups.len().min(groups_max.saturating_sub(shown));
        for group in &groups[..listed] {
            out.line(&format!("{}{}", columns.name_of(group), columns.figures(&group.sums)));
        }
        shown += listed;
        rest(out, &columns, &groups[listed..]);
    }
    out.line(&format!(
        "{}{}",
        out.ink.bold(&fit("not in these threads", columns.name)),
        columns.difference()
    ));
}

fn rest(out: &mut Terminal, columns: &Columns<'_>, groups: &[&TimeGroup]) {
    if groups.is_empty() {
        return;
    }
    let sum = groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.sums.cpu_ns));
    let name = fit(&format!("  {} more", count(groups.len() as u64)), columns.name);
    out.line(&out.ink.dim(&format!("{name}{}", columns.time(sum))));
}

/// The columns behind the name.
struct Columns<'a> {
    report: &'a TimeReport,
    name: usize,
    is_wide: bool,
}

impl Columns<'_> {
    fn of(width: usize, report: &TimeReport) -> Columns<'_> {
        let is_wide = WIDE <= width;
        let fixed = 2 * TIME
            + SHARE
            + SPLIT
            + report.requests.map_or(0, |_| REQUEST)
            + if is_wide { 2 * RATE } else { 0 };
        Columns { report, name: (width.saturating_sub(fixed)).min(46), is_wide }
    }

    fn heading(&self) -> String {
        let request = self.report.requests.map_or_else(String::new, |_| format!("{:>REQUEST$}", "a request"));
        let rates =
            if self.is_wide { format!("{:>RATE$}{:>RATE$}", "switches", "forced") } else { String::new() };
        format!(
            "{}{:>TIME$}{:>SHARE$}{:>SPLIT$}{request}{:>TIME$}{rates}",
            fit("", self.name),
            "CPU time",
            "share",
            "in the kernel",
            "waited"
        )
    }

    fn name_of(&self, group: &TimeGroup) -> String {
        let threads =
            if group.sums.threads == 1 { String::new() } else { format!(" ×{}", count(group.sums.threads)) };
        let room = self.name.saturating_sub(3 + threads.chars().count());
        fit(&format!("  {}{threads}", shorten(&words::group_name(group), room)), self.name)
    }

    fn time(&self, cpu_ns: u64) -> String {
        format!("{:>TIME$}{:>SHARE$}", duration(cpu_ns), percent(cpu_ns, self.report.process.cpu_ns))
    }

    fn figures(&self, sums: &TimeSums) -> String {
        let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
        let request = self.report.requests.map_or_else(String::new, |requests| {
            format!("{:>REQUEST$}", words::ms_each(sums.cpu_ns, requests))
        });
        let rates = if self.is_wide {
            let of = |number: Option<u64>| or_unknown(number.map(|number| rate(number, self.report)));
            format!("{:>RATE$}{:>RATE$}", of(sums.voluntary_switches), of(sums.involuntary_switches))
        } else {
            String::new()
        };
        format!(
            "{}{:>SPLIT$}{request}{:>TIME$}{rates}",
            self.time(sums.cpu_ns),
            share_with_error(sums.kernel_share.as_ref()),
            or_unknown(sums.run_delay_ns.map(duration))
        )
    }

    fn difference(&self) -> String {
        let ns = self.report.difference_ns;
        let sign = if ns < 0 { "-" } else { "" };
        let (time, share) =
            (duration(ns.unsigned_abs()), percent(ns.unsigned_abs(), self.report.process.cpu_ns));
        format!("{:>TIME$}{:>SHARE$}", format!("{sign}{time}"), format!("{sign}{share}"))
    }
}
