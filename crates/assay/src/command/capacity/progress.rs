//! The way to a capacity, shown to a person on standard error: a line on a terminal that changes, plain lines elsewhere.

use assay_measure::MeasureEvent;
use assay_model::Window;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often warm-up says how far it is where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    told: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {elapsed_precise}  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Progress { bar, begun: Instant::now(), told: Instant::now() }
    }

    pub fn show(&mut self, event: &MeasureEvent) {
        match event {
            MeasureEvent::WarmUp { throughput_per_s, .. } => {
                let text = format!("warming up: {throughput_per_s:.0}/s answered");
                if PLAIN_EVERY <= self.told.elapsed() {
                    self.told = Instant::now();
                    self.say(&text);
                } else {
                    self.hint(text);
                }
            }
            MeasureEvent::WarmedUp { is_steady, duration_s } => {
                let how = if *is_steady { "steady" } else { "not yet steady, the time for it is over" };
                self.say(&format!("warm after {duration_s:.0} s ({how})"));
            }
            MeasureEvent::WindowStarted(ask) => {
                let (rate, settle_s, window_s) = (ask.rate_per_s, ask.rest_s + ask.settle_s, ask.window_s);
                self.hint(format!("loading at {rate:.0}/s for {settle_s:.0} + {window_s:.0} s"));
            }
            MeasureEvent::Loading(_) => {}
            MeasureEvent::WindowEnded { window, .. } => self.say(&line_of(window)),
            MeasureEvent::Auditing => self.say("asking for the audit"),
        }
    }

    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    /// What stays.
    fn say(&self, text: &str) {
        let seconds = self.begun.elapsed().as_secs();
        let line = format!("[{}:{:02}] {text}", seconds / 60, seconds % 60);
        match &self.bar {
            Some(bar) => bar.println(line),
            None => eprintln!("{line}"),
        }
    }

    /// What the next thing replaces; it is not shown where there is no terminal.
    fn hint(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }
}

fn line_of(window: &Window) -> String {
    let Some(step) = &window.search else { return String::new() };
    let limited = step.limited_ms.map_or_else(String::new, |ms| format!(", limited percentile {ms:.1} ms"));
    let (asked, reached) = (step.asked_rate_per_s, window.reached_rate_per_s());
    let kept_up = if step.is_sustained { "" } else { ", did not keep up" };
    let left_out = match window.left_out().as_slice() {
        [] => String::new(),
        why => format!("; left out: {}", why.join("; ")),
    };
    format!("{} {asked:.1}/s: {reached:.1}/s answered{limited}{kept_up}{left_out}", step.step)
}
