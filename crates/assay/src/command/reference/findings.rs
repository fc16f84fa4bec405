//! The page docs/reference/findings.md: every finding by its id.

use assay_findings::Explain;
use assay_host::in_words;
use assay_model::{GcRule, HostRule, MemoryRule, ModeRule, StudyRule, TimeRule};
use std::fmt::{Display, Write};

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Findings\n\nGenerated from the program, by `UPDATE_EXPECT=1 cargo test -p assay --test all reference::`. What each finding shows as \
         evidence and from which figure on it is made, what brings it about, what helps best, and what helps instead; the finding itself \
         has the figures and options at hand. Its id is `rule` in stored forms.\n\n",
    );
    add("assay memory", MemoryRule::ALL, &mut page);
    add("assay gc", GcRule::ALL, &mut page);
    add("assay time", TimeRule::ALL, &mut page);
    add("assay heap modes", ModeRule::ALL, &mut page);
    add("assay run", StudyRule::ALL, &mut page);
    page.push_str("## assay host\n\n");
    for rule in HostRule::ALL {
        add_rule_of_host(*rule, &mut page);
    }
    page
}

fn add<R: Explain + Display + Copy>(command: &str, rules: &[R], page: &mut String) {
    let _ = writeln!(page, "## {command}\n");
    for rule in rules {
        if let Some(said) = rule.explained() {
            let (evidence, cause, fix) = (said.evidence, said.cause, said.fix);
            let _ = writeln!(page, "### {rule}\n\n- Evidence: {evidence}\n- Cause: {cause}\n- Fix: {fix}");
            for other in said.alternatives {
                let _ = writeln!(page, "- Or: {other}");
            }
            page.push('\n');
        }
    }
}

fn add_rule_of_host(rule: HostRule, page: &mut String) {
    let Some(words) = in_words(rule) else { return };
    let (known_from, source) = words.known_from;
    let reads = words.reads.iter().map(|path| code(path)).collect::<Vec<_>>().join(", ");
    let _ = writeln!(
        page,
        "### {rule}\n\n{}.\n\n- Evidence: {reads}\n- Cause: {} ({known_from}: {})\n- Fix: {}",
        prose(words.title),
        prose(words.effect),
        prose(source),
        typed(words.command)
    );
    for other in words.alternatives {
        let _ = writeln!(page, "- Or: {}", typed(other));
    }
    if let Some(undo) = words.undo {
        let _ = writeln!(page, "- Undo: {}", code(undo));
    }
    page.push('\n');
}

fn prose(text: &str) -> String {
    super::commands::prose(text.trim_end_matches('.'))
}

/// A step: commands and options as they are typed, a sentence as it is; only sentences begin with a capital letter.
fn typed(step: &str) -> String {
    if !step.starts_with(|first: char| first.is_uppercase()) {
        return code(step);
    }
    let end = if step.ends_with('.') { "" } else { "." };
    format!("{}{end}", super::commands::prose(step))
}

/// As it is typed, whatever backquotes stand in it.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
