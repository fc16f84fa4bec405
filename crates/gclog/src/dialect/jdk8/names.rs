//! What stands behind an opening bracket: a JVM before JDK 9 writes everything of a collection as brackets within brackets.

/// What a bracket holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    /// `[GC`, `[Full GC`, `[GC pause`, `[GC remark`, `[GC cleanup`: a pause, in these words.
    Pause(&'static str),
    /// A phase beside the application that has ended.
    Concurrent(&'static str),
    /// One that begins.
    ConcurrentStart(&'static str),
    /// One that was given up.
    ConcurrentAbort(&'static str),
    /// The young generation within a pause.
    Young(&'static str),
    /// The old generation within a pause.
    Old(&'static str),
    /// `[1 CMS-initial-mark` and `[1 CMS-remark`: the old generation within a short stop of the concurrent collector.
    Mark(&'static str),
    /// The permanent generation, or metaspace.
    Permanent,
    /// CPU time of what ended before it.
    Times,
    /// G1's sizes.
    Eden,
    /// G1's sizes before JDK 7: `[ 12M->3M(256M)]`.
    Sizes,
    /// `[YG occupancy`: opens the remark of CMS.
    YoungOccupancy,
    /// G1's `[Parallel Time: 2.1 ms, GC Workers: 8]`.
    Parallel,
    /// A part of the work, which is not kept.
    Detail,
    /// None of these.
    Unknown,
}

impl Name {
    /// Words that identify the collector.
    pub fn of_collector(self) -> Option<&'static str> {
        match self {
            Name::Pause(name)
            | Name::Concurrent(name)
            | Name::Young(name)
            | Name::Old(name)
            | Name::Mark(name) => Some(name),
            Name::Eden => Some("Eden"),
            _ => None,
        }
    }
}

/// Names by their first byte, the longer before those that they begin with.
fn names(first: u8) -> &'static [(&'static str, Name)] {
    match first {
        b'G' => &[
            ("GC pause", Name::Pause("GC pause")),
            ("GC remark", Name::Pause("GC remark")),
            ("GC cleanup", Name::Pause("GC cleanup")),
            ("GC ref-proc", Name::Detail),
            ("GC Worker", Name::Detail),
            ("GC", Name::Pause("GC")),
        ],
        b'F' => &[("Full GC", Name::Pause("Full GC"))],
        // The second is of GraalVM's native images.
        b'I' => &[("Inc GC", Name::Pause("Inc GC")), ("Incremental GC", Name::Pause("Incremental GC"))],
        b'P' => &[
            ("ParNew", Name::Young("ParNew")),
            ("PSYoungGen", Name::Young("PSYoungGen")),
            ("PSOldGen", Name::Old("PSOldGen")),
            ("ParOldGen", Name::Old("ParOldGen")),
            ("PSPermGen", Name::Permanent),
            ("Perm", Name::Permanent),
            ("Parallel Time", Name::Parallel),
        ],
        b'A' => &[("ASParNew", Name::Young("ASParNew")), ("ASCMS", Name::Old("ASCMS"))],
        b'D' => &[("DefNew", Name::Young("DefNew"))],
        b'T' => &[("Times", Name::Times), ("Tenured", Name::Old("Tenured")), ("Train", Name::Old("Train"))],
        b'C' => &[("CMS Perm", Name::Permanent), ("CMS", Name::Old("CMS"))],
        b'M' => &[("Metaspace", Name::Permanent)],
        b'1' => &[
            ("1 CMS-initial-mark", Name::Mark("CMS-initial-mark")),
            ("1 CMS-remark", Name::Mark("CMS-remark")),
            ("1 ASCMS-initial-mark", Name::Mark("CMS-initial-mark")),
            ("1 ASCMS-remark", Name::Mark("CMS-remark")),
        ],
        b'E' => &[("Eden", Name::Eden)],
        b'Y' => &[("YG occupancy", Name::YoungOccupancy)],
        b' ' => &[(" ", Name::Sizes)],
        _ => &[],
    }
}

/// Parts of the work, beginnings suffice: CMS' remark, references, G1's phases of all releases and levels of detail.
const DETAILS: &[&str] = &[
    "CM RefProcessor Roots",
    "CodeCache Roots",
    "CLDG Roots",
    "Choose CSet",
    "Clear CT",
    "Code Root",
    "Class",
    "Card",
    "Deallocate Metadata",
    "Dead Humongous",
    "Evacuation Failure",
    "Ext Root Scanning",
    "FinalReference",
    "Finalize Marking",
    "FlatProfiler Roots",
    "Free CSet",
    "G1Ergonomics",
    "Humongous",
    "JNI Handles Roots",
    "JNI Weak Reference",
    "JVMTI Roots",
    "Last",
    "Management Roots",
    "Mark Stack Scanning",
    "Non-Young Free CSet",
    "Object Copy",
    "ObjectSynchronizer Roots",
    "Other",
    "Parallel Other",
    "Parallel Redirty",
    "Parallel Unloading",
    "Preserve CM Refs",
    "Purge",
    "Update Roots",
    "Redirtied Cards",
    "Verify",
    "Verifying",
    "PhantomReference",
    "Preclean",
    "Processed Buffers",
    "Queue Fixup",
    "Recalculate Used",
    "Redirty Cards",
    "Redirty",
    "Ref Enq",
    "Ref Proc",
    "Remove Self Forwards",
    "Rescan",
    "Restore RemSet",
    "Root Region Scan Waiting",
    "SATB",
    "Scan RS",
    "Scan HCC",
    "SoftReference",
    "String Dedup Fixup",
    "Start",
    "StringTable Roots",
    "Sum",
    "SystemDictionary Roots",
    "System Dictionary Unloading",
    "Table Fixup",
    "Termination",
    "Thread Roots",
    "Total",
    "Universe Roots",
    "Unloading",
    "Update RS",
    "Wait For Strong CLD",
    "Weak CLD Roots",
    "WeakReference",
    "Young Free CSet",
    "Complete CSet",
    "class unloading",
    "dirty klass scan",
    "grey object rescan",
    "root rescan",
    "scrub string table",
    "scrub symbol",
    "survivors",
    "tenuring",
    "visit unhandled CLDs",
    "weak refs processing",
    "Inspecting",
    "Deduplicated",
    "Hashed",
    "Heap Dump",
    "Dropped",
    "Young",
    "Inspected",
    "Known",
    "New",
    "Skipped",
    "Count",
    "Memory Usage",
    "Queue",
    "Table",
    "Size",
    "Entries",
    "Resize Count",
    "Rehash Count",
    "Age Threshold",
    "Exec",
    "Idle",
    "Blocked",
    "Roots",
    "Old",
];

/// The name behind a bracket, and its length.
pub(super) fn name(text: &str) -> (Name, usize) {
    // Most brackets, recognized without the names that begin alike.
    if text.starts_with("GC (") {
        return (Name::Pause("GC"), "GC".len());
    }
    if let Some(found) = concurrent(text) {
        return found;
    }
    // A torn `[ 12M->3M(256M)]`: the next bracket stands where its blank was.
    if text.starts_with('[') {
        return (Name::Sizes, 0);
    }
    let first = text.as_bytes().first();
    let mut alike = names(first.copied().unwrap_or(0)).iter();
    if let Some((name, what)) = alike.find(|(name, _)| text.starts_with(name)) {
        return (*what, name.len());
    }
    // `[3 iterations, 1 waits, 4397 cards)]` of `-XX:PrintCMSStatistics=1`.
    let behind_number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if behind_number.len() < text.len() && behind_number.starts_with(" iterations, ") {
        return (Name::Detail, text.len() - behind_number.len());
    }
    match DETAILS.iter().find(|name| name.as_bytes().first() == first && text.starts_with(**name)) {
        Some(name) => (Name::Detail, name.len()),
        None => (Name::Unknown, 0),
    }
}

/// Phases beside the application, the longer before those that they begin with.
const PHASES: &[&str] = &[
    "CMS-concurrent-mark",
    "CMS-concurrent-preclean",
    "CMS-concurrent-abortable-preclean",
    "CMS-concurrent-sweep",
    "CMS-concurrent-reset",
    "GC concurrent-root-region-scan",
    "GC concurrent-mark",
    "GC concurrent-cleanup",
    "GC concurrent-count",
    "GC concurrent-string-deduplication",
];

/// A phase beside the application.
fn concurrent(text: &str) -> Option<(Name, usize)> {
    // With `-XX:+UseAdaptiveSizePolicy` the phases of CMS bear another name.
    let adaptive = if text.starts_with("ASCMS-c") { "AS".len() } else { 0 };
    let text = &text[adaptive..];
    if !text.starts_with("CMS-c") && !text.starts_with("GC co") {
        return None;
    }
    let name = PHASES.iter().find(|name| text.starts_with(**name))?;
    let behind = &text[name.len()..];
    let forms = [
        ("-start", Name::ConcurrentStart(name)),
        ("-abort", Name::ConcurrentAbort(name)),
        ("-end", Name::Concurrent(name)),
        // The marking stack was too small: G1 begins the phase anew.
        ("-re", Name::Detail),
        ("", Name::Concurrent(name)),
    ];
    forms
        .into_iter()
        .find(|(form, _)| behind.starts_with(form))
        .map(|(form, what)| (what, adaptive + name.len() + form.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_those_that_they_begin_with() {
        assert_eq!(name("GC (Allocation Failure)"), (Name::Pause("GC"), 2));
        assert_eq!(name("GC pause (young)"), (Name::Pause("GC pause"), 8));
        assert_eq!(name("GC concurrent-mark-end, 0.1 secs]").0, Name::Concurrent("GC concurrent-mark"));
        assert_eq!(name("GC concurrent-mark-abort]").0, Name::ConcurrentAbort("GC concurrent-mark"));
        assert_eq!(name("GC concurrent-mark-reset-for-overflow]").0, Name::Detail);
        assert_eq!(name("CMS-concurrent-mark-start]").0, Name::ConcurrentStart("CMS-concurrent-mark"));
        assert_eq!(name("CMS-concurrent-mark: 0.1/0.1 secs]"), (Name::Concurrent("CMS-concurrent-mark"), 19));
        assert_eq!(name("CMS4.368: [CMS"), (Name::Old("CMS"), 3));
        assert_eq!(name("CMS Perm : 1K->1K(1K)]"), (Name::Permanent, 8));
        assert_eq!(name("Parallel Time: 2.1 ms]"), (Name::Parallel, 13));
        assert_eq!(name("Parallel Redirty: 1").0, Name::Detail);
        assert_eq!(name("GC Worker End (ms): 1]").0, Name::Detail);
        assert_eq!(name("GCTLAB: gc").0, Name::Pause("GC"));
        assert_eq!(name("CMSbailing out to").0, Name::Old("CMS"));
        assert_eq!(name("ASCMS-concurrent-mark: 0").0, Name::Concurrent("CMS-concurrent-mark"));
        assert_eq!(name("[GC concurrent-mark-start]"), (Name::Sizes, 0));
        assert_eq!(name("3 iterations, 1 waits, 4397 cards)]"), (Name::Detail, 1));
        assert_eq!(name("3 iteration").0, Name::Unknown);
        assert_eq!(name("Shared").0, Name::Unknown);
        assert_eq!(name("").0, Name::Unknown);
    }

    #[test]
    fn names_of_pauses_generations_and_details_do_not_hide_one_another() {
        for (first, (own, what)) in
            (0..=u8::MAX).flat_map(|first| names(first).iter().map(move |own| (first, own)))
        {
            assert_eq!(own.as_bytes().first(), Some(&first), "{own}");
            assert_eq!(name(own), (*what, own.len()), "{own}");
        }
        for own in DETAILS {
            assert_eq!(name(own).0, Name::Detail, "{own}");
        }
    }
}
