//! Nodes of a Kubernetes cluster, through the user's own `kubectl`: it knows clusters, contexts and login plug-ins.
//!
//! A run is one Indexed Job with an index for each block. Its pods wait for a conversation, and `kubectl exec` connects one to each.
//! Attaching to a pod's first process would be simpler, but it loses output from before the attachment, and copies every message into the
//! log on the node. Three leases end everything after a `kill -9` of this program:
//!
//! - a conversation ends with its connection, and the pod with the conversation;
//! - a pod that nobody talks to ends, and its index counts as complete, so that no other pod replaces it;
//! - the Job has a deadline that this program extends, and the cluster removes a Job that has ended.

mod checks;
mod cluster;
mod job;
mod kubectl;
mod manifest;
mod objects;

pub use cluster::{Cluster, Pods};

use super::slots::Slots;
use crate::error::PlaceError;
use job::Job;

impl Cluster {
    /// Checks rights, namespace and nodes.
    ///
    /// # Errors
    /// What is missing, with the command that adds it.
    pub(super) fn prepare(&mut self, allow_host_changes: bool) -> Result<(), PlaceError> {
        self.has_host_resource = checks::check(self, allow_host_changes)?;
        Ok(())
    }

    /// Creates the Job for so many tasks.
    ///
    /// # Errors
    /// Those of the cluster.
    pub(super) fn start(
        &self,
        tasks: usize,
        program: String,
        allow_host_changes: bool,
    ) -> Result<impl Slots + use<>, PlaceError> {
        Job::create(self, tasks, program, allow_host_changes)
    }
}
