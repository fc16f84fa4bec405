//! Any bytes as what scenarios are made of: archives, collections, plans, descriptions and logs. The fuzz target `import_read` calls it as well.

use super::{
    AccessLog, Generated, HarOptions, from_access_log, from_har, from_jmeter, from_openapi, from_postman,
};
use crate::{Scenario, ScenarioError};

/// Importers by name, each with what it makes of the same bytes. What is made can be read again.
///
/// # Panics
/// What is made cannot be read.
pub fn import_any_bytes(bytes: &[u8]) -> Vec<(&'static str, Result<Generated, ScenarioError>)> {
    let text = String::from_utf8_lossy(bytes);
    let log = AccessLog { named: "a", trace: None };
    let made = vec![
        ("har", from_har(&text, "a", &HarOptions { host: None, with_static: true })),
        ("postman", from_postman(&text, "a")),
        ("jmeter", from_jmeter(&text, "a")),
        ("openapi", from_openapi(&text, "a")),
        ("access-log", from_access_log(bytes, &log)),
    ];
    for (name, made) in &made {
        if let Ok(Generated { text, .. }) = made
            && let Err(error) = Scenario::look(text, "made.toml")
        {
            panic!("{name} makes what cannot be read: {error}\n{text}");
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::{SplitMix, testdata};

    /// Ways in which each seed is damaged.
    const DAMAGES: u64 = 60;

    fn seeds() -> Vec<(String, Vec<u8>)> {
        let folder = std::fs::read_dir(testdata("../fuzz/corpus/import_read")).expect("seeds");
        let seeds = folder.map(|entry| {
            let entry = entry.expect("a seed");
            (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a seed"))
        });
        seeds.collect()
    }

    #[test]
    fn each_seed_is_taken_by_the_importer_of_its_name_and_by_no_other() {
        let seeds = seeds();
        assert!(8 <= seeds.len());
        for (seed, bytes) in seeds {
            for (name, made) in import_any_bytes(&bytes) {
                assert_eq!(made.is_ok(), seed.starts_with(name), "{seed} by {name}: {made:?}");
            }
        }
    }

    #[test]
    fn what_is_cut_or_damaged_is_refused_or_makes_what_can_be_read() {
        let mut random = SplitMix(7);
        for (_, bytes) in seeds() {
            for end in (0..bytes.len()).step_by(23) {
                import_any_bytes(&bytes[..end]);
            }
            for _ in 0..DAMAGES {
                let mut damaged = bytes.clone();
                let at = random.bits() as usize % damaged.len();
                damaged[at] = b"{}\"\\<>$:\n0"[random.bits() as usize % 10];
                import_any_bytes(&damaged);
            }
        }
    }
}
