//! The hosts of a merged run, and whether the answer depends on them.

use super::estimate::{metric_title, times};
use super::grid::Grid;
use assay_kit::number::{count, significant};
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{AcrossHosts, HostOfRun, HostRatio, Hosts, HostsVerdict};

fn hosts<'r>(grid: &Grid<'r>) -> Option<&'r Hosts> {
    grid.run.hosts.as_ref()
}

/// A row for each host; absent of a run that was not merged.
pub fn table(grid: &Grid) -> Option<Table> {
    let rows: Vec<(usize, &HostOfRun)> = (1..).zip(&hosts(grid)?.hosts).collect();
    let or_absent = |text: Option<&str>| {
        text.map_or_else(|| Cell::absent("it could not be read"), |text| clean(text).into())
    };
    let blocks = |host: &HostOfRun| host.blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    Table::of("Hosts", &rows)
        .words("Host", |(number, _)| number.to_string())
        .words("Processor", |(_, host)| or_absent(host.facts.provenance.cpu_model.as_deref()))
        .words("Usable", |(_, host)| or_absent(host.facts.allowed_processors.as_deref()))
        .words("Kernel", |(_, host)| or_absent(host.facts.provenance.kernel.as_deref()))
        .words("Blocks", |(_, host)| blocks(host))
        .table()
        .unless_empty()
}

/// The ratio of each asked comparison on each host.
pub fn ratios(grid: &Grid) -> Option<Table> {
    let rows: Vec<(&AcrossHosts, &HostRatio)> =
        hosts(grid)?.across.iter().flat_map(|one| one.ratios.iter().map(move |ratio| (one, ratio))).collect();
    Table::of("Ratio by host", &rows)
        .words("Metric", |(one, _)| metric_title(&one.metric))
        .words("Variant", |(one, _)| clean(&one.variant))
        .words("Against", |(one, _)| clean(&one.baseline))
        .words("Host", |(_, ratio)| ratio.host.to_string())
        .words("Ratio", |(_, ratio)| times(&ratio.ratio))
        .figures("Blocks", |(_, ratio)| count(ratio.blocks.into()))
        .table()
        .unless_empty()
}

/// What each comparison says of the hosts.
pub fn sentences(grid: &Grid) -> Vec<String> {
    hosts(grid).into_iter().flat_map(|hosts| &hosts.across).map(sentence).collect()
}

/// Comparisons whose answer depends on the host.
pub fn cautions(grid: &Grid) -> Vec<String> {
    let across = hosts(grid).into_iter().flat_map(|hosts| &hosts.across);
    across.filter(|one| one.verdict == HostsVerdict::Differs).map(sentence).collect()
}

fn sentence(one: &AcrossHosts) -> String {
    let hosts = one.ratios.len();
    let about =
        format!("{} of {} against {}", metric_title(&one.metric), clean(&one.variant), clean(&one.baseline));
    let percent = |value: Option<f64>| {
        value.map_or_else(|| "unknown".to_owned(), |value| format!("{} %", significant(value)))
    };
    let scatter = format!(
        "standard deviation of the ratio {} between hosts, {} from block to block",
        percent(one.between_percent),
        percent(one.within_percent)
    );
    match one.verdict {
        HostsVerdict::Differs => format!("{about} depends on the host: {scatter}."),
        HostsVerdict::NoDifferenceShown => {
            format!("{about}: no difference between the {hosts} hosts is shown, {scatter}.")
        }
        HostsVerdict::TooFewBlocks | HostsVerdict::Other => {
            format!("{about}: {hosts} hosts made too few blocks to show a difference between them.")
        }
    }
}
