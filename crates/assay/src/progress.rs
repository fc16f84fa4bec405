//! What takes a while, shown to a person: a bar on a terminal, plain lines elsewhere. Everything goes to standard error.

#[cfg(target_os = "linux")]
mod figures;
#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
pub use figures::{Figures, Rate, sessions_line};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
#[cfg(target_os = "linux")]
pub use run::{Progress, outlook_line};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How often a long reading says how far it is where there is no terminal.
pub const PLAIN_LINE_EVERY: Duration = Duration::from_secs(5);
/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(200);

/// A bar on standard error for as long as it lives; hidden where that is not a terminal.
pub fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    bar.with_style(style).with_finish(ProgressFinish::AndClear)
}

/// The same for what has no length: it turns.
fn spinner(template: &str) -> ProgressBar {
    let bar = bar(None, template);
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// Says what is waited for, if there is anything to say.
pub fn waiting(what: Option<String>) -> Option<ProgressBar> {
    what.map(|what| spinner("{spinner} {msg}  {elapsed}").with_message(what))
}

/// A long reading shown to a person until it is dropped: a bar on a terminal, a plain line now and then elsewhere.
pub struct BytesRead {
    what: String,
    bar: ProgressBar,
    /// When the last plain line was written, or reading began.
    told: Cell<Instant>,
}

impl BytesRead {
    /// Of a source with this many bytes, where that is known. `what` is said first: `reading kafka.hprof`.
    pub fn new(what: &str, total_bytes: Option<u64>) -> Self {
        let template = match total_bytes {
            Some(_) => "{msg}  {wide_bar}  {binary_bytes} of {binary_total_bytes}, {eta} left",
            None => "{spinner} {msg}  {binary_bytes}, {elapsed}",
        };
        let bar = bar(total_bytes, template).with_message(what.to_owned());
        BytesRead { what: what.to_owned(), bar, told: Cell::new(Instant::now()) }
    }

    /// So many bytes have been read.
    pub fn show(&self, bytes: u64) {
        if !self.bar.is_hidden() {
            self.bar.set_position(bytes);
        } else if PLAIN_LINE_EVERY <= self.told.get().elapsed() {
            self.told.set(Instant::now());
            let of = self.bar.length().map_or_else(String::new, |total| format!(" of {}", total >> 20));
            say!("{}: {}{of} MiB", self.what, bytes >> 20);
        }
    }
}

/// A measurement of a known length shown to a person until it is dropped: a bar on a terminal, a plain line now and then elsewhere.
pub struct Measuring {
    what: String,
    length: Duration,
    bar: ProgressBar,
    begun: Instant,
    /// When the last plain line was written, from the beginning.
    told: Cell<Duration>,
}

impl Measuring {
    /// Begins now. `what` is said first: `measuring java (4119)`.
    pub fn new(what: String, length: Duration) -> Self {
        let bar = bar(Some(milliseconds(length)), "{msg}  {bar:20} {elapsed}").with_message(what.clone());
        Measuring { what, length, bar, begun: Instant::now(), told: Cell::new(Duration::ZERO) }
    }

    /// It goes on.
    pub fn show(&self) {
        let elapsed = self.begun.elapsed();
        if !self.bar.is_hidden() {
            self.bar.set_position(milliseconds(elapsed));
        } else if PLAIN_LINE_EVERY <= elapsed.saturating_sub(self.told.get()) {
            self.told.set(elapsed);
            say!("{}: {:.0} of {:.0} s", self.what, elapsed.as_secs_f64(), self.length.as_secs_f64());
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
