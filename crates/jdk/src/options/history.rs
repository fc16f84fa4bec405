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
    /// It sets another flag, whose name is its type.
    Alias,
}

impl FlagState {
    pub(super) const ALL: [FlagState; 8] = [
        FlagState::Product,
        FlagState::Diagnostic,
        FlagState::Experimental,
        FlagState::Develop,
        FlagState::Deprecated,
        FlagState::Ignored,
        FlagState::Unrecognized,
        FlagState::Alias,
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
            FlagState::Alias => "alias",
        }
    }

    /// Whether the release has the flag.
    pub fn is_there(self) -> bool {
        !matches!(self, FlagState::Ignored | FlagState::Unrecognized)
    }
}

/// The values that a flag may have, as the JVM writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedRange {
    /// Lower bound; empty if there is none.
    pub low: String,
    /// Upper bound; empty if there is none.
    pub high: String,
}

/// A flag in one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagInRelease {
    /// What the release makes of it.
    pub state: FlagState,
    /// Its type, or the flag that an alias sets; empty where the release does not have it.
    pub kind: String,
    /// Its value where nobody sets it; `None` where the JVM chooses it by the machine, or it is an unset text.
    pub default: Option<String>,
    /// The values that it may have; `None` where it has no bounds, and those of a few flags alone are known of JDK 8.
    pub range: Option<ListedRange>,
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
            let range = ListedRange { low: field(5).to_owned(), high: field(6).to_owned() };
            let range = Some(range).filter(|range| *range != ListedRange::default());
            let flag = FlagInRelease { state, kind: field(3).to_owned(), default, range };
            history.flags.entry(field(0).to_owned()).or_default().push((release, flag));
        }
        history
    }
}
