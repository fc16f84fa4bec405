//! Results in files that the user named.

use crate::failure::Failure;
use assay_text::file::{folder_of, write_whole};
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// A result is written at the end; that it has no place is better said at once.
pub fn can_be_written(path: &Path) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return Err(Failure::input("cannot write to -: give the file a name, or /dev/stdout"));
    }
    if path.is_dir() {
        return Err(Failure::input(format!("{} is a folder: give a file in it", path.display())));
    }
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    let shown = folder.display();
    Err(Failure::input(format!("there is no folder {shown}\n  mkdir -p {shown}")))
}

/// Writes a file that appears whole or not at all, readable by its owner alone.
///
/// A device or pipe is written in place: as root, a rename over /dev/null would succeed and remove the device.
/// A symbolic link stays, and its target is written.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let result = match path.metadata() {
        Ok(of) if !of.is_file() => write_into(path, write),
        Ok(_) => path.canonicalize().and_then(|target| write_whole(&target, write)),
        Err(_) => write_whole(path, write),
    };
    result.map_err(|e| Failure::environment(format!("cannot write {}: {e}", path.display())))
}

/// Writes a result that the user asked for in a file, and says so.
pub fn write_result(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    write_file(path, write)?;
    say!("written: {}", path.display());
    Ok(())
}

fn write_into(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
    match write(&mut out).and_then(|()| out.flush()) {
        // The reader of a pipe went away, as `head` does.
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;

    fn hello(out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"hello")
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (target, link) = (folder.path().join("target"), folder.path().join("latest"));
        std::fs::write(&target, "old").expect("written");
        std::os::unix::fs::symlink("target", &link).expect("linked");
        assert!(write_file(&link, hello).is_ok());
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&target).expect("it is there"), "hello");
    }

    /// A pipe stands for every device: root's devices are not a test's to risk.
    #[test]
    fn a_pipe_is_written_into_and_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        let read = std::thread::spawn({
            let path = path.clone();
            move || std::fs::read_to_string(path)
        });
        assert!(write_file(&path, hello).is_ok());
        assert_eq!(read.join().expect("no panic").expect("readable"), "hello");
        assert!(path.metadata().expect("it stays").file_type().is_fifo());
    }

    #[test]
    fn a_place_where_nothing_can_be_written_is_refused_at_once() {
        for (path, why) in
            [("-", "cannot write to -"), ("/tmp", "is a folder"), ("/no/such/page.html", "mkdir -p /no/such")]
        {
            let refused = can_be_written(Path::new(path)).expect_err(path);
            assert!(refused.message.contains(why), "{path}: {}", refused.message);
        }
        assert!(can_be_written(Path::new("page.html")).is_ok());
    }
}
