//! Sums of a prediction hold for any heap, and the mode is found from any heap's neighbours.

use assay_heap::layout::{Layouts, Sizes};
use assay_heap::predict::{PredictOptions, detect, models, predict};
use assay_heap::{
    ArrayLengths, ClassHistogram, ClassShape, Field, FieldKind, Neighbour, NeighbourKind, PrimitiveKind,
};
use assay_model::{FootprintParts, HeapModel, ModelName};
use proptest::prelude::*;

fn field_kind() -> impl Strategy<Value = FieldKind> {
    prop_oneof![
        proptest::sample::select(PrimitiveKind::ALL.to_vec()).prop_map(FieldKind::Primitive),
        Just(FieldKind::Reference),
    ]
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let kinds = proptest::collection::vec(field_kind(), 0..8);
    kinds.prop_map(|kinds| {
        let named = kinds.into_iter().enumerate();
        named.map(|(index, kind)| Field { name: format!("f{index}").into(), kind }).collect()
    })
}

/// A class whose super class is any of those before it.
fn class(index: usize) -> impl Strategy<Value = ClassShape> {
    (fields(), fields(), 0..1_000_000u64, any::<bool>(), 0..=index).prop_map(
        move |(fields, statics, instances, has_mirror, above)| ClassShape {
            name: if index == 0 { "java.lang.Class".into() } else { format!("a.C{index}").into() },
            super_class: (above < index && 0 < index).then_some(above as u32),
            fields,
            statics,
            instances,
            arrays: None,
            has_mirror,
        },
    )
}

fn arrays(element: Option<PrimitiveKind>) -> impl Strategy<Value = ClassShape> {
    proptest::collection::vec(0u64..5_000, 0..60).prop_map(move |lengths| {
        let mut arrays = ArrayLengths::new(element);
        lengths.into_iter().for_each(|length| arrays.add(length));
        ClassShape {
            name: format!("{}[]", element.map_or("java.lang.Object", PrimitiveKind::name)).into(),
            super_class: None,
            fields: Vec::new(),
            statics: Vec::new(),
            instances: 0,
            arrays: Some(arrays),
            has_mirror: true,
        }
    })
}

fn histogram() -> impl Strategy<Value = ClassHistogram> {
    let classes: Vec<_> = (0..12).map(class).collect();
    let elements = PrimitiveKind::ALL.into_iter().map(Some).chain([None]);
    (classes, elements.map(arrays).collect::<Vec<_>>()).prop_map(|(classes, arrays)| ClassHistogram {
        classes: classes.into_iter().chain(arrays).collect(),
        word_bytes: 8,
        jdk_version: Some("17.0.15".to_owned()),
        ..ClassHistogram::default()
    })
}

/// Neighbours as a heap of this model has them; each `slack`-th, of whatever kind, with a hole behind it. Holes behind all
/// objects of a kind would make it a heap of larger objects: of another mode.
fn with_neighbours(mut histogram: ClassHistogram, model: HeapModel, slack: u64) -> ClassHistogram {
    let layouts = Layouts::of(&histogram, model);
    let sizes = Sizes::of(model);
    let instances = (0..histogram.classes.len() as u32)
        .filter_map(|class| Some((NeighbourKind::Instance(class), layouts.instance_bytes(class)?)));
    let arrays = (0..40).flat_map(|length| {
        let bytes = |element: Option<PrimitiveKind>| {
            let element_bytes = sizes.bytes_of(element.map_or(FieldKind::Reference, FieldKind::Primitive));
            let end = layouts.array_base_bytes(element) + length * element_bytes;
            end.next_multiple_of(sizes.alignment_bytes)
        };
        let byte = PrimitiveKind::Byte;
        [
            (NeighbourKind::References(length), bytes(None)),
            (NeighbourKind::Primitives(byte, length), bytes(Some(byte))),
        ]
    });
    let all: Vec<(NeighbourKind, u64)> = instances.chain(arrays).collect();
    let mut met = 0;
    histogram.neighbours = all
        .into_iter()
        .enumerate()
        .flat_map(|(index, (kind, bytes))| {
            let count = 1 + index as u64 % 7;
            let with_hole = (met + count) / slack - met / slack;
            met += count;
            let of = |hole_bytes| Neighbour { kind, gap_bytes: bytes + hole_bytes };
            [(of(0), count - with_hole), (of(5 * sizes.alignment_bytes), with_hole)]
        })
        .filter(|(_, count)| *count != 0)
        .collect();
    histogram.alignment_bytes = Some(sizes.alignment_bytes);
    histogram.word_bytes = if model.name == ModelName::Bits32 { 4 } else { 8 };
    histogram.jdk_version = Some(model.jdk.to_string());
    histogram
}

fn sum(parts: FootprintParts) -> u64 {
    parts.headers_bytes + parts.references_bytes + parts.primitives_bytes + parts.padding_bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_and_classes_add_up_to_the_total_in_every_model(histogram in histogram()) {
        let prediction = predict(&histogram, &PredictOptions::default()).expect("no class is asked for");
        prop_assert_eq!(prediction.models.len(), ModelName::ALL.len());
        let names = |model: usize| {
            let classes = &prediction.models[model].classes;
            classes.iter().map(|class| (class.name.clone(), class.instances)).collect::<Vec<_>>()
        };
        for (index, model) in prediction.models.iter().enumerate() {
            prop_assert_eq!(sum(model.parts), model.total_bytes, "parts in {}", model.name.name());
            let classes: u64 = model.classes.iter().map(|class| class.bytes).sum();
            prop_assert_eq!(classes, model.total_bytes, "classes in {}", model.name.name());
            prop_assert_eq!(names(index), names(0));
        }
        let objects: u64 = prediction.models[0].classes.iter().map(|class| class.instances).sum();
        prop_assert_eq!(objects, prediction.objects);
    }

    #[test]
    fn the_mode_is_found_from_neighbours(
        histogram in histogram(), slack in 2u64..9, name in proptest::sample::select(ModelName::ALL[..9].to_vec()),
    ) {
        let model = models(25).into_iter().find(|model| model.name == name).expect("a model");
        let histogram = with_neighbours(histogram, model, slack);
        let detected = detect(&histogram);
        prop_assert!(detected.is_sure, "{:?}", detected);
        prop_assert_eq!(detected.fits[0].model.name, name, "{:?}", detected.fits);
        prop_assert_eq!(detected.fits[0].contradictions, 0);
    }
}

#[test]
fn a_heap_that_does_not_tell_its_mode_is_weighed_all_the_same() {
    let empty = ClassHistogram { word_bytes: 8, ..ClassHistogram::default() };
    let prediction = predict(&empty, &PredictOptions { source: "x".to_owned(), ..PredictOptions::default() });
    let prediction = prediction.expect("no class is asked for");
    assert_eq!((prediction.dump_model, prediction.dump.is_none()), (None, true));
    assert_eq!(prediction.models.len(), 11);
    assert!(prediction.models.iter().all(|model| model.difference_bytes.is_none()));
    assert!(prediction.cross_overs.is_empty());
    let problems: Vec<&str> = prediction.problems.iter().map(|problem| problem.text.as_str()).collect();
    assert!(problems.iter().any(|what| what.starts_with("the layout of the heap is not known")));
    assert!(problems.iter().any(|what| what.contains("--jdk")), "{problems:?}");
}

#[test]
fn androids_heaps_have_no_model_of_hotspot() {
    let android = ClassHistogram { word_bytes: 4, is_android: true, ..ClassHistogram::default() };
    let prediction = predict(&android, &PredictOptions::default()).expect("no class is asked for");
    assert_eq!(prediction.dump_model, None);
    assert!(prediction.problems.iter().any(|problem| problem.text.contains("Android")));
}
