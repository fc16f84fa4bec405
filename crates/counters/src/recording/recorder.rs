//! A recording that is started and stopped for an account (`JFR.start`, `JFR.stop`).
//!
//! The JVM writes it into a folder of its own `/tmp` that nobody but its user may enter, and that is made for it and removed again. The
//! recording has a longest duration, after which the JVM ends it itself: should Assay be killed, nothing goes on; the folder that is then
//! left is removed by the next recording of the same process.

use super::{ABOUT, Recorded};
use crate::written::distrust;
use assay_hotspot::attach_command;
use assay_linux::ProcRoot;
use assay_model::{Problem, RecordingOrigin};
use rustix::fs::{AtFlags, Dir, Gid, Mode, OFlags, Uid};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Starting the recorder for the first time takes a JVM a second or two.
const TIMEOUT: Duration = Duration::from_secs(30);
/// A recording of an hour has some hundred MB.
const BYTES_MAX: u64 = 4 << 30;
const FILE: &str = "recording.jfr";
/// The first release whose recorder samples allocation at a bounded rate; before, only `settings=profile` has events of it.
const SAMPLES_ALLOCATION_SINCE: u32 = 16;
/// The first release that samples CPU time by a timer of each thread (JEP 509).
const SAMPLES_CPU_TIME_SINCE: u32 = 25;

/// A recording that runs.
#[derive(Debug)]
pub struct Recorder {
    proc: ProcRoot,
    pid: u32,
    name: String,
    user: u32,
    folder: Folder,
    started_s: u64,
}

impl Recorder {
    /// Has the JVM record: it starts the threads of its flight recorder, if they do not run yet, which stay. `feature`: its release, where
    /// known; `at_most`: when it ends the recording itself.
    ///
    /// # Errors
    /// Why it does not record, in words.
    pub fn start(pid: u32, feature: Option<u32>, at_most: Duration) -> Result<Recorder, String> {
        let proc = ProcRoot::default();
        let owner = std::fs::metadata(proc.path().join(pid.to_string()))
            .map_err(|error| format!("whose is process {pid}: {error}"))?;
        let started_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let folder = Folder::make(&proc, pid, (owner.uid(), owner.gid()))
            .map_err(|error| format!("cannot make a private folder in the JVM's /tmp: {error}"))?;
        let name = format!("assay-{}", std::process::id());
        let command = start_command(&name, &folder.path(), feature, at_most);
        match attach_command(&proc, pid, &command, TIMEOUT) {
            Ok(_) => Ok(Recorder { proc, pid, name, user: owner.uid(), folder, started_s }),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Ends it and reads what it wrote.
    ///
    /// # Errors
    /// Why there is nothing to read, in words.
    pub fn stop(self) -> Result<Recorded, String> {
        let answer = attach_command(&self.proc, self.pid, &format!("JFR.stop name={}", self.name), TIMEOUT);
        let answer = answer.map_err(|error| error.to_string())?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.folder.own, FILE, flags, Mode::empty()).map_err(|error| {
            let said = answer.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("the JVM wrote no recording ({error}); it said: {said}")
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|error| error.to_string())?;
        if let Some(why) = distrust(&stat, self.user, self.started_s, BYTES_MAX) {
            return Err(format!("the recording is not believed: {why}"));
        }
        let profile = assay_jfr::read(File::from(file)).map_err(|error| error.to_string())?;
        Ok(Recorded { profile, origin: RecordingOrigin::Started })
    }
}

/// A problem of the account: it has no recording.
pub fn no_recording(why: impl Into<String>) -> Problem {
    Problem::new(ABOUT, why)
}

fn start_command(name: &str, folder: &str, feature: Option<u32>, at_most: Duration) -> String {
    let samples_allocation = feature.is_some_and(|feature| SAMPLES_ALLOCATION_SINCE <= feature);
    let settings = if samples_allocation { "default" } else { "profile" };
    let mut command = format!(
        "JFR.start name={name} settings={settings} filename={folder}/{FILE} duration={}s",
        at_most.as_secs().max(1)
    );
    if feature.is_some_and(|feature| SAMPLES_CPU_TIME_SINCE <= feature) {
        command += " jdk.CPUTimeSample#enabled=true";
    }
    command
}

/// A folder in the JVM's `/tmp` that only its user may enter; removed when dropped.
#[derive(Debug)]
struct Folder {
    above: OwnedFd,
    name: String,
    own: OwnedFd,
}

impl Folder {
    fn make(proc: &ProcRoot, pid: u32, (user, group): (u32, u32)) -> std::io::Result<Folder> {
        let above = proc.hold_at(pid, Path::new("/tmp"))?;
        let prefix = format!("assay-jfr-{pid}-");
        remove_left_behind(&above, &prefix);
        let name = format!("{prefix}{}", std::process::id());
        rustix::fs::mkdirat(&above, &name, Mode::RWXU)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let own = rustix::fs::openat(&above, &name, flags, Mode::empty());
        let own = own.inspect_err(|_| {
            let _ = rustix::fs::unlinkat(&above, &name, AtFlags::REMOVEDIR);
        })?;
        let folder = Folder { above, name, own };
        if user != rustix::process::geteuid().as_raw() {
            rustix::fs::fchown(&folder.own, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
        }
        Ok(folder)
    }

    /// As the JVM sees it.
    fn path(&self) -> String {
        format!("/tmp/{}", self.name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.own, FILE, AtFlags::empty());
        let _ = rustix::fs::unlinkat(&self.above, &self.name, AtFlags::REMOVEDIR);
    }
}

/// Removes the folders of recordings whose Assay has been killed.
fn remove_left_behind(above: &OwnedFd, prefix: &str) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(listed) = rustix::fs::openat(above, ".", flags, Mode::empty()) else { return };
    let Ok(entries) = Dir::read_from(&listed) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let maker = name.strip_prefix(prefix).and_then(|pid| pid.parse::<u32>().ok());
        let is_left = maker.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists());
        if is_left && let Ok(own) = rustix::fs::openat(above, &name, flags, Mode::empty()) {
            let _ = rustix::fs::unlinkat(&own, FILE, AtFlags::empty());
            let _ = rustix::fs::unlinkat(above, &name, AtFlags::REMOVEDIR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_release_is_asked_for_is_what_it_has() {
        let command = |feature| start_command("assay-1", "/tmp/x", feature, Duration::from_secs(40));
        let since = "filename=/tmp/x/recording.jfr duration=40s";
        assert_eq!(command(Some(11)), format!("JFR.start name=assay-1 settings=profile {since}"));
        assert_eq!(command(None), format!("JFR.start name=assay-1 settings=profile {since}"));
        assert_eq!(command(Some(17)), format!("JFR.start name=assay-1 settings=default {since}"));
        let of_25 = format!("JFR.start name=assay-1 settings=default {since} jdk.CPUTimeSample#enabled=true");
        assert_eq!(command(Some(25)), of_25);
    }

    #[test]
    fn a_folder_is_private_and_goes_with_what_is_in_it() {
        let proc = ProcRoot::default();
        let pid = std::process::id();
        let owner = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let folder = Folder::make(&proc, pid, owner).expect("made");
        let path = folder.path();
        let stat = std::fs::metadata(&path).expect("there");
        assert_eq!((stat.mode() & 0o777, stat.uid()), (0o700, owner.0));
        std::fs::write(Path::new(&path).join(FILE), "x").expect("written");
        assert!(Folder::make(&proc, pid, owner).is_err(), "one at a time");
        drop(folder);
        assert!(!Path::new(&path).exists());
        // One of an Assay that is gone: pids do not go so high.
        let left = format!("/tmp/assay-jfr-{pid}-4194999");
        std::fs::create_dir(&left).expect("made");
        std::fs::write(Path::new(&left).join(FILE), "x").expect("written");
        drop(Folder::make(&proc, pid, owner).expect("made"));
        assert!(!Path::new(&left).exists());
    }
}
