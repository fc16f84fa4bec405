//! A user's study, varied by one factor alone.

use crate::file::study::{Factor, Study};

impl Study {
    /// The same study with this factor; its own factors keep their baseline alone, and what it says of their levels goes. The first level of
    /// the factor is the baseline.
    pub(crate) fn varied_by(self, factor: Factor) -> Study {
        let kept = |mut factor: Factor| {
            let wanted = self.baseline.get(&factor.name);
            let at = wanted.and_then(|name| factor.level.iter().position(|level| level.name == *name));
            factor.level = factor.level.into_iter().skip(at.unwrap_or(0)).take(1).collect();
            factor.level.iter_mut().for_each(|level| level.baseline = None);
            factor.each_jdk_from = None;
            factor
        };
        let others: Vec<Factor> = self.factor.iter().cloned().map(kept).collect();
        let baseline = factor.level.first().map(|level| (factor.name.clone(), level.name.clone()));
        let mut quick = self.quick.clone();
        if let Some(quick) = &mut quick {
            quick.levels.clear();
            quick.exclude.clear();
        }
        Study {
            baseline: baseline.into_iter().collect(),
            factor: std::iter::once(factor).chain(others).collect(),
            exclude: Vec::new(),
            published: Vec::new(),
            claim: Vec::new(),
            parts: Vec::new(),
            quick,
            ..self
        }
    }
}
