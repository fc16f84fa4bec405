//! A Java runtime with nothing but what a program needs, made by the JDK's own `jlink`.

use assay_launch::try_lock_until;
use assay_text::file::write_whole;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Counts up when what is made changes.
const RECIPE: u32 = 1;
/// How long to wait while another run makes a runtime; one that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);
/// Modules that programs use without saying so.
const USUAL: &str = "jdk.unsupported,jdk.zipfs";
/// Where `jdeps` cannot say what jars need.
const ALL_OF_SE: &str = "java.se";

/// The folder of a runtime for these jars, made from a JDK, or taken from `cache` where it was made before. A JVM without `jlink` is
/// its own runtime.
///
/// # Errors
/// What `jlink` said.
pub fn runtime_of(jvm_home: &Path, jars: &[PathBuf], cache: &Path) -> Result<PathBuf, String> {
    let tool = |name: &str| Some(jvm_home.join("bin").join(name)).filter(|tool| tool.is_file());
    let Some(jlink) = tool("jlink").filter(|_| jvm_home.join("jmods").is_dir()) else {
        return Ok(jvm_home.to_owned());
    };
    let runtimes = cache.join("runtime");
    fs_err::create_dir_all(&runtimes).map_err(|e| e.to_string())?;
    let lock = fs_err::File::create(runtimes.join("lock")).map_err(|e| e.to_string())?;
    try_lock_until(lock.file(), Instant::now() + PATIENCE);
    let needed = tool("jdeps").and_then(|jdeps| known_modules(&jdeps, jars, &runtimes));
    let modules = format!("{},{USUAL}", needed.as_deref().unwrap_or(ALL_OF_SE));
    let release = fs_err::read_to_string(jvm_home.join("release")).unwrap_or_default();
    let folder = runtimes.join(hash_of((RECIPE, jvm_home, &release, &modules)));
    if folder.is_dir() {
        return Ok(folder);
    }
    let work = tempfile::tempdir_in(&runtimes).map_err(|e| format!("{}: {e}", runtimes.display()))?;
    let image = work.path().join("image");
    let mut command = Command::new(&jlink);
    command.args([
        "--add-modules",
        &modules,
        "--strip-debug",
        "--no-header-files",
        "--no-man-pages",
        "--output",
    ]);
    run(command.arg(&image))?;
    // Archives of class data, as a JDK has them: without one a JVM starts with other classes in other places. With 64-bit references it
    // takes another one. A release that cannot make one says so, and does without.
    for references in ["-XX:+UseCompressedOops", "-XX:-UseCompressedOops"] {
        let _ = run(Command::new(image.join("bin/java")).args(["-Xshare:dump", references]));
    }
    match fs_err::rename(&image, &folder) {
        Err(e) if !folder.is_dir() => Err(e.to_string()),
        _ => Ok(folder),
    }
}

fn hash_of(what: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Modules that jars need: what `jdeps` said before, if paths, sizes and dates of the jars are the same. Each trial would pay 5 s of CPU time
/// for asking it anew.
fn known_modules(jdeps: &Path, jars: &[PathBuf], folder: &Path) -> Option<String> {
    let dated = |jar: &PathBuf| fs_err::metadata(jar).ok().map(|of| (of.len(), of.modified().ok()));
    let of_jars: Vec<_> = jars.iter().map(|jar| (jar, dated(jar))).collect();
    let file = folder.join(hash_of((jdeps, of_jars))).with_extension("modules");
    if let Ok(known) = fs_err::read_to_string(&file) {
        return Some(known);
    }
    let modules = modules_of(jdeps, jars)?;
    // Without the file the next trial asks again.
    let _ = write_whole(&file, |to| to.write_all(modules.as_bytes()));
    Some(modules)
}

/// Modules that jars need, by `jdeps`; none where it cannot say.
fn modules_of(jdeps: &Path, jars: &[PathBuf]) -> Option<String> {
    if jars.is_empty() {
        return None;
    }
    let mut command = Command::new(jdeps);
    command.args(["--ignore-missing-deps", "--print-module-deps", "--multi-release", "base"]).args(jars);
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    let is_list = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == ',';
    (!text.is_empty() && text.chars().all(is_list)).then(|| text.to_owned())
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    Err(format!("{name} failed: {}", text.lines().next().unwrap_or("it said nothing")))
}
