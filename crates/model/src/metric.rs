//! The metrics that windows, variants and comparisons carry, each with its unit and direction.

/// Which direction is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better.
    Lower,
    /// Larger values are better.
    Higher,
}

/// Description of one metric. The identifier is the key in `Window::metrics` and `VariantSummary::metrics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Key in stored files; ends with the unit.
    pub id: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Unit as shown beside a value.
    pub unit: &'static str,
    /// Direction of improvement.
    pub better: Better,
    /// How it is measured, in one sentence.
    pub source: &'static str,
    /// Whether others on the machine change it. A time or a rate needs a quiet machine; bytes that a request
    /// allocates do not depend on who else uses the processors.
    pub needs_quiet_machine: bool,
}

/// All metrics, in the order in which reports list them.
pub const METRICS: &[Metric] = &[
    Metric {
        id: "garbage_kib_per_request",
        title: "Garbage per request",
        unit: "KiB",
        better: Better::Lower,
        source: "bytes freed by the collections of a window after its first, divided by the requests completed \
                 from the first to the last of these collections (GC log and load generator, same clock); \
                 where a window has one collection only, the count begins at the last one before it",
        needs_quiet_machine: false,
    },
    Metric {
        id: "cpu_ms_per_request",
        title: "CPU time per request",
        unit: "ms",
        better: Better::Lower,
        source: "user and system time of the server process in a window, from the scheduler's own accounting, \
                 divided by the requests completed in it",
        needs_quiet_machine: true,
    },
    Metric {
        id: "throughput_per_s",
        title: "Throughput",
        unit: "requests/s",
        better: Better::Higher,
        source: "requests answered correctly in a window, divided by its length",
        needs_quiet_machine: true,
    },
    Metric {
        id: "response_p50_ms",
        title: "Response time, median",
        unit: "ms",
        better: Better::Lower,
        source: "from the intended start to the last byte of the answer",
        needs_quiet_machine: true,
    },
    Metric {
        id: "response_p99_ms",
        title: "Response time, 99th percentile",
        unit: "ms",
        better: Better::Lower,
        source: "from the intended start to the last byte of the answer",
        needs_quiet_machine: true,
    },
    Metric {
        id: "gc_pause_ms_per_s",
        title: "Time stopped for collection",
        unit: "ms/s",
        better: Better::Lower,
        source: "sum of the collection pauses that the GC log gives for a window, divided by its length",
        needs_quiet_machine: true,
    },
    Metric {
        id: "rss_bytes",
        title: "Resident memory",
        unit: "bytes",
        better: Better::Lower,
        source: "the kernel's resident set size of the server process at the end of a window",
        needs_quiet_machine: false,
    },
];

impl Metric {
    /// The metric with this identifier.
    pub fn by_id(id: &str) -> Option<&'static Metric> {
        METRICS.iter().find(|m| m.id == id)
    }
}
