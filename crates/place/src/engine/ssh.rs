//! Hosts that `ssh` reaches.

use super::slots::{Reuse, Slots, WORKER};
use crate::error::Fault;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A slot for each host.
#[derive(Debug)]
pub(super) struct SshHosts {
    pub hosts: Vec<String>,
    /// Assay on the hosts.
    pub program: String,
}

impl Slots for SshHosts {
    fn names(&self) -> &[String] {
        &self.hosts
    }

    fn reuse(&self) -> Reuse {
        Reuse::Host
    }

    fn needs(&self) -> (&'static str, &'static str) {
        ("ssh", "apt-get install openssh-client")
    }

    fn worker(&self, slot: usize, _: &AtomicBool, _: &mut dyn FnMut(String)) -> Result<Command, Fault> {
        let mut command = Command::new("ssh");
        // A question would wait for ever. A host that is gone is noticed within a minute.
        command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]);
        command.args([
            "-o",
            "ServerAliveInterval=15",
            "-o",
            "ServerAliveCountMax=4",
            "--",
            &self.hosts[slot],
        ]);
        // Two words for the shell on the host, which splits them.
        command.arg(format!("{} {WORKER}", shell_words::quote(&self.program)));
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_is_started_without_a_shell_here_and_quoted_for_the_shell_there() {
        let hosts = SshHosts { hosts: vec!["host".to_owned()], program: "/opt/my tools/assay".to_owned() };
        let command = hosts.worker(0, &AtomicBool::new(false), &mut |_| ()).expect("a command");
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert_eq!(&words[words.len() - 3..], ["--", "host", "'/opt/my tools/assay' block-worker"]);
    }
}
