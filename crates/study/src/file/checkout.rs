//! Where the sources of Assay are: servers, probes and JVMs of ready-made studies are built in them.

use std::env;
use std::path::{Path, PathBuf};

/// Folders above a start folder that are searched.
const ANCESTORS_MAX: usize = 64;
/// Marks a checkout.
const WORKLOADS: &str = "workloads";
/// The launcher of a clone: sets it up, builds and runs the program.
const LAUNCHER: &str = "assay";

/// The checkout of a study: the nearest folder above the study file, the current folder, or the program that has `workloads/`; else the
/// sources that `assay setup` fetched.
pub(crate) fn find_checkout(study_file: &Path) -> Option<PathBuf> {
    let starts = [study_file.canonicalize().ok(), env::current_dir().ok()];
    starts.into_iter().flatten().find_map(|start| above(&start)).or_else(sources)
}

/// The checkout in which the program was built, or else the sources that `assay setup` fetched.
pub fn sources() -> Option<PathBuf> {
    let of_program = env::current_exe().ok().and_then(|program| above(&program));
    of_program.or_else(|| fetched_sources().filter(|folder| folder.join(WORKLOADS).is_dir()))
}

/// Where `assay setup` puts the sources of this version; none without a home folder.
pub fn fetched_sources() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")))?;
    Some(data.join("assay").join(env!("CARGO_PKG_VERSION")))
}

/// The command that builds what a workload in this folder needs, in the sources that were fetched or in its clone. None for a workload
/// that is not part of Assay: only its author knows.
pub(crate) fn setup_command(workload_dir: &Path) -> Option<String> {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let checkout = above(&absolute(workload_dir))?;
    if fetched_sources().is_some_and(|fetched| absolute(&fetched) == checkout) {
        return Some("`assay setup`".to_owned());
    }
    let launcher = Some(checkout.join(LAUNCHER)).filter(|launcher| launcher.is_file())?;
    let is_here = env::current_dir().is_ok_and(|here| absolute(&here) == checkout);
    Some(if is_here { "`./assay setup`".to_owned() } else { format!("`{} setup`", launcher.display()) })
}

fn above(start: &Path) -> Option<PathBuf> {
    start.ancestors().take(ANCESTORS_MAX).find(|folder| folder.join(WORKLOADS).is_dir()).map(Path::to_owned)
}
