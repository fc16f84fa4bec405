//! Dead memory that is written to swap again and again while a server runs, on a thread beside the run.

use crate::file::page_out::PageOutTable;
use assay_linux::monotonic_ns;
use assay_memory::{PageOutOptions, page_out};
use assay_model::TrialPageOut;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A thread that pages out. Dropped, it ends.
pub(super) struct PageOuts {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<TrialPageOut>>>,
}

impl PageOuts {
    /// Pages out of these processes, the first time after an interval.
    pub fn begin(table: PageOutTable, processes: Vec<(String, u32)>) -> PageOuts {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || again_and_again(&table, &processes, &flag));
        PageOuts { stop, thread: Some(thread) }
    }

    /// Ends it; gives what was done.
    pub fn end(mut self) -> Vec<TrialPageOut> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for PageOuts {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn again_and_again(
    table: &PageOutTable,
    processes: &[(String, u32)],
    stop: &AtomicBool,
) -> Vec<TrialPageOut> {
    let (mut done, every) = (Vec::new(), table.every.duration());
    let mut due = Instant::now() + every;
    while !stop.load(Ordering::Relaxed) {
        if Instant::now() < due {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        }
        due += every;
        for (role, pid) in processes.iter().take_while(|_| !stop.load(Ordering::Relaxed)) {
            done.push(once(role, *pid, table, stop));
        }
    }
    done
}

fn once(role: &str, pid: u32, table: &PageOutTable, stop: &AtomicBool) -> TrialPageOut {
    let options = PageOutOptions {
        memory: &table.memory,
        is_dry_run: false,
        watch: Duration::ZERO,
        stop,
        watch_begins: &|| (),
    };
    let begun_ns = monotonic_ns();
    let worked = page_out(pid, &options);
    let result = worked.as_ref().ok();
    TrialPageOut {
        role: role.to_owned(),
        memory: table.memory.clone(),
        monotonic_ns: begun_ns,
        took_ns: monotonic_ns().saturating_sub(begun_ns),
        predicted_bytes: result.and_then(|of| of.sum(|part| Some(part.predicted_bytes))).unwrap_or(0),
        paged_out_bytes: result.and_then(|of| of.sum(|part| part.paged_out_bytes)),
        failed: worked.as_ref().err().map(ToString::to_string),
    }
}
