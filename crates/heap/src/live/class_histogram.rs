//! From what was met to a class histogram.

use super::tally::{OfClass, Tally, primitive};
use super::{Counted, FreezeReport};
use crate::class_histogram::FILLER_OBJECT;
use crate::{ArrayLengths, ClassHistogram, ClassIndex, ClassShape, Field, FieldKind, PrimitiveKind};
use assay_hotspot::{
    ClassField, ClassKind, Collector, HeapClass, HeapClasses, Hotspot, JavaHeap, JvmVersion,
};
use assay_model::{DumpModel, ModelName, Problem, Reason};
use assay_text::{percent, size};

/// Mirrors of types that are not classes: `boolean` to `long` and `void`.
const PRIMITIVE_MIRRORS: u64 = 9;

/// Makes the class histogram. The fields of classes are read now, while the process runs on: a class does not change them, and one
/// that was unloaded since is noticed.
pub(super) fn make(
    hotspot: &Hotspot<'_>,
    heap: &JavaHeap,
    classes: &HeapClasses<'_>,
    mut tally: Tally,
    freeze: &FreezeReport,
) -> (ClassHistogram, Counted) {
    let all = classes.all();
    let mut notes = Notes { source: format!("process {}", hotspot.source().pid()), problems: Vec::new() };
    notes.about_walk(hotspot, heap, freeze);
    let mut reader = hotspot.field_reader(classes);
    let object_class =
        (0..).zip(&all).find(|(_, class)| class.name == "java.lang.Object").map(|(number, _)| number);
    let mut made = Made::default();
    for (number, class) in all.iter().enumerate() {
        let met = tally.take(number);
        if class.is_dormant {
            // Nobody can reach what was archived and never loaded: a dump has none of it.
            continue;
        }
        let fields = reader.as_mut().and_then(|reader| reader.fields_of(class));
        made.unread += u64::from(fields.is_none());
        made.add(class, met, &fields.unwrap_or_default(), object_class);
    }
    cut_circles(&mut made.shapes);
    let mirror = all.iter().find_map(|class| match class.kind {
        ClassKind::Mirror { bytes } => Some(bytes),
        _ => None,
    });
    made.add_primitive_mirrors(tally.other_mirrors, mirror.unwrap_or(0), &mut notes);
    notes.about_classes(&made);
    notes.problems.extend(hotspot.problems());
    let histogram = ClassHistogram {
        classes: made.shapes,
        word_bytes: hotspot.source().word_bytes(),
        alignment_bytes: Some(alignment(hotspot)),
        neighbours: Vec::new(),
        jdk_version: hotspot.version().map(JvmVersion::release),
        jdk_by_shape: None,
        is_android: false,
        is_part: freeze.is_cut_short,
        problems: notes.problems,
    };
    (histogram, made.counted)
}

/// Shapes in the making.
#[derive(Default)]
struct Made {
    counted: Counted,
    shapes: Vec<ClassShape>,
    /// Classes without their fields.
    unread: u64,
    filler_bytes: u64,
    stack_bytes: u64,
}

impl Made {
    fn add(
        &mut self,
        class: &HeapClass,
        met: OfClass,
        fields: &[ClassField],
        object_class: Option<ClassIndex>,
    ) {
        let OfClass { objects, bytes, lengths, mirror_bytes } = met;
        let mut instances = objects;
        let mut arrays = None;
        let mut counted = (objects, bytes);
        match class.kind {
            _ if is_filler(class) => {
                self.filler_bytes += bytes;
                (instances, counted) = (0, (0, 0));
                arrays = array_element(class).map(ArrayLengths::new);
            }
            // Each is the mirror of a class, which says so itself.
            ClassKind::Mirror { .. } => (instances, counted) = (0, (0, 0)),
            ClassKind::StackChunk { bytes: empty } => {
                counted.1 = objects.saturating_mul(empty);
                self.stack_bytes += bytes.saturating_sub(counted.1);
            }
            ClassKind::Array { .. } => {
                let mut of = ArrayLengths::new(array_element(class).flatten());
                if let Some(lengths) = lengths {
                    of.add_all(&lengths);
                }
                arrays = Some(of);
            }
            ClassKind::Instance { .. } => {}
        }
        self.counted.add(counted.0, counted.1);
        self.counted.add(mirror_bytes.is_some().into(), mirror_bytes.unwrap_or(0));
        let of = |is_static: bool| {
            let declared = fields.iter().filter(move |field| field.is_static == is_static);
            declared
                .map(|field| Field { name: field.name.as_str().into(), kind: kind(field.descriptor) })
                .collect()
        };
        self.shapes.push(ClassShape {
            name: spelt(&class.name).into(),
            // Dormant classes come behind all others. In the JVM an array class is below that of the element's super class.
            super_class: if arrays.is_some() { object_class } else { class.super_class },
            fields: of(false),
            statics: of(true),
            instances,
            arrays,
            has_mirror: mirror_bytes.is_some(),
        });
    }

    /// Mirrors of primitive types have names of their own, as in the class histogram of a dump.
    fn add_primitive_mirrors(&mut self, mirrors: u64, bytes: u64, notes: &mut Notes) {
        let names = PrimitiveKind::ALL.map(PrimitiveKind::name).into_iter().chain(["void"]);
        for name in names.take(mirrors as usize) {
            self.counted.add(1, bytes);
            self.shapes.push(ClassShape {
                name: name.into(),
                super_class: None,
                fields: Vec::new(),
                statics: Vec::new(),
                instances: 0,
                arrays: None,
                has_mirror: true,
            });
        }
        if let Some(more) = mirrors.checked_sub(PRIMITIVE_MIRRORS).filter(|more| *more != 0) {
            notes.add(format!("{more} mirrors of classes that were unloaded are not counted"));
        }
    }
}

/// Bytes that lie can make a class its own super class, which would send readers round and round.
fn cut_circles(shapes: &mut [ClassShape]) {
    // The walk on which each class was last met: 0 is none.
    let mut met_on = vec![0; shapes.len()];
    for walk in 1..=shapes.len() {
        let mut at = walk - 1;
        while met_on.get(at) == Some(&0) {
            met_on[at] = walk;
            let Some(above) = shapes[at].super_class.map(|above: ClassIndex| above as usize) else { break };
            if met_on.get(above).is_none_or(|met| *met == walk) {
                shapes[at].super_class = None;
                break;
            }
            at = above;
        }
    }
}

/// What is said about a walk.
struct Notes {
    source: String,
    problems: Vec<Problem>,
}

impl Notes {
    fn add(&mut self, what: String) {
        self.problems.push(Problem::new(self.source.clone(), what));
    }

    fn about_walk(&mut self, hotspot: &Hotspot<'_>, heap: &JavaHeap, freeze: &FreezeReport) {
        let bytes = &freeze.bytes;
        let feature = hotspot.version().map(|version| version.feature);
        let fillers = match feature {
            Some(..19) => "; what fills gaps between them until JDK 18, arrays of int, is among them",
            _ => "",
        };
        self.add(format!(
            "all objects are counted, also those that nobody can reach any more{fillers}: a dump has live ones only"
        ));
        let share = |part: u64| {
            let (percent, used) = (percent::of(part, bytes.used_bytes), size::rounded(bytes.used_bytes));
            format!("{} ({percent}) of the heap's used {used}", size::rounded(part))
        };
        if bytes.not_walked_bytes != 0 {
            let ms = freeze.frozen_ms();
            self.add(format!(
                "{} could not be read in the time allowed (the process was stopped for {ms} ms) and are not counted: allow more, \
                 --freeze 30s",
                share(bytes.not_walked_bytes)
            ));
        }
        if bytes.skipped_bytes != 0 {
            self.add(format!("{} could not be parsed and are not counted", share(bytes.skipped_bytes)));
        }
        if bytes.absent_bytes != 0 {
            self.add(format!("{} are not resident, and are not counted", share(bytes.absent_bytes)));
        }
        if heap.collector == Collector::Z {
            self.add(
                "ZGC does not fill the gaps that threads leave: what they hold from earlier may have been counted as objects"
                    .to_owned(),
            );
        }
    }

    fn about_classes(&mut self, made: &Made) {
        if made.unread != 0 {
            self.add(format!("the fields of {} classes could not be read", made.unread));
        }
        if made.filler_bytes != 0 {
            self.add(format!(
                "{} that fill gaps between objects are not counted",
                size::rounded(made.filler_bytes)
            ));
        }
        if made.stack_bytes != 0 {
            let bytes = size::rounded(made.stack_bytes);
            self.problems.push(Problem::because(
                Reason::StacksOfVirtualThreads,
                self.source.clone(),
                format!("{bytes} of stacks of virtual threads (jdk.internal.vm.StackChunk) are not counted"),
            ));
        }
    }
}

/// The model by the flags.
pub(super) fn model(hotspot: &Hotspot<'_>) -> Result<DumpModel, String> {
    let is_on = |flag: &str| hotspot.flags().bool(flag) == Some(true);
    let alignment = alignment(hotspot);
    let is_compact = is_on("UseCompactObjectHeaders");
    let has_class_pointers = is_on("UseCompressedClassPointers") || is_compact;
    let name = match (hotspot.source().word_bytes(), is_compact, is_on("UseCompressedOops"), alignment) {
        (4, _, _, 8) => ModelName::Bits32,
        (8, true, true, 8) => ModelName::Compact,
        (8, true, true, 16) => ModelName::CompactAlign16,
        (8, true, false, 8) => ModelName::Compact64,
        (8, false, true, 8) if has_class_pointers => ModelName::Compressed,
        (8, false, true, 16) if has_class_pointers => ModelName::CompressedAlign16,
        (8, false, true, 32) if has_class_pointers => ModelName::CompressedAlign32,
        (8, false, false, 8) if has_class_pointers => ModelName::Bits64CompressedClassPointers,
        (8, false, false, 8) => ModelName::Bits64,
        (word_bytes, is_compact, is_compressed, alignment) => {
            let sign = |is_on: bool| if is_on { '+' } else { '-' };
            return Err(format!(
                "the flags of this {}-bit JVM are {}UseCompressedOops, {}UseCompressedClassPointers, \
                    {}UseCompactObjectHeaders, ObjectAlignmentInBytes={alignment}: Assay knows no such layout",
                8 * word_bytes,
                sign(is_compressed),
                sign(has_class_pointers),
                sign(is_compact),
            ));
        }
    };
    let version = hotspot.version();
    Ok(DumpModel {
        name,
        evidence: "the flags of the running JVM".to_owned(),
        jdk: version.map(|version| version.feature),
        jdk_version: version.map(JvmVersion::release),
        alignment_bytes: Some(alignment),
    })
}

fn alignment(hotspot: &Hotspot<'_>) -> u64 {
    hotspot.flags().uint("ObjectAlignmentInBytes").filter(|bytes| bytes.is_power_of_two()).unwrap_or(8)
}

/// What the JVM fills gaps with from JDK 19 on.
fn is_filler(class: &HeapClass) -> bool {
    [FILLER_OBJECT, "[Ljdk.internal.vm.FillerElement;"].contains(&class.name.as_str())
}

/// Of an array class, what its elements are.
fn array_element(class: &HeapClass) -> Option<Option<PrimitiveKind>> {
    match class.kind {
        ClassKind::Array { element, .. } => Some(primitive(element)),
        _ => None,
    }
}

fn kind(descriptor: u8) -> FieldKind {
    primitive(descriptor).map_or(FieldKind::Reference, FieldKind::Primitive)
}

/// `byte[]` and `java.lang.String[][]` of `[B` and `[[Ljava.lang.String;`.
fn spelt(name: &str) -> String {
    let of = name.trim_start_matches('[');
    let dimensions = name.len() - of.len();
    if dimensions == 0 {
        return name.to_owned();
    }
    let letter = of.bytes().next().filter(|_| of.len() == 1).and_then(primitive);
    let stem = match letter {
        Some(primitive) => primitive.name(),
        None => of.strip_prefix('L').and_then(|of| of.strip_suffix(';')).unwrap_or(of),
    };
    format!("{stem}{}", "[]".repeat(dimensions))
}

#[cfg(test)]
mod tests {
    use super::spelt;

    #[test]
    fn names_are_spelt_as_in_the_class_histogram_of_a_dump() {
        for (jvm, histogram) in [
            ("java.util.HashMap$Node", "java.util.HashMap$Node"),
            ("[B", "byte[]"),
            ("[[J", "long[][]"),
            ("[[Ljava.lang.String;", "java.lang.String[][]"),
            ("[La.B$$Lambda/0x0a;", "a.B$$Lambda/0x0a[]"),
        ] {
            assert_eq!(spelt(jvm), histogram);
        }
    }
}
