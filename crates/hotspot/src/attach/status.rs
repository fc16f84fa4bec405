//! What `/proc/PID/status` says of a JVM that is to be asked something.

use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// `status` is a few KiB.
const STATUS_BYTES_MAX: u64 = 1 << 16;

/// What `status` says that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Status {
    /// Number in the innermost PID namespace.
    pub pid_inside: Option<u32>,
    /// Effective user.
    pub user: u32,
    /// Effective group.
    pub group: u32,
    /// Whether a handler is installed for SIGQUIT.
    pub catches_quit: bool,
}

impl Status {
    /// Reads the file.
    pub fn read(path: &Path) -> io::Result<Status> {
        let mut text = Vec::new();
        File::open(path)?.take(STATUS_BYTES_MAX).read_to_end(&mut text)?;
        // The name of the process may be any bytes.
        Status::parse(&String::from_utf8_lossy(&text)).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn parse(text: &str) -> Option<Status> {
        let values = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            line.map(str::split_ascii_whitespace)
        };
        // Real, effective, saved, file system.
        let effective = |key: &str| values(key)?.nth(1)?.parse().ok();
        let caught = values("SigCgt").and_then(|mut v| u64::from_str_radix(v.next()?, 16).ok());
        Some(Status {
            pid_inside: values("NSpid").and_then(|v| v.last()?.parse().ok()),
            user: effective("Uid")?,
            group: effective("Gid")?,
            // Bit 0 is signal 1.
            catches_quit: caught.is_some_and(|caught| caught >> (Signal::QUIT.as_raw() - 1) & 1 == 1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_tells_user_number_inside_and_whether_quit_is_caught() {
        let text = "Name:\tjava\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t4242\t17\t1\nSigCgt:\t0000000000000004\n";
        let status = Status { pid_inside: Some(1), user: 2, group: 6, catches_quit: true };
        assert_eq!(Status::parse(text), Some(status));
        let text = "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nSigCgt:\t0000000000000003\n";
        assert_eq!(Status::parse(text), Some(Status::default()));
        assert_eq!(Status::parse("SigCgt:\t4\n"), None, "without a user nothing may be trusted");
    }
}
