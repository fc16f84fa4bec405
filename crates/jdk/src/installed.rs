//! The JVMs of this machine, and the choice of one among them.

use crate::modes::bits_of;
use crate::{find_jvms, jvm_at};
use assay_model::{JvmFacts, Problem, RequestedMode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The release of the pair that `workloads/jvm/fetch pair` provides.
const PAIR_FEATURE: u32 = 17;

/// The JVMs of this machine.
#[derive(Debug)]
pub struct InstalledJvms {
    /// `java` of the path first, then the others.
    found: Vec<JvmFacts>,
    pair_32: Option<JvmFacts>,
    pair_64: Option<JvmFacts>,
    /// Where fetched JVMs are, and the reasons why one could not be had.
    cache: PathBuf,
    /// Those that cannot be understood.
    pub problems: Vec<Problem>,
}

/// Which JVM is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct JvmWish<'a> {
    /// A feature release, such as `17`, or a JVM's home; any release where it is absent.
    pub jvm: Option<&'a str>,
    /// The mode that it must be able to take.
    pub mode: Option<RequestedMode>,
    /// Whether it is compared with a 32-bit JVM: a 64-bit one of the same release is then the same build in 64 bits, so
    /// that only the mode differs.
    pub compares_32: bool,
}

impl InstalledJvms {
    /// Looks for them; `cache` is the private folder of the JVMs that were fetched.
    pub fn find(cache: &Path) -> InstalledJvms {
        let home = |name: &str| jvm_at(&cache.join("jvm").join(name).join("home")).ok();
        let (found, problems) = found(cache);
        InstalledJvms {
            found,
            pair_32: home("17-i386").filter(|j| j.bits == 32),
            pair_64: home("17-amd64").filter(|j| j.bits == 64),
            cache: cache.to_owned(),
            problems,
        }
    }

    /// Those at these homes alone, such as an emulated machine's.
    pub fn at(homes: &[PathBuf]) -> InstalledJvms {
        let found = homes.iter().filter_map(|home| jvm_at(home).ok()).collect();
        InstalledJvms { found, pair_32: None, pair_64: None, cache: PathBuf::new(), problems: Vec::new() }
    }

    /// Why a JVM could not be fetched, where that was tried.
    fn why_not_fetched(&self, name: &str) -> Option<String> {
        let reason = std::fs::read_to_string(self.cache.join(format!("jvm/{name}.unavailable"))).ok()?;
        Some(reason.lines().next().unwrap_or_default().to_owned())
    }

    /// The JVM for a wish.
    ///
    /// # Errors
    /// Why there is none, and what would add it.
    pub fn choose(&self, wish: JvmWish<'_>) -> Result<JvmFacts, String> {
        let bits = wish.mode.map_or(64, bits_of);
        let feature = wish.jvm.and_then(|w| w.parse::<u32>().ok());
        if let (Some(home), None) = (wish.jvm, feature) {
            let jvm = jvm_at(Path::new(home)).map_err(|p| format!("no JVM at {home}: {}", p.text))?;
            if wish.mode.is_some() && jvm.bits != bits {
                return Err(format!("the JVM at {home} has {} bits, and the mode needs {bits}", jvm.bits));
            }
            return Ok(jvm);
        }
        let fits_pair = feature.is_none_or(|f| f == PAIR_FEATURE);
        if bits == 32 {
            let any = self.found.iter().find(|j| j.bits == 32 && feature.is_none_or(|f| f == j.feature));
            let pair = self.pair_32.as_ref().filter(|_| fits_pair);
            return pair.or(any).cloned().ok_or_else(|| match feature {
                Some(f) if f != PAIR_FEATURE => format!("there is no 32-bit JDK {f} here"),
                _ => self.why_not_fetched("17-i386").unwrap_or_else(|| {
                    "there is no 32-bit JVM yet: workloads/jvm/fetch pair provides one".to_owned()
                }),
            });
        }
        if let (true, true, Some(_), Some(pair)) = (wish.compares_32, fits_pair, &self.pair_32, &self.pair_64)
        {
            return Ok(pair.clone());
        }
        let fits = |jvm: &&JvmFacts| jvm.bits == 64 && feature.is_none_or(|f| f == jvm.feature);
        self.found.iter().find(fits).cloned().ok_or_else(|| match feature {
            Some(f) => match self.why_not_fetched(&f.to_string()) {
                Some(why) => format!("there is no JDK {f} here, and it could not be fetched: {why}"),
                None => no_jdk(&f.to_string(), f),
            },
            None => {
                "there is no java on the path; sudo apt-get install default-jdk-headless adds one".to_owned()
            }
        })
    }
}

/// The JVMs of this machine, `java` of the path first, and those that cannot be understood.
fn found(cache: &Path) -> (Vec<JvmFacts>, Vec<Problem>) {
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).collect::<Vec<PathBuf>>())
        .find_map(|folder| jvm_at(&folder.join("java")).ok());
    let (others, problems) = find_jvms(cache);
    let mut found: Vec<JvmFacts> = on_path.into_iter().collect();
    for jvm in others {
        if !found.iter().any(|f| f.home == jvm.home) {
            found.push(jvm);
        }
    }
    (found, problems)
}

/// The feature releases that a variant can choose here by number.
pub fn installed_releases(cache: &Path) -> BTreeSet<u32> {
    found(cache).0.into_iter().filter(|jvm| jvm.bits == 64).map(|jvm| jvm.feature).collect()
}

/// That a JDK is missing, and what would add it: this release, or the first of those wanted.
pub fn no_jdk(wanted: &str, release: u32) -> String {
    format!(
        "there is no JDK {wanted} here (looked at PATH, JAVA_HOME, /usr/lib/jvm and .assay/jvm); \
         workloads/jvm/fetch {release} provides it"
    )
}
