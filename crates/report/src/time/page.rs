//! The page of an account of CPU time.

use super::words::{self, UNKNOWN, rate, share_with_error};
use super::{flames, hardware, recorded, sampled, traced};
use assay_findings::{next_step, to_html, told};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::number::{count, duration, percent};
use assay_kit::page::{drawings, figure};
use assay_kit::stack::fill_class;
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Page, Section, Table, key};
use assay_model::{Problem, RoleTime, TimeReport, TimeSums};
use std::io;

/// Readings of user time, kernel time, and what is not split.
const LOOKS: [usize; 3] = [0, 1, 7];

/// The account as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &TimeReport, out: &mut impl io::Write) -> io::Result<()> {
    let [known, left_out] = origins(report);
    let sources = known.html() + &left_out.unless_empty().map_or_else(String::new, |table| table.html());
    let mut sections = vec![
        answer(report).section(),
        Section::new("findings", "Findings", to_html(&told(&report.findings, ""), "No rule matched."))
            .called("Findings"),
        Section::new("roles", "Threads by role", groups(report).html()).called("Roles"),
        Section::new("threads", "Threads that used most", threads(report)).called("Threads"),
        Section::new("beside", "Scheduling and faults", scheduling(report).html()),
        Section::new("sources", "Where the figures come from", sources).called("Sources"),
        Section::problems(&Problem::listed(&report.problems)),
    ];
    if let Some(samples) = &report.samples {
        let kinds = sampled::tables(samples, report);
        sections.insert(
            2,
            Section::new("samples", "What the kernel did, and where in the code", kinds).called("Kinds"),
        );
        sections.insert(3, Section::new("flames", "Flame graph", flames::section(samples)));
    }
    if let Some(recording) = &report.recording {
        let at = sections.iter().position(|section| section.id == "threads").unwrap_or(sections.len());
        sections.splice(at..at, recorded::sections(recording, report));
    }
    let at = sections.iter().position(|section| section.id == "beside").unwrap_or(sections.len());
    sections.splice(at..at, hardware::sections(report));
    if let Some(traced) = &report.traced {
        let tables = traced::tables(traced, report);
        sections.insert(
            2,
            Section::new("calls", "What the kernel did, each time measured", tables).called("Kernel"),
        );
    }
    Page {
        lines: vec![("", words::subject(report))],
        sections,
        made_by: clean(&report.provenance.assay_version),
        ..Page::new(
            "Every CPU second, by Assay",
            format!("CPU time of {} ({})", clean(&report.program), report.pid),
        )
    }
    .write(out)
}

fn answer(report: &TimeReport) -> Answer {
    let mut rest = String::new();
    let sentences = [words::per_request(report), Some(words::closure(report)), words::cgroup(report)];
    for sentence in sentences.into_iter().flatten() {
        rest += &format!("<p class=\"sum\">{}.</p>", html(&sentence));
    }
    rest += &format!("<p class=\"how\">{}</p>", html(&words::difference(report)));
    Answer {
        sentence: format!("{}.", words::headline(report)),
        action: next_step(&told(&report.findings, ""), "No rule found a setting to change."),
        chart: roles(report),
        rest,
        ..Answer::default()
    }
}

fn roles(report: &TimeReport) -> String {
    let titles = ["user", "kernel", "not known which"];
    let bar = |role: &RoleTime| {
        let sums = &role.sums;
        let (user, kernel) = (sums.user_ns.unwrap_or(0), sums.kernel_ns.unwrap_or(0));
        let lengths = [user, kernel, sums.cpu_ns.saturating_sub(user + kernel)];
        let parts = lengths.into_iter().zip(LOOKS).zip(titles).map(|((ns, look), title)| {
            (ns as f64 / 1e9, fill_class(look), format!("{}, {title}: {}", role.role.title(), duration(ns)))
        });
        let value = format!("{}, {}", duration(sums.cpu_ns), percent(sums.cpu_ns, report.process.cpu_ns));
        Bar { name: role.role.title().to_owned(), value, parts: parts.collect() }
    };
    let bars: Vec<Bar> = report.roles.iter().filter(|role| is_drawn(role, report)).map(bar).collect();
    let pictures = drawings("roles-bars", |width, id| {
        bar_rows::bars(&bars, (Some("CPU time, s"), None), width, (id, "CPU time by role"))
    });
    let key = key::fills(LOOKS.into_iter().zip(titles).map(|(look, title)| (fill_class(look), title)));
    let caption = "CPU time by role, divided into user and kernel as far as the kernel's samples allow.";
    figure("roles-figure", "answer", &key, &pictures, caption)
}

/// Roles of less than a thousandth are in the table alone.
fn is_drawn(role: &RoleTime, report: &TimeReport) -> bool {
    role.sums.cpu_ns != 0 && report.process.cpu_ns / 1_000 <= role.sums.cpu_ns
}

/// Every group of threads.
pub(super) fn groups(report: &TimeReport) -> Table {
    let or_unknown = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
    let counted = |number: Option<u64>| or_unknown(number.map(|number| rate(number, report)));
    let of = |sums: &TimeSums| sums.run_delay_ns.map(duration);
    let table = Table::of("Threads by role and name", &report.groups)
        .words("Name", |group| words::group_name(group))
        .words("Role", |group| group.role.title().to_owned())
        .figures("Threads", |group| count(group.sums.threads))
        .figures("CPU time", |group| duration(group.sums.cpu_ns))
        .figures("Share", |group| percent(group.sums.cpu_ns, report.process.cpu_ns))
        .figures("In the kernel", |group| share_with_error(group.sums.kernel_share.as_ref()));
    let table = match report.requests {
        Some(requests) => {
            table.figures("For each request", move |group| words::ms_each(group.sums.cpu_ns, requests))
        }
        None => table,
    };
    table
        .figures("Waited for a processor", |group| or_unknown(of(&group.sums)))
        .figures("Switches", |group| counted(group.sums.voluntary_switches))
        .figures("Forced", |group| counted(group.sums.involuntary_switches))
        .figures("Faults", |group| rate(group.sums.minor_faults, report))
        .figures("From disk", |group| rate(group.sums.major_faults, report))
        .folded(|group| group.sums.cpu_ns < report.process.cpu_ns / 1_000)
        .class("dense")
}

fn threads(report: &TimeReport) -> String {
    let table = Table::of("The threads that used most CPU time", &report.threads)
        .words("Name", |thread| words::thread_name(thread))
        .words("Role", |thread| thread.role.title().to_owned())
        .figures("Thread id", |thread| thread.tid.to_string())
        .figures("CPU time", |thread| duration(thread.cpu_ns))
        .figures("Waited for a processor", |thread| thread.run_delay_ns.map_or(UNKNOWN.to_owned(), duration))
        .words("State", |thread| if thread.has_ended { "ended".to_owned() } else { String::new() });
    table.table().html()
}

/// Waits, switches and faults.
pub(super) fn scheduling(report: &TimeReport) -> Table {
    let rows = words::beside(report);
    Table::of("Waits, switches and faults", &rows)
        .words("What", |row| row.what.clone())
        .figures("Figure", |row| row.value.clone())
        .table()
}

/// Where the figures come from, and what is not available.
pub(super) fn origins(report: &TimeReport) -> [Table; 2] {
    let figures = words::figures(report);
    let known = Table::of("Figures and their sources", &figures)
        .words("Figure", |row| row.0.clone())
        .words("How well known, source", |row| row.1.clone())
        .words("From", |row| row.2.clone());
    let left_out = Table::of("Not available", &report.left_out)
        .words("Figure", |row| clean(&row.figure))
        .words("Why", |row| clean(&row.why))
        .words("What would give it", |row| clean(&row.enable));
    [known.table(), left_out.table()]
}
