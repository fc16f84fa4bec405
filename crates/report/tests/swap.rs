//! Pages in and out and memory in swap over the measured time.

use crate::rendered::{html, markdown};
use crate::sample;
use assay_model::{StoredRun, SwapSample};

/// Each window has two samples: 12,345 pages in and 7 out per second, with 64 MiB in swap.
fn swapping() -> StoredRun {
    let mut run = sample::demo_run();
    for window in run.trials.iter_mut().flat_map(|stored| &mut stored.trial.windows) {
        let sample = |monotonic_ns| SwapSample {
            monotonic_ns,
            swapped_bytes: Some(64 << 20),
            in_pages_per_s: 12_345.0,
            out_pages_per_s: 7.0,
            stalled_percent: Some(2.5),
        };
        window.swap = vec![sample(window.start_monotonic_ns), sample(window.end_monotonic_ns)];
    }
    run
}

fn figure(page: &str, id: &str) -> Option<String> {
    let figure = page.split(&format!("<figure id=\"{id}\"")).nth(1)?;
    Some(figure.split("</figure>").next()?.to_owned())
}

#[test]
fn swap_has_two_pictures_and_their_figures_and_none_where_it_was_not_observed() {
    let page = html(&swapping());
    let traffic = figure(&page, "swap-traffic").expect("pages in and out");
    for words in ["swapped in at most 12345 pages/s", "swapped out", "Most pages in per second", "2.5 %"] {
        assert!(traffic.contains(words), "{words}: {traffic}");
    }
    assert!(figure(&page, "swapped-time").expect("memory in swap").contains("in swap at most 64 MiB"));
    let without = html(&sample::demo_run());
    assert!(["swap-traffic", "swapped-time"].iter().all(|id| figure(&without, id).is_none()));
}

#[test]
fn the_numbers_of_the_axis_are_inside_of_the_picture() {
    let traffic = figure(&html(&swapping()), "swap-traffic").expect("pages in and out");
    let axis = traffic.split("15,000</text>").next().expect("the highest number of the axis");
    assert!(axis.len() < traffic.len(), "{traffic}");
    // Anchored at its end, with about seven units for each character.
    let x = axis.rsplit(" x=\"").next().and_then(|rest| rest.split('"').next());
    let x: f64 = x.and_then(|x| x.parse().ok()).expect("its place");
    assert!(6.0 * 7.0 <= x, "{x}");
}

#[test]
fn a_variant_without_samples_has_no_figures_of_swap() {
    let mut run = swapping();
    let alone = run.trials[0].trial.variant.clone();
    for stored in run.trials.iter_mut().filter(|stored| stored.trial.variant == alone) {
        stored.trial.windows.iter_mut().for_each(|window| window.swap.clear());
    }
    assert!(markdown(&run).contains("not available"), "{}", markdown(&run));
    assert!(figure(&html(&run), "swap-traffic").expect("of the others").contains("not available"));
}
