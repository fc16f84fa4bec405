//! The run directory: made, locked, written so that a crash leaves whole files, and read again.

use crate::RunDirError;
use crate::redacted::{redact_files, redacted_json};
use assay_model::{
    GcEventsLine, GcHeading, GcRecord, HostFacts, Hosts, MemorySample, Plan, ProcessGc, RunEvent, StoredRun,
    StoredTrial, Summary, Trial, file, schema,
};
use assay_text::redact::Redactor;
use fs_err::File;
use rustix::fs::{FlockOperation, flock, statvfs};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that a run keeps locked.
const LOCK: &str = "lock";
/// Disk space for what a launch leaves (server's output, GC log, histograms), and for the copy of a template while it
/// runs.
const LAUNCH_BYTES: u64 = 24 << 20;
const SPARE_BYTES: u64 = 256 << 20;
/// Largest stored file that is read whole, and longest line of one that is read line by line.
const FILE_BYTES_MAX: u64 = 256 << 20;
const LINE_BYTES_MAX: u64 = 1 << 20;
/// Lines of a stored series.
const LINES_MAX: usize = 10_000_000;
const TRIALS_MAX: usize = 100_000;
/// How deep files of a launch may lie.
const FOLDERS_DEEP_MAX: usize = 3;

/// An open run directory. Only one run can have it open.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    _lock: File,
    events: File,
    redactor: Redactor,
}

impl RunDir {
    /// Makes a new one, or opens that of an earlier start to go on with it.
    pub fn open(
        path: &Path,
        resume: bool,
        launches: usize,
        redactor: Redactor,
    ) -> Result<RunDir, RunDirError> {
        if resume && !path.join(file::PLAN).is_file() {
            let what = "is not a run directory (it has no plan.json): leave --resume away to begin a new run";
            return Err(RunDirError::Use(format!("{} {what}", path.display())));
        }
        if !resume && path.join(file::PLAN).exists() {
            let what =
                "already holds a run: add --resume to go on with it, or choose another folder with --out";
            return Err(RunDirError::Use(format!("{} {what}", path.display())));
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path.join(file::TRIALS));
        made.map_err(|e| at("cannot make", path, &e))?;
        // Absolute: servers start in other folders.
        let path = path.canonicalize()?;
        let lock = private(OpenOptions::new().create(true).truncate(false).write(true), &path.join(LOCK))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let what = "is in use by another run: wait for it, or choose another folder with --out";
            return Err(RunDirError::Use(format!("{} {what}", path.display())));
        }
        let events = private(OpenOptions::new().create(true).append(true), &path.join(file::EVENTS))?;
        let dir = RunDir { path, _lock: lock, events, redactor };
        dir.check_space(launches)?;
        Ok(dir)
    }

    fn check_space(&self, launches: usize) -> Result<(), RunDirError> {
        let space = statvfs(&self.path).map_err(std::io::Error::from)?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        let needed = SPARE_BYTES + LAUNCH_BYTES.saturating_mul(launches as u64);
        if free < needed {
            return Err(RunDirError::Environment(format!(
                "{} has {} MiB of free disk space, and {launches} launches may need {}: free some, or choose another \
                 folder with --out",
                self.path.display(),
                free >> 20,
                needed >> 20
            )));
        }
        Ok(())
    }

    /// Its path, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file so that it appears whole or not at all.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), RunDirError> {
        let text = serde_json::to_string_pretty(value).map_err(|e| RunDirError::Internal(e.to_string()))?;
        self.write(name, &(redacted_json(&self.redactor, &text) + "\n"))
    }

    /// The same for a text.
    pub fn write_text(&self, name: &str, text: &str) -> Result<(), RunDirError> {
        self.write(name, &self.redactor.text(text))
    }

    /// A value as it is stored.
    pub fn as_stored<T: Serialize + DeserializeOwned>(&self, value: &T) -> Result<T, RunDirError> {
        let failed = |e: serde_json::Error| RunDirError::Internal(e.to_string());
        let text = serde_json::to_string(value).map_err(failed)?;
        serde_json::from_slice(redacted_json(&self.redactor, &text).as_bytes()).map_err(failed)
    }

    /// Takes the run's secrets out of the files of a launch that others wrote: the server's output, logs of JVMs, results.
    pub fn redact_files(&self, folder: &Path) -> std::io::Result<()> {
        redact_files(folder, self.redactor.values(), FOLDERS_DEEP_MAX)
    }

    /// The same for all launches of an earlier start, which may have been killed before it did so.
    pub fn redact_earlier(&self) -> std::io::Result<()> {
        trial_folders(&self.path).iter().try_for_each(|(_, folder)| self.redact_files(folder))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), RunDirError> {
        let path = self.path.join(name);
        let written = assay_text::file::write_whole(&path, |out| out.write_all(text.as_bytes()));
        Ok(written.map_err(|e| at("cannot write", &path, &e))?)
    }

    /// Knows the secrets.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Appends an event, as it is stored.
    pub fn append_event(&mut self, event: &RunEvent) -> Result<(), RunDirError> {
        let line = serde_json::to_string(event).map_err(|e| RunDirError::Internal(e.to_string()))? + "\n";
        Ok(self.events.write_all(line.as_bytes())?)
    }

    /// Keeps what a build printed, without secrets; its path, if it printed anything.
    pub fn keep_build_log(
        &self,
        number: u32,
        variant: &str,
        log: &Path,
    ) -> Result<Option<PathBuf>, RunDirError> {
        if !log.is_file() {
            return Ok(None);
        }
        let folder = self.path.join(file::BUILDS);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .map_err(|e| at("cannot make", &folder, &e))?;
        let kept = folder.join(format!("{}.log", self.plain_name(number, variant)));
        fs_err::copy(log, &kept)?;
        self.redact_files(&folder)?;
        Ok(Some(kept))
    }

    /// A name for files of a launch or build, made of its number and a variant.
    fn plain_name(&self, number: u32, variant: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        format!("{number:02}-{}", self.redactor.text(variant).chars().map(plain).collect::<String>())
    }

    /// Makes the folder of a launch; its name relative to the directory.
    pub fn make_trial_folder(&self, number: u32, variant: &str) -> Result<String, RunDirError> {
        let name = format!("{}/{}", file::TRIALS, self.plain_name(number, variant));
        let path = self.path.join(&name);
        DirBuilder::new().mode(0o700).create(&path).map_err(|e| at("cannot make", &path, &e))?;
        Ok(name)
    }

    /// Copies the files of a launch's folder, and those of folders in it, but for one. Links are left out.
    pub fn copy_files(&self, from: &Path, to: &str, but: &str) -> Result<(), RunDirError> {
        copy_private(from, &self.path.join(to), but, FOLDERS_DEEP_MAX)
            .map_err(|e| at("cannot copy", from, &e).into())
    }

    /// The largest number that a launch has had, whole or not.
    pub fn last_number(&self) -> u32 {
        trial_folders(&self.path).iter().map(|(number, _)| *number).max().unwrap_or(0)
    }
}

/// Opens a file for its owner only.
fn private(options: &mut OpenOptions, path: &Path) -> Result<File, RunDirError> {
    let opened = options.mode(0o600).open(path).map_err(|e| at("cannot write", path, &e))?;
    Ok(File::from_parts(opened, path))
}

/// Copies regular files to files for their owner only.
fn copy_private(from: &Path, to: &Path, but: &str, folders_deep: usize) -> std::io::Result<()> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() && 0 < folders_deep {
            DirBuilder::new().mode(0o700).create(&target)?;
            copy_private(&entry.path(), &target, but, folders_deep - 1)?;
        } else if kind.is_file() && entry.file_name() != but {
            let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target)?;
            std::io::copy(&mut std::fs::File::open(entry.path())?, &mut copy)?;
        }
    }
    Ok(())
}

/// An error with its file.
fn at(what: &str, path: &Path, e: &std::io::Error) -> std::io::Error {
    std::io::Error::new(e.kind(), format!("{what} {}: {e}", path.display()))
}

/// Numbers and paths of the launches' folders, in order.
fn trial_folders(dir: &Path) -> Vec<(u32, PathBuf)> {
    let entries = std::fs::read_dir(dir.join(file::TRIALS)).into_iter().flatten().flatten().take(TRIALS_MAX);
    let mut folders: Vec<(u32, PathBuf)> = entries
        .filter_map(|e| Some((e.file_name().to_str()?.split_once('-')?.0.parse().ok()?, e.path())))
        .collect();
    folders.sort();
    folders
}

/// Path of a run's report.
pub fn report_path(dir: &Path) -> PathBuf {
    dir.join(file::REPORT)
}

/// Reads a run directory. Launches that were not finished, and files that a run may lack, are left out.
///
/// # Errors
/// The folder is not a run directory, or a file in it that must be there cannot be understood; the message names it.
pub fn load_run(dir: &Path) -> Result<StoredRun, RunDirError> {
    if !dir.join(file::PLAN).is_file() {
        let what = "is not a run directory: it has no plan.json";
        return Err(RunDirError::Use(format!("{} {what}", dir.display())));
    }
    let study_text = read_text(&dir.join(file::STUDY)).unwrap_or_default();
    let plan: Plan = read_json(&dir.join(file::PLAN), schema::PLAN)?;
    let host: HostFacts = read_json(&dir.join(file::HOST), schema::HOST)?;
    let hosts: Option<Hosts> = read_json_if_there(&dir.join(file::HOSTS), schema::HOSTS)?;
    let summary: Option<Summary> = read_json_if_there(&dir.join(file::SUMMARY), schema::SUMMARY)?;
    let mut trials = Vec::new();
    for (folder, trial) in load_trials(dir)? {
        let gc_events = read_gc_events(&folder.join(file::GC_EVENTS))?;
        let gc_report = read_json_if_there(&folder.join(file::GC_REPORT), schema::GC)?;
        let mut gc_beside = Vec::new();
        for role in trial.processes.iter().map(|launch| &launch.role).filter(|role| *role != file::SERVER) {
            let path = folder.join(file::gc_log_of(role)).with_extension("json");
            let report = read_json_if_there(&path, schema::GC)?;
            gc_beside.extend(report.map(|report| ProcessGc { role: role.clone(), report }));
        }
        let memory: Vec<MemorySample> = read_lines(&folder.join(file::MEMORY))?;
        let memory_report = read_json_if_there(&folder.join(file::MEMORY_REPORT), schema::MEMORY)?;
        let capacity = read_json_if_there(&folder.join(file::CAPACITY), schema::CAPACITY)?;
        trials.push(StoredTrial { trial, gc_events, gc_report, gc_beside, memory, memory_report, capacity });
    }
    Ok(StoredRun { study_text, plan, host, hosts, trials, summary })
}

/// The whole launches, in order, with their folders.
pub fn load_trials(dir: &Path) -> Result<Vec<(PathBuf, Trial)>, RunDirError> {
    let whole =
        trial_folders(dir).into_iter().map(|(_, folder)| folder).filter(|f| f.join(file::TRIAL).is_file());
    whole.map(|folder| Ok((folder.clone(), read_json(&folder.join(file::TRIAL), schema::TRIAL)?))).collect()
}

fn read_text(path: &Path) -> Result<String, RunDirError> {
    let mut text = String::new();
    let failed = |e: std::io::Error| RunDirError::Use(format!("cannot read {}: {e}", path.display()));
    let file = std::fs::File::open(path).map_err(failed)?;
    let count = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    if FILE_BYTES_MAX < count as u64 {
        return Err(RunDirError::Use(format!("{} is larger than {FILE_BYTES_MAX} bytes", path.display())));
    }
    Ok(text)
}

/// What every stored form says of itself.
#[derive(Deserialize)]
struct Named {
    schema: String,
}

/// Reads a stored form of this schema.
pub fn read_json<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<T, RunDirError> {
    let text = read_text(path)?;
    let failed = |e: serde_json::Error| RunDirError::Use(format!("{}: {e}", path.display()));
    // As every stored form is read: `from_str` would be the same code once more in the program.
    let named: Named = serde_json::from_slice(text.as_bytes()).map_err(failed)?;
    is_read(path, &named.schema, schema)?;
    serde_json::from_slice(text.as_bytes()).map_err(failed)
}

fn is_read(path: &Path, stored: &str, schema: &str) -> Result<(), RunDirError> {
    schema::check(stored, schema)
        .map_err(|why| RunDirError::Use(format!("cannot read {}: {why}", path.display())))
}

/// Reads a stored form that a run may lack.
fn read_json_if_there<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<Option<T>, RunDirError> {
    if path.exists() { read_json(path, schema).map(Some) } else { Ok(None) }
}

/// What a collector did, of a file whose first line names its form.
fn read_gc_events(path: &Path) -> Result<Vec<GcRecord>, RunDirError> {
    let lines: Vec<GcEventsLine> = read_lines(path)?;
    if let Some(GcEventsLine::Heading(GcHeading::Schema { schema })) = lines.first() {
        is_read(path, schema, schema::GC_EVENTS)?;
    }
    Ok(lines.into_iter().filter_map(GcEventsLine::into_record).collect())
}

/// Reads a series; a file that is not there is an empty one, and so is a last line that was cut off.
fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunDirError> {
    let Ok(file) = std::fs::File::open(path) else { return Ok(Vec::new()) };
    let (mut reader, mut values, mut line) = (BufReader::new(file), Vec::new(), Vec::new());
    while values.len() < LINES_MAX {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let read = read.map_err(|e| RunDirError::Use(format!("cannot read {}: {e}", path.display())))?;
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let value = serde_json::from_slice(&line);
        let number = values.len() + 1;
        values.push(value.map_err(|e| RunDirError::Use(format!("{}:{number}: {e}", path.display())))?);
    }
    Ok(values)
}
