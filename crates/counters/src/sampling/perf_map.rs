//! Names of compiled methods: the file that a JVM writes when asked to (`Compiler.perfmap`, JDK 17 and later).
//!
//! The file lies in the target's `/tmp`, where others may write: it is believed only if it is a plain file of the JVM's own user that
//! nobody else may write to, and was written after the question. It is removed again unless it was there before.

use crate::written::distrust;
use assay_hotspot::attach_command;
use assay_linux::ProcRoot;
use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// 100,000 methods of 200 bytes are 20 MB.
const BYTES_MAX: u64 = 64 << 20;
const METHODS_MAX: usize = 500_000;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Methods by the addresses of their code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PerfMap {
    /// First address, the one behind the last, name; sorted.
    methods: Vec<(u64, u64, String)>,
}

impl PerfMap {
    /// Asks the JVM for its methods. `pid_inside`: its number in its own PID namespace.
    ///
    /// # Errors
    /// Why there are none, in words.
    pub(crate) fn ask(proc: &ProcRoot, pid: u32, pid_inside: u32) -> Result<PerfMap, String> {
        let name = format!("perf-{pid_inside}.map");
        let path = Path::new("/tmp").join(&name);
        let failed =
            |what: &str, error: &dyn std::fmt::Display| format!("{what} {}: {error}", path.display());
        let folder =
            proc.hold_at(pid, Path::new("/tmp")).map_err(|e| failed("cannot reach the folder of", &e))?;
        let before = stat_in(&folder, &name);
        let asked = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        attach_command(proc, pid, "Compiler.perfmap", TIMEOUT).map_err(|error| error.to_string())?;
        let user =
            std::fs::metadata(proc.path().join(pid.to_string())).map_err(|e| failed("whose is", &e))?.uid();
        let held = hold_in(&folder, &name).map_err(|e| failed("cannot open", &e))?;
        let stat = rustix::fs::fstat(&held).map_err(|e| failed("cannot stat", &e))?;
        let map = match distrust(&stat, user, asked, BYTES_MAX) {
            Some(why) => Err(failed("not believed:", &why)),
            None => read(&held).map_err(|e| failed("cannot read", &e)),
        };
        if before.is_none() && stat_in(&folder, &name).is_some_and(|now| now.st_ino == stat.st_ino) {
            let _ = rustix::fs::unlinkat(&folder, &name, AtFlags::empty());
        }
        map
    }

    /// The method whose code an address lies in.
    pub(crate) fn name_at(&self, address: u64) -> Option<&str> {
        let next = self.methods.partition_point(|(start, _, _)| *start <= address);
        let (_, end, name) = self.methods.get(next.checked_sub(1)?)?;
        (address < *end).then_some(name)
    }

    /// A line is `0x00007f 0x40 int java.lang.String.hashCode()`; the numbers may be without `0x`.
    fn parse(text: &str) -> PerfMap {
        let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok();
        let method = |line: &str| {
            let (start, rest) = line.split_once(' ')?;
            let (bytes, name) = rest.trim_start().split_once(' ')?;
            let start = number(start)?;
            Some((start, start.checked_add(number(bytes)?)?, name.trim().to_owned()))
        };
        let mut methods: Vec<_> = text.lines().take(METHODS_MAX).filter_map(method).collect();
        methods.sort();
        PerfMap { methods }
    }
}

/// Takes hold of what lies there now, be it a link.
fn hold_in(folder: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn stat_in(folder: &OwnedFd, name: &str) -> Option<Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn read(held: &impl AsFd) -> std::io::Result<PerfMap> {
    let file = File::open(format!("/proc/self/fd/{}", held.as_fd().as_raw_fd()))?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(PerfMap::parse(&String::from_utf8_lossy(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn an_address_has_the_method_whose_code_it_lies_in() {
        let map = PerfMap::parse(
            "0x00007f10 0x0000000000000010 int A.b()\nnot a line\n7f00 8 void C.d(int)\n0xffffffffffffffff 0x10 x\n\n0x1\n",
        );
        assert_eq!(map.methods.len(), 2);
        assert_eq!(map.name_at(0x7f1f), Some("int A.b()"));
        assert_eq!((map.name_at(0x7f20), map.name_at(0x7f08), map.name_at(0)), (None, None, None));
        assert_eq!(map.name_at(0x7f00), Some("void C.d(int)"));
    }

    #[test]
    fn only_a_new_plain_file_that_the_jvm_alone_can_write_is_believed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("map");
        std::fs::write(&path, "0x10 0x10 A.b()\n").expect("writable");
        symlink(&path, folder.path().join("link")).expect("a link");
        let held = OwnedFd::from(File::open(folder.path()).expect("a folder"));
        let user = rustix::process::geteuid().as_raw();
        let why = |name: &str, user: u32, asked: u64| {
            let file = hold_in(&held, name).expect("it is there");
            distrust(&rustix::fs::fstat(&file).expect("held"), user, asked, BYTES_MAX)
        };
        set_permissions(&path, Permissions::from_mode(0o644)).expect("ours");
        assert_eq!(why("map", user, 0), None);
        assert_eq!(read(&hold_in(&held, "map").expect("there")).expect("readable").methods.len(), 1);
        assert_eq!(why("link", user, 0), Some("it is not a regular file"));
        assert_eq!(why("map", user + 1, 0), Some("it belongs to another user than the JVM"));
        assert_eq!(why("map", user, u64::MAX), Some("it was not written at the request"));
        for mode in [0o666, 0o664] {
            set_permissions(&path, Permissions::from_mode(mode)).expect("ours");
            assert_eq!(why("map", user, 0), Some("others than the JVM's user may write to it"));
        }
        set_permissions(&path, Permissions::from_mode(0o644)).expect("ours");
        File::options().write(true).open(&path).and_then(|file| file.set_len(BYTES_MAX + 1)).expect("ours");
        assert_eq!(why("map", user, 0), Some("it is too large"));
    }
}
