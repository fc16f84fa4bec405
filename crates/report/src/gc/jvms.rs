//! The JVMs that wrote a log, with their options and settings.

use super::pauses::ROWS_MAX;
use super::words;
use assay_kit::Table;
use assay_kit::document::{Block, Tone};
use assay_kit::text::{clean, shorten};
use assay_model::{GcJvm, GcReport};

const FLAGS_CHARS: usize = 1_900;

/// Each JVM; of those that follow one with the same options it is said in a line where they begin.
pub fn blocks(report: &GcReport) -> Vec<Block> {
    if report.jvms.is_empty() {
        return vec![Block::absent("the log does not name its JVM")];
    }
    let mut blocks = Vec::new();
    let mut before: Option<&GcJvm> = None;
    for (number, jvm) in (1_usize..).zip(report.jvms.iter().take(ROWS_MAX)) {
        let begun = words::place(report, (jvm.source, jvm.line));
        let which = format!("{number} of {}, from {begun}", report.jvms.len());
        if before.is_some_and(|before| is_same(before, jvm)) {
            let line = format!("{which}: the same JVM with the same options");
            match blocks.last_mut() {
                Some(Block::Items(_, lines)) => lines.push(line),
                _ => blocks.push(Block::Items(Tone::Plain, vec![line])),
            }
        } else {
            if report.jvms.len() > 1 {
                blocks.push(Block::heading(which));
            }
            blocks.extend(described(number, jvm));
        }
        before = Some(jvm);
    }
    blocks
}

fn is_same(before: &GcJvm, jvm: &GcJvm) -> bool {
    words::jvm(before) == words::jvm(jvm) && before.flags == jvm.flags && before.settings == jvm.settings
}

fn described(number: usize, jvm: &GcJvm) -> Vec<Block> {
    let mut rows = vec![("JVM", words::jvm(jvm).join(" · "))];
    rows.extend(jvm.mode.as_ref().map(|mode| ("shown by", clean(&mode.evidence))));
    if !jvm.flags.is_empty() {
        rows.push(("flags", shorten(&clean(&jvm.flags.join(" ")), FLAGS_CHARS)));
    }
    let caption = format!("What JVM {number} says at its start besides");
    let settings = Table::of(caption, jvm.settings.iter().take(ROWS_MAX))
        .words("Setting", |(name, _)| clean(name))
        .words("Value", |(_, value)| clean(value));
    let settings = Block::Folded("Settings".to_owned(), vec![settings.table().into()]);
    vec![Block::terms(rows), settings.page_only()]
}
