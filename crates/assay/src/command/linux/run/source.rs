//! The study that is run: a file, or a ready-made one by its name.

use super::outcome::shown;
use crate::command::what_file::{FileKind, kind_of, said_of};
use crate::failure::Failure;
use assay_study::{Checked, Diagnostic, READY_MADE, ReadyMade, Study};
use assay_text::near::hint;
use std::path::{Path, PathBuf};

/// The folder of the ready-made studies below the checkout's root.
const STUDIES: &str = "studies";

/// Where a study comes from.
pub(super) enum Source {
    File(PathBuf),
    /// The program itself.
    ReadyMade(ReadyMade),
}

impl Source {
    pub(super) fn read(&self) -> Result<Checked, Vec<Diagnostic>> {
        match self {
            Source::File(path) => Study::read(path),
            // Paths in it begin at the current folder.
            Source::ReadyMade(study) => Study::check(Path::new(&format!("{}.toml", study.name)), study.text),
        }
    }

    /// A part lies beside the study that names it.
    pub(super) fn part(&self, path: PathBuf) -> Source {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match (self, ReadyMade::of(&name)) {
            (Source::ReadyMade(_), Some(part)) => Source::ReadyMade(part),
            _ => Source::File(path),
        }
    }
}

/// The file that was named, or the ready-made study of that name: the checkout's, which may have been changed, before the program's own.
pub(super) fn source_of(named: &Path) -> Result<Source, Failure> {
    if named.is_dir() {
        let name = named.display();
        return Err(Failure::input(format!(
            "{name} is a folder: name a study file in it\n  assay run {name}/STUDY.toml"
        )));
    }
    let kind = kind_of(named);
    // A checkout has a program `check`, and a study.
    let is_script_of_that_name =
        kind == Some(FileKind::Script) && named.to_str().is_some_and(|name| ReadyMade::of(name).is_some());
    let is_study = |kind: &FileKind| matches!(kind, FileKind::Study | FileKind::Text);
    if let Some(kind) = kind.filter(|kind| !is_study(kind) && !is_script_of_that_name) {
        let said = said_of(named).filter(|_| kind != FileKind::Log).unwrap_or_default();
        let what = if said.is_empty() { "a study is a TOML file" } else { said.as_str() };
        return Err(Failure::input(format!(
            "{} is not a study: {what}\n  an example: studies/own-server.toml",
            named.display()
        )));
    }
    if named.exists() && !is_script_of_that_name {
        return Ok(Source::File(named.to_owned()));
    }
    let name = named.to_string_lossy();
    let name = name.strip_suffix(".toml").unwrap_or(&name);
    let of_checkout = checkout().join(STUDIES).join(format!("{name}.toml"));
    let is_name = named.components().count() == 1;
    if is_name && of_checkout.is_file() {
        say!("note: the ready-made study {}", shown(&of_checkout).display());
        return Ok(Source::File(of_checkout));
    }
    if let Some(study) = ReadyMade::of(name).filter(|_| is_name) {
        say!("note: the ready-made study {name}; assay studies {name} prints it");
        return Ok(Source::ReadyMade(study));
    }
    let hint = hint(name, READY_MADE.iter().map(|study| study.name));
    Err(Failure::input(format!(
        "there is no study file {}, nor a ready-made study of that name{hint}",
        named.display()
    )))
}

/// The root of the checkout: the program lies in its `target/release`, or `assay setup` fetched it.
pub(super) fn checkout() -> PathBuf {
    assay_study::sources().unwrap_or_else(|| PathBuf::from("."))
}
