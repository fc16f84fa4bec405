//! What a duet is, and under which conditions its two sides ran.

use assay_kit::text::clean;
use assay_model::{HalvesOf, Plan, PlannedDuet, StoredRun, Window, metric};

/// A half of which server and load generator use this part is full.
const FULL_SHARE: f64 = 0.9;

/// What was compared with what, for the head of the result; absent in other designs.
pub fn head(plan: &Plan) -> Option<String> {
    let duet = plan.duet.as_ref()?;
    let processors = match (count(&duet.halves[0]), count(&duet.halves[1])) {
        (Some(1), Some(1)) => "one processor".to_owned(),
        (Some(one), Some(other)) if one == other => format!("{one} processors"),
        _ => "half of the processors".to_owned(),
    };
    let alike = if duet.equal_options.is_empty() {
        ""
    } else {
        ", both JVMs with the same threads and collector but for the variant's own"
    };
    Some(format!(
        "A duet: both variants ran at the same time, as pairs of new processes, each with its load generator on {processors} of its own{alike}. \
         They swapped their halves of the processors in every window. The intervals are over pairs."
    ))
}

/// The conditions of the two sides, as term and value; none in other designs.
pub fn facts(run: &StoredRun) -> Vec<(&'static str, String)> {
    let Some(duet) = &run.plan.duet else { return Vec::new() };
    let [first, second] = duet.halves.each_ref().map(|half| clean(half));
    let left_over = match duet.left_over.as_str() {
        "" => String::new(),
        list => format!("; {} left over", clean(list)),
    };
    let mut facts = vec![
        ("Halves of the processors", format!("{first} and {second}{left_over}, {}", divided(duet.halves_of))),
        ("Windows of a pair", format!("{}, the halves swapped in every one", duet.windows)),
        ("Kept there by", kept_by(run).to_owned()),
        ("Made equal", equal(duet)),
    ];
    if !duet.own_options.is_empty() {
        let own: Vec<String> = duet.own_options.iter().map(|option| clean(option)).collect();
        facts.push(("Left as the study has it", own.join(", ")));
    }
    facts
}

/// A caution on halves that are no whole cores; absent where they are.
pub fn caution(plan: &Plan) -> Option<&'static str> {
    match plan.duet.as_ref()?.halves_of {
        HalvesOf::Cores | HalvesOf::Other => None,
        HalvesOf::ThreadsOfOneCore => Some(
            "The two halves are hardware threads of one core, so each side slows the other down: a machine with two cores shows more.",
        ),
        HalvesOf::Processors => Some(
            "The kernel does not say which processors share a core, so the two halves may, and each side may slow the other down.",
        ),
    }
}

/// A caution on halves without time to spare; absent where there are none. Compilers take what time the requests leave: at a given rate CPU
/// time per request is then the time that was there, alike on both sides.
pub fn full_halves(run: &StoredRun) -> Option<String> {
    let processors = f64::from(count(&run.plan.duet.as_ref()?.halves[0]).filter(|count| *count != 0)?);
    let windows = || run.trials.iter().flat_map(|stored| &stored.trial.windows);
    let is_full =
        |window: &&Window| used_processors(window).is_some_and(|used| FULL_SHARE * processors <= used);
    let full = windows().filter(is_full).count();
    (full != 0).then(|| {
        format!(
            "In {full} of {} windows server and load generator used {:.0} % or more of their half. CPU time per request then tells \
             how much time the half had: lower the rate, or compare CPU time without JIT compilers.",
            windows().count(),
            100.0 * FULL_SHARE
        )
    })
}

/// Processors that the server and its load generator used in a window; without the latter where its time is not known.
fn used_processors(window: &Window) -> Option<f64> {
    let of = |name: &str| window.metrics.get(name).copied();
    let ms = of(metric::CPU_MS_PER_REQUEST)? + of(metric::GENERATOR_CPU_MS_PER_REQUEST).unwrap_or(0.0);
    Some(ms / 1000.0 * of(metric::THROUGHPUT_PER_S)?)
}

fn divided(of: HalvesOf) -> &'static str {
    match of {
        HalvesOf::Cores => "whole cores",
        HalvesOf::ThreadsOfOneCore => "hardware threads of one core",
        HalvesOf::Processors => "which of them share a core is not known",
        HalvesOf::Other => "divided in a way that this version does not know",
    }
}

fn kept_by(run: &StoredRun) -> &'static str {
    let mut windows = run.trials.iter().flat_map(|stored| &stored.trial.windows);
    if windows.any(|window| window.duet.is_some_and(|duet| duet.by_group)) {
        "control groups of the servers, and the affinity of all threads"
    } else {
        "the affinity of all threads"
    }
}

fn equal(duet: &PlannedDuet) -> String {
    if duet.equal_options.is_empty() {
        return "nothing: the command takes no JVM options of the study".to_owned();
    }
    let options: Vec<String> = duet.equal_options.iter().map(|option| clean(option)).collect();
    options.join(" ")
}

/// Processors of a list of the kernel; absent where it is none.
fn count(list: &str) -> Option<u32> {
    list.split(',').try_fold(0_u32, |sum, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        sum.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_a_list_are_counted() {
        assert_eq!(
            ["0", "0,2-3", "1-4", "", "x", "3-1"].map(count),
            [Some(1), Some(3), Some(4), None, None, None]
        );
    }
}
