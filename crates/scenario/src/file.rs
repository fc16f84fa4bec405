//! The scenario file as it is written: schema `assay.scenario/1`. Every key is known, others are errors.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// The whole file.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    #[schemars(with = "String")]
    pub schema: Spanned<String>,
    pub name: String,
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub setup: Vec<Spanned<String>>,
    #[serde(default)]
    pub users: BTreeMap<String, f64>,
    #[serde(default)]
    pub session: SessionFile,
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ValueFile>")]
    pub values: BTreeMap<String, Spanned<ValueFile>>,
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ExtractFile>")]
    pub extract: BTreeMap<String, Spanned<ExtractFile>>,
    #[serde(default)]
    #[schemars(with = "Vec<DataFile>")]
    pub data: Vec<Spanned<DataFile>>,
    #[schemars(with = "Option<RateFile>")]
    pub rate: Option<Spanned<RateFile>>,
    #[schemars(with = "Option<ChatFile>")]
    pub chat: Option<Spanned<ChatFile>>,
    #[serde(default)]
    #[schemars(with = "Vec<OperationFile>")]
    pub operation: Vec<Spanned<OperationFile>>,
}

/// Rows of a file, whose columns can be named where values can.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataFile {
    /// Beside the scenario file: `.csv` with a header, `.json` with an array of objects, `.ndjson` or `.jsonl`.
    pub file: String,
    #[serde(default)]
    pub order: DataOrder,
    #[serde(default)]
    pub per: DataPer,
}

#[derive(JsonSchema, Deserialize, Clone, Copy, Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DataOrder {
    /// From the first row to the last, for all users together, then from the first again.
    #[default]
    Sequential,
    /// Any row, independently.
    Random,
    /// Each row once; the load ends where one is wanted after the last.
    Once,
}

#[derive(JsonSchema, Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DataPer {
    #[default]
    Request,
    Session,
}

/// The rate of an open loop over time.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateFile {
    /// Such as `100 for 30s, 100 to 500 for 1m`, or `trace FILE`.
    pub schedule: String,
}

/// Instead of operations: users of rooms who say something to all others of theirs.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChatFile {
    #[serde(default = "room_users_default")]
    pub room_users: usize,
    #[serde(default = "message_bytes_default")]
    pub message_bytes: usize,
    #[serde(default = "timeout_ms_default")]
    pub timeout_ms: u64,
}

fn room_users_default() -> usize {
    20
}

fn message_bytes_default() -> usize {
    100
}

#[derive(JsonSchema, Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionFile {
    #[serde(default)]
    #[schemars(with = "Option<PerKind<Vec<String>>>")]
    pub start: Option<Spanned<PerKind<Vec<String>>>>,
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub restart_after: Vec<Spanned<String>>,
    #[schemars(with = "Option<ThinkFile>")]
    pub think_ms: Option<Spanned<ThinkFile>>,
}

/// The same for all kinds of users, or something for each that is named.
#[derive(JsonSchema, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number (of `start`: a list of names), or a table of such by kind of users"
)]
pub(crate) enum PerKind<T> {
    Same(T),
    Of(BTreeMap<String, T>),
}

#[derive(JsonSchema, Deserialize)]
#[serde(untagged, expecting = "expected a number, { from = , to = } or { mean = }")]
pub(crate) enum ThinkFile {
    Ms(f64),
    Law(ThinkLaw),
}

#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThinkLaw {
    pub from: Option<f64>,
    pub to: Option<f64>,
    pub mean: Option<f64>,
}

/// One shape for all kinds; which keys belong together is checked afterwards, so that messages have lines.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueFile {
    pub kind: Kind,
    pub from: Option<i64>,
    pub to: Option<i64>,
    pub values: Option<Vec<Scalar>>,
    pub prefix: Option<String>,
    pub count: Option<[u32; 2]>,
    pub separator: Option<String>,
}

#[derive(JsonSchema, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Range,
    List,
    SessionRange,
    SessionList,
    RangeList,
    Counter,
    SessionCounter,
    Uuid,
    SessionUuid,
    UnixMs,
}

#[derive(JsonSchema, Deserialize)]
#[serde(untagged)]
pub(crate) enum Scalar {
    Text(String),
    Whole(i64),
    Decimal(f64),
    Truth(bool),
}

impl Scalar {
    pub fn into_text(self) -> String {
        match self {
            Scalar::Text(text) => text,
            Scalar::Whole(number) => number.to_string(),
            Scalar::Decimal(number) => number.to_string(),
            Scalar::Truth(truth) => truth.to_string(),
        }
    }
}

#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtractFile {
    pub operation: String,
    pub after: Option<String>,
    pub before: Option<String>,
    pub json: Option<String>,
    pub regex: Option<String>,
    pub header: Option<String>,
    pub form: Option<String>,
    pub field: Option<String>,
    #[serde(default)]
    pub once: bool,
}

#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationFile {
    pub name: String,
    #[serde(default = "weight_default")]
    pub weight: PerKind<f64>,
    #[serde(default = "method_default")]
    pub method: String,
    pub path: String,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    pub form: Option<BTreeMap<String, String>>,
    pub hidden: Option<String>,
    pub body: Option<String>,
    pub status: Option<OneOrMany<u16>>,
    #[serde(default)]
    pub follow_redirects: bool,
    pub contains: Option<String>,
    pub requires: Option<OneOrMany<String>>,
    pub otherwise: Option<String>,
    pub think_ms: Option<ThinkFile>,
    #[serde(default = "timeout_ms_default")]
    pub timeout_ms: u64,
}

#[derive(JsonSchema, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

fn weight_default() -> PerKind<f64> {
    PerKind::Same(1.0)
}

fn method_default() -> String {
    "GET".to_owned()
}

fn timeout_ms_default() -> u64 {
    10_000
}
