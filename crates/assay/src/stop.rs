//! Ctrl-C and its kin: the first asks for an orderly end, the second ends the program at once.

use crate::failure::Failure;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Exit code of a program that Ctrl-C ended, as shells give it.
pub const INTERRUPTED: u8 = 130;

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets. The second ends the program; what it then leaves running is
/// stopped by the next start of Assay, from the lease of each server.
pub fn flag_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the conditional shutdown sees the flag of an earlier signal, not of this one.
        flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::internal(format!("cannot listen to signal {signal}: {e}")))?;
    }
    Ok(stop)
}
