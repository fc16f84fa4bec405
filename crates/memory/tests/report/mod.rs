//! Looks at processes that never ran, made of the entries that a test names. Shared by the tests of what follows from a
//! snapshot.

use assay_model::{
    Area, AreaBytes, ContainerLimits, ContainerView, FigureSource, HeapSizedBy, JvmContainer, JvmMemoryFacts,
    MemoryEntry, MemoryReport, OutsideRss, PageKinds, Provenance, SnapshotDepth, ThreadKind, ThreadMemory,
    schema,
};
use std::collections::BTreeMap;

/// Bytes of a MiB.
pub const MIB: u64 = 1 << 20;

/// A snapshot under construction. Entries, areas and RSS add up as those of a frozen process do.
#[derive(Clone)]
pub struct Snapshot(pub MemoryReport);

impl Snapshot {
    /// A process without a resident byte.
    pub fn new() -> Snapshot {
        Snapshot(MemoryReport {
            schema: schema::MEMORY.to_owned(),
            provenance: provenance(),
            pid: 4242,
            program: "java".to_owned(),
            start_ticks: Some(123_456),
            boot_id: Some("0e0c6b3a-1d5f-4c7e-9a51-5c6a1b2c3d4e".to_owned()),
            taken_at: "2026-01-02T03:04:05Z".to_owned(),
            monotonic_ns: 1_000_000_000,
            scan_ns: 1,
            scan_cpu_ns: 1,
            depth: Some(SnapshotDepth::Owners),
            owners_left_out: None,
            main: None,
            frozen_ns: None,
            copy: None,
            rss_bytes: 0,
            rss_change_during_scan_bytes: 0,
            difference_bytes: 0,
            unknown_bytes: 0,
            inferred_bytes: 0,
            areas: Vec::new(),
            entries: Vec::new(),
            sources: Vec::new(),
            unknown: Vec::new(),
            jvm: None,
            allocator: None,
            threads: Vec::new(),
            outside_rss: OutsideRss::default(),
            cgroup: None,
            findings: Vec::new(),
            growth: None,
            end: None,
            problems: Vec::new(),
        })
    }

    /// A JVM 17 with G1 and these entries: nothing about it is remarkable.
    pub fn plain_jvm() -> Snapshot {
        Snapshot::new()
            .jvm(|jvm| {
                jvm.version = Some("17.0.15+6".to_owned());
                jvm.feature = Some(17);
                jvm.collector = Some("G1".to_owned());
                jvm.native_memory_tracking = Some("off".to_owned());
                jvm.heap_bytes_max = Some(512 * MIB);
                jvm.heap_committed_bytes = Some(256 * MIB);
                jvm.heap_used_bytes = Some(200 * MIB);
                jvm.code_cache_bytes_max = Some(240 * MIB);
                jvm.code_cache_used_bytes = Some(20 * MIB);
                jvm.thread_stack_bytes = Some(MIB);
                jvm.direct_bytes_max = Some(512 * MIB);
                jvm.java_threads = Some(30);
            })
            .entry("Java heap/old/used", 150 * MIB)
            .entry("Java heap/eden/used", 50 * MIB)
            .entry("code/libjvm.so", 18 * MIB)
            .entry("class metadata/non-class/used by app", 30 * MIB)
            .entry("class metadata/class space/used by app", 4 * MIB)
            .entry("JIT-compiled code/non-profiled nmethods/methods", 20 * MIB)
            .entry("stacks/Java/in use", 3 * MIB)
            .entry("GC structures/card table", 2 * MIB)
            .entry("JVM internal/symbols", 5 * MIB)
    }

    /// Adds an entry; the path's parts are separated by `/`.
    pub fn entry(mut self, path: &str, resident_bytes: u64) -> Snapshot {
        let path = path.split('/').map(str::to_owned).collect();
        self.0.entries.push(MemoryEntry {
            path,
            resident_bytes,
            memory_bytes: None,
            size_bytes: None,
            count: None,
            source: FigureSource::VmStructs,
            pages: None,
            ranges: None,
            explanation: None,
        });
        self.add_up()
    }

    /// Gives the last entry a count.
    pub fn count(mut self, count: u64) -> Snapshot {
        self.0.entries.last_mut().expect("an entry").count = Some(count);
        self
    }

    /// Says what kind of pages the last entry has.
    pub fn pages(mut self, pages: PageKinds) -> Snapshot {
        self.0.entries.last_mut().expect("an entry").pages = Some(pages);
        self
    }

    /// Gives the last entry a size.
    pub fn size(mut self, bytes: u64) -> Snapshot {
        self.0.entries.last_mut().expect("an entry").size_bytes = Some(bytes);
        self
    }

    /// Changes what the JVM says of itself.
    pub fn jvm(mut self, change: impl FnOnce(&mut JvmMemoryFacts)) -> Snapshot {
        change(self.0.jvm.get_or_insert_default());
        self
    }

    /// Puts the JVM, with such a heap by option, into a container of 512 MiB, which it sees.
    pub fn in_container(self, heap_bytes_max: u64) -> Snapshot {
        let view = ContainerView {
            is_containerized: Some(true),
            has_support: Some(true),
            heap_bytes_max: Some(heap_bytes_max),
            heap_sized_by: Some(HeapSizedBy::Size),
            ..ContainerView::default()
        };
        let limits = ContainerLimits { memory_bytes: Some(512 << 20), ..ContainerLimits::default() };
        self.jvm(|jvm| jvm.container = Some(JvmContainer { view, limits }))
    }

    /// Sets a flag of the JVM.
    pub fn flag(self, name: &str, value: &str) -> Snapshot {
        self.jvm(|jvm| drop(jvm.flags.insert(name.to_owned(), value.to_owned())))
    }

    /// Changes anything else.
    pub fn with(mut self, change: impl FnOnce(&mut MemoryReport)) -> Snapshot {
        change(&mut self.0);
        self
    }

    /// The same process, later.
    pub fn after_s(mut self, seconds: u64) -> Snapshot {
        self.0.monotonic_ns += seconds * 1_000_000_000;
        let before: jiff::Timestamp = self.0.taken_at.parse().expect("a time");
        let after = before + std::time::Duration::from_secs(seconds);
        self.0.taken_at = after.to_string();
        self
    }

    /// Adds so many threads of a kind.
    pub fn threads(mut self, number: u32, kind: ThreadKind, stack: Option<u64>, resident: u64) -> Snapshot {
        for i in 0..number {
            self.0.threads.push(ThreadMemory {
                tid: 5000 + i,
                name: format!("worker-{i}"),
                kind,
                stack_bytes: stack,
                stack_resident_bytes: resident,
                stack_stale_bytes: None,
            });
        }
        self
    }

    fn add_up(mut self) -> Snapshot {
        let mut areas: BTreeMap<Area, u64> = BTreeMap::new();
        for entry in &self.0.entries {
            let area = Area::ALL.into_iter().find(|area| area.title() == entry.path[0]);
            *areas.entry(area.unwrap_or(Area::Other)).or_default() += entry.resident_bytes;
        }
        let unknown = |area: &Area| matches!(area, Area::MallocHeap | Area::NativeAnonymous);
        self.0.rss_bytes = areas.values().sum();
        self.0.unknown_bytes = areas.iter().filter(|(area, _)| unknown(area)).map(|(_, bytes)| bytes).sum();
        self.0.areas =
            areas.into_iter().map(|(area, resident_bytes)| AreaBytes { area, resident_bytes }).collect();
        self.0.areas.sort_by_key(|area| std::cmp::Reverse(area.resident_bytes));
        self
    }
}

fn provenance() -> Provenance {
    Provenance {
        assay_version: "0.1.0".to_owned(),
        kernel: Some("6.1.0".to_owned()),
        os: None,
        architecture: "x86_64".to_owned(),
        cpu_model: None,
        cpus: Some(2),
        memory_bytes: Some(8 << 30),
    }
}
