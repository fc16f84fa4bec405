//! Every stored format has a schema in `docs/schemas/` and a result in `testdata/formats/` that this version reads.
//!
//! `UPDATE_EXPECT=1` writes the schemas anew. Results are never written anew: what an earlier version stored must stay readable, so a
//! raised number gets a file of its own beside the one before. How they were made stands in `testdata/formats/README.md`.

use assay_load::{Scenario, scenario_schema};
use assay_model::{
    Advice, CapacityReport, CarrierWaits, FlagsReport, GcComparison, GcEventsLine, GcReport, HeapLayouts,
    HeapModes, HeapPrediction, HostComparison, HostFacts, HostReport, HostSnapshot, LoadResult, MemoryChange,
    MemoryReport, MemorySample, MemoryTrim, Plan, ReadyMadeList, RunComparison, RunEvent, RunningJvms,
    StoredGcLine, Summary, TimeChange, TimeReport, Trial, WhatIf, schema,
};
use assay_study::{Study, load_run, study_schema, workload_schema};
use expect_test::expect_file;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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

/// `Written` is what a line is written from, `Read` what lines of every version are read into.
fn lines<Written: JsonSchema, Read: DeserializeOwned>(id: &'static str) -> Format {
    Format {
        id,
        extension: "ndjson",
        schema: of_type::<Written>(),
        read: |text| text.lines().try_for_each(read::<Read>),
    }
}

fn toml(id: &'static str, schema: Value, read: fn(&str) -> Result<(), String>) -> Format {
    Format { id, extension: "toml", schema, read }
}

fn format(id: &'static str) -> Format {
    match id {
        schema::PLAN => json::<Plan>(id),
        schema::HOST => json::<HostFacts>(id),
        schema::FLAGS => json::<FlagsReport>(id),
        schema::HOST_CHECK => json::<HostReport>(id),
        schema::HOST_SNAPSHOT => json::<HostSnapshot>(id),
        schema::HOST_COMPARISON => json::<HostComparison>(id),
        schema::WHAT_IF => json::<WhatIf>(id),
        schema::TRIAL => json::<Trial>(id),
        schema::SUMMARY => json::<Summary>(id),
        schema::RUN_COMPARISON => json::<RunComparison>(id),
        schema::LOAD => json::<LoadResult>(id),
        schema::CAPACITY => json::<CapacityReport>(id),
        schema::GC => json::<GcReport>(id),
        schema::GC_COMPARISON => json::<GcComparison>(id),
        schema::GC_EVENTS => lines::<GcEventsLine, StoredGcLine>(id),
        schema::MEMORY => json::<MemoryReport>(id),
        schema::MEMORY_ADVICE => json::<Advice>(id),
        schema::MEMORY_CHANGE => json::<MemoryChange>(id),
        schema::MEMORY_RECORD => lines::<MemoryRecordLine, MemoryRecordLine>(id),
        schema::MEMORY_TRIM => json::<MemoryTrim>(id),
        schema::MEMORY_JVMS => json::<RunningJvms>(id),
        schema::MEMORY_SAMPLES => lines::<MemorySample, MemorySample>(id),
        schema::HEAP_PREDICTION => json::<HeapPrediction>(id),
        schema::HEAP_LAYOUT => json::<HeapLayouts>(id),
        schema::HEAP_MODES => json::<HeapModes>(id),
        schema::TIME => json::<TimeReport>(id),
        schema::TIME_CHANGE => json::<TimeChange>(id),
        schema::RUN_EVENTS => lines::<RunEvent, RunEvent>(id),
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
        let current = schema::ALL.iter().find(|known| schema::is_readable(&id, known));
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

/// A kept result as this version writes it, without its number.
fn written_anew<T: DeserializeOwned + Serialize>(stored: &str) -> Value {
    let path = Path::new(ROOT).join("testdata/formats").join(stored);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let value: T = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{stored}: {e}"));
    let mut value = serde_json::to_value(value).expect("JSON");
    value["schema"] = Value::Null;
    value
}

#[test]
fn findings_of_the_number_before_findings_had_one_form_say_the_same_as_those_of_this_one() {
    #[track_caller]
    fn check<T: DeserializeOwned + Serialize>(before: &str, after: &str, list: &str) {
        let [old, new] = [before, after].map(|stored| written_anew::<T>(stored));
        assert_eq!(old, new, "{before} and {after}");
        let findings = new[list].as_array().expect("a list");
        assert!(findings.iter().all(|of| of["evidence"].is_array() && of["known_from"].is_string()));
        assert!(!findings.is_empty() || ["time-2.json", "heap-modes-3.json"].contains(&after), "{after}");
    }
    check::<GcReport>("gc-3.json", "gc-4.json", "findings");
    check::<TimeReport>("time-1.json", "time-2.json", "findings");
    check::<Summary>("summary-2.json", "summary-3.json", "findings");
    check::<MemoryReport>("memory-2.json", "memory-3.json", "findings");
    check::<Advice>("memory-advice-2.json", "memory-advice-3.json", "settings");
    check::<HostReport>("host-check-1.json", "host-check-2.json", "rulings");
    check::<HeapModes>("heap-modes-2.json", "heap-modes-3.json", "advice");
}

#[test]
fn renamed_keys_are_read_by_their_older_names() {
    assert_eq!(written_anew::<TimeReport>("time-2.json"), written_anew::<TimeReport>("time-3.json"));
    assert_eq!(written_anew::<MemoryReport>("memory-3.json"), written_anew::<MemoryReport>("memory-4.json"));
    let older = r#"{"carriers":2,"looks":40,"blocked":9,"calls":[{"call":"read","looks":9}]}"#;
    let waits: CarrierWaits = serde_json::from_str(older).expect("as version 2 wrote it");
    assert_eq!((waits.samples, waits.calls[0].samples), (40, 9));
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
    schema::ALL.iter().copied().find(|known| schema::is_readable(&named, known))
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
        let is_current = format.extension != "json" || text.contains(&format!("\"{id}\""));
        if is_current {
            validate(&format, &text, &path.display().to_string());
        }
        checked.insert(id);
    }
    let wanted = [schema::PLAN, schema::HOST, schema::TRIAL, schema::SUMMARY, schema::RUN_EVENTS];
    assert!(wanted.iter().all(|id| checked.contains(id)), "{checked:?}");
}
