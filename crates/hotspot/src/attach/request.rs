//! The file that makes a JVM take SIGQUIT as a request to listen.

use super::status::Status;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, fchown, fstat, open, openat, unlinkat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The file; removed when dropped.
pub(super) struct RequestFile {
    folder: OwnedFd,
    name: String,
}

impl RequestFile {
    /// In `/tmp`, where the JVM must be able to make its socket anyway; else in its working directory.
    pub fn create(
        temporary: OwnedFd,
        working_folder: &Path,
        name: &str,
        jvm: &Status,
    ) -> Result<RequestFile, Errno> {
        RequestFile::create_in(temporary, name, jvm).or_else(|first| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let Ok(folder) = open(working_folder, flags, Mode::empty()) else { return Err(first) };
            RequestFile::create_in(folder, name, jvm).map_err(|_| first)
        })
    }

    fn create_in(folder: OwnedFd, name: &str, jvm: &Status) -> Result<RequestFile, Errno> {
        if !may_write(jvm, &fstat(&folder)?) {
            return Err(Errno::ACCESS);
        }
        // EXCL: a link that somebody laid there is not followed.
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let create = || openat(&folder, name, flags, Mode::RUSR | Mode::WUSR);
        let file = match create() {
            // Left by a tool that was killed; the one who may remove it may also ask.
            Err(Errno::EXIST) => {
                unlinkat(&folder, name, AtFlags::empty())?;
                create()
            }
            created => created,
        }?;
        let request = RequestFile { folder, name: name.to_owned() };
        if rustix::process::geteuid().as_raw() != jvm.user {
            fchown(&file, Some(Uid::from_raw(jvm.user)), Some(Gid::from_raw(jvm.group)))?;
        }
        Ok(request)
    }
}

impl Drop for RequestFile {
    fn drop(&mut self) {
        // The JVM may have removed it itself.
        let _ = unlinkat(&self.folder, &self.name, AtFlags::empty());
    }
}

/// Whether the JVM could lay a file there itself. As root we could lay one anywhere, and it would become the JVM's.
fn may_write(jvm: &Status, folder: &Stat) -> bool {
    let mode = Mode::from_raw_mode(folder.st_mode);
    FileType::from_raw_mode(folder.st_mode) == FileType::Directory
        && (jvm.user == 0
            || mode.contains(Mode::WOTH)
            || (folder.st_uid == jvm.user && mode.contains(Mode::WUSR))
            || (folder.st_gid == jvm.group && mode.contains(Mode::WGRP)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn held(path: &Path) -> OwnedFd {
        open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).expect("a file")
    }

    #[test]
    fn a_request_is_laid_only_where_the_jvm_itself_could() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let own = Status { user: fstat(held(path)).expect("ours").st_uid, ..Status::default() };
        // A user who is neither root nor us.
        let other = Status { user: own.user + 4242, group: 4242, ..own };
        let nowhere = Path::new("/nowhere");
        let create = |jvm: &Status, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our folder");
            RequestFile::create(held(path), nowhere, ".attach_pid7", jvm).map(|_| ())
        };
        assert_eq!(create(&own, 0o700), Ok(()));
        assert_eq!(create(&other, 0o755), Err(Errno::ACCESS));
        assert_eq!(create(&Status { group: own.group, ..other }, 0o755), Err(Errno::ACCESS));
        assert_eq!(
            fs::read_dir(path).expect("a folder").count(),
            0,
            "nothing was laid, or it is removed again"
        );
        let file = path.join("no folder");
        fs::write(&file, "").expect("a file");
        assert!(!may_write(&own, &fstat(held(&file)).expect("a file")));
    }

    #[test]
    fn a_link_in_the_place_of_the_request_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, aim) = (folder.path(), folder.path().join("aim"));
        fs::write(&aim, "untouched").expect("a file");
        symlink(&aim, path.join(".attach_pid7")).expect("a link");
        let jvm = Status { user: fstat(held(path)).expect("ours").st_uid, ..Status::default() };
        let request = RequestFile::create(held(path), Path::new("/nowhere"), ".attach_pid7", &jvm);
        let laid = fs::symlink_metadata(path.join(".attach_pid7")).expect("the request");
        assert!(request.is_ok() && laid.is_file() && laid.len() == 0);
        drop(request);
        assert!(!path.join(".attach_pid7").exists());
        assert_eq!(fs::read_to_string(&aim).expect("a file"), "untouched");
    }
}
