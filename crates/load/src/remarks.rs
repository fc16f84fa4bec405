//! What a run says of right answers that gave its users less than they should: cookies that were not kept.

use crate::cookies::Refusal;
use assay_model::Problem;

/// Cookies that are named; further ones are not counted.
const COOKIES_MAX: usize = 16;

#[derive(Default)]
pub(crate) struct Remarks {
    /// Names, why they were not kept, and how often.
    cookies: Vec<(String, Refusal, u64)>,
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

    /// What there is to say of the server at `url`.
    pub fn problems(self, url: &str) -> Vec<Problem> {
        let cookie = |(name, refusal, count): (String, Refusal, u64)| {
            let name: String = name.chars().take(80).collect();
            Problem::new(url, format!("cookie {name:?}, set {count} times, {refusal}"))
        };
        self.cookies.into_iter().map(cookie).collect()
    }
}
