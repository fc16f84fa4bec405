//! Machines as vendors want them who contradict each other.

use super::cases::{Change, THP};
use super::machine::file;
use assay_model::HostRule;

/// The rule's verdict on a machine configured as a vendor recommends.
pub(super) enum Says {
    /// That it is good.
    Good,
    /// That it is bad, and that this vendor wants it so.
    BadAndNamed,
}

/// Rule, vendor, what is said, the machine.
pub(super) const CONTRADICTIONS: &[(HostRule, &str, Says, Change)] = &[
    (HostRule::ThpMode, "IBM", Says::Good, |s| file(s, THP, "always [madvise] never\n")),
    (HostRule::ThpMode, "Red Hat", Says::Good, |s| file(s, THP, "always madvise [never]\n")),
    (HostRule::ThpMode, "AWS", Says::BadAndNamed, |s| file(s, THP, "[always] madvise never\n")),
    // One queue whose packets all processors may take.
    (HostRule::ReceiveOnOneCpu, "IBM", Says::Good, |s| {
        file(s, "/proc/softirqs", "  CPU0 CPU1\n NET_RX: 500000 500000\n");
    }),
    // A queue for each processor, pinned to it.
    (HostRule::ReceiveOnOneCpu, "AWS", Says::Good, |s| {
        file(s, "/proc/softirqs", "  CPU0 CPU1\n NET_RX: 520000 480000\n");
    }),
    // One queue, pinned to one processor.
    (HostRule::ReceiveOnOneCpu, "AWS", Says::BadAndNamed, |s| {
        file(s, "/proc/softirqs", "  CPU0 CPU1\n NET_RX: 990000 10000\n");
    }),
];
