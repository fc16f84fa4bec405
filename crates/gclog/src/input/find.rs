//! From what was named to sets of logs.

use super::archive::Archive;
use super::aside::PutAside;
use super::head::{self, Head};
use super::open;
use super::order::{DatedFile, in_order, rotation};
use super::set::{InputError, LogPart, LogSet, Origin, STANDARD_INPUT, folder_of};
use assay_model::Problem;
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders within folders.
const DEPTH_MAX: usize = 8;
/// Files that are looked at in one folder, those below it included.
const FILES_MAX: usize = 20_000;
/// Members that are looked at in one archive.
const MEMBERS_MAX: usize = 1_000;

/// The log sets of some inputs.
#[derive(Debug, Default)]
pub struct Found {
    /// The sets, in the order in which they were named, those of a folder by name.
    pub sets: Vec<LogSet>,
    /// What a folder or archive holds besides, and why it was passed over.
    pub passed_over: Vec<Problem>,
    /// Files that were not named but are called like those of the same set.
    pub beside: Vec<PathBuf>,
}

/// Makes sets of what was named: files that rotation has named alike in one folder are one set, everything else is a set of its own;
/// with `join` all is one set.
///
/// # Errors
/// A named input does not exist or may not be read; a folder or archive without a log.
pub fn find(named: &[PathBuf], join: bool) -> Result<Found, InputError> {
    // Before the first is read.
    if named.iter().filter(|path| path.as_os_str() == STANDARD_INPUT).count() > 1 {
        return Err(InputError::StandardInputTwice);
    }
    let mut search = Search::default();
    for path in named {
        search.add(path)?;
    }
    Ok(search.finish(join))
}

/// A set by its folder or archive, and what the names have in common; what is read once is alone by its number.
type Key = (PathBuf, String, usize);

#[derive(Debug, Clone)]
struct FoundFile {
    log: LogPart,
    /// Device and inode of a file.
    identity: Option<(u64, u64)>,
}

#[derive(Default)]
struct Search {
    keys: Vec<Key>,
    files: BTreeMap<Key, Vec<DatedFile<FoundFile>>>,
    passed_over: Vec<Problem>,
    named: Vec<PathBuf>,
}

impl Search {
    fn add(&mut self, path: &Path) -> Result<(), InputError> {
        if path.as_os_str() == STANDARD_INPUT {
            return self.add_standard_input();
        }
        let failed = |source| InputError::Open { path: path.display().to_string(), source };
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            let looked_at = self.add_folder(path).map_err(failed)?;
            return looked_at.map_or(Ok(()), |looked_at| Err(no_log(path, looked_at)));
        }
        if !metadata.is_file() {
            self.once(Origin::Once(path.to_owned()), &path.display().to_string());
            return Ok(());
        }
        if let Some(archive) = Archive::of(path).map_err(failed)? {
            let member = |index| Origin::Member(path.to_owned(), index);
            let (logs, looked_at) = self.add_members(path, archive, &metadata, &member);
            return if logs == 0 { Err(no_log(path, looked_at)) } else { Ok(()) };
        }
        let origin = Origin::File(path.to_owned());
        let head = head::read(&origin).unwrap_or_default();
        self.named.push(path.to_owned());
        self.add_file(path, origin, &metadata, head);
        Ok(())
    }

    fn add_standard_input(&mut self) -> Result<(), InputError> {
        const NAME: &str = "standard input";
        let failed = |source| InputError::Open { path: NAME.to_owned(), source };
        let Some(aside) = PutAside::standard_input().map_err(failed)? else {
            self.once(Origin::StandardInput, NAME);
            return Ok(());
        };
        let path = aside.path();
        let Some(archive) = Archive::of(&path).map_err(failed)? else {
            self.once(Origin::Aside(aside), NAME);
            return Ok(());
        };
        let metadata = fs::metadata(&path).map_err(failed)?;
        let name = Path::new(NAME);
        let member = |index| Origin::MemberAside(aside.clone(), index);
        let (logs, looked_at) = self.add_members(name, archive, &metadata, &member);
        if logs == 0 { Err(no_log(name, looked_at)) } else { Ok(()) }
    }

    /// An input that can be read only once is a set of its own.
    fn once(&mut self, origin: Origin, name: &str) {
        let key = (PathBuf::new(), name.to_owned(), self.keys.len());
        let part = FoundFile { log: LogPart { name: name.to_owned(), origin }, identity: None };
        self.put(
            key,
            DatedFile { part, rotation: rotation(name), first: Default::default(), modified: None },
        );
    }

    fn put(&mut self, key: Key, file: DatedFile<FoundFile>) {
        let files = self.files.entry(key.clone()).or_default();
        if files.is_empty() {
            self.keys.push(key);
        }
        let same =
            |f: &&DatedFile<FoundFile>| f.part.identity.is_some() && f.part.identity == file.part.identity;
        if let Some(other) = files.iter().find(same) {
            if other.part.log.name != file.part.log.name {
                let what = format!("is the same file as {}", other.part.log.name);
                self.passed_over.push(Problem::new(file.part.log.name, what));
            }
        } else {
            files.push(file);
        }
    }

    fn add_file(&mut self, path: &Path, origin: Origin, metadata: &Metadata, head: Head) {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let rotation = rotation(&name);
        let key = (folder, rotation.base.clone(), 0);
        let log = LogPart { name: path.display().to_string(), origin };
        let part = FoundFile { log, identity: Some((metadata.dev(), metadata.ino())) };
        self.put(key, DatedFile { part, rotation, first: head.first, modified: metadata.modified().ok() });
    }

    /// The logs of a folder and of those below it. Says how many files it looked at if none is a log.
    fn add_folder(&mut self, folder: &Path) -> io::Result<Option<usize>> {
        let (mut logs, mut looked_at) = (0, 0);
        let mut folders = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if depth == 0 => return Err(error),
                Err(error) => {
                    self.pass_over(&folder, &error.to_string());
                    continue;
                }
            };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).take(FILES_MAX).collect();
            paths.sort();
            let mut below = Vec::new();
            for path in paths {
                // A link to a folder may lead in a circle.
                let is_folder = fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir());
                if is_folder && depth < DEPTH_MAX {
                    below.push((path, depth + 1));
                } else if is_folder {
                    self.pass_over(&path, "folders are searched to a depth of eight");
                } else if looked_at == FILES_MAX {
                    self.pass_over(
                        &path,
                        "the folder has too many files: this one and those after it were not read",
                    );
                    return Ok((logs == 0).then_some(looked_at));
                } else {
                    looked_at += 1;
                    logs += self.add_found(&path);
                }
            }
            folders.extend(below.into_iter().rev());
        }
        Ok((logs == 0).then_some(looked_at))
    }

    fn pass_over(&mut self, path: &Path, why: &str) {
        self.passed_over.push(Problem::new(path.display().to_string(), why));
    }

    /// A file of a folder; how many logs it is.
    fn add_found(&mut self, path: &Path) -> usize {
        match self.try_found(path) {
            Ok(logs) => logs,
            Err(error) => {
                self.pass_over(path, &open::in_words(&error));
                0
            }
        }
    }

    fn try_found(&mut self, path: &Path) -> io::Result<usize> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            self.pass_over(path, "is not a file");
            return Ok(0);
        }
        if let Some(archive) = Archive::of(path)? {
            let member = |index| Origin::Member(path.to_owned(), index);
            return Ok(self.add_members(path, archive, &metadata, &member).0);
        }
        let origin = Origin::File(path.to_owned());
        let head = head::read(&origin)?;
        if head.is_log {
            self.add_file(path, origin, &metadata, head);
        } else {
            self.pass_over(path, "is not a GC log by its first lines");
        }
        Ok(usize::from(head.is_log))
    }

    /// The logs of an archive: how many there are, and how many members were looked at. `member` is where one of them lies.
    fn add_members(
        &mut self,
        path: &Path,
        mut archive: Archive,
        metadata: &Metadata,
        member: &dyn Fn(usize) -> Origin,
    ) -> (usize, usize) {
        let (mut logs, mut looked_at) = (0, 0);
        let read = archive.each_member(MEMBERS_MAX, &mut |index, bytes| {
            looked_at += 1;
            let head = bytes.and_then(|(name, bytes)| Ok((name, head::read_member(bytes)?)));
            match head {
                Ok((within, head)) => {
                    logs += usize::from(self.add_member((path, member(index)), within, head, metadata));
                }
                Err(error) => {
                    self.pass_over(path, &format!("member {}: {}", index + 1, open::in_words(&error)));
                }
            }
        });
        match read {
            Ok(false) => {}
            Ok(true) => self.pass_over(
                path,
                "the archive has too many members: those after the first 1,000 were not read",
            ),
            Err(error) => self.pass_over(path, &open::in_words(&error)),
        }
        (logs, looked_at)
    }

    /// A member of an archive; whether it is a log.
    fn add_member(
        &mut self,
        (path, origin): (&Path, Origin),
        within: &Path,
        head: Head,
        metadata: &Metadata,
    ) -> bool {
        let name = format!("{}!{}", path.display(), within.display());
        if !head.is_log {
            self.passed_over.push(Problem::new(name, "is not a GC log by its first lines"));
            return false;
        }
        let file_name = within.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let rotation = rotation(&file_name);
        let folder = path.join(within.parent().unwrap_or(Path::new("")));
        let key = (folder, rotation.base.clone(), 0);
        let log = LogPart { name, origin };
        let part = FoundFile { log, identity: None };
        self.put(key, DatedFile { part, rotation, first: head.first, modified: metadata.modified().ok() });
        true
    }

    fn finish(mut self, join: bool) -> Found {
        let beside = self.beside();
        let mut sets = Vec::new();
        if join {
            let all = self.keys.iter().filter_map(|key| self.files.get(key)).flatten().cloned().collect();
            let parts: Vec<LogPart> = joined(all).into_iter().map(|p| p.log).collect();
            sets.push(LogSet { name: set_name(&parts, None), parts });
        } else {
            for key in &self.keys {
                let files = self.files.remove(key).unwrap_or_default();
                let parts: Vec<LogPart> = in_order(files).into_iter().map(|p| p.log).collect();
                sets.push(LogSet { name: set_name(&parts, Some(key)), parts });
            }
        }
        Found { sets, passed_over: self.passed_over, beside }
    }

    /// Files in the folders of named ones that rotation has named alike.
    fn beside(&self) -> Vec<PathBuf> {
        let mut beside = Vec::new();
        for path in &self.named {
            let Some(name) = path.file_name().map(|n| n.to_string_lossy()) else { continue };
            let base = rotation(&name).base;
            let entries = fs::read_dir(folder_of(path)).into_iter().flatten().flatten().take(FILES_MAX);
            for entry in entries {
                let other = rotation(&entry.file_name().to_string_lossy());
                let is_named = self.named.iter().any(|n| n.file_name() == Some(&entry.file_name()));
                let other_path = entry.path();
                if other.base == base && !is_named && !beside.contains(&other_path) && other_path.is_file() {
                    beside.push(other_path);
                }
            }
        }
        beside.sort();
        beside
    }
}

/// Files of different names as one: by the calendar where all have it, otherwise as they were named.
fn joined(files: Vec<DatedFile<FoundFile>>) -> Vec<FoundFile> {
    let mut files = files;
    if files.iter().all(|f| f.first.unix_ns.is_some()) {
        files.sort_by_key(|f| f.first.unix_ns);
    }
    files.into_iter().map(|f| f.part).collect()
}

fn set_name(parts: &[LogPart], key: Option<&Key>) -> String {
    match (parts, key) {
        ([only], _) => only.name.clone(),
        (_, Some((folder, base, _))) => folder.join(base).display().to_string(),
        ([first, .., last], None) => format!("{} to {}", first.name, last.name),
        ([], None) => "no log".to_owned(),
    }
}

fn no_log(path: &Path, looked_at: usize) -> InputError {
    let looked_at = if looked_at == 1 { "1 file was".to_owned() } else { format!("{looked_at} files were") };
    InputError::NoLog { path: path.display().to_string(), looked_at }
}
