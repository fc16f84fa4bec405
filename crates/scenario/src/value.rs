//! Values that are drawn: from ranges and lists, for each request or once per session.

use crate::Shared;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Most numbers in one value of kind `range-list`.
pub(crate) const LIST_COUNT_MAX: u32 = 10_000;

/// How a value is drawn. Bounds are inclusive, and checked to be in order when the scenario is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Law {
    Range {
        from: i64,
        to: i64,
    },
    List(Vec<Box<[u8]>>),
    RangeList {
        prefix: String,
        from: i64,
        to: i64,
        count: [u32; 2],
        separator: String,
    },
    /// The numbers in order, from `from`, for all users together; after `to` from the beginning again.
    Counter {
        /// Among the counters of the scenario.
        number: usize,
        from: i64,
        to: i64,
    },
    /// A random one, of version 4 (RFC 9562).
    Uuid,
    /// Milliseconds since 1970.
    UnixMs,
}

/// A named value of the scenario.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub name: String,
    pub law: Law,
    /// Drawn once per session instead of for each request.
    pub per_session: bool,
}

impl Law {
    /// Appends a draw to `out`.
    pub fn draw(&self, random: &mut ChaCha8Rng, shared: &Shared, out: &mut Vec<u8>) {
        match self {
            Law::Range { from, to } => put(random.random_range(*from..=*to), out),
            Law::List(texts) => {
                if !texts.is_empty() {
                    out.extend_from_slice(&texts[random.random_range(0..texts.len())]);
                }
            }
            Law::RangeList { prefix, from, to, count, separator } => {
                for position in 0..random.random_range(count[0]..=count[1]) {
                    if position > 0 {
                        out.extend_from_slice(separator.as_bytes());
                    }
                    out.extend_from_slice(prefix.as_bytes());
                    put(random.random_range(*from..=*to), out);
                }
            }
            Law::Counter { number, from, to } => {
                let numbers = i128::from(*to) - i128::from(*from) + 1;
                let at = i128::from(shared.count(*number)) % numbers;
                put((i128::from(*from) + at) as i64, out);
            }
            Law::Uuid => {
                let bits = random.random::<u128>() & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
                let hex = format!("{bits:032x}");
                let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
                // Writing to a Vec cannot fail.
                let _ = write!(out, "{a}-{b}-{c}-{d}-{e}");
            }
            Law::UnixMs => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                put(i64::try_from(now.as_millis()).unwrap_or(i64::MAX), out);
            }
        }
    }
}

fn put(number: i64, out: &mut Vec<u8>) {
    // Writing to a Vec cannot fail.
    let _ = write!(out, "{number}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    fn draws(law: &Law, n: usize) -> Vec<String> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let shared = Shared::new(1);
        let mut draw = || {
            let mut out = Vec::new();
            law.draw(&mut random, &shared, &mut out);
            String::from_utf8(out).expect("text in, text out")
        };
        (0..n).map(|_| draw()).collect()
    }

    #[test]
    fn a_range_draws_both_its_ends_and_nothing_beyond() {
        let drawn = draws(&Law::Range { from: -1, to: 1 }, 200);
        assert!(["-1", "0", "1"].iter().all(|end| drawn.iter().any(|text| text == end)));
        assert!(drawn.iter().all(|text| ["-1", "0", "1"].contains(&text.as_str())));
    }

    #[test]
    fn a_counter_begins_again_after_its_end() {
        let counter = |from, to| draws(&Law::Counter { number: 0, from, to }, 4).join(" ");
        assert_eq!(counter(8, 10), "8 9 10 8");
        assert_eq!(
            counter(i64::MIN, i64::MAX),
            "-9223372036854775808 -9223372036854775807 -9223372036854775806 -9223372036854775805"
        );
    }

    #[test]
    fn uuids_are_of_version_4_and_each_is_another() {
        let drawn = draws(&Law::Uuid, 500);
        let is_right = |text: &String| {
            let parts: Vec<&str> = text.split('-').collect();
            parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
                && parts[2].starts_with('4')
                && parts[3].starts_with(['8', '9', 'a', 'b'])
        };
        assert!(drawn.iter().all(is_right), "{:?}", drawn[0]);
        assert_eq!(drawn.iter().collect::<std::collections::BTreeSet<_>>().len(), 500);
    }

    #[test]
    fn a_range_list_joins_as_many_as_its_count_says() {
        let law =
            Law::RangeList { prefix: "s:".into(), from: 0, to: 9, count: [1, 3], separator: ",".into() };
        let drawn = draws(&law, 300);
        let counts: std::collections::BTreeSet<usize> =
            drawn.iter().map(|text| text.split(',').count()).collect();
        assert_eq!(counts, [1, 2, 3].into());
        assert!(drawn.iter().all(|text| text.split(',').all(|one| one.starts_with("s:"))));
    }

    #[test]
    fn the_time_is_the_clocks_when_it_is_drawn() {
        let now_ms = || SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
        let before = now_ms();
        let drawn: u128 = draws(&Law::UnixMs, 1)[0].parse().expect("a number");
        assert!((before..=now_ms()).contains(&drawn), "{drawn}");
    }
}
