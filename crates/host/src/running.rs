//! The JVMs that run on a machine: found by their library, named by their main class or jar.

use assay_jdk::launcher::OPTIONS_WITH_VALUE;
use assay_linux::{Denial, LinuxError, ProcRoot};
use assay_model::{RunningJvm, RunningJvms, schema};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A process may have as many mappings as `vm.max_map_count` allows, 65,530 unless it was raised; a line has some 100
/// bytes and the path of a file.
const MAPS_BYTES_MAX: u64 = 64 << 20;
const COMMAND_BYTES_MAX: u64 = 1 << 20;
/// From `lib/server/libjvm.so`, or `jre/lib/amd64/server/libjvm.so` in JDK 8, up to the home.
const FOLDERS_ABOVE: usize = 5;
const PROGRAM_CHARS: usize = 60;

/// The JVMs of a machine, the biggest first, and why the first process that may be one could not be looked at.
///
/// # Errors
/// When the list of processes cannot be read.
pub fn running_jvms(proc: &ProcRoot) -> Result<(RunningJvms, Option<Denial>), LinuxError> {
    let processes = proc.read_processes()?;
    let mut denial = None;
    let mut found = RunningJvms { schema: schema::MEMORY_JVMS.to_owned(), jvms: Vec::new(), not_readable: 0 };
    for process in processes.into_iter().filter(|p| !p.has_ended()) {
        let folder = proc.path().join(process.pid.to_string());
        match libjvm_of(&folder) {
            Ok(Some(library)) => found.jvms.push(RunningJvm {
                pid: process.pid,
                rss_bytes: proc.read_process_status(process.pid).ok().and_then(|s| s.rss_bytes),
                version: version_of(&folder, &library),
                program: program_of(&folder).unwrap_or(process.command),
            }),
            Ok(None) => {}
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
                found.not_readable += 1;
                denial.get_or_insert_with(|| proc.explain_denied(process.pid));
            }
            // It has ended.
            Err(_) => {}
        }
    }
    found.jvms.sort_by_key(|jvm| std::cmp::Reverse(jvm.rss_bytes));
    for jvm in &mut found.jvms {
        jvm.program = shown(&jvm.program);
    }
    Ok((found, denial))
}

/// Path of the JVM's library as the process sees it. `maps` is read rather than `smaps`: it costs no walk over pages.
fn libjvm_of(folder: &Path) -> std::io::Result<Option<PathBuf>> {
    let mut maps = BufReader::new(File::open(folder.join("maps"))?.take(MAPS_BYTES_MAX));
    let mut line = Vec::new();
    loop {
        line.clear();
        if maps.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        // The path is the sixth field, and may hold blanks.
        let path = text.find('/').map(|at| text[at..].trim_end().trim_end_matches(" (deleted)"));
        if let Some(path) = path.filter(|p| p.ends_with("/libjvm.so")) {
            return Ok(Some(PathBuf::from(path)));
        }
    }
}

/// From the `release` file of its home, read through the root of the process (it may be a container's).
fn version_of(folder: &Path, library: &Path) -> Option<String> {
    assay_jdk::jvm_at(&home_of(folder, library)?).ok().map(|facts| shown(&facts.version))
}

fn home_of(folder: &Path, library: &Path) -> Option<PathBuf> {
    let root = folder.join("root");
    let homes = library.ancestors().skip(1).take(FOLDERS_ABOVE);
    let mut inside = homes.map(|home| root.join(home.strip_prefix("/").unwrap_or(home)));
    inside.find(|home| home.join("release").is_file())
}

/// The main class, jar or module of a process that `java` started; nothing else of its command line, which may hold secrets. None where it
/// cannot be read, or where another program has a JVM in it.
pub fn main_of_process(proc: &ProcRoot, pid: u32) -> Option<String> {
    let words = words_of(&proc.path().join(pid.to_string()).join("cmdline")).ok()?;
    let launcher = words.first()?.rsplit('/').next()?;
    if launcher != "java" {
        return None;
    }
    main_of(&words).map(|main| shown(&main))
}

fn program_of(folder: &Path) -> Option<String> {
    main_of(&words_of(&folder.join("cmdline")).ok()?)
}

/// Options of a running JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JvmOptions {
    /// Those that begin with `-X`, in the order in which the JVM reads them.
    pub options: Vec<String>,
    /// Feature release, where the file beside its library names it.
    pub feature: Option<u32>,
}

/// Variables from which the JVM takes options before it reads its command line, and the one that it reads behind it.
const VARIABLES_BEFORE: [&str; 2] = ["JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS="];
const VARIABLE_BEHIND: &str = "_JAVA_OPTIONS=";

/// The options of a running JVM, from its environment and its command line; `None` for a process that is not a JVM. Options in files
/// (`@FILE`) are not among them.
///
/// # Errors
/// When the process cannot be looked at.
pub fn jvm_options(proc: &ProcRoot, pid: u32) -> Result<Option<JvmOptions>, LinuxError> {
    let folder = proc.path().join(pid.to_string());
    let read = |name: &str| {
        words_of(&folder.join(name)).map_err(|source| LinuxError::Read { path: folder.join(name), source })
    };
    let library =
        libjvm_of(&folder).map_err(|source| LinuxError::Read { path: folder.join("maps"), source })?;
    let Some(library) = library else { return Ok(None) };
    let (words, environment) = (read("cmdline")?, read("environ")?);
    let of_variable = |name: &str| {
        let value = environment.iter().find_map(|variable| variable.strip_prefix(name)).unwrap_or_default();
        value.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let before = VARIABLES_BEFORE.iter().flat_map(|name| of_variable(name));
    let all = before.chain(words.into_iter().skip(1)).chain(of_variable(VARIABLE_BEHIND));
    let options = all.filter(|word| word.starts_with("-X")).collect();
    let feature =
        home_of(&folder, &library).and_then(|home| assay_jdk::jvm_at(&home).ok()).map(|jvm| jvm.feature);
    Ok(Some(JvmOptions { options, feature }))
}

/// The words of a file in which each ends with a zero: `cmdline` or `environ`. They may hold secrets.
pub(crate) fn words_of(path: &Path) -> std::io::Result<Vec<String>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(COMMAND_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes.split(|b| *b == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// The main class, jar or module of a `java` command line; nothing else of it is shown, since it may hold secrets.
fn main_of(words: &[String]) -> Option<String> {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-jar" => {
                let jar = rest.next()?;
                return Some(jar.rsplit('/').next().unwrap_or(jar).to_owned());
            }
            "-m" | "--module" => return rest.next().cloned(),
            option if OPTIONS_WITH_VALUE.contains(&option) => {
                rest.next();
            }
            option if option.starts_with('-') || option.starts_with('@') => {}
            class => return Some(class.to_owned()).filter(|c| !c.is_empty()),
        }
    }
    None
}

/// A text of another process for the terminal.
fn shown(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if text.chars().count() <= PROGRAM_CHARS {
        return text;
    }
    text.chars().take(PROGRAM_CHARS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn main(line: &str) -> Option<String> {
        main_of(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_program_is_its_main_class_jar_or_module_and_nothing_secret() {
        assert_eq!(main("java -Xmx1g -cp a:b kafka.Kafka --password x").as_deref(), Some("kafka.Kafka"));
        assert_eq!(main("java -Dkey=secret -jar /srv/my.jar --port=1").as_deref(), Some("my.jar"));
        assert_eq!(main("java -p mods -m app/app.Main").as_deref(), Some("app/app.Main"));
        assert_eq!(main("java @options --add-opens a=b Main").as_deref(), Some("Main"));
        assert_eq!(main("java --limit-modules java.base --source 21 A.java").as_deref(), Some("A.java"));
        assert_eq!(main("java -version"), None);
        assert_eq!(main("java"), None);
    }

    #[test]
    fn a_jvm_is_found_by_its_library_in_a_made_up_proc() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("42");
        fs_err::create_dir_all(&folder).expect("made");
        let stat = "42 (java) S 1 42 42 0 -1 4194304 1 0 0 0 5 5 0 0 20 0 9 0 100 1000 100 0\n";
        fs_err::write(folder.join("stat"), stat).expect("written");
        fs_err::write(folder.join("status"), "VmRSS:\t  2048 kB\nThreads:\t9\n").expect("written");
        fs_err::write(folder.join("cmdline"), "java\0-jar\0/x/shop \u{1b}.jar\0").expect("written");
        let maps = "7f00-7f01 r-xp 00000000 08:01 1  /opt/my jdk/lib/server/libjvm.so (deleted)\n";
        fs_err::write(folder.join("maps"), maps).expect("written");
        let (found, _) = running_jvms(&ProcRoot::at(root.path())).expect("a list");
        assert_eq!(found.jvms.len(), 1);
        let jvm = &found.jvms[0];
        assert_eq!(
            (jvm.pid, jvm.rss_bytes, jvm.program.as_str()),
            (42, Some(2048 << 10), "shop \u{FFFD}.jar")
        );
        assert_eq!(jvm.version, None);
        fs_err::write(folder.join("maps"), "7f00-7f01 r-xp 00000000 08:01 1  /usr/bin/cat\n")
            .expect("written");
        assert!(running_jvms(&ProcRoot::at(root.path())).expect("a list").0.jvms.is_empty());
    }
}
