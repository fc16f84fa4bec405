//! Run events shown to a person: a bar on a terminal, plain lines elsewhere.

mod curve;
mod search;

use super::figures::{Figures, Rate, sessions_line};
use super::spinner;
use crate::output::for_people;
use assay_model::{Outlook, Plan, RunEvent, RunEventKind};
use assay_text::duration::about;
use assay_text::percent;
use curve::Curve;
use indicatif::ProgressBar;
use search::Search;
use std::cell::RefCell;
use std::time::Duration;

/// A listener to run events, until it is dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Why the launch before failed: one that fails alike need not say it again.
    failure: RefCell<String>,
    tally: RefCell<Tally>,
    below: RefCell<Below>,
    search: Option<RefCell<Search>>,
    /// What the limits of a search hold for: `p99`.
    percentile: String,
}

impl Progress {
    /// A bar if standard error is a terminal, plain lines if not.
    pub fn new(plan: &Plan) -> Self {
        let bar = spinner("{spinner} {bar:20} {pos} of {len}  {msg}  {elapsed_precise}{prefix}");
        Progress::shown_by(bar, plan, None)
    }

    /// Of a search alone: how many windows it takes nobody knows before, but how long it may take.
    pub fn of_search(plan: &Plan) -> Self {
        let bar = spinner("{spinner} {bar:20} {msg}  {elapsed_precise}{prefix}");
        Progress::shown_by(bar, plan, Some(RefCell::new(Search::within(plan.window_s))))
    }

    fn shown_by(bar: ProgressBar, plan: &Plan, search: Option<RefCell<Search>>) -> Self {
        let capacity = plan.procedure.capacity();
        let percentile = capacity.map_or_else(String::new, |capacity| format!("p{}", capacity.percentile));
        let (failure, tally, below) = Default::default();
        Progress { bar, failure, tally, below, search, percentile }
    }

    /// Shows an event.
    pub fn show(&self, event: &RunEvent) {
        let Progress { bar, failure, tally, below, search, percentile } = self;
        let line = match &event.kind {
            RunEventKind::TrialEnded { number, variant, ok: false, detail }
                if failure.replace(detail.clone()) == *detail =>
            {
                Some(format!("trial {number}: {variant} failed in the same way"))
            }
            kind => line_of(kind, percentile),
        };
        if bar.is_hidden() {
            if let Some(line) = line {
                say!("[{}] {line}{}", clock(event.elapsed_s), remaining(event));
            }
            return;
        }
        let mut tally = tally.borrow_mut();
        tally.add(&event.kind);
        let (length, position) = match search {
            Some(search) => search.borrow_mut().after(event),
            None => (tally.planned, tally.done),
        };
        bar.set_length(length);
        bar.set_position(position.min(length));
        let mut below = below.borrow_mut();
        below.add(&event.kind);
        bar.set_prefix(format!(
            "{}{}{}{}",
            remaining(event),
            below.live,
            tally.left_out(),
            below.curve.lines(percentile)
        ));
        match (&event.kind, line) {
            (kind, Some(line)) if is_lasting(kind) => bar.println(for_people(&line)),
            // The line below counts it.
            (RunEventKind::WindowEnded { disturbed, .. }, _) if !disturbed.is_empty() => {}
            (_, Some(line)) => bar.set_message(line),
            (RunEventKind::WarmUpProgress { elapsed_s, cpu_ms_per_request: Some(cpu), .. }, None) => {
                bar.set_message(format!("warming up, {elapsed_s:.0} s, {cpu:.3} ms CPU per request"));
            }
            (RunEventKind::LoadProgress { offered_rate_per_s: Some(rate), .. }, _) if !tally.has_windows => {
                let before = search.as_ref().map_or_else(String::new, |search| search.borrow().line());
                bar.set_message(format!("{before}measuring at {rate:.1}/s"));
            }
            _ => {}
        }
    }
}

/// The line below the bar, while it is true.
#[derive(Debug, Default)]
struct Below {
    rate: Rate,
    /// The load that goes on.
    live: String,
    curve: Curve,
}

impl Below {
    fn add(&mut self, kind: &RunEventKind) {
        self.curve.add(kind);
        match *kind {
            RunEventKind::LoadProgress {
                load_s,
                planned_s,
                offered_rate_per_s,
                completed,
                errors,
                in_flight,
                p50_ms,
                p99_ms,
                ..
            } => {
                let figures = Figures {
                    elapsed: Duration::from_secs_f64(load_s),
                    completed,
                    errors,
                    in_flight,
                    response_ms: p50_ms.zip(p99_ms),
                };
                let asked =
                    offered_rate_per_s.map_or_else(String::new, |rate| format!("{rate:.1}/s asked, "));
                let line =
                    format!("\n  {load_s:.0} of {planned_s:.0} s: {asked}{}", self.rate.line(&figures));
                self.live = for_people(&line);
            }
            RunEventKind::WindowEnded { .. }
            | RunEventKind::CapacityWindowEnded { .. }
            | RunEventKind::TrialEnded { .. } => self.live.clear(),
            _ => {}
        }
    }
}

/// How far a run is, by its events.
#[derive(Debug, Default)]
struct Tally {
    /// Windows that are planned; of a search for capacity, or a benchmark program, its launches.
    planned: u64,
    /// Of them in each launch.
    of_each: u64,
    /// Of all: done, and not left out.
    done: u64,
    /// Windows left out, and why the last one was.
    disturbed: u64,
    why: String,
    /// Whether the launch that is under way has windows of its own.
    has_windows: bool,
}

impl Tally {
    fn add(&mut self, kind: &RunEventKind) {
        match kind {
            RunEventKind::RunStarted { windows, trials } => {
                self.planned = u64::from(*windows);
                self.of_each = self.planned / u64::from(*trials).max(1);
            }
            RunEventKind::RunResumed { trials_done } => self.done = u64::from(*trials_done) * self.of_each,
            RunEventKind::TrialStarted { .. } => self.has_windows = false,
            RunEventKind::WindowStarted { .. } => self.has_windows = true,
            RunEventKind::WindowEnded { disturbed, .. } => {
                self.has_windows = true;
                self.take(disturbed, 1);
            }
            RunEventKind::CapacityWindowEnded { left_out, .. } => self.take(left_out, 0),
            RunEventKind::TrialEnded { ok: true, .. } if !self.has_windows => self.done += 1,
            _ => {}
        }
    }

    fn take(&mut self, disturbed: &[String], done: u64) {
        if disturbed.is_empty() {
            self.done += done;
        } else {
            self.disturbed += 1;
            self.why = disturbed.join("; ");
        }
    }

    /// A line below the bar, once there is something to say.
    fn left_out(&self) -> String {
        let line = match self.disturbed {
            0 => String::new(),
            1 => format!("\n  1 window disturbed and left out: {}", self.why),
            several => format!("\n  {several} windows disturbed and left out, the last: {}", self.why),
        };
        for_people(&line)
    }
}

/// Whether an event stays on the screen when the next one comes.
fn is_lasting(kind: &RunEventKind) -> bool {
    use RunEventKind::*;
    match kind {
        RunStarted { .. }
        | RunResumed { .. }
        | VariantSkipped { .. }
        | ObserverExcluded { .. }
        | BuildEnded { .. }
        | Outlook(_) => true,
        TrialEnded { ok, .. } => !ok,
        FaultEnded { failed, .. } => *failed,
        _ => false,
    }
}

/// One line for an event; none for those that only move a bar.
fn line_of(kind: &RunEventKind, percentile: &str) -> Option<String> {
    use RunEventKind::*;
    Some(match kind {
        RunStarted { trials, windows } => format!("{trials} trials, {windows} measured windows"),
        RunResumed { trials_done } => format!("resumed: {trials_done} trials are done"),
        VariantSkipped { variant, reason } => format!("skipped {variant}: {reason}"),
        BuildStarted { build, .. } => format!("building {build}"),
        BuildEnded { build, ok: true, detail } => format!("{build}: {detail}"),
        BuildEnded { build, detail, .. } => format!("left out {build}: {detail}"),
        TrialStarted { number, variant, attempt, .. } => {
            let again = if *attempt > 1 { format!(" (try {attempt})") } else { String::new() };
            format!("trial {number}: {variant}{again}")
        }
        ServerReady { number, after_ms } => {
            format!("trial {number}: ready after {:.1} s", after_ms / 1000.0)
        }
        ObserverExcluded { number, observer, reason } => {
            format!("trial {number}: cannot observe {observer}: {reason}")
        }
        WarmUpProgress { .. } | LoadProgress { .. } => return None,
        SessionsProgress { begun, users, left_s, .. } => sessions_line(*begun, *users, *left_s),
        WarmUpEnded { number, steady, duration_s } => {
            let how = if *steady { "steady" } else { "not yet steady, cap reached" };
            format!("trial {number}: warm after {duration_s:.0} s ({how})")
        }
        CapacityWindowEnded {
            step,
            offered_rate_per_s,
            achieved_rate_per_s,
            limited_ms,
            is_sustained,
            left_out,
            ..
        } => {
            let limited = limited_ms.map_or_else(String::new, |ms| format!(", {percentile} {ms:.1} ms"));
            let kept_up = if *is_sustained { "" } else { ", did not keep up" };
            let why = match left_out.as_slice() {
                [] => String::new(),
                why => format!("; left out: {}", why.join("; ")),
            };
            format!(
                "{step} {offered_rate_per_s:.1}/s: {achieved_rate_per_s:.1}/s answered{limited}{kept_up}{why}"
            )
        }
        WindowStarted { variant, block, .. } => format!("block {block}: measuring {variant}"),
        WindowEnded { variant, block, requests, disturbed, .. } if disturbed.is_empty() => {
            format!("block {block}: {variant}, {requests} requests")
        }
        WindowEnded { variant, block, disturbed, .. } => {
            format!("block {block}: {variant} disturbed, left out: {}", disturbed.join("; "))
        }
        FaultBegan { number, detail } | FaultEnded { number, detail, .. } => {
            format!("trial {number}: fault: {detail}")
        }
        TrialEnded { number, variant, ok: true, detail } => {
            format!("trial {number}: {variant} done, {detail}")
        }
        TrialEnded { number, variant, detail, .. } => format!("trial {number}: {variant} failed: {detail}"),
        Outlook(outlook) => outlook_line(outlook),
        RunEnded { ok: true, detail } => detail.clone(),
        // The command says why at its end, and how to go on: not every command has --resume.
        RunEnded { .. } => return None,
    })
}

/// What so many blocks of a run with a budget show.
pub fn outlook_line(outlook: &Outlook) -> String {
    let Outlook { metric, variant, baseline, blocks, difference_ratio } = outlook;
    let difference = percent::share(difference_ratio - 1.0);
    format!(
        "{metric} of {variant} against {baseline}: differences of {difference} and more in 4 of 5 runs, with {blocks} blocks"
    )
}

fn remaining(event: &RunEvent) -> String {
    event.remaining_s.map_or_else(String::new, |s| format!("  about {} left", about(s)))
}

/// Since a start: `2:05`, `14:00:29`.
fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (whole / 3_600, whole % 3_600 / 60, whole % 60);
    if hours == 0 { format!("{minutes}:{seconds:02}") } else { format!("{hours}:{minutes:02}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(disturbed: &[&str]) -> RunEventKind {
        RunEventKind::WindowEnded {
            number: 3,
            variant: "64-bit/1g".into(),
            block: 2,
            requests: 10,
            disturbed: disturbed.iter().map(|why| (*why).to_owned()).collect(),
        }
    }

    #[test]
    fn a_disturbed_window_says_why() {
        let line = line_of(&window(&["steal 5 % of the machine, limit 3 %"]), "").expect("a line");
        assert_eq!(line, "block 2: 64-bit/1g disturbed, left out: steal 5 % of the machine, limit 3 %");
    }

    #[test]
    fn windows_that_count_move_the_bar_and_disturbed_ones_are_counted_on_one_line() {
        let mut tally = Tally::default();
        let mut after = |kind: RunEventKind| {
            tally.add(&kind);
            (tally.done, tally.planned, tally.left_out())
        };
        assert_eq!(after(RunEventKind::RunStarted { trials: 4, windows: 4 }), (0, 4, String::new()));
        assert_eq!(after(window(&[])), (1, 4, String::new()));
        let once = "\n  1 window disturbed and left out: steal";
        assert_eq!(after(window(&["steal"])), (1, 4, once.to_owned()));
        let twice = "\n  2 windows disturbed and left out, the last: swap; load";
        assert_eq!(after(window(&["swap", "load"])), (1, 4, twice.to_owned()));
        let ended = |ok| RunEventKind::TrialEnded { number: 3, variant: "a".into(), ok, detail: "d".into() };
        assert_eq!(after(ended(true)).0, 1, "its window was counted");
        assert_eq!(after(RunEventKind::RunResumed { trials_done: 2 }).0, 2);
    }

    #[test]
    fn a_launch_without_windows_of_its_own_is_what_moves_the_bar() {
        let mut tally = Tally::default();
        let started = || RunEventKind::TrialStarted { number: 1, variant: "a".into(), block: 1, attempt: 1 };
        let ended = |ok| RunEventKind::TrialEnded { number: 1, variant: "a".into(), ok, detail: "d".into() };
        for kind in [
            RunEventKind::RunStarted { trials: 2, windows: 2 },
            started(),
            ended(false),
            started(),
            ended(true),
        ] {
            tally.add(&kind);
        }
        assert_eq!((tally.done, tally.planned), (1, 2));
    }

    #[test]
    fn a_load_that_goes_on_stands_below_the_bar_until_its_window_is_over() {
        let mut below = Below::default();
        below.add(&RunEventKind::LoadProgress {
            number: 3,
            load_s: 2.0,
            planned_s: 10.4,
            offered_rate_per_s: Some(50.0),
            completed: 99,
            errors: 1,
            in_flight: 2,
            p50_ms: Some(1.5),
            p99_ms: Some(20.0),
        });
        let line = "\n  2 of 10 s: 50.0/s asked, 49.5 answered/s, p50 1.50 ms and p99 20.00 ms so far, 1 failed, 2 in flight";
        assert_eq!(below.live, line);
        below.add(&window(&[]));
        assert_eq!(below.live, "");
    }

    #[test]
    fn users_who_begin_their_sessions_are_a_line_of_their_own() {
        let kind = RunEventKind::SessionsProgress { number: 1, begun: 20, users: 300, left_s: 3.0 };
        let line = line_of(&kind, "").expect("a line");
        assert!(line.starts_with("20 of 300 users have begun their sessions, about "), "{line}");
        assert!(!is_lasting(&kind), "the next one takes its place");
    }

    #[test]
    fn times_are_those_of_a_clock() {
        assert_eq!([0.4, 125.0, 3_599.0, 50_429.0].map(clock), ["0:00", "2:05", "59:59", "14:00:29"]);
    }

    #[test]
    fn a_window_of_a_search_has_the_percentile_that_the_limits_hold_for() {
        let ended = RunEventKind::CapacityWindowEnded {
            number: 1,
            step: assay_model::CapacityStep::Bracket,
            offered_rate_per_s: 50.0,
            achieved_rate_per_s: 49.9,
            limited_ms: Some(12.0),
            is_sustained: true,
            left_out: Vec::new(),
        };
        let line = line_of(&ended, "p99.9").expect("a line");
        assert!(line.ends_with("50.0/s: 49.9/s answered, p99.9 12.0 ms"), "{line}");
    }
}
