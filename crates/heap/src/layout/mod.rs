//! How large objects are, and where their fields lie, in each model.
//!
//! Rules of HotSpot differ by release: [`styled`] holds for JDK 8 to 14, [`best_fit`] from 15 on, with one change in 25.
//! [`assay_jdk::objects::ObjectFacts`] has what neither a dump nor a class file says. [`openj9`] is an estimate. `tests/layout/jdks.rs`
//! holds offsets, sizes and mirrors of all classes of the JDKs at hand against what JVMs say, in each mode that they can run in.

mod best_fit;
mod fields;
mod openj9;
mod places;
mod sizes;
mod styled;

use crate::{ClassHistogram, ClassIndex, ClassShape, FieldKind, PrimitiveKind};
use assay_jdk::Release;
use assay_jdk::objects::ObjectFacts;
use assay_jdk::release::{ArrayElements, FieldPlacement, LayoutRules};
use assay_model::{ClassLayout, FieldPlace, FootprintParts, HeapModel, LayoutPart, ModelName};
use fields::{FieldToPlace, InheritedLayout};
pub use sizes::{Sizes, is_estimate, is_in_release};
use std::collections::HashSet;
use std::sync::Arc;

/// Layouts of classes of a class histogram in one model.
///
/// Facts that a dump does not have are left out: `@Contended` in classes of an application, which the JVM heeds only with
/// `-XX:-RestrictContended`. An object of class `jdk.internal.vm.StackChunk` is longer than an instance: it ends with
/// stack frames.
#[derive(Debug, Clone)]
pub struct Layouts {
    model: HeapModel,
    sizes: Sizes,
    instances: Vec<Instance>,
    facts: Arc<ObjectFacts>,
    rules: &'static LayoutRules,
    /// `java.lang.Class`; absent where the class histogram does not have it.
    class_class: Option<ClassIndex>,
}

/// One class. Kept small: dumps have 100,000 classes, and all models are laid out at once.
#[derive(Debug, Clone, Copy, Default)]
struct Instance {
    /// 0 for an array class.
    bytes: u64,
    references_bytes: u32,
    primitives_bytes: u32,
}

impl Instance {
    fn with(mut self, fields: &[FieldToPlace<'_>]) -> Instance {
        for field in fields {
            let part =
                if field.is_reference { &mut self.references_bytes } else { &mut self.primitives_bytes };
            *part = part.saturating_add(field.bytes as u32);
        }
        self
    }
}

impl Layouts {
    /// Lays out all classes.
    pub fn of(histogram: &ClassHistogram, model: HeapModel) -> Layouts {
        Layouts::with(histogram, &LayoutOrder::all(histogram), model, Sizes::of(model), facts_of(model))
    }

    /// Lays out some classes.
    pub fn of_some(histogram: &ClassHistogram, order: &LayoutOrder, model: HeapModel) -> Layouts {
        Layouts::with(histogram, order, model, Sizes::of(model), facts_of(model))
    }

    /// Lays out some classes by the rules of a model of HotSpot, but with sizes or facts that it does not have: the JVM has
    /// modes that are none of the models.
    pub fn with(
        histogram: &ClassHistogram,
        order: &LayoutOrder,
        model: HeapModel,
        sizes: Sizes,
        facts: Arc<ObjectFacts>,
    ) -> Layouts {
        let instances = vec![Instance::default(); histogram.classes.len()];
        let rules = &Release::of(model.jdk).layout;
        let mut layouts = Layouts { model, sizes, instances, facts, rules, class_class: None };
        let mut grounds: Vec<Option<InheritedLayout>> = vec![None; histogram.classes.len()];
        for &(class, super_class) in &order.0 {
            let Some(shape) = histogram.classes.get(class) else { continue };
            if is_array(shape) {
                continue;
            }
            let above = super_class.filter(|above| grounds.get(*above).is_some_and(Option::is_some));
            let ground = above.and_then(|above| grounds[above].clone());
            let placed = layouts.place(shape, ground.unwrap_or_else(|| InheritedLayout::header(&sizes)));
            let above = above.filter(|_| !placed.starts_anew);
            let inherited = above.map_or_else(Instance::default, |above| layouts.instances[above]);
            let mut instance = inherited.with(&placed.fields);
            let own = placed.ground;
            instance.bytes = layouts.object_bytes(own.end);
            layouts.instances[class] = instance;
            grounds[class] = Some(own);
            if layouts.class_class.is_none() && &*shape.name == "java.lang.Class" {
                layouts.class_class = Some(class as ClassIndex);
            }
        }
        layouts
    }

    /// The model.
    pub fn model(&self) -> HeapModel {
        self.model
    }

    /// The sizes that hold for every object.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Size in bytes of an instance of a class; `None` for an array class or an index beyond.
    pub fn instance_bytes(&self, class: ClassIndex) -> Option<u64> {
        self.instance(class).map(|instance| instance.bytes)
    }

    /// The parts of one instance; `None` for an array class or an index beyond.
    pub fn instance_parts(&self, class: ClassIndex) -> Option<FootprintParts> {
        let instance = self.instance(class)?;
        Some(self.parts(instance.bytes, instance.references_bytes, instance.primitives_bytes))
    }

    /// Size in bytes of the object of class `java.lang.Class` that stands for a class, its static fields included; of an
    /// array class too. `None` where the class histogram has no `java.lang.Class`, and for an index beyond.
    pub fn mirror_bytes(&self, histogram: &ClassHistogram, class: ClassIndex) -> Option<u64> {
        let shape = histogram.classes.get(class as usize)?;
        let start = self.instance_bytes(self.class_class?)?;
        if is_estimate(self.model.name) {
            // OpenJ9 keeps statics outside the heap.
            return Some(start);
        }
        let bytes = |field: &crate::Field| self.sizes.bytes_of(field.kind);
        let (references, mut primitives): (Vec<&crate::Field>, Vec<&crate::Field>) =
            shape.statics.iter().partition(|field| field.kind == FieldKind::Reference);
        let references: u64 = references.into_iter().map(bytes).sum();
        primitives.sort_by_key(|field| std::cmp::Reverse(bytes(field)));
        // Until JDK 27 nothing fills the hole before longs: `every_class_of_each_jdk_in_every_mode` holds it.
        let fills_hole = FieldPlacement::BestFitEverywhere <= self.rules.fields;
        let (mut end, mut hole) = (start + references, 0);
        for bytes in primitives.into_iter().map(bytes) {
            if fills_hole && bytes <= hole {
                hole -= bytes;
                continue;
            }
            let at = end.next_multiple_of(bytes);
            // Sizes fall, so there is one hole at most.
            hole += at - end;
            end = at + bytes;
        }
        Some(self.object_bytes(end))
    }

    /// The parts of a class's mirror, with its static fields. `None` as of [`Layouts::mirror_bytes`].
    pub fn mirror_parts(&self, histogram: &ClassHistogram, class: ClassIndex) -> Option<FootprintParts> {
        let bytes = self.mirror_bytes(histogram, class)?;
        let mut instance = self.instance(self.class_class?)?;
        if !is_estimate(self.model.name) {
            for field in &histogram.classes.get(class as usize)?.statics {
                let part = match field.kind {
                    FieldKind::Reference => &mut instance.references_bytes,
                    FieldKind::Primitive(_) => &mut instance.primitives_bytes,
                };
                *part = part.saturating_add(self.sizes.bytes_of(field.kind) as u32);
            }
        }
        Some(self.parts(bytes, instance.references_bytes, instance.primitives_bytes))
    }

    /// Where elements of an array begin, in bytes; of one of references for `None`.
    pub fn array_base_bytes(&self, element: Option<PrimitiveKind>) -> u64 {
        match self.model.name {
            // Class, and a length of 4 bytes; with full references another 4 that are not used.
            ModelName::OpenJ9Compressed => return 8,
            ModelName::OpenJ9Full => return 16,
            _ => {}
        }
        // The length lies where a class's fields would begin.
        let length_end = self.sizes.header_bytes + 4;
        let word = fields::word_bytes(self.model.name);
        let base = if self.rules.array_elements == ArrayElements::AtWord {
            length_end.next_multiple_of(word)
        } else {
            length_end
        };
        let element_bytes = element.map_or(self.sizes.reference_bytes, PrimitiveKind::bytes);
        if element_bytes == 8 { base.next_multiple_of(8) } else { base }
    }

    /// Where everything is in an instance; `None` for an array class or an index beyond.
    pub fn class_layout(&self, histogram: &ClassHistogram, class: ClassIndex) -> Option<ClassLayout> {
        self.instance(class)?;
        let mut places = places::header(self.model.name, &self.sizes);
        let mut ground = InheritedLayout::header(&self.sizes);
        for shape in chain(histogram, class) {
            let placed = self.place(shape, ground);
            if placed.starts_anew {
                places.retain(|place| place.part == LayoutPart::Header);
            }
            places.extend(placed.fields.iter().zip(placed.offsets).map(|(field, offset_bytes)| FieldPlace {
                part: if field.is_injected { LayoutPart::Injected } else { LayoutPart::Field },
                offset_bytes,
                bytes: field.bytes,
                name: field.name.to_owned(),
                kind: field.kind.to_owned(),
                declared_by: shape.name.to_string(),
            }));
            ground = placed.ground;
        }
        let instance_bytes = self.object_bytes(ground.end);
        Some(ClassLayout {
            model: self.model,
            class: histogram.classes.get(class as usize)?.name.to_string(),
            instance_bytes,
            is_estimate: is_estimate(self.model.name),
            is_in_release: is_in_release(self.model),
            places: places::without_gaps(places, instance_bytes),
        })
    }

    fn instance(&self, class: ClassIndex) -> Option<Instance> {
        self.instances.get(class as usize).copied().filter(|instance| instance.bytes != 0)
    }

    fn parts(&self, bytes: u64, references: u32, primitives: u32) -> FootprintParts {
        let (references_bytes, primitives_bytes) = (u64::from(references), u64::from(primitives));
        let headers_bytes = self.sizes.header_bytes;
        let known = headers_bytes + references_bytes + primitives_bytes;
        let padding_bytes = bytes.saturating_sub(known);
        FootprintParts { headers_bytes, references_bytes, primitives_bytes, padding_bytes }
    }

    /// Size of an object whose last field or padding ends there.
    fn object_bytes(&self, end: u64) -> u64 {
        let bytes = end.next_multiple_of(self.sizes.alignment_bytes);
        if is_estimate(self.model.name) { bytes.max(openj9::OBJECT_BYTES_MIN) } else { bytes }
    }

    /// Places the own fields of a class on what its super class left.
    fn place<'a>(&'a self, shape: &'a ClassShape, mut ground: InheritedLayout) -> PlacedFields<'a> {
        let model = self.model;
        let mut fields = fields::wanted(shape, &self.facts, &self.sizes, fields::word_bytes(model.name));
        let is_contended = self.facts.is_contended(&shape.name);
        let mut starts_anew = false;
        let (offsets, ground) = if is_estimate(model.name) {
            starts_anew = openj9::adapt(&shape.name, &mut ground, &mut fields, &self.sizes);
            best_fit::place(&ground, &fields, false, FieldPlacement::BestFit)
        } else if self.rules.fields == FieldPlacement::BySize {
            styled::place(&shape.name, &ground, &fields, is_contended, self.sizes.reference_bytes)
        } else {
            let (offsets, mut own) = best_fit::place(&ground, &fields, is_contended, self.rules.fields);
            own.is_apart |= fields::has_contended_static(shape, &self.facts);
            (offsets, own)
        };
        PlacedFields { fields, offsets, ground, starts_anew }
    }
}

/// The own fields of a class with their offsets.
struct PlacedFields<'a> {
    fields: Vec<FieldToPlace<'a>>,
    /// In the order of the fields.
    offsets: Vec<u64>,
    /// What it leaves to classes below.
    ground: InheritedLayout,
    /// Whether it does not have what its super class has (OpenJ9's lock word).
    starts_anew: bool,
}

fn is_array(shape: &ClassShape) -> bool {
    shape.arrays.is_some() || shape.name.ends_with("[]")
}

/// A class and its super classes, `java.lang.Object` first. A ring, which no JVM makes, ends where it closes.
fn chain(histogram: &ClassHistogram, class: ClassIndex) -> Vec<&ClassShape> {
    let mut seen = HashSet::new();
    let mut chain = Vec::new();
    let mut next = Some(class);
    while let Some(class) = next.filter(|class| seen.insert(*class)) {
        let Some(shape) = histogram.classes.get(class as usize) else { break };
        chain.push(shape);
        next = shape.super_class;
    }
    chain.reverse();
    chain
}

fn facts_of(model: HeapModel) -> Arc<ObjectFacts> {
    if is_estimate(model.name) { Arc::default() } else { Arc::clone(&Release::of(model.jdk).objects) }
}

/// Classes with their super classes, each behind its super class. A ring is cut. A heap has ten times as many classes as have
/// objects, and is laid out in some thirty ways to find its mode: only those are that count.
#[derive(Debug, Clone)]
pub struct LayoutOrder(Vec<(usize, Option<usize>)>);

impl LayoutOrder {
    /// All classes.
    pub fn all(histogram: &ClassHistogram) -> LayoutOrder {
        LayoutOrder::of(histogram, |_, _| true)
    }

    /// Classes that have objects, with what is above them.
    pub fn of_objects(histogram: &ClassHistogram) -> LayoutOrder {
        // A class histogram does not count mirrors as instances of it.
        LayoutOrder::of(histogram, |_, shape| 0 < shape.instances || &*shape.name == "java.lang.Class")
    }

    /// One class, with what is above it.
    pub fn of_class(histogram: &ClassHistogram, wanted: ClassIndex) -> LayoutOrder {
        LayoutOrder::of(histogram, |class, _| class == wanted as usize)
    }

    fn of(histogram: &ClassHistogram, is_wanted: impl Fn(usize, &ClassShape) -> bool) -> LayoutOrder {
        let above = |class: usize| histogram.classes[class].super_class.map(|above| above as usize);
        let mut is_seen = vec![false; histogram.classes.len()];
        let mut order = Vec::new();
        let mut path = Vec::new();
        for (class, _) in
            histogram.classes.iter().enumerate().filter(|(class, shape)| is_wanted(*class, shape))
        {
            let mut next = Some(class);
            while let Some(class) = next.filter(|class| is_seen.get(*class) == Some(&false)) {
                is_seen[class] = true;
                path.push(class);
                next = above(class);
            }
            order.extend(path.drain(..).rev().map(|class| (class, above(class))));
        }
        LayoutOrder(order)
    }
}
