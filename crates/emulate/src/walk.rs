//! The content of a folder of this machine, within limits: links are followed, loops of them are not, and what looks like a secret stays here.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Depth of folders in each other; a class path has a few dozen levels.
const DEPTH_MAX: usize = 64;
/// Folders and files whose names say that their content is nobody else's, by how a name ends.
const SECRET_ENDS: [&str; 12] = [
    ".jks",
    ".jceks",
    ".keystore",
    ".truststore",
    ".p12",
    ".pfx",
    ".pem",
    ".key",
    ".kdbx",
    ".ppk",
    "id_rsa",
    "id_ed25519",
];
/// A JDK has them, and no program that runs needs them.
const NOT_NEEDED_OF_JDK: [&str; 8] =
    ["src.zip", "jmods", "ct.sym", "demo", "sample", "man", "include", "javafx-src.zip"];

/// Which files of a folder are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A folder that a command names: hidden files and secrets stay here unless they are named themselves.
    Named,
    /// A Java runtime: without sources and tools' data.
    Runtime,
}

/// How much of a folder is taken at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Files and folders.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// A folder's content, by path below it.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Regular files, readable or not.
    pub files: Vec<PathBuf>,
    /// Folders, without the first one.
    pub folders: Vec<PathBuf>,
    bytes: u64,
}

/// Everything in a folder.
///
/// # Errors
/// A folder that cannot be read, or more than the limits allow.
pub(crate) fn walk(folder: &Path, kind: Kind, limits: Limits) -> io::Result<Walked> {
    let mut walked = Walked::default();
    let mut above = Vec::new();
    into(folder, Path::new(""), kind, limits, &mut above, &mut walked)?;
    Ok(walked)
}

/// `above` has the folders that this one lies in, by device and number: a link to one of them is a loop.
fn into(
    folder: &Path,
    below: &Path,
    kind: Kind,
    limits: Limits,
    above: &mut Vec<(u64, u64)>,
    walked: &mut Walked,
) -> io::Result<()> {
    let about = fs_err::metadata(folder)?;
    let own = (about.dev(), about.ino());
    if above.contains(&own) || DEPTH_MAX <= above.len() {
        return Ok(());
    }
    above.push(own);
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !is_taken(&name.to_string_lossy(), kind) {
            continue;
        }
        // A link to nowhere is nobody's loss.
        let Ok(about) = std::fs::metadata(entry.path()) else { continue };
        let path = below.join(&name);
        if about.is_dir() {
            walked.folders.push(path.clone());
            into(&entry.path(), &path, kind, limits, above, walked)?;
        } else if about.is_file() {
            walked.files.push(path);
            walked.bytes = walked.bytes.saturating_add(about.len());
        }
        let entries = walked.files.len() + walked.folders.len();
        if limits.entries < entries || limits.bytes < walked.bytes {
            let (entries, mib) = (limits.entries, limits.bytes >> 20);
            let what = format!("{} holds more than {entries} files or {mib} MiB", folder.display());
            return Err(io::Error::other(what));
        }
    }
    above.pop();
    Ok(())
}

fn is_taken(name: &str, kind: Kind) -> bool {
    match kind {
        Kind::Runtime => !NOT_NEEDED_OF_JDK.contains(&name),
        Kind::Named => {
            let lower = name.to_lowercase();
            !name.starts_with('.') && !SECRET_ENDS.iter().any(|end| lower.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const ROOM: Limits = Limits { entries: 100, bytes: 1 << 20 };

    fn names(walked: &Walked) -> Vec<String> {
        let mut names: Vec<String> = walked.files.iter().map(|path| path.display().to_string()).collect();
        names.sort();
        names
    }

    #[test]
    fn links_are_followed_and_loops_of_them_end() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::create_dir_all(at("elsewhere")).unwrap();
        std::fs::write(at("elsewhere/x.class"), "x").unwrap();
        std::fs::write(at("a/b/y.class"), "y").unwrap();
        symlink(at("elsewhere"), at("a/link")).unwrap();
        symlink(at("a"), at("a/b/up")).unwrap();
        symlink("..", at("a/b/dots")).unwrap();
        symlink("self", at("a/self")).unwrap();
        symlink(at("nowhere"), at("a/broken")).unwrap();
        let walked = walk(&at("a"), Kind::Named, ROOM).unwrap();
        assert_eq!(names(&walked), ["b/y.class", "link/x.class"]);
    }

    /// Two links in each of 40 folders: 2^40 paths, and no loop.
    #[test]
    fn paths_that_multiply_end_at_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        for level in 0..40 {
            let at = |name: &str| folder.path().join(name);
            std::fs::create_dir(at(&level.to_string())).unwrap();
            for link in ["l", "r"] {
                symlink(format!("../{}", level + 1), at(&level.to_string()).join(link)).unwrap();
            }
        }
        std::fs::create_dir(folder.path().join("40")).unwrap();
        let refused = walk(&folder.path().join("0"), Kind::Named, ROOM).unwrap_err();
        assert!(refused.to_string().contains("more than 100 files"), "{refused}");
    }

    #[test]
    fn a_folder_with_too_many_bytes_is_refused_before_one_of_them_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::File::create(folder.path().join("sparse.bin")).unwrap().set_len(1 << 40).unwrap();
        assert!(walk(folder.path(), Kind::Named, ROOM).is_err());
    }

    #[test]
    fn secrets_and_hidden_files_of_a_folder_stay_here() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["A.class", ".env", "server.p12", "Store.JKS", "tls.pem", "id_rsa", "app.properties"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/config"), "x").unwrap();
        let walked = walk(folder.path(), Kind::Named, ROOM).unwrap();
        assert_eq!(names(&walked), ["A.class", "app.properties"]);
        assert!(walked.folders.is_empty());
    }
}
