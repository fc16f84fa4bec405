//! Logs of any length: a recorded one again and again, its clock and GC ids going on.

use std::fmt::Write;

/// A recorded log with the JVM's default decorators, cut into what comes once and what comes again.
pub struct Made {
    head: String,
    /// Of each line: its uptime in milliseconds if it has one, what stands before the GC id, the id, and the rest.
    lines: Vec<(Option<u64>, String, Option<u64>, String)>,
    period_ms: u64,
    ids: u64,
    turn: u64,
}

impl Made {
    /// `template` is the text of a log.
    pub fn new(template: &str) -> Made {
        let all: Vec<&str> = template.lines().collect();
        let has_id = |line: &&str| line.contains("] GC(");
        let first = all.iter().position(has_id).expect("a collection");
        let last = all.iter().rposition(has_id).expect("a collection");
        let lines: Vec<_> = all[first..=last].iter().map(|line| split(line)).collect();
        let times = || lines.iter().filter_map(|line| line.0);
        Made {
            head: all[..first].iter().map(|line| format!("{line}\n")).collect(),
            period_ms: times().max().unwrap_or(0) - times().min().unwrap_or(0) + 100,
            ids: lines.iter().filter_map(|line| line.2).max().unwrap_or(0) + 1,
            lines,
            turn: 0,
        }
    }

    /// The next part: the whole log once more.
    pub fn next_part(&mut self) -> String {
        let mut text = if self.turn == 0 { self.head.clone() } else { String::new() };
        for (uptime_ms, before, id, rest) in &self.lines {
            if let Some(ms) = uptime_ms {
                let ms = ms + self.turn * self.period_ms;
                write!(text, "[{}.{:03}s]", ms / 1_000, ms % 1_000).expect("a string takes it");
            }
            text.push_str(before);
            if let Some(id) = id {
                write!(text, "GC({})", id + self.turn * self.ids).expect("a string takes it");
            }
            text.push_str(rest);
            text.push('\n');
        }
        self.turn += 1;
        text
    }
}

fn split(line: &str) -> (Option<u64>, String, Option<u64>, String) {
    let uptime = line.strip_prefix('[').and_then(|rest| rest.split_once("s]"));
    let uptime = uptime.and_then(|(digits, rest)| Some((digits.replace('.', "").parse::<u64>().ok()?, rest)));
    let (uptime_ms, rest) = uptime.map_or((None, line), |(ms, rest)| (Some(ms), rest));
    let id = rest.split_once("GC(").and_then(|(before, after)| {
        let (id, after) = after.split_once(')')?;
        Some((before.to_owned(), id.parse::<u64>().ok()?, after.to_owned()))
    });
    match id {
        Some((before, id, after)) => (uptime_ms, before, Some(id), after),
        None => (uptime_ms, rest.to_owned(), None, String::new()),
    }
}
