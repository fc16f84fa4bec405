//! Settings of the machine as levels name them, and the changes that they ask for.
//!
//! A new setting is a field of [`HostTable`] and its lines in [`HostTable::wanted`]. How it is made, read back, recorded and taken back
//! is the same for all (`launch::Wanted`).

use crate::file::units::{Size, Swap};
use assay_launch::{Form, GroupLimits, Wanted, processors};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Stands for every processor that is online.
const ALL: &str = "all";
/// Stands for no processor: steering is off.
const NONE: &str = "none";
/// Stands for every network device but loopback.
const EACH: &str = "*";
/// Files that one setting may name: one for each of 4,096 processors.
const FILES_MAX: usize = 5000;

/// Settings of the machine: made before a trial's server starts, read back, and taken back after it. They need
/// `--allow-host-changes`. All but `cpuset` hold for the whole machine, so resident servers cannot differ in them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(default)]
pub struct HostTable {
    /// Transparent huge pages: `/sys/kernel/mm/transparent_hugepage/enabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages: Option<PagesFor>,
    /// When a page fault waits for a huge page: `.../defrag`, in the kernel's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages_defrag: Option<String>,
    /// Those of shared memory, in which ZGC's heap lies: `.../shmem_enabled`, in the kernel's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_huge_pages_shared: Option<String>,
    /// Memory reserved for explicit huge pages of the usual size: `vm.nr_hugepages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<Size>,
    /// Kernel parameters by name, for example `"vm.swappiness" = "10"`; `/` stands for a dot within a name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctl: BTreeMap<String, String>,
    /// Processors that the server may use, as a list: `"0-3,8"`. A control group of its own; it changes nothing for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpuset: Option<String>,
    /// Processors that packets are steered to in software, by network device, `"*"` for each but loopback: a list, `"all"` or `"none"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rps: BTreeMap<String, String>,
    /// Processors that an interrupt may go to, by its number: a list or `"all"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub irq_affinity: BTreeMap<String, String>,
    /// Hardware threads: `"on"`, `"off"`, or how many a core has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<String>,
    /// What decides the processors' frequency, for example `"performance"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Whether the hardware prefetcher works, on POWER (DSCR).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetcher: Option<bool>,
    /// `"off"`, or so much swap more, for example `"512m"`, in compressed memory (zram).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap: Option<Swap>,
}

/// For whom the kernel makes transparent huge pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PagesFor {
    /// For all memory.
    Always,
    /// For memory for which a program asks.
    Madvise,
    /// For none.
    Never,
}

impl PagesFor {
    fn word(self) -> &'static str {
        match self {
            PagesFor::Always => "always",
            PagesFor::Madvise => "madvise",
            PagesFor::Never => "never",
        }
    }
}

/// Limits of the server alone, by a control group of its own. They need `--allow-host-changes`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct GroupTable {
    /// CPU time per time, in processors, for example `1.5`.
    #[schemars(range(min = 0.01, max = 10_000))]
    pub cpus: Option<f64>,
    /// Memory. The server's whole, not its heap alone.
    pub memory: Option<Size>,
    /// Swap beside it: `"off"`, or so much, for example `"512m"`.
    pub swap: Option<Swap>,
}

impl HostTable {
    /// Whether anything in it holds for the whole machine.
    pub(crate) fn is_global(&self) -> bool {
        HostTable { cpuset: None, ..self.clone() } != HostTable::default()
    }

    /// Mistakes that are the same on every machine, by key.
    pub(crate) fn mistakes(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let list = |text: &str| match processors(text) {
            Some(of) if !of.is_empty() => None,
            _ => Some(format!("`{text}` is not a list of processors, such as 0-3,8")),
        };
        let lists = self.rps.iter().map(|(name, text)| (format!("rps.{name}"), text));
        let lists =
            lists.chain(self.irq_affinity.iter().map(|(name, text)| (format!("irq_affinity.{name}"), text)));
        for (key, text) in lists.filter(|(_, text)| !matches!(text.as_str(), ALL | NONE)) {
            found.extend(list(text).map(|what| (key, what)));
        }
        found.extend(self.cpuset.as_deref().and_then(list).map(|what| ("cpuset".to_owned(), what)));
        let names = self.sysctl.keys().map(|name| ("sysctl", name));
        let names = names.chain(self.rps.keys().map(|name| ("rps", name)));
        for (key, name) in names.chain(self.irq_affinity.keys().map(|name| ("irq_affinity", name))) {
            // The name becomes part of a path.
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
            if key == "rps" && name == EACH {
                continue;
            }
            let leads_up = name.split(['/', '.']).any(str::is_empty);
            if !name.chars().all(is_plain) || leads_up || (key != "sysctl" && name.contains('/')) {
                found.push((format!("{key}.{name}"), format!("`{name}` is not a name that it can have")));
            }
        }
        found
    }

    /// The changes that it asks for on the machine whose root is `root`; nothing is made.
    ///
    /// # Errors
    /// What this machine lacks.
    pub(crate) fn wanted(&self, root: &Path) -> Result<Vec<Wanted>, String> {
        let machine = Machine { root };
        let mut wanted = Vec::new();
        let thp = |name: &str| root.join("sys/kernel/mm/transparent_hugepage").join(name);
        if let Some(pages) = self.transparent_huge_pages {
            wanted.push(file(thp("enabled"), pages.word(), Form::Choice));
        }
        for (name, word) in [
            ("defrag", &self.transparent_huge_pages_defrag),
            ("shmem_enabled", &self.transparent_huge_pages_shared),
        ] {
            wanted.extend(word.as_ref().map(|word| file(thp(name), word, Form::Choice)));
        }
        if let Some(size) = self.huge_pages {
            let pages = size.bytes.div_ceil(machine.huge_page_bytes()?);
            wanted.push(file(root.join("proc/sys/vm/nr_hugepages"), &pages.to_string(), Form::Text));
        }
        for (name, value) in &self.sysctl {
            let path = if name.contains('/') { name.clone() } else { name.replace('.', "/") };
            wanted.push(file(root.join("proc/sys").join(path), value, Form::Text));
        }
        for (device, list) in &self.rps {
            let mask = mask(&machine.list(list)?);
            for device in machine.devices(device)? {
                let queues = machine.files(&format!("sys/class/net/{device}/queues"), "rx-", "rps_cpus")?;
                wanted.extend(queues.into_iter().map(|path| file(path, &mask, Form::Mask)));
            }
        }
        for (number, list) in &self.irq_affinity {
            let list = machine.list(list)?;
            wanted.push(file(
                root.join("proc/irq").join(number).join("smp_affinity"),
                &mask(&list),
                Form::Mask,
            ));
        }
        if let Some(threads) = &self.smt {
            wanted.push(file(root.join("sys/devices/system/cpu/smt/control"), threads, Form::Text));
        }
        if let Some(governor) = &self.governor {
            let files = machine.files("sys/devices/system/cpu", "cpu", "cpufreq/scaling_governor")?;
            wanted.extend(files.into_iter().map(|path| file(path, governor, Form::Text)));
        }
        if let Some(works) = self.prefetcher {
            // Power ISA, DSCR: 1 in the field for the default depth means none.
            let value = if works { "0" } else { "1" };
            wanted.push(file(root.join("sys/devices/system/cpu/dscr_default"), value, Form::Text));
        }
        wanted.extend(self.swap.map(|swap| match swap {
            Swap::Off => Wanted::NoSwap,
            Swap::Of(size) => Wanted::Swap(size.bytes),
        }));
        Ok(wanted)
    }
}

/// All that a variant's levels ask for, on the machine whose root is `root`. Of two that set the same, the later counts.
///
/// # Errors
/// What this machine lacks.
pub(crate) fn all_wanted(
    tables: &[HostTable],
    limits: &[GroupTable],
    root: &Path,
) -> Result<Vec<Wanted>, String> {
    let mut wanted: Vec<Wanted> = Vec::new();
    for change in tables.iter().map(|table| table.wanted(root)).collect::<Result<Vec<_>, _>>()?.concat() {
        let is_same = |other: &Wanted| other.planned().setting == change.planned().setting;
        match wanted.iter_mut().find(|other| is_same(other)) {
            Some(earlier) => *earlier = change,
            None => wanted.push(change),
        }
    }
    let last = |of: &dyn Fn(&GroupTable) -> Option<u64>| limits.iter().rev().find_map(of);
    let group = GroupLimits {
        cpus: limits.iter().rev().find_map(|l| l.cpus),
        memory_bytes: last(&|l| l.memory.map(|size| size.bytes)),
        swap_bytes: last(&|l| l.swap.map(Swap::bytes)),
        cpuset: tables.iter().rev().find_map(|t| t.cpuset.clone()),
        is_open: false,
    };
    if !group.is_empty() {
        wanted.push(Wanted::Group(group));
    }
    wanted.iter().try_for_each(Wanted::check_here)?;
    Ok(wanted)
}

fn file(path: PathBuf, value: &str, form: Form) -> Wanted {
    Wanted::File { path, value: value.to_owned(), form }
}

/// What must be read before a change can be said.
struct Machine<'a> {
    root: &'a Path,
}

impl Machine<'_> {
    fn text(&self, path: &str) -> Result<String, String> {
        let path = self.root.join(path);
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn huge_page_bytes(&self) -> Result<u64, String> {
        let text = self.text("proc/meminfo")?;
        let line = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"));
        let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        kib.filter(|kib| *kib != 0)
            .map(|kib| kib << 10)
            .ok_or_else(|| "this kernel has no huge pages".to_owned())
    }

    /// Numbers of processors.
    fn list(&self, words: &str) -> Result<Vec<u32>, String> {
        let text = match words {
            NONE => return Ok(Vec::new()),
            ALL => self.text("sys/devices/system/cpu/online")?,
            list => list.to_owned(),
        };
        let numbers = processors(&text).ok_or_else(|| format!("`{text}` is not a list of processors"))?;
        Ok(numbers.into_iter().collect())
    }

    fn devices(&self, name: &str) -> Result<Vec<String>, String> {
        if name != EACH {
            return Ok(vec![name.to_owned()]);
        }
        let queues = self.files("sys/class/net", "", "queues/rx-0")?;
        let device = |path: &PathBuf| Some(path.parent()?.parent()?.file_name()?.to_str()?.to_owned());
        Ok(queues.iter().filter_map(device).filter(|name| name != "lo").collect())
    }

    /// A file in each of the folders whose name begins like this.
    fn files(&self, folder: &str, beginning: &str, name: &str) -> Result<Vec<PathBuf>, String> {
        let folder = self.root.join(folder);
        let missing = || format!("this machine has no {}/{beginning}*/{name}", folder.display());
        let entries = std::fs::read_dir(&folder).map_err(|_| missing())?.flatten().take(FILES_MAX);
        let begins = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(beginning);
        let files = entries.filter(begins).map(|entry| entry.path().join(name));
        let mut files: Vec<PathBuf> = files.filter(|path| path.exists()).collect();
        files.sort();
        if files.is_empty() { Err(missing()) } else { Ok(files) }
    }
}

/// A mask as the kernel writes it: hexadecimal, in groups of 32 bits.
fn mask(numbers: &[u32]) -> String {
    let groups = numbers.iter().max().map_or(1, |last| last / 32 + 1);
    let of = |group: u32| {
        let bits = numbers.iter().filter(|n| **n / 32 == group).fold(0_u32, |bits, n| bits | 1 << (n % 32));
        format!("{bits:08x}")
    };
    (0..groups).rev().map(of).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("proc/meminfo", "MemTotal: 1 kB\nHugepagesize:       2048 kB\n"),
            ("proc/sys/vm/nr_hugepages", "0\n"),
            ("proc/sys/net/ipv4/conf/eth0.1/rp_filter", "0\n"),
            ("proc/irq/24/smp_affinity", "3\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("sys/devices/system/cpu/online", "0-35\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpufreq/x", ""),
            ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
            ("sys/class/net/eth0/queues/rx-1/rps_cpus", "0\n"),
            ("sys/class/net/eth0/queues/tx-0/xps_cpus", "0\n"),
        ] {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        root
    }

    fn table(text: &str) -> HostTable {
        toml::from_str(text).unwrap()
    }

    /// `path=value`, without the root.
    fn planned(tables: &[HostTable], root: &Path) -> Result<Vec<String>, String> {
        let shown = |wanted: &Wanted| {
            let planned = wanted.planned();
            let root = format!("{}/", root.display());
            format!("{}={}", planned.setting.trim_start_matches(&root), planned.value)
        };
        all_wanted(tables, &[], root).map(|all| all.iter().map(shown).collect())
    }

    #[test]
    fn each_setting_names_its_files_and_what_is_written() {
        let root = machine();
        let table = table(
            r#"
            transparent_huge_pages = "never"
            huge_pages = "3m"
            sysctl = { "net/ipv4/conf/eth0.1/rp_filter" = "1" }
            rps = { eth0 = "all" }
            irq_affinity = { 24 = "0,33" }
            governor = "performance"
            "#,
        );
        let want = [
            "sys/kernel/mm/transparent_hugepage/enabled=never",
            "proc/sys/vm/nr_hugepages=2",
            "proc/sys/net/ipv4/conf/eth0.1/rp_filter=1",
            "sys/class/net/eth0/queues/rx-0/rps_cpus=0000000f,ffffffff",
            "sys/class/net/eth0/queues/rx-1/rps_cpus=0000000f,ffffffff",
            "proc/irq/24/smp_affinity=00000002,00000001",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor=performance",
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor=performance",
        ];
        assert_eq!(planned(&[table], root.path()).unwrap(), want);
    }

    #[test]
    fn of_two_levels_that_set_the_same_the_later_counts() {
        let root = machine();
        let tables = [
            table("transparent_huge_pages = \"never\"\nhuge_pages = \"2m\""),
            table("transparent_huge_pages = \"always\""),
        ];
        let want = ["sys/kernel/mm/transparent_hugepage/enabled=always", "proc/sys/vm/nr_hugepages=1"];
        assert_eq!(planned(&tables, root.path()).unwrap(), want);
    }

    #[test]
    fn what_a_machine_lacks_is_named() {
        let root = machine();
        for (text, lack) in [
            ("smt = \"off\"", "smt/control"),
            ("prefetcher = false", "dscr_default"),
            ("rps = { eth1 = \"none\" }", "net/eth1/queues/rx-*/rps_cpus"),
            ("irq_affinity = { 99 = \"all\" }", "irq/99/smp_affinity"),
            ("sysctl = { \"vm.none\" = \"1\" }", "proc/sys/vm/none"),
        ] {
            let why = planned(&[table(text)], root.path()).unwrap_err();
            assert!(why.starts_with("this machine has no ") && why.contains(lack), "{why}");
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_and_a_value_that_means_nothing_are_mistakes() {
        for (text, key) in [
            ("sysctl = { \"../../etc/passwd\" = \"x\" }", "sysctl.../../etc/passwd"),
            ("sysctl = { \"vm..x\" = \"1\" }", "sysctl.vm..x"),
            ("rps = { \"../x\" = \"0\" }", "rps.../x"),
            ("irq_affinity = { \"1/2\" = \"0\" }", "irq_affinity.1/2"),
            ("rps = { eth0 = \"x\" }", "rps.eth0"),
            ("cpuset = \"3-1\"", "cpuset"),
            ("cpuset = \"\"", "cpuset"),
        ] {
            let found = table(text).mistakes();
            assert_eq!(found.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), [key], "{text}");
        }
        assert_eq!(table("swap = \"512m\"\nrps = { eth0 = \"none\" }\ncpuset = \"0-3,8\"").mistakes(), []);
    }
}
