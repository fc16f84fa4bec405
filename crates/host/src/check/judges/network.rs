//! Network: which processor receives, what overflowed, what is near its limit.

use crate::check::rule::Bound;
use crate::check::view::{Judged, Judgement, View};
use crate::check::words::thousands;

/// Below this many packets the distribution says nothing.
const PACKETS_MIN: u64 = 100_000;
/// Share of one processor.
const RECEIVE_SHARE_MAX: f64 = 0.5;
const SECONDS_PER_DAY: f64 = 86_400.0;
const LOCAL_PORTS_MIN: u64 = 20_000;
const STATUS: &str = "/proc/{pid}/status";

pub(super) fn receive_on_one_cpu(view: &View<'_>) -> Judgement {
    let line =
        view.text("/proc/softirqs")?.lines().find_map(|line| line.trim_start().strip_prefix("NET_RX:"));
    let line = line.ok_or_else(|| Judged::unknown("/proc/softirqs has no NET_RX"))?;
    let counts: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    if counts.len() < 2 {
        return Err(Judged::not_applicable("there is one processor"));
    }
    let all = counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
    if all < PACKETS_MIN {
        return Err(Judged::unknown(format!("too few receives to say: {all} since the machine started")));
    }
    let (cpu, most) = counts.iter().enumerate().max_by_key(|(_, count)| **count).expect("there are two");
    let share = *most as f64 / all as f64;
    // Of two processors one has half by nature.
    let bound = RECEIVE_SHARE_MAX.max(1.6 / counts.len() as f64);
    let why = format!(
        "of {all} receives (NET_RX) since the machine started, on processor {cpu}; good: at most {:.0} %",
        bound * 100.0
    );
    Ok(Judged::bad_if(bound < share, format!("{:.0} %", share * 100.0), why))
}

pub(super) fn receive_steering(view: &View<'_>) -> Judgement {
    let queues = view.all("/sys/class/net/*/queues/rx-*/rps_cpus")?;
    let processors = view.processors()?;
    let mut devices: Vec<(&str, usize, usize)> = Vec::new();
    for (path, mask) in queues {
        let device = path.split('/').nth(4).unwrap_or_default();
        // The loopback device has no hardware behind it.
        if device == "lo" {
            continue;
        }
        let is_on = usize::from(mask.chars().any(|c| !matches!(c, '0' | ',')));
        match devices.iter_mut().find(|(name, ..)| *name == device) {
            Some((_, queues, on)) => (*queues, *on) = (*queues + 1, *on + is_on),
            None => devices.push((device, 1, is_on)),
        }
    }
    if devices.is_empty() || processors < 2 {
        return Err(Judged::not_applicable("there is nothing to steer"));
    }
    let is_wrong = |queues: usize, on: usize| {
        let has_enough = processors <= queues as u64;
        // A few processors share one queue well.
        (has_enough && on != 0) || (!has_enough && on == 0 && (queues as u64) * 4 < processors)
    };
    let wrong: Vec<&str> =
        devices.iter().filter(|(_, q, on)| is_wrong(*q, *on)).map(|(name, ..)| *name).collect();
    let each: Vec<String> =
        devices.iter().map(|(name, queues, on)| format!("{name}: {queues} queues, {on} steered")).collect();
    let why = format!("{}; {processors} processors", each.join("; "));
    Ok(Judged::bad_if(
        !wrong.is_empty(),
        if wrong.is_empty() { "fits".to_owned() } else { wrong.join(", ") },
        why,
    ))
}

/// Sums of the columns of `/proc/net/softnet_stat`: processed, dropped, turns that ended early. Hexadecimal, a line for each processor.
fn softnet(view: &View<'_>) -> Result<[u64; 3], Judged> {
    let mut sums = [0u64; 3];
    for line in view.text("/proc/net/softnet_stat")?.lines() {
        let columns = line.split_whitespace().map_while(|word| u64::from_str_radix(word, 16).ok());
        let columns: Vec<u64> = columns.take(3).collect();
        let columns: [u64; 3] =
            columns.try_into().map_err(|_| Judged::unknown("/proc/net/softnet_stat has another form"))?;
        (0..3).for_each(|i| sums[i] = sums[i].saturating_add(columns[i]));
    }
    Ok(sums)
}

pub(super) fn packets_dropped(view: &View<'_>) -> Judgement {
    let [processed, dropped, _] = softnet(view)?;
    since_boot(view, dropped, (processed.saturating_add(dropped), "packets"))
}

pub(super) fn receive_budget(view: &View<'_>) -> Judgement {
    let [processed, _, squeezed] = softnet(view)?;
    if processed < PACKETS_MIN {
        return Err(Judged::unknown(format!(
            "too few packets to say: {processed} since the machine started"
        )));
    }
    since_boot(view, squeezed, (processed, "packets"))
}

/// A counter since boot, against the rule's bound; `of` is what it is a part of, where the bound is one.
fn since_boot(view: &View<'_>, number: u64, of: (u64, &str)) -> Judgement {
    let (all, what) = of;
    let days = view.uptime_s().map(|seconds| seconds / SECONDS_PER_DAY);
    let (is_bad, why) = match (view.rule.bound, days) {
        (Some(Bound::Part(most)), _) => {
            let part = number as f64 / all.max(1) as f64;
            let why = format!(
                "of {} {what} since boot, {} %; good: at most {} %",
                thousands(&all.to_string()),
                percent(part),
                percent(most)
            );
            (most < part, why)
        }
        (Some(Bound::PerDay(most)), Some(days)) => {
            // A machine that runs for minutes has no rate yet.
            let each_day = number as f64 / days.max(1.0);
            let why =
                format!("{what} since boot, {} per day; good: at most {most} per day", per_day(each_day));
            (most < each_day, why)
        }
        (Some(Bound::PerDay(_)) | None, _) => (number != 0, format!("{what} since boot, an unknown time")),
    };
    Ok(Judged::bad_if(is_bad, number, why))
}

/// A rate: whole where its fraction says nothing, in groups of three digits.
fn per_day(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { thousands(&format!("{rate:.0}")) }
}

/// A part in percent, of which small ones have digits that say something.
fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent == 0.0 || 0.1 <= percent {
        format!("{percent:.1}")
    } else {
        format!("{percent:.5}").trim_end_matches('0').to_owned()
    }
}

/// A counter of `/proc/net/netstat`, which should be near 0: names in one line, numbers in the next.
pub(super) fn counted(view: &View<'_>, name: &str) -> Judgement {
    let mut lines = view.text("/proc/net/netstat")?.lines();
    while let (Some(names), Some(numbers)) = (lines.next(), lines.next()) {
        let at = names.split_whitespace().position(|word| word == name);
        if let Some(number) = at.and_then(|at| numbers.split_whitespace().nth(at)?.parse::<u64>().ok()) {
            return since_boot(view, number, (number, name));
        }
    }
    Err(Judged::unknown(format!("/proc/net/netstat has no {name}")))
}

pub(super) fn local_ports(view: &View<'_>) -> Judgement {
    let text = view.text("/proc/sys/net/ipv4/ip_local_port_range")?.trim();
    let ports: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [first, last] = ports[..] else {
        return Err(Judged::unknown(format!("{text:?} is not a range")));
    };
    let count = (last + 1).saturating_sub(first);
    let why = format!("{count} connections to one address and port; good: at least {LOCAL_PORTS_MIN}");
    Ok(Judged::bad_if(count < LOCAL_PORTS_MIN, format!("{first} {last}"), why))
}

pub(super) fn connection_tracking(view: &View<'_>) -> Judgement {
    let count = view.number("/proc/sys/net/netfilter/nf_conntrack_count")?;
    let most = view.number("/proc/sys/net/netfilter/nf_conntrack_max")?;
    Ok(Judged::bad_if(
        most / 5 * 4 < count,
        most,
        format!("{count} connections are tracked; good: below 80 %"),
    ))
}

pub(super) fn adapter_node(view: &View<'_>) -> Judgement {
    let nodes = view.all("/sys/devices/system/node/node*/cpulist")?;
    if nodes.len() < 2 {
        return Err(Judged::not_applicable("this machine has one node"));
    }
    let adapters = view.all("/sys/class/net/*/device/numa_node")?;
    let known: Vec<(&str, &str)> = adapters
        .iter()
        .filter(|(_, node)| *node != "-1")
        .map(|(path, node)| (path.split('/').nth(4).unwrap_or("?"), *node))
        .collect();
    if known.is_empty() {
        return Err(Judged::unknown("no adapter says at which node it is"));
    }
    let mut far = Vec::new();
    for jvm in &view.snapshot.jvms {
        let status = view.of_jvm(jvm).text(STATUS)?;
        let allowed =
            status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        let is_near = known.iter().any(|(_, node)| {
            let list = nodes.iter().find(|(path, _)| path.contains(&format!("/node{node}/")));
            list.and_then(|(_, list)| crate::check::view::lists_meet(list, allowed)).unwrap_or(true)
        });
        if !is_near {
            far.push(jvm.pid.to_string());
        }
    }
    let each: Vec<String> = known.iter().map(|(name, node)| format!("{name} at node {node}")).collect();
    let why = if far.is_empty() {
        "each JVM may run there".to_owned()
    } else {
        format!("JVMs elsewhere: {}", far.join(", "))
    };
    Ok(Judged::bad_if(!far.is_empty(), each.join(", "), why))
}
