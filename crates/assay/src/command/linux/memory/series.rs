//! Snapshots one after the other: on a screen, as lines, into a record.

use super::read::options;
use super::trim;
use super::watch::{self, SnapshotMessage};
use crate::arguments::{Format, SnapshotArguments};
use crate::command::process::identity_of;
use crate::failure::Failure;
use crate::forms::{Snapshot, show};
use crate::screen;
use crate::{output, stop};
use assay_linux::{ProcRoot, ProcessIdentity};
use assay_memory::{Ending, HEAP_READ_BYTES_MAX, ReadOptions, Record, SnapshotDepth};
use assay_model::MemoryReport;
use assay_report::memory::Watch;
use assay_text::duration;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Between two full snapshots while only watching.
const FULL_EVERY: Duration = Duration::from_secs(30);
/// How long a stop request may go unnoticed while nothing is done.
const NAP: Duration = Duration::from_millis(50);

/// Takes snapshots until Ctrl-C, until `--for` is over, or until the process ends.
pub fn series(pid: u32, arguments: &SnapshotArguments) -> Result<ExitCode, Failure> {
    let is_json = arguments.format.is_json("--watch")?;
    let stop = stop::flag_on_signal_with(screen::leave)?;
    let has_picture = arguments.watch.is_some() && !is_json && screen::has_keys();
    let (ended, snapshots, held) = if has_picture {
        with_picture(pid, arguments, &stop)?
    } else {
        let shown = match (is_json, arguments.watch) {
            (true, _) => Shown::Json,
            (false, Some(_)) => Shown::Lines(Box::default()),
            (false, None) => Shown::Nothing,
        };
        Series::start(pid, arguments, &stop, shown)?.run_to_end()
    };
    say!("{}", ended?);
    if let (Some(path), Some(held)) = (&arguments.record, held) {
        say!("{}", recorded(snapshots.full, &held, path));
    }
    if let Some(last) = snapshots.last_full {
        finish(last, arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The verdict over the record, and the page: with areas over time if there is a record.
fn finish(last: MemoryReport, arguments: &SnapshotArguments) -> Result<(), Failure> {
    let (earlier, problems) =
        arguments.record.as_deref().map_or(Ok(Default::default()), assay_memory::read_record)?;
    output::note(&problems);
    let growth = arguments.record.as_ref().map(|_| assay_memory::judge_growth(&earlier));
    // In the record it has its end, too.
    let last = earlier.last().cloned().unwrap_or(last);
    if let Some(said) = assay_report::memory::end_sentence(&last) {
        output::print(|out| writeln!(out, "{said}."))?;
    }
    if let Some(verdict) = &growth {
        output::print(|out| writeln!(out, "{}.", assay_report::memory::growth_sentence(verdict)))?;
    }
    let Some(path) = &arguments.html else { return Ok(()) };
    let report = MemoryReport { growth, ..last };
    show(&Snapshot { report: &report, earlier: &earlier, entries: arguments.entries }, None, Some(path))
}

/// How it ended, and what is left of it.
type Ended = (Result<String, Failure>, Snapshots, Option<Held>);

/// Snapshots in a thread of its own: keys have an effect while a scan takes seconds.
fn with_picture(pid: u32, arguments: &SnapshotArguments, stop: &AtomicBool) -> Result<Ended, Failure> {
    let ((news, received), (trims, asked)) = (channel(), channel());
    let series = Series::start(pid, arguments, stop, Shown::Picture { news, asked })?;
    thread::scope(|scope| {
        let taking = scope.spawn(|| series.run_to_end());
        let picture = watch::show(&received, &trims, stop);
        stop.store(true, Ordering::SeqCst);
        let (ended, snapshots, held) =
            taking.join().map_err(|_| Failure::internal("taking snapshots failed".to_owned()))?;
        // If the first snapshot fails, nothing is drawn.
        if snapshots.full > 0 {
            let lines = picture?;
            output::print(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))?;
        }
        Ok((ended, snapshots, held))
    })
}

/// Where snapshots go beyond a record.
enum Shown {
    /// Nowhere.
    Nothing,
    /// To a pipe, a line each.
    Json,
    /// To a pipe, a line for each quick one.
    Lines(Box<Watch>),
    /// To the thread that draws, which asks for trims.
    Picture { news: Sender<SnapshotMessage>, asked: Receiver<()> },
}

/// What the file holds now, which need not be what was recorded.
struct Held {
    snapshots: usize,
    has_thinned: bool,
}

fn recorded(taken: u64, held: &Held, path: &Path) -> String {
    let snapshots = if taken == 1 { "1 snapshot".to_owned() } else { format!("{taken} snapshots") };
    let said = format!("recorded: {snapshots} in {}", path.display());
    match held.snapshots {
        all if all as u64 == taken => said,
        left if held.has_thinned => {
            format!("{said}; it holds {left}, evenly spread over the time, to keep to --record-max-bytes")
        }
        all => format!("{said}; with the earlier ones it holds {all}"),
    }
}

/// What is left of a series at its end.
#[derive(Default)]
struct Snapshots {
    full: u64,
    last_full: Option<MemoryReport>,
}

struct Series<'a> {
    arguments: &'a SnapshotArguments,
    pid: u32,
    identity: ProcessIdentity,
    stop: &'a AtomicBool,
    started: Instant,
    full: ReadOptions,
    full_every: Duration,
    shown: Shown,
    record: Option<Record>,
    /// What tells how the process ended; absent where its control groups cannot be read.
    ending: Option<Ending>,
    snapshots: Snapshots,
    /// Whether a snapshot said that it left owners out.
    has_told: bool,
}

impl<'a> Series<'a> {
    fn start(
        pid: u32,
        arguments: &'a SnapshotArguments,
        stop: &'a AtomicBool,
        shown: Shown,
    ) -> Result<Self, Failure> {
        let identity = identity_of(pid)?;
        // A file that cannot be written is known before the first snapshot.
        let create = |path| Record::create(path, arguments.record_max_bytes);
        let record = arguments.record.as_deref().map(create).transpose()?;
        Ok(Series {
            arguments,
            pid,
            identity,
            stop,
            started: Instant::now(),
            full: options(arguments),
            full_every: if record.is_some() { arguments.every } else { FULL_EVERY },
            shown,
            record,
            ending: Ending::watch(pid).ok(),
            snapshots: Snapshots::default(),
            has_told: false,
        })
    }

    fn run_to_end(mut self) -> Ended {
        let ended = self.run();
        let held = self
            .record
            .map(|record| Held { snapshots: record.snapshots(), has_thinned: record.has_thinned() });
        (ended, self.snapshots, held)
    }

    /// Takes snapshots until something ends it, and says what.
    fn run(&mut self) -> Result<String, Failure> {
        let quick_every = self.arguments.watch;
        let (mut next_quick, mut next_full) = (quick_every.map(|_| self.started), self.started);
        loop {
            let now = Instant::now();
            if self.stop.load(Ordering::SeqCst) {
                return Ok("stopped".to_owned());
            }
            if self.arguments.duration.is_some_and(|d| self.started + d <= now) {
                return Ok(format!("ended after {}", duration::spoken(self.started.elapsed().as_secs())));
            }
            self.trim_if_asked();
            let is_full = next_full <= now;
            let is_quick = next_quick.is_some_and(|next| next <= now);
            if !is_full && !is_quick {
                thread::sleep(NAP.min(self.until(next_full, next_quick)));
                continue;
            }
            if let Some(ended) = self.take(is_full, is_quick)? {
                return Ok(ended);
            }
            // From the planned time, so that intervals do not grow by the scan; missed times are left out.
            let now = Instant::now();
            while is_full && next_full <= now {
                next_full += self.full_every;
            }
            while let (true, Some(every), Some(next)) =
                (is_quick, quick_every, next_quick.filter(|n| *n <= now))
            {
                next_quick = Some(next + every);
            }
        }
    }

    fn until(&self, next_full: Instant, next_quick: Option<Instant>) -> Duration {
        let next = next_quick.map_or(next_full, |quick| quick.min(next_full));
        next.saturating_duration_since(Instant::now())
    }

    /// One snapshot, or a quick and a full one; as JSON a full one has all that a quick one has. Says why if there can be no more.
    fn take(&mut self, is_full: bool, is_quick: bool) -> Result<Option<String>, Failure> {
        let is_first = self.snapshots.full == 0;
        if !is_first && !self.is_running() {
            return self.gone();
        }
        let kills = self.ending.as_ref().and_then(Ending::count);
        let mut taken: Vec<(MemoryReport, bool)> = Vec::new();
        if is_quick && !(is_full && self.arguments.format.form() == Format::Json) {
            let quick = ReadOptions::of_depth(SnapshotDepth::Structures);
            match assay_memory::read(self.pid, &quick) {
                Ok(snapshot) => taken.push((snapshot, false)),
                Err(e) if is_first => return Err(e.into()),
                Err(_) => return self.gone(),
            }
        }
        if is_full {
            match assay_memory::read(self.pid, &self.full) {
                Ok(snapshot) => taken.push((snapshot, true)),
                Err(e) if is_first => return Err(e.into()),
                Err(_) => return self.gone(),
            }
        }
        // One that ends while it is read gives half a snapshot, which is not even of its name.
        if !is_first && !self.is_running() {
            return self.gone();
        }
        if let Some((ending, kills)) = self.ending.as_mut().zip(kills) {
            ending.outlived(kills);
        }
        for (snapshot, full) in taken {
            self.keep(snapshot, full)?;
        }
        if is_quick {
            self.show()?;
        }
        Ok(None)
    }

    fn is_running(&self) -> bool {
        ProcRoot::default().is_running(self.identity).unwrap_or(true)
    }

    /// The process has ended: the record says how.
    fn gone(&mut self) -> Result<Option<String>, Failure> {
        if let (Some(record), Some(ending)) = (&mut self.record, &self.ending) {
            record.append_end(&ending.ended(self.snapshots.last_full.as_ref()))?;
        }
        Ok(Some("the process has ended".to_owned()))
    }

    fn keep(&mut self, snapshot: MemoryReport, full: bool) -> Result<(), Failure> {
        if full {
            self.tell_left_out(&snapshot);
            if let Some(record) = &mut self.record {
                record.append(&snapshot)?;
                self.tell_recorded(&snapshot);
            }
            self.snapshots.full += 1;
            self.snapshots.last_full = Some(snapshot.clone());
        }
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Json => {
                let line = serde_json::to_string(&snapshot).map_err(|e| Failure::internal(e.to_string()))?;
                output::print(|out| writeln!(out, "{line}"))?;
            }
            Shown::Lines(watch) => watch.add(snapshot, full),
            // The thread that draws may have ended already.
            Shown::Picture { news, .. } => {
                drop(news.send(SnapshotMessage::Snapshot(Box::new(snapshot), full)));
            }
        }
        Ok(())
    }

    /// Between snapshots, so that each is of memory before the trim or after it.
    fn trim_if_asked(&self) {
        if let Shown::Picture { news, asked } = &self.shown
            && asked.try_recv().is_ok()
        {
            drop(news.send(SnapshotMessage::Trimmed(trim::said(self.pid))));
        }
    }

    /// Says once that owners are left out, unless the picture does.
    fn tell_left_out(&mut self, snapshot: &MemoryReport) {
        let Some(left_out) = &snapshot.owners_left_out else { return };
        // A heap that shrinks and grows around the bound would give snapshots of two depths by turns.
        self.full.heap_read_bytes_max = HEAP_READ_BYTES_MAX / 2;
        if !self.has_told && !matches!(self.shown, Shown::Picture { .. }) {
            say!("note: {}", assay_report::memory::owners_left_out_sentence(left_out));
        }
        self.has_told = true;
    }

    /// While only recording, a line on standard error for each snapshot.
    fn tell_recorded(&self, snapshot: &MemoryReport) {
        if self.arguments.watch.is_none() {
            let mib = snapshot.rss_bytes as f64 / 1_048_576.0;
            say!("{}  RSS {mib:.1} MiB  recorded", snapshot.taken_at);
        }
    }

    fn show(&self) -> Result<(), Failure> {
        if let Shown::Lines(watch) = &self.shown {
            let line = watch.line(output::width().into());
            output::print(|out| writeln!(out, "{line}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_tells_what_the_file_holds() {
        let told = |taken, snapshots, has_thinned| {
            recorded(taken, &Held { snapshots, has_thinned }, Path::new("r.nd"))
        };
        assert_eq!(told(1, 1, false), "recorded: 1 snapshot in r.nd");
        assert!(
            told(20, 3, true).starts_with("recorded: 20 snapshots in r.nd; it holds 3, "),
            "{}",
            told(20, 3, true)
        );
        assert_eq!(told(5, 12, false), "recorded: 5 snapshots in r.nd; with the earlier ones it holds 12");
    }
}
