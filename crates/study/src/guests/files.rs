//! The files of this machine that a study needs in a guest; they have the same paths there.

use crate::check::checked::Checked;
use crate::check::combinations::{VariantSpec, combine};
use crate::file::program::{CommandLine, ProcessTable};
use crate::file::workload::folder_of;
use crate::plan::names::workload_options;
use assay_emulate::{GuestCommand, GuestImage, NeededFiles, PLACE_PROGRAM, Place, needed_files, stripped};
use assay_jdk::{InstalledJvms, JvmWish};
use assay_launch::{JVM_OPTIONS, Placeholders};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Stands for the variant's JVM while words of commands are looked into.
const JVM_HOME: &str = "/jvm";
/// What `java` on the guest's path leads to.
const JAVA: &str = "/usr/bin/java";

/// What a study needs of this machine.
#[derive(Debug, Default)]
pub(super) struct Needed {
    /// The study file.
    pub study: PathBuf,
    /// Files and folders by their path in the guest.
    files: BTreeMap<PathBuf, PathBuf>,
    /// Homes of Java runtimes.
    runtimes: BTreeSet<PathBuf>,
    /// Names that lead to other files of the guest.
    links: BTreeMap<PathBuf, PathBuf>,
    /// Empty folders.
    folders: BTreeSet<PathBuf>,
    /// What commands name and the guest does not have.
    pub left_out: Vec<String>,
    cache: PathBuf,
}

/// What a study, or its short form, needs.
///
/// # Errors
/// A file or JVM that is not here.
pub(super) fn needed(checked: &Checked, quick: bool, place: &Place) -> Result<Needed, String> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(|e| format!("{}: {e}", path.display()));
    let workload = &checked.workload;
    let cache = absolute(&workload.cache)?;
    let study = absolute(&checked.document.file)?;
    if !study.is_file() {
        return Err(format!("{} is not a file, and a guest reads the study from one", study.display()));
    }
    let mut needed = Needed { study: study.clone(), cache: cache.clone(), ..Needed::default() };
    needed.take(&study);
    // Marks the checkout, with which the guest finds what was built in it.
    needed.folders.extend(cache.parent().map(|checkout| checkout.join("workloads")));
    if workload.name != "custom" {
        needed.take(&absolute(&workload.dir)?);
    }
    let base = folder_of(&study);
    let further = checked.study.guest.iter().filter_map(|table| table.files.as_ref()).flatten();
    let short = checked.study.quick.as_ref().filter(|_| quick);
    let specs = combine(&checked.study, short);
    for spec in &specs {
        let mut names = Placeholders::default();
        names.set_path("workload_dir", &absolute(&workload.dir)?);
        names.set_path("cache", &cache);
        names.set_options(&workload_options(spec, workload));
        names.set("java", format!("{JVM_HOME}/bin/java"));
        needed.take_workload(checked, &names, &base)?;
        let words = spec.words(workload)?;
        let directory = spec.directory(workload).map(|directory| base.join(names.fill(directory)));
        let environment = workload.program.environment().iter().chain(&spec.environment);
        let environment =
            environment.map(|(name, value)| (name.clone(), names.fill(value))).collect::<BTreeMap<_, _>>();
        let of_server = (directory.unwrap_or_else(|| base.clone()), environment);
        needed.take_command(&words, &names, of_server, place)?;
        for process in &workload.processes {
            needed.take_process(process, &names, &base, place);
        }
        let preload = spec.preload.iter().map(|library| base.join(library));
        preload.filter(|path| path.is_file()).for_each(|path| needed.take(&path));
        for path in further.clone() {
            let path = base.join(names.fill(path));
            if !path.exists() {
                return Err(format!("there is no {}, which [guest] files names", path.display()));
            }
            needed.take(&path);
        }
    }
    needed.take_jvms(&specs, place, &cache)?;
    Ok(needed)
}

impl Needed {
    /// The folder in which what was built and fetched is found.
    pub fn checkout(&self) -> &Path {
        self.cache.parent().unwrap_or(Path::new("/"))
    }

    fn take(&mut self, path: &Path) {
        self.files.insert(path.to_owned(), path.to_owned());
    }

    /// What a workload's set-up made, templates and scenarios.
    fn take_workload(&mut self, checked: &Checked, names: &Placeholders, base: &Path) -> Result<(), String> {
        let workload = &checked.workload;
        for path in &workload.requires {
            let path = PathBuf::from(names.fill(path));
            if !path.exists() {
                return Err(format!(
                    "{} is missing, which the workload needs: ./assay setup makes it",
                    path.display()
                ));
            }
            // The folder that the set-up of the workload makes.
            let own = path.strip_prefix(&self.cache).ok().and_then(|below| below.components().next());
            self.take(&own.map_or(path.clone(), |own| self.cache.join(own)));
        }
        let templates = workload.program.server().and_then(|server| server.template.as_ref());
        let templates =
            templates.into_iter().chain(workload.processes.iter().filter_map(|p| p.template.as_ref()));
        for path in templates.map(|path| base.join(names.fill(path))).filter(|path| path.exists()) {
            if self.files.keys().all(|folder| !path.starts_with(folder)) {
                self.take(&path);
            }
        }
        let scenario = workload.scenario.as_ref().map(|file| workload.scenario_dir.join(names.fill(file)));
        if let Some(scenario) = scenario {
            let scenario = std::path::absolute(scenario).map_err(|e| e.to_string())?;
            self.take(&scenario);
            // Rows of data that it names lie beside it; a workload's are in its folder.
            let text = std::fs::read_to_string(&scenario).unwrap_or_default();
            let named = |path: &PathBuf| {
                path.is_file() && path.file_name().is_some_and(|name| text.contains(&*name.to_string_lossy()))
            };
            let beside = std::fs::read_dir(folder_of(&scenario)).into_iter().flatten().flatten();
            beside.map(|entry| entry.path()).filter(named).for_each(|path| self.take(&path));
        }
        Ok(())
    }

    /// What the words of the program under test name.
    fn take_command(
        &mut self,
        words: &[String],
        names: &Placeholders,
        (cwd, env): (PathBuf, BTreeMap<String, String>),
        place: &Place,
    ) -> Result<(), String> {
        let words = filled(words, names);
        if words.is_empty() {
            return Ok(());
        }
        let runtime = Some(Path::new(JVM_HOME));
        self.folders.insert(cwd.clone());
        let found = needed_files(GuestCommand { argv: &words, env: &env, cwd: &cwd, runtime })?;
        self.take_found(found, place);
        Ok(())
    }

    /// The same for an auxiliary process. What is missing is said in the guest, where it is looked for.
    fn take_process(&mut self, process: &ProcessTable, names: &Placeholders, base: &Path, place: &Place) {
        let lines = [Some(&process.command), process.prepare.as_ref(), process.ready_command.as_ref()];
        for words in lines.into_iter().flatten().filter_map(|line: &CommandLine| line.words().ok()) {
            let words = filled(&words, names);
            let environment = BTreeMap::new();
            let command = GuestCommand {
                argv: &words,
                env: &environment,
                cwd: base,
                runtime: Some(Path::new(JVM_HOME)),
            };
            if let Ok(found) = needed_files(command) {
                self.take_found(found, place);
            }
        }
    }

    fn take_found(&mut self, mut found: NeededFiles, place: &Place) {
        if !place.runs_own_programs() {
            // A program of this machine is none there.
            found.runtime = None;
            if let Some(program) = &found.program {
                found.files.remove(program);
            }
        }
        self.files.extend(found.files.into_iter().filter(|(path, _)| !path.starts_with(JVM_HOME)));
        self.runtimes.extend(found.runtime);
        self.left_out.extend(found.left_out);
        self.left_out.sort();
        self.left_out.dedup();
    }

    /// The JVMs of the variants: this machine's where they run there, or those that were fetched with the guest.
    fn take_jvms(&mut self, specs: &[VariantSpec], place: &Place, cache: &Path) -> Result<(), String> {
        if !place.runs_own_programs() {
            let java = place.jvm_homes().into_iter().next().map(|home| home.join("bin/java"));
            self.links.extend(java.map(|java| (PathBuf::from(JAVA), java)));
            return Ok(());
        }
        let jvms = InstalledJvms::find(cache);
        for spec in specs {
            let wish = JvmWish { jvm: spec.jvm.as_deref(), mode: spec.reference_mode, compares_32: false };
            let home = PathBuf::from(jvms.choose(wish)?.home);
            if spec.jvm.is_none() {
                self.links.entry(PathBuf::from(JAVA)).or_insert_with(|| home.join("bin/java"));
            }
            let asked = spec.jvm.as_deref().map(Path::new).filter(|path| path.is_absolute());
            if let Some(asked) = asked.filter(|asked| **asked != *home && asked.is_dir()) {
                self.links.insert(asked.to_owned(), home.clone());
            }
            self.runtimes.insert(home);
        }
        Ok(())
    }

    /// Puts it all into an image, with Assay itself.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn put(&self, image: &mut GuestImage, place: &Place, program: &Path) -> io::Result<()> {
        self.folders.iter().for_each(|folder| image.add_folder(folder));
        for (path, host) in &self.files {
            image.add(host, path)?;
        }
        for home in &self.runtimes {
            image.add_runtime(home, home)?;
        }
        for (name, target) in &self.links {
            image.add_link(name, target);
        }
        let kept = self.cache.join("emulation");
        fs_err::create_dir_all(&kept)?;
        let program = match place.runs_own_programs() {
            true => stripped(program, &kept).map_err(io::Error::other)?,
            false => program.to_owned(),
        };
        image.add(&program, Path::new(PLACE_PROGRAM))?;
        if place.runs_own_programs() {
            image.add_libraries();
        }
        Ok(())
    }
}

/// Words of a command without the options that only a start adds.
fn filled(words: &[String], names: &Placeholders) -> Vec<String> {
    let mut words: Vec<String> =
        words.iter().filter(|word| !word.contains(JVM_OPTIONS)).map(|word| names.fill(word)).collect();
    if let Some(first) = words.first_mut().filter(|first| *first == "java") {
        *first = format!("{JVM_HOME}/bin/java");
    }
    words
}
