//! Allocators read from outside: which blocks of the C library's heap are in use, which are freed, and what the allocator
//! itself takes.
//!
//! [`survey()`] finds the allocator of a process and walks it. The result says nothing about owners: that is the work of
//! `assay-memory`.

mod blocks;
mod find;
mod give_back;
mod glibc;
mod jemalloc;
mod leaves;
mod library;
mod survey;
mod tcmalloc;
mod word_reader;

pub use blocks::{Block, BlockFinder, BlockState, Blocks, NO_ARENA};
pub use give_back::{GiveBack, give_back};
pub use survey::{Arena, HeapKind, HeapRange, Survey};

use assay_linux::MemorySource;
use assay_model::{Allocator, Problem};
use find::AllocatorFound;
use std::ops::Range;
use survey::NO_PREDICTION;

/// Finds the allocator of a process and walks it. It never fails: the survey's problems list the parts that could not be read.
///
/// `not_malloc` are address ranges that belong to something else (Java heap, metaspace, code cache, stacks, archives),
/// in any order: they are not searched for blocks that have a mapping of their own.
pub fn survey(source: &dyn MemorySource, not_malloc: &[Range<u64>]) -> Survey {
    let Some(found) = find::find(source) else { return Survey::default() };
    let mut survey = survey_found(source, found, not_malloc);
    if survey.blocks.is_full() {
        let bytes: u64 = survey.not_walkable.iter().map(|range| range.end - range.start).sum();
        let blocks = survey.blocks.len();
        survey.problems.push(Problem::new(
            found.kind.word(),
            format!(
                "more than {blocks} blocks: in {bytes} bytes more, used and freed blocks cannot be distinguished"
            ),
        ));
        // Memory there may be given back, too.
        survey.trim_gain_bytes = None;
        survey.problems.push(Problem::new(found.kind.word(), NO_PREDICTION));
    }
    survey
}

fn survey_found(source: &dyn MemorySource, found: AllocatorFound<'_>, not_malloc: &[Range<u64>]) -> Survey {
    match found.kind {
        Allocator::Glibc => {
            glibc::survey(source, found.object, not_malloc).unwrap_or_else(|| no_arena(found))
        }
        Allocator::Jemalloc => {
            jemalloc::survey(source, found.object).unwrap_or_else(|| named_only(source, found))
        }
        Allocator::Tcmalloc => {
            tcmalloc::survey(source, found.object, not_malloc).unwrap_or_else(|| named_only(source, found))
        }
        Allocator::Mimalloc | Allocator::Musl | Allocator::Other => named_only(source, found),
    }
}

/// A C library without an arena. Of a program that may have it linked in, this says that it has not.
fn no_arena(found: AllocatorFound<'_>) -> Survey {
    if found.is_guess {
        return Survey::default();
    }
    let what = "no arena was found: malloc has not been used yet, or its layout is not known";
    let problems = vec![Problem::new(found.kind.word(), what)];
    Survey { allocator: Some(found.kind), problems, ..Survey::default() }
}

/// An allocator whose structures are not known here: of its memory only the part that `brk` grows is known.
fn named_only(source: &dyn MemorySource, found: AllocatorFound<'_>) -> Survey {
    let brk = source.mappings().iter().filter(|m| m.name == "[heap]").map(|m| m.addresses.clone());
    let ranges = brk.clone().map(|addresses| HeapRange { addresses, kind: HeapKind::Main });
    Survey {
        allocator: Some(found.kind),
        ranges: ranges.collect(),
        not_walkable: brk.collect(),
        problems: vec![
            Problem::new(
                found.kind.word(),
                "the blocks of this allocator cannot be distinguished from outside: its memory has no known owner",
            ),
            Problem::new(found.kind.word(), NO_PREDICTION),
        ],
        ..Survey::default()
    }
}
