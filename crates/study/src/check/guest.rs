//! The `[guest]` table: its mistakes, its defaults, and what cannot be asked of an emulated machine, where times mean nothing.

use crate::file::document::Document;
use crate::file::guest::GuestTable;
use crate::file::study::Study;
use crate::file::workload::{Program, Workload};
use assay_measure::observers::Observe;
use assay_model::{Design, Feels, Metric, PER_BENCHMARK, PER_PROCESS, PlannedGuest};

/// What a guest has where the study does not say.
const PROCESSORS: u32 = 1;
const MEMORY_MIB: u64 = 1024;
/// An emulated processor is a thread of this machine.
const PROCESSORS_MAX: u32 = 16;
const MEMORY_MIB_MIN: u64 = 256;
/// What can be asked, for messages.
const EXACT: &str = "bytes, counts and settings are exact there, such as rss_bytes, native_bytes, garbage_kib_per_request, \
                     allocated_kib_per_request, minor_faults_per_request, system_calls_per_request";

/// The guests of a study; none where its trials run on this machine.
pub(crate) fn planned(study: &Study) -> Option<PlannedGuest> {
    let table = study.guest.as_ref()?;
    Some(PlannedGuest {
        machine: table.machine,
        kernel: table.kernel.clone(),
        processors: table.processors.unwrap_or(PROCESSORS).max(table.nodes.unwrap_or(1)),
        nodes: table.nodes.unwrap_or(1),
        memory_mib: table.memory.map_or(MEMORY_MIB, |size| size.bytes >> 20),
    })
}

/// A metric that means nothing in a guest, in a sentence; none of others, and of names that are not known.
pub(crate) fn refused_metric(id: &str) -> Option<String> {
    let kind = id.split('/').next().unwrap_or(id);
    let of_kind = || PER_BENCHMARK.iter().chain(PER_PROCESS).find(|metric| metric.id == kind).cloned();
    let metric = Metric::by_id(id).or_else(of_kind)?;
    if metric.is_emulated() {
        return Some(format!("{id} is counted by studies with [emulated], not in a guest that runs a study"));
    }
    let what = match metric.feels {
        Feels::Nothing => return None,
        Feels::CpuTime => "is CPU time",
        Feels::Time => "depends on time",
    };
    Some(format!("{id} {what}, which means nothing in an emulated guest: {EXACT}"))
}

/// Mistakes in the table, and keys that a study in guests cannot have.
pub(crate) fn check(study: &Study, workload: Option<&Workload>, document: &mut Document) {
    let Some(table) = &study.guest else { return };
    check_machine(table, document);
    check_questions(study, document);
    let mut cannot = |is_set: bool, place: &str, what: &str| {
        if is_set {
            document.add(place, format!("{what}: leave it out, or leave [guest] out"));
        }
    };
    cannot(study.emulated.is_some(), "emulated", "[emulated] counts instructions in guests of its own");
    cannot(
        study.capacity.is_some(),
        "capacity",
        "a capacity is a rate, which means nothing in an emulated guest",
    );
    cannot(!study.parts.is_empty(), "parts", "the parts of a study in guests are run one by one");
    let quick = study.quick.as_ref().map(|quick| &quick.design);
    for (place, design) in [("design.kind", Some(&study.design)), ("quick.design.kind", quick)] {
        let kind = design.and_then(|design| design.kind);
        cannot(
            kind.is_some_and(|kind| kind != Design::Fresh),
            place,
            "in guests each trial has a process of its own, and each block a guest (kind = \"fresh\")",
        );
    }
    let settings = study.factor.iter().flat_map(|factor| &factor.level).map(|level| &level.settings);
    let is_built = settings.chain([&study.settings]).any(|s| s.commit.is_some() || s.build.is_some());
    cannot(is_built, "build", "guests have no compiler: name a command whose files are built");
    if let Some(Program::Server(server)) = workload.map(|workload| &workload.program) {
        cannot(server.url.is_some(), "server.url", "a server that runs already is not in a guest");
    }
}

fn check_machine(table: &GuestTable, document: &mut Document) {
    let (processors, nodes) = (table.processors.unwrap_or(PROCESSORS), table.nodes.unwrap_or(1));
    if !(1..=PROCESSORS_MAX).contains(&processors) {
        document.add("guest.processors", format!("{processors} processors: use 1 to {PROCESSORS_MAX}"));
    }
    if nodes == 0 || table.processors.is_some_and(|processors| processors < nodes) || PROCESSORS_MAX < nodes {
        document.add("guest.nodes", format!("{nodes} memory nodes: use 1 up to the number of processors"));
    }
    if let Some(memory) = table.memory.filter(|memory| memory.bytes >> 20 < MEMORY_MIB_MIN) {
        let what =
            format!("{} MiB beyond the guest's files: use {MEMORY_MIB_MIN}m or more", memory.bytes >> 20);
        document.add("guest.memory", what);
    }
}

fn refuse(document: &mut Document, place: &str, why: Option<String>) {
    if let Some(why) = why {
        document.add(place, why);
    }
}

/// Metrics and observers.
fn check_questions(study: &Study, document: &mut Document) {
    match &study.primary_metric {
        Some(metric) => refuse(document, "primary_metric", refused_metric(metric)),
        None => {
            let what =
                format!("a study in guests names its primary_metric: times mean nothing there, and {EXACT}");
            document.add("guest", what);
        }
    }
    for (i, published) in study.published.iter().enumerate() {
        refuse(document, &format!("published.{i}.metric"), refused_metric(&published.metric));
    }
    for (i, claim) in study.claim.iter().enumerate() {
        refuse(document, &format!("claim.{i}.metric"), refused_metric(&claim.about.metric));
    }
    for observed in study.observe.iter().flatten() {
        let name = match observed {
            Observe::Time => "time",
            Observe::Stacks => "stacks",
            Observe::Latency => "latency",
            Observe::Start => "start",
            _ => continue,
        };
        let what = format!(
            "`{name}` measures times, which mean nothing in an emulated guest: gc, allocation, memory, areas, kernel and processes give counts and bytes there"
        );
        document.add("observe", what);
    }
}

#[cfg(test)]
mod tests {
    use crate::file::study::Study;
    use std::path::Path;

    const SERVER: &str = "schema = \"assay.study/1\"\nname = \"s\"\nserver = { command = \"java -jar a.jar {port}\", ready_url = \"http://127.0.0.1:{port}/\" }\n";

    fn mistakes(further: &str) -> Vec<String> {
        let text = format!("{SERVER}{further}");
        let found = Study::check(Path::new("s.toml"), &text).err().unwrap_or_default();
        found.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_study_of_bytes_is_taken() {
        let text = "primary_metric = \"rss_bytes\"\nobserve = [\"areas\", \"gc\"]\n[guest]\nmachine = \"power9\"\nprocessors = 2\nnodes = 2\nmemory = \"2g\"\n";
        assert_eq!(mistakes(text), Vec::<String>::new());
    }

    #[test]
    fn times_are_refused_with_what_can_be_asked() {
        let guest = "[guest]\nmachine = \"x86-64\"\n";
        for (text, wrong) in [
            (String::new(), "names its primary_metric"),
            ("primary_metric = \"throughput_per_s\"\n".to_owned(), "throughput_per_s depends on time"),
            ("primary_metric = \"cpu_ms_per_request\"\n".to_owned(), "cpu_ms_per_request is CPU time"),
            (
                "primary_metric = \"rss_bytes\"\nobserve = [\"stacks\"]\n".to_owned(),
                "`stacks` measures times",
            ),
        ] {
            let found = mistakes(&format!("{text}{guest}"));
            assert!(found.len() == 1 && found[0].contains(wrong), "{text}: {found:?}");
        }
        assert!(mistakes(guest)[0].contains("rss_bytes, native_bytes"));
    }

    #[test]
    fn a_machine_that_cannot_be_is_named() {
        let of = |keys: &str| mistakes(&format!("primary_metric = \"rss_bytes\"\n[guest]\n{keys}\n"));
        assert!(of("machine = \"sparc\"")[0].contains("sparc"), "{:?}", of("machine = \"sparc\""));
        assert!(of("machine = \"power9\"\nprocessors = 1\nnodes = 2")[0].contains("2 memory nodes"));
        assert!(of("machine = \"power9\"\nmemory = \"16m\"")[0].contains("16 MiB"));
    }

    #[test]
    fn what_a_guest_cannot_do_is_refused() {
        let guest = "primary_metric = \"rss_bytes\"\n[guest]\nmachine = \"x86-64\"\n";
        for (text, wrong) in [
            ("[capacity]\n", "a capacity is a rate"),
            ("[emulated]\n", "[emulated] counts instructions"),
            ("[design]\nkind = \"duet\"\n", "each block a guest"),
        ] {
            let found = mistakes(&format!("{guest}{text}"));
            assert!(found.iter().any(|one| one.contains(wrong)), "{text}: {found:?}");
        }
    }
}
