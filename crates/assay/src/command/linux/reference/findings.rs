//! The page docs/reference/findings.md: every finding by its id.

use assay_host::in_words;
use assay_model::{Explanation, HostRule};
use std::fmt::Write;

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Findings\n\nGenerated from the program, by `UPDATE_EXPECT=1 cargo test -p assay --test all \
            reference::`. Each finding has its evidence and threshold, its cause, the best remedy, and an \
            alternative. The finding itself has the figures and options at hand. Its id is `rule` in stored \
            forms.\n\n",
    );
    add("assay memory", &assay_memory::least_gain(), &assay_memory::rules(), &mut page);
    add("assay gc", "", &assay_gcstudy::rules(), &mut page);
    add("assay time", &assay_counters::least_cpu(), &assay_counters::rules(), &mut page);
    add("assay heap modes", "", &assay_heap::modes::rules(), &mut page);
    add("assay run", "", &assay_results::findings::rules(), &mut page);
    page.push_str("## assay host\n\n");
    for rule in HostRule::ALL {
        add_rule_of_host(*rule, &mut page);
    }
    page
}

/// The rules of a command; `general` holds for all of them.
fn add(command: &str, general: &str, rules: &[Explanation], page: &mut String) {
    let _ = writeln!(page, "## {command}\n");
    if !general.is_empty() {
        let _ = writeln!(page, "{general}\n");
    }
    for Explanation { id, evidence, cause, fix, alternatives } in rules {
        let _ = writeln!(page, "### {id}\n\n- Evidence: {evidence}\n- Cause: {cause}\n- Fix: {fix}");
        for other in alternatives {
            let _ = writeln!(page, "- Or: {other}");
        }
        page.push('\n');
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
