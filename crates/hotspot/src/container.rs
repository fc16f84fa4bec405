//! What a JVM took from its control group when it started.
//!
//! `OSContainer::_is_containerized` and `os::_initial_active_processor_count` are private variables of libjvm, in its symbols. The JVM writes
//! them once, while it starts. JDK 8 has another name for the first, and Debian's has no symbols.

use crate::Hotspot;
use assay_model::{ContainerView, FlagOrigin, HeapSizedBy};

const IS_CONTAINERIZED: &str = "_ZN11OSContainer17_is_containerizedE";
const PROCESSORS: &str = "_ZN2os31_initial_active_processor_countE";
/// What releases with JDK-8349988 read in place of `/proc/cgroups`; a part of the path, or all of it.
const CONTROLLERS_FILE: &str = "cgroup.controllers";
/// More are not a count.
const PROCESSORS_MAX: u32 = 1 << 16;

impl Hotspot<'_> {
    /// Reads it.
    pub fn container_view(&self) -> ContainerView {
        let symbols = self.symbols();
        let is_containerized = symbols.address(IS_CONTAINERIZED).and_then(|at| self.source().u8(at));
        let processors = symbols.address(PROCESSORS).and_then(|at| self.source().u32(at));
        let flags = self.flags();
        ContainerView {
            is_containerized: is_containerized.filter(|value| *value <= 1).map(|value| value == 1),
            processors: processors.filter(|count| (1..PROCESSORS_MAX).contains(count)).map(u64::from),
            are_processors_set: flags.int("ActiveProcessorCount").is_some_and(|count| 0 < count),
            reads_controllers_file: Some(!symbols.image.constants().places_of(CONTROLLERS_FILE).is_empty()),
            has_support: flags.bool("UseContainerSupport"),
            heap_bytes_max: flags.uint("MaxHeapSize"),
            heap_sized_by: self.heap_sized_by(),
        }
    }

    /// What decided the largest heap; `None` where the flags cannot be read.
    fn heap_sized_by(&self) -> Option<HeapSizedBy> {
        let flags = self.flags();
        let is_set = |name: &str| {
            flags.set_by(name).is_some_and(|by| !matches!(by, FlagOrigin::Default | FlagOrigin::Ergonomics))
        };
        let heap = flags.uint("MaxHeapSize")?;
        let initial = flags.uint("InitialHeapSize").filter(|_| is_set("InitialHeapSize"));
        Some(if is_set("MaxHeapSize") || initial.is_some_and(|initial| heap <= initial) {
            HeapSizedBy::Size
        } else if is_set("MaxRAM") {
            HeapSizedBy::MaxRam
        } else if is_set("MaxRAMPercentage") || is_set("MaxRAMFraction") {
            HeapSizedBy::Share
        } else {
            HeapSizedBy::Ergonomics
        })
    }
}
