//! Whether what a finding says to do is one thing.

/// What joins a second step, a second option, or a second sentence to a first one.
const JOINTS: [&str; 7] = ["; ", ". ", " or ", ", and ", ", then ", ", -", "\n"];

/// Panics unless the step of a finding is one, and so is each of its alternatives.
#[track_caller]
pub fn assert_one_step_each<'a>(ways: impl IntoIterator<Item = &'a str>) {
    for text in ways {
        assert_eq!(beyond_one_step(text), None, "more than one step, or none: {text:?}");
    }
}

/// What in a text makes more than one step of it, or no step at all; `None` where it names exactly one. Options that only work together
/// are one step: they stand behind each other, as they are typed.
fn beyond_one_step(text: &str) -> Option<&'static str> {
    if text.trim().is_empty() {
        return Some("nothing");
    }
    // Others set what it brings behind it.
    if text.ends_with('.') && !text.ends_with("...") {
        return Some("a full stop at its end");
    }
    JOINTS.into_iter().find(|joint| text.contains(joint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sentence_or_one_command_is_a_step_and_a_list_is_none() {
        for step in [
            "Set -Xmx4g (twice the live set)",
            "-Xmx48g -XX:ObjectAlignmentInBytes=16",
            "numactl --membind=0 java ...",
        ] {
            assert_eq!(beyond_one_step(step), None, "{step}");
        }
        for (text, why) in [
            ("Set -Xmx4g, or keep less", " or "),
            ("Set -Xmx4g; look for what lives long", "; "),
            ("Find the caller. -XX:+DisableExplicitGC ignores it", ". "),
            ("Begin earlier (-XX:A, -XX:B)", ", -"),
            ("Set -Xmx4g, and begin earlier", ", and "),
            ("Set -Xmx4g.", "a full stop at its end"),
            (" ", "nothing"),
        ] {
            assert_eq!(beyond_one_step(text), Some(why), "{text}");
        }
    }
}
