//! What a trial of a rule's advice says, on a terminal.

use assay_kit::text::clean;
use assay_model::{Estimate, WhatIf, WhatIfVerdict};
use std::fmt::Write;

/// The verdict, the interval it rests on, and what was changed.
pub fn render(said: &WhatIf) -> String {
    let mut out = String::new();
    let (rule, metric) = (said.rule, clean(&said.metric));
    let what = match said.verdict {
        WhatIfVerdict::Confirmed => "confirmed: the recommended setting is better here".to_owned(),
        WhatIfVerdict::Refuted => {
            format!("refuted: it brings less than {} % here, if anything", said.least_percent)
        }
        _ => "undecided: the interval is too wide; more blocks, or a quieter machine, would narrow it"
            .to_owned(),
    };
    let ratio = said.ratio.map_or_else(|| "no block counts for both".to_owned(), |ratio| interval(&ratio));
    // A text in memory takes every line.
    let _ = writeln!(out, "{rule}: {what}");
    let _ = writeln!(out, "  {metric}, recommended / now: {ratio}, {} blocks", said.blocks);
    for change in &said.changes {
        let _ = writeln!(out, "  changed: {} = {}", clean(&change.setting), clean(&change.value));
    }
    out
}

fn interval(ratio: &Estimate) -> String {
    match ratio.ends() {
        Some((low, high)) => format!("{:.3} (95 % interval {low:.3} to {high:.3})", ratio.estimate),
        None => format!("{:.3} (no interval: too few blocks)", ratio.estimate),
    }
}
