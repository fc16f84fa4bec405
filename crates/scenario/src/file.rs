//! The scenario file as it is written: schema `assay.scenario/1`. Every key is known, others are errors.

use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A scenario: what simulated users do.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    /// `assay.scenario/1`
    #[schemars(with = "String")]
    pub schema: Spanned<String>,
    /// Its name, as reports show it.
    pub name: String,
    /// Operations that one user does once, in order, before all load. All users have what is extracted from the answers.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub setup: Vec<Spanned<String>>,
    /// Kinds of users, two or more, by their shares of the users (in an open loop: of the requests). Default: one kind.
    #[serde(default)]
    pub users: BTreeMap<String, f64>,
    /// How a session begins and ends, and how long its user thinks.
    #[serde(default)]
    pub session: SessionFile,
    /// Values that are drawn, by name: `{NAME}` in paths, forms, headers and bodies.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ValueFile>")]
    pub values: BTreeMap<String, Spanned<ValueFile>>,
    /// Values that are taken from correct answers, by name; at most 16 KiB each: an answer with a longer one is wrong.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ExtractFile>")]
    pub extract: BTreeMap<String, Spanned<ExtractFile>>,
    /// Files with rows, whose columns are values.
    #[serde(default)]
    #[schemars(with = "Vec<DataFile>")]
    pub data: Vec<Spanned<DataFile>>,
    /// The rate of an open loop over time, where the load is given no other.
    #[schemars(with = "Option<RateFile>")]
    pub rate: Option<Spanned<RateFile>>,
    /// Instead of operations: users of rooms who say something to all others of theirs.
    #[schemars(with = "Option<ChatFile>")]
    pub chat: Option<Spanned<ChatFile>>,
    /// The services of `grpc` in operations.
    #[schemars(with = "Option<GrpcFile>")]
    pub grpc: Option<Spanned<GrpcFile>>,
    /// Requests, by weight.
    #[serde(default)]
    #[schemars(with = "Vec<OperationFile>")]
    pub operation: Vec<Spanned<OperationFile>>,
}

/// Services of gRPC.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrpcFile {
    /// Their schema, beside the scenario file: a `.proto` file, with what it imports beside it, or a set of descriptors as `protoc
    /// --descriptor_set_out=FILE --include_imports` writes it.
    pub schema: Option<String>,
    /// Instead of a schema: the server is asked for it before the load, by server reflection. Methods and messages are checked only then.
    #[serde(default)]
    pub reflection: bool,
}

/// Rows of a file, whose columns can be named where values can.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataFile {
    /// Beside the scenario file: `.csv` with a header, `.json` with an array of objects, `.ndjson` or `.jsonl`.
    pub file: String,
    /// Which row is next. Default: `sequential`.
    #[serde(default)]
    pub order: DataOrder,
    /// How often the next row is taken. Default: for each request.
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
    /// For each request that uses a column.
    #[default]
    Request,
    /// Once for each session.
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
    /// Users of each room, 2 to 1,000. Default: 20.
    #[serde(default = "room_users_default")]
    pub room_users: usize,
    /// Length of each message, 1 to 896 bytes. Default: 100.
    #[serde(default = "message_bytes_default")]
    pub message_bytes: usize,
    /// How long the others of a room may take to have a message. Default: 10000.
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
    /// Operations at the start of each session, before any are drawn: a list, or a list for each kind of users.
    #[serde(default)]
    #[schemars(with = "Option<PerKind<Vec<String>>>")]
    pub start: Option<Spanned<PerKind<Vec<String>>>>,
    /// Operations after which a new session begins: no cookies, no values of the session, nothing extracted.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub restart_after: Vec<Spanned<String>>,
    /// Sessions that begin in a second at most, before the load and where the server ended them. Default: 100.
    pub starts_per_s: Option<f64>,
    /// Operations that are drawn in a session before it ends: a number, evenly between two, or geometric with a mean. Then `end` is sent, and
    /// a new session begins: all of it counts. Default: sessions do not end by themselves.
    pub length: Option<LengthFile>,
    /// Operations at the end of each session, such as a logout: a list, or a list for each kind of users. With `length`.
    #[serde(default)]
    #[schemars(with = "Option<PerKind<Vec<String>>>")]
    pub end: Option<Spanned<PerKind<Vec<String>>>>,
    /// How long a user waits after an answer, ms. Default: not at all.
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

/// Numbers of operations: always the same, evenly between two, or geometric with a mean.
#[derive(JsonSchema, Deserialize)]
#[serde(untagged, expecting = "expected a whole number, { from = , to = } or { mean = }")]
pub(crate) enum LengthFile {
    Operations(u32),
    Law(LengthLaw),
}

#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LengthLaw {
    /// The fewest, with `to`.
    pub from: Option<u32>,
    /// The most, with `from`.
    pub to: Option<u32>,
    /// The mean of geometric numbers, alone.
    pub mean: Option<f64>,
}

/// A time in ms: always the same, evenly between two, or exponential with a mean.
#[derive(JsonSchema, Deserialize)]
#[serde(untagged, expecting = "expected a number, { from = , to = } or { mean = }")]
pub(crate) enum ThinkFile {
    Ms(f64),
    Law(ThinkLaw),
}

#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThinkLaw {
    /// The shortest, with `to`.
    pub from: Option<f64>,
    /// The longest, with `from`.
    pub to: Option<f64>,
    /// The mean of exponential times, alone.
    pub mean: Option<f64>,
}

// One shape for all kinds: which keys belong together is checked afterwards, so that messages have lines.
/// How a value is drawn.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValueFile {
    /// The kind of value, which decides the other keys.
    pub kind: Kind,
    /// Of ranges and counters: the least number.
    pub from: Option<i64>,
    /// Of ranges: the greatest number. Of counters: where they begin again; default: never.
    pub to: Option<i64>,
    /// Of lists: what is drawn from.
    pub values: Option<Vec<Scalar>>,
    /// Of a range-list: what stands before each number. Default: nothing.
    pub prefix: Option<String>,
    /// Of a range-list: how many numbers, from the one to the other; at most 10000.
    pub count: Option<[u32; 2]>,
    /// Of a range-list: what stands between two numbers. Default: a comma.
    pub separator: Option<String>,
}

#[derive(JsonSchema, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A number from `from` to `to`, for each request.
    Range,
    /// One of `values`, for each request.
    List,
    /// As range, once per session.
    SessionRange,
    /// As list, once per session.
    SessionList,
    /// Several numbers with a separator between them, for each request.
    RangeList,
    /// The next number for all users together, for each request.
    Counter,
    /// As counter, once per session.
    SessionCounter,
    /// A random UUID, for each request.
    Uuid,
    /// As uuid, once per session.
    SessionUuid,
    /// Milliseconds since 1970, for each request.
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

/// Where a value stands in the answers of an operation: by the text around it, or by one of the other keys.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtractFile {
    /// Whose answers.
    pub operation: String,
    /// It begins after the first of this, and ends before the next `before`.
    pub after: Option<String>,
    /// What follows it.
    pub before: Option<String>,
    /// A JSON pointer (RFC 6901) into the body, such as `/items/0/id`.
    pub json: Option<String>,
    /// A regular expression: its first group, or all that matches.
    pub regex: Option<String>,
    /// The first header of this name.
    pub header: Option<String>,
    /// An HTML form: its `id` or `name`; its `action` up to a `?` or `;`, where it holds a `/`; or its number on the page, from 1. Without
    /// `field` all its hidden fields, for `hidden` of an operation.
    pub form: Option<FormFile>,
    /// The field of a form.
    pub field: Option<String>,
    /// The request that sends the value uses it up. Default: false.
    #[serde(default)]
    pub once: bool,
}

/// A form of a page, by a name or by its number.
#[derive(JsonSchema, Deserialize, Clone)]
#[serde(untagged, expecting = "expected a name, an action or a number from 1")]
pub(crate) enum FormFile {
    Number(usize),
    Name(String),
}

/// A field of a form with files.
#[derive(JsonSchema, Deserialize)]
#[serde(untagged, expecting = "expected a text, or a table with `text` or `file`")]
pub(crate) enum PartFile {
    Text(String),
    Part(PartTable),
}

#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PartTable {
    /// What it holds: a text, in which values may stand.
    pub text: Option<String>,
    /// What it holds: a file beside the scenario file, of at most 16 MiB, as it is.
    pub file: Option<String>,
    /// The name of the file that is sent. Default: that of `file`; none for a text.
    pub filename: Option<String>,
    /// The content type. Default: `application/octet-stream` for a file; none for a text.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

/// When a user no longer has a value, so that what requires it is replaced by its `otherwise`.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgetFile {
    /// Statuses of the answer. It is as correct as `status` of the operation says; where that names it, `contains` is not looked for.
    pub status: OneOrMany<u16>,
    /// The extracts.
    pub values: OneOrMany<String>,
}

/// A request, and what is a correct answer to it. Texts may hold `{NAME}` of values, of columns and of what was extracted, and
/// `${env:NAME}`, a variable of the environment.
#[derive(JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperationFile {
    /// Its name, as reports show it.
    pub name: String,
    /// How often it is drawn, relative to the others; 0: only where it is named. Default: 1.
    #[serde(default = "weight_default")]
    pub weight: PerKind<f64>,
    /// The method of the request. Default: GET.
    #[serde(default = "method_default")]
    pub method: String,
    /// Path and query. It may begin with an extract, whose value is then a path or a URL of the same server, as in `Location` or a link. Only
    /// with `grpc` there is none.
    pub path: Option<String>,
    /// Instead of a path: a unary method of gRPC, `package.Service/Method`, with a `body` that is its message as JSON. A correct answer has the
    /// status OK; `contains` and extracts work on its message as JSON. Over HTTP/2 alone.
    pub grpc: Option<String>,
    /// Headers. They take the place of those that the generator writes itself: `Host`, `User-Agent`, `Accept`. Those of `Cookie` each user has from the start of
    /// its session, and the server may replace them.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Fields of an HTML form, which are sent encoded.
    pub form: Option<BTreeMap<String, String>>,
    /// The extract of a form's hidden fields, which are sent before those of `form`.
    pub hidden: Option<String>,
    /// Fields of a form with files, which are sent as `multipart/form-data`: texts, or tables.
    pub multipart: Option<BTreeMap<String, PartFile>>,
    /// The body, as it is; over WebSocket the message.
    pub body: Option<String>,
    /// Statuses of a correct answer. Default: any from 200 to 299, and 304.
    pub status: Option<OneOrMany<u16>>,
    /// Follow up to ten redirects on the same server, within the request's time. Default: false.
    #[serde(default)]
    pub follow_redirects: bool,
    /// The answer is a stream of server-sent events, which is not compressed, and is whole with the so many-th that has data: its time is the
    /// time to that event, and what follows is cut off. One that ends earlier is wrong. Default: it ends by itself.
    pub events: Option<u32>,
    /// What a correct answer holds, in its first mebibyte; values in it are those of the request.
    pub contains: Option<String>,
    /// Extracts that must be there; where one is not, `otherwise` is sent instead.
    pub requires: Option<OneOrMany<String>>,
    /// The operation that is sent where what `requires` names is not there; it counts under its own name.
    pub otherwise: Option<String>,
    /// Extracts that are no longer there after an answer of a status, such as a token after 401.
    pub forget: Option<ForgetFile>,
    /// How long its user waits after the answer, ms. Default: that of the session.
    pub think_ms: Option<ThinkFile>,
    /// How long the request may take, from getting a connection to the whole answer. Default: 10000.
    #[serde(default = "timeout_ms_default")]
    pub timeout_ms: u64,
}

/// One, or a list.
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
