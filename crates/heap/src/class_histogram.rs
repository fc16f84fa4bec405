//! What a heap's size depends on, whatever its reference mode.

use assay_jdk::feature_of;
use assay_model::Problem;

/// Class with which a JVM fills gaps too small for an array, from JDK 19 on.
pub(crate) const FILLER_OBJECT: &str = "jdk.internal.vm.FillerObject";

/// Index of a class in [`ClassHistogram::classes`].
pub type ClassIndex = u32;

/// Element and field types that are not references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "Java's own names")]
pub enum PrimitiveKind {
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
}

impl PrimitiveKind {
    /// All of them, in the order of their numbers in the class file format and in dumps (4 to 11).
    pub const ALL: [PrimitiveKind; 8] = [
        PrimitiveKind::Boolean,
        PrimitiveKind::Char,
        PrimitiveKind::Float,
        PrimitiveKind::Double,
        PrimitiveKind::Byte,
        PrimitiveKind::Short,
        PrimitiveKind::Int,
        PrimitiveKind::Long,
    ];

    /// Bytes of a field or an element.
    pub fn bytes(self) -> u64 {
        match self {
            PrimitiveKind::Boolean | PrimitiveKind::Byte => 1,
            PrimitiveKind::Char | PrimitiveKind::Short => 2,
            PrimitiveKind::Float | PrimitiveKind::Int => 4,
            PrimitiveKind::Double | PrimitiveKind::Long => 8,
        }
    }

    /// Java's keyword.
    pub fn name(self) -> &'static str {
        match self {
            PrimitiveKind::Boolean => "boolean",
            PrimitiveKind::Char => "char",
            PrimitiveKind::Float => "float",
            PrimitiveKind::Double => "double",
            PrimitiveKind::Byte => "byte",
            PrimitiveKind::Short => "short",
            PrimitiveKind::Int => "int",
            PrimitiveKind::Long => "long",
        }
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// A number.
    Primitive(PrimitiveKind),
    /// A reference, whose size is the mode's.
    Reference,
}

/// A field that a class declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Box<str>,
    /// What it holds.
    pub kind: FieldKind,
}

/// A class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassShape {
    /// External name: `java.util.HashMap$Node`, `byte[]`, `java.lang.String[]`.
    pub name: Box<str>,
    /// Its super class; `None` for `java.lang.Object`, and where the heap does not have it.
    pub super_class: Option<ClassIndex>,
    /// Fields of its instances that it declares itself, in the class file's order.
    pub fields: Vec<Field>,
    /// Its static fields, in the class file's order, without pseudo fields such as `<resolved_references>`.
    pub statics: Vec<Field>,
    /// Objects of exactly this class. Of `java.lang.Class`: not the mirrors, each class has one.
    pub instances: u64,
    /// For an array class: its arrays.
    pub arrays: Option<ArrayLengths>,
    /// Whether a mirror (an object of class `java.lang.Class`) of it is in the heap.
    pub has_mirror: bool,
}

/// Lengths of all arrays of one class, folded so that Σ of their sizes can be had for any start, element size and
/// alignment up to 256 bytes, exactly, however many there are.
///
/// Most classes have arrays of few lengths, and servers have 20,000 classes of arrays (each `enum` makes one): counts take
/// little room until there are many lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayLengths {
    /// Element type; `None` for references.
    pub element: Option<PrimitiveKind>,
    /// Σ of lengths, in elements.
    pub elements: u64,
    /// Arrays by length modulo 256.
    by_residue: Residues,
    /// Arrays of length 0.
    pub empty: u64,
}

impl ArrayLengths {
    /// Of no array yet.
    pub fn new(element: Option<PrimitiveKind>) -> Self {
        ArrayLengths { element, elements: 0, by_residue: Residues::Few(Vec::new()), empty: 0 }
    }

    /// Adds an array of `length` elements.
    #[inline]
    pub fn add(&mut self, length: u64) {
        self.elements = self.elements.saturating_add(length);
        self.by_residue.add((length % 256) as u8, 1);
        self.empty += u64::from(length == 0);
    }

    /// Adds another's.
    pub fn add_all(&mut self, other: &ArrayLengths) {
        self.elements = self.elements.saturating_add(other.elements);
        self.empty += other.empty;
        for (residue, count) in other.by_residue.counts() {
            self.by_residue.add(residue, count);
        }
    }

    /// How many arrays.
    pub fn count(&self) -> u64 {
        self.by_residue.counts().map(|(_, count)| count).sum()
    }

    /// Σ of the sizes in bytes of all arrays, when elements of `element_bytes` begin at `base_bytes` and sizes are
    /// multiples of `alignment_bytes`, a power of two up to 256. `element_bytes` is a power of two up to 8.
    pub fn total_bytes(&self, base_bytes: u64, element_bytes: u64, alignment_bytes: u64) -> u64 {
        let unaligned = self
            .elements
            .saturating_mul(element_bytes)
            .saturating_add(self.count().saturating_mul(base_bytes));
        unaligned.saturating_add(self.tail_bytes(base_bytes, element_bytes, alignment_bytes))
    }

    /// Σ of the bytes behind the last elements, which alignment loses.
    pub fn tail_bytes(&self, base_bytes: u64, element_bytes: u64, alignment_bytes: u64) -> u64 {
        let tails = self.by_residue.counts().map(|(residue, count)| {
            let end = base_bytes + u64::from(residue) * element_bytes;
            count.saturating_mul(end.next_multiple_of(alignment_bytes) - end)
        });
        tails.fold(0, u64::saturating_add)
    }
}

/// Counts by residue.
#[derive(Debug, Clone)]
enum Residues {
    /// Up to [`Residues::FEW`] different ones, in the order in which they came.
    Few(Vec<(u8, u64)>),
    All(Box<[u64; 256]>),
}

impl Residues {
    const FEW: usize = 16;

    #[inline]
    fn add(&mut self, residue: u8, count: u64) {
        match self {
            Residues::All(counts) => counts[usize::from(residue)] += count,
            Residues::Few(_) => self.add_to_few(residue, count),
        }
    }

    fn add_to_few(&mut self, residue: u8, count: u64) {
        let Residues::Few(counts) = self else { return };
        if let Some((_, known)) = counts.iter_mut().find(|(of, _)| *of == residue) {
            *known += count;
        } else if counts.len() < Self::FEW {
            counts.push((residue, count));
        } else {
            let mut all = Box::new([0; 256]);
            counts.iter().for_each(|(of, known)| all[usize::from(*of)] = *known);
            all[usize::from(residue)] = count;
            *self = Residues::All(all);
        }
    }

    fn counts(&self) -> impl Iterator<Item = (u8, u64)> {
        let (few, all): (&[(u8, u64)], &[u64]) = match self {
            Residues::Few(counts) => (counts, &[]),
            Residues::All(counts) => (&[], counts.as_slice()),
        };
        let all = (0..=255).zip(all.iter().copied()).filter(|(_, count)| *count != 0);
        few.iter().copied().chain(all)
    }
}

/// Equal is what counts the same, however it is kept.
impl PartialEq for Residues {
    fn eq(&self, other: &Residues) -> bool {
        let sorted = |residues: &Residues| {
            let mut counts: Vec<(u8, u64)> = residues.counts().collect();
            counts.sort_unstable();
            counts
        };
        sorted(self) == sorted(other)
    }
}

impl Eq for Residues {}

/// Two objects that a walk met one after the other, the second at a higher address: the first is not longer than the gap,
/// and in a dense heap exactly as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Neighbour {
    /// The kind of the first one.
    pub kind: NeighbourKind,
    /// Address of the second less that of the first, in bytes.
    pub gap_bytes: u64,
}

/// The kind of an object, as far as its size depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NeighbourKind {
    /// An instance.
    Instance(ClassIndex),
    /// An array of numbers, with its length.
    Primitives(PrimitiveKind, u64),
    /// An array of references, with its length.
    References(u64),
}

/// All objects of a heap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassHistogram {
    /// Classes, array classes among them.
    pub classes: Vec<ClassShape>,
    /// Bytes of an object's identifier in the dump: 4 of a 32-bit JVM, 8 otherwise. Of a running JVM, its word.
    pub word_bytes: u64,
    /// Every address of an object is a multiple of this many bytes (up to 256).
    pub alignment_bytes: Option<u64>,
    /// A bounded sample of neighbours, with how often each was met.
    pub neighbours: Vec<(Neighbour, u64)>,
    /// The JDK's version as the heap has it: `17.0.15`.
    pub jdk_version: Option<String>,
    /// Where it does not have it, the oldest and the newest release in which classes have the fields that they have here.
    pub jdk_by_shape: Option<(u32, Option<u32>)>,
    /// Whether it is a heap of Android's runtime.
    pub is_android: bool,
    /// Whether objects are missing, because their source ends early or is damaged, or the time for reading was over.
    pub is_part: bool,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl ClassHistogram {
    /// Feature release of the JDK; where only a range is known, the oldest of it.
    pub fn jdk(&self) -> Option<u32> {
        let known = self.jdk_version.as_deref().and_then(feature_of);
        known.or_else(|| self.jdk_by_shape.map(|(oldest, _)| oldest))
    }

    /// What is known of the JDK: `17.0.15`, `15 to 18`, `25 or later`.
    pub fn jdk_text(&self) -> Option<String> {
        let by_shape = || match self.jdk_by_shape? {
            (oldest, Some(newest)) if oldest == newest => Some(oldest.to_string()),
            (oldest, Some(newest)) => Some(format!("{oldest} to {newest}")),
            (oldest, None) => Some(format!("{oldest} or later")),
        };
        self.jdk_version.clone().or_else(by_shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn folded_lengths_give_the_sum_of_all_sizes(
            lengths in proptest::collection::vec(0u64..100_000, 0..200),
            base in 8u64..32,
            element in (0u32..4).prop_map(|power| 1u64 << power),
            alignment in (3u32..9).prop_map(|power| 1u64 << power),
        ) {
            let mut folded = ArrayLengths::new(None);
            lengths.iter().for_each(|length| folded.add(*length));
            let sum: u64 =
                lengths.iter().map(|length| (base + length * element).next_multiple_of(alignment)).sum();
            prop_assert_eq!(folded.total_bytes(base, element, alignment), sum);
            prop_assert_eq!(folded.count(), lengths.len() as u64);
            let mut backwards = ArrayLengths::new(None);
            let (later, earlier) = lengths.split_at(lengths.len() / 2);
            earlier.iter().rev().for_each(|length| backwards.add(*length));
            let mut rest = ArrayLengths::new(None);
            later.iter().for_each(|length| rest.add(*length));
            backwards.add_all(&rest);
            prop_assert_eq!(backwards, folded);
        }
    }
}
