//! Finding a shared library that is loaded into a server before all others.
//!
//! Folklore: the dynamic linker only warns of a library in `LD_PRELOAD` that it cannot load, and goes on without it. A
//! variant would then be measured as what it is not, so the library is found, and its word size compared, before.

use crate::file::checkout::sources;
use assay_jdk::elf_bits;
use std::path::{Path, PathBuf};

/// Where libraries of the system lie: Debian's folders of an architecture, the common ones, and those made by hand.
const FOLDERS: [&str; 8] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/i386-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    // What a package of Assay installs.
    "/usr/lib/assay",
    "/usr/local/lib64",
    "/usr/local/lib",
];

/// Below the sources: where `scripts/setup.sh` puts libraries that it compiles.
const SETUP_FOLDER: &str = ".assay/lib";

/// The path of a library, given by file name or path, that a program of so many bits can load.
///
/// # Errors
/// Why there is none.
pub(crate) fn find(library: &str, bits: u8) -> Result<PathBuf, String> {
    if library.contains('/') {
        return match elf_bits(Path::new(library)) {
            Ok(found) if found == bits => Ok(PathBuf::from(library)),
            Ok(found) => Err(format!("the library {library} has {found} bits, and the JVM {bits}")),
            Err(_) => Err(format!("there is no library {library}")),
        };
    }
    // `assay setup` makes Assay's own in the sources.
    let of_setup = sources().map(|sources| sources.join(SETUP_FOLDER));
    let folders = of_setup.into_iter().chain(FOLDERS.iter().map(PathBuf::from));
    let mut paths = folders.map(|folder| folder.join(library));
    paths.find(|path| elf_bits(path).is_ok_and(|found| found == bits)).ok_or_else(|| {
        format!(
            "there is no {bits}-bit library {library} here (looked in {}); on Debian and Ubuntu the package of its name has it",
            FOLDERS.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_by_path_only_if_the_program_can_load_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let library = file("lib64.so", b"\x7fELF\x02\x01");
        assert_eq!(find(&library, 64), Ok(PathBuf::from(&library)));
        assert!(find(&library, 32).unwrap_err().contains("has 64 bits, and the JVM 32"));
        assert!(find(&file("text.so", b"INPUT(x)"), 64).unwrap_err().contains("there is no library"));
        assert!(find(&file("short.so", b"\x7fEL"), 64).is_err());
    }

    #[test]
    fn a_library_that_is_nowhere_is_told_with_where_it_was_looked_for() {
        let why = find("libno-such-allocator.so.1", 64).unwrap_err();
        assert!(why.contains("libno-such-allocator.so.1 here (looked in /usr/lib/"), "{why}");
    }

    #[test]
    fn this_program_s_own_c_library_is_found_by_name() {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        if !maps.lines().any(|l| l.ends_with("/libc.so.6")) {
            assay_testkit::skip!("this program is not linked with glibc");
        }
        let bits = usize::BITS as u8;
        let found = find("libc.so.6", bits).unwrap();
        assert_eq!(elf_bits(&found).unwrap(), bits);
    }
}
