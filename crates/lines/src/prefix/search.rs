//! Which prefix the lines of an input have, by those behind which stands what its reader knows.

use super::chain::Prefix;
use super::element::{ALL, Element};
use std::borrow::Cow;

/// So many lines more than for any other make it sure.
const LEAD_LINES: u32 = 5;
/// Elements of one prefix.
const ELEMENTS_MAX: usize = 4;
/// Texts that one line is tried as.
const TRIALS_MAX: usize = 48;
/// Names that may stand behind each other: a pod and its container.
const WORDS_MAX: usize = 2;
/// Lines of one message that are looked at.
const MESSAGE_LINES_MAX: usize = 4;

/// Finds the prefix of an input by its first lines.
#[derive(Debug, Default)]
pub struct PrefixSearch {
    plain: u32,
    found: Vec<(Prefix, u32)>,
}

impl PrefixSearch {
    /// Looks at the next line. `is_known` says whether the reader knows a text; it must be sure of it, for what it takes any text to be
    /// has any prefix.
    pub fn look(&mut self, line: &str, is_known: &dyn Fn(&str) -> bool) {
        if is_known(line) {
            self.plain += 1;
            return;
        }
        let mut texts: Vec<(Vec<Element>, Cow<'_, str>)> = vec![(Vec::new(), Cow::Borrowed(line))];
        let mut trials = 0;
        for _ in 0..ELEMENTS_MAX {
            let mut next = Vec::new();
            let mut is_found = false;
            for (chain, text) in &texts {
                for element in ALL.into_iter().filter(|element| may_follow(chain, *element)) {
                    let Some(taken) = element.take(text).filter(|_| trials < TRIALS_MAX) else { continue };
                    trials += 1;
                    let longer: Vec<Element> = chain.iter().copied().chain([element]).collect();
                    if taken.text.lines().take(MESSAGE_LINES_MAX).any(is_known) {
                        self.count(&longer);
                        is_found = true;
                    }
                    next.push((longer, Cow::Owned(taken.text.into_owned())));
                }
            }
            if is_found {
                return;
            }
            texts = next;
        }
    }

    fn count(&mut self, chain: &[Element]) {
        match self.found.iter_mut().find(|(prefix, _)| prefix.0 == chain) {
            Some((_, lines)) => *lines += 1,
            None => self.found.push((Prefix(chain.to_vec()), 1)),
        }
    }

    /// Whether further lines need not be looked at.
    pub fn is_sure(&self) -> bool {
        self.plain.abs_diff(self.most()) >= LEAD_LINES
    }

    fn most(&self) -> u32 {
        self.found.iter().map(|(_, lines)| *lines).max().unwrap_or(0)
    }

    /// The prefix of most lines, none where as many stand plain; absent where no line was known.
    pub fn best(&self) -> Option<Prefix> {
        let most = self.most();
        if self.plain.max(most) == 0 {
            return None;
        }
        let longest = self.found.iter().find(|(_, lines)| *lines == most && self.plain < most);
        Some(longest.map(|(prefix, _)| prefix.clone()).unwrap_or_default())
    }
}

/// Whether an element may stand behind these.
fn may_follow(chain: &[Element], element: Element) -> bool {
    let times = chain.iter().filter(|other| **other == element).count();
    match element {
        Element::Word => times < WORDS_MAX && !chain.contains(&Element::Tag),
        // Of two hosts, or of a logger behind Docker's file.
        Element::Time | Element::Json => times < 2,
        _ => times == 0,
    }
}
