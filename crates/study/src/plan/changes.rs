//! The changes to this machine that a variant's levels ask for; nothing is made here.
//!
//! How a change is made, read back, recorded and taken back is the same for all (`launch::WantedChange`).

use crate::file::host::{ALL, EACH, GroupTable, HostTable, NONE};
use crate::file::units::Swap;
use assay_launch::{Form, GroupLimits, WantedChange};
use assay_linux::Processors;
use std::path::{Path, PathBuf};

/// Files that one setting may name: one for each of 4,096 processors.
const FILES_MAX: usize = 5000;

impl HostTable {
    /// The changes that it asks for on the machine whose root is `root`; nothing is made.
    ///
    /// # Errors
    /// The file or feature that this machine lacks.
    pub(crate) fn wanted(&self, root: &Path) -> Result<Vec<WantedChange>, String> {
        let machine = MachineFiles { root };
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
        if let Some(list) = &self.online {
            wanted.extend(machine.online(list)?);
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
            Swap::Off => WantedChange::NoSwap,
            Swap::Of(size) => WantedChange::Swap(size.bytes),
        }));
        Ok(wanted)
    }
}

/// All that a variant's levels ask for, on the machine whose root is `root`. Where two set the same, the later one counts.
///
/// # Errors
/// The file or feature that this machine lacks.
pub(crate) fn all_wanted(
    tables: &[HostTable],
    limits: &[GroupTable],
    root: &Path,
) -> Result<Vec<WantedChange>, String> {
    let mut wanted: Vec<WantedChange> = Vec::new();
    for change in tables.iter().map(|table| table.wanted(root)).collect::<Result<Vec<_>, _>>()?.concat() {
        let is_same = |other: &WantedChange| other.planned().setting == change.planned().setting;
        match wanted.iter_mut().find(|other| is_same(other)) {
            Some(earlier) => *earlier = change,
            None => wanted.push(change),
        }
    }
    let last = |of: &dyn Fn(&GroupTable) -> Option<u64>| limits.iter().rev().find_map(of);
    let group = GroupLimits {
        cpus: limits.iter().rev().find_map(|l| l.cpus),
        memory_bytes: last(&|l| l.memory.map(|size| size.bytes)),
        memory_high_bytes: last(&|l| l.memory_high.map(|size| size.bytes)),
        swap_bytes: last(&|l| l.swap.map(Swap::bytes)),
        cpuset: tables.iter().rev().find_map(|t| t.cpuset.clone()),
        nodes: tables.iter().rev().find_map(|t| t.numa.clone()),
        is_open: false,
    };
    if !group.is_empty() {
        wanted.push(WantedChange::Group(group));
    }
    wanted.iter().try_for_each(WantedChange::check_here)?;
    Ok(wanted)
}

fn file(path: PathBuf, value: &str, form: Form) -> WantedChange {
    WantedChange::File { path, value: value.to_owned(), form }
}

/// Files of the machine that decide what a change writes.
struct MachineFiles<'a> {
    root: &'a Path,
}

impl MachineFiles<'_> {
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
        let list = Processors::parse(&text).ok_or_else(|| format!("`{text}` is not a list of processors"))?;
        Ok(list.numbers().collect())
    }

    /// Changes by which these processors alone are online. First those that come: one must be there all the time.
    fn online(&self, words: &str) -> Result<Vec<WantedChange>, String> {
        let wanted = match words {
            ALL => self.text("sys/devices/system/cpu/present")?,
            list => list.to_owned(),
        };
        let wanted =
            Processors::parse(&wanted).ok_or_else(|| format!("`{wanted}` is not a list of processors"))?;
        let present = self.text("sys/devices/system/cpu/present")?;
        let present =
            Processors::parse(&present).ok_or_else(|| format!("`{present}` is not a list of processors"))?;
        if let Some(number) = wanted.numbers().find(|number| !present.contains(*number)) {
            return Err(format!("this machine has no processor {number}"));
        }
        let mut changes = Vec::new();
        for is_wanted in [true, false] {
            let of_kind = present.numbers().filter(|number| wanted.contains(*number) == is_wanted);
            for number in of_kind {
                let path = self.root.join(format!("sys/devices/system/cpu/cpu{number}/online"));
                match (path.exists(), is_wanted) {
                    (true, _) => {
                        changes.push(file(path, if is_wanted { "1" } else { "0" }, Form::Text));
                    }
                    // One that cannot be taken away has no such file.
                    (false, true) => {}
                    (false, false) => {
                        return Err(format!(
                            "this machine has no {}: the processor stays online",
                            path.display()
                        ));
                    }
                }
            }
        }
        Ok(changes)
    }

    fn devices(&self, name: &str) -> Result<Vec<String>, String> {
        if name != EACH {
            return Ok(vec![name.to_owned()]);
        }
        let queues = self.files("sys/class/net", "", "queues/rx-0")?;
        let device = |path: &PathBuf| Some(path.parent()?.parent()?.file_name()?.to_str()?.to_owned());
        Ok(queues.iter().filter_map(device).filter(|name| name != "lo").collect())
    }

    /// The file of this name in each folder whose name has this beginning.
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
            ("sys/devices/system/cpu/present", "0-2\n"),
            ("sys/devices/system/cpu/cpu1/online", "1\n"),
            ("sys/devices/system/cpu/cpu2/online", "0\n"),
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
        let shown = |wanted: &WantedChange| {
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
    fn processors_that_come_online_do_so_before_others_leave() {
        let root = machine();
        let of = |list: &str| planned(&[table(&format!("online = \"{list}\""))], root.path());
        let cpu = |number: u32, value: u32| format!("sys/devices/system/cpu/cpu{number}/online={value}");
        assert_eq!(of("0,2").unwrap(), [cpu(2, 1), cpu(1, 0)]);
        assert_eq!(of("all").unwrap(), [cpu(1, 1), cpu(2, 1)]);
        assert!(of("1-2").unwrap_err().contains("cpu0/online"));
        assert!(of("0-7").unwrap_err().contains("no processor 3"));
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
}
