//! The text of a schedule's phases.

use super::piece::{Piece, RATE_PER_S_MAX};
use assay_text::{duration, near::hint};

/// Most pieces that phases are taken apart into.
const PIECES_MAX: usize = 100_000;
/// Longest that all take together, s: a week.
const LENGTH_S_MAX: f64 = 7.0 * 86_400.0;
const WORDS: [&str; 7] = ["for", "to", "in", "steps", "spike", "every", "trace"];

/// Where the word after a number is missing or unknown.
const FORMS: &str = "write phases as `100 for 30s`, `100 to 500 for 1m`, `100 to 500 in 5 steps for 1m` or \
                     `100 for 1m spike 900 for 1s every 10s`, with commas between them, or `trace FILE`";

pub(super) fn parse(text: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    for phase in text.split(',') {
        let mut words = Words { words: phase.split_whitespace().collect(), at: 0, phase: phase.trim() };
        words.phase(&mut pieces)?;
        let length_s: f64 = pieces.iter().map(|piece| piece.length_s).sum();
        if pieces.len() > PIECES_MAX || length_s > LENGTH_S_MAX {
            return Err("a schedule takes at most 7 days, and has at most 100000 steps and spikes".to_owned());
        }
    }
    Ok(pieces)
}

/// The words of a phase.
struct Words<'a> {
    words: Vec<&'a str>,
    at: usize,
    phase: &'a str,
}

impl Words<'_> {
    fn phase(&mut self, pieces: &mut Vec<Piece>) -> Result<(), String> {
        let from = self.rate()?;
        if self.is_next("to") {
            let to = self.rate()?;
            let steps = if self.is_next("in") { Some(self.steps()?) } else { None };
            self.word("for")?;
            let length_s = self.time_s()?;
            self.end()?;
            match steps {
                None => pieces.push(Piece { length_s, from_per_s: from, to_per_s: to }),
                Some(steps) => pieces.extend((0..steps).map(|step| {
                    let rate = from + (to - from) * f64::from(step) / f64::from(steps - 1);
                    constant(rate, length_s / f64::from(steps))
                })),
            }
            return Ok(());
        }
        self.word("for")?;
        let length_s = self.time_s()?;
        if !self.is_next("spike") {
            self.end()?;
            pieces.push(constant(from, length_s));
            return Ok(());
        }
        let spike = self.rate()?;
        self.word("for")?;
        let spike_s = self.time_s()?;
        self.word("every")?;
        let every_s = self.time_s()?;
        self.end()?;
        if every_s <= spike_s || length_s < every_s {
            return Err(self.wrong(
                "a spike takes less time than there is from one to the next, and that less than the phase",
            ));
        }
        let spikes = (length_s / every_s + 1e-9).floor() as usize;
        if spikes > PIECES_MAX {
            return Err(self.wrong("it has more than 100000 spikes"));
        }
        for _ in 0..spikes {
            pieces.extend([constant(from, every_s - spike_s), constant(spike, spike_s)]);
        }
        let cool_down_s = length_s - spikes as f64 * every_s;
        if cool_down_s > 1e-9 {
            pieces.push(constant(from, cool_down_s));
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> String {
        format!("phase {:?}: {what}", self.phase)
    }

    fn next(&mut self) -> Option<&str> {
        let word = self.words.get(self.at).copied();
        self.at += usize::from(word.is_some());
        word
    }

    fn is_next(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, wanted: &str) -> Result<(), String> {
        match self.next().map(str::to_owned) {
            Some(word) if word == wanted => Ok(()),
            Some(word) => {
                Err(self.wrong(&format!("{word:?} in place of `{wanted}`{}; {FORMS}", near(&word))))
            }
            None => Err(self.wrong(&format!("`{wanted}` is missing; {FORMS}"))),
        }
    }

    fn end(&mut self) -> Result<(), String> {
        match self.next().map(str::to_owned) {
            None => Ok(()),
            Some(word) => Err(self.wrong(&format!("{word:?} is too much{}; {FORMS}", near(&word)))),
        }
    }

    fn rate(&mut self) -> Result<f64, String> {
        let word = self.next().unwrap_or_default().to_owned();
        let rate = word.strip_suffix("/s").unwrap_or(&word).parse::<f64>().ok();
        let rate = rate.filter(|rate| (0.0..=RATE_PER_S_MAX).contains(rate));
        rate.ok_or_else(|| {
            self.wrong(&format!("{word:?} is not a rate from 0 to {RATE_PER_S_MAX} per second; {FORMS}"))
        })
    }

    fn time_s(&mut self) -> Result<f64, String> {
        let word = self.next().unwrap_or_default().to_owned();
        let time = duration::parse_positive(&word).map_err(|what| self.wrong(&what))?;
        Ok(time.as_secs_f64())
    }

    fn steps(&mut self) -> Result<u32, String> {
        let word = self.next().unwrap_or_default().to_owned();
        let steps = word.parse::<u32>().ok().filter(|steps| (2..=10_000).contains(steps));
        let steps =
            steps.ok_or_else(|| self.wrong(&format!("{word:?} is not a number of steps from 2 to 10000")))?;
        self.word("steps").map(|()| steps)
    }
}

fn near(word: &str) -> String {
    hint(word, WORDS)
}

fn constant(rate: f64, length_s: f64) -> Piece {
    Piece { length_s, from_per_s: rate, to_per_s: rate }
}
