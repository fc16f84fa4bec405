//! Mistakes in factors, in their levels, and in names of levels anywhere.

use crate::file::document::Document;
use crate::file::study::{Factor, Study};
use assay_text::near::hint;
use std::collections::BTreeSet;

/// Longest name of a study or level.
pub(crate) const NAME_CHARS_MAX: usize = 80;

pub(crate) fn check_factors(study: &Study, document: &mut Document) {
    let mut names = BTreeSet::new();
    for (i, factor) in study.factor.iter().enumerate() {
        if !names.insert(&factor.name) {
            document.add(&format!("factor.{i}.name"), format!("there are two factors `{}`", factor.name));
        }
        if factor.level.is_empty() {
            document.add(&format!("factor.{i}"), format!("factor `{}` has no [[factor.level]]", factor.name));
        }
        let mut levels = BTreeSet::new();
        for (j, level) in factor.level.iter().enumerate() {
            let place = format!("factor.{i}.level.{j}");
            if !levels.insert(&level.name) {
                document.add(
                    &format!("{place}.name"),
                    format!("factor `{}` has two levels `{}`", factor.name, level.name),
                );
            }
            let bad = |c: char| c == '/' || c.is_control();
            if level.name.trim().is_empty()
                || level.name.chars().count() > NAME_CHARS_MAX
                || level.name.contains(bad)
            {
                let what = format!("a level's name has up to {NAME_CHARS_MAX} characters, and no `/`");
                document.add(&format!("{place}.name"), what);
            }
            if level.called.is_some() && 0 < i {
                let what = "sentences are about levels of the first factor: `called` belongs to those";
                document.add(&format!("{place}.called"), what);
            }
            if let Some(baseline) = &level.baseline {
                let others = factor.level.iter().map(|l| l.name.as_str()).filter(|l| *l != level.name);
                check_word(document, &format!("{place}.baseline"), "level", baseline, others);
            }
        }
    }
    for (factor, level) in &study.baseline {
        check_level(study, document, "baseline", factor, level);
    }
    for (i, rule) in study.exclude.iter().enumerate() {
        rule.iter().for_each(|(f, l)| check_level(study, document, &format!("exclude.{i}"), f, l));
    }
}

/// A factor and one of its levels, named somewhere.
pub(crate) fn check_level(study: &Study, document: &mut Document, place: &str, factor: &str, level: &str) {
    let path = format!("{place}.{factor}");
    match study.factor.iter().find(|f| f.name == factor) {
        Some(f) => check_level_of(Some(f), document, &path, level),
        None => check_word(document, &path, "factor", factor, study.factor.iter().map(|f| f.name.as_str())),
    }
}

/// A level of this factor, if there is one, on this machine or another.
pub(crate) fn check_level_of(factor: Option<&Factor>, document: &mut Document, path: &str, level: &str) {
    if factor.is_none_or(|f| !f.may_find(level)) {
        let known = factor.into_iter().flat_map(|f| &f.level).map(|l| l.name.as_str());
        check_word(document, path, "level", level, known);
    }
}

fn check_word<'a>(
    document: &mut Document,
    path: &str,
    kind: &str,
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) {
    let known: Vec<&str> = known.into_iter().collect();
    if !known.contains(&word) {
        document.add(path, format!("unknown {kind} `{word}`{}", hint(word, known)));
    }
}
