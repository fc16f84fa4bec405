//! Processors: speed, number, queues, and the threads of collectors.

use crate::check::view::{Judged, Judgement, View, list_len};
use std::collections::BTreeMap;

const ONLINE: &str = "/sys/devices/system/cpu/online";
/// Share of time in which something may wait.
const PRESSURE_PERCENT_MAX: f64 = 10.0;
const STEAL_PERCENT_MAX: f64 = 1.0;
const LOAD_PER_PROCESSOR_MAX: f64 = 1.5;
const THROTTLED_PART_MAX: f64 = 0.01;
/// Of the paper: GC threads for each hardware thread.
const GC_THREADS_PER_PROCESSOR_MAX: u64 = 4;

pub(super) fn all_performance(view: &View<'_>) -> Judgement {
    let files = view.all(&view.rule.reads[0])?;
    if files.is_empty() {
        let why = "this kernel does not set the frequency (a virtual machine does not show it)";
        return Err(Judged { verdict: view.rule.absent, value: None, why: why.to_owned() });
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    files.iter().for_each(|(_, word)| *counts.entry(word).or_default() += 1);
    let other = counts.keys().find(|word| **word != "performance");
    let each: Vec<String> = counts.iter().map(|(word, count)| format!("{word} on {count}")).collect();
    Ok(Judged::bad_if(other.is_some(), other.unwrap_or(&"performance"), each.join(", ")))
}

pub(super) fn smt(view: &View<'_>) -> Judgement {
    let control = view.text("/sys/devices/system/cpu/smt/control")?.trim();
    match control {
        "on" => Ok(Judged::good(control, "all hardware threads may be used")),
        "off" | "forceoff" => Ok(Judged::bad(control, "hardware threads are switched off")),
        "notsupported" | "notimplemented" => {
            Err(Judged::unknown(format!("{control}: the kernel cannot say whether there are more")))
        }
        // POWER gives the number of threads for each core.
        other => match other.parse::<u64>() {
            Ok(1) => Ok(Judged::bad(other, "one thread for each core")),
            Ok(_) => Ok(Judged::good(other, "threads for each core")),
            Err(_) => Err(Judged::unknown(format!("{other:?} is not a state that is known here"))),
        },
    }
}

pub(super) fn offline(view: &View<'_>) -> Judgement {
    let [present, online] = ["/sys/devices/system/cpu/present", ONLINE].map(|path| {
        let text = view.text(path)?;
        list_len(text).ok_or_else(|| Judged::unknown(format!("{path}: {:?} is not a list", text.trim())))
    });
    let (present, online) = (present?, online?);
    Ok(Judged::bad_if(online < present, format!("{online} of {present}"), "processors online"))
}

pub(super) fn steal(view: &View<'_>) -> Judgement {
    let line = view.text("/proc/stat")?.lines().next().unwrap_or_default();
    // user nice system idle iowait irq softirq steal; guest time is part of user.
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).map_while(|word| word.parse().ok()).collect();
    let steal = ticks.get(7).ok_or_else(|| Judged::unknown("/proc/stat does not count it"))?;
    let all = ticks.iter().fold(0u64, |sum, part| sum.saturating_add(*part)).max(1);
    let percent = *steal as f64 * 100.0 / all as f64;
    let why = format!("of the time since the machine started; good: at most {STEAL_PERCENT_MAX} %");
    Ok(Judged::bad_if(STEAL_PERCENT_MAX < percent, format!("{percent:.1} %"), why))
}

/// The share of the last minute in which some task waited; `/proc/pressure`.
pub(super) fn pressure(view: &View<'_>) -> Judgement {
    let text = view.text(&view.rule.reads[0])?;
    let some = text.lines().find_map(|line| line.strip_prefix("some "));
    let minute = some.and_then(|line| line.split(' ').find_map(|word| word.strip_prefix("avg60=")));
    let percent: f64 = minute
        .and_then(|word| word.parse().ok())
        .ok_or_else(|| Judged::unknown("it does not give the last minute"))?;
    let why = format!("of the last minute; good: at most {PRESSURE_PERCENT_MAX} %");
    Ok(Judged::bad_if(PRESSURE_PERCENT_MAX < percent, format!("{percent:.1} %"), why))
}

pub(super) fn load_average(view: &View<'_>) -> Judgement {
    let text = view.text("/proc/loadavg")?;
    let five_minutes = text.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok());
    let load = five_minutes.ok_or_else(|| Judged::unknown("it does not give five minutes"))?;
    let each = load / view.processors()? as f64;
    let why = format!("{each:.2} for each processor; good: at most {LOAD_PER_PROCESSOR_MAX}");
    Ok(Judged::bad_if(LOAD_PER_PROCESSOR_MAX < each, load, why))
}

pub(super) fn prefetcher(view: &View<'_>) -> Judgement {
    let value = view.text("/sys/devices/system/cpu/dscr_default")?.trim();
    let why = if value == "0" { "the processor's own setting" } else { "somebody set it: compare both" };
    Ok(Judged::bad_if(value != "0", value, why))
}

pub(super) fn throttled(view: &View<'_>) -> Judgement {
    let group = view.group()?;
    if group.cpus.is_none() {
        return Err(Judged::not_applicable("its control group has no CPU limit"));
    }
    let unknown = || Judged::unknown("the kernel does not count it");
    let (throttled, cpu) = (group.throttled_ns.ok_or_else(unknown)?, group.cpu_ns.ok_or_else(unknown)?);
    let value = format!("{:.1} s", throttled as f64 / 1e9);
    let why = format!("stopped by its limit, with {:.1} s of CPU time used", cpu as f64 / 1e9);
    Ok(Judged::bad_if(cpu as f64 * THROTTLED_PART_MAX < throttled as f64, value, why))
}

pub(super) fn gc_threads_over_limit(view: &View<'_>) -> Judgement {
    let Some(cpus) = view.group()?.cpus else {
        return Err(Judged::not_applicable("its control group has no CPU limit"));
    };
    let threads = gc_threads(view)?;
    let why = format!("ParallelGCThreads, with a limit of {cpus:.1} processors");
    Ok(Judged::bad_if(cpus.ceil() < threads as f64, threads, why))
}

pub(super) fn gc_threads_sum(view: &View<'_>) -> Judgement {
    if view.snapshot.jvms.is_empty() {
        return Err(Judged::not_applicable("no JVM runs here"));
    }
    let threads: Result<Vec<u64>, Judged> =
        view.snapshot.jvms.iter().map(|jvm| gc_threads(&view.of_jvm(jvm))).collect();
    let sum = threads?.into_iter().fold(0u64, u64::saturating_add);
    let processors = view.processors()?;
    let most = processors.saturating_mul(GC_THREADS_PER_PROCESSOR_MAX);
    let why =
        format!("in {} JVMs on {processors} processors; good: at most {most}", view.snapshot.jvms.len());
    Ok(Judged::bad_if(most < sum, sum, why))
}

/// SerialGC gives 0 and has one.
fn gc_threads(view: &View<'_>) -> Result<u64, Judged> {
    Ok(view.flag_number("ParallelGCThreads")?.max(1))
}
