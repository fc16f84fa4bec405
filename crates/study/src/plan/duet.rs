//! The pairs of a duet on this machine: the halves of its processors, and options that make two JVMs alike on them.

use crate::check::layout::Layout;
use crate::file::document::Document;
use crate::file::workload::Workload;
use crate::plan::candidate::Candidate;
use crate::plan::variant_launch::VariantLaunch;
use assay_jdk::Collector;
use assay_jdk::options::AlikeOptions;
use assay_linux::{Halves, ProcRoot, Processors, SysRoot};
use assay_model::{Design, JvmFacts, PlannedDuet};

/// With less memory, or one processor, a JVM takes the serial collector.
const SERVER_MEMORY_BYTES: u64 = 1792 << 20;
/// The first release that takes G1 where nothing is said.
const G1_SINCE: u32 = 9;
/// Environment variables that a JVM reads options from.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// The halves of this machine's processors, in a duet whose variants can run here. Reports what such a study lacks.
pub(super) fn halves(layout: &Layout, candidates: &[Candidate], document: &mut Document) -> Option<Halves> {
    if layout.kind != Design::Duet {
        return None;
    }
    let count = candidates.len();
    if count != 2 {
        let what =
            format!("a duet compares two variants, and this study has {count}: make a study of each pair");
        document.add("design.kind", what);
    } else if let Some((candidate, why)) =
        candidates.iter().find_map(|of| Some((of, of.found.as_ref().err()?)))
    {
        let what = format!(
            "a duet needs both of its variants, and `{}` cannot run here: {why}",
            candidate.spec.name
        );
        document.add_missing("design.kind", what);
    }
    let halves = Processors::allowed().ok().and_then(|processors| processors.halves(&SysRoot::default()));
    if halves.is_none() {
        let what = "a duet runs two servers at the same time, each on half of the processors. This program \
            may use only one processor. Give it a second one, or run a study with kind = \"fresh\", which runs one server at a time";
        document.add_missing("design.kind", what);
    }
    halves
}

/// How the pairs run; gives the launches what makes their JVMs alike.
pub(super) fn planned(
    layout: &Layout,
    halves: &Halves,
    workload: &Workload,
    launches: &mut [VariantLaunch],
) -> PlannedDuet {
    let processors = halves.halves[0].count() as u32;
    let memory = ProcRoot::default().read_meminfo().ok().and_then(|memory| memory.total_bytes);
    let jvms: Vec<JvmFacts> = launches.iter().filter_map(|launch| launch.variant.jvm.clone()).collect();
    let collector = usual_collector(&jvms, memory);
    let mut given: Vec<Vec<String>> = Vec::new();
    let mut own_options = Vec::new();
    for launch in launches.iter_mut() {
        let alike = alike(launch, workload, processors, collector);
        own_options.extend(alike.own.iter().map(|option| format!("{}: {option}", launch.variant.name)));
        launch.variant.jvm_options.splice(0..0, alike.given.iter().cloned());
        given.push(alike.given);
    }
    let (first, others) =
        given.split_first().map_or((Vec::new(), &[][..]), |(first, others)| (first.clone(), others));
    let equal_options = first.into_iter().filter(|option| others.iter().all(|of| of.contains(option)));
    PlannedDuet {
        halves: halves.halves.clone().map(|half| half.to_string()),
        halves_of: halves.of,
        left_over: halves.left_over.to_string(),
        windows: layout.windows,
        equal_options: equal_options.collect(),
        own_options,
    }
}

/// The collector that the JVMs would take on the whole machine; where they differ, that of the newer one.
fn usual_collector(jvms: &[JvmFacts], memory_bytes: Option<u64>) -> Collector {
    let is_small = memory_bytes.is_some_and(|bytes| bytes < SERVER_MEMORY_BYTES);
    let newest = jvms.iter().map(|jvm| jvm.feature).max();
    match newest {
        _ if is_small => Collector::Serial,
        Some(feature) if feature < G1_SINCE => Collector::Parallel,
        _ => Collector::G1,
    }
}

fn alike(launch: &VariantLaunch, workload: &Workload, processors: u32, collector: Collector) -> AlikeOptions {
    let Some(jvm) = launch.variant.jvm.as_ref().filter(|_| launch.takes_jvm_options(workload)) else {
        return AlikeOptions::default();
    };
    let environment = workload.program.environment().iter().chain(&launch.environment);
    let read = environment.filter(|(name, _)| VARIABLES.contains(&name.as_str()));
    let words = read.flat_map(|(_, text)| text.split_whitespace().map(str::to_owned));
    let options: Vec<String> = words
        .chain(launch.command.iter().cloned())
        .chain(launch.variant.jvm_options.iter().cloned())
        .collect();
    AlikeOptions::of(&jvm.version, processors, collector, &options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jvm(feature: u32) -> JvmFacts {
        JvmFacts { home: String::new(), version: feature.to_string(), feature, vendor: None, bits: 64 }
    }

    #[test]
    fn the_collector_is_that_of_the_whole_machine() {
        let large = Some(8 << 30);
        assert_eq!(usual_collector(&[jvm(17), jvm(17)], large), Collector::G1);
        assert_eq!(usual_collector(&[jvm(8), jvm(8)], large), Collector::Parallel);
        assert_eq!(usual_collector(&[jvm(8), jvm(17)], large), Collector::G1, "both get the same");
        assert_eq!(usual_collector(&[jvm(17)], Some(1 << 30)), Collector::Serial);
        assert_eq!(usual_collector(&[jvm(17)], None), Collector::G1);
    }
}
