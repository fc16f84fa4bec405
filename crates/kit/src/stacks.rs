//! Stacks in the forms of other tools: collapsed, and speedscope's.

use crate::text::clean;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Stacks of one kind.
pub struct Profile<'a> {
    /// Their subject.
    pub name: &'a str,
    /// Unit of the weights, as speedscope calls it: `none` of samples, or `bytes`.
    pub unit: &'static str,
    /// Frames, the root first, with the weight of the stack.
    pub stacks: Vec<(Vec<&'a str>, u64)>,
}

/// A line for each stack, `root;caller;function weight`: the input of `flamegraph.pl`, inferno and others. The form is that of
/// `stackcollapse-perf.pl` (<https://github.com/brendangregg/FlameGraph>): frames are separated by `;`, and the last space stands before
/// the weight. A `;` in a name becomes `:`. Stacks with equal frames are summed up.
pub fn collapsed(profile: &Profile) -> String {
    let mut sums: HashMap<String, u64> = HashMap::new();
    let mut order = Vec::new();
    for (frames, weight) in
        profile.stacks.iter().filter(|(frames, weight)| !frames.is_empty() && *weight != 0)
    {
        let names: Vec<String> = frames.iter().map(|name| clean(name).replace(';', ":")).collect();
        let line = names.join(";");
        let sum = sums.entry(line.clone()).or_insert_with(|| {
            order.push(line);
            0
        });
        *sum = sum.saturating_add(*weight);
    }
    order.iter().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "{line} {}", sums[line]);
        out
    })
}

/// A file of speedscope with these profiles, by its schema (<https://www.speedscope.app/file-format-schema.json>, described in
/// `src/lib/file-format-spec.ts` of <https://github.com/jlfwong/speedscope>): frames once for all, each profile `sampled`, with a stack
/// of frame numbers and a weight for each sample.
pub fn speedscope(name: &str, made_by: &str, profiles: &[Profile]) -> Value {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut frames = Vec::new();
    let mut written = Vec::new();
    for Profile { name, unit, stacks } in profiles {
        let samples: Vec<Vec<usize>> =
            stacks.iter().map(|(stack, _)| numbers_of(stack, &mut numbers, &mut frames)).collect();
        let weights: Vec<u64> = stacks.iter().map(|(_, weight)| *weight).collect();
        let end = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(*weight));
        written.push(json!({
            "type": "sampled", "name": name, "unit": unit, "startValue": 0, "endValue": end,
            "samples": samples, "weights": weights
        }));
    }
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json", "name": name, "exporter": made_by, "activeProfileIndex": 0,
        "shared": { "frames": frames }, "profiles": written
    })
}

fn numbers_of<'a>(
    stack: &[&'a str],
    numbers: &mut HashMap<&'a str, usize>,
    frames: &mut Vec<Value>,
) -> Vec<usize> {
    let number = |name: &&'a str| {
        *numbers.entry(name).or_insert_with(|| {
            frames.push(json!({ "name": clean(name) }));
            frames.len() - 1
        })
    };
    stack.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Profile<'static> {
        Profile {
            name: "processor samples",
            unit: "none",
            stacks: vec![
                (vec!["application", "shop.Cart.total(int, int)"], 7),
                (vec!["application", "shop.Cart.total(int, int)", "a;b\nc"], 2),
                (vec!["collector"], 1),
                (vec!["application", "shop.Cart.total(int, int)"], 3),
                (Vec::new(), 4),
            ],
        }
    }

    #[test]
    fn collapsed_stacks_are_a_line_each_with_the_weight_behind_the_last_space() {
        let text = collapsed(&samples());
        let wanted = "application;shop.Cart.total(int, int) 10\n\
                      application;shop.Cart.total(int, int);a:b c 2\ncollector 1\n";
        assert_eq!(text, wanted);
    }

    /// What the schema asks for: every sample has its weight, every number names a frame, and the end is the sum.
    #[test]
    fn a_file_of_speedscope_has_what_its_schema_asks_for() {
        let bytes =
            Profile { name: "allocation", unit: "bytes", stacks: vec![(vec!["collector", "byte[]"], 4096)] };
        let file = speedscope("java (7)", "assay", &[samples(), bytes]);
        let frames = ["application", "shop.Cart.total(int, int)", "a;b c", "collector", "byte[]"];
        assert_eq!(file["shared"]["frames"], json!(frames.map(|name| json!({ "name": name }))));
        let [first, second] = [0, 1].map(|index| &file["profiles"][index]);
        assert_eq!(first["samples"], json!([[0, 1], [0, 1, 2], [3], [0, 1], []]));
        assert_eq!((&first["weights"], &first["endValue"]), (&json!([7, 2, 1, 3, 4]), &json!(17)));
        assert_eq!((&second["samples"], &second["unit"]), (&json!([[3, 4]]), &json!("bytes")));
        assert_eq!((&first["type"], &first["startValue"]), (&json!("sampled"), &json!(0)));
    }
}
