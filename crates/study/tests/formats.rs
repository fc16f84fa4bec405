//! Every stored format has a schema in `docs/schemas/` and a result in `testdata/formats/` that this version reads.
//!
//! `UPDATE_EXPECT=1` writes the schemas anew. Results are never written anew: what a released version stored must stay readable, so a
//! raised number gets a file of its own beside the one before. How they were made stands in `testdata/formats/README.md`.

use assay_load::{Scenario, scenario_schema};
use assay_model::{
    AbReport, Advice, BisectReport, CapacityReport, FitReport, FlagsReport, GcComparison, GcEventsLine,
    GcReport, HeapLayouts, HeapModes, HeapPrediction, HostComparison, HostFacts, HostReport, HostSnapshot,
    Hosts, JudgeReport, LoadResult, MemoryChange, MemoryEnd, MemoryPageOut, MemoryReport, MemorySample,
    MemoryToolReport, MemoryTrim, Plan, ReadyMadeList, RunComparison, RunEvent, RunningJvms, Summary,
    TimeChange, TimeReport, Trial, WhatIf, WhyReport, schema,
};
use assay_results::load_run;
use assay_study::{Study, study_schema, workload_schema};
use expect_test::expect_file;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// How this version reads and describes a format.
struct Format {
    id: &'static str,
    extension: &'static str,
    schema: Value,
    read: fn(&str) -> Result<(), String>,
}

/// The first line of a file of `assay memory --record`, or another one.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "read only")]
enum MemoryRecordLine {
    Report(Box<MemoryReport>),
    Header { schema: String },
    End { end: MemoryEnd },
}

/// What a reader needs: a key that came later under the same number is not required, since earlier results lack it.
fn of_type<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

fn read<T: DeserializeOwned>(text: &str) -> Result<(), String> {
    serde_json::from_str::<T>(text).map(drop).map_err(|e| e.to_string())
}

fn json<T: JsonSchema + DeserializeOwned>(id: &'static str) -> Format {
    Format { id, extension: "json", schema: of_type::<T>(), read: read::<T> }
}

fn lines<T: JsonSchema + DeserializeOwned>(id: &'static str) -> Format {
    Format {
        id,
        extension: "ndjson",
        schema: of_type::<T>(),
        read: |text| text.lines().try_for_each(read::<T>),
    }
}

fn toml(id: &'static str, schema: Value, read: fn(&str) -> Result<(), String>) -> Format {
    Format { id, extension: "toml", schema, read }
}

fn format(id: &'static str) -> Format {
    match id {
        schema::PLAN => json::<Plan>(id),
        schema::HOST => json::<HostFacts>(id),
        schema::HOSTS => json::<Hosts>(id),
        schema::FLAGS => json::<FlagsReport>(id),
        schema::HOST_CHECK => json::<HostReport>(id),
        schema::HOST_SNAPSHOT => json::<HostSnapshot>(id),
        schema::HOST_COMPARISON => json::<HostComparison>(id),
        schema::WHAT_IF => json::<WhatIf>(id),
        schema::TRIAL => json::<Trial>(id),
        schema::SUMMARY => json::<Summary>(id),
        schema::RUN_COMPARISON => json::<RunComparison>(id),
        schema::AB => json::<AbReport>(id),
        schema::FIT => json::<FitReport>(id),
        schema::JUDGE => json::<JudgeReport>(id),
        schema::BISECT => json::<BisectReport>(id),
        schema::LOAD => json::<LoadResult>(id),
        schema::CAPACITY => json::<CapacityReport>(id),
        schema::GC => json::<GcReport>(id),
        schema::GC_COMPARISON => json::<GcComparison>(id),
        schema::GC_EVENTS => lines::<GcEventsLine>(id),
        schema::MEMORY => json::<MemoryReport>(id),
        schema::MEMORY_ADVICE => json::<Advice>(id),
        schema::MEMORY_CHANGE => json::<MemoryChange>(id),
        schema::MEMORY_RECORD => lines::<MemoryRecordLine>(id),
        schema::MEMORY_PAGE_OUT => json::<MemoryPageOut>(id),
        schema::MEMORY_TRIM => json::<MemoryTrim>(id),
        schema::MEMORY_JVMS => json::<RunningJvms>(id),
        schema::MEMORY_TOOL_REPORT => json::<MemoryToolReport>(id),
        schema::MEMORY_SAMPLES => lines::<MemorySample>(id),
        schema::HEAP_PREDICTION => json::<HeapPrediction>(id),
        schema::HEAP_LAYOUT => json::<HeapLayouts>(id),
        schema::HEAP_MODES => json::<HeapModes>(id),
        schema::TIME => json::<TimeReport>(id),
        schema::TIME_CHANGE => json::<TimeChange>(id),
        schema::WHY => json::<WhyReport>(id),
        schema::RUN_EVENTS => lines::<RunEvent>(id),
        schema::STUDIES => json::<ReadyMadeList>(id),
        schema::STUDY_FILE => toml(id, study_schema(), |text| {
            toml::from_str::<Study>(text).map(drop).map_err(|e| e.to_string())
        }),
        schema::WORKLOAD_FILE => toml(id, workload_schema(), |_| Ok(())),
        schema::SCENARIO_FILE => toml(id, scenario_schema(), |text| {
            Scenario::parse(text, "scenario").map(drop).map_err(|e| e.to_string())
        }),
        _ => panic!("{id}: this test knows no type that reads it"),
    }
}

/// `assay.gc/2` to `gc` and 2.
fn parts(id: &str) -> (&str, u32) {
    let (name, number) = id.strip_prefix("assay.").and_then(|id| id.rsplit_once('/')).expect("assay.NAME/N");
    (name, number.parse().expect("a number"))
}

/// The schema with its name, which is no address: nobody fetches it from anywhere.
fn named(format: &Format) -> Value {
    let (name, number) = parts(format.id);
    let mut schema = format.schema.clone();
    schema["$id"] = format!("urn:assay:{name}:{number}").into();
    schema
}

fn instances(format: &Format, text: &str) -> Vec<Value> {
    let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    match format.extension {
        "toml" => {
            let value = toml::from_str::<toml::Value>(text).expect("TOML");
            vec![serde_json::to_value(value).expect("as JSON")]
        }
        "ndjson" => text.lines().map(json).collect(),
        _ => vec![json(text)],
    }
}

#[track_caller]
fn validate(format: &Format, text: &str, name: &str) {
    let validator = jsonschema::validator_for(&named(format)).expect("a schema");
    for instance in instances(format, text) {
        let wrong: Vec<String> = validator
            .iter_errors(&instance)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .take(5)
            .collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    paths
}

#[test]
fn every_format_has_its_schema_and_no_schema_is_of_none() {
    let mut known = BTreeSet::new();
    for format in schema::ALL.iter().map(|id| format(id)) {
        let name = format!("{}.schema.json", parts(format.id).0);
        let text = serde_json::to_string_pretty(&named(&format)).expect("JSON") + "\n";
        expect_file![format!("{ROOT}/docs/schemas/{name}")].assert_eq(&text);
        known.insert(name);
    }
    for path in files(&Path::new(ROOT).join("docs/schemas")) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(known.contains(&name), "{name} is the schema of no format");
    }
}

#[test]
fn every_kept_result_is_read_and_those_of_this_version_keep_to_their_schema() {
    let mut missing: BTreeSet<String> = schema::ALL.iter().map(|id| (*id).to_owned()).collect();
    for path in files(&Path::new(ROOT).join("testdata/formats")) {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() || name == "README.md" {
            continue;
        }
        let stem = name.split_once('.').expect("an extension").0;
        let (stem, number) = stem.rsplit_once('-').expect("NAME-NUMBER.EXTENSION");
        let id = format!("assay.{stem}/{number}");
        let current = schema::ALL.iter().find(|known| schema::check(&id, known).is_ok());
        let format = format(current.unwrap_or_else(|| panic!("{name}: no reader reads {id}")));
        let text = std::fs::read_to_string(&path).expect("a text");
        (format.read)(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        if format.id == id {
            validate(&format, &text, &name);
        }
        missing.remove(&id);
    }
    assert!(missing.is_empty(), "formats of which no result is kept in testdata/formats: {missing:?}");
}

/// Which format a file of a run directory is in: of JSON what it says, of the others what they are called.
fn format_of(path: &Path, text: &str) -> Option<&'static str> {
    let named = match path.file_name()?.to_str()? {
        "gc.ndjson" => schema::GC_EVENTS.to_owned(),
        "memory.ndjson" => schema::MEMORY_SAMPLES.to_owned(),
        "events.ndjson" => schema::RUN_EVENTS.to_owned(),
        "study.toml" => schema::STUDY_FILE.to_owned(),
        name if name.ends_with(".json") => {
            let value: Value = serde_json::from_str(text).expect("JSON");
            value["schema"]
                .as_str()
                .unwrap_or_else(|| panic!("{} names no schema", path.display()))
                .to_owned()
        }
        _ => return None,
    };
    schema::ALL.iter().copied().find(|known| schema::check(&named, known).is_ok())
}

#[test]
fn a_kept_run_directory_is_read_whole_and_each_of_its_files_keeps_to_its_schema() {
    let dir = Path::new(ROOT).join("testdata/formats/run");
    let run = load_run(&dir).expect("a run");
    assert!(!run.trials.is_empty() && run.summary.is_some_and(|summary| !summary.comparisons.is_empty()));
    assert!(run.trials.iter().all(|stored| stored.trial.counts() && !stored.memory.is_empty()));
    let mut checked = BTreeSet::new();
    let trials = files(&dir.join("trials"));
    for path in files(&dir).into_iter().chain(trials.iter().flat_map(|trial| files(trial))) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Some(id) = format_of(&path, &text) else { continue };
        let format = format(id);
        (format.read)(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        validate(&format, &text, &path.display().to_string());
        checked.insert(id);
    }
    let wanted = [schema::PLAN, schema::HOST, schema::TRIAL, schema::SUMMARY, schema::RUN_EVENTS];
    assert!(wanted.iter().all(|id| checked.contains(id)), "{checked:?}");
}

/// The kept run, of which one file says that it is of another number.
fn run_with(file: &str, schema: &str, other: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let kept = Path::new(ROOT).join("testdata/formats/run");
    let copied = std::process::Command::new("cp").arg("-R").arg(&kept).arg(dir.path()).status();
    assert!(copied.expect("cp starts").success());
    let path = dir.path().join("run").join(file);
    let text = std::fs::read_to_string(&path).expect("a file of a run");
    assert!(text.contains(&format!("\"{schema}\"")), "{file} is of another number");
    std::fs::write(&path, text.replace(&format!("\"{schema}\""), &format!("\"{other}\""))).expect("written");
    let run = dir.path().join("run");
    (dir, run)
}

#[test]
fn a_run_with_a_file_of_a_number_that_is_not_read_is_refused_with_the_file_and_what_to_do() {
    for (file, schema) in [
        ("plan.json", schema::PLAN),
        ("host.json", schema::HOST),
        ("summary.json", schema::SUMMARY),
        ("trials/01-compressed/trial.json", schema::TRIAL),
        ("trials/01-compressed/gc.json", schema::GC),
        ("trials/01-compressed/gc.ndjson", schema::GC_EVENTS),
        ("trials/01-compressed/memory.json", schema::MEMORY),
    ] {
        let (name, number) = parts(schema);
        for (other, to_do) in [(number - 1, "measure again"), (number + 1, "take a newer Assay")] {
            let other = format!("assay.{name}/{other}");
            let (_dir, run) = run_with(file, schema, &other);
            let refused = load_run(&run).expect_err(&other).to_string();
            for part in [file, &format!("it is {other}, "), &format!("this version reads {schema}: {to_do}")]
            {
                assert!(refused.contains(part), "{part}: {refused}");
            }
        }
    }
}
