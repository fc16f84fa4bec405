//! Ctrl-C and its kin: the first asks for an orderly end, the second ends the program at once.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit code of a program that Ctrl-C ended, as shells give it.
pub const INTERRUPTED: u8 = 130;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets. The second ends the program; what it then leaves running is
/// stopped by the next start of Assay, from the lease of each server.
pub fn flag_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    flag_on_signal_with(|| ())
}

/// The same for a command that has something to put right before the second signal ends the program: `at_end` is called
/// on each signal, and may be called more than once.
pub fn flag_on_signal_with(at_end: impl Fn() + Send + 'static) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])
        .map_err(|e| Failure::internal(format!("cannot listen to signals: {e}")))?;
    let flag = Arc::clone(&stop);
    std::thread::spawn(move || {
        for _ in signals.forever() {
            let is_second = flag.swap(true, Ordering::SeqCst);
            at_end();
            if is_second {
                std::process::exit(i32::from(INTERRUPTED));
            }
        }
    });
    Ok(stop)
}
