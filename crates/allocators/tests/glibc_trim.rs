//! The predicted gain of a trim is held against the RSS that a real `malloc_trim(0)` gives back.

use crate::blocks_program::{Blocks, on_each_glibc};
use assay_allocators::survey;
use std::path::Path;

on_each_glibc! {
    the_predicted_gain_is_what_a_trim_gives
    after_a_trim_there_is_nothing_left_to_gain
}

/// Programs that leave freed memory behind in various ways: arguments, environment.
const PROGRAMS: [(&str, &str); 32] = [
    ("blocks=9000 block_brk=1 max=30000 free=80", ""),
    ("blocks=20000 block_brk=1 max=3000 free=95 order=last mxfast=160 trim_threshold=2000000000", ""),
    ("blocks=5000", ""),
    ("blocks=20000 max=120 order=alternate", ""),
    ("blocks=200000 max=100 free=97", ""),
    ("blocks=100000 min=100 max=120 free=100 mxfast=160", ""),
    ("blocks=60000 min=16 max=120 free=90 mxfast=160", ""),
    ("blocks=60000 min=16 max=3000 free=97 mxfast=160 seed=7", ""),
    ("blocks=20000 mxfast=0 rounds=3", ""),
    ("blocks=3000 min=4000 max=9000 order=alternate", ""),
    ("blocks=3000 min=4000 max=60000 touch=30", ""),
    ("blocks=3000 min=4000 max=60000 touch=0 order=first", ""),
    ("blocks=20000 order=last trim_threshold=2000000000", ""),
    ("blocks=20000 order=last free=100 trim_threshold=2000000000", ""),
    ("blocks=2000 tail=5000 free=95 trim_threshold=2000000000 max=600 mxfast=160", ""),
    ("threads=7 blocks=8000 rounds=3", ""),
    ("threads=7 blocks=8000 cross=1 max=50000", ""),
    ("threads=7 blocks=8000 cross=1 max=50000 order=last free=80", ""),
    ("threads=12 blocks=8000", "MALLOC_ARENA_MAX=1"),
    ("threads=12 blocks=8000 max=300 free=98", "MALLOC_ARENA_MAX=3"),
    ("threads=3 blocks=30000 max=100 free=99 mxfast=160 cross=1", "MALLOC_ARENA_MAX=2"),
    ("threads=2 blocks=400 min=100000 max=9000000 touch=3 free=40", ""),
    (
        "threads=2 blocks=60 min=100000 max=9000000 touch=100 free=70 mmap_threshold=30000000 order=alternate",
        "",
    ),
    ("blocks=300 max=4000000 mmap_threshold=40000 touch=0", ""),
    ("blocks=8000 align=60 rounds=2 free=80", ""),
    ("blocks=400 align=90 min=4096 max=1000000 mmap_threshold=100000 touch=5", ""),
    ("threads=3 blocks=9000 realloc=60 max=20000 rounds=2", ""),
    ("blocks=9000 sbrk=12345 max=9000 order=last trim_threshold=2000000000", ""),
    ("threads=2 blocks=30000 max=20000 touch=1 order=first", ""),
    ("blocks=30000 max=1000 free=95", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"),
    ("blocks=30000 max=1000 free=95", "GLIBC_TUNABLES=glibc.malloc.tcache_count=2000"),
    ("blocks=90000 max=3000 order=last trim_threshold=2000000000", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"),
];

/// Largest difference: of what the program touches itself while it is asked to trim.
const DIFFERENCE_BYTES_MAX: u64 = 64 << 10;

fn the_predicted_gain_is_what_a_trim_gives(program: &Path) {
    let mut gains = Vec::new();
    for (arguments, environment) in PROGRAMS {
        let environment: Vec<_> = environment.split_once('=').into_iter().collect();
        let mut target = Blocks::start(program, arguments, &environment);
        let before = target.rss_bytes();
        let survey = survey(&target.open(), &[]);
        let predicted = survey.trim_gain_bytes.expect("glibc can be trimmed");
        assert_eq!(target.rss_bytes(), before, "{arguments}: the look itself changed the RSS");
        target.command('t');
        let gain = before.saturating_sub(target.rss_bytes());
        println!("{predicted} predicted, {gain} given back: {arguments} {environment:?}");
        let allowed = DIFFERENCE_BYTES_MAX.max(gain / 100);
        assert!(predicted.abs_diff(gain) <= allowed, "{arguments}: {predicted} predicted, {gain} given back");
        let by_arena: u64 = survey.arenas.iter().filter_map(|arena| arena.facts.trim_gain_bytes).sum();
        assert_eq!(by_arena, predicted, "{arguments}");
        gains.push(gain);
    }
    // Otherwise nothing was tested.
    let large = gains.iter().filter(|gain| 1 << 20 < **gain).count();
    assert!(20 <= large, "only {large} programs had more than 1 MiB to give back: {gains:?}");
}

fn after_a_trim_there_is_nothing_left_to_gain(program: &Path) {
    let mut target = Blocks::start(program, "threads=3 blocks=9000 max=30000", &[]);
    let before = survey(&target.open(), &[]);
    target.command('t');
    let after = survey(&target.open(), &[]);
    assert!(1 << 20 < before.trim_gain_bytes.expect("a prediction"));
    assert_eq!(after.trim_gain_bytes, Some(0));
    assert_eq!(after.problems, []);
}
