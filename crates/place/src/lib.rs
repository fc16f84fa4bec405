//! Blocks of a run on hosts of an engine that already exists: `ssh`, Slurm or Kubernetes. Assay schedules nothing itself.
//!
//! A block is every variant once, on one host, and needs nothing from any other block. So an engine needs one ability: to start a
//! program on a host of its own, with standard input and output connected to this one. That program is the *worker*, `assay block-worker`.
//! It gets a [`Task`] and the files of the study, reports the run's events, and returns the files of its run directory.
//! The end of its input is the lease: if this program dies, or the connection breaks, the worker stops its servers and ends.
//!
//! | file | content |
//! | --- | --- |
//! | `message` | the messages of both sides, a line of JSON each |
//! | `files` | files as messages, and back; nothing outside of the receiving folder is written |
//! | `engine` | the engines, a file or folder each: how each starts a worker |
//! | `conversation` | one task from the greeting of its worker to its last file |
//! | `dispatch` | blocks to hosts: each host has one at a time, and a block that fails goes to another host |
//! | `worker` | the far side |
//! | `listen` | the far side in a pod: the pod's own process waits, another one connects to it |

mod conversation;
mod dispatch;
mod engine;
mod error;
mod files;
mod listen;
mod message;
mod worker;

pub use dispatch::{Happened, HostPlan, Work, make_blocks, plans};
pub use engine::{Cluster, Place, Pods};
pub use error::{Fault, PlaceError};
pub use files::read_paths;
pub use listen::{caller, connect, wait_for_end};
pub use message::Task;
pub use worker::{Refusal, work};
