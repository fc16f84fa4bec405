//! CPU time in the stack traces of exceptions, by samples.

use super::rule::{Found, Rule};
use super::stacks::frames;
use super::words::percent;
use assay_model::{
    FrameKind, RuleId, SampledFrame, SampledStack, Severity, Threshold, TimeReport, TimeSamples,
};

pub(super) static RULES: &[&Rule] = &[&STACK_TRACES_FILLED];

/// Part of the samples from which on it stands out.
const FILLED: Threshold = Threshold::percent("filled", 10.0);
/// Fewer samples say nothing: their share would be uncertain by more than a quarter of itself.
const SAMPLES: Threshold = Threshold::count("samples", 50);
/// What the constructor of an exception calls in libjvm: it walks the thread's stack, up to `MaxJavaStackTraceDepth` frames. Every libjvm
/// exports the first; the second is visible only where libjvm has its full symbol table.
const FILLS_IN: [&str; 2] = ["JVM_FillInStackTrace", "java_lang_Throwable::fill_in_stack_trace"];

static STACK_TRACES_FILLED: Rule = Rule {
    id: RuleId::of("stack-traces-filled"),
    severity: Severity::Warning,
    thresholds: &[FILLED, SAMPLES],
    evidence: "Samples within `Throwable.fillInStackTrace`, from {filled} of all and {samples} on. Stacks that are not listed are not \
               counted, so that it is a lower bound.",
    cause: "Exceptions steer the program where its stacks are deep: each new one walks over the whole stack.",
    fix: "Make the exceptions that are thrown often without a stack trace: the constructor with `writableStackTrace`.",
    alternatives: &["Cut the traces off with `-XX:MaxJavaStackTraceDepth=64` (default 1024)."],
    judge: stack_traces_filled,
};

fn stack_traces_filled(report: &TimeReport) -> Vec<Found> {
    let Some(samples) = &report.samples else { return Vec::new() };
    let filled: Vec<&SampledStack> = samples.stacks.iter().filter(|stack| fills_in(samples, stack)).collect();
    let count: u64 = filled.iter().map(|stack| stack.samples).sum();
    let part = count as f64 / samples.samples.max(1) as f64;
    if count < SAMPLES.whole() || part < FILLED.share() {
        return Vec::new();
    }
    let thrown = filled.iter().filter_map(|stack| Some((stack.samples, last_java(samples, stack)?)));
    let most = thrown.max_by_key(|(samples, _)| *samples);
    let by = most.map_or_else(String::new, |(_, frame)| format!("; most often below {}", frame.name));
    let claim = format!("At least {} of the CPU time fills in the stack traces of exceptions", percent(part));
    let evidence = format!(
        "{count} of {} samples{by}; a finding from {FILLED} and {SAMPLES} samples on",
        samples.samples
    );
    let cpu_ns = (report.process.cpu_ns as f64 * part) as u64;
    let step = "Make the exceptions that are thrown often without a stack trace: the constructor with writableStackTrace";
    vec![
        STACK_TRACES_FILLED
            .finding(claim, evidence)
            .of_cpu(cpu_ns)
            .to_do(step)
            .or("Cut the traces off: -XX:MaxJavaStackTraceDepth=64"),
    ]
}

fn fills_in(samples: &TimeSamples, stack: &SampledStack) -> bool {
    frames(&samples.frames, &stack.frames)
        .any(|frame| frame.kind == FrameKind::Jvm && FILLS_IN.contains(&frame.name.as_str()))
}

/// The innermost method that is known by its name.
fn last_java<'a>(samples: &'a TimeSamples, stack: &'a SampledStack) -> Option<&'a SampledFrame> {
    frames(&samples.frames, &stack.frames)
        .rev()
        .find(|frame| frame.kind == FrameKind::Java && frame.name.contains('.'))
}
