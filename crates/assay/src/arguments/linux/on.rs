//! Hosts that run the blocks of a study.

use assay_place::Place;
use clap::Args;
use std::path::PathBuf;

/// Where the blocks are run.
#[derive(Debug, Args)]
pub struct OnArguments {
    /// Run the blocks on other hosts, one block at a time on each: ssh:HOST,HOST, or nodes of Slurm: slurm or slurm:PARTITION
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["blocks", "budget", "plan"])]
    pub on: Option<Place>,
    /// With --on: a file or folder that the study needs on the hosts, in the folder of the study file. Repeatable
    #[arg(long, value_name = "PATH", requires = "on")]
    pub send: Vec<PathBuf>,
    /// With --on: the program Assay on the hosts [default: assay]
    #[arg(long, value_name = "PROGRAM", requires = "on")]
    pub program: Option<String>,
}
