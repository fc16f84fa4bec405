//! The seeds of the fuzz target `lines_read`, and damage to them.

mod any_lines;

use any_lines::check;
use std::fs;
use std::path::Path;

#[test]
fn seeds_and_their_pieces_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/lines_read");
    let mut seeds = 0;
    for entry in fs::read_dir(folder).expect("the seeds") {
        let seed = fs::read(entry.expect("an entry").path()).expect("a seed");
        seeds += 1;
        check(&seed).unwrap_or_else(|wrong| panic!("{wrong}"));
        for at in (0..seed.len()).step_by(1 + seed.len() / 60) {
            let mut damaged = seed.clone();
            damaged[at] ^= 0x15;
            for piece in [&damaged, &seed[..at], &seed[at..]] {
                check(piece).unwrap_or_else(|wrong| panic!("{wrong}"));
            }
        }
    }
    assert!(seeds >= 10, "{seeds}");
}
