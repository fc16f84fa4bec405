//! Why no variant of a study can run on this machine.

use crate::check::combinations::VariantSpec;
use crate::check::variants::place_of;
use crate::file::document::Document;
use crate::file::study::Study;
use assay_model::SkippedVariant;
use std::collections::BTreeMap;

/// The key in the study file that asks for what is missing.
pub(crate) fn place(study: &Study, spec: &VariantSpec, is_jvm: bool) -> String {
    if !is_jvm || spec.jvm.is_none() {
        return place_of(study, &spec.indices);
    }
    let sets_jvm = |(factor, level): (usize, &usize)| {
        let is_set = study.factor[factor].level[*level].settings.jvm.is_some();
        is_set.then(|| format!("factor.{factor}.level.{level}.jvm"))
    };
    spec.indices.iter().enumerate().find_map(sets_jvm).unwrap_or_else(|| "jvm".to_owned())
}

/// Says why no variant can run here: what several lack is one message.
pub(crate) fn tell(skipped: &[SkippedVariant], places: &[String], document: &mut Document) {
    let mut by_reason: BTreeMap<(&String, &String), Vec<String>> = BTreeMap::new();
    for (variant, place) in skipped.iter().zip(places) {
        by_reason.entry((place, &variant.reason)).or_default().push(format!("`{}`", variant.name));
    }
    for ((place, reason), names) in by_reason {
        let variants = if names.len() == 1 { "variant" } else { "variants" };
        let what = format!("{variants} {} cannot run here: {reason}", names.join(", "));
        document.add_missing(place, what);
    }
}
