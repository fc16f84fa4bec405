//! A place by its name.

use super::kubernetes::{Cluster, Pods};
use super::slots::Slots;
use super::slurm::SlurmNodes;
use super::ssh::SshHosts;
use crate::error::PlaceError;
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
    /// Nodes of a Kubernetes cluster, each for one block alone.
    Kubernetes(Cluster),
}

impl FromStr for Place {
    type Err = PlaceError;

    /// Reads `ssh:HOST,HOST`, `slurm`, `slurm:PARTITION`, `kubernetes` or `kubernetes:CONTEXT/NAMESPACE`.
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
            ("kubernetes", None) => Ok(Place::Kubernetes(Cluster::default())),
            ("kubernetes", Some(rest)) => Cluster::named(rest).map(Place::Kubernetes),
            _ => Err(PlaceError::Input(format!(
                "{text:?} is not a place: ssh:HOST,HOST or slurm or slurm:PARTITION or kubernetes or kubernetes:CONTEXT/NAMESPACE"
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
    /// Sets properties of the pods.
    ///
    /// # Errors
    /// The place has no pods, and some property is set.
    pub fn with_pods(self, pods: Pods) -> Result<Place, PlaceError> {
        match self {
            Place::Kubernetes(cluster) => Ok(Place::Kubernetes(Cluster { pods, ..cluster })),
            other if pods == Pods::default() => Ok(other),
            _ => Err(PlaceError::Input(
                "--image, --node-selector and --pod-resources are for --on kubernetes".to_owned(),
            )),
        }
    }

    /// Leaves hosts out. An engine that chooses the hosts itself stays as it is.
    pub fn keep_hosts(&mut self, mut is_kept: impl FnMut(&str) -> bool) {
        if let Place::Ssh(hosts) = self {
            hosts.retain(|host| is_kept(host));
        }
    }

    /// Checks what can be checked before anything starts, and notes what the place offers.
    ///
    /// # Errors
    /// The place cannot be used, with the command that changes this.
    pub(crate) fn prepare(&mut self, allow_host_changes: bool) -> Result<(), PlaceError> {
        match self {
            Place::Ssh(_) | Place::Slurm(_) => Ok(()),
            Place::Kubernetes(cluster) => cluster.prepare(allow_host_changes),
        }
    }

    /// Slots for so many tasks at the same time. `program` is Assay on the hosts.
    ///
    /// # Errors
    /// Of the engine.
    pub(crate) fn slots(
        &self,
        tasks: usize,
        program: &str,
        allow_host_changes: bool,
    ) -> Result<Box<dyn Slots>, PlaceError> {
        let program = program.to_owned();
        Ok(match self {
            Place::Ssh(hosts) => Box::new(SshHosts { hosts: hosts.clone(), program }),
            Place::Slurm(partition) => Box::new(SlurmNodes::new(tasks, partition.clone(), program)),
            Place::Kubernetes(cluster) => Box::new(cluster.start(tasks, program, allow_host_changes)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_other_text_is_named() {
        let read = |text: &str| text.parse::<Place>().map_err(|e| e.to_string());
        assert_eq!(read("ssh:a, root@b.lan"), Ok(Place::Ssh(vec!["a".to_owned(), "root@b.lan".to_owned()])));
        assert_eq!(read("slurm"), Ok(Place::Slurm(None)));
        assert_eq!(read("slurm:bench"), Ok(Place::Slurm(Some("bench".to_owned()))));
        let cluster = |context: Option<&str>, namespace: Option<&str>| {
            let (context, namespace) = (context.map(str::to_owned), namespace.map(str::to_owned));
            Ok(Place::Kubernetes(Cluster { context, namespace, ..Cluster::default() }))
        };
        assert_eq!(read("kubernetes"), cluster(None, None));
        assert_eq!(read("kubernetes:dev"), cluster(Some("dev"), None));
        assert_eq!(read("kubernetes:dev/bench"), cluster(Some("dev"), Some("bench")));
        assert_eq!(read("kubernetes:/bench"), cluster(None, Some("bench")));
        let arn = "arn:aws:eks:eu-west-1:1:cluster/dev";
        assert_eq!(read(&format!("kubernetes:{arn}/bench")), cluster(Some(arn), Some("bench")));
        assert_eq!(read(&format!("kubernetes:{arn}/")), cluster(Some(arn), None));
        for wrong in [
            "",
            "ssh",
            "ssh:",
            "ssh:a,,b",
            "ssh:-oProxyCommand=x",
            "ssh:a b",
            "slurm:",
            "slurm:-x",
            "local",
            "kubernetes:",
            "kubernetes:/",
            "kubernetes:dev/Bench",
            "kubernetes:dev/-n",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn properties_of_pods_are_for_kubernetes_alone() {
        let pods = Pods { image: Some("shop:1".to_owned()), ..Pods::default() };
        let with = |place: &str, pods: Pods| place.parse::<Place>().expect("a place").with_pods(pods);
        assert!(with("slurm", pods.clone()).is_err());
        assert!(with("slurm", Pods::default()).is_ok());
        assert!(
            matches!(with("kubernetes", pods.clone()), Ok(Place::Kubernetes(cluster)) if cluster.pods == pods)
        );
    }
}
