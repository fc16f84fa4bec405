//! Arrays with which JVMs fill the gaps between objects.
//!
//! A collector leaves gaps where it does not move what is alive, and puts an array of numbers into each, so that the heap
//! can be walked: up to a tenth of a heap that was just collected. The JVM has a class of its own for them since JDK 19
//! (`jdk.internal.vm.FillerElement[]`), but a dump has them as `int[]`, like any other. They are recognised by the fact that nothing refers
//! to them, and that is known at the end only: a dump is read twice where it matters. The first reading collects all arrays
//! of int, the second one goes along all references and roots and counts nothing. Only JVMs with that class are trusted to have no reference that is
//! not dumped: JDK 6 has hundreds of arrays that only its permanent generation refers to. An array without elements may be the lock of a class that is
//! not initialized yet, to which no field refers that is dumped: those count as objects. Held by `tests/hprof_truth.rs`.

use super::classes::{ClassTable, OVERFLOW, SlotIndex};
use crate::{ArrayLengths, FieldKind};
use assay_text::size;

/// The class of fillers, as a dump names it.
pub(super) const CLASS: &[u8] = b"[Ljdk/internal/vm/FillerElement;";
/// Arrays that are kept: 24 MB.
const ARRAYS_MAX: usize = 2_000_000;
/// Offsets of references of all classes, those above them included: 16 MB.
const OFFSETS_MAX: usize = 4_000_000;
/// A smaller share of all objects' bytes is not worth a second reading.
const SHARE_MIN: f64 = 0.001;

/// Arrays of int of a dump, with elements.
#[derive(Default)]
pub(super) struct Candidates {
    ids: Vec<u64>,
    lengths: Vec<u32>,
    more: bool,
    bytes: u64,
}

impl Candidates {
    #[inline]
    pub(super) fn add(&mut self, id: u64, length: u64) {
        self.bytes += 4 * length;
        if self.ids.len() < ARRAYS_MAX {
            self.ids.push(id);
            self.lengths.push(length as u32);
        } else {
            self.more = true;
        }
    }

    /// Whether it makes a difference which of them are fillers, when all objects of the dump have so many bytes in it.
    pub(super) fn matter(&self, all_bytes: u64) -> bool {
        SHARE_MIN * all_bytes as f64 <= self.bytes as f64
    }

    /// For the second reading; nothing where there are too many.
    pub(super) fn into_references(mut self) -> Option<References> {
        if self.more {
            return None;
        }
        // As they lie in memory, so they mostly stand in a dump.
        if !self.ids.is_sorted() {
            let mut both: Vec<(u64, u32)> = self.ids.into_iter().zip(self.lengths).collect();
            both.sort_unstable();
            (self.ids, self.lengths) = both.into_iter().unzip();
        }
        let bits = (16 * self.ids.len()).next_power_of_two().max(64);
        let mut filter = vec![0; bits / 64].into_boxed_slice();
        let shift = 64 - bits.trailing_zeros();
        for id in &self.ids {
            let bit = hash(*id, shift);
            filter[bit / 64] |= 1 << (bit % 64);
        }
        let met = vec![false; self.ids.len()];
        Some(References {
            arrays: self,
            met,
            filter,
            shift,
            places: Vec::new(),
            offsets: Vec::new(),
            is_whole: true,
        })
    }
}

/// High bits of a product are mixed, low ones are not.
#[inline]
fn hash(id: u64, shift: u32) -> usize {
    (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
}

/// Where the references of a class lie in its instances.
#[derive(Debug, Clone, Copy)]
enum Places {
    /// No instance has come by yet.
    NotAsked,
    /// The class is not known, or one above it.
    Unknown,
    /// From here to there in the list of offsets.
    At(u32, u32),
}

/// The second reading: which of the arrays something refers to.
pub(super) struct References {
    arrays: Candidates,
    met: Vec<bool>,
    /// Most references are to other objects: a bit by hash says so without a search.
    filter: Box<[u64]>,
    shift: u32,
    /// By slot of the class.
    places: Vec<Places>,
    /// Offsets of references in an instance's bytes of a dump, those of a class one behind the other.
    offsets: Vec<u32>,
    /// Whether all references have been gone along.
    is_whole: bool,
}

impl References {
    /// Something refers to this.
    #[inline]
    pub(super) fn meet(&mut self, id: u64) {
        let bit = hash(id, self.shift);
        if self.filter[bit / 64] >> (bit % 64) & 1 != 0
            && let Ok(place) = self.arrays.ids.binary_search(&id)
        {
            self.met[place] = true;
        }
    }

    /// References one behind the other.
    #[inline]
    pub(super) fn meet_all<const ID: usize>(&mut self, bytes: &[u8]) {
        for id in bytes.as_chunks::<ID>().0 {
            self.meet(id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
    }

    /// The fields of an instance.
    #[inline]
    pub(super) fn of_instance<const ID: usize>(
        &mut self,
        slot: SlotIndex,
        table: &ClassTable,
        fields: &[u8],
    ) {
        let places = match self.places.get(slot as usize) {
            None | Some(Places::NotAsked) => self.find_places::<ID>(slot, table),
            Some(places) => *places,
        };
        let Places::At(from, to) = places else {
            self.is_whole = false;
            return;
        };
        for at in from..to {
            let offset = self.offsets[at as usize] as usize;
            match fields.get(offset..).and_then(|rest| rest.first_chunk::<ID>()) {
                Some(id) => self.meet_all::<ID>(id),
                None => self.is_whole = false,
            }
        }
    }

    #[cold]
    fn find_places<const ID: usize>(&mut self, slot: SlotIndex, table: &ClassTable) -> Places {
        if self.places.len() <= slot as usize {
            self.places.resize(table.slots.len().max(slot as usize + 1), Places::NotAsked);
        }
        let from = self.offsets.len() as u32;
        let places = match offsets::<ID>(slot, table) {
            Some(offsets) if self.offsets.len() + offsets.len() <= OFFSETS_MAX => {
                self.offsets.extend(offsets);
                Places::At(from, self.offsets.len() as u32)
            }
            _ => Places::Unknown,
        };
        self.places[slot as usize] = places;
        places
    }

    /// Takes the arrays that nothing refers to out of all arrays of int, and says so.
    pub(super) fn take_fillers(self, all: &mut ArrayLengths) -> Option<String> {
        if !self.is_whole {
            return Some(unknown("the class and the references of some objects are not known"));
        }
        let mut others = ArrayLengths::new(all.element);
        let (mut fillers, mut elements) = (0, 0);
        for (length, is_met) in self.arrays.lengths.iter().zip(&self.met) {
            if *is_met {
                others.add(u64::from(*length));
            } else {
                (fillers, elements) = (fillers + 1, elements + u64::from(*length));
            }
        }
        (0..all.empty).for_each(|_| others.add(0));
        *all = others;
        let size = size::rounded(4 * elements);
        let what = format!(
            "{fillers} arrays of int ({size} in them) to which nothing refers are not counted: JVMs fill gaps between objects so"
        );
        (fillers > 0).then_some(what)
    }
}

/// The problem reported where fillers are unknown.
pub(super) fn unknown(why: &str) -> String {
    format!("arrays of int that fill gaps between objects are counted as objects: {why}")
}

/// A class's own fields stand before those of the classes above it.
fn offsets<const ID: usize>(slot: SlotIndex, table: &ClassTable) -> Option<Vec<u32>> {
    if slot == OVERFLOW || 0 < table.without_fields {
        return None;
    }
    let mut offsets = Vec::new();
    let (mut at, mut next, mut steps) = (0, Some(slot), 0);
    while let Some(slot) = next {
        let dump = table.slots[slot as usize].dump.as_ref()?;
        for field in &dump.fields {
            match field.kind {
                FieldKind::Reference => {
                    offsets.push(at);
                    at += ID as u32;
                }
                FieldKind::Primitive(kind) => at += kind.bytes() as u32,
            }
        }
        steps += 1;
        if steps > table.slots.len() {
            return None;
        }
        next = if dump.super_id == 0 { None } else { Some(table.find(dump.super_id)?) };
    }
    Some(offsets)
}
