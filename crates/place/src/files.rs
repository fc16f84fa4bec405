//! Files as messages, and back.

use crate::message::Message;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Bytes of a file in one message.
const PIECE_BYTES: usize = 192 << 10;
/// What one side accepts from the other.
const FILES_MAX: usize = 100_000;
const BYTES_MAX: u64 = 8 << 30;
/// How deep folders may be.
const FOLDERS_DEEP_MAX: usize = 12;

/// All regular files at or below the paths, relative to `folder`. Links are left out.
///
/// # Errors
/// A path that does not exist, or is outside of the folder.
pub fn read_paths(folder: &Path, paths: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        let whole = folder.join(path);
        let of_path = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", whole.display()));
        let whole = whole.canonicalize().map_err(of_path)?;
        let relative = whole.strip_prefix(folder).map_err(|_| {
            let folder = folder.display();
            io::Error::other(format!(
                "{} is not below {folder}, the folder of the study file",
                whole.display()
            ))
        })?;
        add(folder, relative, 0, &mut found)?;
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn add(folder: &Path, path: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let kind = fs::symlink_metadata(folder.join(path))?.file_type();
    if kind.is_file() {
        if found.len() == FILES_MAX {
            return Err(io::Error::other(format!("more than {FILES_MAX} files")));
        }
        found.push(path.to_owned());
    } else if kind.is_dir() && depth < FOLDERS_DEEP_MAX {
        for entry in fs::read_dir(folder.join(path))? {
            add(folder, &path.join(entry?.file_name()), depth + 1, found)?;
        }
    }
    Ok(())
}

/// Sends files of a folder, then [`Message::Sent`].
///
/// # Errors
/// Of a file, or of the output.
pub(crate) fn send(folder: &Path, paths: &[PathBuf], out: &mut dyn Write) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    for path in paths {
        let mut file = fs::File::open(folder.join(path))?;
        let is_executable = file.metadata()?.permissions().mode() & 0o100 != 0;
        let name =
            path.to_str().ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))?;
        let mut is_first = true;
        loop {
            let bytes = fill(&mut file, &mut piece)?;
            if bytes == 0 && !is_first {
                break;
            }
            is_first = false;
            let base64 = STANDARD.encode(&piece[..bytes]);
            Message::File { path: name.to_owned(), base64, is_executable }.write(out)?;
        }
    }
    Message::Sent.write(out)
}

fn fill(file: &mut fs::File, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read(&mut piece[filled..])? {
            0 => break,
            bytes => filled += bytes,
        }
    }
    Ok(filled)
}

/// Receives files into a folder. The names come from another host: nothing outside of the folder is written.
#[derive(Debug)]
pub(crate) struct Receiver {
    folder: PathBuf,
    files: usize,
    bytes: u64,
}

impl Receiver {
    /// Into this folder, which exists.
    pub(crate) fn new(folder: &Path) -> Receiver {
        Receiver { folder: folder.to_owned(), files: 0, bytes: 0 }
    }

    /// Adds a piece of a file to it.
    ///
    /// # Errors
    /// A path that leads out of the folder, bytes that are not base64, too many of either; those of the kernel.
    pub(crate) fn take(&mut self, path: &str, base64: &str, is_executable: bool) -> io::Result<()> {
        let path = Path::new(path);
        let is_plain = |component: Component| matches!(component, Component::Normal(_));
        let depth = path.components().count();
        if depth == 0 || FOLDERS_DEEP_MAX + 1 < depth || !path.components().all(is_plain) {
            return Err(io::Error::other(format!("{} is not a path of a received file", path.display())));
        }
        let bytes = STANDARD.decode(base64).map_err(io::Error::other)?;
        self.bytes += bytes.len() as u64;
        let target = self.folder.join(path);
        if !target.exists() {
            self.files += 1;
        }
        if BYTES_MAX < self.bytes || FILES_MAX < self.files {
            return Err(io::Error::other(format!("more than {FILES_MAX} files or {} GiB", BYTES_MAX >> 30)));
        }
        if let Some(parent) = target.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let mode = if is_executable { 0o700 } else { 0o600 };
        OpenOptions::new().create(true).append(true).mode(mode).open(&target)?.write_all(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(message: &[u8], into: &Path) -> io::Result<()> {
        let mut receiver = Receiver::new(into);
        let mut input = message;
        while let Some(Message::File { path, base64, is_executable }) = Message::read(&mut input)? {
            receiver.take(&path, &base64, is_executable)?;
        }
        Ok(())
    }

    #[test]
    fn files_arrive_as_they_were() {
        let (from, to) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fs::create_dir(from.path().join("deep")).expect("a folder");
        let large: Vec<u8> = (0..PIECE_BYTES * 2 + 7).map(|at| (at % 251) as u8).collect();
        let files = [("empty", Vec::new()), ("deep/large", large), ("exact", vec![1; PIECE_BYTES])];
        for (name, bytes) in &files {
            fs::write(from.path().join(name), bytes).expect("it is written");
        }
        fs::set_permissions(from.path().join("exact"), fs::Permissions::from_mode(0o755)).expect("a mode");
        std::os::unix::fs::symlink("/etc/passwd", from.path().join("deep/link")).expect("a link");
        let paths = [PathBuf::from("deep"), PathBuf::from("empty"), PathBuf::from("exact")];
        let folder = from.path().canonicalize().expect("a path");
        let paths = read_paths(&folder, &paths).expect("they exist");
        assert_eq!(paths.len(), files.len(), "the link is left out: {paths:?}");
        let mut sent = Vec::new();
        send(&folder, &paths, &mut sent).expect("it is sent");
        received(&sent, to.path()).expect("it is received");
        for (name, bytes) in &files {
            assert_eq!(&fs::read(to.path().join(name)).expect("it is there"), bytes, "{name}");
        }
        let mode = fs::metadata(to.path().join("exact")).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert!(read_paths(&folder, &[PathBuf::from("../")]).is_err());
        assert!(read_paths(&folder, &[PathBuf::from("none")]).is_err());
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        let to = tempfile::tempdir().expect("a folder");
        let mut receiver = Receiver::new(to.path());
        for path in ["", "/etc/x", "../x", "a/../../x", "./x/..", &"a/".repeat(20)] {
            assert!(receiver.take(path, "", false).is_err(), "{path}");
        }
        assert!(receiver.take("a", "not base64", false).is_err());
        assert_eq!(fs::read_dir(to.path()).expect("a folder").count(), 0);
    }
}
