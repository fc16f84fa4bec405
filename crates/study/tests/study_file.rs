//! Study files: every mistake is told at once, with its line and the nearest right word.

use assay_study::{StudyFile, study_schema};
use expect_test::{Expect, expect, expect_file};
use std::path::Path;

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
fn check(text: &str, want: Expect) {
    let found = match StudyFile::check(Path::new("x.toml"), text) {
        Ok(checked) => format!("no mistake in {}\n", checked.name()),
        Err(found) => found.iter().map(|d| format!("{d}\n")).collect(),
    };
    want.assert_eq(&found);
}

/// A server of the user's own in a few lines.
const OWN: &str = r#"
schema = "assay.study/1"
name = "own"
[server]
command = "java {jvm_options} -jar my.jar --port {port}"
ready_url = "http://127.0.0.1:{port}/"
"#;

#[test]
fn six_lines_are_a_study() {
    check(
        OWN,
        expect![[r#"
        no mistake in own
    "#]],
    );
}

#[test]
fn unknown_keys_words_and_kinds_are_all_told_with_the_nearest_right_one() {
    let text = r#"
schema = "assay.study/1"
name = "own"
primery_metric = "cpu_ms_per_request"
seed = "7"
observe = ["gc", "memry"]
[server]
comand = "java -jar my.jar"
ready_url = "http://127.0.0.1:{port}/"
[[factor]]
name = "mode"
[[factor.level]]
name = "a"
reference_mode = "32bit"
heap = "1"
[load]
kind = "closd"
[design]
window = "30"
blocks = 0
warm_up = { mim = "1s" }
"#;
    check(
        text,
        expect![[r#"
        x.toml:4: unknown key `primery_metric`; did you mean `primary_metric`?
        x.toml:5: `seed` must be a whole number, 0 or more
        x.toml:6: `observe`: unknown word `memry`; did you mean `memory`?
        x.toml:7: `server` lacks the key `command`
        x.toml:8: unknown key `comand`; did you mean `command`?
        x.toml:14: `factor.level.reference_mode`: unknown word `32bit`; did you mean `32-bit`?
        x.toml:15: `factor.level.heap`: `1` is not a size: write a whole number and k, m, g or t, like "512m"
        x.toml:17: `load.kind`: unknown word `closd`; did you mean `closed`?
        x.toml:19: `design.window`: `30` is not a duration: write a number and ms, s, m or h, like "30s"
        x.toml:20: `design.blocks` must be a whole number, 1 or more
        x.toml:21: unknown key `mim`; did you mean `min`?
    "#]],
    );
}

#[test]
fn a_text_that_is_no_toml_is_told_with_its_line() {
    check(
        "schema = \"assay.study/1\"\nname = own\n[server\n",
        expect![[r#"
        x.toml:2: this is no TOML: string values must be quoted, expected literal string
        x.toml:3: this is no TOML: unclosed table, expected `]`
    "#]],
    );
}

#[test]
fn combinations_that_cannot_be_are_told_for_each_variant() {
    let text = OWN.replace("name = \"own\"", "name = \"own\"\nbaseline = { mode = \"32\" }")
        + r#"
[[factor]]
name = "mode"
[[factor.level]]
name = "32-bit"
reference_mode = "32-bit"
[[factor.level]]
name = "zero-based"
reference_mode = "compressed-zero-based"
[[factor.level]]
name = "full, compact"
reference_mode = "64-bit"
compact_headers = true
[[factor]]
name = "heap"
[[factor.level]]
name = "1m"
heap = "1m"
[[factor.level]]
name = "31g"
heap = "31g"
[[exclude]]
mode = "full, compact"
heap = "31G"
"#;
    check(
        &text,
        expect![[r#"
        x.toml:4: unknown level `32`; known: 32-bit, zero-based, full, compact
        x.toml:12: variant `32-bit/1m`: heap 1m is below the 2m that a JVM starts with; exclude it with [[exclude]]
        x.toml:12: variant `32-bit/31g`: 32-bit with heap 31g: 2200m is the largest heap that the 32-bit JVM starts with; exclude it with [[exclude]]
        x.toml:15: variant `zero-based/1m`: heap 1m is below the 2m that a JVM starts with; exclude it with [[exclude]]
        x.toml:15: variant `zero-based/31g`: compressed-zero-based with heap 31g: 30g is the largest heap that is zero-based; exclude it with [[exclude]]
        x.toml:18: variant `full, compact/1m`: compact headers with 64-bit: they need compressed class pointers, as 64-bit-ccp has; exclude it with [[exclude]]
        x.toml:18: variant `full, compact/1m`: heap 1m is below the 2m that a JVM starts with; exclude it with [[exclude]]
        x.toml:18: variant `full, compact/31g`: compact headers with 64-bit: they need compressed class pointers, as 64-bit-ccp has; exclude it with [[exclude]]
        x.toml:31: unknown level `31G`; did you mean `31g`?
    "#]],
    );
}

#[test]
fn names_that_point_nowhere_are_told() {
    let text = r#"
schema = "assay.study/2"
name = "a b"
workload = "brokrage"
primary_metric = "cpu_per_request"
[[published]]
source = "a paper"
metric = "garbage_kib_per_reqest"
[published.relative]
64-bit = 1.5
[quick.levels]
mode = ["a"]
"#;
    check(
        text,
        expect![[r#"
        x.toml:2: unknown schema `assay.study/2`; write "assay.study/1"
        x.toml:3: the name `a b` names the run directory: up to 80 letters, digits, - and _
        x.toml:4: unknown workload `brokrage`; did you mean `brokerage`?
        x.toml:5: unknown metric `cpu_per_request`; did you mean `cpu_ms_per_request`?
        x.toml:8: unknown metric `garbage_kib_per_reqest`; did you mean `garbage_kib_per_request`?
        x.toml:10: unknown level `64-bit`; none is known here
        x.toml:12: unknown factor `mode`; none is known here
    "#]],
    );
}

#[test]
fn a_server_s_texts_are_checked() {
    let text = r#"
schema = "assay.study/1"
name = "own"
heap = "1g"
[server]
command = "java -jar 'my.jar --port {prot}"
ready_url = "http://example.com/"
audit_url = "http://127.0.0.1:{port}/audit/{option.data}"
[load]
kind = "open"
users = 3
"#;
    check(
        text,
        expect![[r#"
            x.toml:6: the command cannot be split: the quote ' is not closed
            x.toml:6: the study sets JVM options, but the command has no {jvm_options} that takes them
            x.toml:7: `http://example.com/` must be http://127.0.0.1:PORT/...: the server under test runs on this machine
            x.toml:8: unknown placeholder {option.data}; known: java, jvm_options, port, server_dir, cache, workload_dir, seed, postgresql_port, postgresql_user, postgresql_password
            x.toml:9: open load needs rate_per_s
            x.toml:11: `users` means nothing for open load
        "#]],
    );
}

#[test]
fn the_checked_in_schema_is_the_one_of_the_types() {
    let schema = serde_json::to_string_pretty(&study_schema()).unwrap() + "\n";
    expect_file!["../../../docs/study.schema.json"].assert_eq(&schema);
}

#[test]
fn the_ready_made_studies_have_no_mistake() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).expect("studies").flatten() {
        if let Err(found) = StudyFile::read(&entry.path()) {
            panic!("{}", found.iter().map(|d| format!("{d}\n")).collect::<String>());
        }
        read += 1;
    }
    assert!(read >= 3, "{read} studies");
}
