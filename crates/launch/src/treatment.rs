//! Changes to the machine that a level asks for. Each is on disk before it is made, with what it was before, so that it is
//! taken back whatever becomes of this program: at the end of the trial, on Ctrl-C, and after `kill -9` by the next start.
//!
//! One run at a time changes the machine: it holds the lock of the file with its changes. The file is valid for one boot
//! only, since settings of the kernel do not outlive it.

use crate::lock::{patience, try_lock_until};
use crate::private_folder::{open_own, open_private};
use assay_linux::ProcRoot;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// File in the runtime folder.
const CHANGES: &str = "treatments.ndjson";
/// Locked by the run that changes the machine, whatever its runtime folder: two that replace each other's values would restore the wrong ones.
const MACHINE_LOCK: &str = "/run/assay-changes.lock";
/// What is said of a change that a newer version made.
const UNKNOWN: &str = "names a change that this version of Assay does not know: start the one that made it, which takes it back";
const CHANGES_BYTES_MAX: u64 = 64 << 20;

/// A change to the machine, with all that is needed to take it back.
pub trait Treatment {
    /// Makes the change.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn apply(&self) -> io::Result<()>;

    /// Reads back whether it was made.
    ///
    /// # Errors
    /// What was found instead.
    fn verify(&self) -> io::Result<()>;

    /// Takes it back; may be called more than once, and where it was never made.
    ///
    /// # Errors
    /// Why it cannot be taken back.
    fn undo(&self) -> io::Result<()>;

    /// What it changes, for messages.
    fn name(&self) -> String;
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line<T> {
    /// Written before the change is made.
    Change { number: u32, boot_id: String, treatment: T },
    /// Written after it was taken back.
    Undone { number: u32 },
}

/// The changes of a run. Dropped, it takes them back.
#[derive(Debug)]
pub struct Treatments<T: Treatment + Serialize> {
    file: File,
    boot_id: String,
    last_number: u32,
    made: Vec<(u32, T)>,
    /// Something could not be taken back, and stays in the file.
    has_failed: bool,
    /// Held as long as this lives, which is until all is taken back.
    machine: Option<File>,
}

impl<T: Treatment + Serialize + DeserializeOwned> Treatments<T> {
    /// Begins to change the machine; takes back first what a run that is gone has left.
    ///
    /// # Errors
    /// When another run is changing the machine ([`io::ErrorKind::WouldBlock`]), or what one has left cannot be taken back.
    pub fn begin(folder: &Path) -> io::Result<Treatments<T>> {
        let mut found = Treatments::open(folder)?.ok_or_else(another_run)?;
        match found.undo_all().as_slice() {
            [] => Ok(found),
            failed => Err(io::Error::other(failed.join("; "))),
        }
    }

    /// Begins like [`Treatments::begin`], and keeps every other run of root from changing this machine meanwhile.
    ///
    /// # Errors
    /// As of [`Treatments::begin`].
    pub fn begin_alone(folder: &Path) -> io::Result<Treatments<T>> {
        let machine = lock_machine(Path::new(MACHINE_LOCK))?;
        let mut treatments = Treatments::begin(folder)?;
        treatments.machine = machine;
        Ok(treatments)
    }

    /// Opens and locks the file, and reads what is still to be taken back; none while another run has it.
    fn open(folder: &Path) -> io::Result<Option<Treatments<T>>> {
        let handle = open_private(folder)?;
        let path = folder.join(CHANGES);
        let mut options = OpenOptions::new();
        // A link in its place is not followed.
        options.create(true).append(true).mode(0o600).custom_flags(libc_nofollow());
        let file = options.open(&path)?;
        if !try_lock_until(&file, patience()) {
            return Ok(None);
        }
        let mut text = String::new();
        open_own(&handle, Path::new(CHANGES), CHANGES_BYTES_MAX)?.read_to_string(&mut text)?;
        let boot_id = ProcRoot::default().read_boot_id().map_err(io::Error::other)?;
        let mut made = BTreeMap::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = match serde_json::from_slice::<Line<T>>(line.as_bytes()) {
                Ok(line) => line,
                // A line that was cut off by the end of its run was of a change that was not made yet. A whole one must not be lost.
                Err(_) if serde_json::from_str::<serde_json::Value>(line).is_err() => continue,
                Err(_) => return Err(io::Error::other(format!("{} {UNKNOWN}", path.display()))),
            };
            match line {
                Line::Change { number, boot_id: then, treatment } if then == boot_id => {
                    made.insert(number, treatment);
                }
                Line::Change { .. } => {}
                Line::Undone { number } => drop(made.remove(&number)),
            }
        }
        let last_number = made.keys().next_back().copied().unwrap_or(0);
        Ok(Some(Treatments {
            file,
            boot_id,
            last_number,
            made: made.into_iter().collect(),
            has_failed: false,
            machine: None,
        }))
    }

    /// Makes a change and reads it back; gives the number by which it is taken back. One that was not made as it was meant is taken back
    /// at once.
    ///
    /// # Errors
    /// What went wrong.
    pub fn apply(&mut self, treatment: T) -> io::Result<u32> {
        let number = self.last_number + 1;
        let line = Line::Change { number, boot_id: self.boot_id.clone(), treatment: &treatment };
        self.write(&line)?;
        self.last_number = number;
        self.made.push((number, treatment));
        let Some((_, treatment)) = self.made.last() else { return Ok(number) };
        treatment.apply().and_then(|()| treatment.verify()).map(|()| number).map_err(|e| {
            let failed =
                self.undo_one(number).err().map(|e| format!("; and it could not be taken back: {e}"));
            io::Error::new(e.kind(), format!("{e}{}", failed.unwrap_or_default()))
        })
    }
}

impl<T: Treatment + Serialize> Treatments<T> {
    /// Takes all changes back, the last first; says which could not be. These stay for the next start.
    pub fn undo_all(&mut self) -> Vec<String> {
        let numbers: Vec<u32> = self.made.iter().map(|(number, _)| *number).collect();
        self.undo(&numbers)
    }

    /// Takes these changes back, the last first; says which could not be. These stay for the next start.
    pub fn undo(&mut self, numbers: &[u32]) -> Vec<String> {
        let mut failed = Vec::new();
        for number in numbers.iter().rev() {
            let name =
                self.made.iter().find(|(made, _)| made == number).map(|(_, treatment)| treatment.name());
            let wrong = self.undo_one(*number).err().zip(name);
            failed.extend(wrong.map(|(e, name)| format!("{name} could not be set back: {e}")));
        }
        self.has_failed |= !failed.is_empty();
        if self.made.is_empty() && !self.has_failed {
            // Cut off entirely, so that the file does not grow; a line less would be one change too many.
            failed.extend(self.file.set_len(0).err().map(|e| e.to_string()));
        }
        failed
    }

    fn undo_one(&mut self, number: u32) -> io::Result<()> {
        let Some(at) = self.made.iter().position(|(made, _)| *made == number) else { return Ok(()) };
        let (_, treatment) = self.made.remove(at);
        treatment.undo()?;
        self.write(&Line::<T>::Undone { number })
    }

    /// On the disk when this returns.
    fn write<U: Serialize>(&mut self, line: &Line<U>) -> io::Result<()> {
        // Begins with a line end: the record before may have been cut off.
        let line = format!("\n{}\n", serde_json::to_string(line)?);
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()
    }
}

impl<T: Treatment + Serialize> Drop for Treatments<T> {
    fn drop(&mut self) {
        // A change that cannot be reverted is reported by the next start.
        self.undo_all();
    }
}

/// Takes back what a run that is gone has changed; says what was done, in words.
pub(crate) fn undo_left_over<T: Treatment + Serialize + DeserializeOwned>(folder: &Path) -> Vec<String> {
    if !folder.join(CHANGES).exists() {
        return Vec::new();
    }
    let mut found = match Treatments::<T>::open(folder) {
        Ok(Some(found)) => found,
        // Its run lives.
        Ok(None) => return Vec::new(),
        Err(e) => return vec![format!("whether settings must be set back could not be read: {e}")],
    };
    let names: Vec<String> = found.made.iter().map(|(_, treatment)| treatment.name()).collect();
    let mut told = found.undo_all();
    if told.is_empty() {
        told.extend(
            names.iter().map(|name| format!("set {name} back, which a run that was killed had changed")),
        );
    }
    told
}

/// Of a kind by which whoever can wait tells it from other errors.
fn another_run() -> io::Error {
    let what = "another run is changing settings of this machine; wait until it has ended";
    io::Error::new(io::ErrorKind::WouldBlock, what)
}

/// The machine's lock; none for users other than root, who cannot write there and can hardly change anything.
fn lock_machine(path: &Path) -> io::Result<Option<File>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).custom_flags(libc_nofollow());
    let file = options.open(path)?;
    if try_lock_until(&file, patience()) { Ok(Some(file)) } else { Err(another_run()) }
}

fn libc_nofollow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

#[cfg(test)]
#[path = "treatment_tests.rs"]
mod tests;
