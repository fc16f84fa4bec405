//! From what was counted to a class histogram.

use super::classes::{ClassTable, OVERFLOW, RawField, SlotIndex};
use super::dump::{Dump, Problems};
use super::external_name::{Element, external_name};
use super::names::Names;
use super::neighbours::Kind;
use super::tally::{CutArray, Tally};
use crate::class_histogram::FILLER_OBJECT;
use crate::{
    ArrayLengths, ClassHistogram, ClassIndex, ClassShape, Field, FieldKind, Neighbour, NeighbourKind,
    PrimitiveKind,
};
use std::collections::HashMap;

/// Mirrors that are dumped as objects: of the types that are not classes, `boolean` to `long` and `void`.
const PRIMITIVE_MIRRORS: u64 = 9;
/// The class of arrays for whose classes there was no room.
const OTHER_ARRAYS: &str = "(other arrays)";
/// Larger alignments do not exist.
const ALIGNMENT_BYTES_MAX: u64 = 256;

/// Makes the class histogram.
pub(super) fn histogram<const ID: usize>(dump: Dump<'_, ID>) -> ClassHistogram {
    let Dump { is_android, names, tally, mut problems, .. } = dump;
    let Tally {
        classes: mut table,
        mut primitives,
        id_bits,
        neighbours,
        version,
        cut_arrays,
        references,
        ..
    } = tally;
    let fillers =
        references.and_then(|found| found.take_fillers(&mut primitives[PrimitiveKind::Int as usize]));
    fillers.into_iter().for_each(|what| problems.add(what));
    name_limits(&names, &table, &mut problems);
    for array in &cut_arrays {
        name_cut_array(*array, &table, &names, &mut problems);
    }
    let mut shapes = Shapes::new(&mut table, &names, &mut problems);
    shapes.add_primitive_arrays(primitives);
    shapes.add_primitive_mirrors();
    shapes.order_fields();
    shapes.cut_circles();
    let classes = shapes.classes;
    let index = shapes.index_of_slot;
    let mut neighbours: Vec<(Neighbour, u64)> = neighbours
        .into_counts()
        .into_iter()
        .filter_map(|((kind, gap), count)| {
            let kind = match kind {
                Kind::Instance(slot) => NeighbourKind::Instance(*index.get(slot as usize)?),
                Kind::Primitives(kind, length) => NeighbourKind::Primitives(kind, length.into()),
                Kind::References(length) => NeighbourKind::References(length.into()),
            };
            Some((Neighbour { kind, gap_bytes: gap.into() }, count))
        })
        .collect();
    neighbours.sort_unstable_by_key(|(neighbour, count)| (u64::MAX - count, *neighbour));
    ClassHistogram {
        classes,
        word_bytes: ID as u64,
        alignment_bytes: alignment(id_bits).filter(|_| !is_android),
        neighbours,
        jdk_version: version.into_found(),
        jdk_by_shape: None,
        is_android,
        is_part: problems.is_something_missing,
        problems: problems.into_list(),
    }
}

/// The largest power of two that divides all addresses. Below 8 they are none: old agents number objects.
fn alignment(id_bits: u64) -> Option<u64> {
    let alignment = (1 << id_bits.trailing_zeros().min(63)).min(ALIGNMENT_BYTES_MAX);
    (alignment >= 8).then_some(alignment)
}

fn name_limits(names: &Names, table: &ClassTable, problems: &mut Problems) {
    if names.dropped > 0 {
        problems.add(format!("there are more names than are kept: {} were not", names.dropped));
    }
    if table.without_fields > 0 {
        problems.add(format!(
            "there are more fields than are kept: {} classes are without theirs",
            table.without_fields
        ));
    }
    let arrays = table.slots[OVERFLOW as usize].arrays.as_ref().map_or(0, |arrays| arrays.count());
    if arrays > 0 {
        problems.add(format!(
            "there are more classes of arrays than are kept: {arrays} arrays are counted as {OTHER_ARRAYS}"
        ));
    }
    let objects = table.instances[OVERFLOW as usize] - arrays;
    if objects > 0 {
        problems.add(format!("there are more classes than are kept: {objects} objects are in no count"));
    }
}

fn name_cut_array(array: CutArray, table: &ClassTable, names: &Names, problems: &mut Problems) {
    let class = match (array.kind, array.class) {
        (Some(kind), _) => format!("{}[]", kind.name()),
        (None, class) => {
            let slot = class.and_then(|id| table.find(id)).map(|slot| &table.slots[slot as usize]);
            let name = slot.and_then(|slot| names.get(slot.name?)).map(|name| external_name(name).name);
            name.unwrap_or_else(|| "an array of references".to_owned())
        }
    };
    let length = array.length;
    problems.add(format!(
        "{class} of {length} elements has the maximum length in a dump: the JDK truncates longer arrays, so \
            the real one may be longer"
    ));
}

/// Classes in the making.
struct Shapes<'a> {
    table: &'a mut ClassTable,
    names: &'a Names,
    problems: &'a mut Problems,
    classes: Vec<ClassShape>,
    /// Only made when it is asked for often.
    by_name: Option<HashMap<Box<str>, ClassIndex>>,
    index_of_slot: Vec<ClassIndex>,
}

impl<'a> Shapes<'a> {
    fn new(table: &'a mut ClassTable, names: &'a Names, problems: &'a mut Problems) -> Self {
        let slots = table.slots.len();
        let (classes, index_of_slot) = (Vec::with_capacity(slots + 16), vec![0; slots]);
        let mut shapes = Shapes { table, names, problems, classes, by_name: None, index_of_slot };
        let without_dump = shapes.slots_without_dump();
        for slot in 1..slots {
            shapes.add_slot(slot as SlotIndex);
        }
        shapes.tell_of_unknown(&without_dump);
        if let Some(arrays) = shapes.table.slots[OVERFLOW as usize].arrays.take() {
            let instances = arrays.count();
            shapes.push(ClassShape { instances, ..array_class(OTHER_ARRAYS.into(), *arrays) });
        }
        for slot in 1..slots {
            shapes.move_elements_to_array_class(slot as SlotIndex);
        }
        shapes
    }

    fn push(&mut self, shape: ClassShape) -> ClassIndex {
        let index = self.classes.len() as ClassIndex;
        if let Some(by_name) = &mut self.by_name {
            by_name.entry(shape.name.clone()).or_insert(index);
        }
        self.classes.push(shape);
        index
    }

    /// Of classes of one name the first: that of the boot loader.
    fn find(&self, name: &str) -> Option<ClassIndex> {
        self.classes.iter().position(|class| &*class.name == name).map(|index| index as ClassIndex)
    }

    fn add_slot(&mut self, number: SlotIndex) {
        let slot = &mut self.table.slots[number as usize];
        let known = slot.name.and_then(|name| self.names.get(name)).map(external_name);
        let element = known.as_ref().and_then(|name| name.element);
        let name = known.map_or_else(|| format!("(class 0x{:x})", slot.id), |name| name.name);
        let arrays = match element {
            Some(Element::Reference) => {
                let lengths = slot.arrays.take();
                Some(lengths.map_or_else(|| ArrayLengths::new(None), |lengths| *lengths))
            }
            Some(Element::Primitive(kind)) => Some(ArrayLengths::new(Some(kind))),
            None => None,
        };
        // Used memory is freed: the fields with their names take its place.
        let dump = slot.dump.take();
        let has_mirror = dump.is_some();
        let dump = dump.unwrap_or_default();
        // Slots and classes have the same order, but for the first slot.
        let above = Some(dump.super_id).filter(|id| *id != 0).and_then(|id| self.table.find(id));
        let instances = if name == FILLER_OBJECT { 0 } else { self.table.instances[number as usize] };
        let shape = ClassShape {
            name: name.into(),
            super_class: above.map(|slot| slot - 1),
            fields: self.fields(&dump.fields),
            statics: self.statics(&dump.statics),
            instances,
            arrays,
            has_mirror,
        };
        self.index_of_slot[number as usize] = self.push(shape);
    }

    /// Static fields. JDK 8 writes the lock of a class that is not initialized behind them, without `<` around its name; held by
    /// `a_dump_says_what_its_jvm_says`.
    fn statics(&self, raw: &[RawField]) -> Vec<Field> {
        let mut fields = self.fields(raw);
        let is_lock = |field: &Field| &*field.name == "init_lock" && field.kind == FieldKind::Reference;
        if fields.last().is_some_and(is_lock) {
            fields.pop();
        }
        fields
    }

    /// Fields with names. What HotSpot (`<resolved_references>`) and Android's runtime add to the statics is left out:
    /// a mirror has no place for it.
    fn fields(&self, raw: &[RawField]) -> Vec<Field> {
        let mut fields = Vec::with_capacity(raw.len());
        fields.extend(raw.iter().filter_map(|field| {
            let name = self.names.get(field.name()).unwrap_or(b"?");
            let is_pseudo = name.starts_with(b"<") || name == b"$classOverhead" || name == b"$staticOverhead";
            let name = String::from_utf8_lossy(name).into();
            (!is_pseudo).then_some(Field { name, kind: field.kind })
        }));
        fields
    }

    /// Some writers give an array the class of its elements.
    fn move_elements_to_array_class(&mut self, number: SlotIndex) {
        let Some(lengths) = self.table.slots[number as usize].arrays.take() else { return };
        let index = self.index_of_slot[number as usize] as usize;
        let count = lengths.count();
        self.classes[index].instances -= count;
        let name: Box<str> = format!("{}[]", self.classes[index].name).into();
        let by_name = self.by_name.get_or_insert_with(|| {
            let names = self.classes.iter().enumerate().rev();
            names.map(|(index, class)| (class.name.clone(), index as ClassIndex)).collect()
        });
        let array_class = match by_name.get(&name) {
            Some(array_class) => *array_class,
            None => self.push(array_class(name, ArrayLengths::new(None))),
        };
        let array_class = &mut self.classes[array_class as usize];
        array_class.instances += count;
        array_class.arrays.get_or_insert_with(|| ArrayLengths::new(None)).add_all(&lengths);
    }

    /// Slots with objects whose class the dump does not describe.
    fn slots_without_dump(&self) -> Vec<SlotIndex> {
        let is_unknown = |slot: &SlotIndex| {
            let slot = *slot as usize;
            self.table.slots[slot].dump.is_none() && self.table.instances[slot] > 0
        };
        (1..self.table.slots.len() as SlotIndex).filter(is_unknown).collect()
    }

    fn tell_of_unknown(&mut self, slots: &[SlotIndex]) {
        let objects: u64 = slots.iter().map(|slot| self.table.instances[*slot as usize]).sum();
        if let Some(first) = slots.first() {
            let name = &self.classes[self.index_of_slot[*first as usize] as usize].name;
            let (classes, others) = (slots.len(), slots.len() - 1);
            let what = format!(
                "{objects} objects are of {classes} classes that the dump does not describe: {name} and {others} others"
            );
            self.problems.add(what);
        }
    }

    fn add_primitive_arrays(&mut self, primitives: [ArrayLengths; 8]) {
        for (kind, lengths) in PrimitiveKind::ALL.into_iter().zip(primitives) {
            let name: Box<str> = format!("{}[]", kind.name()).into();
            let known = self.find(&name);
            if known.is_none() && lengths.count() == 0 {
                continue;
            }
            let index = known.unwrap_or_else(|| self.push(array_class(name, ArrayLengths::new(Some(kind)))));
            let class = &mut self.classes[index as usize];
            class.instances = lengths.count();
            class.arrays = Some(lengths);
        }
    }

    /// Objects of `java.lang.Class` are mirrors. HotSpot writes those of classes as CLASS_DUMP alone, and those of types
    /// that are not classes as objects: they get classes of their own, so that their bytes are counted.
    fn add_primitive_mirrors(&mut self) {
        let Some(class) = self.find("java.lang.Class") else { return };
        let mirrors = std::mem::take(&mut self.classes[class as usize].instances);
        if mirrors > PRIMITIVE_MIRRORS {
            let more = mirrors - PRIMITIVE_MIRRORS;
            self.problems.add(format!(
                "{more} objects of java.lang.Class are mirrors of no known class, and not counted"
            ));
        }
        let names = PrimitiveKind::ALL.map(PrimitiveKind::name);
        for name in names.into_iter().chain(["void"]).take(mirrors as usize) {
            self.push(ClassShape { has_mirror: true, ..plain_class(name.into()) });
        }
    }

    /// JDKs up to 20 write fields backwards, later ones forwards; `value` is the first of `java.lang.String` in each
    /// class file.
    fn order_fields(&mut self) {
        let Some(string) = self.find("java.lang.String") else { return };
        let fields = &self.classes[string as usize].fields;
        let is_value = |field: Option<&Field>| field.is_some_and(|field| &*field.name == "value");
        if is_value(fields.last()) && !is_value(fields.first()) {
            for class in &mut self.classes {
                class.fields.reverse();
                class.statics.reverse();
            }
        }
    }

    /// Damage can make a class its own super class, which would send readers round and round.
    fn cut_circles(&mut self) {
        // The walk on which each class was last met: 0 is none.
        let mut met_on = vec![0; self.classes.len()];
        for walk in 1..=self.classes.len() {
            let mut at = walk - 1;
            while met_on[at] == 0 {
                met_on[at] = walk;
                let Some(above) = self.classes[at].super_class else { break };
                if met_on[above as usize] == walk {
                    self.classes[at].super_class = None;
                    self.problems.add_once("a class is its own super class: it is read as having none");
                    break;
                }
                at = above as usize;
            }
        }
    }
}

fn plain_class(name: Box<str>) -> ClassShape {
    let (fields, statics) = (Vec::new(), Vec::new());
    ClassShape { name, super_class: None, fields, statics, instances: 0, arrays: None, has_mirror: false }
}

fn array_class(name: Box<str>, arrays: ArrayLengths) -> ClassShape {
    ClassShape { arrays: Some(arrays), ..plain_class(name) }
}
