//! Mistakes in the keys that say what is started in place of a table's own command: `command`, `directory`, `commit`, `build`.

use crate::check::combinations::{BUILD, VariantSpec, combine};
use crate::check::processes::check_placeholders;
use crate::file::document::Document;
use crate::file::program::CommandLine;
use crate::file::study::{Settings, Study};
use crate::file::workload::Workload;

impl VariantSpec {
    /// Whether it is started in a clean copy of a commit or folder.
    pub fn has_copy(&self) -> bool {
        self.commit.is_some() || self.build.is_some()
    }

    /// Words of its command.
    pub fn words(&self, workload: &Workload) -> Result<Vec<String>, String> {
        self.command.as_ref().map_or_else(|| workload.program.words(), CommandLine::words)
    }

    /// The folder that it names: where it is started or, with a copy, what is copied.
    pub fn directory<'a>(&'a self, workload: &'a Workload) -> Option<&'a String> {
        self.directory.as_ref().or_else(|| workload.program.directory())
    }
}

/// Every table of settings, with the beginning of the paths of its keys.
pub(crate) fn all_settings(study: &Study) -> impl Iterator<Item = (String, &Settings)> {
    let levels = study.factor.iter().enumerate().flat_map(|(i, factor)| {
        let of_level = move |(j, level)| (format!("factor.{i}.level.{j}."), level);
        factor.level.iter().enumerate().map(of_level)
    });
    let of_levels =
        levels.map(|(place, level): (String, &crate::file::study::Level)| (place, &level.settings));
    std::iter::once((String::new(), &study.settings)).chain(of_levels)
}

/// Mistakes in these keys.
pub(crate) fn check(study: &Study, workload: &Workload, document: &mut Document) {
    for (place, settings) in all_settings(study) {
        let keys = [
            ("command", settings.command.is_some()),
            ("directory", settings.directory.is_some()),
            ("commit", settings.commit.is_some()),
            ("build", settings.build.is_some()),
            ("build_timeout_s", settings.build_timeout_s.is_some()),
        ];
        let set = keys.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key);
        for key in set.filter(|_| study.workload.is_some()) {
            let what = format!(
                "`{key}` is for a server of your own, and the workload `{}` has its own command: write a [server] table in place of \
                 `workload`",
                workload.name
            );
            document.add(&format!("{place}{key}"), what);
        }
        if let Some(build) = &settings.build {
            check_build(build, &format!("{place}build"), document);
        }
    }
    for spec in combine(study, None) {
        let is_used = |text: &String| text.contains(&format!("{{{BUILD}}}"));
        let mut texts = spec.words(workload).unwrap_or_default();
        texts.extend(spec.directory(workload).cloned());
        texts.extend(workload.program.environment().values().chain(spec.environment.values()).cloned());
        if !spec.has_copy() && texts.iter().any(is_used) {
            let what = format!(
                "{{{BUILD}}} is the folder of a clean copy, and of variant `{}` none is made: add `build` or `commit`",
                spec.name
            );
            let place =
                place_of(study, &spec.indices, &|settings| settings.command.is_some().then_some("command"));
            document.add(if place.is_empty() { "server.command" } else { &place }, what);
        }
    }
}

fn check_build(build: &CommandLine, place: &str, document: &mut Document) {
    match build.words() {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => {
            let known = [BUILD.to_owned()];
            let unknown = words.iter().flat_map(|word| check_placeholders(word, &known));
            unknown.for_each(|what| document.add(place, what));
        }
        Ok(_) => document.add(place, "the command is empty"),
        Err(what) => document.add(place, what),
    }
}

/// Where to report a copy that cannot be made: the level of the first factor that asks for it, or the study's own key.
pub(crate) fn place_of_copy(study: &Study, indices: &[usize]) -> String {
    place_of(study, indices, &|settings| {
        let keys = [("commit", settings.commit.is_some()), ("build", settings.build.is_some())];
        keys.into_iter().find(|(_, is_set)| *is_set).map(|(key, _)| key)
    })
}

/// Where to report a folder that is not there.
pub(crate) fn place_of_directory(study: &Study, indices: &[usize]) -> String {
    let place = place_of(study, indices, &|settings| settings.directory.is_some().then_some("directory"));
    let table = if study.benchmark.is_some() { "benchmark.directory" } else { "server.directory" };
    if place.is_empty() { table.to_owned() } else { place }
}

/// The first level of a variant with one of these keys, or else the study's own key.
fn place_of(study: &Study, indices: &[usize], key: &dyn Fn(&Settings) -> Option<&'static str>) -> String {
    let of_level = |(i, j): (usize, &usize)| {
        Some(format!("factor.{i}.level.{j}.{}", key(&study.factor[i].level[*j].settings)?))
    };
    let of_levels = indices.iter().enumerate().find_map(of_level);
    of_levels.or_else(|| key(&study.settings).map(str::to_owned)).unwrap_or_default()
}
