//! Locks that runs hold on what they must tidy up, so that the next start leaves alone what a run that lives has.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::time::{Duration, Instant};

/// Time for `exec` to load a program, also on a busy machine.
const LOADED_WITHIN: Duration = Duration::from_secs(1);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a start waits for all locks together.
pub fn patience() -> Instant {
    Instant::now() + LOADED_WITHIN
}

/// Locks a file and returns true; false where another run still holds it at `until`.
///
/// Folklore: a program that a run was starting when it was killed inherits its locks until `exec` closes them. One of fifty killed runs
/// was taken for alive, and its changes stayed. Held by:
/// `what_a_killed_run_was_about_to_start_holds_its_lock_for_a_moment_only`.
pub fn try_lock_until(file: &File, until: Instant) -> bool {
    while flock(file, FlockOperation::NonBlockingLockExclusive).is_err() {
        if until < Instant::now() {
            return false;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    true
}
