//! Settings of the machine and limits of the server as levels name them.
//!
//! A new setting is a field of [`HostTable`] and its lines in `HostTable::wanted` (`plan/changes.rs`).

use crate::file::units::{Size, Swap};
use assay_linux::Processors;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Stands for every processor that is online.
pub(crate) const ALL: &str = "all";
/// Stands for no processor: steering is off.
pub(crate) const NONE: &str = "none";
/// Stands for every network device but loopback.
pub(crate) const EACH: &str = "*";

/// Settings of the machine: made before a trial's server starts, read back, and taken back after it. They need
/// `--allow-host-changes`. All but `cpuset` and `numa` hold for the whole machine, so resident servers cannot differ in them.
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
    /// Those of shared memory, which ZGC uses for its heap: `.../shmem_enabled`, in the kernel's words.
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
    /// Memory nodes whose memory the server may use, as a list: `"0"`, as `numactl --membind` does. A control group of its own, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<String>,
    /// Processors that are online, as a list or `"all"`; the others go offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub online: Option<String>,
    /// Processors that packets are steered to in software, by network device, `"*"` for each but loopback: a list, `"all"` or `"none"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub rps: BTreeMap<String, String>,
    /// Processors that an interrupt may go to, by its number: a list or `"all"`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub irq_affinity: BTreeMap<String, String>,
    /// Hardware threads: `"on"`, `"off"`, or how many a core has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<String>,
    /// Frequency governor of the processors, for example `"performance"`.
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
    pub(crate) fn word(self) -> &'static str {
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
    /// Memory beyond which the kernel reclaims the server's pages and slows it down, and never ends it (`memory.high`, control groups of version 2).
    pub memory_high: Option<Size>,
    /// Swap on top of it: `"off"` or a size, for example `"512m"`.
    pub swap: Option<Swap>,
}

impl HostTable {
    /// Whether anything in it holds for the whole machine.
    pub(crate) fn is_global(&self) -> bool {
        HostTable { cpuset: None, numa: None, ..self.clone() } != HostTable::default()
    }

    /// Mistakes that are the same on every machine, by key.
    pub(crate) fn mistakes(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let list = |text: &str| match Processors::parse(text) {
            Some(list) if !list.is_empty() => None,
            _ => Some(format!("`{text}` is not a list of processors, such as 0-3,8")),
        };
        let lists = self.rps.iter().map(|(name, text)| (format!("rps.{name}"), text));
        let lists =
            lists.chain(self.irq_affinity.iter().map(|(name, text)| (format!("irq_affinity.{name}"), text)));
        for (key, text) in lists.filter(|(_, text)| !matches!(text.as_str(), ALL | NONE)) {
            found.extend(list(text).map(|what| (key, what)));
        }
        found.extend(self.cpuset.as_deref().and_then(list).map(|what| ("cpuset".to_owned(), what)));
        let online = self.online.as_deref().filter(|words| *words != ALL);
        found.extend(online.and_then(list).map(|what| ("online".to_owned(), what)));
        let nodes =
            |text: &str| list(text).map(|_| format!("`{text}` is not a list of memory nodes, such as 0"));
        found.extend(self.numa.as_deref().and_then(nodes).map(|what| ("numa".to_owned(), what)));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> HostTable {
        toml::from_str(text).unwrap()
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
            ("numa = \"x\"", "numa"),
            ("online = \"\"", "online"),
        ] {
            let found = table(text).mistakes();
            assert_eq!(found.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), [key], "{text}");
        }
        assert_eq!(table("swap = \"512m\"\nrps = { eth0 = \"none\" }\ncpuset = \"0-3,8\"").mistakes(), []);
    }
}
