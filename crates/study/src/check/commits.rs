//! Factors whose levels are commits: `commits`.

use crate::check::combinations::VARIANTS_MAX;
use crate::file::document::Document;
use crate::file::study::{Factor, Level, Settings, Study};
use crate::file::workload::folder_of;
use crate::source::repository::{Commit, Repository};
use std::path::{Path, PathBuf};

/// The folder whose repository has the commits of a study.
pub(crate) fn repository_folder(study: &Study, file: &Path) -> PathBuf {
    let of_server = study.server.as_ref().and_then(|server| server.directory.as_ref());
    let directory = study.settings.directory.as_ref().or(of_server).filter(|path| !path.contains('{'));
    folder_of(file).join(directory.map_or("", String::as_str))
}

/// Gives such factors their levels: each commit of the range, the oldest first.
pub(crate) fn fill_in(study: &mut Study, document: &mut Document) {
    let folder = repository_folder(study, &document.file);
    for (i, factor) in study.factor.iter_mut().enumerate() {
        let Some(range) = factor.commits.take() else { continue };
        let place = format!("factor.{i}.commits");
        if !factor.level.is_empty() || factor.each_jdk_from.is_some() {
            let what = format!(
                "factor `{}` has one of commits, each_jdk_from and [[factor.level]], not several",
                factor.name
            );
            document.add(&place, what);
            continue;
        }
        let commits =
            range_of(&range).and_then(|(first, last)| Repository::of(&folder)?.commits(first, last));
        match commits {
            Ok(commits) if commits.len() <= VARIANTS_MAX => {
                factor.level = commits.iter().map(level).collect();
            }
            Ok(commits) => {
                let what = format!(
                    "`{range}` has {} commits, and a study at most {VARIANTS_MAX} variants: `assay bisect` finds the one that made it slower",
                    commits.len()
                );
                refuse(factor, what, &place, document);
            }
            Err(what) => refuse(factor, what, &place, document),
        }
    }
}

fn refuse(factor: &mut Factor, what: String, place: &str, document: &mut Document) {
    document.add(place, what);
    // Instead of those that are missing, so that a factor without levels is not reported as well.
    factor.level = vec![Level::default()];
    factor.level[0].name = "none".to_owned();
}

/// Both ends of `A..B`.
fn range_of(range: &str) -> Result<(&str, &str), String> {
    let ends = range
        .split_once("..")
        .filter(|(first, last)| !first.is_empty() && !last.is_empty() && !last.starts_with('.'));
    ends.ok_or_else(|| {
        format!("`{range}` is not a range of commits: write the older and the newer one, \"v1.2..main\"")
    })
}

fn level(commit: &Commit) -> Level {
    Level {
        name: commit.short.clone(),
        settings: Settings { commit: Some(commit.id.clone()), ..Settings::default() },
        ..Level::default()
    }
}
