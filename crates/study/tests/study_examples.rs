//! docs/reference/study-file.md has every key of a study file, in examples that are study files.

use assay_study::{Study, study_schema};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/study-file.md");

fn examples() -> Vec<String> {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    page.split("```toml\n").skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

/// The definition that a schema refers to, with its name.
fn definition<'s>(root: &'s Value, schema: &'s Value) -> Option<(&'s str, &'s Value)> {
    let parts = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let name = std::iter::once(schema)
        .chain(parts)
        .find_map(|part| part.get("$ref")?.as_str()?.strip_prefix("#/$defs/"))?;
    Some((name, root.get("$defs")?.get(name)?))
}

/// Notes each key that a table has, as `Definition.key`, and those below it.
fn note(root: &Value, (name, schema): (&str, &Value), value: &toml::Value, seen: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, below) in table {
                let Some(property) = schema.get("properties").and_then(|all| all.get(key)) else { continue };
                seen.insert(format!("{name}.{key}"));
                let items = property.get("items").unwrap_or(property);
                if let Some(found) = definition(root, property).or_else(|| definition(root, items)) {
                    note(root, found, below, seen);
                }
            }
        }
        toml::Value::Array(values) => values.iter().for_each(|value| note(root, (name, schema), value, seen)),
        _ => {}
    }
}

#[test]
fn every_key_of_a_study_file_stands_in_an_example() {
    let root = study_schema();
    let mut seen = BTreeSet::new();
    for example in examples() {
        let value: toml::Value = toml::from_str(&example).expect("TOML");
        note(&root, ("Study", &root), &value, &mut seen);
    }
    let mut keys = BTreeSet::new();
    let definitions = root["$defs"].as_object().expect("definitions").iter();
    for (name, schema) in definitions.map(|(name, schema)| (name.as_str(), schema)).chain([("Study", &root)])
    {
        let properties = schema.get("properties").and_then(Value::as_object);
        keys.extend(properties.into_iter().flatten().map(|(key, _)| format!("{name}.{key}")));
    }
    // Below `Study` the settings stand for all variants; of those, limits of the server are for levels alone.
    let missing: Vec<&String> = keys.difference(&seen).collect();
    assert!(missing.is_empty(), "no example has {missing:?}");
}

/// What the examples name and nobody has: files beside them, and programs.
const NOT_HERE: [&str; 9] = [
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

#[test]
fn every_example_is_a_study_file() {
    let examples = examples();
    assert!(5 < examples.len());
    for (number, example) in examples.iter().enumerate() {
        let Err(found) = Study::check(Path::new(PAGE), example) else { continue };
        let wrong: Vec<String> = found
            .iter()
            .filter(|of| !of.environment)
            .map(ToString::to_string)
            .filter(|text| !NOT_HERE.iter().any(|file| text.contains(file)))
            .collect();
        assert!(wrong.is_empty(), "example {}: {wrong:#?}", number + 1);
    }
}
