//! `assay gc LOG --follow`: a log that is still written, on a screen, as lines, as metrics.

use super::metrics_server::MetricsServer;
use super::named::{followed, is_log, options};
use super::shown::{form, show};
use crate::arguments::{Format, GcReadArguments};
use crate::command::gate;
use crate::failure::Failure;
use crate::output_file::write_file;
use crate::screen::{self, Screen};
use crate::{output, stop};
use assay_gclog::input::{Follower, STANDARD_INPUT};
use assay_gcstudy::{Analysis, EventsTee};
use assay_model::{GateCase, GcReport};
use assay_report::Extent;
use assay_report::gc::{self as report_gc, line, openmetrics};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a stop request or new bytes may go unnoticed.
const NAP: Duration = Duration::from_millis(100);
/// A collection is written at once: one that is still open after so long without a byte is reported as far as it is known.
const QUIET: Duration = Duration::from_secs(1);

/// Follows until Ctrl-C or until `--for` is over, then prints the last report.
pub fn follow(arguments: &GcReadArguments) -> Result<ExitCode, Failure> {
    let [path] = arguments.logs.as_slice() else {
        return Err(Failure::input("--follow takes one log: the file that is being written"));
    };
    if path.as_os_str() == STANDARD_INPUT {
        return Err(Failure::input("--follow takes a file; a pipe is read until its end without it"));
    }
    let path = &followed(path)?;
    let stop = stop::flag_on_signal_with(screen::leave)?;
    let server = arguments.openmetrics.map(MetricsServer::start).transpose()?;
    let mut analysis = Analysis::new(options(arguments));
    let mut run = |events: Option<&mut dyn Write>| -> Result<GcReport, Failure> {
        let mut tee = EventsTee::new(&mut analysis, events);
        let mut follower = Follower::open(path, &mut tee)?;
        let watched = watch(arguments, path, (&mut follower, &mut tee), server.as_ref(), &stop);
        follower.finish(&mut tee);
        let report = tee.sink().report();
        tee.finish()?;
        watched.map(|()| report)
    };
    let mut ended = None;
    match &arguments.events {
        None => ended = Some(run(None)),
        Some(events) => write_file(events, |out| {
            ended = Some(run(Some(out)));
            Ok(())
        })?,
    }
    let report = ended.unwrap_or_else(|| Err(Failure::internal("nothing was followed")))?;
    let name = path.display().to_string();
    is_log(&report, &name)?;
    show(&report, &name, arguments)?;
    let cases: Vec<GateCase> = arguments.fail_if.iter().map(|one| one.judge(&name, &report)).collect();
    gate::tell(&cases);
    let markdown = || assay_report::gc::document(&report, &name).markdown();
    gate::write_cases(&arguments.gate_files, (&name, None), &cases, &markdown)?;
    Ok(gate::exit_code(true, &cases))
}

/// Reads and shows until something ends it.
fn watch(
    arguments: &GcReadArguments,
    path: &Path,
    (follower, tee): (&mut Follower, &mut EventsTee<'_, '_, Analysis>),
    server: Option<&MetricsServer>,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let shows = form(arguments) == Format::Table;
    let screen = (shows && screen::is_possible()).then(Screen::enter).transpose()?;
    let started = Instant::now();
    let mut shown: Option<Instant> = None;
    let (mut quiet_since, mut is_flushed, mut is_new) = (started, true, true);
    loop {
        let polled =
            follower.poll(tee).map_err(|e| Failure::environment(format!("{}: {e}", path.display())))?;
        if polled.bytes > 0 || polled.is_new_file {
            (quiet_since, is_flushed, is_new) = (Instant::now(), false, true);
        } else if !is_flushed && QUIET <= quiet_since.elapsed() {
            follower.flush(tee);
            (is_flushed, is_new) = (true, true);
        }
        let ends = stop.load(Ordering::SeqCst) || arguments.duration.is_some_and(|d| d <= started.elapsed());
        let is_due = shown.is_none_or(|at| arguments.every <= at.elapsed());
        if is_new && (is_due || ends) {
            let report = tee.sink().report();
            if let Some(server) = server {
                server.offer(openmetrics(&report));
            }
            show_look(&report, path, screen.as_ref(), shows && !ends)?;
            (shown, is_new) = (Some(Instant::now()), false);
        }
        if ends {
            return Ok(());
        }
        std::thread::sleep(NAP);
    }
}

fn show_look(report: &GcReport, path: &Path, screen: Option<&Screen>, shows: bool) -> Result<(), Failure> {
    if let Some(screen) = screen {
        let name = path.display().to_string();
        screen.draw(&report_gc::screen(report, &name, output::rows(), output::view(Extent::Short)))?;
    } else if shows {
        output::print(|out| writeln!(out, "{}", line(report)))?;
    }
    Ok(())
}
