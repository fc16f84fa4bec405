//! `assay setup`: the sources of Assay, and in them what ready-made studies need: servers, probes, other JVMs.

use crate::arguments::SetupArguments;
use crate::failure::Failure;
use crate::version;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What makes all of it, in the sources.
const PREPARE: &str = "scripts/prepare-studies";

/// Fetches the sources where there are none, and makes there what studies need.
pub fn setup(arguments: &SetupArguments) -> Result<ExitCode, Failure> {
    let sources = match assay_study::sources() {
        Some(sources) => sources,
        None => fetch(arguments.from.as_deref())?,
    };
    say!("the sources: {}", sources.display());
    let prepare = sources.join(PREPARE);
    let status = Command::new(&prepare).status().map_err(|error| {
        let prepare = prepare.display();
        Failure::environment(format!(
            "{prepare} does not start: {error}\n  delete {}, then: assay setup",
            sources.display()
        ))
    })?;
    match status.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        // It has said why.
        _ => {
            Err(Failure::environment("what studies need is not whole; the messages above say why".to_owned()))
        }
    }
}

/// Clones the sources of this version. They appear whole or not at all.
fn fetch(from: Option<&str>) -> Result<PathBuf, Failure> {
    let Some(from) = from.or(version::REPOSITORY).filter(|from| !from.is_empty()) else {
        let what = "servers of ready-made studies are built from the sources of Assay, and this program does not know where they are\n  \
                    assay setup --from URL clones them; in a clone that you have: ./assay setup";
        return Err(Failure::environment(what));
    };
    let home =
        || Failure::environment("no home directory to clone the sources into: set XDG_DATA_HOME or HOME");
    let folder = assay_study::fetched_sources().ok_or_else(home)?;
    let above = folder.parent().ok_or_else(home)?;
    fs_err::create_dir_all(above)?;
    let clone = tempfile::Builder::new().prefix("new-").tempdir_in(above)?;
    say!("cloning {from}");
    git(clone.path(), &["clone", "--quiet", "--", from, "."])?;
    if let Some(commit) =
        version::COMMIT.and_then(|commit| commit.split('+').next()).filter(|commit| !commit.is_empty())
    {
        git(clone.path(), &["checkout", "--quiet", "--detach", commit])?;
    }
    if !clone.path().join(PREPARE).is_file() {
        return Err(Failure::input(format!(
            "{from} does not hold the sources of Assay: it has no {PREPARE}"
        )));
    }
    fs_err::rename(clone.path(), &folder)?;
    // It is in its place.
    let _ = clone.keep();
    Ok(folder)
}

/// Runs git in a folder. It says itself what is wrong.
fn git(folder: &Path, words: &[&str]) -> Result<(), Failure> {
    let status = Command::new("git").arg("-C").arg(folder).args(words).status().map_err(|error| {
        let why = if error.kind() == io::ErrorKind::NotFound {
            "git is not installed".to_owned()
        } else {
            error.to_string()
        };
        Failure::environment(format!("the sources cannot be cloned: {why}"))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::environment(format!(
        "the sources cannot be cloned: git {} failed; its messages are above",
        words[0]
    )))
}
