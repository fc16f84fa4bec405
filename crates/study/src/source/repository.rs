//! A git repository, read by git's own program: its commits and their order, the files of its work tree, a copy of a commit.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commits of a range: a longer history is not listed.
const COMMITS_MAX: usize = 100_000;
/// What the environment says of another repository, such as that of a hook which starts this program.
const OF_ANOTHER: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];
/// Programs that git would start by itself: the user did not ask for them.
const NO_PROGRAMS: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
/// Id, short id and first line of the message.
const FORMAT: &str = "--format=%H%x00%h%x00%s";

/// A repository with a work tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    root: PathBuf,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The whole id.
    pub id: String,
    /// As short as the repository allows.
    pub short: String,
    /// The first line of its message.
    pub subject: String,
}

impl Repository {
    /// The repository whose work tree has this folder.
    ///
    /// # Errors
    /// Why there is none that can be read, in git's words.
    pub fn of(folder: &Path) -> Result<Repository, String> {
        let root = git(folder, ["rev-parse", "--show-toplevel"]).map_err(|why| {
            format!("{} is not in a git repository that can be read: {why}", folder.display())
        })?;
        Ok(Repository { root: PathBuf::from(root.trim_end_matches('\n')) })
    }

    /// Its work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The commit of this name: an id, a branch, a tag.
    ///
    /// # Errors
    /// There is none.
    pub fn commit(&self, name: &str) -> Result<Commit, String> {
        // A name that begins with - would be an option.
        let is_name = !name.is_empty() && !name.starts_with('-') && !name.contains("..");
        let found = is_name.then(|| self.log(&["--max-count=1", &format!("{name}^{{commit}}")]));
        let commit = found.and_then(Result::ok).and_then(|commits| commits.into_iter().next());
        commit.ok_or_else(|| {
            format!(
                "there is no commit `{name}` in {}; a shallow clone lacks old ones: `git fetch --unshallow` adds them",
                self.root.display()
            )
        })
    }

    /// The first commit and all that follow it up to the last one, the oldest first; of merges the side that was merged into.
    ///
    /// # Errors
    /// One of the two does not exist, or the last one does not follow the first.
    pub fn commits(&self, first: &str, last: &str) -> Result<Vec<Commit>, String> {
        let (first, last) = (self.commit(first)?, self.commit(last)?);
        let is_before = git(&self.root, ["merge-base", "--is-ancestor", &first.id, &last.id]).is_ok();
        if first == last {
            return Err(format!(
                "`{}` is the first commit and the last one: name an older one first",
                last.short
            ));
        }
        if !is_before {
            return Err(format!(
                "{} does not come after {}: name the older one first",
                last.short, first.short
            ));
        }
        let range = format!("{}..{}", first.id, last.id);
        let most = format!("--max-count={COMMITS_MAX}");
        let later = self.log(&["--first-parent", "--reverse", &most, &range])?;
        if later.len() == COMMITS_MAX {
            return Err(format!("{range} has {COMMITS_MAX} commits and more: name a nearer one"));
        }
        Ok(std::iter::once(first).chain(later).collect())
    }

    fn log(&self, words: &[&str]) -> Result<Vec<Commit>, String> {
        let words = ["log", "--no-show-signature", FORMAT].iter().chain(words).chain(&["--"]);
        let text = git(&self.root, words)?;
        let commit = |line: &str| {
            let mut parts = line.splitn(3, '\0').map(str::to_owned);
            Some(Commit { id: parts.next()?, short: parts.next()?, subject: parts.next()? })
        };
        Ok(text.lines().filter_map(commit).collect())
    }

    /// Whether files that it knows were changed since the commit that is checked out.
    pub fn is_changed(&self) -> bool {
        git(&self.root, ["status", "--porcelain=v1", "--untracked-files=no"])
            .is_ok_and(|changes| !changes.trim().is_empty())
    }

    /// Files that it knows or does not ignore, relative to the work tree; a folder is a repository of its own in it.
    pub fn files(&self) -> Result<Vec<PathBuf>, String> {
        let all = git(&self.root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        Ok(all.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect())
    }

    /// Makes a folder with the files of a commit: a clone that shares its objects, so that builds which ask git for a version get one.
    ///
    /// # Errors
    /// Git's words.
    pub fn copy_to(&self, commit: &str, folder: &Path) -> Result<(), String> {
        let (root, folder) = (self.root.as_os_str(), folder.as_os_str());
        let words = ["clone", "--quiet", "--shared", "--no-checkout", "--"].map(OsStr::new);
        git(&self.root, words.into_iter().chain([root, folder]))?;
        git(Path::new(folder), ["checkout", "--quiet", "--detach", commit])?;
        Ok(())
    }
}

/// Runs git in a folder, and gives what it prints.
fn git(folder: &Path, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<String, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(NO_PROGRAMS).args(words).stdin(Stdio::null());
    OF_ANOTHER.iter().for_each(|name| {
        command.env_remove(name);
    });
    // It changes nothing in a work tree, not even its index, and asks nobody for a password.
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    let output = command.output().map_err(|e| format!("git cannot be started: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    Err(format!("{said} (git, {})", output.status))
}
