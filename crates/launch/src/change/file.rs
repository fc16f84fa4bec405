//! The content of a file of the kernel, such as those of `/proc/sys` and `/sys`.

use crate::treatment::Treatment;
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How a file shows what was written to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// As it was written, but for white space (`net.ipv4.ip_local_port_range` has a tab).
    #[default]
    Text,
    /// All words, the one in force in brackets: `always [madvise] never`.
    Choice,
    /// A mask of processors: hexadecimal, in groups of 32 bits, with leading zeros (`ff`, `00000000,000000ff`).
    Mask,
}

impl Form {
    /// The value in a text of the file, in the form that is written.
    fn meaning(self, text: &str) -> String {
        match self {
            Form::Text => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Form::Choice => chosen(text).unwrap_or_else(|| text.trim()).to_owned(),
            Form::Mask => {
                let digits: String = text.trim().replace(',', "").to_lowercase();
                let digits = digits.trim_start_matches('0');
                if digits.is_empty() { "0".to_owned() } else { digits.to_owned() }
            }
        }
    }
}

fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSetting {
    path: PathBuf,
    value: String,
    /// What is written to take it back.
    before: String,
    #[serde(default)]
    form: Form,
}

impl FileSetting {
    /// Reads what it is now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn new(path: &Path, value: &str, form: Form) -> io::Result<FileSetting> {
        let text = fs_err::read_to_string(path)?;
        let before = if form == Form::Choice { form.meaning(&text) } else { text };
        Ok(FileSetting { path: path.to_owned(), value: value.to_owned(), before, form })
    }

    /// Whether it is already what it should become.
    pub fn changes_nothing(&self) -> bool {
        self.before() == self.form.meaning(&self.value)
    }

    /// Its value before, in the form that is written.
    pub fn before(&self) -> String {
        self.form.meaning(&self.before)
    }

    /// Its value now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&self) -> io::Result<String> {
        Ok(self.form.meaning(&fs_err::read_to_string(&self.path)?))
    }

    fn write(&self, value: &str) -> io::Result<()> {
        let mut file = fs_err::OpenOptions::new().write(true).truncate(true).open(&self.path)?;
        // The kernel takes a setting in one call.
        file.write_all(value.as_bytes())
    }

    fn expect(&self, value: &str) -> io::Result<()> {
        let (found, value) = (self.read()?, self.form.meaning(value));
        if found == value {
            return Ok(());
        }
        Err(io::Error::other(format!("{} is `{found}`, not `{value}`", self.name())))
    }
}

impl Treatment for FileSetting {
    fn apply(&self) -> io::Result<()> {
        self.write(&self.value)
    }

    fn verify(&self) -> io::Result<()> {
        self.expect(&self.value)
    }

    fn undo(&self) -> io::Result<()> {
        match self.write(&self.before) {
            // A file that is gone has nothing to revert.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(e),
            // The kernel may take less than it is given: huge pages that are in use stay.
            Ok(()) => self.expect(&self.before),
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_shows_is_compared_by_its_meaning() {
        assert_eq!(Form::Choice.meaning("always [madvise] never\n"), "madvise");
        assert_eq!(Form::Choice.meaning("never"), "never");
        assert_eq!(Form::Text.meaning("32768\t60999\n"), "32768 60999");
        assert_eq!(Form::Mask.meaning("00000000,000000FF\n"), "ff");
        assert_eq!(Form::Mask.meaning("0\n"), "0");
    }

    #[test]
    fn a_choice_is_taken_back_by_its_word_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("enabled");
        std::fs::write(&path, "always [madvise] never\n").unwrap();
        let setting = FileSetting::new(&path, "never", Form::Choice).unwrap();
        setting.apply().unwrap();
        setting.verify().unwrap();
        setting.undo().unwrap();
        // The kernel would show the others again.
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "madvise");
        assert_eq!(setting.before(), "madvise");
    }
}
