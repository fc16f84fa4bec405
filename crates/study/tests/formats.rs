//! Every stored format has a schema in `docs/schemas/` and a result in `testdata/formats/` that this version reads.
//!
//! `UPDATE_EXPECT=1` writes the schemas anew. Results are never written anew: what an earlier version stored must stay readable, so a
//! raised number gets a file of its own beside the one before. How they were made stands in `testdata/formats/README.md`.

use assay_load::{Scenario, scenario_schema};
use assay_model::{
    Advice, CapacityReport, CarrierWaits, Change, FaultRecord, FlagsReport, GcComparison, GcEventsLine,
    GcReconciliation, GcReport, HardwareCounters, HeapLayouts, HeapModes, HeapPrediction, HostComparison,
    HostFacts, HostReport, HostSnapshot, LoadResult, LostInjector, MemoryChange, MemoryReport, MemorySample,
    MemoryTrim, OperationCount, Plan, ProtocolSummary, ReadyMadeList, RecordedStacks, RunComparison,
    RunEvent, RunningJvms, Scaling, StoredGcLine, Summary, TimeChange, TimeReport, TracedRole,
    TreatmentRecord, Trial, WhatIf, schema,
};
use assay_study::{Study, load_run, study_schema, workload_schema};
use expect_test::expect_file;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
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
fn renamed_keys_and_words_are_read_by_their_older_names() {
    #[track_caller]
    fn check<T: DeserializeOwned + Serialize>(before: &str, after: &str) {
        assert_eq!(written_anew::<T>(before), written_anew::<T>(after), "{before} and {after}");
    }
    check::<TimeReport>("time-2.json", "time-3.json");
    check::<TimeReport>("time-3.json", "time-4.json");
    check::<MemoryReport>("memory-3.json", "memory-4.json");
    check::<MemoryReport>("memory-4.json", "memory-5.json");
    check::<MemoryChange>("memory-change-2.json", "memory-change-3.json");
    check::<Advice>("memory-advice-3.json", "memory-advice-4.json");
    check::<GcReport>("gc-4.json", "gc-5.json");
    check::<GcComparison>("gc-comparison-1.json", "gc-comparison-2.json");
    check::<Trial>("trial-3.json", "trial-4.json");
    check::<Summary>("summary-3.json", "summary-4.json");
    check::<LoadResult>("load-2.json", "load-3.json");
    check::<CapacityReport>("capacity-3.json", "capacity-4.json");
    check::<HeapPrediction>("heap-prediction-2.json", "heap-prediction-3.json");
    check::<HeapModes>("heap-modes-3.json", "heap-modes-4.json");
    check::<HostReport>("host-check-2.json", "host-check-3.json");
    check::<HostComparison>("host-comparison-1.json", "host-comparison-2.json");
    check::<WhatIf>("what-if-1.json", "what-if-2.json");
}

/// Keys that no kept result has.
#[test]
fn renamed_keys_of_rare_values_are_read_by_their_older_names() {
    #[track_caller]
    fn check<T: DeserializeOwned + Serialize>(older: &Value, renamed: &[(&str, &str)]) {
        let read: T = serde_json::from_value(older.clone()).unwrap_or_else(|e| panic!("{older}: {e}"));
        let written = serde_json::to_value(read).expect("JSON");
        for (before, now) in renamed {
            assert_eq!((&older[before], written.get(before)), (&written[now], None), "{before}: {written}");
        }
    }
    let waits =
        json!({ "carriers": 2, "looks": 40, "blocked": 9, "calls": [{ "call": "read", "looks": 9 }] });
    check::<CarrierWaits>(&waits, &[("looks", "samples")]);
    let counters = json!({ "threads": 8, "threads_missed": 0, "turns": 6, "figures": [] });
    check::<HardwareCounters>(&counters, &[("turns", "event_groups")]);
    let role = json!({
        "role": null, "cpu_ns": 9, "user_ns": 4, "kernel_ns": 5, "parts": [], "calls": 3, "faults_user": 0, "faults_kernel": 0,
        "faults_kernel_ns": null, "turns": 7, "run_delay_ns": 0, "voluntary_switches": 6, "involuntary_switches": 1,
    });
    check::<TracedRole>(&role, &[("turns", "times_scheduled")]);
    let stacks = json!({
        "events": [], "unit": "samples", "count": 3, "weight": 3, "without_stack": 0, "cut": 2, "frames": [], "stacks": [],
        "other_weight": 0,
    });
    check::<RecordedStacks>(&stacks, &[("cut", "truncated")]);
    let treatment =
        json!({ "setting": "s", "before": null, "asked": "always", "found": null, "undone": true });
    check::<TreatmentRecord>(&treatment, &[("asked", "requested")]);
    let fault = json!({ "role": "helper", "action": { "kind": "kill" }, "asked_s": 1.5 });
    check::<FaultRecord>(&fault, &[("asked_s", "planned_s")]);
    let operation = json!({ "name": "buy", "asked_share": 0.5, "drawn": 4, "requests": 3, "errors": 0 });
    check::<OperationCount>(&operation, &[("asked_share", "planned_share"), ("drawn", "selected")]);
    let protocol = json!({ "name": "http/2", "streams": 9, "left_by_server": 2, "reset_by_server": 0 });
    check::<ProtocolSummary>(&protocol, &[("left_by_server", "closed_by_server")]);
    let lost =
        json!({ "why": "w", "noticed_after_s": 1.0, "requests_by_last_word": 7, "last_word_age_s": 0.5 });
    let renamed =
        [("requests_by_last_word", "requests_by_last_report"), ("last_word_age_s", "last_report_age_s")];
    check::<LostInjector>(&lost, &renamed);
    let compared = json!({ "what": "GCs", "said": 7.0, "read": 7.0, "rounding": 0.0, "at": [0, 9] });
    check::<GcReconciliation>(&compared, &[("said", "logged")]);
    let event = json!({
        "at": "t", "elapsed_s": 1.0, "remaining_s": null, "event": "load-progress", "number": 1, "load_s": 2.0, "of_s": 9.0,
        "asked_rate_per_s": 60.0, "completed": 5, "errors": 0, "in_flight": 1, "p50_ms": null, "p99_ms": null,
    });
    check::<RunEvent>(&event, &[("of_s", "planned_s"), ("asked_rate_per_s", "offered_rate_per_s")]);
    let event = json!({
        "at": "t", "elapsed_s": 1.0, "remaining_s": null, "event": "capacity-window-ended", "number": 1, "step": "refine",
        "asked_rate_per_s": 60.0, "reached_rate_per_s": 59.0, "limited_ms": null, "is_sustained": true, "left_out": [],
    });
    let renamed = [("asked_rate_per_s", "offered_rate_per_s"), ("reached_rate_per_s", "achieved_rate_per_s")];
    check::<RunEvent>(&event, &renamed);
    let scaling = json!({
        "metric": "m", "factor": "f", "others": {}, "levels": [1.0, 2.0], "blocks": 3,
        "exponent": { "estimate": 1.0, "low": 0.9, "high": 1.1, "n": 3 }, "misfit": 1.2,
    });
    check::<Scaling>(&scaling, &[("misfit", "max_residual_ratio")]);
    let change = json!({ "command": "-Xmx1g", "brings": "room" });
    check::<Change>(&change, &[("brings", "expected_effect")]);
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
        // Lines of a number that they do not name are of the first one: that of the kept run.
        let is_current = parts(id).1 == 1 || text.contains(&format!("\"{id}\""));
        if is_current {
            validate(&format, &text, &path.display().to_string());
        }
        checked.insert(id);
    }
    let wanted = [schema::PLAN, schema::HOST, schema::TRIAL, schema::SUMMARY, schema::RUN_EVENTS];
    assert!(wanted.iter().all(|id| checked.contains(id)), "{checked:?}");
}
