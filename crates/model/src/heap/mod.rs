//! Java heaps: what the same objects occupy in each reference mode, how an object is laid out, which mode a heap size gets.

mod layout;
mod model;
mod modes;
mod prediction;

pub use layout::{ClassLayout, FieldPlace, HeapLayouts, LayoutPart};
pub use model::{HeapModel, ModelName};
pub use modes::{AddressRange, HeapModes, ModeCell, ModeOfLog, ModeThreshold};
pub use prediction::{
    ClassFootprint, CrossOver, DumpModel, FootprintParts, GarbageInModel, HeapPrediction, ModelFootprint,
};
