//! One guest from its image to its results: started under a lease, watched, and ended with all that it started.

use assay_emulate::{GuestImage, GuestStatus, IMAGE_FILE, Place, RESULTS_FILE, UP};
use assay_launch::{Local, POLL_INTERVAL, Placeholders, ProcessSpec, Processes, ReadyWhen, TrialFolders};
use assay_linux::process_cpu_ns;
use assay_model::{PlannedGuest, file};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Role of the emulator, whose output is the guest's console.
const ROLE: &str = "guest";
/// Until its first program runs the kernel says something now and then; after so long a silence it hangs. That is CPU time of the emulator, which
/// gets little of it beside neighbours; one that takes hardly any waits for something that never comes.
const SILENCE: Duration = Duration::from_secs(60);
const IDLE: Duration = Duration::from_secs(1);
/// Longest time of a block: a bound for a guest that hangs later.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How long an emulator may take to stop when it is asked to.
const STOP: Duration = Duration::from_secs(10);
/// Largest results, and largest console that is looked into.
const RESULTS_BYTES_MAX: u64 = 2 << 30;
const CONSOLE_BYTES_MAX: u64 = 4 << 20;

/// A guest to be started.
pub(super) struct Guest<'a> {
    pub place: &'a Place,
    pub planned: &'a PlannedGuest,
    /// Its own folder, empty.
    pub folder: &'a Path,
    pub engine: &'a Rc<Local>,
}

/// Why there are no results.
#[derive(Debug)]
pub(super) enum Failure {
    Interrupted,
    Guest(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Guest(error.to_string())
    }
}

/// What a kernel says until its first program runs.
struct Boot {
    is_up: bool,
    said_bytes: u64,
    /// When it said something last, and the emulator's CPU time then, nanoseconds.
    said_at: Instant,
    cpu_ns: u64,
}

impl Boot {
    fn new() -> Boot {
        Boot { is_up: false, said_bytes: 0, said_at: Instant::now(), cpu_ns: 0 }
    }

    /// Whether it hangs, with so many bytes on its console.
    fn hangs(&mut self, said_bytes: u64, cpu_ns: Option<u64>) -> bool {
        let cpu_ns = cpu_ns.unwrap_or(self.cpu_ns);
        if said_bytes != self.said_bytes {
            (self.said_bytes, self.said_at, self.cpu_ns) = (said_bytes, Instant::now(), cpu_ns);
        }
        let used = Duration::from_nanos(cpu_ns.saturating_sub(self.cpu_ns));
        SILENCE <= used || (SILENCE <= self.said_at.elapsed() && used < IDLE)
    }
}

impl Guest<'_> {
    /// Runs it to its end and unpacks what it handed out into its folder. `on_up` hears after how many seconds its kernel was up.
    pub fn run(
        &self,
        image: &GuestImage,
        seed: u64,
        stop: &AtomicBool,
        on_up: &mut dyn FnMut(f64),
    ) -> Result<(), Failure> {
        let ended = self.start_and_wait(image, seed, stop, on_up);
        // It is large, and made again from what is stored.
        let _ = fs_err::remove_file(self.folder.join(IMAGE_FILE));
        let unpacked = ended.and_then(|()| self.unpack());
        let _ = fs_err::remove_file(self.folder.join(RESULTS_FILE));
        unpacked
    }

    fn start_and_wait(
        &self,
        image: &GuestImage,
        seed: u64,
        stop: &AtomicBool,
        on_up: &mut dyn FnMut(f64),
    ) -> Result<(), Failure> {
        let mut file = io::BufWriter::new(fs_err::File::create(self.folder.join(IMAGE_FILE))?);
        let image_bytes = image.write(&mut file)?;
        file.flush()?;
        drop(file);
        let command = self.place.command(self.planned, image_bytes, seed);
        let emulator = ProcessSpec {
            is_server: true,
            environment: command.env,
            directory: Some(self.folder.to_string_lossy().into_owned()),
            stop_timeout: STOP,
            ..ProcessSpec::new(ROLE, command.argv, ReadyWhen::Started)
        };
        let folders = TrialFolders { trial: self.folder, runtime: self.engine.folder(), base: self.folder };
        let mut processes = Processes::plan(self.engine, &[emulator], folders, &Placeholders::default())?;
        let goes_on = || !stop.load(Ordering::Relaxed);
        processes.start_server(&goes_on).map_err(Failure::Guest)?;
        let ended = self.wait(&mut processes, stop, on_up);
        processes.finish(false);
        ended
    }

    /// Until it ends by itself.
    fn wait(
        &self,
        processes: &mut Processes<Local>,
        stop: &AtomicBool,
        on_up: &mut dyn FnMut(f64),
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let mut boot = Boot::new();
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
            // Asked in this order: it may end well between the two questions.
            let how = processes.ended("before its block was done");
            if processes.server_ended().is_some_and(|ended| ended.code == Some(0)) {
                return Ok(());
            }
            if let Some(how) = how {
                return Err(Failure::Guest(format!("{}: {how}", self.name())));
            }
            if !boot.is_up {
                let cpu = processes.server_pid().and_then(|pid| process_cpu_ns(pid).ok());
                if boot.hangs(self.console_bytes(), cpu) {
                    let what = format!(
                        "{} did not boot: its kernel {} said nothing for {} s{}",
                        self.name(),
                        self.place.kernel,
                        SILENCE.as_secs(),
                        processes.last_words()
                    );
                    return Err(Failure::Guest(what));
                }
                boot.is_up = self.console_has(UP);
                if boot.is_up {
                    on_up(begun.elapsed().as_secs_f64());
                }
            }
            let results = std::fs::metadata(self.folder.join(RESULTS_FILE)).map_or(0, |about| about.len());
            if LONGEST <= begun.elapsed() || RESULTS_BYTES_MAX < results {
                let what = format!("{} did not end within {} h", self.name(), LONGEST.as_secs() / 3600);
                return Err(Failure::Guest(what + &processes.last_words()));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn name(&self) -> String {
        format!("the {} guest", self.planned.machine.title())
    }

    fn console_bytes(&self) -> u64 {
        std::fs::metadata(self.console()).map_or(0, |about| about.len())
    }

    fn console(&self) -> std::path::PathBuf {
        self.folder.join(format!("{}.log", file::SERVER))
    }

    fn console_has(&self, word: &str) -> bool {
        if CONSOLE_BYTES_MAX < self.console_bytes() {
            return false;
        }
        let text = std::fs::read(self.console()).unwrap_or_default();
        memchr::memmem::find(&text, word.as_bytes()).is_some()
    }

    /// The results as files. Paths that lead out of the folder are left out by the reader.
    fn unpack(&self) -> Result<(), Failure> {
        let file = io::BufReader::new(fs_err::File::open(self.folder.join(RESULTS_FILE))?);
        let mut archive = tar::Archive::new(file);
        archive.set_preserve_permissions(false);
        archive
            .unpack(self.folder)
            .map_err(|e| Failure::Guest(format!("the results of {} cannot be read: {e}", self.name())))?;
        let status = GuestStatus::read(self.folder).map_err(Failure::Guest)?;
        if 0 < status.oom_kills {
            return Err(Failure::Guest(format!(
                "{} ran out of memory: its kernel killed {} processes; give it more than {} MiB beyond its files: [guest] memory = \"{}m\"",
                self.name(),
                status.oom_kills,
                self.planned.memory_mib,
                2 * self.planned.memory_mib
            )));
        }
        if status.code != 0 {
            let words = std::fs::read(self.console()).unwrap_or_default();
            let words = String::from_utf8_lossy(&words[words.len().saturating_sub(1500)..]).into_owned();
            let what = format!("in {} the study ended with exit code {}", self.name(), status.code);
            return Err(Failure::Guest(format!("{what}; the end of its console:\n{}", words.trim())));
        }
        Ok(())
    }
}
