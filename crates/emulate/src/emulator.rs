//! What emulates: programs that were fetched, and the plug-in that counts.

use crate::geometry::Geometry;
use crate::image::GuestImage;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process;

/// What the plug-in wrote, in the folder in which the emulator was started.
pub const COUNTS_FILE: &str = "emulated-counts.json";
/// What the guest says of its work, likewise.
pub const REPORT_FILE: &str = "emulated-guest.json";
/// The guest's file system, likewise.
pub const IMAGE_FILE: &str = "emulated-image.cpio";

/// Sources of the plug-in.
const SOURCES: [(&str, &str); 4] = [
    ("count.c", include_str!("../plugin/count.c")),
    ("model.c", include_str!("../plugin/model.c")),
    ("model.h", include_str!("../plugin/model.h")),
    ("qemu_api.h", include_str!("../plugin/qemu_api.h")),
];

/// Options of the kernel. The first ones make the guest the same at each start; self-tests and probing of clocks take a second.
const KERNEL: &str = "console=ttyS0 loglevel=3 panic=-1 rdinit=/init mitigations=off nokaslr no_timer_check tsc=reliable \
                      cryptomgr.notests 8250.nr_uarts=2";

/// The first program of the guest: mounts what programs expect, and ends the machine when the work is done. Nothing on `/tmp`: it would
/// hide what the image has there, which is all of a checkout below it.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox ifconfig lo 127.0.0.1 up
ulimit -n 65536
COMMAND
/bin/busybox poweroff -f
";

/// Programs for emulation, and the plug-in.
#[derive(Debug, Clone)]
pub struct Emulator {
    root: PathBuf,
    plugin: PathBuf,
}

/// How the emulator is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables.
    pub env: BTreeMap<String, String>,
}

impl Emulator {
    /// What `scripts/fetch-emulator` left in the cache, with the plug-in compiled by the system's `cc` where it was not yet.
    ///
    /// # Errors
    /// What is missing here, and the command that adds it.
    pub fn find(cache: &Path) -> Result<Emulator, String> {
        let folder = cache.join("emulation");
        if !cfg!(target_arch = "x86_64") {
            return Err("guests are emulated on x86-64 only".to_owned());
        }
        if !folder.join("complete").is_file() {
            return Err(match fs_err::read_to_string(folder.join("unavailable")) {
                Ok(why) => format!("no emulator: {}", why.trim()),
                Err(_) => "no emulator: scripts/fetch-emulator fetches it".to_owned(),
            });
        }
        if folder.to_string_lossy().contains(',') {
            return Err(format!(
                "no emulator: QEMU takes no path with a comma, such as {}",
                folder.display()
            ));
        }
        let plugin = plugin(&folder)?;
        Ok(Emulator { root: folder.join("root"), plugin })
    }

    /// A guest's file system with busybox, whose first program runs these words.
    ///
    /// # Errors
    /// When busybox cannot be read.
    pub fn image(&self, words: &[&str]) -> std::io::Result<GuestImage> {
        let mut image = GuestImage::new();
        image.add(&self.root.join("bin/busybox"), Path::new("/bin/busybox"))?;
        let quoted: Vec<String> =
            words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        image.add_bytes("/init", INIT.replace("COMMAND", &quoted.join(" ")).into_bytes(), true);
        Ok(image)
    }

    /// How a guest is started whose file system is [`IMAGE_FILE`] in the folder in which that is done. It leaves [`COUNTS_FILE`] and
    /// [`REPORT_FILE`] there. One virtual processor executes an instruction in each nanosecond of the guest's clock, and all that is
    /// random in it comes from the seed.
    pub fn command(&self, geometry: &Geometry, memory_mib: u64, seed: u64) -> Command {
        let root = self.root.to_string_lossy();
        let at = |path: &str| format!("{root}/{path}");
        let plugin = format!("{},out={COUNTS_FILE},{}", self.plugin.to_string_lossy(), geometry.arguments());
        let memory = format!("{memory_mib}M");
        let report = format!("file,id=report,path={REPORT_FILE}");
        // QEMU takes 32 bits.
        let seed = (seed & 0xffff_ffff).to_string();
        let words: [&[&str]; 7] = [
            &["-M", "microvm", "-cpu", "max,-erms,-fsrm", "-smp", "1", "-m", &memory],
            &[
                "-accel",
                "tcg,tb-size=512",
                "-icount",
                "shift=0,sleep=off",
                "-seed",
                &seed,
                "-rtc",
                "base=2020-01-01,clock=vm",
            ],
            &["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"],
            &["-chardev", &report, "-device", "isa-serial,iobase=0x2f8,irq=3,chardev=report"],
            &["-L", &at("usr/share/qemu"), "-L", &at("usr/share/seabios")],
            &["-kernel", &at("vmlinux"), "-initrd", IMAGE_FILE, "-append", KERNEL],
            &["-plugin", &plugin],
        ];
        let argv = std::iter::once(at("usr/bin/qemu-system-x86_64"))
            .chain(words.into_iter().flatten().map(|word| (*word).to_owned()))
            .collect();
        let libraries = format!("{}:{}", at("usr/lib/x86_64-linux-gnu"), at("lib/x86_64-linux-gnu"));
        Command { argv, env: BTreeMap::from([("LD_LIBRARY_PATH".to_owned(), libraries)]) }
    }
}

/// The plug-in, compiled.
fn plugin(folder: &Path) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    SOURCES.hash(&mut hasher);
    let path = folder.join(format!("count-{:016x}.so", hasher.finish()));
    if path.is_file() {
        return Ok(path);
    }
    let work = tempfile::tempdir_in(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (name, text) in SOURCES {
        fs_err::write(work.path().join(name), text).map_err(|e| e.to_string())?;
    }
    let mut compile = process::Command::new("cc");
    compile.args([
        "-std=gnu11",
        "-O2",
        "-fPIC",
        "-shared",
        "-fvisibility=hidden",
        "-o",
        "count.so",
        "count.c",
        "model.c",
    ]);
    let output = compile.current_dir(work.path()).output();
    let output = output.map_err(|e| {
        format!("the plug-in that counts takes a C compiler: cc: {e}; apt-get install gcc libc6-dev")
    })?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "cc does not compile the plug-in that counts: {}",
            text.lines().next().unwrap_or("it said nothing")
        ));
    }
    fs_err::rename(work.path().join("count.so"), &path).map_err(|e| e.to_string())?;
    Ok(path)
}
