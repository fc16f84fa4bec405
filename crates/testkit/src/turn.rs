//! Tests that take turns, whatever program and process each of them runs in.

use crate::beside_tests;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};

/// A test's turn at something; the next one has it when this is dropped, or when the process ends.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "its lock ends with it")] File);

/// Waits for the turn at something that only one test may have at a time, such as the settings of the machine.
///
/// # Panics
/// When the folder of the test programs cannot be written.
pub fn turn(at: &str) -> Turn {
    let folder = beside_tests("turns");
    fs::create_dir_all(&folder).expect("a folder that can be written");
    let file = File::options().create(true).truncate(false).write(true).open(folder.join(at));
    let file = file.expect("a file that can be written");
    flock(&file, FlockOperation::LockExclusive).expect("a lock");
    Turn(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn a_turn_ends_when_it_is_dropped() {
        let is_free = || {
            let file = File::open(beside_tests("turns").join("own-test")).expect("a file");
            flock(&file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
        };
        let one = turn("own-test");
        assert!(!is_free());
        drop(one);
        assert!(is_free());
    }
}
