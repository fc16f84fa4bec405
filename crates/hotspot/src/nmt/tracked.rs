//! What native memory tracking says: its level, its tags and their counters.

/// How much the JVM tracks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NmtLevel {
    /// Nothing: no headers, no counters.
    Off,
    /// Headers, but their content is not kept (JDK 8 to 16, after a shutdown of the tracking).
    Minimal,
    /// By tag.
    Summary,
    /// By tag and call site.
    Detail,
}

/// The JVM's own counters of one tag.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagCounters {
    /// The tag's name as the JVM spells it: `Java Heap`, `Class`, `GC`...
    pub tag: String,
    /// Live malloc blocks.
    pub malloc_count: u64,
    /// Bytes asked for in them.
    pub malloc_bytes: u64,
    /// Live arenas.
    pub arena_count: u64,
    /// Bytes in them.
    pub arena_bytes: u64,
    /// Reserved address space.
    pub reserved_bytes: Option<u64>,
    /// Committed part of it.
    pub committed_bytes: Option<u64>,
}

/// What native memory tracking says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nmt {
    /// How much is tracked.
    pub level: NmtLevel,
    /// Names of the tags, in the JVM's order.
    pub tags: Vec<String>,
    /// Counters, one for each tag; empty when nothing is tracked, or the counters could not be read.
    pub counters: Vec<TagCounters>,
    /// Thread stacks that the JVM tracks: their number. Their bytes are the tag `Thread Stack`'s.
    pub thread_stacks: Option<u64>,
    /// Bytes of header before each tracked block: 16 on 64-bit JVMs.
    pub header_bytes: u8,
    /// Bytes of footer directly behind what was asked for: 2, or 0 on older JVMs.
    pub footer_bytes: u8,
    /// How the header is laid out.
    pub form: HeaderForm,
}

impl Nmt {
    /// What is said of a JVM that tracks nothing.
    pub fn off() -> Nmt {
        Nmt {
            level: NmtLevel::Off,
            tags: Vec::new(),
            counters: Vec::new(),
            thread_stacks: None,
            header_bytes: 0,
            footer_bytes: 0,
            form: HeaderForm::Canary64,
        }
    }

    /// Whether malloc blocks carry headers.
    pub fn is_tracking(&self) -> bool {
        self.level != NmtLevel::Off
    }

    /// The counters of a tag by its name.
    pub fn counters_of(&self, tag: &str) -> Option<&TagCounters> {
        self.counters.iter().find(|counters| counters.tag == tag)
    }
}

/// How a header is laid out. Little endian; offsets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderForm {
    /// 0 size (8), 8 call site (4), 12 tag, 13 zero, 14 canary (2); footer.
    Canary64,
    /// 0 first canary (4), 4 size (4), 8 call site (4), 12 tag, 13 zero, 14 canary (2); footer.
    Canary32,
    /// 0 size (8), 8 tag, 9 call site (7).
    Plain64,
    /// 0 size (4), 4 tag, 5 call site (3).
    Plain32,
}
