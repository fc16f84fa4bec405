//! Combinations of levels that no machine can run.

use crate::check::combinations::{VARIANTS_MAX, combine};
use crate::file::document::Document;
use crate::file::study::{QuickTable, Study};
use crate::file::workload::Workload;
use assay_text::near::hint;

/// Every variant of the study and of its short form: that there is one, and that it can be.
pub(crate) fn check_variants(study: &Study, workload: &Workload, document: &mut Document) {
    let mut forms: Vec<Option<&QuickTable>> = vec![None];
    forms.extend(study.quick.as_ref().map(Some));
    for quick in forms {
        let variants = combine(study, quick);
        let form = if quick.is_some() { "the short form" } else { "the study" };
        if variants.is_empty() {
            let place = match quick {
                Some(_) => "quick",
                None if study.exclude.is_empty() => "factor",
                None => "exclude",
            };
            document.add(place, format!("{form} has no variant left to run"));
        }
        if VARIANTS_MAX < variants.len() {
            document.add("factor", format!("{form} has more than {VARIANTS_MAX} variants; exclude some"));
            return;
        }
        for v in &variants {
            let place = place_of(study, &v.indices);
            if let Some(what) = v.wanted_mode().impossible() {
                document.add(&place, format!("variant `{}`: {what}; exclude it with [[exclude]]", v.name));
            }
            for (option, word) in &v.workload_options {
                let what = match workload.options.get(option) {
                    Some(words) if words.contains(word) => continue,
                    Some(words) => format!(
                        "unknown word `{word}` for `{option}`{}",
                        hint(word, words.iter().map(String::as_str))
                    ),
                    None => format!(
                        "the workload `{}` has no option `{option}`{}",
                        workload.name,
                        hint(option, workload.options.keys().map(String::as_str))
                    ),
                };
                document.add(&format!("workload_options.{option}"), what);
            }
        }
    }
}

/// Where to report a combination: the level of the first factor that takes part in it.
pub(crate) fn place_of(study: &Study, indices: &[usize]) -> String {
    let sets = |(i, j): (usize, &usize)| {
        let s = &study.factor[i].level[*j].settings;
        let is_set = s.reference_mode.is_some() || s.compact_headers.is_some() || s.heap.is_some();
        is_set.then(|| format!("factor.{i}.level.{j}.name"))
    };
    indices.iter().enumerate().find_map(sets).unwrap_or_else(|| "heap".to_owned())
}
