//! Whether a JVM sees the limits of its control group, and if it does not, why.

use assay_model::{ContainerLimits, ContainerView, HeapSizedBy, JvmContainer};
use serde::Deserialize;
use std::sync::LazyLock;

/// What a release knows of control groups: `containers.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerRules {
    /// Feature release from which on this holds.
    pub feature: u32,
    /// First update that uses limits of control groups.
    pub support: u32,
    /// First update that knows version 2 of them.
    pub version_2: Option<u32>,
    /// First update known to need no line `memory` in `/proc/cgroups`.
    pub unlisted: Option<u32>,
    /// Last update known to need it.
    pub unlisted_not_yet: Option<u32>,
    /// Where that is from.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    release: Vec<ContainerRules>,
}

static RULES: LazyLock<Vec<ContainerRules>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("../containers.toml")).expect("the file is read in a test");
    table.release
});

impl ContainerRules {
    /// Of a feature release: its own, or those of the nearest lower one; `None` for releases before any knew control groups.
    pub fn of(feature: u32) -> Option<&'static ContainerRules> {
        RULES.iter().rev().find(|rules| rules.feature <= feature)
    }

    /// Whether an update of a feature release has what came with an update of this one. Later releases have what each update of this one
    /// has, and of no other they are known to.
    fn has(&self, since: Option<u32>, (feature, update): (u32, u32)) -> bool {
        since.is_some_and(|since| if self.feature == feature { since <= update } else { since == 0 })
    }

    /// Whether an update of a feature release needs no line of `/proc/cgroups`; `None` where nobody knows.
    pub fn needs_no_list(feature: u32, update: u32) -> Option<bool> {
        let rules = ContainerRules::of(feature)?;
        if rules.has(rules.unlisted, (feature, update)) {
            return Some(true);
        }
        let is_own = rules.feature == feature;
        rules.unlisted_not_yet.filter(|last| is_own && update <= *last).map(|_| false)
    }
}

/// Why a JVM does not keep to the limits of its control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unseen {
    /// The kernel does not list the memory controller where this release looks for it.
    NotListed,
    /// `-XX:-UseContainerSupport`
    SupportOff,
    /// The release does not know control groups.
    NoSupport,
    /// The release does not know version 2 of control groups.
    NoVersion2,
    /// A size that an option gives is above the limit.
    SizeAboveLimit,
    /// `-XX:MaxRAM` is above the limit.
    MaxRamAboveLimit,
    /// The limit was lowered, or set, after the start.
    LaterLimit,
    /// The limit is that of a group above the JVM's own.
    LimitOfParent,
    /// Nothing that is known explains it.
    Unknown,
}

/// What a JVM does not see, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct UnseenLimit {
    /// Why.
    pub why: Unseen,
    /// The largest heap and the memory limit, where the heap does not follow from the limit.
    pub heap: Option<(u64, u64)>,
    /// Processors that the JVM counts and those that it may use, where it counts too many.
    pub processors: Option<(u64, f64)>,
}

/// From JDK 23 on a JVM takes itself for one in a container only if it finds a limit when it starts (JDK-8261242).
const CONTAINERIZED_BY_LIMIT: u32 = 23;

/// Whether a JVM keeps to the limits of its control group; `None` where it does, where there are none, and where too little is known.
///
/// `release` is the feature release and the update, as far as they are known.
pub fn unseen_limit(of: &JvmContainer, release: Option<(u32, u32)>) -> Option<UnseenLimit> {
    let JvmContainer { view, limits } = of;
    let limit = limits.memory_bytes.filter(|limit| limits.machine_bytes.is_none_or(|all| *limit < all));
    let heap = limit.zip(view.heap_bytes_max).map(|(limit, heap)| (heap, limit));
    let above = heap.filter(|(heap, limit)| limit < heap);
    let counted = view.processors.filter(|_| !view.are_processors_set).zip(limits.cpus);
    let processors = counted.filter(|(counted, cpus)| cpus.ceil() < *counted as f64);
    let sees = if view.has_support == Some(false) { Some(false) } else { view.is_containerized };
    let is_sized = view.heap_sized_by == Some(HeapSizedBy::Size);
    let why = match (above, sees) {
        (Some(_), _) if is_sized => Unseen::SizeAboveLimit,
        (Some(_), _) if view.heap_sized_by == Some(HeapSizedBy::MaxRam) => Unseen::MaxRamAboveLimit,
        // A heap that an option sizes within the limit needs no look at it.
        (None, _) if processors.is_none() && (is_sized || heap.is_none() || sees != Some(false)) => {
            return None;
        }
        (None, None) => return None,
        (_, Some(true)) if limits.is_memory_of_parent && above.is_some() => Unseen::LimitOfParent,
        (_, Some(true)) => Unseen::LaterLimit,
        (_, Some(false) | None) => blind(view, limits, release),
    };
    Some(UnseenLimit { why, heap: heap.filter(|_| above.is_some() || !is_sized), processors })
}

/// Why a JVM does not use its control group at all.
fn blind(view: &ContainerView, limits: &ContainerLimits, release: Option<(u32, u32)>) -> Unseen {
    if view.has_support == Some(false) {
        return Unseen::SupportOff;
    }
    // Releases before any rule know no control groups either.
    let lacks = |since: fn(&ContainerRules) -> Option<u32>| {
        release.is_some_and(|release| {
            ContainerRules::of(release.0).is_none_or(|rules| !rules.has(since(rules), release))
        })
    };
    if view.has_support.is_none() && lacks(|rules| Some(rules.support)) {
        return Unseen::NoSupport;
    }
    if limits.is_version_2 == Some(true) && lacks(|rules| rules.version_2) {
        return Unseen::NoVersion2;
    }
    let needs_no_list = view.reads_controllers_file.or_else(|| {
        let (feature, update) = release?;
        ContainerRules::needs_no_list(feature, update)
    });
    if limits.lists_memory == Some(false) && needs_no_list == Some(false) {
        return Unseen::NotListed;
    }
    let is_by_limit = release.is_some_and(|(feature, _)| CONTAINERIZED_BY_LIMIT <= feature);
    let is_all_there = limits.lists_memory == Some(true) || needs_no_list == Some(true);
    if view.is_containerized == Some(false) && is_by_limit && is_all_there {
        return if limits.is_memory_of_parent { Unseen::LimitOfParent } else { Unseen::LaterLimit };
    }
    Unseen::Unknown
}

impl Unseen {
    /// The cause, as a clause.
    pub fn cause(self) -> &'static str {
        match self {
            Unseen::NotListed => {
                "the kernel has no line `memory` in /proc/cgroups, where this release looks for the limits (JDK-8349988)"
            }
            Unseen::SupportOff => "container support is off (-XX:-UseContainerSupport)",
            Unseen::NoSupport => "this release does not know control groups",
            Unseen::NoVersion2 => "this release does not know version 2 of control groups (JDK-8230305)",
            Unseen::SizeAboveLimit => "an option sets the heap's size (-Xmx or -Xms) above the limit",
            Unseen::MaxRamAboveLimit => "-XX:MaxRAM names more memory than the limit allows",
            Unseen::LaterLimit => "the limit was lowered, or set, after the JVM started",
            Unseen::LimitOfParent => {
                "the limit is that of a group above its own, which this JVM did not read, or was lowered after the start"
            }
            Unseen::Unknown => "the cause is not known",
        }
    }

    /// What helps.
    pub fn fix(self, release: Option<(u32, u32)>) -> String {
        match self {
            Unseen::NotListed => {
                let rules =
                    release.and_then(|(feature, _)| Some((feature, ContainerRules::of(feature)?.unlisted?)));
                match rules {
                    Some((8, update)) => format!("Update the JVM to 8u{update} or later"),
                    Some((feature, update)) => format!("Update the JVM to {feature}.0.{update} or later"),
                    None => {
                        "Move to JDK 25, or 21.0.13: no update of this release is known to mend it".to_owned()
                    }
                }
            }
            Unseen::SupportOff => "Remove -XX:-UseContainerSupport".to_owned(),
            Unseen::NoSupport => "Update the JVM: 8u191, 11 and later know control groups".to_owned(),
            Unseen::NoVersion2 => "Update the JVM: 8u372, 11.0.16, 15 and later know version 2".to_owned(),
            Unseen::SizeAboveLimit => "Set -Xmx below the limit".to_owned(),
            Unseen::MaxRamAboveLimit => "Remove -XX:MaxRAM, so that the JVM reads the limit".to_owned(),
            Unseen::LaterLimit => "Restart the JVM, so that it reads the limit".to_owned(),
            Unseen::LimitOfParent => "Set the limit on the container itself, and restart the JVM".to_owned(),
            Unseen::Unknown => {
                "Ask the JVM what it sees: java -XX:+UseContainerSupport -Xlog:os+container=trace -version"
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn healthy() -> JvmContainer {
        JvmContainer {
            view: ContainerView {
                is_containerized: Some(true),
                processors: Some(1),
                reads_controllers_file: Some(false),
                has_support: Some(true),
                heap_bytes_max: Some(128 * MIB),
                heap_sized_by: Some(HeapSizedBy::Ergonomics),
                ..ContainerView::default()
            },
            limits: ContainerLimits {
                memory_bytes: Some(512 * MIB),
                cpus: Some(1.0),
                is_version_2: Some(true),
                lists_memory: Some(true),
                machine_bytes: Some(4096 * MIB),
                ..ContainerLimits::default()
            },
        }
    }

    fn why(change: impl Fn(&mut JvmContainer), release: (u32, u32)) -> Option<Unseen> {
        let mut container = healthy();
        change(&mut container);
        unseen_limit(&container, Some(release)).map(|unseen| unseen.why)
    }

    fn blind(container: &mut JvmContainer) {
        container.view.is_containerized = Some(false);
        container.view.heap_bytes_max = Some(1024 * MIB);
        container.view.processors = Some(2);
    }

    #[test]
    fn each_cause_is_named() {
        assert_eq!(why(|_| {}, (17, 15)), None);
        let unlisted = |c: &mut JvmContainer| {
            blind(c);
            c.limits.lists_memory = Some(false);
        };
        assert_eq!(why(unlisted, (17, 15)), Some(Unseen::NotListed));
        let unlisted_stripped = |c: &mut JvmContainer| {
            unlisted(c);
            (c.view.is_containerized, c.view.processors, c.view.reads_controllers_file) = (None, None, None);
        };
        assert_eq!(why(unlisted_stripped, (17, 15)), Some(Unseen::NotListed));
        assert_eq!(why(unlisted_stripped, (17, 99)), Some(Unseen::Unknown), "of no known update");
        let off = |c: &mut JvmContainer| {
            blind(c);
            (c.view.has_support, c.view.is_containerized) = (Some(false), Some(false));
        };
        assert_eq!(why(off, (17, 15)), Some(Unseen::SupportOff));
        let without = |c: &mut JvmContainer| {
            blind(c);
            (c.view.has_support, c.view.is_containerized) = (None, None);
        };
        assert_eq!(why(without, (8, 181)), Some(Unseen::NoSupport));
        assert_eq!(why(blind, (11, 15)), Some(Unseen::NoVersion2));
        assert_eq!(why(blind, (13, 0)), Some(Unseen::NoVersion2), "no update of 13 got it");
        let xmx = |c: &mut JvmContainer| {
            (c.view.heap_bytes_max, c.view.heap_sized_by) = (Some(600 * MIB), Some(HeapSizedBy::Size));
        };
        assert_eq!(why(xmx, (17, 15)), Some(Unseen::SizeAboveLimit));
        let max_ram = |c: &mut JvmContainer| {
            (c.view.heap_bytes_max, c.view.heap_sized_by) = (Some(600 * MIB), Some(HeapSizedBy::MaxRam));
        };
        assert_eq!(why(max_ram, (17, 15)), Some(Unseen::MaxRamAboveLimit));
        assert_eq!(why(|c| c.limits.memory_bytes = Some(100 * MIB), (17, 15)), Some(Unseen::LaterLimit));
        let of_parent = |c: &mut JvmContainer| {
            (c.limits.memory_bytes, c.limits.is_memory_of_parent) = (Some(100 * MIB), true);
        };
        assert_eq!(why(of_parent, (17, 15)), Some(Unseen::LimitOfParent));
        assert_eq!(why(|c| c.view.processors = Some(2), (17, 15)), Some(Unseen::LaterLimit), "processors");
        assert_eq!(why(blind, (17, 15)), Some(Unseen::Unknown), "all is there, and it does not look");
        assert_eq!(why(blind, (25, 3)), Some(Unseen::LaterLimit));
    }

    #[test]
    fn what_is_within_the_limits_or_has_none_is_no_finding() {
        let sized = |c: &mut JvmContainer| {
            blind(c);
            (c.view.heap_bytes_max, c.view.heap_sized_by) = (Some(256 * MIB), Some(HeapSizedBy::Size));
            c.limits.cpus = None;
        };
        assert_eq!(why(sized, (17, 15)), None, "-Xmx within the limit");
        let unlimited = |c: &mut JvmContainer| {
            blind(c);
            (c.limits.memory_bytes, c.limits.cpus) = (None, None);
        };
        assert_eq!(why(unlimited, (17, 15)), None);
        let as_large = |c: &mut JvmContainer| {
            blind(c);
            (c.limits.memory_bytes, c.limits.cpus) = (Some(8192 * MIB), None);
        };
        assert_eq!(why(as_large, (17, 15)), None, "a limit above the machine's memory");
        let set = |c: &mut JvmContainer| (c.view.processors, c.view.are_processors_set) = (Some(4), true);
        assert_eq!(why(set, (17, 15)), None, "-XX:ActiveProcessorCount");
        let stripped = |c: &mut JvmContainer| (c.view.is_containerized, c.view.processors) = (None, None);
        assert_eq!(why(stripped, (17, 15)), None);
        assert_eq!(why(|c| c.limits.cpus = Some(0.5), (17, 15)), None, "half a processor is one");
    }

    #[test]
    fn updates_between_those_that_are_known_are_not_known() {
        assert_eq!(ContainerRules::needs_no_list(21, 11), Some(false));
        assert_eq!(ContainerRules::needs_no_list(21, 12), None);
        assert_eq!(ContainerRules::needs_no_list(21, 13), Some(true));
        assert_eq!(ContainerRules::needs_no_list(26, 0), Some(true));
        assert_eq!(ContainerRules::needs_no_list(24, 0), None, "21's updates say nothing of 24");
        assert_eq!(ContainerRules::needs_no_list(9, 0), None);
        assert!(RULES.windows(2).all(|pair| pair[0].feature < pair[1].feature), "in their order");
    }
}
