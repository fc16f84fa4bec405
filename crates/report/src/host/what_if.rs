//! What a trial of a rule's advice says.

use assay_kit::Table;
use assay_kit::document::{Answer, Block, Document, Section};
use assay_kit::number::count;
use assay_kit::text::clean;
use assay_model::{Estimate, WhatIf, WhatIfVerdict};

/// The verdict, the interval it rests on, and what was changed.
pub fn document(result: &WhatIf) -> Document {
    let ratio = result.ratio.map_or_else(|| "no block counts for both".to_owned(), |ratio| interval(&ratio));
    let rests_on =
        [("recommended / now", ratio), ("blocks in which both count", count(result.blocks.into()))];
    let answer = Answer {
        sentence: format!("{}: {}.", result.rule, verdict(result)),
        rest: vec![Block::terms(rests_on)],
        ..Answer::default()
    };
    let changes = Table::of("Settings of the recommendation", &result.changes)
        .words("Setting", |change| clean(&change.setting))
        .words("Value", |change| clean(&change.value));
    let sections = [Section::new("changes", "What was changed", [changes.table().into()])];
    Document {
        lines: vec![
            format!("{} under the load of the study {}", clean(&result.metric), clean(&result.study)).into(),
        ],
        sections: sections.into(),
        ..Document::new(
            "A rule's advice, tried, by Assay",
            format!("Trial of the rule {}", result.rule),
            answer,
        )
    }
}

fn verdict(result: &WhatIf) -> String {
    match result.verdict {
        WhatIfVerdict::Confirmed => "confirmed, the recommended setting is better here".to_owned(),
        WhatIfVerdict::Refuted => {
            format!("refuted, it brings less than {} % here, if anything", result.least_percent)
        }
        WhatIfVerdict::Inconclusive | WhatIfVerdict::Other => {
            "undecided, the interval is too wide; more blocks, or a quieter machine, would narrow it"
                .to_owned()
        }
    }
}

fn interval(ratio: &Estimate) -> String {
    match ratio.ends() {
        Some((low, high)) => format!("{:.3} (95 % interval {low:.3} to {high:.3})", ratio.estimate),
        None => format!("{:.3} (no interval: too few blocks)", ratio.estimate),
    }
}
