//! The clean copies that variants are started in: what goes into each, and where it is kept. Nothing is copied or built here.

use crate::check::builds::{place_of_copy, place_of_directory};
use crate::check::combinations::VariantSpec;
use crate::file::document::Document;
use crate::file::program::CommandLine;
use crate::file::study::Study;
use crate::file::workload::{Workload, folder_of};
use crate::source::files::{Files, Hash};
use crate::source::repository::{Commit, Repository};
use assay_model::{Finding, PlannedBuild, StudyRule};
use assay_results::findings::uncommitted;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a build may take.
const TIMEOUT_S: f64 = 1800.0;
/// Folder of the cache with all copies.
const BUILDS: &str = "builds";
/// Characters of an id: enough that no two are the same by chance.
const ID_CHARS: usize = 32;
/// Variables that compilers and build tools take their settings from.
const VARIABLES: [&str; 13] = [
    "PATH",
    "JAVA_HOME",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "MAVEN_OPTS",
    "MAVEN_ARGS",
    "GRADLE_OPTS",
    "CC",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
];

/// A clean copy of a commit or folder, made and built before the first trial unless it was before.
#[derive(Debug)]
pub(crate) struct Build {
    pub planned: PlannedBuild,
    pub origin: Origin,
    /// Id of the commit, or number of all that the files hold.
    pub content: String,
    /// Everything of it, in the cache.
    pub folder: PathBuf,
    /// The copy, which has the name of what was copied: some build tools name what they make after it.
    pub copy: PathBuf,
    /// Where it is built and started, in the copy.
    pub workdir: PathBuf,
    pub timeout: Duration,
}

/// What is copied.
#[derive(Debug)]
pub(crate) enum Origin {
    Commit(Repository, Commit),
    Files(Files),
}

impl Build {
    /// Where copies lie in its folder.
    pub const COPIES: &'static str = "copy";
    /// The note that it is whole, and what its command printed.
    pub const NOTE: &'static str = "build.json";
    pub const LOG: &'static str = "build.log";

    /// In words.
    pub fn describe(&self) -> String {
        let what = match &self.origin {
            Origin::Commit(_, commit) => format!("{} ({})", commit.short, commit.subject),
            Origin::Files(_) => format!("{} as it is", self.planned.source),
        };
        match self.planned.command.as_slice() {
            [] => what,
            words => format!("{what} by `{}`", words.join(" ")),
        }
    }

    /// The note that it is whole, written last.
    pub fn note(&self) -> PathBuf {
        self.folder.join(Build::NOTE)
    }

    /// What its command printed.
    pub fn log(&self) -> PathBuf {
        self.folder.join(Build::LOG)
    }

    /// Whether it was made before.
    pub fn is_made(&self) -> bool {
        self.note().is_file() && self.workdir.is_dir()
    }
}

/// What decides which copy a variant has.
type Wanted<'a> = (Option<&'a String>, Option<&'a String>, Vec<String>);

/// The copy of each variant, each once, and what follows from the choice of commits.
pub(super) fn resolve(
    study: &Study,
    specs: &[VariantSpec],
    workload: &Workload,
    document: &mut Document,
) -> (Vec<Option<Arc<Build>>>, Vec<Finding<StudyRule>>) {
    let mut resolved: BTreeMap<Wanted<'_>, Option<Arc<Build>>> = BTreeMap::new();
    let mut builds = Vec::new();
    let study_dir = folder_of(&document.file);
    for spec in specs {
        let folder = study_dir.join(named_directory(spec, workload).map_or("", String::as_str));
        let is_there = folder.is_dir();
        if !is_there {
            let what = format!("there is no folder {}", folder.display());
            document.add(&place_of_directory(study, &spec.indices), what);
        }
        if !spec.has_copy() || !is_there {
            builds.push(None);
            continue;
        }
        let words = spec.build.as_ref().and_then(|build| CommandLine::words(build).ok()).unwrap_or_default();
        let wanted = (spec.commit.as_ref(), spec.directory(workload), words.clone());
        let build = resolved.entry(wanted).or_insert_with(|| {
            let build = build_of(spec, words, workload, &folder);
            let build =
                build.inspect_err(|what| document.add(&place_of_copy(study, &spec.indices), what.as_str()));
            build.ok().map(Arc::new)
        });
        builds.push(build.clone());
    }
    let mut findings = Vec::new();
    findings.extend(resolved.values().flatten().find_map(|build| uncommitted_beside(build)));
    (builds, findings)
}

/// Whoever measures what is checked out, and has changed it since, measures something else than what is on the screen.
fn uncommitted_beside(build: &Build) -> Option<Finding<StudyRule>> {
    let Origin::Commit(repository, commit) = &build.origin else { return None };
    let is_checked_out = repository.commit("HEAD").is_ok_and(|head| head.id == commit.id);
    let source = &build.planned.source;
    (is_checked_out && repository.is_changed()).then(|| uncommitted(&commit.short, source))
}

/// The folder that a variant names, unless only its trial has it.
fn named_directory<'a>(spec: &'a VariantSpec, workload: &'a Workload) -> Option<&'a String> {
    spec.directory(workload).filter(|path| !path.contains('{'))
}

fn build_of(
    spec: &VariantSpec,
    words: Vec<String>,
    workload: &Workload,
    folder: &Path,
) -> Result<Build, String> {
    let folder = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
    let cache = std::path::absolute(&workload.cache).map_err(|e| e.to_string())?;
    let cache = cache.canonicalize().unwrap_or(cache);
    let (origin, content) = match &spec.commit {
        Some(name) => {
            let repository = Repository::of(&folder)?;
            let commit = repository.commit(name)?;
            let content = commit.id.clone();
            (Origin::Commit(repository, commit), content)
        }
        None => {
            let files = Files::of(&folder, Repository::of(&folder).ok().as_ref(), &cache)?;
            let content = files.hash().map_err(|e| e.to_string())?;
            (Origin::Files(files), content)
        }
    };
    let root = match &origin {
        Origin::Commit(repository, _) => repository.root(),
        Origin::Files(files) => files.root(),
    };
    let below = folder.strip_prefix(root).unwrap_or(Path::new("")).to_owned();
    let name = root.file_name().unwrap_or(OsStr::new("copy"));
    let id = id(&content, &[name, below.as_os_str()], &words);
    let kept = cache.join(BUILDS).join(&id);
    let copy = kept.join(Build::COPIES).join(name);
    let commit = match &origin {
        Origin::Commit(_, commit) => Some(commit.clone()),
        Origin::Files(_) => None,
    };
    Ok(Build {
        planned: PlannedBuild {
            source: root.display().to_string(),
            commit: commit.as_ref().map(|commit| commit.id.clone()),
            subject: commit.map(|commit| commit.subject),
            command: words,
            id,
        },
        origin,
        content,
        folder: kept,
        workdir: copy.join(below),
        copy,
        timeout: Duration::from_secs_f64(spec.build_timeout_s.unwrap_or(TIMEOUT_S)),
    })
}

/// A number of all that goes into a build.
fn id(content: &str, names: &[&OsStr], words: &[String]) -> String {
    let mut hash = Hash::new();
    hash.add(content.as_bytes());
    names.iter().for_each(|name| hash.add(name.as_bytes()));
    hash.add(&(words.len() as u64).to_le_bytes());
    words.iter().for_each(|word| hash.add(word.as_bytes()));
    for variable in VARIABLES {
        let value = std::env::var_os(variable);
        hash.add(&[u8::from(value.is_some())]);
        hash.add(value.unwrap_or_default().as_bytes());
    }
    hash.hex().chars().take(ID_CHARS).collect()
}
