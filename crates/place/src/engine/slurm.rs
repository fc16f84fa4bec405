//! Nodes that Slurm assigns.

use super::slots::{Reuse, Slots, WORKER};
use crate::error::Fault;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A request to Slurm for each block.
#[derive(Debug)]
pub(super) struct SlurmNodes {
    names: Vec<String>,
    partition: Option<String>,
    /// Assay on the nodes.
    program: String,
}

impl SlurmNodes {
    pub(super) fn new(requests: usize, partition: Option<String>, program: String) -> SlurmNodes {
        let names = (1..=requests).map(|number| format!("slurm {number}")).collect();
        SlurmNodes { names, partition, program }
    }
}

impl Slots for SlurmNodes {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn reuse(&self) -> Reuse {
        Reuse::Request
    }

    fn needs(&self) -> (&'static str, &'static str) {
        ("srun", "apt-get install slurm-client")
    }

    fn worker(&self, _: usize, _: &AtomicBool, _: &mut dyn FnMut(String)) -> Result<Command, Fault> {
        let mut command = Command::new("srun");
        command.args(["--exclusive", "--nodes=1", "--ntasks=1", "--job-name=assay", "--quiet"]);
        command.args(self.partition.iter().map(|partition| format!("--partition={partition}")));
        // Without it srun closes the job's input as soon as it has none.
        command.args(["--input=0", "--unbuffered", &self.program, WORKER]);
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_for_a_whole_node_of_the_partition() {
        let nodes = SlurmNodes::new(1, Some("bench".to_owned()), "assay".to_owned());
        let command = nodes.worker(0, &AtomicBool::new(false), &mut |_| ()).expect("a command");
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(words.contains(&"--partition=bench".to_owned()) && words.contains(&"--exclusive".to_owned()));
        assert_eq!(&words[words.len() - 2..], ["assay", "block-worker"]);
    }
}
