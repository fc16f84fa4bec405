//! Any bytes as a class file, a jar or an image of a JDK: no panic.
//! `crates/heap/tests/layout/class_path.rs` runs the seeds as a normal test.
#![no_main]

use assay_heap::class_path::is_class_in;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = is_class_in(bytes, "shop.Sample");
});
