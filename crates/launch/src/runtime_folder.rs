//! The private folder in which runs leave word of what they started: `$XDG_RUNTIME_DIR/assay`, or `/tmp/assay-UID`.
//!
//! Each run holds one lease: a file that it keeps locked, with a line for each server it started. The kernel drops
//! the lock when the run ends in any way, so a lease that can be locked belongs to a run that is gone. The next start
//! stops what such a run left, if boot, process number and start time still match.

use crate::family::Family;
use crate::lock::{patience, try_lock_until};
use crate::private_folder::{
    FOLDER_PREFIX, FolderIdentity, SERVER_FILES, folder_identity, open_own, open_private, remove_same,
};
use assay_linux::{ProcRoot, ProcessIdentity};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Leases that are looked at, lines in one, and bytes of one: more means that the folder is not ours.
const LEASES_MAX: usize = 10_000;
const LINES_MAX: usize = 100_000;
const LEASE_BYTES_MAX: u64 = 64 << 20;
/// How long what an earlier run has left may take to be gone.
const KILL_WAIT: Duration = Duration::from_secs(5);
/// Ports that servers get: below the range from which the kernel draws for outgoing connections (32768 on), since
/// those of a load generator could take a server's port between its choice and its use.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// A line of a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Leased {
    pid: u32,
    start_ticks: u64,
    boot_id: String,
    token: String,
    server_dir: Option<PathBuf>,
    /// Which folder that was, as its path may lead elsewhere by the time it is removed.
    server_dir_identity: Option<FolderIdentity>,
}

/// Where the folder is.
pub(crate) fn runtime_folder() -> PathBuf {
    let base = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_dir());
    let uid = rustix::process::geteuid().as_raw();
    base.map_or_else(|| PathBuf::from(format!("/tmp/assay-{uid}")), |dir| dir.join("assay"))
}

/// Makes the folder, or refuses one that others could write to or replace.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(named(folder, &e)),
        _ => {}
    }
    open_private(folder)
        .map(drop)
        .map_err(|e| io::Error::other(format!("{e}; remove it, or set XDG_RUNTIME_DIR")))
}

fn named(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}

/// What this run started, for whoever comes after it.
#[derive(Debug)]
pub struct Lease {
    path: PathBuf,
    file: File,
    boot_id: String,
    token: String,
    processes: u32,
}

impl Lease {
    /// Takes a lease.
    pub fn take(folder: &Path) -> io::Result<Lease> {
        let token = format!("{}-{}", std::process::id(), assay_linux::monotonic_ns());
        let path = folder.join(format!("lease-{token}.ndjson"));
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(&path);
        let file = file.map_err(|e| named(&path, &e))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let boot_id = ProcRoot::default().read_boot_id().map_err(io::Error::other)?;
        Ok(Lease { path, file, boot_id, token, processes: 0 })
    }

    /// A token that only the next process and all that it starts have in their environment.
    pub fn next_token(&mut self) -> String {
        self.processes += 1;
        format!("{}.{}", self.token, self.processes)
    }

    /// Notes a process that was started, and the folder of its files.
    pub fn add(&mut self, identity: ProcessIdentity, token: &str, files: Option<&Path>) -> io::Result<()> {
        let leased = Leased {
            pid: identity.pid,
            start_ticks: identity.start_ticks,
            boot_id: self.boot_id.clone(),
            token: token.to_owned(),
            server_dir: files.map(Path::to_owned),
            server_dir_identity: files.and_then(folder_identity),
        };
        let line = serde_json::to_string(&leased)? + "\n";
        self.file.write_all(line.as_bytes()).map_err(|e| named(&self.path, &e))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Nobody is left to report to; a lease that stays is cleaned up by the next start.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Stops what runs that are gone have left; returns what was done, in words. A lease names processes that are killed, so
/// one that somebody else could have written is not believed.
pub fn clean_up(folder: &Path) -> Vec<String> {
    let Ok(boot_id) = ProcRoot::default().read_boot_id() else { return Vec::new() };
    let handle = match open_private(folder) {
        Ok(handle) => handle,
        Err(e) => return vec![format!("leftovers of earlier runs were not searched: {e}")],
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(LEASES_MAX);
    let is_lease =
        |name: &OsString| name.to_str().is_some_and(|n| n.starts_with("lease-") && n.ends_with(".ndjson"));
    let (mut done, until) = (Vec::new(), patience());
    for name in entries.map(|e| e.file_name()).filter(is_lease) {
        let path = folder.join(&name);
        let mut file = match open_own(&handle, Path::new(&name), LEASE_BYTES_MAX) {
            Ok(file) => file,
            // Its run has ended meanwhile.
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => {
                done.push(format!("{} was left alone: {e}", path.display()));
                continue;
            }
        };
        if !try_lock_until(&file, until) {
            continue;
        }
        let mut text = String::new();
        let _ = file.read_to_string(&mut text);
        // A line that was cut off by the end of its run names nothing that can be trusted.
        let leased =
            text.lines().take(LINES_MAX).filter_map(|l| serde_json::from_slice::<Leased>(l.as_bytes()).ok());
        for one in leased.filter(|one| one.boot_id == boot_id) {
            done.extend(stop_left_over(&one));
        }
        let _ = std::fs::remove_file(&path);
    }
    done
}

fn stop_left_over(leased: &Leased) -> Option<String> {
    let identity = ProcessIdentity { pid: leased.pid, start_ticks: leased.start_ticks };
    let mut family = match ProcRoot::default().is_running(identity) {
        Ok(true) => Family::of(identity, &leased.token),
        // It has gone (a script that started the server, or the kernel ended it with its run): others carry the token.
        _ => Family::without_leader(&leased.token),
    };
    let killed = family.kill(KILL_WAIT);
    if let (Some(dir), Some(identity)) = (&leased.server_dir, leased.server_dir_identity)
        && dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SERVER_FILES))
    {
        let _ = remove_same(dir, identity);
        let above = dir
            .parent()
            .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(FOLDER_PREFIX)));
        // Only if it is empty.
        let _ = above.map(std::fs::remove_dir);
    }
    let what = format!("stopped {killed} processes of group {}", leased.pid);
    (killed > 0).then(|| format!("{what} that a run which was killed had left"))
}

/// A free port of the loopback interface, claimed against other runs of Assay as long as this lives.
#[derive(Debug)]
pub struct Port {
    pub number: u16,
    path: PathBuf,
    _claim: File,
}

impl Drop for Port {
    fn drop(&mut self) {
        // Another run may have opened the file just now and lock what has no name any more: then only that the port is
        // in use tells a third one, as it does for all programs that are not ours.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Port {
    /// Finds one that nobody listens on.
    pub fn claim(folder: &Path) -> io::Result<Port> {
        let spread = PORTS.end - PORTS.start;
        // Two runs should not look at the same ports first; which one it is changes no result.
        let first = (u64::from(std::process::id()).wrapping_mul(7919) % u64::from(spread)) as u16;
        for step in 0..spread {
            let number = PORTS.start + (first + step) % spread;
            let path = folder.join(format!("port-{number}"));
            let claim = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
            let claim = claim.map_err(|e| named(&path, &e))?;
            if flock(&claim, FlockOperation::NonBlockingLockExclusive).is_ok()
                && TcpListener::bind(("127.0.0.1", number)).is_ok()
            {
                return Ok(Port { number, path, _claim: claim });
            }
        }
        Err(io::Error::other(format!("no port of 127.0.0.1 from {} to {} is free", PORTS.start, PORTS.end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    fn private_folder() -> tempfile::TempDir {
        tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap()
    }

    #[test]
    fn two_claims_never_get_the_same_port() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (Port::claim(folder.path()).unwrap(), Port::claim(folder.path()).unwrap());
        assert_ne!(a.number, b.number);
    }

    #[test]
    fn a_lease_of_a_live_run_is_left_alone_and_a_strange_one_harms_nobody() {
        let folder = private_folder();
        let mut lease = Lease::take(folder.path()).unwrap();
        let own = ProcRoot::default().identity_of(std::process::id()).unwrap();
        lease.add(own, "x", None).unwrap();
        assert_eq!(clean_up(folder.path()), Vec::<String>::new());
        assert!(lease.path.exists());
        // A lease that names this very process, but of another start: not the same process.
        let line = serde_json::to_string(&Leased {
            pid: own.pid,
            start_ticks: own.start_ticks + 1,
            boot_id: lease.boot_id.clone(),
            token: "x".into(),
            server_dir: Some("/".into()),
            server_dir_identity: None,
        });
        write_lease(&folder.path().join("lease-old.ndjson"), &(line.unwrap() + "\n{broken"), 0o600);
        assert_eq!(clean_up(folder.path()), Vec::<String>::new());
        assert!(!folder.path().join("lease-old.ndjson").exists());
    }

    fn write_lease(path: &Path, text: &str, mode: u32) {
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_permissions(Permissions::from_mode(mode)).unwrap();
    }

    /// Each lease names the same live process, which only a believed one kills.
    #[test]
    fn a_lease_that_somebody_else_could_have_written_kills_nobody() {
        let (folder, elsewhere) = (private_folder(), private_folder());
        let mut child = std::process::Command::new("sleep");
        let mut child =
            std::os::unix::process::CommandExt::process_group(child.arg("600"), 0).spawn().unwrap();
        let identity = ProcRoot::default().identity_of(child.id()).unwrap();
        let line = serde_json::to_string(&Leased {
            pid: identity.pid,
            start_ticks: identity.start_ticks,
            boot_id: ProcRoot::default().read_boot_id().unwrap(),
            token: "x".into(),
            server_dir: None,
            server_dir_identity: None,
        });
        let line = line.unwrap() + "\n";
        let at = |name: &str| folder.path().join(name);
        let real = elsewhere.path().join("lease");
        write_lease(&real, &line, 0o600);
        std::os::unix::fs::symlink(&real, at("lease-link.ndjson")).unwrap();
        let other = elsewhere.path().join("other");
        write_lease(&other, &line, 0o600);
        std::fs::hard_link(&other, at("lease-hard.ndjson")).unwrap();
        write_lease(&at("lease-open.ndjson"), &line, 0o622);
        assert!(
            std::process::Command::new("mkfifo").arg(at("lease-pipe.ndjson")).status().unwrap().success()
        );
        let mut strange = 4;
        if rustix::process::geteuid().is_root() {
            write_lease(&at("lease-owner.ndjson"), &line, 0o600);
            std::os::unix::fs::chown(at("lease-owner.ndjson"), Some(65_534), None).unwrap();
            strange += 1;
        }
        let told = clean_up(folder.path());
        assert_eq!(told.len(), strange, "{told:?}");
        assert!(told.iter().all(|t| t.contains("was left alone")), "{told:?}");
        assert!(child.try_wait().unwrap().is_none());

        write_lease(&at("lease-own.ndjson"), &line, 0o600);
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let told = clean_up(folder.path());
        assert!(told.len() == 1 && told[0].contains("not a private folder"), "{told:?}");
        assert!(child.try_wait().unwrap().is_none());

        set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        assert!(clean_up(folder.path()).iter().any(|t| t.contains("stopped 1 processes of group")));
        child.wait().unwrap();
    }
}
