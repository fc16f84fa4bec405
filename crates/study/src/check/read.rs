//! Where a study comes from: a file, a text, or a value that was built in code. All are checked alike.

use crate::check::checked::{self, Checked};
use crate::error::Diagnostic;
use crate::file::document::Document;
use crate::file::study::{Study, study_schema};
use std::path::{Path, PathBuf};

impl Study {
    /// Reads a study file with what it names, and checks both.
    ///
    /// # Errors
    /// Every mistake that was found, in the order of the lines.
    pub fn read(path: &Path) -> Result<Checked, Vec<Diagnostic>> {
        let text = Document::read(path).map_err(|wrong| vec![wrong])?;
        Study::check(path, &text)
    }

    /// The same for the text of a study file.
    ///
    /// # Errors
    /// As [`Study::read`].
    pub fn check(path: &Path, text: &str) -> Result<Checked, Vec<Diagnostic>> {
        let document = Document::parse(path, text, &study_schema());
        checked::check(document, text)
    }

    /// Checks a study that was built in code. Messages have `name` where a file's would be, and paths in it are relative to the
    /// current folder.
    ///
    /// # Errors
    /// As [`Study::read`].
    pub fn checked(&self, name: &str) -> Result<Checked, Vec<Diagnostic>> {
        let (file, line) = (PathBuf::from(name), None);
        let text = self
            .to_toml()
            .map_err(|message| vec![Diagnostic { file: file.clone(), line, message, environment: false }])?;
        // No person has written the text, so its lines mean nothing.
        checked::check(Document::parse(&file, &text, &study_schema()).without_lines(), &text)
    }
}
