//! What could be given back or avoided: claims about one snapshot, each with its figures, the setting as it is typed, and
//! the bytes that it would bring.
//!
//! A rule is a function from the snapshot to a finding, and stays silent unless the figures support it. Nothing is claimed
//! of a figure that is absent. To add a rule: write the function, put it into [`RULES`], and give `tests/findings` a snapshot
//! that has what it speaks of and one that just has not.

mod buffers;
pub(crate) mod classes;
mod code;
mod heap;
mod host;
mod malloc;
mod threads;
pub(crate) mod weight;
pub(crate) mod words;

use assay_model::{Finding, MemoryReport, MemoryRule};

type Rule = fn(&MemoryReport) -> Option<Finding<MemoryRule>>;

/// All rules.
const RULES: [Rule; 22] = [
    malloc::trim,
    malloc::arenas,
    malloc::tops,
    heap::free_but_resident,
    heap::pre_touched,
    threads::stale_stacks,
    threads::many_threads,
    threads::huge_pages_in_stacks,
    host::huge_pages_unasked,
    buffers::direct_without_limit,
    buffers::zip_streams,
    classes::reflection_loaders,
    classes::metaspace_waste,
    classes::private_archive,
    code::code_cache_free,
    code::code_cache_nearly_full,
    code::gc_structures,
    code::native_memory_tracking,
    code::mapped_jars,
    host::swapped,
    host::near_limit,
    host::unknown_share,
];

/// What follows from a snapshot: the gravest first, then the biggest gain, then claims without one. A rule that has nothing to say about the
/// process is silent.
pub fn findings(report: &MemoryReport) -> Vec<Finding<MemoryRule>> {
    let mut found: Vec<Finding<MemoryRule>> = RULES.iter().filter_map(|rule| rule(report)).collect();
    Finding::sort(&mut found);
    found
}
