//! An answer to "why" in words.

use crate::{gc, host, memory, time};
use assay_kit::number::percent_share;
use assay_kit::text::clean;
use assay_model::{CostOf, WhyCost, WhyFinding, WhyReader, WhyReport};

/// What a reader reads.
pub fn name(reader: WhyReader) -> &'static str {
    match reader {
        WhyReader::Memory => "Memory",
        WhyReader::Gc => "GC log",
        WhyReader::Time => "CPU time",
        WhyReader::Host => "Machine and JVM",
        WhyReader::Other => "Another reader",
    }
}

/// The command that shows all that a reader read.
pub fn command(reader: WhyReader) -> &'static str {
    match reader {
        WhyReader::Memory => "assay memory",
        WhyReader::Gc => "assay gc",
        WhyReader::Time => "assay time",
        WhyReader::Host => "assay host",
        WhyReader::Other => "assay",
    }
}

/// A cost: `38.0 % of the memory limit`; none for what ends a process, which its claim says.
pub fn cost(of: WhyCost) -> Option<String> {
    let whole = match of.of {
        CostOf::Process | CostOf::Other => return None,
        CostOf::MemoryLimit => "of the memory limit",
        CostOf::Rss => "of resident memory",
        CostOf::Cpu => "of its CPU time",
        CostOf::Stopped => "of the time",
    };
    Some(format!("{} {whole}", percent_share(of.share)))
}

/// The claim without its full stop, with its cost.
pub fn claim(of: &WhyFinding) -> String {
    let claim = clean(of.finding.claim.trim_end_matches('.'));
    of.cost.and_then(cost).map_or_else(|| claim.clone(), |cost| format!("{claim} ({cost})"))
}

/// What each reader that answered read, in a sentence of its own.
pub fn looked_at(report: &WhyReport) -> Vec<(&'static str, String)> {
    let of_memory = report.memory.as_ref().map(|of| {
        let trend = match &of.growth {
            Some(verdict) => memory::growth_sentence(verdict),
            None => "One snapshot: it shows no trend".to_owned(),
        };
        (name(WhyReader::Memory), format!("{}. {trend}.", memory::headline(of)))
    });
    let of_gc = report.gc.as_ref().map(|of| (name(WhyReader::Gc), gc::headline(of)));
    let of_time = report.time.as_ref().map(|of| (name(WhyReader::Time), format!("{}.", time::headline(of))));
    let of_host = report.host.as_ref().map(|of| (name(WhyReader::Host), format!("{}.", host::headline(of))));
    [of_memory, of_gc, of_time, of_host].into_iter().flatten().collect()
}
