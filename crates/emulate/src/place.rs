//! A guest as a place for studies: a whole emulated machine in which this program runs a study's block, as it would here.
//!
//! `scripts/fetch-emulator ARCHITECTURE` unpacks QEMU, kernels and what a guest runs on; the program for another architecture is built by
//! `scripts/guest-program`. The guest's first program runs one command and sends the folder [`RESULTS`] to the outside through a port
//! of its own (virtio), as an archive: [`RESULTS_FILE`].

use crate::image::GuestImage;
use crate::start::{Command, IMAGE_FILE, libraries};
use assay_model::{GuestMachine, PlannedGuest};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};

/// The guest's results, in the folder in which the emulator was started.
pub const RESULTS_FILE: &str = "guest-results.tar";
/// The folder of the guest that is handed out.
pub const RESULTS: &str = "/out";
/// What the guest's console shows when its kernel has started its first program.
pub const UP: &str = "ASSAY-GUEST-UP";
/// Name of the port, and of the file in the results that says how the command ended.
const PORT: &str = "assay.results";
const STATUS: &str = "status.json";
/// Marks the inside of a guest.
const INSIDE: &str = "/.assay-guest";
/// This program in the guest.
pub const PLACE_PROGRAM: &str = "/usr/bin/assay";
/// Where the guest has its JVMs.
const JVMS: &str = "/usr/lib/jvm";
/// Bytes of a unit in which a POWER machine has its memory.
const MEMORY_STEP_MIB: u64 = 256;

/// The first program. The console is slow, so only what is said on standard error goes there.
const INIT: &str = "#!/bin/busybox sh
export PATH=/usr/bin:/bin:/sbin:/usr/sbin
/bin/busybox mkdir -p /bin /sbin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t cgroup2 groups /sys/fs/cgroup
echo UP_WORD >/dev/console
for module in $(cat /modules/order); do insmod /modules/$module; done
ifconfig lo 127.0.0.1 up
ulimit -n 65536
mkdir -p RESULTS /run
mount -t tmpfs -o size=100% results RESULTS
# Through a pipe, so that progress comes in plain lines.
{ COMMAND; echo $? >/tmp/code; } 2>&1 >/dev/null | cat
code=$(cat /tmp/code)
kills=$(sed -n 's/^oom_kill //p' /proc/vmstat)
echo \"{\\\"code\\\":$code,\\\"oom_kills\\\":${kills:-0}}\" >RESULTS/STATUS
for port in /sys/class/virtio-ports/*; do
    if [ \"$(cat $port/name)\" = PORT ]; then tar -cf /dev/${port##*/} -C RESULTS .; fi
done
poweroff -f
";

/// How the guest's command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct GuestStatus {
    /// Its exit code.
    pub code: i32,
    /// Processes that the guest's kernel killed because memory ran out.
    pub oom_kills: u64,
}

impl GuestStatus {
    /// Reads it from the unpacked results.
    ///
    /// # Errors
    /// The guest left none: it ended before its command did.
    pub fn read(results: &Path) -> Result<GuestStatus, String> {
        let text = fs_err::read_to_string(results.join(STATUS))
            .map_err(|_| "the guest ended before it handed its results out".to_owned())?;
        serde_json::from_slice(text.as_bytes()).map_err(|e| format!("{STATUS} of the guest: {e}"))
    }
}

/// Whether this program runs in a guest that was made here.
pub fn is_inside() -> bool {
    Path::new(INSIDE).exists()
}

/// What guests of one machine are made with.
#[derive(Debug, Clone)]
pub struct Place {
    pub(crate) folder: PathBuf,
    machine: GuestMachine,
    /// Version of the chosen kernel.
    pub kernel: String,
}

/// The name of a machine's architecture in folders and for `scripts/fetch-emulator`.
fn architecture(machine: GuestMachine) -> &'static str {
    match machine {
        GuestMachine::Power9 => "powerpc64le",
        GuestMachine::NeoverseN1 => "aarch64",
        GuestMachine::X86_64 => "x86-64",
    }
}

impl Place {
    /// What `scripts/fetch-emulator` left in the cache for a machine.
    ///
    /// # Errors
    /// What is missing here, and the command that adds it.
    pub fn find(cache: &Path, planned: &PlannedGuest) -> Result<Place, String> {
        let architecture = architecture(planned.machine);
        let folder = cache.join(format!("guest-{architecture}"));
        if !cfg!(target_arch = "x86_64") {
            return Err("guests are emulated on x86-64 only".to_owned());
        }
        if !folder.join("complete").is_file() {
            return Err(match fs_err::read_to_string(folder.join("unavailable")) {
                Ok(why) => format!("no emulated {}: {}", planned.machine.name(), why.trim()),
                Err(_) => format!(
                    "no emulated {}: scripts/fetch-emulator {architecture} fetches it",
                    planned.machine.name()
                ),
            });
        }
        if folder.to_string_lossy().contains(',') {
            return Err(format!(
                "no emulator: QEMU takes no path with a comma, such as {}",
                folder.display()
            ));
        }
        let order = fs_err::read_to_string(folder.join("kernels/order")).map_err(|e| e.to_string())?;
        let wanted = planned.kernel.as_deref().unwrap_or_default();
        let kernel = order.lines().find(|version| is_version(version, wanted)).map(str::to_owned);
        let kernel = kernel.ok_or_else(|| {
            let all = order.lines().collect::<Vec<_>>().join(", ");
            format!("there is no kernel {wanted} for {}: there are {all}", planned.machine.name())
        })?;
        Ok(Place { folder, machine: planned.machine, kernel })
    }

    /// Its name, for messages.
    pub fn title(&self) -> &'static str {
        self.machine.title()
    }

    /// Assay itself for this machine: this program, or the one that `scripts/guest-program` built.
    ///
    /// # Errors
    /// It is not there, with the command that makes it.
    pub fn program(&self) -> Result<PathBuf, String> {
        if self.runs_own_programs() {
            return std::env::current_exe().map_err(|e| e.to_string());
        }
        let program = self.folder.join("assay");
        let architecture = architecture(self.machine);
        let missing = || {
            format!("Assay has not been built for {architecture} yet: scripts/guest-program {architecture}")
        };
        program.is_file().then_some(program).ok_or_else(missing)
    }

    /// Whether programs and JVMs of this machine run in it.
    pub fn runs_own_programs(&self) -> bool {
        self.machine == GuestMachine::X86_64
    }

    /// Homes of the JVMs that were fetched for it, newest first, as paths of this machine.
    pub fn fetched_jvm_homes(&self) -> Vec<PathBuf> {
        let root = self.folder.join("root");
        self.jvm_homes().iter().map(|home| root.join(home.strip_prefix("/").unwrap_or(home))).collect()
    }

    /// The path in the guest of one of them.
    pub fn jvm_home_in_guest(&self, fetched: &Path) -> PathBuf {
        Path::new(JVMS).join(fetched.file_name().unwrap_or_default())
    }

    /// Homes of the JVMs that were fetched for it, newest first, as paths in the guest.
    pub fn jvm_homes(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.join("root/usr/lib/jvm")).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = entries
            .filter(|entry| entry.path().join("bin/java").is_file())
            .map(|entry| Path::new(JVMS).join(entry.file_name()))
            .collect();
        names.sort();
        names.reverse();
        names
    }

    /// A guest's file system, whose first program runs these words in `cwd` and hands [`RESULTS`] out.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn image(&self, words: &[String], cwd: &Path) -> io::Result<GuestImage> {
        let mut image = GuestImage::new();
        if self.runs_own_programs() {
            image.add(&self.folder.join("root/bin/busybox"), Path::new("/bin/busybox"))?;
        } else {
            image.add_runtime(&self.folder.join("root"), Path::new("/"))?;
        }
        image.add(&self.kernel_folder().join("modules"), Path::new("/modules"))?;
        image.add_bytes(INSIDE, Vec::new(), false);
        image.add_bytes("/init", init(words, cwd).into_bytes(), true);
        image.add_folder(cwd);
        Ok(image)
    }

    /// How a guest is started whose file system is [`IMAGE_FILE`], of so many bytes, in the folder in which that is done. It leaves
    /// [`RESULTS_FILE`] there. What is random in its hardware comes from the seed.
    pub fn command(&self, planned: &PlannedGuest, image_bytes: u64, seed: u64) -> Command {
        let emulator = self.folder.join("emulator");
        let at = |path: &str| emulator.join(path).to_string_lossy().into_owned();
        let nodes = planned.nodes.max(1);
        let step = MEMORY_STEP_MIB * u64::from(nodes);
        // The files lie in memory twice until they are unpacked.
        let memory_mib = (planned.memory_mib + ((2 * image_bytes) >> 20)).next_multiple_of(step);
        let (program, machine, processor, console) = match self.machine {
            GuestMachine::Power9 => ("qemu-system-ppc64", "pseries,cap-htm=off", "POWER9", "hvc0"),
            GuestMachine::NeoverseN1 => ("qemu-system-aarch64", "virt", "neoverse-n1", "ttyAMA0"),
            GuestMachine::X86_64 => ("qemu-system-x86_64", "q35", "max", "ttyS0"),
        };
        let mut words = vec![at(&format!("usr/bin/{program}"))];
        let mut take = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
        take(&["-M", machine, "-cpu", processor, "-accel", "tcg,tb-size=512"]);
        take(&["-smp", &planned.processors.to_string(), "-m", &format!("{memory_mib}M")]);
        if 1 < nodes {
            take_nodes(planned.processors, nodes, memory_mib / u64::from(nodes), &mut take);
        }
        // QEMU takes 32 bits.
        take(&["-seed", &(seed & 0xffff_ffff).to_string()]);
        take(&["-nodefaults", "-no-user-config", "-display", "none", "-vga", "none"]);
        take(&["-no-reboot", "-serial", "stdio"]);
        take(&["-L", &at("usr/share/qemu"), "-L", &at("usr/share/seabios")]);
        let kernel = self.kernel_folder().join("kernel");
        take(&["-kernel", &kernel.to_string_lossy(), "-initrd", IMAGE_FILE]);
        // Words of the kernel on the console show that it is alive. A timer is late where other processes take this machine's processors.
        take(&[
            "-append",
            &format!("console={console} loglevel=6 panic=-1 rdinit=/init mitigations=off no_timer_check"),
        ]);
        take(&["-device", "virtio-serial-pci", "-chardev", &format!("file,id=results,path={RESULTS_FILE}")]);
        take(&["-device", &format!("virtserialport,chardev=results,name={PORT}")]);
        Command { argv: words, env: libraries(&emulator) }
    }

    /// The chosen kernel and its modules.
    pub(crate) fn kernel_folder(&self) -> PathBuf {
        self.folder.join("kernels").join(&self.kernel)
    }
}

/// Memory of its own and an equal share of the processors for each node.
fn take_nodes(processors: u32, nodes: u32, mib: u64, take: &mut dyn FnMut(&[&str])) {
    for node in 0..nodes {
        let (first, end) = (processors * node / nodes, processors * (node + 1) / nodes);
        take(&["-object", &format!("memory-backend-ram,id=m{node},size={mib}M")]);
        take(&["-numa", &format!("node,nodeid={node},cpus={first}-{},memdev=m{node}", end - 1)]);
    }
}

/// Whether a version begins with these numbers: 6.1.0-50 with 6.1, not with 6.10.
fn is_version(version: &str, wanted: &str) -> bool {
    let rest = version.strip_prefix(wanted);
    rest.is_some_and(|rest| wanted.is_empty() || !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn init(words: &[String], cwd: &Path) -> String {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let command = format!("cd {} && {}", quoted(&cwd.to_string_lossy()), words.join(" "));
    let names = [("UP_WORD", UP), ("RESULTS", RESULTS), ("STATUS", STATUS), ("PORT", PORT)];
    // The command last: its words are not ours.
    let filled = names.iter().fold(INIT.to_owned(), |text, (name, value)| text.replace(name, value));
    filled.replace("COMMAND", &command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(machine: GuestMachine) -> Place {
        Place { folder: PathBuf::from("/x"), machine, kernel: "6.1.0".to_owned() }
    }

    fn planned(machine: GuestMachine, processors: u32, nodes: u32) -> PlannedGuest {
        PlannedGuest { machine, kernel: None, processors, nodes, memory_mib: 1000 }
    }

    #[test]
    fn memory_is_a_multiple_of_what_each_node_takes() {
        let command = place(GuestMachine::Power9).command(&planned(GuestMachine::Power9, 4, 2), 300 << 20, 1);
        let words = command.argv.join(" ");
        assert!(words.contains("-m 2048M"), "{words}");
        assert!(words.contains("memory-backend-ram,id=m1,size=1024M"), "{words}");
        assert!(words.contains("node,nodeid=1,cpus=2-3,memdev=m1"), "{words}");
    }

    #[test]
    fn a_kernel_is_named_by_the_beginning_of_its_version() {
        assert!(is_version("6.1.0-50-amd64", "6.1") && is_version("6.1.0", "") && is_version("7.2", "7"));
        assert!(!is_version("6.10.1", "6.1") && !is_version("6.1.0", "7"));
    }

    #[test]
    fn words_of_a_command_reach_the_guest_as_they_are() {
        let text = init(&["a b".to_owned(), "it's".to_owned(), "PORT".to_owned()], Path::new("/w"));
        assert!(text.contains("{ cd '/w' && 'a b' 'it'\\''s' 'PORT'; echo"), "{text}");
        assert!(text.contains("= assay.results ]"), "{text}");
    }

    #[test]
    fn a_machine_that_was_not_fetched_is_named_with_the_command_that_fetches_it() {
        let cache = tempfile::tempdir().unwrap();
        let found = Place::find(cache.path(), &planned(GuestMachine::NeoverseN1, 1, 1)).unwrap_err();
        assert!(found.contains("scripts/fetch-emulator aarch64"), "{found}");
        let folder = cache.path().join("guest-aarch64");
        fs_err::create_dir_all(folder.join("kernels")).unwrap();
        fs_err::write(folder.join("complete"), "").unwrap();
        fs_err::write(folder.join("kernels/order"), "6.1.0-50-arm64\n").unwrap();
        let of = |kernel: &str| PlannedGuest {
            kernel: Some(kernel.to_owned()),
            ..planned(GuestMachine::NeoverseN1, 1, 1)
        };
        let found = Place::find(cache.path(), &of("7")).unwrap_err();
        assert!(found.contains("there is no kernel 7") && found.contains("6.1.0-50-arm64"), "{found}");
        let place = Place::find(cache.path(), &of("6.1")).unwrap();
        assert!(place.program().unwrap_err().contains("scripts/guest-program aarch64"));
    }
}
