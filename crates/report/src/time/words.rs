//! What an account of CPU time says, in words that terminal and page share.

use assay_kit::Row;
use assay_kit::number::{count, counted, duration, percent, percent_share, significant};
use assay_kit::text::{clean, to_the_second};
use assay_model::{Estimate, ThreadTime, TimeGroup, TimeJvm, TimeReport, TimeSums};

const NS_PER_S: f64 = 1e9;
/// An interval of a share that is wider than this tells nothing.
const SHARE_WIDTH_MAX: f64 = 0.4;
/// Not known, in a cell.
pub const UNKNOWN: &str = "-";

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
    let split = process.kernel_share.as_ref().map_or_else(
        || "; too few samples to divide user and kernel".to_owned(),
        |share| {
            format!(
                "; user {}, kernel {}",
                percent_share(1.0 - share.estimate),
                share_with_error(Some(share))
            )
        },
    );
    format!(
        "{} of CPU time in {}: {} processors{of}{split}",
        duration(process.cpu_ns),
        duration(report.duration_ns),
        significant(processors)
    )
}

/// CPU time for each request, where their number is known.
pub fn per_request(report: &TimeReport) -> Option<String> {
    let requests = report.requests.filter(|requests| 0.0 < *requests)?;
    let cpu_ns = report.process.cpu_ns;
    let split = report.process.kernel_share.map_or_else(String::new, |share| {
        let kernel_ns = ((cpu_ns as f64 * share.estimate).round() as u64).min(cpu_ns);
        let (user, kernel) = (ms_each(cpu_ns - kernel_ns, requests), ms_each(kernel_ns, requests));
        format!(": user {user}, kernel {kernel}")
    });
    let all = ms_each(cpu_ns, requests);
    Some(format!("{all} of CPU time per request ({} requests){split}", significant(requests)))
}

/// Milliseconds for each request.
pub fn ms_each(ns: u64, requests: f64) -> String {
    match ns as f64 / 1e6 / requests {
        ms if !ms.is_finite() => UNKNOWN.to_owned(),
        ms if 0.0 < ms && ms < 0.001 => "<0.001 ms".to_owned(),
        ms => format!("{} ms", significant(ms)),
    }
}

/// That the tree adds up to the kernel's total, and what the difference is.
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

/// What the difference is made of.
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
    format!("The difference is {missing}; moments of reading explain {reading} of it.{ended}")
}

/// Threads that ended meanwhile, and how far they are counted.
fn ended(report: &TimeReport) -> String {
    let threads = |number| counted(number, "thread", "threads");
    let Some(records) = report.exit_records else {
        return match report.threads_ended {
            0 => String::new(),
            number => format!(" {} ended meanwhile, counted up to the last sample of each.", threads(number)),
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
        (seen, unseen) => format!(
            " {} ended meanwhile, {} of them never seen; by the kernel's records they used {} after the last sample of each{inferred}.{lost}",
            threads(seen + unseen),
            count(unseen),
            duration(records.cpu_ns)
        ),
    }
}

/// The name of threads that share one, and whether their role is but inferred.
pub fn group_name(group: &TimeGroup) -> String {
    clean(&group.name) + by_name(group.is_role_inferred)
}

/// The same of one thread.
pub fn thread_name(thread: &ThreadTime) -> String {
    clean(&thread.name) + by_name(thread.is_role_inferred)
}

fn by_name(is_role_inferred: bool) -> &'static str {
    if is_role_inferred { " (by name)" } else { "" }
}

/// The control group beside the process.
pub fn cgroup(report: &TimeReport) -> Option<String> {
    let group = report.cgroup.as_ref()?;
    let others = group.others_cpu_ns;
    let sign = if others < 0 { "-" } else { "" };
    let limit =
        group.cpus_max.map_or("no CPU limit".to_owned(), |cpus| format!("limit {} CPUs", significant(cpus)));
    Some(format!(
        "Control group {}: {}, of which {sign}{} are not this process's; {limit}",
        clean(&group.path),
        duration(group.cpu_ns),
        duration(others.unsigned_abs())
    ))
}

/// What stands beside CPU time: waits, throttling, steal, switches, faults.
pub fn beside(report: &TimeReport) -> Vec<Row> {
    let row = |value: Option<String>, what: &str| Some(Row { value: value?, what: what.to_owned() });
    let time = |ns: Option<u64>| ns.map(duration);
    let of_all = |of: fn(&TimeSums) -> Option<u64>| {
        let mut sums = report.roles.iter().map(|role| of(&role.sums));
        sums.try_fold(0u64, |sum, of| Some(sum.saturating_add(of?)))
    };
    let group = report.cgroup.as_ref();
    // Without a limit the kernel counts zeros.
    let limited = group.filter(|g| g.cpus_max.is_some() || g.throttled_periods.is_some_and(|n| n != 0));
    let throttled = limited.and_then(|g| g.throttled_periods.zip(g.throttled_ns));
    let stolen = report.machine.steal_ns;
    let capacity_ns = report.duration_ns.saturating_mul(u64::from(report.machine.cpus.unwrap_or(0)));
    let of_machine =
        |ns: Option<u64>| ns.map(|ns| format!("{} ({})", duration(ns), percent(ns, capacity_ns)));
    let rows = [
        row(time(of_all(|s| s.run_delay_ns)), "threads were ready to run and waited for a processor"),
        row(time(of_all(|s| s.block_io_ns)), "threads were blocked on block devices"),
        row(
            throttled.map(|(periods, ns)| {
                format!("{} in {}", duration(ns), counted(periods, "period", "periods"))
            }),
            "the control group was throttled by its CPU limit",
        ),
        row(
            of_machine(stolen),
            "the hypervisor ran something else while a thread was ready, on the whole machine",
        ),
        row(of_machine(report.machine.busy_ns), "the machine was busy, everybody together"),
        row(
            of_all(|s| s.voluntary_switches).map(|n| rate(n, report)),
            "switches because a thread waited for something",
        ),
        row(
            of_all(|s| s.involuntary_switches).map(|n| rate(n, report)),
            "switches because the kernel took the processor away",
        ),
        row(Some(rate(report.process.minor_faults, report)), "page faults without a read from a disk"),
        row(Some(rate(report.process.major_faults, report)), "page faults with one"),
        row(Some(count(report.process.threads)), "threads at the end"),
    ];
    rows.into_iter().flatten().collect()
}

/// So many in each second of the report.
pub fn rate(number: u64, report: &TimeReport) -> String {
    let seconds = report.duration_ns as f64 / NS_PER_S;
    if seconds <= 0.0 { count(number) } else { format!("{}/s", significant(number as f64 / seconds)) }
}

/// A share in the kernel with half of its interval: `18.2 % ±1.1`. One that may be nearly anything is not known.
pub fn share_with_error(share: Option<&Estimate>) -> String {
    let tells = |share: &&Estimate| share.ends().is_none_or(|(low, high)| high - low <= SHARE_WIDTH_MAX);
    let Some(share) = share.filter(tells) else { return UNKNOWN.to_owned() };
    let ends = share.ends().map_or_else(String::new, |(low, high)| {
        // The larger side: near 0 and 100 % the interval is not even.
        let half = (share.estimate - low).max(high - share.estimate);
        format!(" ±{:.1}", 100.0 * half)
    });
    format!("{}{ends}", percent_share(share.estimate))
}

/// Where figures come from: figure, basis, source.
pub fn figures(report: &TimeReport) -> Vec<(String, String, String)> {
    let row = |f: &assay_model::TimeFigure| {
        (clean(&f.figure), format!("{}, {}", f.basis, f.source), clean(&f.from))
    };
    report.figures.iter().map(row).collect()
}
