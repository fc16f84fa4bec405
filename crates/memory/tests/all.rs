//! The integration tests of this crate, linked as one program; each file is a module.

mod advise;
mod buffers;
mod closure;
mod depth;
mod explain;
mod findings;
mod footprint;
mod growth;
mod hostile;
mod leaks;
mod limit;
mod many_blocks;
mod mapped;
mod mapped_again;
mod native_image;
mod nmt;
mod owners;
mod probes;
mod program;
mod record;
mod recorded;
mod report;
mod split;
mod trim;
mod truth;
mod verdict;
