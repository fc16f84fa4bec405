//! What the outputs of a study say where its design has one server of each variant, as the sample's has.

use crate::rendered::{html, markdown, terminal as terminal_of};
use crate::sample;
use assay_model::Design;

#[test]
fn no_difference_is_claimed_that_another_start_could_be() {
    let mut run = sample::run();
    let objection = "the opposite direction.";
    for said in [markdown(&run), terminal_of(&run, 120, false), html(&run)] {
        assert!(said.contains("Each variant was one server"), "a caution says it");
        assert!(!said.contains(objection), "{said}");
    }
    let answer = markdown(&run);
    assert!(answer.contains("CI") && answer.contains(", one server each)"), "{answer}");
    assert!(!answer.contains("and uses"), "the headline claims garbage alone: {answer}");
    run.plan.design = Design::Fresh;
    let summary = run.summary.as_mut().expect("the sample has it");
    summary.claims = assay_results::check_claims(&run.plan, summary);
    assert!(markdown(&run).contains(objection));
}
