//! What an account of CPU time says, in sentences.

use super::figures::{SAMPLES_MIN, each, share_with_error};
use assay_kit::number::{count, counted, duration, percent_share, significant};
use assay_kit::text::{clean, to_the_second};
use assay_model::{TimeJvm, TimeReport};

/// What was looked at: pid, JVM, collector, how long, when.
pub fn subject(report: &TimeReport) -> String {
    let mut parts = vec![format!("pid {}", report.pid)];
    match &report.jvm {
        Some(jvm) => {
            parts.extend(jvm_version(jvm));
            parts.extend(jvm.collector.as_ref().map(|c| clean(c)));
        }
        None => parts.push("not a JVM that could be read".to_owned()),
    }
    parts.push(format!(
        "{} in {}",
        counted(report.readings, "sample", "samples"),
        duration(report.duration_ns)
    ));
    parts.push(to_the_second(&report.taken_at));
    parts.join(" · ")
}

/// The release that users know, and the JVM's own version: that of JDK 8 has a number of HotSpot's, `25.504-b01`.
fn jvm_version(jvm: &TimeJvm) -> Option<String> {
    let version = jvm.version.as_ref().map(|version| clean(version));
    match (jvm.feature, version) {
        (Some(feature), Some(version)) if is_of_release(&version, feature) => Some(format!("JVM {version}")),
        (Some(feature), Some(version)) => Some(format!("JDK {feature} ({version})")),
        (Some(feature), None) => Some(format!("JDK {feature}")),
        (None, version) => version.map(|version| format!("JVM {version}")),
    }
}

fn is_of_release(version: &str, feature: u32) -> bool {
    let number = feature.to_string();
    version.strip_prefix(&number).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The answer: CPU time, how many processors that is, and its split.
pub fn headline(report: &TimeReport) -> String {
    let process = &report.process;
    let processors = process.cpu_ns as f64 / report.duration_ns.max(1) as f64;
    let of = report.machine.cpus.map_or_else(String::new, |cpus| format!(" of {cpus}"));
    let kernel = process.kernel_share.as_ref();
    let split = match kernel.zip(share_with_error(kernel)) {
        Some((share, kernel)) => format!("; user {}, kernel {kernel}", percent_share(1.0 - share.estimate)),
        None => "; too few samples to divide user and kernel".to_owned(),
    };
    let few = report.samples.as_ref().map(|samples| samples.samples).filter(|number| *number < SAMPLES_MIN);
    let few = few.map_or_else(String::new, |number| {
        format!("; only {} where in the code", counted(number, "sample says", "samples say"))
    });
    format!(
        "{} of CPU time in {}: {} processors{of}{split}{few}",
        duration(process.cpu_ns),
        duration(report.duration_ns),
        significant(processors)
    )
}

/// CPU time for each request, where their number is known.
pub fn per_request(report: &TimeReport) -> Option<String> {
    let requests = report.requests.filter(|requests| 0.0 < *requests)?;
    let cpu_ns = report.process.cpu_ns;
    let split = report.process.kernel_share.and_then(|share| {
        let kernel_ns = ((cpu_ns as f64 * share.estimate).round() as u64).min(cpu_ns);
        let (user, kernel) = (each(cpu_ns - kernel_ns, requests)?, each(kernel_ns, requests)?);
        Some(format!(": user {user}, kernel {kernel}"))
    });
    let all = each(cpu_ns, requests)?;
    let split = split.unwrap_or_default();
    Some(format!("{all} of CPU time per request ({} requests){split}", count(requests.round() as u64)))
}

/// That roles and threads add up to the kernel's total, and what the difference is.
pub fn closure(report: &TimeReport) -> String {
    let total = report.process.cpu_ns;
    let difference = report.difference_ns;
    let share = if total == 0 { 0.0 } else { difference as f64 / total as f64 };
    let sign = if difference < 0 { "-" } else { "+" };
    format!(
        "Threads {} {sign} {} = {}, the kernel's total for the process (difference {sign}{})",
        duration(report.threads_cpu_ns),
        duration(difference.unsigned_abs()),
        duration(total),
        percent_share(share.abs())
    )
}

/// The parts of the difference.
pub fn difference(report: &TimeReport) -> String {
    let reading = duration(report.difference_reading_ns);
    let ended = ended(report);
    if report.difference_ns.unsigned_abs() <= report.difference_reading_ns {
        return format!(
            "The difference lies within {reading}, by which the moments of reading differ.{ended}"
        );
    }
    let missing = match report.exit_records {
        Some(records) if !records.has_lost => "what threads use while they start and end",
        _ => "what threads used after their last sample, and threads that came and went between two samples",
    };
    format!("The difference is {missing}, of that {reading} timing error.{ended}")
}

/// Threads that ended meanwhile, and how far they are counted.
fn ended(report: &TimeReport) -> String {
    let threads = |number| counted(number, "thread", "threads");
    let Some(records) = report.exit_records else {
        return match report.threads_ended {
            0 => String::new(),
            number => format!(
                " {} ended during the measurement, counted up to the last sample of each.",
                threads(number)
            ),
        };
    };
    let lost = if records.has_lost {
        " More ended at once than the kernel keeps records of: some are missing."
    } else {
        ""
    };
    let inferred = match records.inferred_ns {
        0 => String::new(),
        ns => format!(" ({} of it inferred from the total)", duration(ns)),
    };
    match (records.threads_seen, records.threads_unseen) {
        (0, 0) => lost.to_owned(),
        (sampled, not_sampled) => format!(
            " {} ended during the measurement, {} of them in no sample. By the kernel's records they used {} \
                after the last sample of each{inferred}.{lost}",
            threads(sampled + not_sampled),
            count(not_sampled),
            duration(records.cpu_ns)
        ),
    }
}

/// The control group beside the process.
pub fn cgroup(report: &TimeReport) -> Option<String> {
    let group = report.cgroup.as_ref()?;
    let others = group.others_cpu_ns;
    let sign = if others < 0 { "-" } else { "" };
    let limit =
        group.cpus_max.map_or("no CPU limit".to_owned(), |cpus| format!("limit {} CPUs", significant(cpus)));
    Some(format!(
        "Control group {}: {}, including {sign}{} of other processes, {limit}",
        clean(&group.path),
        duration(group.cpu_ns),
        duration(others.unsigned_abs())
    ))
}
