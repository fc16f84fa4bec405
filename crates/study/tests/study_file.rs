//! Study files: every mistake is told at once, with its line and the nearest right word.

use assay_study::Study;
use expect_test::{Expect, expect};
use std::path::Path;

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better where it is called")]
pub fn check(text: &str, want: Expect) {
    let found = match Study::check(Path::new("x.toml"), text) {
        Ok(checked) => format!("no mistake in {}\n", checked.name()),
        Err(found) => found.iter().map(|d| format!("{d}\n")).collect(),
    };
    want.assert_eq(&found);
}

/// A server of the user's own in a few lines.
pub const OWN: &str = r#"
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
        x.toml:8: unknown key `comand`; did you mean `command`?
        x.toml:14: `factor.level.reference_mode`: unknown word `32bit`; did you mean `32-bit`?
        x.toml:15: `factor.level.heap`: `1` is not a size: write a whole number and k, m, g or t, like "512m"
        x.toml:17: `load.kind`: unknown word `closd`; did you mean `closed`?
        x.toml:19: `design.window`: `30` has no unit: write "30s" for seconds, or ms, m or h
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
        x.toml:2: this is not TOML: string values must be quoted, expected literal string
        x.toml:3: this is not TOML: unclosed table, expected `]`
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
name = "33g"
heap = "33g"
[[exclude]]
mode = "full, compact"
heap = "33G"
"#;
    check(
        &text,
        expect![[r#"
        x.toml:4: unknown level `32`; known: 32-bit, zero-based, full, compact
        x.toml:12: variant `32-bit/1m`: heap 1m is below the 2m that a JVM starts with; exclude it with [[exclude]]
        x.toml:12: variant `32-bit/33g`: 32-bit with heap 33g: does not start: a 32-bit JVM cannot count 4 GiB; exclude it with [[exclude]]
        x.toml:15: variant `zero-based/1m`: heap 1m is below the 2m that a JVM starts with; exclude it with [[exclude]]
        x.toml:15: variant `zero-based/33g`: compressed-zero-based with heap 33g: -Xmx is above 32736 MiB: the 32 GiB that 32-bit references reach at alignment 8, less 32 MiB kept for alignment; exclude it with [[exclude]]
        x.toml:18: variant `full, compact/1m`: heap 1m is below the 2m that a JVM starts with; exclude it with [[exclude]]
        x.toml:18: variant `full, compact/33g`: compact headers with 64-bit: they need compressed class pointers, as 64-bit-ccp has; exclude it with [[exclude]]
        x.toml:31: unknown level `33G`; did you mean `33g`?
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
fn a_claim_states_a_change_from_a_level_or_a_value() {
    let text = OWN.to_owned()
        + r#"
[[factor]]
name = "flags"
level = [{ name = "default" }, { name = "all" }]
[[claim]]
source = "a post"
metric = "throughput_per_s"
variant = "al"
change_percent = 31
[[claim]]
source = "a post"
metric = "throughput_per_s"
variant = "all"
baseline = "default"
change_percent = 31
value = 122_074
[[claim]]
source = "a post"
metric = "throughput"
variant = "all"
value = 122_074
at = { heap = "1g" }
"#;
    check(
        &text,
        expect![[r#"
            x.toml:11: a claim about a change needs a `baseline`: the level that it starts from
            x.toml:14: unknown level `al`; did you mean `all`?
            x.toml:16: a claim states a `change_percent`, a range of it (`change_percent_min`, `change_percent_max`), a `direction` or a `value`: one of them
            x.toml:25: unknown metric `throughput`; did you mean `throughput_per_s`?
            x.toml:28: unknown factor `heap`; known: flags
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
            x.toml:6: the command cannot be split: missing closing quote
            x.toml:7: `http://example.com/` must be http://127.0.0.1:PORT/... (or https://): the server under test runs on this machine
            x.toml:8: unknown placeholder {option.data}; known: java, jvm_options, server_dir, cache, workload_dir, seed, build, port
            x.toml:9: open load needs rate_per_s
        "#]],
    );
}

/// A benchmark program of the user's own.
const BENCHMARK: &str = r#"
schema = "assay.study/1"
name = "own"
heap = "1g"
[benchmark]
command = "java -jar benchmarks.jar '-jvmArgs={jvm_options}' -rf json -rff {results}"
"#;

#[test]
fn a_benchmark_program_is_a_study_in_as_few_lines() {
    check(
        BENCHMARK,
        expect![[r#"
        no mistake in own
    "#]],
    );
}

#[test]
fn what_means_something_for_servers_only_is_told() {
    let text = BENCHMARK.replace("{results}", "{port}").replace("heap = ", "scenario = \"x\"\nheap = ")
        + r#"
[load]
kind = "closed"
[design]
kind = "resident"
warm_up = { min = "1s" }
[[published]]
source = "a paper"
metric = "throughput_per_s"
[[published]]
source = "a paper"
metric = "ns_per_op/X.run(n=1)"
"#;
    check(
        &text,
        expect![[r#"
            x.toml:4: a scenario means nothing for a benchmark program, which loads and warms itself
            x.toml:7: the command has no {results}, the file that it must write: -rf json -rff {results}
            x.toml:7: unknown placeholder {port}; known: java, jvm_options, server_dir, cache, workload_dir, seed, build, results
            x.toml:9: load means nothing for a benchmark program, which loads and warms itself
            x.toml:12: the resident design means nothing for a benchmark program, which loads and warms itself
            x.toml:13: a warm-up means nothing for a benchmark program, which loads and warms itself
            x.toml:16: unknown metric `throughput_per_s`; known: ns_per_op, cpu_ns_per_op, allocated_bytes_per_op, live_bytes, busiest_softirq_percent, rss_bytes, native_bytes, class_metadata_bytes, jit_code_bytes, jvm_work_bytes, native_libraries_bytes, buffers_bytes, stacks_bytes, freed_resident_bytes
        "#]],
    );
    let both = BENCHMARK.to_owned() + "[server]\ncommand = \"x\"\nready_url = \"http://127.0.0.1:{port}/\"";
    check(
        &both,
        expect![[r#"
            x.toml:5: a study has either `[server]` or `[benchmark]`, not both
        "#]],
    );
}

#[test]
fn mistakes_around_the_jdks_of_the_machine_are_told() {
    let text = OWN.replace(
        "name = \"own\"",
        "name = \"own\"\nbaseline = { JDK = \"16\" }\nexclude = [{ JDK = \"21\" }, { JDK = \"017\" }]",
    ) + r#"
[[factor]]
name = "JDK"
each_jdk_from = 17
level = [{ name = "17", jvm = "17" }]
[[factor]]
name = "none found"
each_jdk_from = 999
[[published]]
source = "a paper"
metric = "throughput_per_s"
relative = { 11 = 1.0, 21 = 1.1 }
"#;
    check(
        &text,
        expect![[r#"
            x.toml:4: unknown level `16`; did you mean `17`?
            x.toml:5: unknown level `017`; did you mean `17`?
            x.toml:12: factor `JDK` has either each_jdk_from or [[factor.level]], not both
            x.toml:16: there is no JDK 999 or later here (looked at PATH, JAVA_HOME, /usr/lib/jvm and .assay/jvm); workloads/jvm/fetch 999 provides it
            x.toml:20: unknown level `11`; did you mean `17`?
        "#]],
    );
    check(
        &format!("{OWN}[[factor]]\nname = \"JDK\"\neach_jdk_from = \"17\"\n"),
        expect![[r#"
            x.toml:9: `factor.each_jdk_from` must be a whole number, 8 or more
        "#]],
    );
}

#[test]
fn parts_stand_beside_the_study_and_have_no_parts_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, parts: &str| {
        let text = format!(
            "schema = \"assay.study/1\"\nname = \"{name}\"\nparts = {parts}\n[server]\n\
             command = \"java {{jvm_options}} {{port}}\"\nready_url = \"http://127.0.0.1:{{port}}/\"\n"
        );
        let path = folder.path().join(format!("{name}.toml"));
        std::fs::write(&path, text).unwrap();
        path
    };
    write("one", "[]");
    let both = write("both", "[\"one.toml\"]");
    assert_eq!(Study::read(&both).unwrap().parts(), [folder.path().join("one.toml")]);
    let wrong = write("wrong", "[\"both.toml\", \"none.toml\", \"../one.toml\"]");
    let found = Study::read(&wrong).unwrap_err().into_iter().map(|d| d.message).collect::<Vec<_>>();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().any(|m| m.contains("`both.toml` has parts itself")), "{found:?}");
    assert!(found.iter().any(|m| m.contains("no study file `none.toml` in")), "{found:?}");
    assert!(found.iter().any(|m| m.contains("no study file `../one.toml` in")), "{found:?}");
}

#[test]
fn the_ready_made_studies_have_no_mistake() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).expect("studies").flatten() {
        if let Err(found) = Study::read(&entry.path()) {
            panic!("{}", found.iter().map(|d| format!("{d}\n")).collect::<String>());
        }
        read += 1;
    }
    assert!(read >= 3, "{read} studies");
}

#[test]
fn what_has_not_the_right_shape_hides_no_other_mistake_and_makes_none() {
    let text = OWN
        .replace("name = \"own\"", "name = \"own\"\nseed = \"7\"\nprimary_metric = \"cpu_per_request\"")
        + r#"
[[factor]]
name = "heap"
level = [{ name = "a", heap = "1" }, { name = "a", heap = "2g" }]
[design]
window = "50ms"
blocks = 0
"#;
    check(
        &text,
        expect![[r#"
        x.toml:4: `seed` must be a whole number, 0 or more
        x.toml:5: unknown metric `cpu_per_request`; did you mean `cpu_ms_per_request`?
        x.toml:12: `factor.level.heap`: `1` is not a size: write a whole number and k, m, g or t, like "512m"
        x.toml:12: factor `heap` has two levels `a`
        x.toml:14: a window of 0.05 s is too short to count in
        x.toml:15: `design.blocks` must be a whole number, 1 or more
    "#]],
    );
}

#[test]
fn what_no_machine_could_run_is_told_whatever_machine_it_is() {
    let text = OWN.replace("java {jvm_options} -jar my.jar --port {port}", "./my-server --quiet");
    check(
        &text,
        expect![[r#"
            x.toml:5: ready_url has {port}, and neither the command nor an environment variable gives the server that port
        "#]],
    );
}

#[test]
fn what_the_command_cannot_take_and_folders_that_are_not_there_are_told_by_a_plan() {
    let prepared =
        |text: &str| match Study::check(Path::new("x.toml"), text).map(|checked| checked.prepare(false)) {
            Ok(Err(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
    let own = OWN.replace("java {jvm_options} -jar my.jar", "sleep");
    let told = prepared(&own.replace("name = \"own\"", "name = \"own\"\njvm = \"99\""));
    assert!(told.contains("x.toml:4: the command starts no JVM"), "{told}");
    let told = prepared(&(own + "directory = \"/no/such/folder\"\n"));
    assert!(told.contains("x.toml:7: there is no folder /no/such/folder"), "{told}");
}

#[test]
fn a_file_that_is_not_utf_8_is_told_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    std::fs::write(&path, b"schema = \"assay.study/1\"\nname = \"own\"\nquestion = \"caf\xe9\"\n").unwrap();
    let found = Study::read(&path).unwrap_err();
    assert_eq!((found.len(), found[0].line), (1, Some(3)), "{found:?}");
    assert!(found[0].message.contains("UTF-8"), "{found:?}");
}

#[test]
fn words_for_sentences_belong_to_levels_of_the_first_factor() {
    let factors = r#"
[[factor]]
name = "flags"
level = [{ name = "default", called = "a server with its defaults" }, { name = "all" }]
[[factor]]
name = "heap"
level = [{ name = "1g", called = "a small heap" }, { name = "2g" }]
"#;
    let found = Study::check(Path::new("x.toml"), &format!("{OWN}{factors}")).unwrap_err();
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert!(one.message.contains("`called` belongs to those"), "{one:?}");
}
