//! Opening the file that a process has mapped, as data.
//!
//! The process may be hostile, and a path may name something else by now. So a file is first taken hold of without
//! opening it (`O_PATH`: a named pipe does not block, a device is not started), then held against the mapping, and only
//! a regular file is opened.
//!
//! Folklore: the device that `smaps` shows is not always the one of `stat`: btrfs gives each subvolume a number of its
//! own, and overlayfs shows the layer below on older kernels. Where they differ, a page of the file is mapped here, and
//! the kernel's line for that is compared with its line for the process: both come from the same function.
//! Held by: `a_mapped_file_is_opened_though_its_path_is_gone` and `a_replaced_file_is_refused`.

use crate::{Mapping, ProcRoot};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, major, minor, open, openat, openat2};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

const DELETED: &str = " (deleted)";

impl ProcRoot {
    /// Takes hold of a file or folder, without opening it, by the path that it has for a process: its root may be another
    /// one, and no link leads out of that.
    ///
    /// # Errors
    /// There is nothing at the path, or it may not be reached.
    pub fn hold_at(&self, pid: u32, path: &Path) -> io::Result<OwnedFd> {
        hold_below(&self.file_of(pid, "root"), path)
    }
}

/// Opens the file of a mapping of a process.
pub(crate) fn open_mapped(proc: &ProcRoot, pid: u32, mapping: &Mapping) -> io::Result<File> {
    if !mapping.is_file() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the mapping has no file"));
    }
    let exact = hold(
        &proc.file_of(pid, &format!("map_files/{:x}-{:x}", mapping.addresses.start, mapping.addresses.end)),
    );
    // A right that only root has: the very file, whatever has become of its path.
    if let Ok(held) = exact
        && let Ok(file) = open_regular(&held, mapping)
    {
        return Ok(file);
    }
    if mapping.name.ends_with(DELETED) || !mapping.name.starts_with('/') {
        let why = format!("{} was deleted, and only root may open it still", mapping.name);
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    open_regular(&hold_below(&proc.file_of(pid, "root"), &path_of(&mapping.name))?, mapping)
}

/// Opens a file at a path of this process's own, if it is the one that was mapped.
pub(crate) fn open_at(path: &Path, mapping: &Mapping) -> io::Result<File> {
    open_regular(&hold(path)?, mapping)
}

fn hold(path: &Path) -> io::Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Takes hold of a path below a root of another process; links in it lead to what they mean there.
fn hold_below(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let root_folder = open(root, flags | OFlags::DIRECTORY, Mode::empty())?;
    let below = path.strip_prefix("/").unwrap_or(path);
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    match openat2(&root_folder, below, flags, Mode::empty(), resolve) {
        // Linux 5.6 has the call; older filters of containers forbid it.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => hold_by_steps(root_folder, below),
        held => Ok(held?),
    }
}

/// The same without following any link.
fn hold_by_steps(root: OwnedFd, below: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    below.components().try_fold(root, |folder, step| match step {
        Component::Normal(name) => Ok(openat(&folder, name, flags, Mode::empty())?),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "a path that does not lead down")),
    })
}

fn open_regular(held: &OwnedFd, mapping: &Mapping) -> io::Result<File> {
    let stat = fstat(held)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        let why = format!("{} is not a regular file", mapping.name);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let again = format!("/proc/self/fd/{}", held.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Looking leaves no time of access behind, where the file is ours or we are root.
    let opened = match open(&again, flags | OFlags::NOATIME, Mode::empty()) {
        Err(rustix::io::Errno::PERM) => open(&again, flags, Mode::empty()),
        opened => opened,
    };
    let file = File::from(opened?);
    let device = format!("{:02x}:{:02x}", major(stat.st_dev), minor(stat.st_dev));
    let is_same = stat.st_ino == mapping.inode && device == mapping.device;
    if is_same || shows_as(&file, mapping)? {
        return Ok(file);
    }
    let why = format!("{} was replaced since it was mapped", mapping.name);
    Err(io::Error::new(io::ErrorKind::NotFound, why))
}

/// Whether the kernel, asked for a mapping of this file, shows the same device and inode as for the process's.
fn shows_as(file: &File, mapping: &Mapping) -> io::Result<bool> {
    let page_bytes = rustix::param::page_size();
    #[expect(
        unsafe_code,
        reason = "a mapping is the only thing that the kernel shows with its own device number"
    )]
    // SAFETY: a new mapping at an address that the kernel chooses; nothing is read or written through it.
    let address =
        unsafe { mmap(std::ptr::null_mut(), page_bytes, ProtFlags::empty(), MapFlags::PRIVATE, file, 0) }?;
    let maps = std::fs::read_to_string("/proc/self/maps");
    #[expect(unsafe_code, reason = "see above")]
    // SAFETY: this very mapping, to which there are no references.
    unsafe { munmap(address, page_bytes) }?;
    let start = address as u64;
    Ok(maps?.lines().any(|line| {
        let mut fields = line.split_ascii_whitespace();
        let range = fields.next().and_then(|range| range.split_once('-'));
        let range = range.and_then(|(from, to)| {
            Some(u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?)
        });
        let mut fields = fields.skip(2);
        range.is_some_and(|range| range.contains(&start))
            && fields.next() == Some(mapping.device.as_str())
            && fields.next().and_then(|inode| inode.parse().ok()) == Some(mapping.inode)
    }))
}

/// The path behind a name of `smaps`, which writes a line end as `\012`.
fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(name.replace("\\012", "\n").into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Inode of what is held.
    fn inode(held: io::Result<OwnedFd>) -> io::Result<u64> {
        Ok(fstat(held?)?.st_ino)
    }

    #[test]
    fn links_of_another_root_lead_nowhere_else() {
        let (root, outside) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (root, outside) = (root.path(), outside.path());
        fs::create_dir_all(root.join("var/inner")).expect("a folder");
        for (link, to) in [("in", Path::new("/var/inner")), ("out", outside), ("up", Path::new("../.."))] {
            symlink(to, root.join(link)).expect("a link");
        }
        let held = |path: &str| inode(hold_below(root, Path::new(path)));
        let of = |path: &Path| inode(hold(path)).expect("a folder");
        assert_eq!(held("/in").expect("a link within"), of(&root.join("var/inner")));
        assert!(held("/out").is_err(), "there is no such path below this root");
        assert_eq!(held("/up/../..").expect("the root"), of(root), "nothing is above it");
        // Where the kernel does not offer that, no link is followed at all.
        let held = |path: &str| inode(hold_by_steps(hold(root).expect("a folder"), Path::new(path)));
        assert_eq!(held("var/inner").expect("folders"), of(&root.join("var/inner")));
        assert!(held("out/x").is_err() && held("in/x").is_err() && held("..").is_err());
        assert_ne!(held("out").expect("the link itself"), of(outside));
    }

    #[test]
    fn the_kernel_s_own_line_for_a_file_is_found_again() {
        let smaps = ProcRoot::default().open_smaps(std::process::id()).expect("this process");
        let library = smaps.flatten().find(|m| m.is_file() && m.is_executable()).expect("a library");
        let file = File::open(&library.name).expect("a library");
        assert!(shows_as(&file, &library).expect("a mapping"));
        for other in [
            Mapping { inode: library.inode + 1, ..library.clone() },
            Mapping { device: "ff:ff".to_owned(), ..library },
        ] {
            assert!(!shows_as(&file, &other).expect("a mapping"));
        }
    }
}
