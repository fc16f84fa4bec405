//! The rules of JDK 15 and later: each field into the smallest hole that fits, the holes of super classes included.
//!
//! For each class, from the layout that its super class really has: its own primitives by decreasing size, then its own
//! references. Since JDK 25 the references go first where the super class ends with one, so that collectors find longer
//! runs of references. Until JDK 26 nothing fills a hole behind what is kept free around contended fields, and until JDK 27 none of a
//! class below one that has such fields.

use super::fields::{Contention, FieldToPlace, Hole, InheritedLayout};
use assay_jdk::release::FieldPlacement;

/// Padding of the JVM on both sides of contended fields: two cache lines, since processors fetch pairs.
pub const CONTENDED_PADDING_BYTES: u64 = 128;

/// Places the own fields of a class behind and between those of its super class. Offsets are in the order of `wanted`.
///
/// `is_contended` is whether the whole class is.
pub fn place(
    ground: &InheritedLayout,
    wanted: &[FieldToPlace<'_>],
    is_contended: bool,
    rules: FieldPlacement,
) -> (Vec<u64>, InheritedLayout) {
    let mut plan = Plan::on(ground, wanted.len(), rules);
    if is_contended {
        plan.pad();
    }
    let own: Vec<usize> = (0..wanted.len()).filter(|at| wanted[*at].contention == Contention::None).collect();
    let references_first = FieldPlacement::BestFitReferencesTogether <= rules && ground.ends_with_reference;
    plan.add_primitives_and_references(wanted, &own, references_first);

    let groups = groups(wanted);
    for group in &groups {
        plan.pad();
        plan.add_primitives_and_references(wanted, group, false);
    }
    if is_contended || !groups.is_empty() {
        plan.pad();
    }
    plan.finish(ground, wanted, is_contended)
}

/// Fields that are kept apart: the nameless group is each field for itself; in the order in which they first appear.
fn groups(wanted: &[FieldToPlace<'_>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Contention<'_>, Vec<usize>)> = Vec::new();
    for (at, field) in wanted.iter().enumerate() {
        match field.contention {
            Contention::None => {}
            Contention::Alone => groups.push((Contention::Alone, vec![at])),
            group => match groups.iter_mut().find(|(of, _)| *of == group) {
                Some((_, fields)) => fields.push(at),
                None => groups.push((group, vec![at])),
            },
        }
    }
    groups.into_iter().map(|(_, fields)| fields).collect()
}

struct Plan {
    offsets: Vec<u64>,
    /// Sorted by offset.
    holes: Vec<Hole>,
    end: u64,
    /// Whether fields go behind all others, even where alignment left a hole among them.
    appends_only: bool,
    /// A hole that begins here stays: the JVM searches from the first block behind the padding on, that block not included.
    unfilled: Option<u64>,
    fills_behind_padding: bool,
}

impl Plan {
    fn on(ground: &InheritedLayout, fields: usize, rules: FieldPlacement) -> Plan {
        let fills_behind_padding = FieldPlacement::BestFitBehindPadding <= rules;
        let is_behind_others = ground.is_apart && ground.has_fields;
        let fills_most = FieldPlacement::BestFitEverywhere <= rules;
        // Every class below one with something contended starts behind another padding, not only its children, and padding behind
        // the class above does not count: an instance may be smaller than one of the class above
        // (`random_and_contended_classes_are_laid_out_as_the_jvm_does` in tests/layout/rules.rs).
        let end = ground.fields_end + if ground.is_apart { CONTENDED_PADDING_BYTES } else { 0 };
        Plan {
            offsets: vec![0; fields],
            holes: if is_behind_others { Vec::new() } else { ground.holes.clone() },
            end,
            appends_only: is_behind_others && !fills_most,
            unfilled: (is_behind_others && fills_most).then_some(end),
            fills_behind_padding,
        }
    }

    /// Keeps a range free; nothing is placed before it any more.
    fn pad(&mut self) {
        self.holes.clear();
        self.appends_only = !self.fills_behind_padding;
        self.end += CONTENDED_PADDING_BYTES;
    }

    fn add_primitives_and_references(
        &mut self,
        wanted: &[FieldToPlace<'_>],
        fields: &[usize],
        references_first: bool,
    ) {
        let (references, mut primitives): (Vec<usize>, Vec<usize>) =
            fields.iter().partition(|at| wanted[**at].is_reference);
        primitives.sort_by_key(|at| std::cmp::Reverse(wanted[*at].bytes));
        let both = if references_first { [references, primitives] } else { [primitives, references] };
        for fields in both {
            self.add(wanted, &fields);
        }
    }

    /// A search that failed for a size is not repeated for the next field of that size, which changes nothing: holes only
    /// get smaller.
    fn add(&mut self, wanted: &[FieldToPlace<'_>], fields: &[usize]) {
        for at in fields {
            let bytes = wanted[*at].bytes;
            self.offsets[*at] = match self.smallest_hole(bytes) {
                Some(hole) => self.fill(hole, bytes),
                None => self.append(bytes),
            };
        }
    }

    /// Of several, that which lies last.
    fn smallest_hole(&self, bytes: u64) -> Option<usize> {
        if self.appends_only {
            return None;
        }
        let fitting = self.holes.iter().enumerate().rev().filter(|(_, hole)| hole.fits(bytes));
        fitting.min_by_key(|(_, hole)| hole.end - hole.start).map(|(index, _)| index)
    }

    fn fill(&mut self, index: usize, bytes: u64) -> u64 {
        let hole = self.holes[index];
        let offset = hole.start.next_multiple_of(bytes);
        let rest = [Hole { start: hole.start, end: offset }, Hole { start: offset + bytes, end: hole.end }];
        self.holes.splice(index..=index, rest.into_iter().filter(|hole| hole.start < hole.end));
        offset
    }

    fn append(&mut self, bytes: u64) -> u64 {
        let offset = self.end.next_multiple_of(bytes);
        if self.end < offset && self.unfilled != Some(self.end) {
            self.holes.push(Hole { start: self.end, end: offset });
        }
        self.end = offset + bytes;
        offset
    }

    fn finish(
        self,
        below: &InheritedLayout,
        wanted: &[FieldToPlace<'_>],
        is_contended: bool,
    ) -> (Vec<u64>, InheritedLayout) {
        let is_apart =
            below.is_apart || is_contended || wanted.iter().any(|field| field.contention != Contention::None);
        // A subclass starts where the last field ends, not where padding does.
        let last = (0..wanted.len()).max_by_key(|at| self.offsets[*at]);
        let last = last.filter(|at| below.fields_end <= self.offsets[*at]);
        let (fields_end, ends_with_reference) = last
            .map_or((below.fields_end, below.ends_with_reference), |at| {
                (self.offsets[at] + wanted[at].bytes, wanted[at].is_reference)
            });
        let has_fields = below.has_fields || !wanted.is_empty();
        let holes = if is_apart { Vec::new() } else { self.holes };
        let has_lock_word = below.has_lock_word;
        let end = self.end;
        let ground = InheritedLayout {
            end,
            fields_end,
            holes,
            ends_with_reference,
            is_apart,
            has_fields,
            has_lock_word,
        };
        (self.offsets, ground)
    }
}
