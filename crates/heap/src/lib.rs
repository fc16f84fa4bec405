//! Java heaps: what their objects occupy in each reference mode, how objects are laid out, which mode a heap size gets.
//!
//! A [`ClassHistogram`] is what a heap's size depends on, whatever the mode: classes with their fields, how many instances each
//! has, how long its arrays are. A dump gives one ([`hprof`]), and so does a running JVM ([`live`]). [`layout`] says how
//! large an object of a class is in a model; [`predict`] joins the two. [`modes`] says which mode a heap size gets.

mod class_histogram;
pub mod class_path;
pub mod hprof;
pub mod layout;
#[cfg(target_os = "linux")]
pub mod live;
pub mod modes;
pub mod predict;

pub use class_histogram::{
    ArrayLengths, ClassHistogram, ClassIndex, ClassShape, Field, FieldKind, Neighbour, NeighbourKind,
    PrimitiveKind,
};
