//! Factors whose levels are the JDKs of this machine: `each_jdk_from`.

use crate::file::document::Document;
use crate::file::study::{Factor, Level, Settings, Study};
use assay_jdk::no_jdk;
use std::collections::BTreeSet;

impl Factor {
    /// Whether this names a level that the factor has on some machine.
    pub(crate) fn may_find(&self, level: &str) -> bool {
        self.release_named(level).is_some()
    }

    fn release_named(&self, level: &str) -> Option<u32> {
        let release = level.parse::<u32>().ok().filter(|release| release.to_string() == level)?;
        self.each_jdk_from.filter(|from| *from <= release).map(|_| release)
    }
}

/// Gives such factors their levels: each feature release that is found, and those that the study names as its baseline or in
/// its short form. A named release that is missing is skipped later, with the reason, like any level whose JVM is missing.
pub(crate) fn fill_in(study: &mut Study, found: impl Fn() -> BTreeSet<u32>, document: &mut Document) {
    let Study { factor: factors, baseline, quick, .. } = study;
    for (i, factor) in factors.iter_mut().enumerate() {
        let Some(from) = factor.each_jdk_from else { continue };
        let place = format!("factor.{i}.each_jdk_from");
        if !factor.level.is_empty() {
            let what =
                format!("factor `{}` has either each_jdk_from or [[factor.level]], not both", factor.name);
            document.add(&place, what);
            continue;
        }
        let of_quick = quick.as_ref().and_then(|q| q.levels.get(&factor.name));
        let named = baseline.get(&factor.name).into_iter().chain(of_quick.into_iter().flatten());
        let mut releases: BTreeSet<u32> = named.filter_map(|level| factor.release_named(level)).collect();
        releases.extend(found().into_iter().filter(|release| from <= *release));
        if releases.is_empty() {
            document.add_missing(&place, no_jdk(&format!("{from} or later"), from));
            // Instead of those that are missing, so that a factor without levels is not reported as well.
            releases.insert(from);
        }
        factor.level = releases.into_iter().map(level).collect();
    }
}

fn level(release: u32) -> Level {
    let name = release.to_string();
    Level { settings: Settings { jvm: Some(name.clone()), ..Settings::default() }, name, ..Level::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::combinations::combine;
    use std::path::Path;

    const STUDY: &str = r#"
schema = "assay.study/1"
name = "x"
baseline = { JDK = "21" }
factor = [{ name = "JDK", each_jdk_from = 17 }]
quick = { levels = { JDK = ["17", "25"] } }
"#;

    #[test]
    fn each_release_that_is_found_or_named_is_a_level_on_its_own_jvm() {
        let mut document = Document::parse(Path::new("x.toml"), "", &serde_json::Value::Null);
        let mut study: Study = toml::from_str(STUDY).unwrap();
        fill_in(&mut study, || BTreeSet::from([11, 17, 26]), &mut document);
        assert_eq!(document.found, []);
        // 21 and 25 are only named: that they are missing is reported when JVMs are chosen.
        for (quick, want) in [(None, &["17", "21", "25", "26"][..]), (study.quick.as_ref(), &["17", "25"])] {
            let variants = combine(&study, quick);
            assert_eq!(variants.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), want);
            assert!(variants.iter().all(|v| v.jvm.as_ref() == Some(&v.name)));
        }
    }
}
