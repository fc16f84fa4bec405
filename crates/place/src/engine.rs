//! The engines: how each starts a worker on a host of its own.

use crate::error::PlaceError;
use std::process::Command;
use std::str::FromStr;

/// Hosts of one place.
const HOSTS_MAX: usize = 1_000;

/// Where blocks are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Hosts that `ssh` reaches without a question, by name. One block at a time on each.
    Ssh(Vec<String>),
    /// Nodes that Slurm assigns, each to one block alone; of a partition, or of the default one.
    Slurm(Option<String>),
}

impl FromStr for Place {
    type Err = PlaceError;

    /// Reads `ssh:HOST,HOST`, `slurm` or `slurm:PARTITION`.
    fn from_str(text: &str) -> Result<Place, PlaceError> {
        let (engine, rest) = text.split_once(':').map_or((text, None), |(engine, rest)| (engine, Some(rest)));
        match (engine, rest) {
            ("ssh", Some(hosts)) => {
                let hosts: Vec<String> = hosts.split(',').map(|host| host.trim().to_owned()).collect();
                match hosts.iter().find(|host| !is_name(host)) {
                    Some(host) => {
                        Err(PlaceError::Input(format!("{host:?} is not the name of a host: ssh:HOST,HOST")))
                    }
                    None if HOSTS_MAX < hosts.len() => {
                        Err(PlaceError::Input(format!("more than {HOSTS_MAX} hosts")))
                    }
                    None => Ok(Place::Ssh(hosts)),
                }
            }
            ("slurm", None) => Ok(Place::Slurm(None)),
            ("slurm", Some(partition)) if is_name(partition) => Ok(Place::Slurm(Some(partition.to_owned()))),
            _ => Err(PlaceError::Input(format!(
                "{text:?} is not a place: ssh:HOST,HOST or slurm or slurm:PARTITION"
            ))),
        }
    }
}

/// Names of hosts, users and partitions. None begins with a hyphen: it would be an option of `ssh`.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-@:%[]".contains(c);
    !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)
}

impl Place {
    /// Leaves hosts out. An engine that chooses the hosts itself stays as it is.
    pub fn keep_hosts(&mut self, mut is_kept: impl FnMut(&str) -> bool) {
        if let Place::Ssh(hosts) = self {
            hosts.retain(|host| is_kept(host));
        }
    }

    /// Places for so many blocks at the same time, by name: a host each, or a request to the engine each.
    pub(crate) fn slots(&self, blocks: usize) -> Vec<String> {
        match self {
            Place::Ssh(hosts) => hosts.clone(),
            Place::Slurm(_) => (1..=blocks).map(|number| format!("slurm {number}")).collect(),
        }
    }

    /// Whether a slot is always the same host, so that one that fails again and again is left out.
    pub(crate) fn has_fixed_hosts(&self) -> bool {
        matches!(self, Place::Ssh(_))
    }

    /// The command that starts a worker in a slot; `program` is Assay on the host.
    pub(crate) fn worker(&self, slot: &str, program: &str) -> Command {
        match self {
            Place::Ssh(_) => {
                let mut command = Command::new("ssh");
                // A question would wait for ever. A host that is gone is noticed within a minute.
                command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]);
                command.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4", "--", slot]);
                // Two words for the shell on the host, which splits them.
                command.arg(format!("{} {WORKER}", shell_words::quote(program)));
                command
            }
            Place::Slurm(partition) => {
                let mut command = Command::new("srun");
                command.args(["--exclusive", "--nodes=1", "--ntasks=1", "--job-name=assay", "--quiet"]);
                command.args(partition.iter().map(|partition| format!("--partition={partition}")));
                // Without it srun closes the job's input as soon as it has none.
                command.args(["--input=0", "--unbuffered", program, WORKER]);
                command
            }
        }
    }

    /// The program that the engine needs here, and how to get it.
    pub(crate) fn needs(&self) -> (&'static str, &'static str) {
        match self {
            Place::Ssh(_) => ("ssh", "apt-get install openssh-client"),
            Place::Slurm(_) => ("srun", "apt-get install slurm-client"),
        }
    }
}

/// The command of Assay that is a worker.
pub(crate) const WORKER: &str = "block-worker";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_other_text_is_named() {
        let read = |text: &str| text.parse::<Place>().map_err(|e| e.to_string());
        assert_eq!(read("ssh:a, root@b.lan"), Ok(Place::Ssh(vec!["a".to_owned(), "root@b.lan".to_owned()])));
        assert_eq!(read("slurm"), Ok(Place::Slurm(None)));
        assert_eq!(read("slurm:bench"), Ok(Place::Slurm(Some("bench".to_owned()))));
        for wrong in
            ["", "ssh", "ssh:", "ssh:a,,b", "ssh:-oProxyCommand=x", "ssh:a b", "slurm:", "slurm:-x", "local"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_worker_is_started_without_a_shell_here_and_quoted_for_the_shell_there() {
        let words = |place: &str, program: &str| {
            let place: Place = place.parse().expect("a place");
            let command = place.worker(&place.slots(1)[0], program);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let ssh = words("ssh:host", "/opt/my tools/assay");
        assert_eq!(&ssh[ssh.len() - 3..], ["--", "host", "'/opt/my tools/assay' block-worker"]);
        let srun = words("slurm:bench", "assay");
        assert!(srun.contains(&"--partition=bench".to_owned()) && srun.contains(&"--exclusive".to_owned()));
        assert_eq!(&srun[srun.len() - 2..], ["assay", "block-worker"]);
    }
}
