//! The reference pages of study, scenario and workload files have every key of their schema, in examples that are such files. What is
//! ready-made names its schema in the first line, for editors, and keeps to it.

use assay_load::{Scenario, scenario_schema};
use assay_study::{Study, study_schema, workload_schema};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn page(name: &str) -> PathBuf {
    Path::new(ROOT).join("docs/reference").join(name)
}

fn examples(name: &str) -> Vec<String> {
    let page = fs::read_to_string(page(name)).expect("the page");
    page.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

/// Notes each key that a value has, as `Definition.key`, and those below it. `name` is the definition that the schema is a part of.
fn note(root: &Value, name: &str, schema: &Value, value: &toml::Value, seen: &mut BTreeSet<String>) {
    if let Some(name) = schema.get("$ref").and_then(|name| name.as_str()?.strip_prefix("#/$defs/")) {
        return note(root, name, &root["$defs"][name], value, seen);
    }
    let parts = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    parts.for_each(|part| note(root, name, part, value, seen));
    match value {
        toml::Value::Table(table) => {
            for (key, below) in table {
                let property = schema.get("properties").and_then(|all| all.get(key));
                if let Some(property) = property {
                    seen.insert(format!("{name}.{key}"));
                    note(root, name, property, below, seen);
                } else if let Some(of_any) = schema.get("additionalProperties") {
                    note(root, name, of_any, below, seen);
                }
            }
        }
        toml::Value::Array(values) => {
            let items = schema.get("items").into_iter();
            items.for_each(|items| values.iter().for_each(|value| note(root, name, items, value, seen)));
        }
        _ => {}
    }
}

/// Keys of a schema that no example on a page has.
fn missing(name: &str, title: &str, root: &Value) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for example in examples(name) {
        let value: toml::Value = toml::from_str(&example).expect("TOML");
        note(root, title, root, &value, &mut seen);
    }
    let mut keys = BTreeSet::new();
    let of_root = root["$defs"].as_object().expect("definitions").iter();
    for (name, schema) in of_root.map(|(name, schema)| (name.as_str(), schema)).chain([(title, root)]) {
        let properties = schema.get("properties").and_then(Value::as_object);
        keys.extend(properties.into_iter().flatten().map(|(key, _)| format!("{name}.{key}")));
    }
    assert!(20 < keys.len(), "{keys:?}");
    keys.difference(&seen).cloned().collect()
}

#[test]
fn every_key_of_a_study_file_stands_in_an_example() {
    // Below `Study` the settings stand for all variants; of those, limits of the server are for levels alone.
    assert_eq!(missing("study-file.md", "Study", &study_schema()), BTreeSet::new());
}

#[test]
fn every_key_of_a_scenario_file_stands_in_an_example() {
    assert_eq!(missing("scenario-file.md", "Scenario", &scenario_schema()), BTreeSet::new());
}

#[test]
fn every_key_of_a_workload_file_stands_in_an_example() {
    // Of a server that runs already, which a study names itself.
    const OF_A_RUNNING_SERVER: [&str; 6] = [
        "ServerTable.companions",
        "ServerTable.gc_log",
        "ServerTable.pid",
        "ServerTable.tls",
        "ServerTable.url",
        "TlsTable",
    ];
    let missing = missing("workload-file.md", "Workload", &workload_schema());
    let is_for_workloads = |key: &&String| !OF_A_RUNNING_SERVER.iter().any(|known| key.starts_with(known));
    assert_eq!(missing.iter().filter(is_for_workloads).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// What the examples name and nobody has: files beside them, and programs.
const NOT_HERE: [&str; 10] = [
    "v2.3",
    "shop.toml",
    "shop-data",
    "nginx",
    "benchmarks.jar",
    "shop.jar",
    "part.toml",
    ".pem",
    "client.key",
    "gc.log",
];

/// What is wrong with a study, apart from what is not here.
fn mistakes(file: &Path, text: &str) -> Vec<String> {
    let found = Study::check(file, text).err().unwrap_or_default();
    let texts = found.iter().filter(|of| !of.environment).map(ToString::to_string);
    texts.filter(|text| !NOT_HERE.iter().any(|file| text.contains(file))).collect()
}

#[test]
fn every_example_of_a_study_file_is_one() {
    let examples = examples("study-file.md");
    assert!(5 < examples.len());
    for (number, example) in examples.iter().enumerate() {
        let wrong = mistakes(&page("study-file.md"), example);
        assert!(wrong.is_empty(), "example {}: {wrong:#?}", number + 1);
    }
}

#[test]
fn every_example_of_a_scenario_file_is_one() {
    let examples = examples("scenario-file.md");
    assert!(3 < examples.len());
    for (number, example) in examples.iter().enumerate() {
        Scenario::look(example, "scenario-file.md").unwrap_or_else(|e| panic!("example {}: {e}", number + 1));
    }
}

#[test]
fn every_example_of_a_workload_file_is_one() {
    let checkout = tempfile::tempdir().expect("a folder");
    let put = |path: &str, text: &str| {
        let path = checkout.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    put("workloads/shop/scenario-small.toml", &examples("scenario-file.md")[1]);
    let examples = examples("workload-file.md");
    assert_eq!(examples.len(), 2);
    for (example, load) in examples.iter().zip(["load = { kind = \"closed\", users = 2 }\n", ""]) {
        put("workloads/shop/workload.toml", example);
        let study = format!(
            "schema = \"assay.study/1\"\nname = \"x\"\nquestion = \"What?\"\nworkload = \"shop\"\n{load}"
        );
        put("study.toml", &study);
        let wrong = mistakes(&checkout.path().join("study.toml"), &study);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
    put("workloads/shop/workload.toml", &examples[0].replace("[requires]", "[require]"));
    let study = fs::read_to_string(checkout.path().join("study.toml")).expect("a study");
    let wrong = mistakes(&checkout.path().join("study.toml"), &study);
    assert!(wrong.iter().any(|text| text.contains("require")), "{wrong:?}");
}

/// Files of `studies/` and of each folder of `workloads/`.
fn ready_made() -> Vec<PathBuf> {
    let files = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let studies = files(Path::new(ROOT).join("studies"));
    let workloads = files(Path::new(ROOT).join("workloads")).flat_map(files);
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    studies.chain(workloads).filter(is_toml).collect()
}

#[test]
fn what_is_ready_made_names_its_schema_for_editors_and_keeps_to_it() {
    let files = ready_made();
    assert!(40 < files.len(), "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        let named = text.lines().next().and_then(|line| line.strip_prefix("#:schema "));
        let named = named.unwrap_or_else(|| panic!("{}: no #:schema in the first line", file.display()));
        let schema = file.parent().expect("a folder").join(named);
        let schema = fs::read(&schema).unwrap_or_else(|e| panic!("{}: {named}: {e}", file.display()));
        let schema: Value = serde_json::from_slice(&schema).expect("JSON");
        let value: Value = toml::from_str(&text).expect("TOML");
        // urn:assay:study:1 is the schema of assay.study/1.
        let id = value["schema"].as_str().map(|id| format!("urn:{}", id.replace(['.', '/'], ":")));
        assert_eq!(schema["$id"].as_str(), id.as_deref(), "{}: {named}", file.display());
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let wrong: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", file.display());
    }
}
