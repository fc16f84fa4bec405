//! Processes of a trial: started under a lease with ports of their own, each ready before the next, stopped with all that they
//! started. And changes to the machine that are taken back whatever happens. Nothing here knows what is measured.
//!
//! | part | files |
//! | --- | --- |
//! | what is started: command line, environment, folder | `spec`, `launch`, `placeholders`, `programs` |
//! | where, and how it is spoken with | `engine`, `local`, `process`, `family`, `server_log`, `http` |
//! | all processes of a trial, in order | `processes`, `member` |
//! | what a run leaves word of, safe from other users | `runtime_folder`, `private_folder`, `lock` |
//! | changes to the machine: which there are, and that they are taken back | `change`, `treatment` |

mod change;
mod engine;
mod family;
pub mod http;
mod launch;
mod local;
mod lock;
mod member;
mod placeholders;
mod private_folder;
mod process;
mod processes;
mod programs;
mod runtime_folder;
mod server_log;
mod spec;
mod treatment;

pub use change::{
    Change, FileSetting, Form, GroupLimits, NoSwap, OwnGroup, SwapDevice, WantedChange, swap_on_disk,
};
pub use engine::{Ended, Engine, Ready, Signal, Start};
pub use launch::{JVM_OPTIONS, Launch};
pub use local::Local;
pub use lock::try_lock_until;
pub use member::{OWN_NAMES, PORTS};
pub use placeholders::{Placeholders, unknown_names};
pub use private_folder::SERVER_FILES;
pub use process::{LocalProcess, POLL_INTERVAL};
pub use processes::Processes;
pub use programs::find as find_program;
pub use spec::{ProcessSpec, ReadyWhen, StopSignal, TrialFolders};
pub use treatment::{Treatment, Treatments};
