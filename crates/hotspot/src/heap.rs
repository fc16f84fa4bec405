//! The Java heap by space.

mod generations;
mod regions;
mod z;

pub(crate) use z::{Forwardings, Moved, ZViews};

use crate::Hotspot;
use assay_jdk::Collector;
use assay_model::FigureSource;
use std::ops::Range;

/// A space, a generation or all regions of one kind: where objects lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// `eden`, `survivor`, `old`, `humongous`, `archive`, `free`, or `objects` where the collector has no generations;
    /// the same name may occur for many ranges.
    pub name: &'static str,
    /// Committed addresses.
    pub addresses: Range<u64>,
    /// Where the objects end: from here to the end of `addresses` nothing is in use.
    pub top: u64,
}

/// The Java heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JavaHeap {
    /// Its collector.
    pub collector: Collector,
    /// Reserved address ranges (ZGC before JDK 21 maps the heap three times).
    pub reserved: Vec<Range<u64>>,
    /// Spaces, sorted by address, without overlap. Parts of `reserved` in no space are not committed. Where the heap is
    /// mapped three times, each space occurs three times.
    pub spaces: Vec<Space>,
    /// How the spaces were found.
    pub known_from: FigureSource,
}

impl JavaHeap {
    /// Committed bytes. Memory that is mapped several times counts once.
    pub fn committed_bytes(&self) -> u64 {
        self.sum(|space| space.addresses.end - space.addresses.start)
    }

    /// Bytes up to the tops of the spaces: live and dead objects. Memory that is mapped several times counts once.
    pub fn used_bytes(&self) -> u64 {
        self.sum(|space| space.top - space.addresses.start)
    }

    fn sum(&self, bytes: impl Fn(&Space) -> u64) -> u64 {
        let views = self.reserved.len().max(1) as u64;
        self.spaces.iter().map(bytes).sum::<u64>() / views
    }
}

impl Hotspot<'_> {
    /// The Java heap by space; `None` where its structures are not known (a problem says so). When only its reserved
    /// range is known there are no spaces.
    pub fn heap(&self) -> Option<JavaHeap> {
        let Some(collector) = self.collector() else {
            self.problem("Java heap", "the collector is not known");
            return None;
        };
        let read = match collector {
            Collector::Serial => self.serial_heap(),
            Collector::Parallel => self.parallel_heap(),
            // Its old generation has lists of free blocks and no top.
            Collector::ConcMarkSweep => None,
            Collector::G1 => self.g1_heap(),
            Collector::Z => self.z_heap(),
            Collector::Shenandoah => self.shenandoah_heap(),
            Collector::Epsilon => self.epsilon_heap(),
        };
        if read.is_none() {
            self.problem("Java heap", match collector {
                Collector::ConcMarkSweep => {
                    "CMS keeps what is free of its old generation in lists, which are not read: used and free parts of the heap are not \
                     distinguished"
                        .to_owned()
                }
                _ => format!("the spaces of {collector:?} could not be read"),
            });
        }
        let (reserved, spaces) = match read {
            Some(spaces) => spaces.finish(),
            None => (vec![self.reserved_heap()?], Vec::new()),
        };
        Some(JavaHeap { collector, reserved, spaces, known_from: FigureSource::VmStructs })
    }

    /// `CollectedHeap::_reserved`: start, and size in words.
    pub(crate) fn reserved_heap(&self) -> Option<Range<u64>> {
        let region = self.place(self.collected_heap()?, &[("CollectedHeap", "_reserved")])?;
        self.mem_region(region)
    }

    /// A `MemRegion` at an address.
    pub(crate) fn mem_region(&self, at: u64) -> Option<Range<u64>> {
        let start = self.pointer(at, &[("MemRegion", "_start")])?;
        let words = self.field(at, &[("MemRegion", "_word_size")])?;
        let bytes = words.checked_mul(self.source().word_bytes())?;
        (bytes != 0).then_some(start..start.checked_add(bytes)?)
    }
}

/// Spaces while they are read: those that cannot be are left out, with a problem.
struct Spaces<'h, 'm> {
    hotspot: &'h Hotspot<'m>,
    reserved: Vec<Range<u64>>,
    spaces: Vec<Space>,
}

impl<'h, 'm> Spaces<'h, 'm> {
    fn new(hotspot: &'h Hotspot<'m>, reserved: Vec<Range<u64>>) -> Self {
        Spaces { hotspot, reserved, spaces: Vec::new() }
    }

    /// Adds a space, in any order. Empty ones are not kept.
    fn push(&mut self, name: &'static str, start: u64, top: u64, end: u64) {
        let is_inside = self.reserved.iter().any(|range| range.start <= start && end <= range.end);
        if !is_inside || top < start || end < top {
            self.hotspot
                .problem("Java heap", format!("a space ({name}) with impossible bounds was left out"));
        } else if start < end {
            self.spaces.push(Space { name, addresses: start..end, top });
        }
    }

    /// Adds what of a committed range is in no space yet.
    fn push_rest(&mut self, committed: Range<u64>) {
        self.spaces.sort_unstable_by_key(|space| space.addresses.start);
        let mut at = committed.start;
        let mut free = Vec::new();
        for space in &self.spaces {
            let Range { start, end } = space.addresses;
            if start < committed.end && committed.start < end {
                free.push(at..start);
                at = at.max(end);
            }
        }
        free.push(at..committed.end);
        for range in free.into_iter().filter(|range| range.start < range.end) {
            self.push("free", range.start, range.start, range.end);
        }
    }

    /// Sorts, drops what overlaps, and joins neighbours of one kind of which the first is full or both are empty.
    fn finish(mut self) -> (Vec<Range<u64>>, Vec<Space>) {
        self.spaces.sort_unstable_by_key(|space| space.addresses.start);
        let mut joined: Vec<Space> = Vec::with_capacity(self.spaces.len().min(1024));
        for space in self.spaces {
            match joined.last_mut() {
                Some(last) if space.addresses.start < last.addresses.end => {
                    self.hotspot.problem("Java heap", "a space that overlaps with another was left out");
                }
                Some(last)
                    if last.addresses.end == space.addresses.start
                        && last.name == space.name
                        && (last.top == last.addresses.end
                            || (last.top == last.addresses.start && space.top == space.addresses.start)) =>
                {
                    let is_empty = last.top == last.addresses.start;
                    last.top = if is_empty { last.top } else { space.top };
                    last.addresses.end = space.addresses.end;
                }
                _ => joined.push(space),
            }
        }
        (self.reserved, joined)
    }
}
