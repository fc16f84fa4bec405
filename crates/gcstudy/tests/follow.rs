//! A log that is still written.

use assay_gclog::input::{Follower, find, read_set};
use assay_gcstudy::Analysis;

#[test]
fn the_first_look_at_a_followed_log_knows_its_jvm() {
    let path = assay_testkit::testdata("gclog/kinds/25-g1-normal/star.default.log");
    let mut whole = Analysis::default();
    read_set(&find(std::slice::from_ref(&path), false).expect("found").sets[0], &mut whole);
    let whole = whole.report();
    let mut analysis = Analysis::default();
    let mut follower = Follower::open(&path, &mut analysis).expect("opened");
    follower.poll(&mut analysis).expect("read");
    let first = analysis.report();
    follower.finish(&mut analysis);
    assert_eq!(analysis.report().throughput_percent, whole.throughput_percent);
    // What is open at the end of the log is not counted yet.
    let (first, whole) = (first.throughput_percent.expect("times"), whole.throughput_percent.expect("times"));
    assert!((first - whole).abs() < 1.0, "{first} at first, {whole} at the end");
}
