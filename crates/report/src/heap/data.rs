//! The raw figures of heaps, bytes in full: a prediction by layout and class, the places of an object's fields, modes by heap size.

use assay_kit::document::{Column, Data, Value};
use assay_model::{
    ClassLayout, FieldPlace, HeapLayouts, HeapModes, HeapPrediction, LayoutPart, ModeCell, ReferenceMode,
};

/// A row for each layout and class.
pub fn prediction(heap: &HeapPrediction) -> Data {
    let mut data = Data::new(["model", "class", "instances", "bytes"]);
    for model in &heap.models {
        for class in &model.classes {
            let name = Value::from(class.name.as_str());
            data.push([model.name.name().into(), name, class.instances.into(), class.bytes.into()]);
        }
    }
    data
}

/// An object in every layout: a row for each place, header and padding included.
pub fn layouts(layouts: &HeapLayouts) -> Data {
    let columns: [Column<(&ClassLayout, &FieldPlace)>; 10] = [
        ("layout", |(layout, _)| layout.model.name.name().into()),
        ("class", |(layout, _)| layout.class.clone().into()),
        ("instance_bytes", |(layout, _)| layout.instance_bytes.into()),
        ("estimate", |(layout, _)| layout.is_estimate.into()),
        ("part", |(_, place)| part(place.part).into()),
        ("name", |(_, place)| place.name.clone().into()),
        ("type", |(_, place)| place.kind.clone().into()),
        ("declared_by", |(_, place)| place.declared_by.clone().into()),
        ("offset_bytes", |(_, place)| place.offset_bytes.into()),
        ("bytes", |(_, place)| place.bytes.into()),
    ];
    let places = |layout| move |place| (layout, place);
    let rows: Vec<(&ClassLayout, &FieldPlace)> =
        layouts.layouts.iter().flat_map(|layout| layout.places.iter().map(places(layout))).collect();
    Data::of(&rows, columns)
}

/// The word in stored files.
const fn part(part: LayoutPart) -> &'static str {
    match part {
        LayoutPart::Header => "header",
        LayoutPart::Field => "field",
        LayoutPart::Injected => "injected",
        LayoutPart::Padding => "padding",
    }
}

/// Modes by heap size: a row for each JVM, collector and size.
pub fn modes(modes: &HeapModes) -> Data {
    let columns: [Column<ModeCell>; 11] = [
        ("java", |c| c.java.clone().into()),
        ("jdk", |c| c.jdk.into()),
        ("collector", |c| c.collector.clone().into()),
        ("max_heap_bytes", |c| c.max_heap_bytes.into()),
        ("options", |c| c.options.join(" ").into()),
        ("computed_mode", |c| c.computed_mode.map(ReferenceMode::name).into()),
        ("computed_base_address", |c| c.computed_base_address.into()),
        ("shift_bits", |c| c.shift_bits.into()),
        ("verified_mode", |c| c.verified_mode.map(ReferenceMode::name).into()),
        ("base_address", |c| c.base_address.into()),
        ("decided_by", |c| c.decided_by.clone().into()),
    ];
    Data::of(&modes.cells, columns)
}
