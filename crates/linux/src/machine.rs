//! Facts about the machine: processor, memory, kernel, distribution, settings.

use crate::fields::lines;
use crate::root::{optional, read_text};
use crate::{LinuxError, ParseError, ProcRoot, SysRoot};
use std::path::Path;

/// `/proc/cpuinfo`, as far as it is used. The keys differ by architecture.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuInfo {
    /// `model name` (x86), `cpu` (Power), or on Arm implementer and part as the kernel gives them.
    pub model: Option<String>,
    /// Processors listed.
    pub processors: u32,
    /// Whether the processor says that it runs below a hypervisor (x86 only).
    pub hypervisor_flag: bool,
}

/// Parses `/proc/cpuinfo`. Tolerant, since no two architectures write the same.
pub fn parse_cpuinfo(text: &str) -> CpuInfo {
    let mut info = CpuInfo::default();
    let (mut implementer, mut part) = (None, None);
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key.trim() {
            "processor" => info.processors += 1,
            "model name" | "cpu" if info.model.is_none() && !value.is_empty() => {
                info.model = Some(value.to_owned());
            }
            "flags" => info.hypervisor_flag |= value.split(' ').any(|flag| flag == "hypervisor"),
            "CPU implementer" => implementer = Some(value),
            "CPU part" => part = Some(value),
            _ => {}
        }
    }
    let arm =
        implementer.zip(part).map(|(implementer, part)| format!("Arm implementer {implementer} part {part}"));
    info.model = info.model.or(arm);
    info
}

/// `/proc/meminfo`, as far as it is used. Sizes are bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemInfo {
    /// `MemTotal`.
    pub total_bytes: Option<u64>,
    /// `MemAvailable`: what can be had without swapping; Linux 3.14.
    pub available_bytes: Option<u64>,
    /// `SwapTotal`.
    pub swap_total_bytes: Option<u64>,
}

/// Parses `/proc/meminfo`.
///
/// # Errors
/// When a value is not a number.
pub fn parse_meminfo(path: &Path, text: &str) -> Result<MemInfo, ParseError> {
    let mut info = MemInfo::default();
    for (at, line) in lines(path, text) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let bytes = || at.kib_as_bytes(key, value).map(Some);
        match key {
            "MemTotal" => info.total_bytes = bytes()?,
            "MemAvailable" => info.available_bytes = bytes()?,
            "SwapTotal" => info.swap_total_bytes = bytes()?,
            _ => {}
        }
    }
    Ok(info)
}

/// `/etc/os-release`, as far as it is used; `os-release(5)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OsRelease {
    /// `PRETTY_NAME`: name and version for people.
    pub pretty_name: Option<String>,
    /// `ID`: the distribution, in lower case.
    pub id: Option<String>,
}

/// Parses `/etc/os-release`: lines `KEY=value`, the value perhaps in quotes.
pub fn parse_os_release(text: &str) -> OsRelease {
    let mut release = OsRelease::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|v| !v.is_empty());
        match key {
            "PRETTY_NAME" => release.pretty_name = value,
            "ID" => release.id = value,
            _ => {}
        }
    }
    release
}

impl ProcRoot {
    /// Reads `/proc/cpuinfo`.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_cpuinfo(&self) -> Result<CpuInfo, LinuxError> {
        Ok(parse_cpuinfo(&self.read_text("cpuinfo")?.1))
    }

    /// Reads `/proc/meminfo`.
    ///
    /// # Errors
    /// When it cannot be read or a value is not a number.
    pub fn read_meminfo(&self) -> Result<MemInfo, LinuxError> {
        let (path, text) = self.read_text("meminfo")?;
        Ok(parse_meminfo(&path, &text)?)
    }

    /// The kernel's release, as `uname -r` gives it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_kernel_release(&self) -> Result<String, LinuxError> {
        Ok(self.read_text("sys/kernel/osrelease")?.1.trim().to_owned())
    }

    /// A setting of the kernel, by its name as `sysctl` writes it; `None` where this kernel has none of that name.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read_setting(&self, name: &str) -> Result<Option<String>, LinuxError> {
        let text = optional(self.read_text(&format!("sys/{}", name.replace('.', "/"))))?;
        Ok(text.map(|(_, text)| text.trim().to_owned()))
    }
}

impl OsRelease {
    /// Reads the file of the distribution, `/etc/os-release` or the one that it stands for; `None` without either.
    ///
    /// # Errors
    /// When a file that is there cannot be read.
    pub fn read() -> Result<Option<OsRelease>, LinuxError> {
        for path in ["/etc/os-release", "/usr/lib/os-release"] {
            if let Some(text) = optional(read_text(Path::new(path)))? {
                return Ok(Some(parse_os_release(&text)));
            }
        }
        Ok(None)
    }
}

/// The choice in force stands in brackets: `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<String> {
    Some(text.split_once('[')?.1.split_once(']')?.0.to_owned())
}

impl SysRoot {
    /// Transparent huge pages: `always`, `madvise` or `never`; `None` where the kernel has none.
    ///
    /// # Errors
    /// When the setting is there and cannot be read.
    pub fn read_transparent_huge_pages(&self) -> Result<Option<String>, LinuxError> {
        let text = self.read_optional("kernel/mm/transparent_hugepage/enabled")?;
        Ok(text.as_deref().and_then(chosen))
    }

    /// Frequency governor of the first processor; `None` where the kernel does not set the frequency (most virtual
    /// machines).
    ///
    /// # Errors
    /// When the setting is there and cannot be read.
    pub fn read_cpu_governor(&self) -> Result<Option<String>, LinuxError> {
        let text = self.read_optional("devices/system/cpu/cpu0/cpufreq/scaling_governor")?;
        Ok(text.map(|text| text.trim().to_owned()))
    }

    /// The hypervisor, as Xen's `hypervisor/type` or the firmware's maker and product name identify it; `None` where
    /// neither is there. A real machine's firmware names its maker too: ask [`CpuInfo::hypervisor_flag`] first.
    ///
    /// # Errors
    /// When a file that is there cannot be read.
    pub fn read_hypervisor_name(&self) -> Result<Option<String>, LinuxError> {
        if let Some(kind) = self.read_optional("hypervisor/type")? {
            return Ok(Some(kind.trim().to_owned()));
        }
        let parts = [
            self.read_optional("class/dmi/id/sys_vendor")?,
            self.read_optional("class/dmi/id/product_name")?,
        ];
        let name = parts.iter().flatten().map(|part| part.trim()).collect::<Vec<_>>().join(" ");
        Ok(Some(name).filter(|name| !name.is_empty()))
    }
}
