//! The seeds of the fuzz target `access_log_read`, and damage to them.

use crate::any_access_log::check;
use std::fs;
use std::path::Path;

#[test]
fn every_seed_makes_a_scenario_and_no_damage_one_that_is_wrong() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/access_log_read");
    let mut seeds = 0;
    for entry in fs::read_dir(folder).expect("the seeds") {
        let path = entry.expect("an entry").path();
        let seed = fs::read(&path).expect("a seed");
        seeds += 1;
        assert_eq!(check(&seed), Ok(true), "{}", path.display());
        for at in (0..seed.len()).step_by(1 + seed.len() / 60) {
            let mut damaged = seed.clone();
            damaged[at] ^= 0x15;
            for piece in [&damaged, &seed[..at], &seed[at..]] {
                check(piece).unwrap_or_else(|wrong| panic!("{wrong}"));
            }
        }
    }
    assert!(seeds >= 8, "{seeds}");
}
