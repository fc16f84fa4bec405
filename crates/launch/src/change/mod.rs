//! The changes to the machine that a level can ask for: wanted, then planned with what they replace, then made.

mod file;
mod group;
mod swap;

pub use file::{FileSetting, Form};
pub use group::{GroupLimits, OwnGroup};
pub use swap::{NoSwap, SwapDevice, swap_on_disk};

use crate::treatment::Treatment;
use assay_linux::{ProcRoot, SysRoot};
use assay_model::PlannedTreatment;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;

/// A change that is wanted. Nothing is read of what it replaces, and nothing made.
#[derive(Debug, Clone, PartialEq)]
pub enum WantedChange {
    /// A file of the kernel with another content.
    File {
        /// Its path.
        path: PathBuf,
        /// What is written.
        value: String,
        /// How the file shows it.
        form: Form,
    },
    /// A control group of the trial's own.
    Group(GroupLimits),
    /// So many bytes of swap more, in compressed memory.
    Swap(u64),
    /// No swap.
    NoSwap,
}

impl WantedChange {
    /// The changes by which limits hold in the open group of this name.
    ///
    /// # Errors
    /// A controller is missing, or cannot be limited like this.
    pub fn within_group(limits: &GroupLimits, name: &str) -> io::Result<Vec<WantedChange>> {
        let settings = limits.settings(name, &ProcRoot::default(), &SysRoot::default())?;
        let file = |(path, value)| WantedChange::File { path, value, form: Form::Text };
        Ok(settings.into_iter().map(file).collect())
    }

    /// For plan and refusal.
    pub fn planned(&self) -> PlannedTreatment {
        let (setting, value) = match self {
            WantedChange::File { path, value, .. } => (path.display().to_string(), value.clone()),
            WantedChange::Group(limits) => ("control group of the server".to_owned(), limits.describe()),
            WantedChange::Swap(bytes) => {
                ("swap".to_owned(), format!("{} MiB more, on a zram device", bytes >> 20))
            }
            WantedChange::NoSwap => ("swap".to_owned(), "off".to_owned()),
        };
        PlannedTreatment { setting, value, is_global: self.is_global() }
    }

    /// Whether it holds for the whole machine, and not for one server.
    pub fn is_global(&self) -> bool {
        !matches!(self, WantedChange::Group(_))
    }

    /// Says why it cannot be made here.
    ///
    /// # Errors
    /// What this machine lacks.
    pub fn check_here(&self) -> Result<(), String> {
        match self {
            WantedChange::File { path, .. } if !path.exists() => {
                Err(format!("this machine has no {}", path.display()))
            }
            WantedChange::File { .. } | WantedChange::NoSwap => Ok(()),
            WantedChange::Group(limits) => limits.check_here(&ProcRoot::default(), &SysRoot::default()),
            WantedChange::Swap(_) => SwapDevice::check_here(),
        }
    }

    /// Reads what it replaces. `name` is that of a control group, and of no other.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn change(&self, name: &str) -> io::Result<Change> {
        Ok(match self {
            WantedChange::File { path, value, form } => Change::File(FileSetting::new(path, value, *form)?),
            WantedChange::Group(limits) => {
                Change::Group(OwnGroup::new(limits, name, &ProcRoot::default(), &SysRoot::default())?)
            }
            WantedChange::Swap(bytes) => Change::Swap(SwapDevice::new(*bytes)?),
            WantedChange::NoSwap => Change::NoSwap(NoSwap::new()?),
        })
    }
}

/// A change, with all that is needed to take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A file of the kernel.
    File(FileSetting),
    /// A control group.
    Group(OwnGroup),
    /// A device that is swapped to.
    Swap(SwapDevice),
    /// No swap.
    NoSwap(NoSwap),
}

impl Change {
    fn treatment(&self) -> &dyn Treatment {
        match self {
            Change::File(of) => of,
            Change::Group(of) => of,
            Change::Swap(of) => of,
            Change::NoSwap(of) => of,
        }
    }

    /// The value that it replaces, if any.
    pub fn before(&self) -> Option<String> {
        if let Change::File(of) = self { Some(of.before()) } else { None }
    }

    /// What is there now; absent where it cannot be read.
    pub fn found(&self) -> Option<String> {
        match self {
            Change::File(of) => of.read().ok(),
            Change::Group(of) => of.read().ok(),
            Change::Swap(of) => of.verify().ok().map(|()| of.name()),
            Change::NoSwap(of) => of.verify().ok().map(|()| "off".to_owned()),
        }
    }

    /// The folders of a control group that a process enters.
    pub fn groups(&self) -> Vec<PathBuf> {
        if let Change::Group(of) = self { of.folders() } else { Vec::new() }
    }
}

impl Treatment for Change {
    fn apply(&self) -> io::Result<()> {
        self.treatment().apply()
    }

    fn verify(&self) -> io::Result<()> {
        self.treatment().verify()
    }

    fn undo(&self) -> io::Result<()> {
        self.treatment().undo()
    }

    fn name(&self) -> String {
        self.treatment().name()
    }
}
