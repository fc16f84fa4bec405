//! Whether a file that a JVM wrote where others may write, too, is the one that it was asked for.

use rustix::fs::{FileType, Mode, Stat};

/// Why a file is not believed. `user`: the JVM's; `asked_s`: when it was asked, seconds since 1970.
pub(crate) fn distrust(stat: &Stat, user: u32, asked_s: u64, bytes_max: u64) -> Option<&'static str> {
    // The file system's clock may be a tick behind.
    let is_old = u64::try_from(stat.st_mtime).unwrap_or(0) + 1 < asked_s;
    match () {
        () if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => {
            Some("it is not a regular file")
        }
        () if stat.st_uid != user => Some("it belongs to another user than the JVM"),
        () if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) => {
            Some("others than the JVM's user may write to it")
        }
        () if bytes_max < u64::try_from(stat.st_size).unwrap_or(u64::MAX) => Some("it is too large"),
        () if is_old => Some("it was not written at the request"),
        () => None,
    }
}
