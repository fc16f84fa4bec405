//! Counters of the processor, page faults by place and shared lines of the caches, for page and terminal.

use assay_kit::ink::Ink;
use assay_kit::number::{count, counted, percent, percent_share, significant};
use assay_kit::text::{clean, html};
use assay_kit::{Section, Table, Terminal};
use assay_model::{DataAccesses, FaultPlaces, HardwareCounters, HardwareFigure, TimeReport};

/// What the counters rest on.
fn quality(counters: &HardwareCounters) -> String {
    let missed = match counters.threads_missed {
        0 => String::new(),
        number => format!("; {} could not be counted", counted(number, "thread", "threads")),
    };
    format!(
        "{} counted{missed}. {} of events took turns, so that each was counted for about 1 part in {} of the time; what a thread does before \
         its first reading is missing",
        counted(counters.threads, "thread", "threads"),
        counted(counters.event_groups, "group", "groups"),
        counters.event_groups.max(1)
    )
}

/// Whether a figure is of all the time in which it was to be counted.
fn multiplexed(figure: &HardwareFigure) -> String {
    if figure.is_multiplexed() {
        format!(
            "multiplexed: counted {} of its time, not scaled",
            percent(figure.running_ns, figure.enabled_ns)
        )
    } else {
        String::new()
    }
}

fn per_1000(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), significant)
}

/// The sections of the page.
pub fn sections(report: &TimeReport) -> Vec<Section> {
    let mut sections = Vec::new();
    if let Some(counters) = &report.hardware {
        let table = Table::of("Counted by the processor", &counters.figures)
            .words("Event", |figure| figure.event.word().to_owned())
            .figures("User", |figure| count(figure.user))
            .figures("Kernel", |figure| count(figure.kernel))
            .figures("User, per 1000 instructions", |figure| per_1000(figure.user_per_1000_instructions()))
            .figures("Kernel, per 1000 instructions", |figure| {
                per_1000(figure.kernel_per_1000_instructions())
            })
            .words("", |figure| multiplexed(figure));
        let text = format!("<p class=\"how\">{}.</p>{}", html(&quality(counters)), table.table().html());
        sections.push(Section::new("hardware", "Hardware counters", text).called("Counters"));
    }
    if let Some(faults) = report.fault_places.as_ref().filter(|faults| faults.samples != 0) {
        let table = Table::of("Page faults by place", &faults.places)
            .words("Where", |part| part.place.title().to_owned())
            .figures("Samples", |part| count(part.samples))
            .figures("Share", |part| percent_share(part.share.estimate));
        let text = format!("<p class=\"how\">{}.</p>{}", html(&faults_quality(faults)), table.table().html());
        sections.push(Section::new("faults", "Where page faults are", text).called("Page faults"));
    }
    if let Some(data) = report.data_accesses.as_ref().filter(|data| !data.lines.is_empty()) {
        sections.push(Section::new(
            "lines",
            "Lines of the caches that threads share",
            lines_html(data, report),
        ));
    }
    sections
}

fn faults_quality(faults: &FaultPlaces) -> String {
    let lost = if faults.lost == 0 {
        String::new()
    } else {
        format!(", {} lost, of whatever process", count(faults.lost))
    };
    format!(
        "{} of page faults, one in {}{lost}; places are those of the process at the end",
        counted(faults.samples, "sample", "samples"),
        faults.one_in
    )
}

fn lines_html(data: &DataAccesses, report: &TimeReport) -> String {
    let name = |tid: u32| {
        let thread = report.threads.iter().find(|thread| thread.tid == tid);
        thread.map_or_else(|| format!("thread {tid}"), |thread| clean(&thread.name))
    };
    let users = |line: &assay_model::SharedLine| {
        let names: Vec<String> = line.threads.iter().map(|of| name(of.tid)).collect();
        names.join(", ")
    };
    let table = Table::of("Lines that several threads use and one writes", &data.lines)
        .words("Line", |line| format!("{:#x}", line.address))
        .words("Where", |line| line.place.title().to_owned())
        .words("Sharing", |line| if line.is_false_sharing { "false".to_owned() } else { "true".to_owned() })
        .figures("Samples", |line| count(line.samples))
        .figures("Stores", |line| count(line.stores))
        .words("Threads", |line| users(line));
    format!(
        "<p class=\"how\">{} of {}.</p>{}",
        count(data.samples),
        html(&clean(&data.source)),
        table.table().html()
    )
}

/// The lines of the terminal.
pub fn lines(out: &mut Terminal, report: &TimeReport) {
    if let Some(faults) = report.fault_places.as_ref().filter(|faults| faults.samples != 0) {
        out.heading("Where page faults are");
        out.paragraph(2, &format!("{}.", faults_quality(faults)), Ink::dim);
        for part in &faults.places {
            out.line(&format!("  {:>7}  {}", percent(part.samples, faults.samples), part.place.title()));
        }
    }
    let Some(counters) = &report.hardware else { return };
    out.heading("Hardware counters");
    out.paragraph(2, &format!("{}.", quality(counters)), Ink::dim);
    for figure in &counters.figures {
        let (user, kernel) = (figure.user_per_1000_instructions(), figure.kernel_per_1000_instructions());
        let text = format!(
            "{}: user {}, kernel {} per 1000 instructions {}",
            figure.event.word(),
            per_1000(user),
            per_1000(kernel),
            multiplexed(figure)
        );
        out.paragraph(2, text.trim_end(), Ink::plain);
    }
}
