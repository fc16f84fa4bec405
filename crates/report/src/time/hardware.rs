//! Counters of the processor, page faults by place and shared lines of the caches.

use assay_kit::Table;
use assay_kit::document::{Block, Section};
use assay_kit::number::{count, counted, percent, percent_share, significant};
use assay_kit::text::clean;
use assay_model::{DataAccesses, FaultPlaces, HardwareCounters, HardwareFigure, TimeReport};

/// What the counters rest on.
fn quality(counters: &HardwareCounters) -> String {
    let missed = match counters.threads_missed {
        0 => String::new(),
        number => format!("; {} could not be counted", counted(number, "thread", "threads")),
    };
    format!(
        "{} counted{missed}. {} of events took turns, so each was counted for about 1 part in {} of the time. \
            Counts before a thread's first reading are missing",
        counted(counters.threads, "thread", "threads"),
        counted(counters.event_groups, "group", "groups"),
        counters.event_groups.max(1)
    )
}

/// Whether a figure is of all the time in which it was to be counted.
fn multiplexed(figure: &&HardwareFigure) -> String {
    if figure.is_multiplexed() {
        format!(
            "multiplexed: counted {} of its time, not scaled",
            percent(figure.running_ns, figure.enabled_ns)
        )
    } else {
        String::new()
    }
}

/// The sections: counters, page faults by place, lines of the caches.
pub fn sections(report: &TimeReport) -> Vec<Section> {
    let mut sections = Vec::new();
    sections.extend(report.hardware.as_ref().map(|counters| {
        let blocks = [Block::explanation(format!("{}.", quality(counters))), counted_events(counters).into()];
        Section::new("hardware", "Hardware counters", blocks).called("Counters")
    }));
    sections.extend(report.fault_places.as_ref().filter(|faults| faults.samples != 0).map(|faults| {
        let blocks =
            [Block::explanation(format!("{}.", faults_quality(faults))), faults_by_place(faults).into()];
        Section::new("faults", "Where page faults are", blocks).called("Page faults")
    }));
    sections.extend(report.data_accesses.as_ref().filter(|data| !data.lines.is_empty()).map(|data| {
        let quality = format!("{} of {}.", count(data.samples), clean(&data.source));
        let blocks = [Block::explanation(quality), shared_lines(data, report).into()];
        Section::new("lines", "Lines of the caches that threads share", blocks)
    }));
    sections
}

fn counted_events(counters: &HardwareCounters) -> Table {
    Table::of("Counted by the processor", &counters.figures)
        .words("Event", |figure| figure.event.word())
        .figures("User", |figure| count(figure.user))
        .if_room()
        .figures("Kernel", |figure| count(figure.kernel))
        .if_room()
        .figures("User, per 1000 instructions", |figure| figure.user_per_1000_instructions().map(significant))
        .figures("Kernel, per 1000 instructions", |figure| {
            figure.kernel_per_1000_instructions().map(significant)
        })
        .words("How counted", multiplexed)
        .table()
}

fn faults_by_place(faults: &FaultPlaces) -> Table {
    Table::of("Page faults by place", &faults.places)
        .words("Where", |part| part.place.title())
        .figures("Samples", |part| count(part.samples))
        .figures("Share", |part| percent_share(part.share.estimate))
        .table()
}

fn faults_quality(faults: &FaultPlaces) -> String {
    let lost = if faults.lost == 0 {
        String::new()
    } else {
        format!(", {} lost, of any process", count(faults.lost))
    };
    format!(
        "{} of page faults, one in {}{lost}. Places are those of the process at the end",
        counted(faults.samples, "sample", "samples"),
        faults.one_in
    )
}

fn shared_lines(data: &DataAccesses, report: &TimeReport) -> Table {
    let name = |tid: u32| {
        let thread = report.threads.iter().find(|thread| thread.tid == tid);
        thread.map_or_else(|| format!("thread {tid}"), |thread| clean(&thread.name))
    };
    Table::of("Lines that several threads use and one writes", &data.lines)
        .words("Line", |line| format!("{:#x}", line.address))
        .words("Where", |line| line.place.title())
        .words("Sharing", |line| if line.is_false_sharing { "false" } else { "true" })
        .figures("Samples", |line| count(line.samples))
        .figures("Stores", |line| count(line.stores))
        .words("Threads", |line| line.threads.iter().map(|of| name(of.tid)).collect::<Vec<_>>().join(", "))
        .table()
}
