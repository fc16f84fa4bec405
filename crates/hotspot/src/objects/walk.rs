//! From object to object.

use super::classes::HeapClasses;
use super::ranges::{Hole, ObjectRange};
use super::table::{ClassTable, Facts, Form};
use super::window::{HeapMemory, HeapReader};
use super::{HeapObject, ObjectForm, ObjectVisitor, ObjectWalk, WalkBytes};
use crate::Hotspot;
use crate::names::{ClassPointer, ObjectLayout};
use assay_jdk::Collector;

/// What is looked at of an object: its header, and what a mirror says of itself.
pub(super) const LOOK_BYTES: usize = 256;
/// A header: mark, class, length.
const HEADER_BYTES: usize = 24;
/// From how many objects that follow each other a chain is believed.
const CHAIN_OBJECTS: usize = 8;
/// `markWord`: the object was moved; its new address is in the rest of the word.
const MOVED: u64 = 3;

/// How objects look in this process.
#[derive(Clone, Copy)]
pub(super) struct Format {
    pointer: ClassPointer,
    object: ObjectLayout,
    length_at: usize,
    /// In a mirror: where its size in words is, and the class for which it stands.
    mirror_size: Option<usize>,
    mirror_class: Option<usize>,
    /// In a part of a virtual thread's stack: where its size in words is; bits that describe a word.
    chunk_size: Option<usize>,
    chunk_bits: u64,
    /// Whether objects that were moved may be met although no collection stops the threads.
    may_be_moved: bool,
}

impl Format {
    pub(super) fn of(hotspot: &Hotspot<'_>, classes: &HeapClasses<'_>) -> Option<Format> {
        let object = classes.object;
        let pointer = object.class_pointer?;
        let length_at = match pointer {
            ClassPointer::Full(offset) => offset.checked_add(object.word_bytes)?,
            ClassPointer::Narrow { offset, .. } => offset.checked_add(4)?,
            ClassPointer::InMark { .. } => 8,
        };
        let within = |offset: u64| usize::try_from(offset).ok().filter(|offset| *offset <= LOOK_BYTES - 8);
        let class_offset = hotspot.structs().static_address("java_lang_Class", "_klass_offset");
        let class_offset = class_offset.and_then(|at| hotspot.source().u32(at));
        let chunk = classes.loaded().iter().find(|class| class.name == "jdk.internal.vm.StackChunk");
        let chunk_size = chunk.and_then(|chunk| {
            let fields = hotspot.field_reader(classes)?.fields_of(chunk)?;
            fields.iter().find(|field| field.name == "size").map(|field| field.offset_bytes)
        });
        Some(Format {
            pointer,
            object,
            length_at: within(length_at).filter(|at| at + 4 <= HEADER_BYTES)?,
            mirror_size: object.mirror_size.and_then(within),
            mirror_class: class_offset.and_then(|offset| within(offset.into())),
            chunk_size: chunk_size.and_then(within),
            chunk_bits: if hotspot.flags().bool("UseCompressedOops") == Some(true) { 2 } else { 1 },
            may_be_moved: hotspot.collector() == Some(Collector::Shenandoah),
        })
    }

    /// The word with which an object points at its class.
    #[inline]
    pub(super) fn class_pointer(&self, bytes: &[u8]) -> Option<u64> {
        match self.pointer {
            ClassPointer::Narrow { offset, .. } => Some(u32_at(bytes, offset as usize)?.into()),
            ClassPointer::InMark { from_bit, .. } => self.object.class_in_mark(u64_at(bytes, 0)?, from_bit),
            ClassPointer::Full(offset) => self.word_at(bytes, offset as usize),
        }
    }

    #[inline]
    fn word_at(&self, bytes: &[u8], offset: usize) -> Option<u64> {
        if self.object.word_bytes == 8 { u64_at(bytes, offset) } else { u32_at(bytes, offset).map(u64::from) }
    }

    /// Size of an object in bytes, and its kind. `of_class` gives the class of a mirror.
    #[inline]
    pub(super) fn measured(
        &self,
        facts: &Facts,
        bytes: &[u8],
        of_class: impl FnOnce(u64) -> Option<u32>,
    ) -> Option<(u64, ObjectForm)> {
        let base = u64::from(facts.bytes);
        let (size, form) = match facts.form {
            // Rounded when the class was read.
            Form::Instance if base != 0 => return Some((base, ObjectForm::Instance)),
            Form::Instance => return None,
            Form::Array => {
                let length = u64::from(u32_at(bytes, self.length_at)?);
                if i32::MAX as u64 <= length {
                    return None;
                }
                (base + (length << facts.element_log2), ObjectForm::Array { length })
            }
            Form::Mirror => {
                let words = u64::from(u32_at(bytes, self.mirror_size?)?);
                let of = of_class(self.word_at(bytes, self.mirror_class?)?);
                let size = words * self.object.word_bytes;
                (if size < base { 0 } else { size }, ObjectForm::Mirror { of })
            }
            Form::StackChunk => {
                let words = u64::from(u32_at(bytes, self.chunk_size?)?);
                // Behind the stack, a map of its references: whole words of 64 bits.
                let map = (words * self.chunk_bits).div_ceil(64) * 8;
                (base + words * self.object.word_bytes + map, ObjectForm::StackChunk)
            }
        };
        (size != 0).then(|| (size.next_multiple_of(self.object.alignment_bytes), form))
    }
}

#[inline]
fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

#[inline]
fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The content of an address.
enum Occupant {
    Object { size: u64, object: HeapObject },
    Moved { size: u64 },
    Dormant { size: u64 },
    Unknown,
}

/// One thread of a walk.
pub(super) struct Walker<'h, 'b, 'c, 'm, V> {
    format: Format,
    memory: &'h HeapMemory<'b, 'm>,
    window: HeapReader<'h, 'b, 'm>,
    holes: &'h [Hole],
    table: ClassTable<'c, 'm>,
    is_standing: &'h (dyn Fn() -> bool + Sync),
    is_over: bool,
    visitor: V,
    bytes: WalkBytes,
    objects: u64,
    buffers: u64,
    skips: u64,
}

impl<'h, 'b, 'c, 'm, V: ObjectVisitor> Walker<'h, 'b, 'c, 'm, V> {
    pub(super) fn new(
        format: Format,
        memory: &'h HeapMemory<'b, 'm>,
        holes: &'h [Hole],
        table: ClassTable<'c, 'm>,
        is_standing: &'h (dyn Fn() -> bool + Sync),
        visitor: V,
    ) -> Self {
        Walker {
            format,
            memory,
            window: HeapReader::new(memory),
            holes,
            table,
            is_standing,
            is_over: false,
            visitor,
            bytes: WalkBytes::default(),
            objects: 0,
            buffers: 0,
            skips: 0,
        }
    }

    pub(super) fn finish(self) -> ObjectWalk<V> {
        ObjectWalk {
            visitors: vec![self.visitor],
            bytes: self.bytes,
            objects: self.objects,
            buffers: self.buffers,
            skips: self.skips,
            bytes_read: self.window.bytes_read,
        }
    }

    /// Walks a range from its start to its end. Each round of the loop gets at least a unit of alignment further.
    pub(super) fn walk(&mut self, range: &ObjectRange) {
        let end = range.addresses.end;
        let mut at = range.addresses.start;
        let mut hole = self.holes.partition_point(|hole| hole.end <= at);
        while at < end {
            let next_hole = self.holes.get(hole);
            if let Some(open) = next_hole.filter(|open| open.start <= at) {
                let behind = open.end.clamp(at, end);
                self.bytes.buffer_bytes += behind - at;
                self.buffers += u64::from(at < behind);
                (at, hole) = (behind, hole + 1);
                continue;
            }
            let limit = next_hole.map_or(end, |open| open.start.min(end));
            if !self.is_in_reach(at, end) {
                if self.is_over {
                    self.bytes.not_walked_bytes += end - at;
                    return;
                }
                at = self.behind_absent(at, limit);
                continue;
            }
            let met = self.met(at);
            let size = match met {
                Occupant::Object { size, .. } | Occupant::Moved { size } | Occupant::Dormant { size } => size,
                Occupant::Unknown => 0,
            };
            if size == 0 || limit - at < size {
                at = self.recover(at, limit, range, next_hole);
                continue;
            }
            match met {
                Occupant::Object { object, .. } => {
                    self.bytes.object_bytes += size;
                    self.objects += 1;
                    self.visitor.object(&object);
                }
                Occupant::Moved { .. } => self.bytes.moved_bytes += size,
                Occupant::Dormant { .. } | Occupant::Unknown => self.bytes.dormant_bytes += size,
            }
            at += size;
            if let Some(region) = range.humongous {
                let behind = next_region(at, range, region);
                self.bytes.behind_humongous_bytes += behind - at;
                at = behind;
            }
        }
    }

    /// Whether the header at an address has been read, or can be now.
    #[inline]
    fn is_in_reach(&mut self, at: u64, end: u64) -> bool {
        let needed = (end - at).min(LOOK_BYTES as u64) as usize;
        self.window.at(at, needed).is_some() || self.read(at, needed, end)
    }

    #[cold]
    fn read(&mut self, at: u64, needed: usize, end: u64) -> bool {
        let is_read = !self.is_over
            && (self.window.read_on(at, needed, end)
                // The header may end where the resident pages do.
                || self.window.read_on(at, needed.min(HEADER_BYTES), end)
                || self.window.read_on(at, needed.min(HEADER_BYTES - 8), end));
        // Values read while threads ran may be of two moments.
        self.is_over = self.is_over || !(self.is_standing)();
        is_read && !self.is_over
    }

    #[inline]
    fn met(&mut self, at: u64) -> Occupant {
        let Some(bytes) = self.window.at(at, 0) else { return Occupant::Unknown };
        if self.format.may_be_moved && u64_at(bytes, 0).is_some_and(|mark| mark & 3 == MOVED) {
            return self.moved(at);
        }
        let Some(pointer) = self.format.class_pointer(bytes) else { return Occupant::Unknown };
        let Some(facts) = self.table.loaded(pointer) else { return self.dormant(at, pointer) };
        let Some((size, form)) = self.format.measured(&facts, bytes, |class| self.table.number_at(class))
        else {
            return Occupant::Unknown;
        };
        Occupant::Object { size, object: HeapObject { address: at, class: facts.number, bytes: size, form } }
    }

    #[cold]
    fn dormant(&mut self, at: u64, pointer: u64) -> Occupant {
        let facts = self.table.dormant(pointer);
        let size = facts.and_then(|facts| {
            let bytes = self.window.at(at, 0)?;
            self.format.measured(&facts, bytes, |_| None)
        });
        size.map_or(Occupant::Unknown, |(size, _)| Occupant::Dormant { size })
    }

    /// An object whose mark is its new address. With compact headers the class is in that one's mark only.
    #[cold]
    fn moved(&mut self, at: u64) -> Occupant {
        let size = || {
            let bytes = self.window.at(at, 0)?;
            let mut mark = [0; 8];
            let is_compact = matches!(self.format.pointer, ClassPointer::InMark { .. });
            let pointer = if is_compact {
                let new = u64_at(bytes, 0)? & !MOVED;
                if !self.memory.read_exact(new, &mut mark) {
                    return None;
                }
                self.format.class_pointer(&mark)?
            } else {
                self.format.class_pointer(bytes)?
            };
            let facts = self.table.loaded(pointer)?;
            self.format.measured(&facts, bytes, |_| None)
        };
        size().map_or(Occupant::Unknown, |(size, _)| Occupant::Moved { size })
    }

    /// From what cannot be read to where a chain begins again.
    fn behind_absent(&mut self, at: u64, limit: u64) -> u64 {
        let next = self.memory.next_resident(at, limit).clamp(at, limit);
        self.bytes.absent_bytes += next - at;
        let found = self.find_chain(next, limit);
        self.book_skip(next, found);
        found
    }

    /// From a place without an object to the next object.
    fn recover(&mut self, at: u64, limit: u64, range: &ObjectRange, hole: Option<&Hole>) -> u64 {
        if hole.is_some_and(|hole| hole.buffer_start <= at && hole.start == limit) {
            self.bytes.unfinished_bytes += limit - at;
            return limit;
        }
        let next = match range.humongous {
            Some(region) => next_region(at + 1, range, region).min(limit),
            None => self.find_chain(at + self.format.object.alignment_bytes, limit),
        };
        self.book_skip(at, next);
        next
    }

    fn book_skip(&mut self, from: u64, to: u64) {
        if self.is_over {
            self.bytes.not_walked_bytes += to - from;
        } else {
            self.skips += u64::from(from < to);
            self.bytes.skipped_bytes += to - from;
        }
    }

    /// The first address from which several objects follow each other; the limit when there is none before it, where the
    /// walk goes on by what else is known.
    fn find_chain(&mut self, from: u64, limit: u64) -> u64 {
        let alignment = self.format.object.alignment_bytes;
        let mut at = from.next_multiple_of(alignment);
        while at < limit {
            if !self.is_in_reach(at, limit) {
                if self.is_over {
                    return limit;
                }
                at = self.memory.next_resident(at, limit).max(at + alignment);
                continue;
            }
            if self.is_chain(at, limit) {
                return at;
            }
            at += alignment;
        }
        limit
    }

    /// Whether objects of loaded classes follow each other from here on, up to the limit or enough of them.
    fn is_chain(&self, from: u64, limit: u64) -> bool {
        let mut at = from;
        for _ in 0..CHAIN_OBJECTS {
            let mut far = [0; LOOK_BYTES];
            let needed = (limit - at).min(LOOK_BYTES as u64) as usize;
            let bytes = match self.window.at(at, needed) {
                Some(bytes) => bytes,
                None if self.memory.read_exact(at, &mut far[..needed]) => &far,
                None => return false,
            };
            let facts = self.format.class_pointer(bytes).and_then(|pointer| self.table.loaded(pointer));
            let size = facts.and_then(|facts| self.format.measured(&facts, bytes, |_| None));
            match size {
                Some((size, _)) if size == limit - at => return true,
                Some((size, _)) if size < limit - at => at += size,
                _ => return false,
            }
        }
        true
    }
}

/// Where the next region begins, or the range ends.
fn next_region(at: u64, range: &ObjectRange, region: u64) -> u64 {
    at.checked_next_multiple_of(region).map_or(range.addresses.end, |next| next.min(range.addresses.end))
}
