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
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, major, minor, open, openat2};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

const DELETED: &str = " (deleted)";

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
    match openat2(root_folder, below, flags, Mode::empty(), resolve) {
        // Linux 5.6 has the call; older filters of containers forbid it. What is found is checked in any case.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => hold(&root.join(below)),
        held => Ok(held?),
    }
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
