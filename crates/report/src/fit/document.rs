//! A fitted container: the answer with what to paste, what goes wrong below it, the curve, what formulas would have set, every probe.

use super::{picture, tables, words};
use assay_kit::document::{Answer, Block, Claim, Document, Figure, Section, Shown};
use assay_kit::number::{size, time};
use assay_kit::page::drawings;
use assay_kit::text::clean;
use assay_model::{FitReport, FitResource, Problem};

/// The meaning of the runs and of the interval.
const HOW_TO_READ: &str = "Each run is a fresh process in a control group with that limit, warmed up and then measured. Its whole \
                           heap is touched at the start (-XX:+AlwaysPreTouch), so a kill that would take hours happens in the first \
                           minute. The interval is of the size at which 95 of 100 runs hold. The limit holds for this mix of requests.";

/// The smallest container, or value of an option.
pub fn document(report: &FitReport) -> Document {
    let mut rest = Vec::new();
    rest.extend(words::resources(report).map(|text| Block::Verbatim {
        name: "What to set".to_owned(),
        id: Some("resources"),
        text,
        language: "yaml",
    }));
    let claim =
        |(name, text): (&str, String)| Claim { claim: format!("{name}: {text}"), details: Vec::new() };
    rest.push(Block::Claims(facts(report).into_iter().map(claim).collect()));
    if let Some(option) = &report.option {
        rest.push(tables::values(option).into());
    } else {
        rest.push(Block::explanation(HOW_TO_READ));
    }
    let answer = Answer {
        sentence: words::answer(report),
        action: words::action(report),
        chart: curve(report),
        rest,
        ..Answer::default()
    };
    let jvm = report.jvm.as_ref().map_or_else(
        || "a JVM that the command starts by other means".to_owned(),
        |jvm| format!("JDK {}", clean(&jvm.version)),
    );
    let mut sections = Vec::new();
    if report.option.is_none() {
        sections.push(
            Section::new("formulas", "What formulas would have set", [tables::formulas(report).into()])
                .of_entries(),
        );
        sections.push(Section::new("probes", "Every run", [tables::probes(report).into()]).in_full());
    }
    sections.push(Section::new("conditions", "How it was measured", [conditions(report)]).in_full());
    Document {
        lines: vec![format!("{}; {jvm}; {}", clean(&report.server), loads(report)).into()],
        sections,
        ..Document::new("The smallest container, by Assay", "Container fitted", answer)
            .with_problems(Problem::listed(&report.problems))
    }
}

fn loads(report: &FitReport) -> String {
    report.loads.iter().map(|load| clean(load)).collect::<Vec<_>>().join("; ")
}

fn curve(report: &FitReport) -> Option<Figure> {
    if !picture::has_curve(report) {
        return None;
    }
    let pictures = drawings("fit-curve", |width, id| picture::curve(report, width, id));
    let caption = "Response time (p99) and CPU time per request over the memory limit, on a logarithmic axis. A mark is a run, a line goes through \
                   the means of runs at the same limit.";
    let figure = Figure::new("fit-curve", "response time and CPU time over the memory limit", pictures);
    Some(figure.caption(caption).behind([tables::curve(report)], Shown::Everywhere))
}

/// What was found, in terms.
fn facts(report: &FitReport) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut put = |name: &'static str, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    if let Some(memory) = &report.memory {
        put("memory limit", Some(format!("{}, 95 % interval", words::memory(memory.limit))));
        put("below it", Some(words::below(FitResource::Memory, memory)));
        put(
            "margin",
            memory.margin_bytes.map(|of| {
                format!("{} above the largest charge of its runs, page cache not counted", size(of))
            }),
        );
    }
    if let Some(heap) = &report.heap {
        let how = if heap.is_given { "as given" } else { "the rest of the limit" };
        put(
            "heap",
            Some(format!(
                "-Xmx{}m, {how}, plus {} for everything else",
                heap.max_bytes >> 20,
                size(heap.beside_bytes)
            )),
        );
        let elsewhere = heap.charged_elsewhere_bytes;
        let what = format!(
            "{} of code and files that other control groups used first. A container alone on its machine pays for them, so the limit to set includes them",
            size(elsewhere)
        );
        put("charged elsewhere", (elsewhere != 0).then_some(what));
    }
    if let Some(cpu) = &report.cpu {
        put("CPU limit", Some(format!("{}, 95 % interval", words::cpu(cpu.limit))));
        put("below that", Some(words::below(FitResource::Cpu, cpu)));
    }
    facts
}

fn conditions(report: &FitReport) -> Block {
    let limits = &report.limits;
    let latency: Vec<String> = limits.latency.iter().map(ToString::to_string).collect();
    let machine = &report.provenance;
    Block::terms([
        ("limits", latency.join(", ")),
        (
            "allowed",
            format!(
                "failed requests {} %, waiting for memory {} % of the time, throttled {} % of the periods",
                limits.errors_percent_max, limits.stalled_percent_max, limits.throttled_percent_max
            ),
        ),
        ("load", loads(report)),
        ("window", format!("{} s", report.window_s)),
        ("time", format!("{} of {}", time(report.took_s * 1e9), time(report.budget_s * 1e9))),
        ("machine", machine.cpu_model.as_deref().map_or_else(|| "unknown".to_owned(), clean)),
        ("seed", report.seed.to_string()),
        ("runs", clean(&report.runs)),
    ])
}
