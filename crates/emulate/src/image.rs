//! The guest's file system: an archive that the kernel unpacks into memory (cpio, format `newc`; the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`).

use crate::elf::libraries;
use crate::walk::{Kind, Limits, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Largest image: it lies in the guest's memory twice while it is unpacked.
const BYTES_MAX: u64 = 2 << 30;
/// Most files of an image.
const FILES_MAX: usize = 50_000;
/// Mode bits of a folder, a regular file, a symbolic link, a character device.
const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_777;
const DEVICE: u32 = 0o020_600;

/// What an entry holds.
enum Content {
    Bytes(Vec<u8>),
    /// Of a file of this machine.
    Of(PathBuf),
    /// Numbers of a character device.
    Device(u32, u32),
}

/// Files of a guest by their path in it.
#[derive(Default)]
pub struct GuestImage {
    entries: BTreeMap<PathBuf, (Content, u32)>,
    /// Files of this machine that libraries are looked for.
    programs: Vec<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl GuestImage {
    /// An image with the devices that a console and a report need, and empty folders for what is mounted.
    pub fn new() -> GuestImage {
        let mut image = GuestImage::default();
        for (path, major, minor) in [
            ("/dev/console", 5, 1),
            ("/dev/null", 1, 3),
            ("/dev/zero", 1, 5),
            ("/dev/random", 1, 8),
            ("/dev/urandom", 1, 9),
            ("/dev/ttyS0", 4, 64),
            ("/dev/ttyS1", 4, 65),
        ] {
            image.put(Path::new(path), Content::Device(major, minor), DEVICE);
        }
        for folder in ["/proc", "/sys", "/tmp", "/root"] {
            image.add_folder(Path::new(folder));
        }
        image.add_bytes("/etc/hosts", b"127.0.0.1 localhost\n".to_vec(), false);
        image.add_bytes("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n".to_vec(), false);
        image
    }

    /// A file with this content.
    pub fn add_bytes(&mut self, path: impl AsRef<Path>, bytes: Vec<u8>, is_program: bool) {
        self.put(path.as_ref(), Content::Bytes(bytes), FILE | if is_program { 0o755 } else { 0o644 });
    }

    /// A symbolic link.
    pub fn add_link(&mut self, path: &Path, target: &Path) {
        let target = target.to_string_lossy().into_owned().into_bytes();
        self.put(path, Content::Bytes(target), LINK);
    }

    /// An empty folder, with those above it.
    pub fn add_folder(&mut self, path: &Path) {
        let above = path.ancestors().filter(|folder| folder.parent().is_some());
        self.folders.extend(above.map(Path::to_path_buf));
    }

    /// A file or a whole folder of this machine; links are followed. Of a folder hidden files and those that look like secrets stay here.
    ///
    /// # Errors
    /// A file that cannot be read, or too much data.
    pub fn add(&mut self, host: &Path, guest: &Path) -> io::Result<()> {
        let about = fs_err::metadata(host)?;
        if about.is_dir() {
            return self.add_walked(host, guest, Kind::Named);
        }
        if about.is_file() {
            self.add_file(host, guest)?;
        }
        Ok(())
    }

    /// A Java runtime, without what no running program needs.
    ///
    /// # Errors
    /// As of [`GuestImage::add`].
    pub fn add_runtime(&mut self, home: &Path, guest: &Path) -> io::Result<()> {
        self.add_walked(home, guest, Kind::Runtime)
    }

    fn add_walked(&mut self, host: &Path, guest: &Path, kind: Kind) -> io::Result<()> {
        let walked = walk(host, kind, Limits { entries: FILES_MAX, bytes: BYTES_MAX })?;
        self.add_folder(guest);
        for folder in &walked.folders {
            self.add_folder(&guest.join(folder));
        }
        for file in &walked.files {
            self.add_file(&host.join(file), &guest.join(file))?;
        }
        Ok(())
    }

    fn add_file(&mut self, host: &Path, guest: &Path) -> io::Result<()> {
        // What cannot be read here would be missing there without a word.
        let about = fs_err::File::open(host)?.metadata()?;
        if FILES_MAX <= self.entries.len() {
            return Err(io::Error::other(format!(
                "there are more than {FILES_MAX} files, {} among them",
                host.display()
            )));
        }
        let mode = FILE | about.permissions().mode() & 0o755 | 0o444;
        self.programs.push(host.to_owned());
        self.put(guest, Content::Of(host.to_owned()), mode);
        Ok(())
    }

    /// The libraries that its programs need, at the paths that they have on this machine.
    pub fn add_libraries(&mut self) {
        let found = libraries(&std::mem::take(&mut self.programs));
        for (path, bytes) in found {
            self.put(&path, Content::Bytes(bytes), FILE | 0o755);
        }
    }

    fn put(&mut self, path: &Path, content: Content, mode: u32) {
        if let Some(folder) = path.parent() {
            self.add_folder(folder);
        }
        self.entries.insert(path.to_owned(), (content, mode));
    }

    /// Writes the archive; says how many bytes it has.
    ///
    /// # Errors
    /// What cannot be read or written, or that it would be too large.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<u64> {
        let mut archive = Archive { to, written: 0, number: 0 };
        for folder in &self.folders {
            archive.entry(folder, FOLDER, (0, 0), &[])?;
        }
        for (path, (content, mode)) in &self.entries {
            match content {
                Content::Bytes(bytes) => archive.entry(path, *mode, (0, 0), bytes)?,
                Content::Of(host) => archive.entry(path, *mode, (0, 0), &fs_err::read(host)?)?,
                Content::Device(major, minor) => archive.entry(path, *mode, (*major, *minor), &[])?,
            }
        }
        archive.entry(Path::new("/TRAILER!!!"), 0, (0, 0), &[])?;
        Ok(archive.written)
    }
}

struct Archive<'a> {
    to: &'a mut dyn Write,
    written: u64,
    number: u32,
}

impl Archive<'_> {
    fn entry(&mut self, path: &Path, mode: u32, (major, minor): (u32, u32), bytes: &[u8]) -> io::Result<()> {
        let path = path.to_string_lossy();
        let name = path.trim_start_matches('/');
        self.number += 1;
        let size =
            u32::try_from(bytes.len()).map_err(|_| io::Error::other(format!("{path} has 4 GiB or more")))?;
        // Same bytes for the same files, whenever they were made: all times are 0.
        let (user, group, links, time, check) = (0, 0, 1, 0, 0);
        let fields = [
            self.number,
            mode,
            user,
            group,
            links,
            time,
            size,
            0,
            0,
            major,
            minor,
            name.len() as u32 + 1,
            check,
        ];
        let mut header = "070701".to_owned();
        fields.iter().for_each(|field| header.push_str(&format!("{field:08X}")));
        header.push_str(name);
        header.push('\0');
        self.put(header.as_bytes())?;
        self.put(bytes)
    }

    /// Bytes, filled up to a multiple of four.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)?;
        let filler = bytes.len().next_multiple_of(4) - bytes.len();
        self.to.write_all(&[0; 4][..filler])?;
        self.written += (bytes.len() + filler) as u64;
        if BYTES_MAX < self.written {
            return Err(io::Error::other(format!("the guest's files have more than {BYTES_MAX} bytes")));
        }
        Ok(())
    }
}
