//! Which JVM a variant runs on.

use crate::reference_mode::bits_of;
use crate::variant::VariantSpec;
use assay_host::{find_jvms, jvm_at};
use assay_model::{JvmFacts, Problem, ReferenceMode};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The release of the pair that `./assay setup` fetches.
const PAIR_FEATURE: u32 = 17;

/// The JVMs of this machine.
#[derive(Debug)]
pub(crate) struct Jvms {
    /// `java` of the path first, then the others.
    found: Vec<JvmFacts>,
    pair_32: Option<JvmFacts>,
    pair_64: Option<JvmFacts>,
    /// Why there is no 32-bit JVM.
    no_32: String,
    pub problems: Vec<Problem>,
}

impl Jvms {
    /// Looks for them; `cache` is the private folder that holds the pair.
    pub fn find(cache: &Path) -> Jvms {
        let home = |name: &str| jvm_at(&cache.join("jvm").join(name).join("home")).ok();
        let reason = std::fs::read_to_string(cache.join("jvm/17-i386.unavailable")).ok();
        let reason = reason.map(|r| r.lines().next().unwrap_or_default().to_owned());
        let (found, problems) = found();
        Jvms {
            found,
            pair_32: home("17-i386").filter(|j| j.bits == 32),
            pair_64: home("17-amd64").filter(|j| j.bits == 64),
            no_32: reason
                .unwrap_or_else(|| "there is no 32-bit JVM yet: ./assay setup fetches one".to_owned()),
            problems,
        }
    }

    /// The JVM for a variant. `compares_32` says whether the study has a 32-bit variant: then the 64-bit variants of the
    /// same release run on the same build in 64 bits, so that only the mode differs.
    ///
    /// # Errors
    /// Why there is none, and what would add it.
    pub fn choose(&self, variant: &VariantSpec, compares_32: bool) -> Result<JvmFacts, String> {
        let bits = variant.reference_mode.map_or(64, bits_of);
        let wish = variant.jvm.as_deref();
        let feature = wish.and_then(|w| w.parse::<u32>().ok());
        if let (Some(home), None) = (wish, feature) {
            let jvm = jvm_at(Path::new(home)).map_err(|p| format!("no JVM at {home}: {}", p.text))?;
            if variant.reference_mode.is_some() && jvm.bits != bits {
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
                _ => self.no_32.clone(),
            });
        }
        if let (true, true, Some(_), Some(pair)) = (compares_32, fits_pair, &self.pair_32, &self.pair_64) {
            return Ok(pair.clone());
        }
        let fits = |jvm: &&JvmFacts| jvm.bits == 64 && feature.is_none_or(|f| f == jvm.feature);
        self.found.iter().find(fits).cloned().ok_or_else(|| match feature {
            Some(f) => no_jdk(&f.to_string(), f),
            None => {
                "there is no java on the path; sudo apt-get install default-jdk-headless adds one".to_owned()
            }
        })
    }
}

/// The JVMs of this machine, `java` of the path first, and those that cannot be understood.
fn found() -> (Vec<JvmFacts>, Vec<Problem>) {
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).collect::<Vec<PathBuf>>())
        .find_map(|folder| jvm_at(&folder.join("java")).ok());
    let (others, problems) = find_jvms(&[]);
    let mut found: Vec<JvmFacts> = on_path.into_iter().collect();
    for jvm in others {
        if !found.iter().any(|f| f.home == jvm.home) {
            found.push(jvm);
        }
    }
    (found, problems)
}

/// The feature releases that a variant can choose here by number.
pub(crate) fn releases() -> BTreeSet<u32> {
    found().0.into_iter().filter(|jvm| jvm.bits == 64).map(|jvm| jvm.feature).collect()
}

/// That a JDK is missing, and what would add it: this release, or the first of those wanted.
pub(crate) fn no_jdk(wanted: &str, release: u32) -> String {
    format!(
        "there is no JDK {wanted} here (looked at PATH, JAVA_HOME and /usr/lib/jvm); \
         sudo apt-get install openjdk-{release}-jdk-headless adds it where the distribution has it"
    )
}

/// Whether any variant asks for the 32-bit mode.
pub(crate) fn compares_32(variants: &[VariantSpec]) -> bool {
    variants.iter().any(|v| v.reference_mode == Some(ReferenceMode::Bits32))
}
