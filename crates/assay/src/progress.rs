//! Run events shown to a person: a bar on a terminal, plain lines elsewhere. Everything goes to standard error.

use assay_model::{RunEvent, RunEventKind};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A listener to run events.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar if standard error is a terminal, plain lines if not.
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed_precise}{prefix}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Progress { bar }
    }

    /// Shows an event.
    pub fn show(&mut self, event: &RunEvent) {
        let Some(bar) = &self.bar else {
            if let Some(line) = line_of(&event.kind) {
                eprintln!("[{}] {line}{}", minutes(event.elapsed_s), remaining(event));
            }
            return;
        };
        bar.set_prefix(remaining(event));
        match (&event.kind, line_of(&event.kind)) {
            (kind, Some(line)) if is_lasting(kind) => bar.println(line),
            (_, Some(line)) => bar.set_message(line),
            (RunEventKind::WarmUpProgress { elapsed_s, cpu_ms_per_request: Some(cpu), .. }, None) => {
                bar.set_message(format!("warming up, {elapsed_s:.0} s, {cpu:.3} ms CPU per request"));
            }
            _ => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Whether an event stays on the screen when the next one comes.
fn is_lasting(kind: &RunEventKind) -> bool {
    use RunEventKind::*;
    match kind {
        RunStarted { .. } | RunResumed { .. } | VariantSkipped { .. } | ObserverExcluded { .. } => true,
        TrialEnded { ok, .. } => !ok,
        WindowEnded { disturbed, .. } => !disturbed.is_empty(),
        _ => false,
    }
}

/// One line for an event; none for those that only move a bar.
fn line_of(kind: &RunEventKind) -> Option<String> {
    use RunEventKind::*;
    Some(match kind {
        RunStarted { trials, windows } => format!("{trials} launches, {windows} measured windows"),
        RunResumed { trials_done } => format!("resumed: {trials_done} launches are done"),
        VariantSkipped { variant, reason } => format!("skipped {variant}: {reason}"),
        TrialStarted { number, variant, attempt, .. } => {
            let again = if *attempt > 1 { format!(" (try {attempt})") } else { String::new() };
            format!("launch {number}: {variant}{again}")
        }
        ServerReady { number, after_ms } => {
            format!("launch {number}: ready after {:.1} s", after_ms / 1000.0)
        }
        ObserverExcluded { number, observer, reason } => {
            format!("launch {number}: cannot observe {observer}: {reason}")
        }
        WarmUpProgress { .. } => return None,
        WarmUpEnded { number, steady, duration_s } => {
            let how = if *steady { "steady" } else { "not yet steady, cap reached" };
            format!("launch {number}: warm after {duration_s:.0} s ({how})")
        }
        WindowStarted { variant, block, .. } => format!("block {block}: measuring {variant}"),
        WindowEnded { variant, block, requests, disturbed, .. } if disturbed.is_empty() => {
            format!("block {block}: {variant}, {requests} requests")
        }
        WindowEnded { variant, block, disturbed, .. } => {
            format!("block {block}: {variant} disturbed, left out: {}", disturbed.join("; "))
        }
        TrialEnded { number, variant, ok: true, .. } => format!("launch {number}: {variant} done"),
        TrialEnded { number, variant, detail, .. } => format!("launch {number}: {variant} failed: {detail}"),
        RunEnded { detail, .. } => detail.clone(),
    })
}

fn remaining(event: &RunEvent) -> String {
    event.remaining_s.map_or_else(String::new, |s| format!("  about {} left", minutes(s)))
}

fn minutes(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    format!("{}:{:02}", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disturbed_window_says_why_and_stays_on_the_screen() {
        let kind = RunEventKind::WindowEnded {
            number: 3,
            variant: "64-bit/1g".into(),
            block: 2,
            requests: 10,
            disturbed: vec!["steal 5 % of the machine, limit 3 %".into()],
        };
        assert!(is_lasting(&kind));
        let line = line_of(&kind).expect("a line");
        assert_eq!(line, "block 2: 64-bit/1g disturbed, left out: steal 5 % of the machine, limit 3 %");
    }

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(minutes(0.4), "0:00");
        assert_eq!(minutes(125.0), "2:05");
    }
}
