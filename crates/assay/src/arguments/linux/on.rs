//! Hosts that run the blocks of a study.

use super::key_value::key_value;
use assay_place::{Place, Pods};
use clap::Args;
use std::path::PathBuf;

/// Where the blocks are run.
#[derive(Debug, Args)]
pub struct OnArguments {
    /// Run the blocks on other hosts, one block at a time on each: ssh:HOST,HOST, nodes of Slurm (slurm, slurm:PARTITION) or of Kubernetes
    /// (kubernetes, kubernetes:CONTEXT/NAMESPACE)
    #[arg(long, value_name = "PLACE", conflicts_with_all = ["blocks", "budget", "plan"])]
    pub on: Option<Place>,
    /// With --on: a file or folder that the study needs on the hosts, in the folder of the study file. Repeatable
    #[arg(long, value_name = "PATH", requires = "on")]
    pub send: Vec<PathBuf>,
    /// With --on: the program Assay on the hosts [default: assay]
    #[arg(long, value_name = "PROGRAM", requires = "on")]
    pub program: Option<String>,
    /// With --on kubernetes: the image with Assay and the JVMs of the study [default: assay:VERSION, without JVMs]
    #[arg(long, value_name = "IMAGE", requires = "on")]
    pub image: Option<String>,
    /// With --on kubernetes: a label of the nodes. Repeatable
    #[arg(long, value_name = "KEY=VALUE", requires = "on", value_parser = key_value)]
    pub node_selector: Vec<(String, String)>,
    /// With --on kubernetes: requests and limits of each pod, such as cpu=4,memory=8Gi
    #[arg(long, value_name = "NAME=VALUE", requires = "on", value_delimiter = ',', value_parser = key_value)]
    pub pod_resources: Vec<(String, String)>,
}

impl OnArguments {
    /// Properties of pods.
    pub fn pods(&self) -> Pods {
        let OnArguments { image, node_selector, pod_resources, .. } = self;
        Pods { image: image.clone(), node_selector: node_selector.clone(), resources: pod_resources.clone() }
    }
}
