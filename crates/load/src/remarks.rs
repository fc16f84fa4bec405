//! What a run says of right answers that gave its users less than they should: cookies that were not kept, values that were not found.

use crate::cookies::Refusal;
use assay_model::Problem;
use assay_scenario::{Missed, Scenario};

/// Cookies that are named; further ones are not counted.
const COOKIES_MAX: usize = 16;

#[derive(Default)]
pub(crate) struct Remarks {
    /// Names, why they were not kept, and how often.
    cookies: Vec<(String, Refusal, u64)>,
    /// By number among the scenario's extracts.
    extracts: Vec<Searched>,
}

/// How often a value was searched for, and missed.
#[derive(Default)]
struct Searched {
    answers: u64,
    missed: u64,
    /// What the first answer without it held instead.
    instead: String,
}

impl Remarks {
    /// A cookie of an answer was not kept.
    pub fn refused(&mut self, name: &str, refusal: Refusal) {
        let known = self.cookies.iter_mut().find(|(known, why, _)| known == name && *why == refusal);
        if let Some((_, _, count)) = known {
            *count += 1;
        } else if self.cookies.len() < COOKIES_MAX {
            self.cookies.push((name.to_owned(), refusal, 1));
        }
    }

    /// An answer was searched for a value; `instead` says what it holds in its place.
    pub fn searched(&mut self, extract: usize, found: Result<(), Missed>, instead: impl FnOnce() -> String) {
        if self.extracts.len() <= extract {
            self.extracts.resize_with(extract + 1, Searched::default);
        }
        let searched = &mut self.extracts[extract];
        searched.answers += 1;
        if let Err(missed) = found {
            if searched.missed == 0 {
                searched.instead = match missed {
                    Missed::Absent => instead(),
                    Missed::Elsewhere => "it is there, but leads to no path of this server".to_owned(),
                    Missed::TooLong(bytes) => format!("it has {bytes} bytes, more than are kept"),
                };
            }
            searched.missed += 1;
        }
    }

    /// The name of the first value that an answer lacked, and what the answer held instead.
    pub fn first_missed<'a>(&'a self, scenario: &'a Scenario) -> Option<(&'a str, &'a str)> {
        let (at, searched) = self.extracts.iter().enumerate().find(|(_, one)| 0 < one.missed)?;
        Some((scenario.extracted(at).0, &searched.instead))
    }

    /// Remarks on the server at `url`. What a request uses up may lack now and then; what never came is always named.
    pub fn problems(self, url: &str, scenario: &Scenario) -> Vec<Problem> {
        let cookies = self.cookies.into_iter().map(|(name, refusal, count)| {
            let name: String = name.chars().take(80).collect();
            Problem::new(url, format!("cookie {name:?}, set {count} times, {refusal}"))
        });
        let extracts = self.extracts.into_iter().enumerate().filter_map(|(at, searched)| {
            let Searched { answers, missed, instead } = searched;
            let (name, once) = scenario.extracted(at);
            let is_said = 0 < missed && (missed == answers || !once);
            let text = format!("it was not in {missed} of {answers} right answers; the first: {instead}");
            is_said.then(|| Problem::new(format!("extract {name}"), scenario.secrets().redacted(&text)))
        });
        cookies.chain(extracts).collect()
    }
}
