//! `assay time`: what a process's CPU time is used for.

mod diff;
mod recording;

use crate::arguments::{Format, TimeAccountArguments, TimeArguments, TimeCommand};
use crate::command::process::identity_of;
use crate::command::process::pid_of;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output;
use crate::output_file::{can_be_written, write_result};
use crate::progress::Measuring;
use crate::screen::{self, Screen};
use crate::stop;
use assay_counters::{SideGauges, Sides, TimeGauge};
use assay_model::TimeReport;
use recording::{DURATION_DEFAULT, Recording};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Between two readings of the threads: one that ends is counted up to its last reading.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Readings take at most this part of the time.
const LOOK_PART: u32 = 50;
/// How long a stop request may go unnoticed.
const NAP: Duration = Duration::from_millis(50);

/// Compares two accounts, or takes one.
pub fn time(arguments: &TimeArguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(TimeCommand::Diff(diff)) => diff::diff(diff),
        None => account(&arguments.account),
    }
}

/// Reads the process for the time asked for, and shows what it used.
fn account(arguments: &TimeAccountArguments) -> Result<ExitCode, Failure> {
    for file in [&arguments.html, &arguments.collapsed, &arguments.speedscope].into_iter().flatten() {
        can_be_written(file)?;
    }
    if arguments.watch.is_some() {
        arguments.format.is_json("--watch")?;
    }
    let pid = arguments.pid.as_ref().map(pid_of).transpose()?;
    let pid =
        pid.ok_or_else(|| Failure::input("which process? assay memory lists the JVMs that run here"))?;
    identity_of(pid)?;
    let stop = stop::flag_on_signal_with(screen::leave)?;
    let mut watching = Watching::start(pid, &stop, arguments)?;
    match arguments.watch {
        Some(interval) => watching.watch(interval),
        None => watching.once(),
    }
}

/// What a process uses CPU time for, over a short time.
pub fn look(pid: u32, duration: Duration) -> Result<TimeReport, Failure> {
    let arguments = TimeAccountArguments { duration: Some(duration), ..TimeAccountArguments::default() };
    let stop = stop::flag_on_signal()?;
    let mut watching = Watching::start(pid, &stop, &arguments)?;
    Ok(watching.account()?.0)
}

/// Writes stacks for another tool, if they were asked for.
fn write_stacks(file: Option<&Path>, stacks: Option<String>) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let stacks = stacks.ok_or_else(|| {
        let path = file.display();
        Failure::environment(format!("not written: {path}: no stacks were sampled\n  --jfr records Java methods without samples of the processors"))
    })?;
    write_result(file, |out| out.write_all(stacks.as_bytes()))
}

struct Watching<'a> {
    pid: u32,
    gauge: TimeGauge,
    recording: Recording,
    sides: SideGauges,
    stop: &'a AtomicBool,
    arguments: &'a TimeAccountArguments,
}

/// Why looking came to an end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Time,
    Stopped,
    ProcessEnded,
}

impl<'a> Watching<'a> {
    fn start(pid: u32, stop: &'a AtomicBool, arguments: &'a TimeAccountArguments) -> Result<Self, Failure> {
        let mut recording = Recording::read(arguments)?;
        let mut gauge = TimeGauge::start(pid)?;
        if arguments.jfr == Some(None) {
            // Starting the recorder takes the JVM a second or more, which is not of the time that is looked at.
            recording = Recording::start(&gauge, pid, arguments);
            gauge.read()?;
            gauge.restart();
        }
        if !arguments.no_samples {
            gauge.start_sampling()?;
        }
        if !arguments.no_bpf {
            gauge.start_tracing()?;
        }
        let asked = Sides {
            samples: !arguments.no_samples && arguments.watch.is_none(),
            counters: arguments.counters,
        };
        let sides = SideGauges::start(pid, asked);
        Ok(Watching { pid, gauge, recording, sides, stop, arguments })
    }

    fn once(&mut self) -> Result<ExitCode, Failure> {
        let (report, end) = self.account()?;
        match end {
            End::Time => {}
            End::Stopped => say!("stopped after {:.1} s", seconds(&report)),
            End::ProcessEnded => say!("the process ended; it was measured for {:.1} s", seconds(&report)),
        }
        show_as_asked(&report, &self.arguments.format, self.arguments.html.as_deref())?;
        write_stacks(self.arguments.collapsed.as_deref(), assay_report::time::collapsed(&report))?;
        write_stacks(self.arguments.speedscope.as_deref(), assay_report::time::speedscope(&report))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Measures until the time is over, and why it was.
    fn account(&mut self) -> Result<(TimeReport, End), Failure> {
        let length = self.arguments.duration.unwrap_or(DURATION_DEFAULT);
        let measuring = Measuring::new(format!("measuring process {}", self.pid), length);
        let end = self.look_until(Instant::now() + length, Some(&measuring))?;
        drop(measuring);
        self.recording = std::mem::replace(&mut self.recording, Recording::None).ended();
        if self.arguments.jcmd && end != End::ProcessEnded {
            self.gauge.ask_for_methods();
        }
        let mut report = self.report();
        self.recording.add_to(&mut report);
        self.sides.add_to(&mut report);
        Ok((report, end))
    }

    fn watch(&mut self, interval: Duration) -> Result<ExitCode, Failure> {
        let is_on_screen = !self.is_json() && screen::is_possible();
        let screen = is_on_screen.then(Screen::enter).transpose()?;
        let until = self.arguments.duration.map(|duration| Instant::now() + duration);
        let mut last = Vec::new();
        let mut next = Instant::now();
        let end = loop {
            next += interval;
            let end = self.look_until(until.map_or(next, |until| until.min(next)), None)?;
            let is_over = until.is_some_and(|until| until <= Instant::now());
            let report = self.report();
            // The end may come before there is anything to tell.
            if report.duration_ns != 0 {
                last = self.show(&report, screen.as_ref())?;
            }
            self.gauge.restart();
            if end != End::Time || is_over {
                break end;
            }
        };
        if let Some(screen) = screen {
            drop(screen);
            output::print(|out| last.iter().try_for_each(|line| writeln!(out, "{line}")))?;
        }
        say!("{}", if end == End::ProcessEnded { "the process has ended" } else { "stopped" });
        Ok(ExitCode::SUCCESS)
    }

    /// Shows one interval, and gives the lines that it has on a screen.
    fn show(&self, report: &TimeReport, screen: Option<&Screen>) -> Result<Vec<String>, Failure> {
        if self.is_json() {
            let line = serde_json::to_string(report).map_err(|e| Failure::internal(e.to_string()))?;
            output::print(|out| writeln!(out, "{line}"))?;
        } else if let Some(screen) = screen {
            let text = assay_report::time::document(report)
                .terminal(output::view(self.arguments.format.extent.extent()));
            let lines: Vec<String> =
                text.lines().take(usize::from(output::rows())).map(str::to_owned).collect();
            screen.draw(&lines)?;
            return Ok(lines);
        } else {
            let line = assay_report::time::line(report);
            output::print(|out| writeln!(out, "{line}"))?;
        }
        Ok(Vec::new())
    }

    fn is_json(&self) -> bool {
        self.arguments.format.form() == Format::Json
    }

    fn report(&self) -> TimeReport {
        let of_rate = |report: &TimeReport| Some(self.arguments.requests_per_second? * seconds(report));
        let report = self.gauge.report(self.arguments.requests);
        TimeReport { requests: report.requests.or_else(|| of_rate(&report)), ..report }
    }

    /// Reads every now and then, and at the end.
    fn look_until(&mut self, until: Instant, measuring: Option<&Measuring>) -> Result<End, Failure> {
        loop {
            let cost = Duration::from_nanos(self.gauge.reading_cpu_ns());
            let next = (Instant::now() + LOOK_EVERY.max(cost * LOOK_PART)).min(until);
            while Instant::now() < next && !self.stop.load(Ordering::SeqCst) {
                std::thread::sleep(NAP.min(next.saturating_duration_since(Instant::now())));
                self.gauge.keep_up();
                if let Some(measuring) = measuring {
                    measuring.show();
                }
            }
            self.sides.read();
            if !self.gauge.read()? {
                return Ok(End::ProcessEnded);
            }
            if self.stop.load(Ordering::SeqCst) {
                return Ok(End::Stopped);
            }
            if until <= Instant::now() {
                return Ok(End::Time);
            }
        }
    }
}

fn seconds(report: &TimeReport) -> f64 {
    report.duration_ns as f64 / 1e9
}
