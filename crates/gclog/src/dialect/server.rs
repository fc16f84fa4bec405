//! Lines about collections that servers write into their own logs: Elasticsearch and OpenSearch (JvmGcMonitorService), Cassandra
//! (GCInspector), Hadoop and HBase (JvmPauseMonitor).
//!
//! They ask the JVM's beans, which count collections and milliseconds: of several together each gets the same part of the time. Such
//! servers write of long collections alone; what the rest of their log says is not read.

use crate::contract::{At, Dialect, GcSink, ParseOutcome};
use crate::decimal::Decimal;
use crate::first;
use crate::scan::Scan;
use assay_lines::take_time;
use assay_model::{GcInstant, GcJvm, GcRecord, GcRecordKind, GcScope, GcSizes, GcSpace};

const NS_PER_MS: u64 = 1_000_000;
/// More collections in the seconds that one line is about are none.
const COLLECTIONS_MAX: u64 = 1_000;

/// State of a log of this form.
#[derive(Debug, Default)]
pub(crate) struct Server {
    is_begun: bool,
    /// The stop that was detected, whose collections follow; it holds them.
    detected: Option<GcRecord>,
    /// So far its collections reach.
    reached_unix_ns: Option<i64>,
}

/// What no figure of such a log shows.
const LONG_ONES_ALONE: &str = "a server writes of long collections alone: counts are of these, and shares of time and rates are not \
     known; of several that it counts together each has the same part of their time";

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said<'a> {
    /// `[gc][young][355198][16325] duration [756ms], ..`, from `[gc]` on.
    Monitor(&'a str),
    /// A share of time, without a collection.
    Overhead,
    /// `ParNew GC in 236ms.  CMS Old Gen: 844136912 -> 967814552; ..`
    Inspector {
        name: &'a str,
        ms: &'a str,
        pools: &'a str,
    },
    /// `GC for ParNew: 236 ms for 1 collections, 967814552 used; max is 8375238656`
    OldInspector(&'a str),
    /// `pause of approximately 12345ms`
    Detected(&'a str),
    /// `GC pool 'ParNew' had collection(s): count=1 time=231ms`
    Pool(&'a str),
    NoCollection,
}

fn said(text: &str) -> Option<Said<'_>> {
    if let Some(at) = text.find("[gc][") {
        let line = &text[at..];
        if line.contains("] overhead, spent [") {
            return Some(Said::Overhead);
        }
        return (line.contains("] duration [") && line.contains("], collections ["))
            .then_some(Said::Monitor(line));
    }
    if let Some((_, rest)) =
        text.split_once("Detected pause in JVM or host machine (eg GC): pause of approximately ")
    {
        return Some(Said::Detected(rest));
    }
    if let Some((_, rest)) = text.split_once("GC pool '") {
        return rest.contains("' had collection(s): ").then_some(Said::Pool(rest));
    }
    if let Some((_, rest)) = text.split_once("GCInspector") {
        let message = rest.split_once(" - ").or_else(|| rest.split_once(") "))?.1;
        if let Some((name, rest)) = message.split_once(" GC in ") {
            let (ms, pools) = rest.split_once("ms.")?;
            return Some(Said::Inspector { name, ms, pools });
        }
        return message.strip_prefix("GC for ").map(Said::OldInspector);
    }
    text.trim().eq("No GCs detected").then_some(Said::NoCollection)
}

/// Whether a line is of this form.
pub(super) fn recognises(text: &str) -> bool {
    said(text).is_some_and(|said| said != Said::NoCollection)
}

impl Dialect for Server {
    fn name(&self) -> &'static str {
        "server"
    }

    fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> ParseOutcome {
        let said = said(text);
        if !matches!(said, Some(Said::Pool(_))) {
            self.release(sink);
        }
        let Some(said) = said else { return ParseOutcome::Unrecognized };
        if !self.is_begun {
            self.is_begun = true;
            sink.begin_jvm();
            sink.problem(at.problem(LONG_ONES_ALONE));
        }
        let end = written(text);
        sink.dated(&end);
        let taken = match said {
            Said::Overhead | Said::NoCollection => Some(()),
            Said::Monitor(line) => monitor(line, end, at, sink),
            Said::Inspector { name, ms, pools } => inspector(name, ms, pools, end, at, sink),
            Said::OldInspector(line) => old_inspector(line, end, at, sink),
            Said::Detected(rest) => detected(rest, end, at).map(|record| {
                let begun = record.end.unix_ns.zip(record.duration_ns);
                self.reached_unix_ns = begun.and_then(|(end, ns)| end.checked_sub_unsigned(ns));
                self.detected = Some(record);
            }),
            Said::Pool(rest) => self.pool(rest, end, at, sink),
        };
        if taken.is_some() { ParseOutcome::Understood } else { ParseOutcome::Unrecognized }
    }

    fn flush(&mut self, sink: &mut dyn GcSink) {
        self.release(sink);
        self.tell_jvm(sink);
    }

    fn tell_jvm(&self, sink: &mut dyn GcSink) {
        if self.is_begun {
            sink.jvm(&GcJvm::default());
        }
    }
}

impl Server {
    /// Collections of the stop that was detected. When in it they were is not said: they are laid from its beginning on.
    fn pool(&mut self, rest: &str, end: GcInstant, at: At, sink: &mut dyn GcSink) -> Option<()> {
        let (name, rest) = rest.split_once("' had collection(s): count=")?;
        let mut scan = Scan(rest);
        let count = scan.number()?;
        scan.literal(" time=")?;
        let total = scan.number()?.checked_mul(NS_PER_MS)?;
        scan.literal("ms")?;
        let end = self.detected.as_ref().map_or(end, |detected| detected.end);
        for mut record in collections(name, count, (total, NS_PER_MS), end, at) {
            let ended = self.reached_unix_ns.zip(record.duration_ns);
            self.reached_unix_ns = ended.and_then(|(begun, ns)| begun.checked_add_unsigned(ns));
            record.end.unix_ns = self.reached_unix_ns.min(end.unix_ns).or(end.unix_ns);
            sink.record(record);
        }
        Some(())
    }

    /// Tells of the stop behind the collections that it holds, as a JVM does.
    fn release(&mut self, sink: &mut dyn GcSink) {
        if let Some(detected) = self.detected.take() {
            sink.record(detected);
        }
    }
}

/// When a line was written, wherever its date stands.
fn written(text: &str) -> GcInstant {
    let dates = text.match_indices("20").filter(|(at, _)| {
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
        before.is_none_or(|byte| !byte.is_ascii_alphanumeric())
    });
    // It ends where a bracket does, too.
    let date = |at: usize| {
        let rest = &text[at..];
        let end = rest.find([']', '"', '[']).unwrap_or(rest.len());
        take_time(&rest[..end])?.0
    };
    let unix_ns = dates.take(4).find_map(|(at, _)| date(at)).or_else(|| first::of_line(text).unix_ns);
    GcInstant { unix_ns, resolution_ns: unix_ns.map(|_| NS_PER_MS), ..GcInstant::default() }
}

/// Several collections that took so long together.
fn collections(name: &str, count: u64, total: (u64, u64), end: GcInstant, at: At) -> Vec<GcRecord> {
    let (kind, scope) = what_is(name);
    let count = count.clamp(1, COLLECTIONS_MAX);
    let one = |_| {
        let mut record = GcRecord::new(kind, name, at.source, at.line);
        record.scope = scope;
        record.end = end;
        record.duration_ns = Some(total.0 / count);
        record.duration_resolution_ns = Some(total.1);
        record
    };
    (0..count).map(one).collect()
}

/// What a bean of this name counts.
fn what_is(name: &str) -> (GcRecordKind, Option<GcScope>) {
    let kind = if name.contains("Cycles") { GcRecordKind::Cycle } else { GcRecordKind::Pause };
    let scope = match name {
        "young" | "ParNew" | "Copy" | "PS Scavenge" | "G1 Young Generation" => Some(GcScope::Young),
        "old" | "ConcurrentMarkSweep" | "G1 Concurrent GC" => Some(GcScope::Old),
        "MarkSweepCompact" | "PS MarkSweep" | "G1 Old Generation" => Some(GcScope::Full),
        _ => None,
    };
    (kind, scope)
}

fn monitor(line: &str, end: GcInstant, at: At, sink: &mut dyn GcSink) -> Option<()> {
    let (name, rest) = line.strip_prefix("[gc][")?.split_once(']')?;
    let (_, rest) = rest.split_once("duration [")?;
    let (took, rest) = rest.split_once("], collections [")?;
    let (count, rest) = rest.split_once("]/[")?;
    let total = length(took)?;
    let mut records = collections(name, count.parse().ok()?, total, end, at);
    let heap = rest.split_once("memory ").and_then(|(_, rest)| sizes(rest));
    let before = records.first_mut()?;
    before.heap.before_bytes = heap.and_then(|heap| heap.before_bytes);
    before.heap.resolution_bytes = heap.and_then(|heap| heap.resolution_bytes);
    let after = records.last_mut()?;
    if let Some(heap) = heap {
        after.heap = GcSizes { before_bytes: after.heap.before_bytes, ..heap };
    }
    if let [only] = records.as_mut_slice() {
        let pools = rest.split_once("all_pools ").map_or("", |(_, pools)| pools);
        for pool in pools.split('{').skip(1) {
            let named = pool.strip_prefix('[').and_then(|pool| pool.split_once("] "));
            if let Some((space, sizes)) = named.and_then(|(name, rest)| Some((space(name)?, sizes(rest)?))) {
                only.spaces.push((space, sizes));
            }
        }
    }
    records.into_iter().for_each(|record| sink.record(record));
    Some(())
}

fn inspector(name: &str, ms: &str, pools: &str, end: GcInstant, at: At, sink: &mut dyn GcSink) -> Option<()> {
    let total = (ms.parse::<u64>().ok()?.checked_mul(NS_PER_MS)?, NS_PER_MS);
    for mut record in collections(name, 1, total, end, at) {
        for pool in pools.split(';') {
            let Some((name, sizes)) = pool.trim().split_once(": ") else { continue };
            let Some((before, after)) = sizes.split_once(" -> ") else { continue };
            let bytes = |text: &str| text.trim().parse::<u64>().ok();
            if let Some(space) = space(name).filter(|space| record.space(*space).is_none()) {
                let sizes = GcSizes {
                    before_bytes: bytes(before),
                    after_bytes: bytes(after),
                    capacity_bytes: None,
                    resolution_bytes: Some(1),
                };
                record.spaces.push((space, sizes));
            }
        }
        sink.record(record);
    }
    Some(())
}

fn old_inspector(line: &str, end: GcInstant, at: At, sink: &mut dyn GcSink) -> Option<()> {
    let (name, rest) = line.split_once(": ")?;
    let mut scan = Scan(rest);
    let ms = scan.number()?;
    scan.literal(" ms for ")?;
    let count = scan.number()?;
    scan.literal(" collections, ")?;
    let used = scan.number()?;
    let mut records = collections(name, count, (ms.checked_mul(NS_PER_MS)?, NS_PER_MS), end, at);
    records.last_mut()?.heap =
        GcSizes { after_bytes: Some(used), resolution_bytes: Some(1), ..GcSizes::default() };
    records.into_iter().for_each(|record| sink.record(record));
    Some(())
}

/// The monitor's own thread slept for longer than it had asked for: the JVM or the machine stood still.
fn detected(rest: &str, end: GcInstant, at: At) -> Option<GcRecord> {
    let ms: u64 = rest.split_once("ms")?.0.parse().ok()?;
    let mut record = GcRecord::new(GcRecordKind::Safepoint, "Detected pause", at.source, at.line);
    record.end = end;
    record.duration_ns = Some(ms.checked_mul(NS_PER_MS)?);
    record.duration_resolution_ns = Some(NS_PER_MS);
    Some(record)
}

/// The space of a pool; each of a collector's is called otherwise.
fn space(name: &str) -> Option<GcSpace> {
    match name {
        "young" => Some(GcSpace::Eden),
        "survivor" => Some(GcSpace::Survivor),
        "old" => Some(GcSpace::Old),
        "Metaspace" => Some(GcSpace::Metaspace),
        "Compressed Class Space" => Some(GcSpace::ClassSpace),
        _ if name.ends_with("Eden Space") => Some(GcSpace::Eden),
        _ if name.ends_with("Survivor Space") => Some(GcSpace::Survivor),
        _ if name.ends_with("Old Gen") || name == "Tenured Gen" => Some(GcSpace::Old),
        _ => None,
    }
}

/// `[6.7gb]->[8.4gb]/[11.7gb]`
fn sizes(text: &str) -> Option<GcSizes> {
    let mut scan = Scan(text);
    let mut size = |before: &str| -> Option<(u64, u64)> {
        scan.literal(before)?;
        let number = Decimal::take(&mut scan.0)?;
        let units = [("b]", 0), ("kb]", 10), ("mb]", 20), ("gb]", 30), ("tb]", 40)];
        let (_, shift) = units.into_iter().find(|(unit, _)| scan.literal(unit).is_some())?;
        number.shifted(shift)
    };
    let (before, after, capacity) = (size("[")?, size("->[")?, size("/[")?);
    Some(GcSizes {
        before_bytes: Some(before.0),
        after_bytes: Some(after.0),
        capacity_bytes: Some(capacity.0),
        resolution_bytes: Some(before.1.max(after.1)),
    })
}

/// `756ms`, `5.2s`, `1.5m`
fn length(text: &str) -> Option<(u64, u64)> {
    let mut rest = text;
    let number = Decimal::take(&mut rest)?;
    let (ns, step_ns) = match rest {
        "ms" => number.scaled(6)?,
        "s" => number.scaled(9)?,
        "m" => {
            let (ns, step_ns) = number.scaled(9)?;
            (ns.checked_mul(60)?, step_ns.checked_mul(60)?)
        }
        _ => return None,
    };
    Some((ns, step_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Records;

    fn records(text: &str) -> Records {
        Records::read("server", text.as_bytes())
    }

    #[test]
    fn elasticsearch_gives_time_and_pools() {
        let text = "[2018-09-10T16:06:49,468][INFO ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][young][355198][16325] duration [756ms], collections [1]/[1.5s], total [756ms]/[22.4m], memory [6.7gb]->[8.4gb]/[11.7gb], all_pools {[young] [14.3mb]->[9.3mb]/[1.8gb]}{[survivor] [111.3mb]->[232.9mb]/[232.9mb]}{[old] [6.5gb]->[8.2gb]/[9.7gb]}\n\
            [2018-09-10T16:06:53,406][WARN ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][355199] overhead, spent [3.5s] collecting in the last [3.9s]\n\
            [2018-09-10T16:07:02,914][INFO ][o.e.m.j.JvmGcMonitorService] [node-1] [gc][old][355204][472] duration [5.2s], collections [2]/[5.5s], total [5.2s]/[1.5m], memory [11.3gb]->[10.3gb]/[11.7gb], all_pools {[old] [9.3gb]->[9.7gb]/[9.7gb]}\n\
            [2018-09-10T16:07:03,000][INFO ][o.e.c.s.ClusterService] [node-1] new_master\n";
        let read = records(text);
        let lengths: Vec<_> = read
            .records
            .iter()
            .map(|r| (r.phase.as_str(), r.duration_ns, r.duration_resolution_ns))
            .collect();
        assert_eq!(
            lengths,
            [
                ("young", Some(756_000_000), Some(1_000_000)),
                ("old", Some(2_600_000_000), Some(100_000_000)),
                ("old", Some(2_600_000_000), Some(100_000_000)),
            ]
        );
        // 2018-09-10T16:06:49.468Z
        assert_eq!(read.records[0].end.unix_ns, Some(1_536_595_609_468_000_000));
        let old = read.records[0].space(GcSpace::Old).expect("the pool");
        assert_eq!(old.capacity_bytes, Some((97 << 30) / 10));
        assert_eq!((read.records[1].heap.after_bytes, read.records[2].heap.before_bytes), (None, None));
        assert_eq!((read.lines, read.lines_not_understood), (4, 1));
    }

    #[test]
    fn the_same_is_read_within_json() {
        let text = r#"{"@timestamp":"2023-09-10T16:06:49.468Z","log.level":"INFO","message":"[gc][young][3][4] duration [756ms], collections [1]/[1.5s], total [756ms]/[22.4m], memory [6.7gb]->[8.4gb]/[11.7gb]","log.logger":"org.elasticsearch.monitor.jvm.JvmGcMonitorService"}"#;
        let read = records(text);
        assert_eq!(read.records[0].duration_ns, Some(756_000_000));
        assert_eq!(read.records[0].end.unix_ns, Some(1_694_362_009_468_000_000));
    }

    #[test]
    fn cassandra_of_all_ages_is_read() {
        let text = "INFO  [RMI TCP Connection(68)] 2019-10-10 16:41:22,513 ColumnFamilyStore.java:734 - Loading\n\
            INFO  [Service Thread] 2019-10-10 16:41:34,134 GCInspector.java:284 - ConcurrentMarkSweep GC in 467ms.  CMS Old Gen: 1227906720 -> 508200320; Code Cache: 35251328 -> 35276800; Par Eden Space: 6575264 -> 139631912; \n\
            WARN  [Service Thread] 2021-05-19 07:40:12,130 GCInspector.java:282 - G1 Young Generation GC in 2482ms.  G1 Eden Space: 5043436640 -> 0; \n\
            INFO [ScheduledTasks:1] 2013-05-19 07:40:12,130 GCInspector.java (line 116) GC for ParNew: 236 ms for 2 collections, 967814552 used; max is 8375238656\n";
        let read = records(text);
        let lengths: Vec<_> = read.records.iter().map(|r| (r.phase.as_str(), r.duration_ns)).collect();
        assert_eq!(
            lengths,
            [
                ("ConcurrentMarkSweep", Some(467_000_000)),
                ("G1 Young Generation", Some(2_482_000_000)),
                ("ParNew", Some(118_000_000)),
                ("ParNew", Some(118_000_000)),
            ]
        );
        assert_eq!(read.records[0].end.unix_ns, Some(1_570_725_694_134_000_000));
        assert_eq!(read.records[0].space(GcSpace::Old).and_then(|s| s.after_bytes), Some(508_200_320));
        assert_eq!(read.records[3].heap.after_bytes, Some(967_814_552));
        assert_eq!(read.lines_not_understood, 1);
    }

    #[test]
    fn hadoop_gives_the_stop_and_its_collections() {
        let text = "2024-03-04 10:11:12,345 WARN  [JvmPauseMonitor] util.JvmPauseMonitor: Detected pause in JVM or host machine (eg GC): pause of approximately 12345ms\n\
            GC pool 'ParNew' had collection(s): count=1 time=231ms\n\
            GC pool 'ConcurrentMarkSweep' had collection(s): count=2 time=12001ms\n\
            2024-03-04 10:12:12,345 INFO util.JvmPauseMonitor: Detected pause in JVM or host machine (eg GC): pause of approximately 1345ms\n\
            No GCs detected\n";
        let read = records(text);
        let pauses: u64 = read.pauses().filter_map(|record| record.duration_ns).sum();
        assert_eq!((read.pauses().count(), pauses), (3, 12_232_000_000));
        let stops: Vec<_> = read.records.iter().filter(|r| r.kind == GcRecordKind::Safepoint).collect();
        assert_eq!(
            stops.iter().map(|r| r.duration_ns).collect::<Vec<_>>(),
            [Some(12_345_000_000), Some(1_345_000_000)]
        );
        let ends: Vec<_> = read
            .pauses()
            .filter_map(|r| Some((r.end.unix_ns? - 1_709_547_060_000_000_000) / 1_000_000))
            .collect();
        // The stop is from 11:00.000 to 11:12.345.
        assert_eq!(ends, [231, 6_231, 12_232]);
        assert_eq!(read.lines_not_understood, 0);
    }
}
