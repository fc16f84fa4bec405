//! The pages of commands, findings and metrics in the documentation are what the program says of itself. `UPDATE_EXPECT=1` writes them
//! anew.

use assay_model::{EMULATED, GC_FIGURES, HostRule, METRICS, PER_BENCHMARK, PER_PROCESS};
use assay_testkit::checkout;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

fn said_by(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).output().expect("assay starts");
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).expect("a text")
}

#[track_caller]
fn is_up_to_date(page: &str, said: &str) {
    let path = checkout().join(page);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, said).expect("written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let differs = stored.lines().zip(said.lines()).find(|(stored, said)| stored != said);
    assert!(
        stored == said,
        "{page} is out of date: UPDATE_EXPECT=1 cargo test -p assay --test all reference::\n{differs:?}"
    );
}

#[test]
fn the_reference_of_findings_has_every_rule_and_is_up_to_date() {
    let said = said_by(&["reference", "--findings"]);
    let rules = [
        assay_memory::rules(),
        assay_gcstudy::rules(),
        assay_counters::rules(),
        assay_heap::modes::rules(),
        assay_results::findings::rules(),
    ];
    let ids = rules.into_iter().flatten().map(|rule| rule.id);
    let words: Vec<String> = ids.chain(HostRule::ALL.iter().map(|rule| rule.word().to_owned())).collect();
    for word in words {
        assert!(said.contains(&format!("\n### {word}\n")), "{word} is missing");
    }
    is_up_to_date("docs/reference/findings.md", &said);
}

#[test]
fn the_reference_of_metrics_has_every_name_and_is_up_to_date() {
    let said = said_by(&["reference", "--metrics"]);
    let names = |metrics: &'static [assay_model::Metric], behind: &'static str| {
        metrics.iter().map(move |metric| format!("{}{behind}", metric.id))
    };
    let families = assay_report::gc::openmetrics_families();
    let all = names(METRICS, "")
        .chain(names(EMULATED, ""))
        .chain(names(PER_BENCHMARK, "/NAME"))
        .chain(names(PER_PROCESS, "/ROLE"))
        .chain(GC_FIGURES.iter().map(|figure| figure.id.to_owned()))
        .chain(families.iter().filter(|family| family.kind == "gauge").map(assay_report::gc::GcFamily::name));
    for name in all {
        assert!(said.contains(&format!("\n| `{name}` | ")), "{name} is missing");
    }
    for series in ["rate_at_N_ms_per_s", "assay_gc_pause_seconds_sum", "assay_gc_log_lines_total"] {
        assert!(said.contains(&format!("`{series}`")), "{series} is missing");
    }
    is_up_to_date("docs/reference/metrics.md", &said);
}

/// Texts of the sources below a folder, without the parts that are for tests alone.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && !name.contains("test") {
            sources(&path, texts);
        } else if name.ends_with(".rs") && !name.contains("test") {
            let text = fs::read_to_string(&path).expect("a source");
            texts.push(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned());
        }
    }
}

/// What stands between these two, wherever it does.
fn between<'a>(text: &'a str, before: &str, behind: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| Some(rest.split_once(behind)?.0)).collect()
}

#[test]
fn every_variable_and_capability_that_the_program_names_is_in_the_reference() {
    let mut texts = Vec::new();
    for folder in fs::read_dir(checkout().join("crates")).expect("crates").flatten() {
        let is_for_tests = ["check", "testkit"].iter().any(|name| folder.file_name() == *name);
        if !is_for_tests {
            sources(&folder.path().join("src"), &mut texts);
        }
    }
    let page = |name: &str| {
        fs::read_to_string(checkout().join("docs/reference").join(name)).expect("a page of the reference")
    };
    let (environment, permissions) = (page("environment.md"), page("permissions.md"));
    let (mut variables, mut capabilities) = (BTreeSet::new(), BTreeSet::new());
    for text in &texts {
        variables.extend(between(text, "env::var(\"", "\""));
        variables.extend(between(text, "env::var_os(\"", "\""));
        for rest in text.split("CAP_").skip(1) {
            let is_part = |c: char| c.is_ascii_uppercase() || c == '_';
            capabilities.insert(&rest[..rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())]);
        }
    }
    assert!(
        variables.contains("JAVA_HOME") && capabilities.contains("SYS_PTRACE"),
        "{variables:?} {capabilities:?}"
    );
    let missing: Vec<&&str> = variables
        .iter()
        .filter(|name| !name.starts_with("ASSAY_TEST_") && !environment.contains(&format!("`{name}`")))
        .chain(capabilities.iter().filter(|name| !permissions.contains(&format!("CAP_{name}"))))
        .collect();
    assert!(missing.is_empty(), "docs/reference/environment.md or permissions.md lacks {missing:?}");
}

#[test]
fn every_command_has_a_man_page_and_every_shell_completions() {
    let folder = tempfile::tempdir().expect("a folder");
    let man = folder.path().join("man");
    said_by(&["reference", "--man", man.to_str().expect("a path")]);
    for command in ["assay", "assay-memory", "assay-memory-diff", "assay-gc", "assay-run", "assay-capacity"] {
        let page = fs::read_to_string(man.join(format!("{command}.1"))).unwrap_or_default();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{command}");
    }
    assert!(!man.join("assay-emulated-guest.1").exists(), "a hidden command is shown");
    for shell in ["bash", "zsh", "fish", "elvish"] {
        let script = said_by(&["completions", shell]);
        assert!(script.contains("ASSAY_COMPLETE"), "{shell}");
    }
}

#[test]
fn the_reference_of_commands_is_up_to_date() {
    let said = said_by(&["reference"]);
    for part in ["\n## assay memory diff\n", "- `--watch", "Exit code 0: success", "(default `64m`)"] {
        assert!(said.contains(part), "{part} is missing");
    }
    assert!(
        !said.contains("emulated-guest") && !said.contains("\n## assay reference\n"),
        "a hidden command is shown"
    );
    is_up_to_date("docs/reference/commands.md", &said);
}
