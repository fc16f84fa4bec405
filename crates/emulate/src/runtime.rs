//! A Java runtime without what only developers need, made by the JDK's own `jlink`.

use assay_launch::try_lock_until;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Counts up when what is made changes.
const RECIPE: u32 = 2;
/// How long to wait while another run makes a runtime; one that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(240);

/// The folder of a runtime with all modules of a JDK, or taken from `cache` where it was made before. What a program needs is not asked:
/// services and reflection are in no list, and two builds must run on the same runtime. A JVM without `jlink` or its modules is its own
/// runtime.
///
/// # Errors
/// What `jlink` said.
pub fn runtime_of(jvm_home: &Path, cache: &Path) -> Result<PathBuf, String> {
    let jlink = jvm_home.join("bin/jlink");
    let modules = jvm_home.join("jmods");
    if !jlink.is_file() || !modules.join("java.base.jmod").is_file() {
        return Ok(jvm_home.to_owned());
    }
    let runtimes = cache.join("runtime");
    fs_err::create_dir_all(&runtimes).map_err(|e| e.to_string())?;
    let lock = fs_err::File::create(runtimes.join("lock")).map_err(|e| e.to_string())?;
    try_lock_until(lock.file(), Instant::now() + PATIENCE);
    let release = fs_err::read_to_string(jvm_home.join("release")).unwrap_or_default();
    let folder = runtimes.join(hash_of((RECIPE, jvm_home, &release)));
    if folder.is_dir() {
        return Ok(folder);
    }
    let work = tempfile::tempdir_in(&runtimes).map_err(|e| format!("{}: {e}", runtimes.display()))?;
    let image = work.path().join("image");
    let mut command = Command::new(&jlink);
    command.arg("--module-path").arg(&modules).args(["--add-modules", "ALL-MODULE-PATH"]);
    command.args(["--strip-debug", "--no-header-files", "--no-man-pages", "--output"]);
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
