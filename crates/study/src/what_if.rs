//! A rule's advice as a study: the machine as it is against the machine as the rule wants it, on the user's own load.

use crate::check::checked::Checked;
use crate::error::StudyError;
use crate::file::study::{Factor, Level, Study};
use crate::plan::prepare::{Prepared, VERSION};
use crate::runner::RunResult;
use assay_host::provenance;
use assay_launch::WantedChange;
use assay_linux::ProcRoot;
use assay_model::{Better, Design, Estimate, HostRule, Metric, WhatIf, WhatIfVerdict, schema};
use std::path::Path;

/// The factor, and its levels.
const FACTOR: &str = "setting";
const NOW: &str = "now";
const RECOMMENDED: &str = "recommended";
/// Characters of the study's name that are kept.
const NAME_CHARS_MAX: usize = 40;

/// A study with two levels, made of the user's. `advice` is a level's keys, as the rule's file has them. The user's own factors keep their
/// baseline alone.
///
/// # Errors
/// Mistakes in the study.
pub fn what_if(path: &Path, rule: HostRule, advice: &str) -> Result<Checked, StudyError> {
    let checked = Study::read(path).map_err(StudyError::Diagnostics)?;
    let recommended: Level = toml::from_str(&format!("name = \"{RECOMMENDED}\"\n{advice}"))
        .map_err(|e| StudyError::Internal(format!("the advice of {rule} cannot be read: {e}")))?;
    let study = two_levels(checked.study, rule, recommended);
    study.checked(&path.to_string_lossy()).map_err(StudyError::Diagnostics)
}

fn two_levels(study: Study, rule: HostRule, recommended: Level) -> Study {
    let is_global = recommended.settings.host.as_ref().is_some_and(crate::HostTable::is_global);
    let now = Level { name: NOW.to_owned(), ..Level::default() };
    let own = Factor { name: FACTOR.to_owned(), level: vec![now, recommended], ..Factor::default() };
    let mut study = study.varied_by(own);
    if let Some(quick) = study.quick.as_mut().filter(|_| is_global) {
        (quick.design.kind, quick.design.windows) = (None, None);
    }
    if is_global {
        // One machine cannot have both at once.
        (study.design.kind, study.design.windows) = (Some(Design::Fresh), None);
    }
    let name: String = study.name.chars().take(NAME_CHARS_MAX).collect();
    Study {
        name: format!("{name}-what-if-{rule}"),
        question: format!("Does the rule {rule} hold for {}?", study.name),
        ..study
    }
}

impl Prepared {
    /// Whether the machine is already as its variants want it, so that they would not differ.
    pub fn changes_nothing(&self) -> bool {
        let is_so = |wanted: &WantedChange| match wanted {
            WantedChange::File { path, value, form } => {
                assay_launch::FileSetting::new(path, value, *form).is_ok_and(|of| of.changes_nothing())
            }
            _ => false,
        };
        let mut changes = self.launches.iter().flat_map(|launch| &launch.changes).peekable();
        changes.peek().is_some() && changes.all(is_so)
    }
}

/// The verdict of a run of [`what_if`].
pub fn judged(prepared: &Prepared, result: &RunResult, rule: HostRule, least_percent: f64) -> WhatIf {
    let plan = prepared.plan();
    let of_metric = result.summary.comparisons.iter().find(|of| of.metric == plan.primary_metric);
    let ratio = of_metric.map(|of| of.ratio);
    let better = Metric::by_id(&plan.primary_metric).map_or(Better::Lower, |metric| metric.better);
    WhatIf {
        schema: schema::WHAT_IF.to_owned(),
        provenance: provenance(&ProcRoot::default(), VERSION),
        rule,
        study: plan.study.clone(),
        metric: plan.primary_metric.clone(),
        changes: plan.variants.iter().flat_map(|variant| variant.treatments.clone()).collect(),
        ratio,
        blocks: of_metric.map_or(0, |of| of.blocks),
        least_percent,
        verdict: ratio.map_or(WhatIfVerdict::Inconclusive, |ratio| verdict(better, ratio, least_percent)),
        run: result.dir.to_string_lossy().into_owned(),
    }
}

fn verdict(better: Better, ratio: Estimate, least_percent: f64) -> WhatIfVerdict {
    let Some((low, high)) = ratio.ends() else { return WhatIfVerdict::Inconclusive };
    let (least, most) = match better {
        Better::Lower => (1.0 - high, 1.0 - low),
        Better::Higher => (low - 1.0, high - 1.0),
    };
    if 0.0 < least {
        WhatIfVerdict::Confirmed
    } else if most * 100.0 < least_percent {
        WhatIfVerdict::Refuted
    } else {
        WhatIfVerdict::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_interval_that_leaves_one_answer_gives_one() {
        let said = |better, low: f64, high: f64| {
            verdict(better, Estimate { estimate: 1.0, low: Some(low), high: Some(high) }, 2.0)
        };
        assert_eq!(said(Better::Lower, 0.90, 0.99), WhatIfVerdict::Confirmed);
        assert_eq!(said(Better::Higher, 1.001, 1.01), WhatIfVerdict::Confirmed);
        assert_eq!(said(Better::Lower, 0.985, 1.10), WhatIfVerdict::Refuted);
        assert_eq!(said(Better::Higher, 0.80, 0.95), WhatIfVerdict::Refuted);
        assert_eq!(said(Better::Lower, 0.95, 1.05), WhatIfVerdict::Inconclusive);
        let alone = Estimate { estimate: 0.5, low: None, high: None };
        assert_eq!(verdict(Better::Lower, alone, 2.0), WhatIfVerdict::Inconclusive, "one block");
    }

    /// The advice of a rule can be studied: a level's keys without a mistake.
    #[test]
    fn the_advice_of_every_rule_is_a_level() {
        let mut advised = 0;
        for rule in HostRule::ALL {
            let Some(advice) = assay_host::advice(*rule) else { continue };
            advised += 1;
            let level: Level = toml::from_str(&format!("name = \"x\"\n{advice}")).expect("a level");
            let host = level.settings.host.clone().unwrap_or_default();
            assert_eq!(host.mistakes(), [], "{rule}");
            assert_ne!(
                Level { name: String::new(), ..level.clone() },
                Level::default(),
                "{rule}: sets something"
            );
            let study = two_levels(Study::named("x"), *rule, level);
            assert!(study.to_toml().is_ok_and(|text| text.contains(&format!("x-what-if-{rule}"))), "{rule}");
        }
        assert!(20 <= advised, "{advised}");
    }
}
