//! The same objects in every model: totals, what they are made of, and classes.

use crate::layout::is_in_release;
use crate::layout::{LayoutOrder, Layouts, Sizes, is_estimate};
use crate::{ArrayLengths, ClassHistogram, ClassIndex, FieldKind};
use assay_model::{ClassFootprint, FootprintParts, HeapModel, ModelFootprint, ModelName, Reason};
use std::cmp::Reverse;

/// Its objects end with the frames of a virtual thread: their size is not that of their class.
const STACK_CHUNK: &str = "jdk.internal.vm.StackChunk";

/// Bytes of the shortest object of OpenJ9.
const OPENJ9_OBJECT_BYTES_MIN: u64 = 16;

/// What [`footprints`] finds.
#[derive(Debug, Clone)]
pub struct Footprints {
    /// One for each model, in the order in which they were asked for.
    pub models: Vec<ModelFootprint>,
    /// Objects: instances, arrays, mirrors.
    pub objects: u64,
    /// The instance class whose bytes change most from the model of the dump to any other of a HotSpot JVM of 64 bits.
    pub changes_most: Option<ClassIndex>,
    /// What could not be found.
    pub problems: Vec<String>,
}

/// Weighs a class histogram in some models. Classes are listed by their bytes in `dump_model`, most first; where that is not known,
/// by those in the first model.
pub fn footprints(
    histogram: &ClassHistogram,
    models: &[HeapModel],
    dump_model: Option<ModelName>,
) -> Footprints {
    let objects: Vec<Objects> = objects_of(histogram);
    let laid_out = LayoutOrder::of_objects(histogram);
    let weights: Vec<Weights> =
        models.iter().map(|model| Weights::of(histogram, &objects, &laid_out, *model)).collect();
    let base = models.iter().position(|model| Some(model.name) == dump_model);
    let order = order(histogram, &objects, &weights, base.unwrap_or(0));
    let base_bytes = base.map(|base| weights[base].total_bytes());
    let models_of = weights.iter().map(|weights| ModelFootprint {
        name: weights.model.name,
        jdk: weights.model.jdk,
        is_estimate: is_estimate(weights.model.name),
        is_in_release: is_in_release(weights.model),
        total_bytes: weights.total_bytes(),
        difference_bytes: base_bytes.map(|base| difference(weights.total_bytes(), base)),
        parts: weights.parts,
        classes: order.iter().map(|index| class_footprint(histogram, &objects, weights, *index)).collect(),
    });
    Footprints {
        models: models_of.collect(),
        objects: objects.iter().map(|objects| objects.count()).fold(0, u64::saturating_add),
        changes_most: base.and_then(|base| changes_most(histogram, &weights, base)),
        problems: problems(histogram, &weights),
    }
}

/// How many objects of a class there are, apart by how they are found.
#[derive(Debug, Clone, Copy, Default)]
struct Objects {
    /// Instances, all of the class's size.
    instances: u64,
    /// Arrays.
    arrays: u64,
    /// Mirrors: objects of class `java.lang.Class`, each with the static fields of the class that it stands for.
    mirrors: u64,
}

impl Objects {
    fn count(&self) -> u64 {
        self.instances.saturating_add(self.arrays).saturating_add(self.mirrors)
    }
}

fn objects_of(histogram: &ClassHistogram) -> Vec<Objects> {
    let mut all: Vec<Objects> = histogram
        .classes
        .iter()
        .map(|class| match &class.arrays {
            Some(arrays) => Objects { arrays: arrays.count(), ..Objects::default() },
            None => Objects { instances: class.instances, ..Objects::default() },
        })
        .collect();
    if let Some(class_of_mirrors) = class_of_mirrors(histogram) {
        all[class_of_mirrors as usize].mirrors =
            histogram.classes.iter().filter(|class| class.has_mirror).count() as u64;
    }
    all
}

/// `java.lang.Class`: only the bootstrap loader may define it, so there is one. In a damaged heap, the first.
fn class_of_mirrors(histogram: &ClassHistogram) -> Option<ClassIndex> {
    histogram
        .classes
        .iter()
        .position(|class| &*class.name == "java.lang.Class")
        .map(|index| index as ClassIndex)
}

/// All classes in one model.
struct Weights {
    model: HeapModel,
    /// Bytes of all objects of each class.
    bytes: Vec<u64>,
    parts: FootprintParts,
    /// Mirrors whose size is not known.
    mirrors_left_out: u64,
    /// Classes with instances whose size is not known.
    classes_left_out: u64,
}

impl Weights {
    fn of(
        histogram: &ClassHistogram,
        objects: &[Objects],
        laid_out: &LayoutOrder,
        model: HeapModel,
    ) -> Weights {
        let layouts = Layouts::of_some(histogram, laid_out, model);
        let sizes = Sizes::of(model);
        let mut weights = Weights {
            model,
            bytes: vec![0; histogram.classes.len()],
            parts: FootprintParts::default(),
            mirrors_left_out: 0,
            classes_left_out: 0,
        };
        for (index, of_class) in objects.iter().enumerate() {
            if let Some(arrays) = &histogram.classes[index].arrays {
                weights.add(index, 1, array_parts(arrays, &layouts, sizes));
            } else if 0 < of_class.instances {
                match layouts.instance_parts(index as ClassIndex) {
                    Some(parts) => weights.add(index, of_class.instances, parts),
                    None => weights.classes_left_out += 1,
                }
            }
        }
        if let Some(class_of_mirrors) = class_of_mirrors(histogram) {
            weights.add_mirrors(histogram, &layouts, class_of_mirrors);
        }
        weights
    }

    fn add(&mut self, index: usize, count: u64, parts: FootprintParts) {
        self.bytes[index] =
            self.bytes[index].saturating_add(sum(plus(FootprintParts::default(), count, parts)));
        self.parts = plus(self.parts, count, parts);
    }

    fn add_mirrors(&mut self, histogram: &ClassHistogram, layouts: &Layouts, class_of_mirrors: ClassIndex) {
        for (index, _) in histogram.classes.iter().enumerate().filter(|(_, class)| class.has_mirror) {
            match layouts.mirror_parts(histogram, index as ClassIndex) {
                Some(parts) => self.add(class_of_mirrors as usize, 1, parts),
                None => self.mirrors_left_out += 1,
            }
        }
    }

    fn total_bytes(&self) -> u64 {
        sum(self.parts)
    }
}

/// Of all arrays of a class.
fn array_parts(arrays: &ArrayLengths, layouts: &Layouts, sizes: Sizes) -> FootprintParts {
    let base_bytes = layouts.array_base_bytes(arrays.element);
    let element_bytes = sizes.bytes_of(arrays.element.map_or(FieldKind::Reference, FieldKind::Primitive));
    let elements_bytes = arrays.elements.saturating_mul(element_bytes);
    let (references_bytes, primitives_bytes) =
        if arrays.element.is_none() { (elements_bytes, 0) } else { (0, elements_bytes) };
    // OpenJ9 has no shorter objects; only an empty array could be.
    let missing_bytes = if is_estimate(layouts.model().name) {
        OPENJ9_OBJECT_BYTES_MIN.saturating_sub(base_bytes)
    } else {
        0
    };
    FootprintParts {
        headers_bytes: arrays.count().saturating_mul(base_bytes),
        references_bytes,
        primitives_bytes,
        padding_bytes: arrays
            .tail_bytes(base_bytes, element_bytes, sizes.alignment_bytes)
            .saturating_add(missing_bytes.saturating_mul(arrays.empty)),
    }
}

/// `sum` with so many times `parts`.
fn plus(sum: FootprintParts, count: u64, parts: FootprintParts) -> FootprintParts {
    let plus = |sum: u64, part: u64| sum.saturating_add(part.saturating_mul(count));
    FootprintParts {
        headers_bytes: plus(sum.headers_bytes, parts.headers_bytes),
        references_bytes: plus(sum.references_bytes, parts.references_bytes),
        primitives_bytes: plus(sum.primitives_bytes, parts.primitives_bytes),
        padding_bytes: plus(sum.padding_bytes, parts.padding_bytes),
    }
}

fn sum(parts: FootprintParts) -> u64 {
    let FootprintParts { headers_bytes, references_bytes, primitives_bytes, padding_bytes } = parts;
    let parts = [headers_bytes, references_bytes, primitives_bytes, padding_bytes];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Classes with objects, by bytes in the model at `base`, most first.
fn order(histogram: &ClassHistogram, objects: &[Objects], weights: &[Weights], base: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..objects.len()).filter(|index| 0 < objects[*index].count()).collect();
    let bytes = weights.get(base).map(|weights| weights.bytes.as_slice()).unwrap_or_default();
    order.sort_by_key(|index| (Reverse(bytes.get(*index)), &histogram.classes[*index].name, *index));
    order
}

fn class_footprint(
    histogram: &ClassHistogram,
    objects: &[Objects],
    weights: &Weights,
    index: usize,
) -> ClassFootprint {
    let name = histogram.classes[index].name.to_string();
    ClassFootprint { name, instances: objects[index].count(), bytes: weights.bytes[index] }
}

fn changes_most(histogram: &ClassHistogram, weights: &[Weights], base: usize) -> Option<ClassIndex> {
    let is_compared = |model: &HeapModel| !is_estimate(model.name) && model.name != ModelName::Bits32;
    let compared: Vec<&Weights> = weights.iter().filter(|weights| is_compared(&weights.model)).collect();
    let now = &weights[base].bytes;
    let change = |index: usize| {
        compared.iter().map(|there| there.bytes[index].abs_diff(now[index])).max().unwrap_or(0)
    };
    let instance_classes = (0..now.len()).filter(|index| {
        let class = &histogram.classes[*index];
        class.arrays.is_none() && &*class.name != "java.lang.Class" && 0 < class.instances
    });
    instance_classes
        .max_by_key(|index| (change(*index), now[*index], Reverse(*index)))
        .map(|index| index as ClassIndex)
}

fn problems(histogram: &ClassHistogram, weights: &[Weights]) -> Vec<String> {
    let mut problems = Vec::new();
    let mirrors = weights.iter().map(|weights| weights.mirrors_left_out).max().unwrap_or(0);
    if 0 < mirrors {
        problems.push(format!(
            "{mirrors} objects of class java.lang.Class have no known size: they are left out"
        ));
    }
    if class_of_mirrors(histogram).is_none() && histogram.classes.iter().any(|class| class.has_mirror) {
        problems.push("there is no class java.lang.Class: its objects are left out".to_owned());
    }
    let chunks =
        histogram.classes.iter().find(|class| &*class.name == STACK_CHUNK).map_or(0, |class| class.instances);
    // A walk over the heap knows their lengths, and gives them.
    if 0 < chunks
        && !histogram.problems.iter().any(|problem| problem.reason == Reason::StacksOfVirtualThreads)
    {
        problems.push(format!(
            "{chunks} stacks of virtual threads ({STACK_CHUNK}) are sized without their frames, which no dump has"
        ));
    }
    let classes = weights.iter().map(|weights| weights.classes_left_out).max().unwrap_or(0);
    if 0 < classes {
        problems.push(format!("{classes} classes have no known layout: their objects are left out"));
    }
    problems
}

fn difference(there: u64, here: u64) -> i64 {
    let difference = i128::from(there) - i128::from(here);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}
