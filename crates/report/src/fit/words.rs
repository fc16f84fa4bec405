//! The sentences about a fitted container.

use assay_kit::number::significant;
use assay_kit::text::clean;
use assay_model::{
    Estimate, FitFormulaName, FitOutcome, FitProbe, FitPurpose, FitReport, FitResource, FitVerdict,
    FittedLimit, FittedOption, Metric,
};

const MIB: f64 = 1_048_576.0;

/// Whole MiB, rounded up: a limit in it holds.
pub fn mib(bytes: f64) -> u64 {
    (bytes / MIB).ceil() as u64
}

/// `152 MiB [149, 155]`.
pub fn memory(limit: Estimate) -> String {
    let ends = limit.ends().map_or_else(String::new, |(low, high)| format!(" [{}, {}]", mib(low), mib(high)));
    format!("{} MiB{ends}", mib(limit.estimate))
}

/// `350 millicores [340, 360]`.
pub fn cpu(limit: Estimate) -> String {
    let ends = limit.ends().map_or_else(String::new, |(low, high)| format!(" [{low:.0}, {high:.0}]"));
    format!("{:.0} millicores{ends}", limit.estimate)
}

/// The answer.
pub fn answer(report: &FitReport) -> String {
    if let Some(option) = &report.option {
        return of_option(option);
    }
    let limits = limits(report);
    if report.outcome == FitOutcome::NothingHolds {
        let first = report.probes.iter().find(|probe| probe.purpose == FitPurpose::Unlimited);
        return match first.filter(|probe| probe.verdict != FitVerdict::Holds) {
            Some(first) => format!(
                "No container holds: even without limits the server {} ({}).",
                became(first.verdict),
                clean(&first.detail)
            ),
            None => {
                "No container holds: not even one as large as the server's use without limits.".to_owned()
            }
        };
    }
    let found: Vec<String> = [
        report.memory.as_ref().map(|of| format!("{} of memory", memory(of.limit))),
        report.cpu.as_ref().map(|of| format!("{} of CPU", cpu(of.limit))),
    ]
    .into_iter()
    .flatten()
    .collect();
    if found.is_empty() {
        let why = match report.outcome {
            FitOutcome::Stopped => "it was stopped before a limit was found",
            _ => "no trial counts, see the probes",
        };
        return format!("Nothing can be said: {why}.");
    }
    let all = [&report.memory, &report.cpu];
    let is_proved = all.into_iter().flatten().all(|of| of.is_proved) && report.outcome == FitOutcome::Found;
    let heap = report.heap.as_ref().filter(|_| report.memory.is_some());
    let heap = heap.map_or_else(String::new, |heap| format!(" with -Xmx{}m", heap.max_bytes >> 20));
    let what = found.join(" and ");
    let runs = all.into_iter().flatten().map(|of| of.holds).min().unwrap_or(0);
    if is_proved {
        format!(
            "The smallest container that keeps {limits} has {what}{heap}: {runs} of {runs} fresh runs at it held."
        )
    } else {
        format!("Not proved yet: the smallest container that keeps {limits} has about {what}{heap}.")
    }
}

fn limits(report: &FitReport) -> String {
    let of: Vec<String> = report
        .limits
        .latency
        .iter()
        .map(|of| format!("{} under {} ms", of.percentile, of.limit_ms))
        .collect();
    if of.is_empty() { "the server alive".to_owned() } else { of.join(" and ") }
}

fn of_option(option: &FittedOption) -> String {
    let name = clean(&option.option);
    let metric =
        Metric::by_id(&option.metric).map_or_else(|| option.metric.clone(), |of| of.title.to_string());
    match (option.value, option.best) {
        (Some(value), Some(best)) if value == best => format!(
            "{value} is the best value of {name}, and no smaller one is shown to be within {} % of it ({metric}).",
            option.within_percent
        ),
        (Some(value), Some(best)) => format!(
            "{value} is the smallest value of {name} that is within {} % of the best, {best} ({metric}).",
            option.within_percent
        ),
        _ => format!("Nothing can be said of {name}: no value has an interval ({metric})."),
    }
}

/// What to do.
pub fn action(report: &FitReport) -> String {
    match report.outcome {
        FitOutcome::NothingHolds => {
            "→ Lower the load, or allow longer response times: no limit is to blame.".to_owned()
        }
        FitOutcome::Undecided => "→ Repeat it with a longer --budget; a quiet machine needs less.".to_owned(),
        _ => set(report).map_or_else(String::new, |set| format!("→ Set {set}.")),
    }
}

/// What to set, in a line.
fn set(report: &FitReport) -> Option<String> {
    let memory = memory_to_set(report).map(|mib| format!("memory {mib}Mi"));
    let cpu = report.cpu.as_ref().map(|of| format!("cpu {:.0}m", of.limit.estimate));
    let both: Vec<String> = memory.into_iter().chain(cpu).collect();
    let heap = report.heap.as_ref().filter(|heap| !heap.is_given);
    let heap = heap.map_or_else(String::new, |heap| format!(" with -Xms{0}m -Xmx{0}m", heap.max_bytes >> 20));
    (!both.is_empty()).then(|| format!("{}{heap}", both.join(", ")))
}

/// `is killed`, to complete a sentence.
pub fn became(verdict: FitVerdict) -> &'static str {
    match verdict {
        FitVerdict::Holds => "keeps its limits",
        FitVerdict::Killed => "is killed",
        FitVerdict::BelowMinimum => "has no room for a heap",
        FitVerdict::Ended => "does not start, or ends",
        FitVerdict::WrongData => "has wrong data",
        FitVerdict::Errors => "fails requests",
        FitVerdict::Stalled => "waits for memory",
        FitVerdict::Throttled => "is throttled",
        FitVerdict::TooSlow => "is too slow",
        FitVerdict::NotMeasured | FitVerdict::Other => "was not measured",
    }
}

/// What happens first below a limit.
pub fn below(resource: FitResource, of: &FittedLimit) -> String {
    let size = |size: f64| match resource {
        FitResource::Cpu => format!("{size:.0} millicores"),
        _ => format!("{} MiB", mib(size)),
    };
    match &of.below {
        Some(below) => {
            let percent = 100.0 * (1.0 - below.size / of.limit.estimate);
            format!(
                "at {} ({percent:.0} % less) it {}: {}",
                size(below.size),
                became(below.verdict),
                clean(&below.detail)
            )
        }
        None if of.is_smallest_tried => "every size that was tried held: a smaller one may, too".to_owned(),
        None => "no smaller size failed".to_owned(),
    }
}

/// Memory for the block to paste: what was proved, and code and files that other groups paid for here.
pub fn memory_to_set(report: &FitReport) -> Option<u64> {
    let elsewhere = report.heap.as_ref().map_or(0, |heap| heap.charged_elsewhere_bytes);
    report.memory.as_ref().map(|of| mib(of.limit.estimate + elsewhere as f64))
}

/// The `resources:` of a container, and the variable that gives its JVM the heap.
pub fn resources(report: &FitReport) -> Option<String> {
    let memory = memory_to_set(report).map(|mib| format!("memory: \"{mib}Mi\""));
    let cpu = report.cpu.as_ref().map(|of| format!("cpu: \"{:.0}m\"", of.limit.estimate));
    let both: Vec<String> = memory.into_iter().chain(cpu).collect();
    if both.is_empty() {
        return None;
    }
    let lines = |name: &str| {
        let of_each: String = both.iter().map(|line| format!("    {line}\n")).collect();
        format!("  {name}:\n{of_each}")
    };
    let mut text = format!("resources:\n{}{}", lines("requests"), lines("limits"));
    if let Some(heap) = report.heap.as_ref().filter(|heap| !heap.is_given) {
        let size = heap.max_bytes >> 20;
        text += &format!("env:\n  - name: JAVA_TOOL_OPTIONS\n    value: \"-Xms{size}m -Xmx{size}m\"\n");
    }
    Some(text)
}

/// Name of a formula.
pub fn formula(name: FitFormulaName) -> &'static str {
    match name {
        FitFormulaName::Flat80 => "flat 80 % for the heap",
        FitFormulaName::Buildpack => "buildpack memory calculator",
        FitFormulaName::Vpa => "Vertical Pod Autoscaler",
        FitFormulaName::Kruize => "Kruize",
        FitFormulaName::Advise => "assay memory advise, worst case",
        FitFormulaName::Other => "unknown",
    }
}

/// Why a probe was made.
pub fn purpose(probe: &FitProbe) -> &'static str {
    match probe.purpose {
        FitPurpose::Unlimited => "what it needs without limits",
        FitPurpose::Search => "tells most about the smallest size",
        FitPurpose::Prove => "a size that held, again",
        FitPurpose::Compare => "values side by side",
        FitPurpose::Other => "unknown",
    }
}

/// A figure, or a dash.
pub fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), significant)
}
