//! The page docs/reference/findings.md: every finding by its id.

use assay_findings::Explain;
use assay_host::in_words;
use assay_model::{GcRule, HostRule, MemoryRule, ModeRule, StudyRule, TimeRule};
use std::fmt::{Display, Write};

/// The page.
pub fn page() -> String {
    let mut page = String::from(
        "# Findings\n\nGenerated from the program, by `UPDATE_EXPECT=1 cargo test -p assay --test reference`. What each finding shows as \
         evidence and from which figure on it is made, what brings it about, and what helps; the finding itself has the figures and options at \
         hand. Its id is `rule` in stored forms.\n\n",
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
            let _ = writeln!(
                page,
                "### {rule}\n\n- Evidence: {}\n- Cause: {}\n- Fix: {}\n",
                said.evidence, said.cause, said.fix
            );
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
        code(words.command)
    );
    if let Some(undo) = words.undo {
        let _ = writeln!(page, "- Undo: {}", code(undo));
    }
    page.push('\n');
}

fn prose(text: &str) -> String {
    super::commands::prose(text.trim_end_matches('.'))
}

/// As it is typed, whatever backquotes stand in it.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
