//! The control group that keeps the server of a side of a duet on its half of the processors, where changes to the machine are allowed.
//!
//! Affinity does the same, but a server, or a program that its command starts, can give itself another one.

use crate::plan::variant_launch::VariantLaunch;
use assay_launch::{GroupLimits, WantedChange};
use assay_linux::Processors;
use assay_model::Plan;
use std::io;
use std::path::PathBuf;

/// The file of a group that says which processors its processes may use.
const CPUS: &str = "cpuset.cpus";

/// Whether the plan is a duet, and this process may make such groups here.
pub(super) fn is_possible(plan: &Plan) -> bool {
    let Some(duet) = &plan.duet else { return false };
    let limits = on(&duet.halves[0]);
    WantedChange::Group(limits.clone()).check_here().is_ok() && limits.check_writable().is_ok()
}

/// The launch with a group on a half; a group that its variant limits is the same one.
pub(super) fn launch(of: &VariantLaunch, half: &Processors) -> VariantLaunch {
    let mut launch = of.clone();
    let own = launch.changes.iter_mut().find_map(|change| match change {
        WantedChange::Group(limits) => Some(limits),
        _ => None,
    });
    match own {
        Some(limits) => limits.cpuset = Some(half.to_string()),
        None => launch.changes.push(WantedChange::Group(on(&half.to_string()))),
    }
    launch
}

/// Moves the processes in these folders of a group to another half.
///
/// # Errors
/// The kernel refuses.
pub(super) fn move_to(folders: &[PathBuf], half: &Processors) -> io::Result<()> {
    let files = folders.iter().map(|folder| folder.join(CPUS)).filter(|file| file.exists());
    files.into_iter().try_for_each(|file| fs_err::write(file, half.to_string()))
}

fn on(half: &str) -> GroupLimits {
    GroupLimits { cpuset: Some(half.to_owned()), ..GroupLimits::default() }
}
