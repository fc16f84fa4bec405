//! The files of a folder: what they hold as one number, and a copy of them.

use crate::source::repository::Repository;
use assay_model::file;
use ring::digest::{Context, SHA256};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// More is no folder to build, but one far above it.
const FILES_MAX: usize = 200_000;
const BYTES_MAX: u64 = 8 << 30;
const PIECE_BYTES: usize = 1 << 16;
/// What git keeps of a repository: of no use without the rest of it, and different after each command.
const GIT: &str = ".git";

/// The files of a folder, in the order of their paths. Links are not followed; sockets, pipes and devices are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    root: PathBuf,
    /// Relative paths, and the target of a link.
    entries: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Files {
    /// All files of a folder, or of a work tree those that it does not ignore, without run directories and without `cache`.
    ///
    /// # Errors
    /// A folder that cannot be read, or more files than a folder to build has.
    pub fn of(folder: &Path, repository: Option<&Repository>, cache: &Path) -> Result<Files, String> {
        let root = repository.map_or(folder, Repository::root);
        let mut listing = Listing { root, cache, entries: BTreeMap::new(), bytes: 0 };
        match repository {
            Some(repository) => repository.files()?.iter().try_for_each(|path| listing.add(path))?,
            None => listing.add_all(Path::new(""))?,
        }
        Ok(Files { root: root.to_owned(), entries: listing.entries })
    }

    /// The folder that they lie in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A number of everything that a build can see of them: paths, contents, links, and whether they can be executed.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn hash(&self) -> io::Result<String> {
        let mut all = Hash::new();
        for (path, target) in &self.entries {
            all.add(path.as_os_str().as_bytes());
            if let Some(target) = target {
                all.add(b"link");
                all.add(target.as_os_str().as_bytes());
                continue;
            }
            let path = self.root.join(path);
            let of_file = || -> io::Result<String> {
                let mut file = File::open(&path)?;
                let is_executable = file.metadata()?.permissions().mode() & 0o100 != 0;
                let (mut content, mut piece) = (Hash::new(), vec![0; PIECE_BYTES]);
                content.add(&[u8::from(is_executable)]);
                loop {
                    match file.read(&mut piece)? {
                        0 => return Ok(content.hex()),
                        count => content.0.update(&piece[..count]),
                    }
                }
            };
            all.add(of_file().map_err(|e| named(&path, &e))?.as_bytes());
        }
        Ok(all.hex())
    }

    /// The number of the same files in a copy, which differs from theirs where one of them changed meanwhile.
    ///
    /// # Errors
    /// As of [`Files::hash`].
    pub fn hash_of_copy(&self, folder: &Path) -> io::Result<String> {
        Files { root: folder.to_owned(), entries: self.entries.clone() }.hash()
    }

    /// Copies them to a folder that is empty. `is_stopped` is asked before each.
    ///
    /// # Errors
    /// A file that cannot be copied; or it was stopped.
    pub fn copy_to(&self, folder: &Path, is_stopped: &dyn Fn() -> bool) -> io::Result<()> {
        for (path, target) in &self.entries {
            if is_stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let (from, to) = (self.root.join(path), folder.join(path));
            if let Some(above) = to.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(above).map_err(|e| named(above, &e))?;
            }
            match target {
                Some(target) => symlink(target, &to),
                None => std::fs::copy(&from, &to).map(drop),
            }
            .map_err(|e| named(&from, &e))?;
        }
        Ok(())
    }
}

/// A number of texts, which differs where any of them does.
pub(crate) struct Hash(Context);

impl Hash {
    pub fn new() -> Hash {
        Hash(Context::new(&SHA256))
    }

    /// Adds a part; its length keeps it apart from the next one.
    pub fn add(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub fn hex(self) -> String {
        self.0.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

struct Listing<'a> {
    root: &'a Path,
    cache: &'a Path,
    entries: BTreeMap<PathBuf, Option<PathBuf>>,
    bytes: u64,
}

impl Listing<'_> {
    fn add_all(&mut self, folder: &Path) -> Result<(), String> {
        let whole = self.root.join(folder);
        let failed = |e: io::Error| format!("{} cannot be read: {e}", whole.display());
        for entry in whole.read_dir().map_err(failed)? {
            self.add(&folder.join(entry.map_err(failed)?.file_name()))?;
        }
        Ok(())
    }

    fn add(&mut self, path: &Path) -> Result<(), String> {
        let whole = self.root.join(path);
        // One that the repository knows may have been removed.
        let Ok(facts) = whole.symlink_metadata() else { return Ok(()) };
        if path.file_name().is_some_and(|name| name == GIT) || whole == self.cache || self.is_of_run(path) {
            return Ok(());
        }
        let kind = facts.file_type();
        if kind.is_dir() {
            return self.add_all(path);
        }
        let target = kind.is_symlink().then(|| whole.read_link()).transpose();
        let target = target.map_err(|e| format!("{}: {e}", whole.display()))?;
        if target.is_some() || kind.is_file() {
            self.note(path, target, &facts)?;
        }
        Ok(())
    }

    /// Whether it lies in a run directory: such a folder is made by each run, and no build needs it.
    fn is_of_run(&self, path: &Path) -> bool {
        let is_run = |folder: &Path| [file::PLAN, file::STUDY].iter().all(|name| folder.join(name).is_file());
        path.ancestors()
            .filter(|above| !above.as_os_str().is_empty())
            .any(|above| is_run(&self.root.join(above)))
    }

    fn note(&mut self, path: &Path, target: Option<PathBuf>, facts: &Metadata) -> Result<(), String> {
        self.bytes += facts.len();
        if FILES_MAX <= self.entries.len() || BYTES_MAX < self.bytes {
            return Err(format!(
                "{} has more than {FILES_MAX} files or {} GiB, too much for a copy: name the folder to build in `directory`",
                self.root.display(),
                BYTES_MAX >> 30
            ));
        }
        self.entries.insert(path.to_owned(), target);
        Ok(())
    }
}

fn named(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}
