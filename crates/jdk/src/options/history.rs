//! The flags of each release: a table that `tests/flags.rs` makes from the JVMs themselves.

use std::collections::BTreeMap;
use std::sync::LazyLock;

static HISTORY: LazyLock<History> = LazyLock::new(|| History::parse(include_str!("flags.csv")));

/// What a release makes of a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagState {
    /// It can be set.
    Product,
    /// After `-XX:+UnlockDiagnosticVMOptions`.
    Diagnostic,
    /// After `-XX:+UnlockExperimentalVMOptions`.
    Experimental,
    /// Listed, and constant in the builds that are shipped.
    Develop,
    /// It can be set, and the JVM warns that it will not be for long.
    Deprecated,
    /// The JVM warns, and does nothing.
    Ignored,
    /// The JVM does not start.
    Unrecognized,
}

impl FlagState {
    const ALL: [FlagState; 7] = [
        FlagState::Product,
        FlagState::Diagnostic,
        FlagState::Experimental,
        FlagState::Develop,
        FlagState::Deprecated,
        FlagState::Ignored,
        FlagState::Unrecognized,
    ];

    /// Its word in the table.
    pub fn word(self) -> &'static str {
        match self {
            FlagState::Product => "product",
            FlagState::Diagnostic => "diagnostic",
            FlagState::Experimental => "experimental",
            FlagState::Develop => "develop",
            FlagState::Deprecated => "deprecated",
            FlagState::Ignored => "ignored",
            FlagState::Unrecognized => "unrecognized",
        }
    }

    /// Whether the release has the flag.
    pub fn is_there(self) -> bool {
        !matches!(self, FlagState::Ignored | FlagState::Unrecognized)
    }
}

/// A flag in one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagInRelease {
    /// What the release makes of it.
    pub state: FlagState,
    /// Its type; empty where the release does not have it.
    pub kind: String,
    /// Its value where nobody sets it; `None` where the JVM chooses it by the machine, or it is an unset text.
    pub default: Option<String>,
}

/// A flag in a release of the table; `None` where no release of it has the flag, or the table does not have the release.
pub fn flag_in(name: &str, release: u32) -> Option<&'static FlagInRelease> {
    if !HISTORY.versions.contains_key(&release) {
        return None;
    }
    let rows = HISTORY.flags.get(name)?;
    rows.iter().rev().find(|(since, _)| *since <= release).map(|(_, flag)| flag)
}

/// Every flag of the table.
pub fn flag_names() -> impl Iterator<Item = &'static str> {
    HISTORY.flags.keys().map(String::as_str)
}

/// The releases of the table, with the version that it was made from.
pub fn table_releases() -> impl Iterator<Item = (u32, &'static str)> {
    HISTORY.versions.iter().map(|(release, version)| (*release, version.as_str()))
}

#[derive(Debug, Default)]
struct History {
    versions: BTreeMap<u32, String>,
    /// By name: since which release it is how.
    flags: BTreeMap<String, Vec<(u32, FlagInRelease)>>,
}

impl History {
    fn parse(text: &str) -> History {
        let mut history = History::default();
        let mut rows = csv::Reader::from_reader(text.as_bytes());
        for row in rows.records() {
            let row = row.expect("the table is read in a test");
            let field = |i: usize| row.get(i).unwrap_or_default();
            let release = field(1).parse().expect("a release");
            if field(0) == "#" {
                history.versions.insert(release, field(2).to_owned());
                continue;
            }
            let state = FlagState::ALL.into_iter().find(|state| state.word() == field(2)).expect("a state");
            let default = Some(field(4).to_owned()).filter(|default| !default.is_empty());
            let flag = FlagInRelease { state, kind: field(3).to_owned(), default };
            history.flags.entry(field(0).to_owned()).or_default().push((release, flag));
        }
        history
    }
}
