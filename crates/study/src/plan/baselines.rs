//! Which variant each one is compared with.

use crate::check::combinations::VariantSpec;
use crate::file::study::{Factor, Study};
use crate::plan::candidate::Candidate;
use assay_model::{Finding, StudyRule};
use assay_results::findings;
use std::collections::BTreeMap;

/// The variant that each one is compared with, by index: `None` for a baseline.
///
/// A variant's partner has the baseline level in exactly one factor and agrees in the others. Variants are compared along
/// the factors that `baseline` names (without any, along the first), and of these along the first in which
/// the variant is not at the baseline. Each variant comes with whether it can run here: if the baseline's cannot, the next level in the
/// study's order that can replaces it.
fn baselines(study: &Study, variants: &[(&VariantSpec, bool)]) -> Vec<Option<usize>> {
    let find = |indices: &[usize]| {
        variants.iter().position(|(variant, is_present)| *is_present && variant.indices == indices)
    };
    let partner = |variant: &VariantSpec, at: usize, factor: &Factor| {
        let own = variant.indices[at];
        let with = |level: usize| {
            let mut indices = variant.indices.clone();
            indices[at] = level;
            find(&indices)
        };
        let by_name = |name: &String| factor.level.iter().position(|l| l.name == *name);
        if let Some(level) = factor.level[own].baseline.as_ref().and_then(by_name)
            && let Some(found) = with(level)
        {
            return Some(found);
        }
        let base = match study.baseline.get(&factor.name) {
            Some(name) => by_name(name)?,
            None if study.baseline.is_empty() && at == 0 => 0,
            None => return None,
        };
        if own == base {
            return None;
        }
        // The baseline's level first, then the others in the study's order. A search that comes to the variant itself means that it is
        // the baseline here.
        let order = std::iter::once(base).chain((0..factor.level.len()).filter(|i| *i != base));
        order.take_while(|level| *level != own).find_map(with)
    };
    let of = |variant: &VariantSpec| {
        study.factor.iter().enumerate().find_map(|(at, factor)| partner(variant, at, factor))
    };
    variants.iter().map(|(variant, is_present)| if *is_present { of(variant) } else { None }).collect()
}

/// Gives each variant that can run here its baseline. The findings name baselines that cannot run here, with their replacements.
pub(super) fn choose_baselines(study: &Study, candidates: &mut [Candidate]) -> Vec<Finding<StudyRule>> {
    let with_presence = |is_present: &dyn Fn(&Candidate) -> bool| {
        let variants: Vec<_> = candidates.iter().map(|c| (&c.spec, is_present(c))).collect();
        baselines(study, &variants)
    };
    let (wanted, chosen) = (with_presence(&|_| true), with_presence(&Candidate::is_present));
    let mut replaced: BTreeMap<usize, usize> = BTreeMap::new();
    for i in (0..candidates.len()).filter(|i| candidates[*i].is_present()) {
        if let Some(missing) = wanted[i].filter(|w| !candidates[*w].is_present()) {
            replaced.entry(missing).or_insert(chosen[i].unwrap_or(i));
        }
    }
    let finding = |(missing, instead): (usize, usize)| {
        let (missing, instead) = (&candidates[missing], &candidates[instead].spec.name);
        let reason = missing.found.as_ref().err()?;
        Some(findings::baseline_replaced(&missing.spec.name, instead, reason))
    };
    let findings = replaced.into_iter().filter_map(finding).collect();
    for (i, baseline) in chosen.into_iter().enumerate() {
        candidates[i].baseline = baseline.map(|of| candidates[of].spec.name.clone());
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::combinations::combine;

    const STUDY: &str = r#"
schema = "assay.study/1"
name = "x"
baseline = { mode = "a" }
[[factor]]
name = "mode"
level = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "c, compact", baseline = "c" }]
[[factor]]
name = "heap"
level = [{ name = "1g", heap = "1g" }, { name = "2g", heap = "2g" }]
[[exclude]]
mode = "b"
heap = "2g"
"#;

    /// `variant < baseline` for every variant that is compared, the named ones missing.
    fn pairs(missing: &[&str]) -> Vec<String> {
        let study: Study = toml::from_str(STUDY).unwrap();
        let variants = combine(&study, None);
        let with_presence: Vec<_> =
            variants.iter().map(|v| (v, !missing.contains(&v.name.as_str()))).collect();
        let partners = baselines(&study, &with_presence);
        let compared = variants.iter().zip(partners);
        compared.filter_map(|(v, p)| Some(format!("{} < {}", v.name, variants[p?].name))).collect()
    }

    #[test]
    fn every_level_is_compared_with_the_baseline_at_the_same_other_levels_or_with_the_one_it_names() {
        let want =
            ["b/1g < a/1g", "c/1g < a/1g", "c/2g < a/2g", "c, compact/1g < c/1g", "c, compact/2g < c/2g"];
        assert_eq!(pairs(&[]), want);
    }

    #[test]
    fn the_next_level_that_can_be_run_takes_the_place_of_a_missing_baseline() {
        let want = ["c/1g < b/1g", "c/2g < a/2g", "c, compact/1g < c/1g", "c, compact/2g < c/2g"];
        assert_eq!(pairs(&["a/1g"]), want);
        let want = ["b/1g < a/1g", "c, compact/1g < a/1g", "c, compact/2g < c/2g"];
        assert_eq!(pairs(&["c/1g", "a/2g"]), want);
    }
}
