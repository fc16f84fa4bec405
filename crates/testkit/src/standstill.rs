//! Whether the machine let the test's process run: for tests of values that a machine which stands still truly spoils.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(1);

/// Watches, on a thread of its own, by how much short naps are longer than asked; ends when dropped.
pub struct StandstillWatch {
    longest_ns: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StandstillWatch {
    /// From now on.
    pub fn start() -> StandstillWatch {
        let (longest_ns, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (longest, over) = (Arc::clone(&longest_ns), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                let began = Instant::now();
                std::thread::sleep(NAP);
                let late = began.elapsed().saturating_sub(NAP);
                longest.fetch_max(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX), Ordering::SeqCst);
            }
        });
        StandstillWatch { longest_ns, is_over, thread: Some(thread) }
    }

    /// The longest time for which the watching thread was kept from a processor; a nap that still lasts is counted.
    pub fn end(mut self) -> Duration {
        self.join();
        Duration::from_nanos(self.longest_ns.load(Ordering::SeqCst))
    }

    fn join(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for StandstillWatch {
    fn drop(&mut self) {
        self.join();
    }
}
