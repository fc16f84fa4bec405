//! Studies as values: built in code, checked as a file is, and written as one.

use assay_study::{
    CapacityTable, CommandLine, DesignTable, Factor, Level, QuickTable, Seconds, ServerTable, Settings, Size,
    Study, WarmUpTable,
};
use std::path::Path;

#[test]
fn every_ready_made_study_written_again_says_the_same() {
    let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let mut seen = 0;
    for entry in std::fs::read_dir(studies)
        .unwrap()
        .flatten()
        .filter(|e| e.path().extension().is_some_and(|x| x == "toml"))
    {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let study: Study = toml::from_str(&text).unwrap();
        let again: Study = toml::from_str(&study.to_toml().unwrap()).unwrap();
        assert_eq!(
            serde_json::to_value(&again).unwrap(),
            serde_json::to_value(&study).unwrap(),
            "{:?}",
            entry.path()
        );
        // All that the file says is in it, in its own spelling or another.
        let (own, written) =
            (text.parse::<toml::Table>().unwrap(), study.to_toml().unwrap().parse::<toml::Table>().unwrap());
        let missing: Vec<&String> = own.keys().filter(|key| !written.contains_key(*key)).collect();
        assert!(missing.iter().all(|key| own[*key].as_array().is_some_and(Vec::is_empty)), "{missing:?}");
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

fn built() -> Study {
    let server = ServerTable {
        command: Some(CommandLine::Text("java {jvm_options} -jar a.jar --port {port}".to_owned())),
        ready_url: "http://127.0.0.1:1/".to_owned(),
        environment: [("EMPTY".to_owned(), String::new())].into(),
        ..ServerTable::default()
    };
    let level = |name: &str, bytes| Level {
        name: name.to_owned(),
        settings: Settings { heap: Some(Size { bytes }), ..Settings::default() },
        ..Level::default()
    };
    Study {
        server: Some(server),
        factor: vec![Factor {
            name: "heap".to_owned(),
            level: vec![level("small", 96 << 20), level("large", 1 << 30)],
            ..Factor::default()
        }],
        design: DesignTable {
            warm_up: WarmUpTable { min: Some(Seconds(0.5)), cap: Some(Seconds(1.0)) },
            ..DesignTable::default()
        },
        capacity: Some(CapacityTable::default()),
        quick: Some(QuickTable::default()),
        ..Study::named("built")
    }
}

#[test]
fn a_study_built_in_code_is_checked_as_a_file_is() {
    let found = |study: &Study| match study.checked("built in a test") {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(found(&built()), Vec::<String>::new());
    let text = built().to_toml().unwrap();
    for kept in ["[capacity]", "[quick", "EMPTY = \"\"", "min = \"500ms\"", "heap = \"96m\""] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let mut wrong = built();
    wrong.name = "two words".to_owned();
    wrong.capacity = Some(CapacityTable { percentile: Some(100.0), ..CapacityTable::default() });
    let found = found(&wrong);
    assert!(found.iter().all(|f| f.starts_with("built in a test: ")), "{found:?}");
    assert!(found.iter().any(|f| f.contains("names the run directory")), "{found:?}");
    assert!(
        found.iter().any(|f| f.contains("percentile")) || found.iter().any(|f| f.contains("99.9")),
        "{found:?}"
    );
}
