//! Changes to the machine that a level asks for. Each is on disk before it is made, with what it was before, so that it is
//! taken back whatever becomes of this program: at the end of the trial, on Ctrl-C, and after `kill -9` by the next start.
//!
//! One run at a time changes the machine: it holds the lock of the file with its changes. What the file says is true of one
//! boot only, since settings of the kernel do not outlive it.

use crate::private_folder::{open_own, open_private};
use assay_linux::ProcRoot;
use rustix::fs::{FlockOperation, flock};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// File in the runtime folder.
const CHANGES: &str = "changes.ndjson";
const CHANGES_BYTES_MAX: u64 = 64 << 20;

/// A change to the machine, with all that is needed to take it back.
pub trait Treatment: Serialize + DeserializeOwned {
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

/// The content of a file, such as those of `/proc/sys` and `/sys`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSetting {
    path: PathBuf,
    value: String,
    before: String,
}

impl FileSetting {
    /// Reads what it is now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn new(path: &Path, value: &str) -> io::Result<FileSetting> {
        let before = fs_err::read_to_string(path)?;
        Ok(FileSetting { path: path.to_owned(), value: value.to_owned(), before })
    }

    fn write(&self, value: &str) -> io::Result<()> {
        let mut file = fs_err::OpenOptions::new().write(true).truncate(true).open(&self.path)?;
        // The kernel takes a setting in one call.
        file.write_all(value.as_bytes())
    }
}

impl Treatment for FileSetting {
    fn apply(&self) -> io::Result<()> {
        self.write(&self.value)
    }

    fn verify(&self) -> io::Result<()> {
        let found = fs_err::read_to_string(&self.path)?;
        if found.trim() == self.value.trim() {
            return Ok(());
        }
        Err(io::Error::other(format!("{} is `{}`, not `{}`", self.name(), found.trim(), self.value.trim())))
    }

    fn undo(&self) -> io::Result<()> {
        match self.write(&self.before) {
            // What is gone has nothing to be set back.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            done => done,
        }
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
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

/// The changes of a trial. Dropped, it takes them back.
#[derive(Debug)]
pub struct Treatments<T: Treatment> {
    file: File,
    boot_id: String,
    last_number: u32,
    made: Vec<(u32, T)>,
}

impl<T: Treatment> Treatments<T> {
    /// Begins to change the machine; takes back first what a run that is gone has left.
    ///
    /// # Errors
    /// When another run is changing the machine, or what one has left cannot be taken back.
    pub fn begin(folder: &Path) -> io::Result<Treatments<T>> {
        let mut found = Treatments::open(folder)?.ok_or_else(|| {
            io::Error::other("another run is changing settings of this machine; wait until it has ended")
        })?;
        match found.undo_all().as_slice() {
            [] => Ok(found),
            failed => Err(io::Error::other(failed.join("; "))),
        }
    }

    /// Opens and locks the file, and reads what is still to be taken back; none while another run has it.
    fn open(folder: &Path) -> io::Result<Option<Treatments<T>>> {
        let handle = open_private(folder)?;
        let path = folder.join(CHANGES);
        let mut options = OpenOptions::new();
        // A link in its place is not followed.
        options.create(true).append(true).mode(0o600).custom_flags(libc_nofollow());
        let file = options.open(&path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let mut text = String::new();
        open_own(&handle, Path::new(CHANGES), CHANGES_BYTES_MAX)?.read_to_string(&mut text)?;
        let boot_id = ProcRoot::default().read_boot_id().map_err(io::Error::other)?;
        let mut made = BTreeMap::new();
        // A line that was cut off by the end of its run was of a change that was not made yet.
        for line in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            match line {
                Line::Change { number, boot_id: then, treatment } if then == boot_id => {
                    made.insert(number, treatment);
                }
                Line::Change { .. } => {}
                Line::Undone { number } => drop(made.remove(&number)),
            }
        }
        let last_number = made.keys().next_back().copied().unwrap_or(0);
        Ok(Some(Treatments { file, boot_id, last_number, made: made.into_iter().collect() }))
    }

    /// Makes a change and reads it back. One that was not made as it was meant is taken back at once.
    ///
    /// # Errors
    /// What went wrong.
    pub fn apply(&mut self, treatment: T) -> io::Result<()> {
        let number = self.last_number + 1;
        let line = Line::Change { number, boot_id: self.boot_id.clone(), treatment: &treatment };
        self.write(&line)?;
        self.last_number = number;
        self.made.push((number, treatment));
        let Some((_, treatment)) = self.made.last() else { return Ok(()) };
        treatment.apply().and_then(|()| treatment.verify()).map_err(|e| {
            let failed = self.undo_last().err().map(|e| format!("; and it could not be taken back: {e}"));
            io::Error::new(e.kind(), format!("{e}{}", failed.unwrap_or_default()))
        })
    }

    /// Takes all changes back, the last first; says which could not be. These stay for the next start.
    pub fn undo_all(&mut self) -> Vec<String> {
        let mut failed = Vec::new();
        while let Some(name) = self.made.last().map(|(_, treatment)| treatment.name()) {
            failed.extend(self.undo_last().err().map(|e| format!("{name} could not be set back: {e}")));
        }
        if failed.is_empty() {
            // Cut off entirely, so that the file does not grow; a line less would be one change too many.
            failed.extend(self.file.set_len(0).err().map(|e| e.to_string()));
        }
        failed
    }

    fn undo_last(&mut self) -> io::Result<()> {
        let Some((number, treatment)) = self.made.pop() else { return Ok(()) };
        treatment.undo()?;
        self.write(&Line::<T>::Undone { number })
    }

    /// On the disk when this returns.
    fn write<U: Serialize>(&mut self, line: &Line<U>) -> io::Result<()> {
        // Begins with a line end: what came before may have been cut off.
        let line = format!("\n{}\n", serde_json::to_string(line)?);
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()
    }
}

impl<T: Treatment> Drop for Treatments<T> {
    fn drop(&mut self) {
        // What cannot be set back is reported by the next start.
        self.undo_all();
    }
}

/// Takes back what a run that is gone has changed; says what was done, in words.
pub(crate) fn undo_left_over<T: Treatment>(folder: &Path) -> Vec<String> {
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

fn libc_nofollow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    const POINT: &str = "ASSAY_TEST_KILL_AT";
    const FOLDER: &str = "ASSAY_TEST_FOLDER";
    const SETTINGS: usize = 3;

    /// A setting, and a process that is killed on the way.
    #[derive(Serialize, Deserialize)]
    struct Deadly(FileSetting);

    impl Deadly {
        fn die_at(&self, point: &str) {
            let name = self.0.path.file_name().unwrap().to_str().unwrap();
            if std::env::var(POINT).is_ok_and(|wanted| wanted == format!("{point} {name}")) {
                let _ =
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                unreachable!("SIGKILL");
            }
        }
    }

    impl Treatment for Deadly {
        fn apply(&self) -> io::Result<()> {
            self.die_at("before apply");
            self.0.apply()?;
            self.die_at("after apply");
            Ok(())
        }

        fn verify(&self) -> io::Result<()> {
            self.0.verify()?;
            self.die_at("after verify");
            Ok(())
        }

        fn undo(&self) -> io::Result<()> {
            self.die_at("before undo");
            self.0.undo()?;
            self.die_at("after undo");
            Ok(())
        }

        fn name(&self) -> String {
            self.0.name()
        }
    }

    fn folder() -> tempfile::TempDir {
        use std::os::unix::fs::PermissionsExt;
        let private = std::fs::Permissions::from_mode(0o700);
        tempfile::Builder::new().permissions(private).tempdir().unwrap()
    }

    fn settings(folder: &Path) -> Vec<String> {
        (0..SETTINGS).map(|i| std::fs::read_to_string(folder.join(format!("setting-{i}"))).unwrap()).collect()
    }

    fn make_settings(folder: &Path) -> Vec<String> {
        // Of several lengths, and one without a line end: all come back byte by byte.
        for (i, text) in ["always [madvise] never\n", "", "1"].iter().enumerate() {
            std::fs::write(folder.join(format!("setting-{i}")), text).unwrap();
        }
        settings(folder)
    }

    fn setting(folder: &Path, i: usize) -> FileSetting {
        FileSetting::new(&folder.join(format!("setting-{i}")), "never\n").unwrap()
    }

    /// Not a test of its own: what the next one starts and has killed.
    #[test]
    fn a_run_that_changes_the_machine() {
        let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
        let mut treatments = Treatments::begin(&folder).unwrap();
        for i in 0..SETTINGS {
            treatments.apply(Deadly(setting(&folder, i))).unwrap();
        }
        assert_eq!(settings(&folder), ["never\n"; SETTINGS]);
        assert_eq!(treatments.undo_all(), Vec::<String>::new());
    }

    #[test]
    fn whenever_a_run_is_killed_the_next_start_sets_everything_back() {
        let points = ["before apply", "after apply", "after verify", "before undo", "after undo"];
        for (point, i) in points.iter().flat_map(|point| (0..SETTINGS).map(move |i| (point, i))) {
            let folder = folder();
            let before = make_settings(folder.path());
            let run = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "treatment::tests::a_run_that_changes_the_machine"])
                .env(FOLDER, folder.path())
                .env(POINT, format!("{point} setting-{i}"))
                .output()
                .unwrap();
            assert_eq!(run.status.signal(), Some(9), "{point} {i}: {run:?}");
            let changes_nothing = i == 0 && ["before apply", "after undo"].contains(point);
            if !changes_nothing {
                assert_ne!(settings(folder.path()), before, "{point} {i}: something was changed");
            }
            let told = undo_left_over::<Deadly>(folder.path());
            assert!(!told.is_empty() && told.iter().all(|t| t.starts_with("set /")), "{point} {i}: {told:?}");
            assert_eq!(settings(folder.path()), before, "{point} {i}");
            assert_eq!(undo_left_over::<Deadly>(folder.path()), Vec::<String>::new(), "{point} {i}: once");
        }
    }

    /// The record is on disk before the change, so a record that is not whole is of a change that was not made.
    #[test]
    fn a_record_that_was_cut_off_anywhere_hides_no_other() {
        let whole = {
            let folder = folder();
            make_settings(folder.path());
            let mut treatments = Treatments::begin(folder.path()).unwrap();
            treatments.apply(setting(folder.path(), 0)).unwrap();
            let first = std::fs::read(folder.path().join(CHANGES)).unwrap().len();
            treatments.apply(setting(folder.path(), 1)).unwrap();
            (first, std::fs::read(folder.path().join(CHANGES)).unwrap().len())
        };
        for cut in whole.0..whole.1 {
            let folder = folder();
            let before = make_settings(folder.path());
            let mut treatments = Treatments::begin(folder.path()).unwrap();
            treatments.apply(setting(folder.path(), 0)).unwrap();
            let record = OpenOptions::new().write(true).open(folder.path().join(CHANGES)).unwrap();
            treatments
                .write(&Line::Change {
                    number: 2,
                    boot_id: treatments.boot_id.clone(),
                    treatment: setting(folder.path(), 1),
                })
                .unwrap();
            // Killed here: neither dropped nor undone, its lock gone.
            record.set_len(cut as u64).unwrap();
            flock(&treatments.file, FlockOperation::Unlock).unwrap();
            std::mem::forget(treatments);
            assert!(Treatments::<FileSetting>::begin(folder.path()).is_ok());
            assert_eq!(settings(folder.path()), before, "cut at {cut}");
        }
    }

    #[test]
    fn one_run_at_a_time_changes_the_machine_and_leaves_nothing() {
        let folder = folder();
        let before = make_settings(folder.path());
        let mut one = Treatments::begin(folder.path()).unwrap();
        one.apply(setting(folder.path(), 0)).unwrap();
        let why = Treatments::<FileSetting>::begin(folder.path()).unwrap_err().to_string();
        assert!(why.contains("another run is changing settings"), "{why}");
        assert_eq!(undo_left_over::<FileSetting>(folder.path()), Vec::<String>::new());
        assert_eq!(settings(folder.path())[0], "never\n");
        drop(one);
        assert_eq!(settings(folder.path()), before);
        assert_eq!(std::fs::metadata(folder.path().join(CHANGES)).unwrap().len(), 0);
    }

    #[test]
    fn what_does_not_read_back_is_taken_back_at_once() {
        let folder = folder();
        let before = make_settings(folder.path());
        /// The kernel rounds, or ignores, what it is told.
        #[derive(Serialize, Deserialize)]
        struct Ignored(FileSetting);
        impl Treatment for Ignored {
            fn apply(&self) -> io::Result<()> {
                self.0.write("something else")
            }
            fn verify(&self) -> io::Result<()> {
                self.0.verify()
            }
            fn undo(&self) -> io::Result<()> {
                self.0.undo()
            }
            fn name(&self) -> String {
                self.0.name()
            }
        }
        let mut treatments = Treatments::begin(folder.path()).unwrap();
        let why = treatments.apply(Ignored(setting(folder.path(), 2))).unwrap_err().to_string();
        assert!(why.contains("is `something else`, not `never`"), "{why}");
        assert_eq!(settings(folder.path()), before);
    }

    #[test]
    fn a_change_of_an_earlier_boot_is_none_any_more() {
        let folder = folder();
        let before = make_settings(folder.path());
        let line =
            Line::Change { number: 1, boot_id: "another".to_owned(), treatment: setting(folder.path(), 0) };
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(folder.path().join(CHANGES))
            .unwrap();
        file.write_all(serde_json::to_string(&line).unwrap().as_bytes()).unwrap();
        std::fs::write(folder.path().join("setting-0"), "of this boot").unwrap();
        assert_eq!(undo_left_over::<FileSetting>(folder.path()), Vec::<String>::new());
        assert_eq!(settings(folder.path())[0], "of this boot");
        assert_eq!(settings(folder.path())[1..], before[1..]);
    }
}
