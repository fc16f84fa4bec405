//! Any bytes as a class file, a jar or an image of a JDK: no panic.
//! `crates/heap/tests/layout/class_path.rs` runs the seeds as a normal test.
#![no_main]

use assay_heap::class_path::shapes_of;
use assay_testkit::class_path_of;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let folder = std::env::temp_dir().join(format!("assay-class-path-{}", std::process::id()));
    let _ = shapes_of("shop.Sample", &[class_path_of(&folder, bytes)]);
});
