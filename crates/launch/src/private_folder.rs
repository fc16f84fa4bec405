//! Folders that nobody else can replace, and one for the files of a process that runs as another user.
//!
//! Root makes such a folder, so whoever owns it later, or may write to the folder above it, must not be able to lead root
//! elsewhere. Three rules: a path is used only if nobody but its owner and root can change what its names mean
//! ([`check_path`]); a new file is opened at once without following links, and its owner changed through that handle
//! ([`hand_over`]); and the folder above stays root's, so that the other user cannot replace his own either.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, mkdirat, openat, statat};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Name, or beginning of the name, of a folder for a process's own files.
pub const SERVER_FILES: &str = "server-files";
/// Beginning of the name of a folder that holds nothing but [`SERVER_FILES`] of another user.
pub const FOLDER_PREFIX: &str = "assay-process-";
const STICKY: u32 = 0o1000;
/// Owner of what belongs to nobody in this user namespace.
const UNMAPPED: u32 = 65_534;

/// A folder of another user below one of ours. Removed when dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    _top: tempfile::TempDir,
    /// The other user's folder.
    pub files: PathBuf,
}

impl PrivateFolder {
    /// Makes one below `base` for a user and group.
    ///
    /// # Errors
    /// When others could replace `base`, or a folder cannot be made.
    pub fn make(base: &Path, owner: (u32, u32)) -> io::Result<PrivateFolder> {
        let base = base.canonicalize()?;
        check_path(&base)?;
        let top = tempfile::Builder::new().prefix(FOLDER_PREFIX).tempdir_in(&base)?;
        let handle = open_folder(rustix::fs::CWD, top.path())?;
        // The other user passes through, whatever the umask, and sees nothing.
        fchmod(&handle, Mode::from_raw_mode(0o711))?;
        mkdirat(&handle, SERVER_FILES, Mode::RWXU)?;
        hand_over(&handle, Path::new(SERVER_FILES), owner)?;
        Ok(PrivateFolder { files: top.path().join(SERVER_FILES), _top: top })
    }
}

/// Gives a folder that we have just made to another user.
///
/// # Errors
/// When it is not an empty folder of ours by now.
fn hand_over(above: impl AsFd, name: &Path, (user, group): (u32, u32)) -> io::Result<()> {
    let handle = open_folder(above, name)?;
    let is_ours = fstat(&handle)?.st_uid == own_user();
    let is_empty = std::fs::read_dir(format!("/proc/self/fd/{}", handle.as_raw_fd()))?.next().is_none();
    if !is_ours || !is_empty {
        return Err(io::Error::other(format!("{} was replaced by somebody else", name.display())));
    }
    let (user, group) = (rustix::fs::Uid::from_raw(user), rustix::fs::Gid::from_raw(group));
    Ok(fchown(&handle, Some(user), Some(group))?)
}

fn open_folder(above: impl AsFd, name: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(above, name, flags, Mode::empty())
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", name.display())))
}

/// Opens a file below a folder if it is a plain private file of ours: no link, one name, nobody else's to write.
///
/// # Errors
/// Its kind instead.
pub fn open_own(folder: impl AsFd, name: &Path, bytes_max: u64) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty())?;
    let facts = fstat(&file)?;
    let is_plain = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile && facts.st_nlink == 1;
    if !is_plain || !is_private(&facts) || facts.st_size.cast_unsigned() > bytes_max {
        return Err(io::Error::other("it is not a private file of yours (mode 600, one name)"));
    }
    Ok(File::from(file))
}

/// Opens a folder that belongs to us and to nobody else, on a path that nobody else can change.
///
/// # Errors
/// Its kind instead.
pub fn open_private(path: &Path) -> io::Result<OwnedFd> {
    check_path(&path.parent().unwrap_or(Path::new("/")).canonicalize()?)?;
    let folder = open_folder(rustix::fs::CWD, path)?;
    if !is_private(&fstat(&folder)?) {
        return Err(io::Error::other(format!(
            "{} is not a private folder of yours (mode 700)",
            path.display()
        )));
    }
    Ok(folder)
}

fn is_private(facts: &Stat) -> bool {
    facts.st_uid == own_user() && facts.st_mode & 0o077 == 0
}

/// Removes a folder with all in it if it is still the one with this identity, wherever its path leads by now.
///
/// # Errors
/// That it is another one, or cannot be removed.
pub fn remove_same(path: &Path, identity: FolderIdentity) -> io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = rustix::fs::open(above, flags, Mode::empty())?;
    if identity_of(&statat(&above, name, AtFlags::SYMLINK_NOFOLLOW)?) != identity {
        return Err(io::Error::other(format!(
            "{} is another folder than the one that was made",
            path.display()
        )));
    }
    // Below the handle: names above it cannot be changed any more.
    std::fs::remove_dir_all(Path::new(&format!("/proc/self/fd/{}", above.as_raw_fd())).join(name))
}

/// File system and number of a folder.
pub type FolderIdentity = (u64, u64);

/// Identity of the folder at a path; none where a link or anything else is.
pub fn folder_identity(path: &Path) -> Option<FolderIdentity> {
    Some(identity_of(&fstat(open_folder(rustix::fs::CWD, path).ok()?).ok()?))
}

fn identity_of(facts: &Stat) -> FolderIdentity {
    (facts.st_dev, facts.st_ino)
}

/// Checks each folder of a canonical path, from the root on: only root and we may change what its names mean.
///
/// # Errors
/// The first folder that somebody else can change.
pub fn check_path(canonical: &Path) -> io::Result<()> {
    let mut folders: Vec<&Path> = canonical.ancestors().collect();
    folders.reverse();
    for folder in folders {
        let facts = fstat(open_folder(rustix::fs::CWD, folder)?)?;
        // In a user namespace root's own files may have an owner that is mapped to nobody.
        let is_trusted = facts.st_uid == 0
            || facts.st_uid == own_user()
            || (facts.st_uid == UNMAPPED && is_in_user_namespace());
        let own_group = rustix::process::getegid().as_raw();
        let others = if facts.st_gid == 0 || facts.st_gid == own_group { 0o002 } else { 0o022 };
        let is_open = facts.st_mode & others != 0 && facts.st_mode & STICKY == 0;
        if !is_trusted || is_open {
            let what = "can be changed by other users, so nothing below it can be trusted";
            return Err(io::Error::other(format!("{} {what}", folder.display())));
        }
    }
    Ok(())
}

fn is_in_user_namespace() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    !map.split_whitespace().eq(["0", "0", "4294967295"])
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    const NOBODY: (u32, u32) = (65_534, 65_534);

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn owner(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().uid()
    }

    #[test]
    fn a_link_or_a_file_in_the_place_of_a_folder_is_not_handed_over() {
        let (folder, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let above = open_folder(rustix::fs::CWD, folder.path()).unwrap();
        let file = victim.path().join("secret");
        std::fs::write(&file, "x").unwrap();
        symlink(victim.path(), folder.path().join("link")).unwrap();
        std::fs::hard_link(&file, folder.path().join("hard")).unwrap();
        std::fs::create_dir(folder.path().join("full")).unwrap();
        std::fs::write(folder.path().join("full/x"), "x").unwrap();
        for name in ["link", "hard", "full", "nothing"] {
            assert!(hand_over(&above, Path::new(name), NOBODY).is_err(), "{name}");
        }
        for path in [victim.path(), &file, &folder.path().join("full")] {
            assert_eq!(owner(path), own_user(), "{}", path.display());
        }
    }

    #[test]
    fn below_a_folder_that_everybody_may_change_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        set_mode(folder.path(), 0o777);
        let why = PrivateFolder::make(&inner, NOBODY).unwrap_err().to_string();
        assert!(why.contains("can be changed by other users"), "{why}");
        assert!(open_private(&inner).is_err());
        // As in /tmp: there nobody replaces what is not his.
        set_mode(folder.path(), 0o1777);
        set_mode(&inner, 0o700);
        assert!(open_private(&inner).is_ok());
        set_mode(&inner, 0o750);
        assert!(open_private(&inner).is_err());
    }

    /// The other user does what he can to have root give him, or remove, a folder of root's.
    #[test]
    fn the_other_user_cannot_lead_root_elsewhere() {
        if !rustix::process::geteuid().is_root() {
            assay_testkit::skip!("only root runs a process as another user");
        }
        let (base, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        set_mode(base.path(), 0o1777);
        let file = victim.path().join("file");
        std::fs::write(&file, "x").unwrap();
        use std::os::unix::process::CommandExt;
        let attack = "cd $0; while :; do for top in assay-process-??????; do \
                      [ -d $top ] && [ ! -L $top ] || continue; mv $top $top.away; ln -s $1 $top; ln -s $1 $top/x; mv $top/server-files $top/old; \
                      ln -sfn $1 $top/server-files; ln -f $1/file $top/server-files/hard; \
                      rm -f $top/server-files/x; ln -s $1 $top/server-files/x; done; done";
        let mut attacker = Command::new("sh");
        attacker.args(["-c", attack]).args([base.path(), victim.path()]);
        attacker.uid(NOBODY.0).gid(NOBODY.1).stdout(Stdio::null()).stderr(Stdio::null());
        let mut attacker = attacker.spawn().unwrap();
        // A busy machine may let the attacker run rarely; he must have been there often.
        let (mut filled, begun) = (0, std::time::Instant::now());
        while filled < 20 && begun.elapsed() < std::time::Duration::from_secs(120) {
            let made = PrivateFolder::make(base.path(), NOBODY).unwrap();
            assert_eq!((owner(&made.files), owner(made._top.path())), (NOBODY.0, 0));
            std::thread::sleep(std::time::Duration::from_millis(20));
            filled += usize::from(std::fs::read_dir(&made.files).unwrap().next().is_some());
        }
        attacker.kill().unwrap();
        attacker.wait().unwrap();
        assert!(filled >= 20, "the attacker was there {filled} times");
        assert_eq!((owner(victim.path()), owner(&file)), (0, 0));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
    }

    #[test]
    fn only_the_folder_that_was_made_is_removed() {
        let (folder, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let made = folder.path().join("made");
        std::fs::create_dir(&made).unwrap();
        let identity = folder_identity(&made).unwrap();
        std::fs::rename(&made, folder.path().join("away")).unwrap();
        symlink(victim.path(), &made).unwrap();
        assert!(remove_same(&made, identity).is_err() && folder_identity(&made).is_none());
        std::fs::remove_file(&made).unwrap();
        std::fs::create_dir(&made).unwrap();
        assert!(remove_same(&made, identity).is_err());
        assert!(victim.path().exists() && made.exists());
        let away = folder.path().join("away");
        std::fs::write(away.join("x"), "x").unwrap();
        remove_same(&away, identity).unwrap();
        assert!(!away.exists());
    }
}
