//! Which JVM it is.

use crate::{Structs, Symbols};
use assay_linux::MemorySource;

/// A version's text.
const TEXT_BYTES_MAX: usize = 256;

/// A JVM's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JvmVersion {
    /// As the JVM spells it, for example `17.0.15+6-Debian-1deb12u1`; that of JDK 8 has a number of its own, `25.504-b01`.
    pub text: String,
    /// Feature release, for example 17.
    pub feature: u32,
}

impl JvmVersion {
    /// From `Abstract_VM_Version`.
    pub(crate) fn read(
        source: &dyn MemorySource,
        symbols: &Symbols,
        structs: &Structs,
    ) -> Option<JvmVersion> {
        let place = structs.static_address("Abstract_VM_Version", "_s_vm_release")?;
        let text = symbols.c_string(source, symbols.word(source, place)?, TEXT_BYTES_MAX)?;
        let feature = feature_of(&text)?;
        Some(JvmVersion { text, feature })
    }

    /// The release without its build: `17.0.15` of `17.0.15+6-Debian-1deb12u1`, `8u504` of `25.504-b01`.
    pub fn release(&self) -> String {
        let number = self.text.split(['+', '-']).next().unwrap_or(&self.text);
        match number.split_once('.').filter(|_| self.is_of_old_form()) {
            Some((_, update)) => format!("{}u{update}", self.feature),
            None => number.to_owned(),
        }
    }

    /// As people call it: `17.0.15+6-Debian-1deb12u1`, `8u504 (HotSpot 25.504-b01)`.
    pub fn name(&self) -> String {
        if self.is_of_old_form() {
            format!("{} (HotSpot {})", self.release(), self.text)
        } else {
            self.text.clone()
        }
    }

    /// Whether the text is a number of HotSpot's own.
    fn is_of_old_form(&self) -> bool {
        assay_jdk::feature_of(&self.text) != Some(self.feature)
    }
}

/// Folklore: JDK 8 numbered its HotSpot on its own, `25.402-b06`; the real 25 is `25+36` or `25.0.3+9-LTS`. The build
/// is behind `-b` in the old form only. Held by: `the_hotspot_of_jdk_8_is_not_taken_for_25`.
fn feature_of(release: &str) -> Option<u32> {
    let major = assay_jdk::feature_of(release)?;
    let is_old_form = major == 25 && release.contains("-b") && !release.contains('+');
    Some(if is_old_form { 8 } else { major })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_called_by_the_number_that_people_know() {
        let called = |text: &str| {
            let feature = feature_of(text).expect("a number");
            let version = JvmVersion { text: text.to_owned(), feature };
            (version.release(), version.name())
        };
        let owned = |release: &str, name: &str| (release.to_owned(), name.to_owned());
        assert_eq!(called("25.504-b01"), owned("8u504", "8u504 (HotSpot 25.504-b01)"));
        assert_eq!(called("25.0.3+9-LTS"), owned("25.0.3", "25.0.3+9-LTS"));
        assert_eq!(called("17.0.15+6-Debian-1deb12u1"), owned("17.0.15", "17.0.15+6-Debian-1deb12u1"));
        assert_eq!(called("26-ea+12"), owned("26", "26-ea+12"));
    }

    #[test]
    fn the_hotspot_of_jdk_8_is_not_taken_for_25() {
        assert_eq!(feature_of("25.402-b06"), Some(8));
        assert_eq!(feature_of("25.0.3+9-LTS"), Some(25));
        assert_eq!(feature_of("25+36-b123"), Some(25));
        assert_eq!(feature_of("17.0.15+6-Debian-1deb12u1"), Some(17));
        assert_eq!(feature_of("11.0.22+7"), Some(11));
        assert_eq!(feature_of("fast"), None);
    }
}
