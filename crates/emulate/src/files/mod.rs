//! Which files of this machine a command needs in a guest: what it names, what its Java launcher reads, and the runtime that it starts.

mod jar;
mod program;
mod words;

pub use program::stripped;

use crate::walk::{Kind, Limits, walk};
use assay_jdk::options::max_heap_bytes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use words::{JavaLine, Main};

/// Components of a path, the root included, below which it is not taken for something to copy: `/`, `/usr`, `/proc`.
const COMPONENTS_MIN: usize = 3;
/// A guest's own files.
const NOT_COPIED: [&str; 3] = ["/proc", "/sys", "/dev"];
/// A folder that a command names somewhere may be one for logs, or a whole home. Class paths are not bound by this, only by the image.
const NAMED_FOLDER: Limits = Limits { entries: 20_000, bytes: 256 << 20 };
/// Jars of a class path, with those that they name.
const JARS_MAX: usize = 10_000;

/// A command as a guest runs it.
#[derive(Debug, Clone, Copy)]
pub struct GuestCommand<'a> {
    /// Program and arguments.
    pub argv: &'a [String],
    /// Its own variables.
    pub env: &'a BTreeMap<String, String>,
    /// Folder in which it starts.
    pub cwd: &'a Path,
    /// Where a guest has the runtime of the variant's JVM; absent where the command names its own.
    pub runtime: Option<&'a Path>,
}

/// What a command needs of this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeededFiles {
    /// Files and folders, by their path in the guest: links in the path and `..` are resolved by the words alone there.
    pub files: BTreeMap<PathBuf, PathBuf>,
    /// The home of the Java runtime that the command itself names.
    pub runtime: Option<PathBuf>,
    /// The program by its whole path, where the command names one of this machine.
    pub program: Option<PathBuf>,
    /// Largest heap that the command sets, bytes.
    pub heap_max_bytes: Option<u64>,
    /// Files that the command names and that are not copied, and why.
    pub left_out: Vec<String>,
}

/// Finds the files that a command needs.
///
/// # Errors
/// What the command needs and this machine does not have, or a guest cannot run, with what to do.
pub fn needed_files(command: GuestCommand<'_>) -> Result<NeededFiles, String> {
    let mut search = Search { command, found: NeededFiles::default(), jars: BTreeSet::new() };
    let (program, arguments) = command.argv.split_first().ok_or("the server has no command")?;
    let is_java = search.take_program(program)?;
    let mut words = arguments.to_vec();
    if is_java {
        let line = words::read(arguments, command.env.get("JDK_JAVA_OPTIONS"), command.cwd)?;
        search.take_java(&line)?;
        words = line.words;
    }
    search.take_named(&words);
    search.found.heap_max_bytes = heap_max_bytes(&words, command.env);
    Ok(search.found)
}

struct Search<'a> {
    command: GuestCommand<'a>,
    found: NeededFiles,
    /// Those whose manifests were read.
    jars: BTreeSet<PathBuf>,
}

impl Search<'_> {
    /// Takes the program; says whether it is a Java launcher.
    fn take_program(&mut self, program: &str) -> Result<bool, String> {
        let own = self.command.runtime.map(|home| home.join("bin/java"));
        if own.is_some_and(|java| java == Path::new(program)) {
            return Ok(true);
        }
        let path = program::find(program, self.command.cwd)?;
        let is_java = path.file_name().is_some_and(|name| name == "java");
        match program::runtime_home(&path) {
            Some(home) => self.found.runtime = Some(home),
            None => drop(self.found.files.insert(path.clone(), path.clone())),
        }
        self.found.program = Some(path);
        Ok(is_java)
    }

    fn take_java(&mut self, line: &JavaLine) -> Result<(), String> {
        for file in &line.argument_files {
            self.take(file);
        }
        let mut entries: Vec<String> = line.agents.clone();
        match &line.main {
            Some(Main::Jar(jar)) => entries.push(jar.clone()),
            Some(Main::Class(_)) | None => {
                let of_env = self.command.env.get("CLASSPATH").cloned();
                let class_path = line.class_path.clone().or(of_env).unwrap_or_else(|| ".".to_owned());
                self.take_paths(&class_path)?;
            }
            Some(Main::Module) => {}
        }
        for entry in &entries {
            let path = self.command.cwd.join(entry);
            if !path.is_file() {
                return Err(format!("there is no file {entry} in {}", self.command.cwd.display()));
            }
            self.take_jar(&path)?;
        }
        // With a module or a jar the class path is read by nobody, or by the program itself.
        let further = line.class_path.iter().filter(|_| line.main == Some(Main::Module));
        further.chain(&line.module_paths).try_for_each(|path| self.take_paths(path))
    }

    /// Entries of a class path or module path. Those that are not there are nothing to the JVM.
    fn take_paths(&mut self, paths: &str) -> Result<(), String> {
        for entry in paths.split(':') {
            let entry = if entry.is_empty() { "." } else { entry };
            let path = self.command.cwd.join(entry.strip_suffix('*').unwrap_or(entry));
            if entry.ends_with('*') {
                let is_jar = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jar"));
                let all = std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
                for jar in all.filter(is_jar) {
                    self.take_jar(&jar)?;
                }
            } else if path.is_dir() {
                self.take(&path);
            } else if path.is_file() {
                self.take_jar(&path)?;
            }
        }
        Ok(())
    }

    /// A jar with all that its manifest names.
    fn take_jar(&mut self, jar: &Path) -> Result<(), String> {
        let mut left = vec![jar.to_owned()];
        while let Some(path) = left.pop() {
            if !self.jars.insert(lexical(&path)) || !path.exists() {
                continue;
            }
            if JARS_MAX < self.jars.len() {
                return Err(format!("{} and its class path are more than {JARS_MAX} jars", jar.display()));
            }
            self.take(&path);
            if path.is_file() {
                left.extend(jar::named_by(&path));
            }
        }
        Ok(())
    }

    /// Files and folders that are here and that words or variables name: as a word, or in one, as options have them.
    fn take_named(&mut self, words: &[String]) {
        let texts = words.iter().chain(self.command.env.values());
        let pieces: BTreeSet<&str> =
            texts.flat_map(|text| text.split([':', '=', ',', ';', '"', '@'])).collect();
        for piece in pieces {
            let piece = piece.strip_suffix("/*").unwrap_or(piece);
            let path = self.command.cwd.join(piece);
            if !is_plain(&lexical(&path)) {
                continue;
            }
            // A bare word is rather a word than a folder. A file may be a key in a folder that is taken without its keys.
            if path.is_file() {
                self.take(&path);
            } else if path.is_dir() && piece.contains('/') && !self.is_taken(&lexical(&path)) {
                self.take_named_folder(&path);
            }
        }
    }

    fn take_named_folder(&mut self, path: &Path) {
        if self.found.runtime.as_ref().is_some_and(|home| lexical(path).starts_with(home)) {
            return;
        }
        match walk(path, Kind::Named, NAMED_FOLDER) {
            Ok(_) => self.take(path),
            Err(why) => self.found.left_out.push(why.to_string()),
        }
    }

    fn is_taken(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.found.files.contains_key(above))
    }

    fn take(&mut self, path: &Path) {
        self.found.files.insert(lexical(path), path.to_owned());
    }
}

/// A path without `.` and `..`: a guest has no links, so that there they lead where the words say.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && COMPONENTS_MIN <= path.components().count()
        && !NOT_COPIED.iter().any(|own| path.starts_with(own))
}

/// The largest heap that a command sets for its JVM.
fn heap_max_bytes(words: &[String], env: &BTreeMap<String, String>) -> Option<u64> {
    let variables = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"].into_iter().filter_map(|name| env.get(name));
    let all: Vec<String> =
        variables.flat_map(|text| words::split(text)).chain(words.iter().cloned()).collect();
    max_heap_bytes(all.iter().map(String::as_str))
}

#[cfg(test)]
mod tests;
