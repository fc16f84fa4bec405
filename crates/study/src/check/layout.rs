//! The `[design]` table with its defaults filled in.

use crate::file::study::DesignTable;
use assay_model::Design;
use assay_stats::SteadyRule;

/// How trials are laid out, defaults filled in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    pub kind: Design,
    pub blocks: u32,
    pub window_s: f64,
    /// Of a pair, in the duet design.
    pub windows: u32,
    pub warm_up_min_s: f64,
    pub warm_up_cap_s: f64,
    pub repeats_max: u32,
    pub time_max_s: Option<f64>,
}

impl Layout {
    /// With the length of a trial where the procedure sets it, as a search for a capacity and a guest do.
    pub fn with_length(self, trial_s: Option<f64>) -> Layout {
        Layout { window_s: trial_s.unwrap_or(self.window_s), ..self }
    }

    /// `quick` replaces what it names.
    pub fn of(study: &DesignTable, quick: Option<&DesignTable>) -> Layout {
        fn pick<T>(
            study: &DesignTable,
            quick: Option<&DesignTable>,
            key: impl Fn(&DesignTable) -> Option<T>,
        ) -> Option<T> {
            quick.and_then(&key).or_else(|| key(study))
        }
        let cap_s = pick(study, quick, |d| d.warm_up.cap).map_or(120.0, |s| s.0);
        let kind = pick(study, quick, |d| d.kind).unwrap_or(Design::Fresh);
        let window_s = if kind == Design::Duet { 5.0 } else { 30.0 };
        Layout {
            kind,
            blocks: pick(study, quick, |d| d.blocks).unwrap_or(8),
            window_s: pick(study, quick, |d| d.window).map_or(window_s, |s| s.0),
            windows: pick(study, quick, |d| d.windows).unwrap_or(6),
            warm_up_min_s: pick(study, quick, |d| d.warm_up.min).map_or(20.0, |s| s.0).min(cap_s),
            warm_up_cap_s: cap_s,
            repeats_max: pick(study, quick, |d| d.repeats_max).unwrap_or(2),
            time_max_s: pick(study, quick, |d| d.time_max).map(|s| s.0),
        }
    }

    /// The rule of the warm-up by this load, in words.
    pub fn describe_warm_up(&self, load: &str) -> String {
        let (min, cap) = (self.warm_up_min_s, self.warm_up_cap_s);
        if cap == 0.0 {
            return "none".to_owned();
        }
        format!(
            "at least {min} s of {load}, then until the CPU time per request is steady, at most {cap} s (steady: {})",
            SteadyRule::default().describe()
        )
    }
}
