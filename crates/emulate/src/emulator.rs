//! What emulates: programs that were fetched, and the plug-in that counts.

use crate::geometry::Geometry;
use crate::image::GuestImage;
use crate::place::Place;
use crate::start::{Command, IMAGE_FILE, libraries};
use crate::work::REPORT_PORT;
use assay_model::{EmulatedProcessor, GuestMachine, PlannedGuest};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process;

/// What the plug-in wrote, in the folder in which the emulator was started.
pub const COUNTS_FILE: &str = "emulated-counts.json";
/// What the guest says of its work, likewise.
pub const REPORT_FILE: &str = "emulated-guest.json";

/// Sources of the plug-in.
const SOURCES: [(&str, &str); 8] = [
    ("count.c", include_str!("../plugin/count.c")),
    ("model.c", include_str!("../plugin/model.c")),
    ("arch.c", include_str!("../plugin/arch.c")),
    ("arch_x86_64.c", include_str!("../plugin/arch_x86_64.c")),
    ("arch_aarch64.c", include_str!("../plugin/arch_aarch64.c")),
    ("arch.h", include_str!("../plugin/arch.h")),
    ("model.h", include_str!("../plugin/model.h")),
    ("qemu_api.h", include_str!("../plugin/qemu_api.h")),
];

/// Options of the kernel. They make the guest the same at each start; self-tests and probing of clocks take a second.
const KERNEL: &str =
    "loglevel=3 panic=-1 rdinit=/init mitigations=off nokaslr no_timer_check cryptomgr.notests";
/// Further ones of x86-64.
const KERNEL_X86_64: &str = "console=ttyS0 tsc=reliable 8250.nr_uarts=2";
/// Further ones of AArch64.
const KERNEL_AARCH64: &str = "console=ttyAMA0";

/// The first program of the guest: mounts what programs expect, and ends the machine when the work is done. Nothing on `/tmp`: it would
/// hide what the image has there, which is all of a checkout below it.
const INIT: &str = "#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
MAKE_PORT
/bin/busybox ifconfig lo 127.0.0.1 up
ulimit -n 65536
COMMAND
/bin/busybox poweroff -f
";
/// The report's port of a machine that has a second serial port.
const SERIAL_PORT: &str = "/bin/busybox ln -s ttyS1 PORT";
/// That of a machine that has one of virtio instead.
const VIRTIO_PORT: &str = "/bin/busybox mount -t devtmpfs dev /dev
for module in $(/bin/busybox cat /modules/order); do /bin/busybox insmod /modules/$module; done
/bin/busybox ln -s vport0p1 PORT";

/// Programs for emulation, and the plug-in.
#[derive(Debug, Clone)]
pub struct Emulator {
    machine: Machine,
    plugin: PathBuf,
}

/// What is emulated.
#[derive(Debug, Clone)]
enum Machine {
    /// x86-64, with what `scripts/fetch-emulator` left in this folder.
    X86_64(PathBuf),
    /// AArch64.
    NeoverseN1(Place),
}

impl Emulator {
    /// What `scripts/fetch-emulator` left in the cache for a processor, with the plug-in compiled by the system's `cc` where it was not yet.
    ///
    /// # Errors
    /// What is missing here, and the command that adds it.
    pub fn find(cache: &Path, processor: EmulatedProcessor) -> Result<Emulator, String> {
        if let Some(planned) = guest_of(processor) {
            let place = Place::find(cache, &planned)?;
            let plugin = plugin(&place.folder)?;
            return Ok(Emulator { machine: Machine::NeoverseN1(place), plugin });
        }
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
        Ok(Emulator { machine: Machine::X86_64(folder.join("root")), plugin })
    }

    /// The machine, where it is another one than this: it runs neither this program nor this machine's JVMs.
    pub fn place(&self) -> Option<&Place> {
        match &self.machine {
            Machine::X86_64(_) => None,
            Machine::NeoverseN1(place) => Some(place),
        }
    }

    /// A guest's file system with busybox, whose first program runs these words. That of another machine has its libraries and JVMs, too.
    ///
    /// # Errors
    /// When what was fetched cannot be read.
    pub fn image(&self, words: &[&str]) -> std::io::Result<GuestImage> {
        let mut image = GuestImage::new();
        let port = match &self.machine {
            Machine::X86_64(root) => {
                image.add(&root.join("bin/busybox"), Path::new("/bin/busybox"))?;
                SERIAL_PORT
            }
            Machine::NeoverseN1(place) => {
                image.add_runtime(&place.folder.join("root"), Path::new("/"))?;
                image.add(&place.kernel_folder().join("modules"), Path::new("/modules"))?;
                VIRTIO_PORT
            }
        };
        let quoted: Vec<String> =
            words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let init = INIT.replace("MAKE_PORT", port).replace("PORT", REPORT_PORT);
        image.add_bytes("/init", init.replace("COMMAND", &quoted.join(" ")).into_bytes(), true);
        Ok(image)
    }

    /// How a guest is started whose file system is [`IMAGE_FILE`] in the folder in which that is done. It leaves [`COUNTS_FILE`] and
    /// [`REPORT_FILE`] there. One virtual processor executes an instruction in each nanosecond of the guest's clock, and all that is
    /// random in it comes from the seed.
    pub fn command(&self, geometry: &Geometry, memory_mib: u64, seed: u64) -> Command {
        let mut argv = match &self.machine {
            Machine::X86_64(root) => x86_64(&root.to_string_lossy()),
            Machine::NeoverseN1(place) => neoverse_n1(place),
        };
        let plugin = format!("{},out={COUNTS_FILE},{}", self.plugin.to_string_lossy(), geometry.arguments());
        let memory = format!("{memory_mib}M");
        let report = format!("file,id=report,path={REPORT_FILE}");
        // QEMU takes 32 bits.
        let seed = (seed & 0xffff_ffff).to_string();
        let words: [&[&str]; 5] = [
            &["-smp", "1", "-m", &memory, "-accel", "tcg,tb-size=512", "-icount", "shift=0,sleep=off"],
            &["-seed", &seed, "-rtc", "base=2020-01-01,clock=vm"],
            &["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"],
            &["-chardev", &report, "-initrd", IMAGE_FILE],
            &["-plugin", &plugin],
        ];
        argv.extend(words.into_iter().flatten().map(|word| (*word).to_owned()));
        let root = match &self.machine {
            Machine::X86_64(root) => root.clone(),
            Machine::NeoverseN1(place) => place.folder.join("emulator"),
        };
        Command { argv, env: libraries(&root) }
    }
}

/// The machine whose guests have a processor; none for those of this machine's architecture.
pub fn guest_of(processor: EmulatedProcessor) -> Option<PlannedGuest> {
    let is_other = processor == EmulatedProcessor::NeoverseN1;
    is_other.then_some(PlannedGuest {
        machine: GuestMachine::NeoverseN1,
        kernel: None,
        processors: 1,
        nodes: 1,
        memory_mib: 0,
    })
}

/// The words of each machine: program, hardware, kernel, and the port `report`.
fn x86_64(root: &str) -> Vec<String> {
    let at = |path: &str| format!("{root}/{path}");
    let words: [&[&str]; 4] = [
        &[&at("usr/bin/qemu-system-x86_64"), "-M", "microvm", "-cpu", "max,-erms,-fsrm"],
        &["-L", &at("usr/share/qemu"), "-L", &at("usr/share/seabios")],
        &["-kernel", &at("vmlinux"), "-append", &format!("{KERNEL} {KERNEL_X86_64}")],
        &["-device", "isa-serial,iobase=0x2f8,irq=3,chardev=report"],
    ];
    words.into_iter().flatten().map(|word| (*word).to_owned()).collect()
}

fn neoverse_n1(place: &Place) -> Vec<String> {
    let at = |path: &str| place.folder.join("emulator").join(path).to_string_lossy().into_owned();
    let kernel = place.kernel_folder().join("kernel");
    let words: [&[&str]; 4] = [
        &[&at("usr/bin/qemu-system-aarch64"), "-M", "virt", "-cpu", "neoverse-n1"],
        &["-L", &at("usr/share/qemu")],
        &["-kernel", &kernel.to_string_lossy(), "-append", &format!("{KERNEL} {KERNEL_AARCH64}")],
        &["-device", "virtio-serial-pci", "-device", "virtserialport,chardev=report,name=assay.report"],
    ];
    words.into_iter().flatten().map(|word| (*word).to_owned()).collect()
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
    compile.args(["-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", "count.so"]);
    compile.args(SOURCES.iter().map(|(name, _)| *name).filter(|name| name.ends_with(".c")));
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
