//! The JVMs of this machine, from their files alone: nothing that is found is run.

use assay_model::{JvmFacts, Problem};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where distributions put JVMs.
const SYSTEM_FOLDER: &str = "/usr/lib/jvm";
/// Folders below [`SYSTEM_FOLDER`], and on the path, that are looked at.
const CANDIDATES_MAX: usize = 1000;
/// A `release` file has about 2 KB; the list of modules is the longest line.
const RELEASE_BYTES_MAX: u64 = 256 << 10;

/// Finds the JVMs of this machine: `JAVA_HOME`, the `java` of the path, and `/usr/lib/jvm/*`. One that can be reached in
/// several ways is listed once, under its real path. Those that `workloads/jvm/fetch` provided below `cache` stand in for what the
/// system lacks: they come last, each where no other has its release and word size.
///
/// A `JAVA_HOME` that holds no JVM gives a problem; so does a JVM whose files cannot be understood. Other folders without a JVM
/// are passed over.
pub fn find_jvms(cache: &Path) -> (Vec<JvmFacts>, Vec<Problem>) {
    let java_home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = homes_on_path(&path).into_iter().chain(homes_below(Path::new(SYSTEM_FOLDER)));
    let (mut jvms, problems) = find_among(java_home, found.collect());
    for fetched in
        homes_below(&cache.join("jvm")).iter().filter_map(|folder| jvm_at(&folder.join("home")).ok())
    {
        if !jvms.iter().any(|jvm| (jvm.feature, jvm.bits) == (fetched.feature, fetched.bits)) {
            jvms.push(fetched);
        }
    }
    (jvms, problems)
}

fn find_among(java_home: Option<PathBuf>, found: Vec<PathBuf>) -> (Vec<JvmFacts>, Vec<Problem>) {
    let (mut jvms, mut problems, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    // Many folders below /usr/lib/jvm are no JVM: sources, documents, settings.
    let found = found.into_iter().filter(|home| home.join("release").exists() && libjvm_of(home).is_some());
    for home in java_home.into_iter().chain(found) {
        if !seen.insert(home.canonicalize().unwrap_or_else(|_| home.clone())) {
            continue;
        }
        match jvm_at(&home) {
            Ok(facts) => jvms.push(facts),
            Err(problem) => problems.push(problem),
        }
    }
    (jvms, problems)
}

/// The home of every `java` on the path, symbolic links followed: `/usr/bin/java` leads to the chosen alternative.
fn homes_on_path(path: &OsStr) -> Vec<PathBuf> {
    let launchers = std::env::split_paths(path).take(CANDIDATES_MAX).map(|folder| folder.join("java"));
    launchers.filter_map(|java| java.canonicalize().ok()?.parent()?.parent().map(Path::to_owned)).collect()
}

fn homes_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(CANDIDATES_MAX).flatten();
    let mut homes: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    homes.sort();
    homes
}

/// The JVM at this path: its home, or its `java` (symbolic links are followed).
///
/// # Errors
/// A problem that names the file, when there is no JVM or its `release` file or library cannot be understood.
pub fn jvm_at(path: &Path) -> Result<JvmFacts, Problem> {
    let problem = |at: &Path, what: String| Problem::new(at.display().to_string(), what);
    let real = path.canonicalize().map_err(|e| problem(path, format!("no JVM here: {e}")))?;
    let home = match real.parent().and_then(Path::parent) {
        Some(home) if real.is_file() => home,
        _ => real.as_path(),
    };
    // In JDK 8 the `java` of the path may be that of the folder `jre`, which has no `release` of its own.
    let jdk = home.parent().filter(|jdk| {
        home.ends_with("jre") && !home.join("release").exists() && jdk.join("release").exists()
    });
    let home = jdk.unwrap_or(home);
    let release_path = home.join("release");
    let release = read_bounded(&release_path).map_err(|e| problem(&release_path, no_release(&e)))?;
    let value = |key: &str| release_value(&release, key);
    let version = value("JAVA_RUNTIME_VERSION").or_else(|| value("JAVA_VERSION"));
    let version = version.ok_or_else(|| problem(&release_path, "no JAVA_VERSION in it".to_owned()))?;
    let feature = value("JAVA_VERSION").as_deref().and_then(feature_of).or_else(|| feature_of(&version));
    let feature =
        feature.ok_or_else(|| problem(&release_path, format!("no feature release in {version:?}")))?;
    let library =
        libjvm_of(home).ok_or_else(|| problem(home, "no libjvm.so below it: not a JVM".to_owned()))?;
    let bits = elf_bits(&library).map_err(|e| problem(&library, e.to_string()))?;
    Ok(JvmFacts { home: home.display().to_string(), version, feature, vendor: value("IMPLEMENTOR"), bits })
}

fn no_release(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file: not the home of a JVM of release 8 or later".to_owned(),
        _ => error.to_string(),
    }
}

fn read_bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(RELEASE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// A value of a `release` file: lines `KEY="value"`.
fn release_value(release: &str, key: &str) -> Option<String> {
    let value = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
}

/// Update of a version since JDK 9: 15 of `17.0.15+6-Debian`, 0 of `25`; `None` of one before it.
pub fn update_of(version: &str) -> Option<u32> {
    let numbers =
        version.find(|c: char| !c.is_ascii_digit() && c != '.').map_or(version, |end| &version[..end]);
    let mut numbers = numbers.split('.');
    let is_new = numbers.next()?.parse::<u32>().is_ok_and(|feature| 9 <= feature);
    is_new.then(|| numbers.nth(1).map_or(Some(0), |update| update.parse().ok())).flatten()
}

/// Feature release and update of a version: 17 and 15 of `17.0.15+6-Debian`, 8 and 504 of `1.8.0_504` and of `8u504`, 25 and 0 of `25`.
pub fn release_and_update(version: &str) -> Option<(u32, u32)> {
    let feature = feature_of(version)?;
    if 9 <= feature {
        return Some((feature, update_of(version)?));
    }
    let update = version.split_once(['_', 'u'])?.1;
    let digits = update.find(|c: char| !c.is_ascii_digit()).map_or(update, |end| &update[..end]);
    Some((feature, digits.parse().ok()?))
}

/// Feature release of a version: 17 of `17.0.15+6-Debian`, 8 of `1.8.0_412`, 25 of `25-ea`.
pub fn feature_of(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    let digits = version.find(|c: char| !c.is_ascii_digit()).map_or(version, |end| &version[..end]);
    digits.parse().ok().filter(|feature| (2..1000).contains(feature))
}

/// The library with the virtual machine. JDK 8 had it below `jre/lib/ARCHITECTURE`; 32-bit builds may have a client VM
/// only, and builds without a compiler call it minimal or zero.
fn libjvm_of(home: &Path) -> Option<PathBuf> {
    let variants = ["server", "client", "minimal", "zero", "default"];
    let below = |folder: &str| variants.map(|variant| home.join(folder).join(variant).join("libjvm.so"));
    let older = ["jre/lib/amd64", "jre/lib/aarch64", "jre/lib/i386"];
    ["lib"].into_iter().chain(older).flat_map(below).find(|library| library.is_file())
}

/// Word size of an ELF file: byte 4 is 1 for 32 bits and 2 for 64 (`elf(5)`, `EI_CLASS`).
///
/// # Errors
/// When the file cannot be read, or is none.
pub fn elf_bits(path: &Path) -> io::Result<u8> {
    let mut identification = [0; 5];
    File::open(path)?.read_exact(&mut identification)?;
    match identification {
        [0x7f, b'E', b'L', b'F', 1] => Ok(32),
        [0x7f, b'E', b'L', b'F', 2] => Ok(64),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "not an ELF library")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::FakeTree;

    #[test]
    fn a_jvm_that_is_reached_twice_is_listed_once_and_a_java_home_without_one_gives_a_problem() {
        let good = FakeTree::with(&[("release", "JAVA_VERSION=\"17.0.15\"\n")]);
        good.write("lib/server/libjvm.so", b"\x7fELF\x02\x01");
        let bad = FakeTree::with(&[]);
        let through_link = bad.path().join("link");
        std::os::unix::fs::symlink(good.path(), &through_link).unwrap();
        let found = vec![good.path().to_owned(), through_link, bad.path().to_owned()];
        let (jvms, problems) = find_among(Some(bad.path().to_owned()), found);
        let homes: Vec<&Path> = jvms.iter().map(|jvm| Path::new(&jvm.home)).collect();
        assert_eq!(homes, [good.path().canonicalize().unwrap()]);
        let about: Vec<&Path> = problems.iter().map(|problem| Path::new(&problem.about)).collect();
        assert!(matches!(about[..], [about] if about.starts_with(bad.path())), "{problems:?}");
    }

    #[test]
    fn a_fetched_jvm_is_found_where_the_system_has_none_of_its_release() {
        let cache = FakeTree::with(&[
            ("jvm/777/home/release", "JAVA_VERSION=\"777\"\n"),
            ("jvm/778/root/release", "JAVA_VERSION=\"778\"\n"),
        ]);
        cache.write("jvm/777/home/lib/server/libjvm.so", b"\x7fELF\x02\x01");
        let fetched = |(jvms, _): (Vec<JvmFacts>, _)| {
            jvms.into_iter().filter(|jvm| 700 < jvm.feature).map(|jvm| jvm.feature)
        };
        assert_eq!(
            fetched(find_jvms(cache.path())).collect::<Vec<_>>(),
            [777],
            "778 is not whole: it has no home"
        );
        let (jvms, _) = find_jvms(cache.path());
        let known: BTreeSet<_> = jvms.iter().map(|jvm| &jvm.home).collect();
        assert_eq!(known.len(), jvms.len());
    }

    #[test]
    fn versions_since_9_give_their_update() {
        let updates = [
            ("17.0.15+6-Debian", Some(15)),
            ("21.0.13.0.3+1", Some(13)),
            ("25", Some(0)),
            ("25-ea", Some(0)),
        ];
        for (version, update) in updates.into_iter().chain([("1.8.0_412", None), ("", None), ("x", None)]) {
            assert_eq!(update_of(version), update, "{version}");
        }
    }

    #[test]
    fn versions_of_all_times_give_their_release() {
        let of = ["1.6.0_18", "1.8.0_402", "9", "11.0.2", "17.0.15", "25", "26-ea", "", "x", "1", "99999"];
        let want =
            [Some(6), Some(8), Some(9), Some(11), Some(17), Some(25), Some(26), None, None, None, None];
        assert_eq!(of.map(feature_of), want);
    }
}
