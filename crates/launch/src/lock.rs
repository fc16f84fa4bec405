//! Locks that runs hold on what they must tidy up, so that the next start leaves alone what a run that lives has.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::time::{Duration, Instant};

/// In which a program that was about to be started is loaded, on a busy machine, too.
const LOADED_WITHIN: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Until when a start waits for all locks together.
pub fn patience() -> Instant {
    Instant::now() + LOADED_WITHIN
}

/// Locks a file; not where a run that lives has it.
///
/// Folklore: a program that a run was about to start when it was killed has its locks, too, until the kernel has loaded it: of fifty
/// runs that were killed one was taken for alive, and what it had changed stayed. Held by:
/// `what_a_killed_run_was_about_to_start_holds_its_lock_for_a_moment_only`.
pub fn is_locked(file: &File, until: Instant) -> bool {
    while flock(file, FlockOperation::NonBlockingLockExclusive).is_err() {
        if until < Instant::now() {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    true
}
