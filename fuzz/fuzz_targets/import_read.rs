//! Any bytes as an HTTP archive, a Postman collection, a JMeter plan, an OpenAPI description and an access log: no panic, and what is made
//! of it can be read again. `crates/scenario/src/generate/any_text_tests.rs` runs the seeds as a normal test.
#![no_main]

use assay_scenario::generate::any_text_tests::import_any_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    import_any_bytes(bytes);
});
