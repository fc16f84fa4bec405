//! How long threads of a process waited for a processor, by the scheduler's own account.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const NAP: Duration = Duration::from_millis(10);

/// Watches the threads of a JVM from their start to their end, but for the first thread of the process, which only starts the JVM. What a
/// thread waited within its last 10 ms may be missing.
pub struct RunDelayWatch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<RunDelay>,
}

/// What was observed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct RunDelay {
    /// Of all threads.
    pub total: Duration,
    /// The longest wait: by how much one thread's account grew between two looks, 10 ms apart.
    pub longest: Duration,
}

impl RunDelayWatch {
    /// From now on.
    pub fn start(pid: u32) -> RunDelayWatch {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let (mut threads, mut seen) = (HashMap::new(), RunDelay::default());
            while !over.load(Ordering::SeqCst) {
                look(pid, &mut threads, &mut seen);
                std::thread::sleep(NAP);
            }
            seen
        });
        RunDelayWatch { is_over, thread }
    }

    /// What was observed; `None` where the kernel keeps no account.
    pub fn end(self) -> Option<RunDelay> {
        self.is_over.store(true, Ordering::SeqCst);
        let seen = self.thread.join().ok()?;
        fs::read("/proc/self/schedstat").is_ok().then_some(seen)
    }
}

fn look(pid: u32, threads: &mut HashMap<u64, Duration>, seen: &mut RunDelay) {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    for task in tasks.flatten() {
        let tid = task.file_name().to_str().and_then(|name| name.parse().ok());
        let tid = tid.filter(|tid| *tid != u64::from(pid));
        // Time on processors and time waiting for one, in nanoseconds, and the number of turns.
        let line = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
        let waited = line.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).map(Duration::from_nanos);
        if let (Some(tid), Some(waited)) = (tid, waited) {
            let more = waited.saturating_sub(threads.insert(tid, waited).unwrap_or_default());
            seen.total += more;
            seen.longest = seen.longest.max(more);
        }
    }
}
