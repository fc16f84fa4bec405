//! Samples of failures: each text once, with how often it came.

use crate::error_kind::ErrorKind;

/// Texts that are kept of each kind of error.
const TEXTS_MAX: usize = 4;
/// Failures of each kind that are looked at one by one; the rest is counted by kind.
const LOOKED_AT_MAX: u64 = 64;

/// What the first failures of each kind said.
#[derive(Default)]
pub(crate) struct FailureSamples {
    kinds: [OfKind; ErrorKind::ALL.len()],
}

#[derive(Default)]
struct OfKind {
    all: u64,
    /// Distinct texts, with how many of those that were looked at said so.
    texts: Vec<(String, u64)>,
    /// Looked at, and more texts than are kept.
    others: u64,
}

impl FailureSamples {
    /// A request failed. The text is only asked for while failures are looked at.
    pub fn add(&mut self, kind: ErrorKind, text: impl FnOnce() -> String) {
        let of = &mut self.kinds[kind as usize];
        of.all += 1;
        if LOOKED_AT_MAX < of.all {
            return;
        }
        let text = text();
        match of.texts.iter().position(|(known, _)| *known == text) {
            Some(at) => of.texts[at].1 += 1,
            None if of.texts.len() < TEXTS_MAX => of.texts.push((text, 1)),
            None => of.others += 1,
        }
    }

    /// Each text, and how often it came.
    pub fn texts(self) -> impl Iterator<Item = String> {
        self.kinds.into_iter().flat_map(|of| {
            let is_all = of.texts.len() == 1 && of.others == 0;
            let all = of.all;
            of.texts.into_iter().map(move |(text, count)| {
                let times = if is_all { all } else { count };
                match times {
                    1 => text,
                    _ if is_all || all <= LOOKED_AT_MAX => format!("{text} ({times} times)"),
                    _ => format!("{text} ({times} of the first {LOOKED_AT_MAX})"),
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[(&str, u64)]) -> Vec<String> {
        let mut samples = FailureSamples::default();
        for (text, count) in texts {
            (0..*count).for_each(|_| samples.add(ErrorKind::Status, || (*text).to_owned()));
        }
        samples.texts().collect()
    }

    #[test]
    fn the_same_problem_is_said_once_with_its_count() {
        assert_eq!(said(&[("a", 1)]), ["a"]);
        assert_eq!(said(&[("a", 1_000)]), ["a (1000 times)"]);
        assert_eq!(said(&[("a", 3), ("b", 1)]), ["a (3 times)", "b"]);
        assert_eq!(said(&[("a", 3), ("b", 100)]), ["a (3 of the first 64)", "b (61 of the first 64)"]);
        let many = ["a", "b", "c", "d", "e", "f"].map(|text| (text, 1));
        assert_eq!(said(&many), ["a", "b", "c", "d"]);
    }
}
