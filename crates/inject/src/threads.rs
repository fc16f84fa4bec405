//! Several generators on threads of this process that act as one: each uses a core of its own.

use crate::merge::{merged, progress};
use crate::share::{config_of, load_of, room_of};
use assay_load::{
    Generator, GeneratorConfig, IntervalLogs, LoadError, LoadSource, LoadWindow, Measured, Opened, Part,
    Progress, Start, monotonic_ns, summary_ms,
};
use assay_model::InjectorPart;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

/// Most threads of a load.
const THREADS_MAX: u32 = 64;
/// From the moment at which all connections are open to the start: time for the threads to begin.
const LEAD: Duration = Duration::from_millis(10);
/// How often progress is reported.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A [`LoadSource`] whose windows are made by several threads together. Connections, users, requests in flight and rate are those of all,
/// and are shared as injectors share them; so are rooms of a chat.
pub struct Threads {
    /// Where each loads.
    base_urls: Vec<String>,
    seed: u64,
    /// Users of a room of a chat, which are not divided.
    room: u32,
    generators: Vec<Generator>,
    windows: u64,
}

impl Threads {
    /// Makes so many generators; connects to nothing yet, but for the one-time requests of the scenario.
    ///
    /// # Errors
    /// As of [`Generator::new`]; more threads than connections, or than rooms of a chat.
    pub fn new(config: &GeneratorConfig, threads: u32) -> Result<Threads, LoadError> {
        let wrong = |fix: &'static str| LoadError::Setting {
            name: "threads",
            value: threads.to_string(),
            fix: fix.into(),
        };
        if !(1..=THREADS_MAX).contains(&threads) {
            return Err(wrong("use 1 to 64"));
        }
        if config.connections < threads {
            return Err(wrong("use at most as many as there are connections, since each needs one"));
        }
        let servers: Vec<String> = [&config.base_url].into_iter().chain(&config.replicas).cloned().collect();
        if !threads.is_multiple_of(servers.len() as u32) {
            return Err(wrong("use as many as there are servers, or a multiple of it"));
        }
        if 1 < servers.len() && !config.scenario.setup.is_empty() {
            let (value, fix) = (
                servers.len().to_string(),
                "its one-time requests would reach one server alone: leave them out".into(),
            );
            return Err(LoadError::Setting { name: "replicas", value, fix });
        }
        let mut config = GeneratorConfig { replicas: Vec::new(), ..config.clone() };
        config.set_up()?;
        let base_urls: Vec<String> = servers.into_iter().cycle().take(threads as usize).collect();
        let generators: Result<Vec<Generator>, LoadError> = parts(threads as usize)
            .zip(&base_urls)
            .map(|(part, base_url)| Generator::new(config_of(&config, base_url, part)?))
            .collect();
        Ok(Threads {
            room: room_of(&config.scenario),
            base_urls,
            seed: config.seed,
            generators: generators?,
            windows: 0,
        })
    }

    /// The window of each thread.
    fn shares(&self, window: &LoadWindow) -> Result<Vec<LoadWindow>, LoadError> {
        let of = |part| load_of(window.load, part, self.room);
        parts(self.generators.len())
            .map(|part| Ok(LoadWindow { load: of(part)?, ..window.clone() }))
            .collect()
    }
}

fn parts(threads: usize) -> impl Iterator<Item = Part> {
    let of = threads as u32;
    (0..of).map(move |number| Part { number, of })
}

impl LoadSource for Threads {
    /// Keeps no log.
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        _: Option<IntervalLogs>,
        stop: &AtomicBool,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let shares = self.shares(window)?;
        let length = window.settle.saturating_add(window.length);
        let opened = ready(&mut self.generators, &shares, length, stop, on_progress)?;
        let seed = self.seed.wrapping_add(self.windows);
        self.windows += 1;
        let at_ns = monotonic_ns().saturating_add(LEAD.as_nanos() as u64);
        let all = parts(self.generators.len()).zip(opened);
        let starts = all.map(|(part, opened)| Start { at_ns, part, seed: part.seed(seed), opened }).collect();
        let recorded = load(&mut self.generators, &shares, starts, stop, on_progress)?;
        let named: Vec<(String, Measured)> =
            recorded.into_iter().enumerate().map(|(at, one)| (format!("thread {}", at + 1), one)).collect();
        let of_each = named.iter().zip(&self.base_urls);
        let injectors = of_each.map(|((name, one), base_url)| account(name, base_url, one)).collect();
        let whole = merged(window.load, seed, &named);
        let empty = || Measured::empty(window.load, seed, (at_ns, at_ns));
        Ok(Measured { injectors, ..whole.unwrap_or_else(empty) })
    }

    fn draw_from(&mut self, seed: u64) {
        (self.seed, self.windows) = (seed, 0);
        for (part, generator) in parts(self.generators.len()).zip(&mut self.generators) {
            generator.draw_from(part.seed(seed));
        }
    }

    fn was_suspended(&mut self) {
        self.generators.iter_mut().for_each(LoadSource::was_suspended);
    }
}

/// Opens the connections of all at once, and has all users begin their sessions.
fn ready(
    generators: &mut [Generator],
    shares: &[LoadWindow],
    length: Duration,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Opened>, LoadError> {
    let all = generators.iter_mut().zip(shares);
    let work = all
        .map(|(one, share)| move |keep: &mut dyn FnMut(Progress)| one.ready(&share.load, length, stop, keep));
    on_threads(work.collect(), on_progress)
}

/// Has all make their part of the window.
fn load(
    generators: &mut [Generator],
    shares: &[LoadWindow],
    starts: Vec<Start>,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Measured>, LoadError> {
    let all = generators.iter_mut().zip(shares).zip(starts);
    let work = all.map(|((one, share), start)| {
        move |keep: &mut dyn FnMut(Progress)| one.window_from(start, share, None, stop, keep)
    });
    on_threads(work.collect(), on_progress)
}

/// Runs each piece of work on its own thread, and reports the sum of their progress.
fn on_threads<T: Send, W>(work: Vec<W>, on_progress: &mut dyn FnMut(Progress)) -> Result<Vec<T>, LoadError>
where
    W: FnOnce(&mut dyn FnMut(Progress)) -> Result<T, LoadError> + Send,
{
    let beats: Vec<Mutex<Option<Progress>>> = work.iter().map(|_| Mutex::default()).collect();
    let waiting = thread::current();
    thread::scope(|scope| {
        let all = work.into_iter().zip(&beats);
        let handles: Vec<_> = all
            .map(|(work, beat)| {
                let waiting = &waiting;
                scope.spawn(move || {
                    let mut keep =
                        |progress| *beat.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
                    let done = work(&mut keep);
                    waiting.unpark();
                    done
                })
            })
            .collect();
        while !handles.iter().all(ScopedJoinHandle::is_finished) {
            thread::park_timeout(PROGRESS_EVERY);
            let so_far: Vec<Progress> = beats
                .iter()
                .filter_map(|beat| *beat.lock().unwrap_or_else(PoisonError::into_inner))
                .collect();
            if !so_far.is_empty() {
                on_progress(progress(so_far.into_iter()));
            }
        }
        handles.into_iter().map(joined).collect()
    })
}

/// What a thread gave; its panic goes on here.
fn joined<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn account(name: &str, base_url: &str, one: &Measured) -> InjectorPart {
    InjectorPart {
        address: name.to_owned(),
        base_url: base_url.to_owned(),
        requests: Some(one.requests),
        errors: Some(one.errors()),
        completed: Some(one.completed),
        send_lag_ms: summary_ms(&one.send_lag),
        cpu_share: one.generator_cpu_share(),
        ..InjectorPart::default()
    }
}
