//! Swap of the machine: a device of its own in compressed memory, or none at all.
//!
//! Formats: `proc_swaps(5)`, `Documentation/admin-guide/blockdev/zram.rst`.

use crate::programs;
use crate::treatment::Treatment;
use assay_linux::ProcRoot;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CONTROL: &str = "/sys/class/zram-control";
const SWAPS: &str = "/proc/swaps";
/// Numbers of devices that are looked through.
const DEVICES_MAX: u32 = 1000;

/// A device of compressed memory that is swapped to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwapDevice {
    number: u32,
    bytes: u64,
}

impl SwapDevice {
    /// Says why there cannot be one.
    ///
    /// # Errors
    /// What is missing.
    pub fn check_here() -> Result<(), String> {
        if !Path::new(CONTROL).exists() {
            return Err(format!("this kernel has no {CONTROL}: swap in memory needs zram (modprobe zram)"));
        }
        ["mkswap", "swapon", "swapoff"].into_iter().try_for_each(|name| program(name).map(drop))
    }

    /// One of so many bytes, which will get the lowest number that is free.
    ///
    /// # Errors
    /// When all are taken.
    pub fn new(bytes: u64) -> io::Result<SwapDevice> {
        let is_free = |number: &u32| !Path::new(&format!("/sys/block/zram{number}")).exists();
        let number =
            (0..DEVICES_MAX).find(is_free).ok_or_else(|| io::Error::other("no zram device is free"))?;
        Ok(SwapDevice { number, bytes })
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from(format!("/sys/block/zram{}", self.number))
    }

    fn device(&self) -> String {
        format!("/dev/zram{}", self.number)
    }

    /// Whether it was made here: between plan and start another program may have taken the number.
    fn is_ours(&self) -> bool {
        let size = std::fs::read_to_string(self.folder().join("disksize")).unwrap_or_default();
        let bytes: Option<u64> = size.trim().parse().ok();
        bytes.is_some_and(|bytes| bytes == 0 || bytes == self.bytes)
    }
}

impl Treatment for SwapDevice {
    fn apply(&self) -> io::Result<()> {
        let number = fs_err::read_to_string(Path::new(CONTROL).join("hot_add"))?;
        if number.trim() != self.number.to_string() {
            fs_err::write(Path::new(CONTROL).join("hot_remove"), number.trim())?;
            return Err(io::Error::other(format!("{} was taken by another program", self.device())));
        }
        fs_err::write(self.folder().join("disksize"), self.bytes.to_string())?;
        run("mkswap", &[&self.device()])?;
        run("swapon", &[&self.device()])
    }

    fn verify(&self) -> io::Result<()> {
        match swaps()?.iter().any(|swap| swap.device == self.device()) {
            true => Ok(()),
            false => Err(io::Error::other(format!("{} is not in {SWAPS}", self.device()))),
        }
    }

    fn undo(&self) -> io::Result<()> {
        if !self.folder().exists() || !self.is_ours() {
            return Ok(());
        }
        if self.verify().is_ok() {
            run("swapoff", &[&self.device()])?;
        }
        fs_err::write(self.folder().join("reset"), "1")?;
        fs_err::write(Path::new(CONTROL).join("hot_remove"), self.number.to_string())
    }

    fn name(&self) -> String {
        format!("swap of {} MiB on {}", self.bytes >> 20, self.device())
    }
}

/// No swap: all present swap is switched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoSwap {
    swaps: Vec<Swap>,
}

/// A device that was swapped to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Swap {
    device: String,
    priority: i32,
}

impl NoSwap {
    /// Reads what there is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn new() -> io::Result<NoSwap> {
        Ok(NoSwap { swaps: swaps()? })
    }
}

/// Swap devices that are not compressed memory: a process whose pages lie there waits for a disk.
///
/// # Errors
/// When `/proc/swaps` cannot be read.
pub fn swap_on_disk() -> io::Result<Vec<String>> {
    let is_memory = |device: &String| device.starts_with("/dev/zram");
    Ok(swaps()?.into_iter().map(|swap| swap.device).filter(|device| !is_memory(device)).collect())
}

impl Treatment for NoSwap {
    fn apply(&self) -> io::Result<()> {
        self.swaps.iter().try_for_each(|swap| run("swapoff", &[&swap.device]))
    }

    fn verify(&self) -> io::Result<()> {
        match swaps()?.first() {
            None => Ok(()),
            Some(swap) => Err(io::Error::other(format!("{} is still swapped to", swap.device))),
        }
    }

    fn undo(&self) -> io::Result<()> {
        let now = swaps()?;
        let missing = self.swaps.iter().filter(|swap| now.iter().all(|of| of.device != swap.device));
        missing.into_iter().try_for_each(|swap| {
            // The kernel itself gives priorities below zero; they cannot be asked for.
            let priority = swap.priority.to_string();
            let asked: Vec<&str> = if swap.priority < 0 { Vec::new() } else { vec!["-p", &priority] };
            run("swapon", &[asked.as_slice(), &[swap.device.as_str()]].concat())
        })
    }

    fn name(&self) -> String {
        SWAPS.to_owned()
    }
}

/// The machine's swap devices.
fn swaps() -> io::Result<Vec<Swap>> {
    let swaps = ProcRoot::default().read_swaps().map_err(io::Error::other)?;
    Ok(swaps.into_iter().map(|swap| Swap { device: swap.device, priority: swap.priority }).collect())
}

fn program(name: &str) -> Result<PathBuf, String> {
    let sbin = [PathBuf::from("/usr/sbin"), PathBuf::from("/sbin")];
    let found = programs::find(name, &[]).or_else(|| sbin.iter().map(|f| f.join(name)).find(|p| p.is_file()));
    found.ok_or_else(|| format!("there is no program `{name}`: install util-linux"))
}

fn run(name: &str, arguments: &[&str]) -> io::Result<()> {
    let mut command = Command::new(program(name).map_err(io::Error::other)?);
    let output = command.args(arguments).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{name} {}: {}", arguments.join(" "), said.trim())))
}
