//! The load generator's report of one load run: the stored form of `assay load --json`.

use crate::closed::closed;
use crate::{LatencyPoint, LatencySummary, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of one run of load. Response time counts from the intended start, service time from the send.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadResult {
    /// `assay.load/3`
    pub schema: String,
    /// When the run began, in calendar time, RFC 3339; absent in results of versions before it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Requests whose intended start lay in the run, failed ones included.
    pub requests: u64,
    /// Of these: refused, broken, over the bound, timed out or answered wrongly.
    pub errors: u64,
    /// The errors by kind; kinds without any are left out. Those before an operation was decided are in no operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors_by_kind: Vec<ErrorCount>,
    /// Of the requests, those that were sent again since the server had closed a connection, used before, without an answer, or said
    /// that it did nothing with them.
    #[serde(default)]
    pub sent_again: u64,
    /// The offered rate, requests per second; absent in closed loop.
    pub offered_rate_per_s: Option<f64>,
    /// Requests answered per second of the run.
    pub achieved_rate_per_s: f64,
    /// Response time percentiles.
    pub response_ms: LatencySummary,
    /// Service time percentiles.
    pub service_ms: LatencySummary,
    /// How late the generator itself was: from the moment a request could be sent to the send.
    pub send_lag_ms: LatencySummary,
    /// CPU time that the generator used, as a share of one core, 0 to 1 and more.
    pub generator_cpu_share: Option<f64>,
    /// How connections became secure, before the run and in it; absent without TLS handshakes. No request's time contains those
    /// before the run; one that waits for a connection of its own waits for its handshake, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<HandshakeSummary>,
    /// Users of the load: each has a session of its own. Absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// How users began their sessions outside of the figures: no request of it is among the requests, and no time in theirs. Absent
    /// where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_starts: Option<SessionStartSummary>,
    /// What was spoken on the connections, and what of it is not a matter of single requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolSummary>,
    /// Of a chat: whether each message came to all who should have it, once and in order, and how long each delivery took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliveries: Option<DeliverySummary>,
    /// Asked and measured mix, by operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationCount>,
    /// Seed of every random draw.
    pub seed: u64,
    /// The scenario that was followed, without values of secrets; absent where a URL alone was loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// The schedule of the rate, as it was written; absent where the rate was always the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_schedule: Option<String>,
    /// Offered and answered rate over time; empty where the rate was always the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RatePoint>,
    /// Requests, errors and response times over time, in equal intervals; the last may be shorter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<LoadInterval>,
    /// The response times as a curve; its percentiles are equally far apart in the number of nines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub response_curve: Vec<LatencyPoint>,
    /// The requests with the longest response times, the longest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowestRequest>,
    /// The injectors that made the load together, each with its part; none when `assay load` made it alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub injectors: Vec<InjectorPart>,
    /// False when the figures should not be used; `problems` says why.
    pub valid: bool,
    /// What was wrong, with samples of wrong answers.
    pub problems: Vec<Problem>,
}

closed! {
    /// What is spoken on a connection, behind TLS or not.
    Protocol {
        /// One request at a time.
        Http1 = "http/1.1",
        /// As many requests at a time as it has streams; over TLS agreed by ALPN, else by prior knowledge.
        Http2 = "http/2",
        /// Messages, and those that answer them.
        WebSocket = "websocket",
        /// Lines that users say to each other.
        Chat = "chat",
        /// The same as messages of WebSocket.
        ChatWebSocket = "chat-websocket",
    }
}

/// What was spoken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProtocolSummary {
    /// On all connections.
    pub name: Protocol,
    /// Requests that a connection may carry at once, as requested.
    pub streams: u32,
    /// The fewest that the server allowed on a connection, where it allowed fewer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams_allowed_min: Option<u32>,
    /// Connections on which the server took no more requests and said so (GOAWAY, a close frame).
    pub closed_by_server: u64,
    /// Of these, by the code that it gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed_by_code: Vec<ClosedByServer>,
    /// Requests that the server failed without an answer, alone (RST_STREAM).
    pub reset_by_server: u64,
    /// Messages that the server sent unasked, or instead of an answer; absent where it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_by_server: Option<u64>,
    /// From the accepted connection (behind TLS: from the end of its handshake) to the first request that it can carry: the protocol's
    /// opening exchange. Of connections opened before the run and in it; absent where the protocol has no such exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening_ms: Option<LatencySummary>,
}

/// Connections that the server closed with one code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClosedByServer {
    /// Error code of HTTP/2's GOAWAY, or status code of a WebSocket's close frame; 1005: a close frame without one.
    pub code: u32,
    /// Its name in the standard; absent for a code of the server's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many.
    pub connections: u64,
}

impl ClosedByServer {
    /// Such as `1013 (try again later)`.
    pub fn code_and_name(&self) -> String {
        match &self.name {
            Some(name) => format!("{} ({name})", self.code),
            None => self.code.to_string(),
        }
    }
}

/// Messages that are delivered to the others of a room: settling, run and drain together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeliverySummary {
    /// Messages that were sent.
    pub sent: u64,
    /// Deliveries that they must have: one for each other user who is in the room.
    pub due: u64,
    /// Of these, those that came.
    pub delivered: u64,
    /// Of these, those that never came, although the connections of sender and receiver stood.
    pub lost: u64,
    /// Deliveries that came again.
    pub duplicated: u64,
    /// Deliveries that came after a later message of their sender.
    pub out_of_order: u64,
    /// Due deliveries that had not come when the connection of their sender or receiver ended: whether they would is unknown.
    pub cut_off: u64,
    /// Deliveries per second of the run.
    pub rate_per_s: Option<f64>,
    /// From the intended start of a message to each of its deliveries.
    pub ms: LatencySummary,
}

/// TLS handshakes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HandshakeSummary {
    /// All of them.
    pub count: u64,
    /// Of these, resumptions of an earlier session.
    pub resumed: u64,
    /// From the accepted connection to the end of the handshake. Many are made at once, and the generator's own cryptography is in it.
    pub ms: LatencySummary,
    /// CPU time of the generator for one, on average.
    pub cpu_ms_mean: Option<f64>,
}

/// Users who began their sessions (logged in) outside of the figures: before the load, or since the server had ended them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStartSummary {
    /// Sessions that began.
    pub count: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Sessions that the server ended, so that they had to begin again.
    pub ended_by_server: u64,
    /// Of those that began, those that did while requests were recorded.
    pub in_window: u64,
    /// From the first request of a start to the last answer.
    pub ms: LatencySummary,
}

/// One injector's part of a load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InjectorPart {
    /// Host and port, as given.
    pub address: String,
    /// What it loaded.
    pub base_url: String,
    /// Requests that it made; absent when it was lost, since nobody knows.
    pub requests: Option<u64>,
    /// Of these, failed ones.
    pub errors: Option<u64>,
    /// Successful responses within the run.
    pub completed: Option<u64>,
    /// How late it sent.
    pub send_lag_ms: LatencySummary,
    /// CPU time as a share of one core of its host.
    pub cpu_share: Option<f64>,
    /// Its `CLOCK_MONOTONIC` less the controller's.
    pub clock_offset_ns: Option<i64>,
    /// The true offset is at most this far from it; so are the instants of its requests.
    pub clock_uncertainty_ns: Option<u64>,
    /// How much later than agreed it was there to begin.
    pub start_late_ns: Option<u64>,
    /// Why it was lost; absent when it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostInjector>,
}

/// How an injector was lost, and the last that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LostInjector {
    /// As a lower-case fragment.
    pub why: String,
    /// When that was noticed, seconds from the agreed start; absent when it was before.
    pub noticed_after_s: Option<f64>,
    /// Requests that it had finished by its last word; what it did afterwards is unknown, and so are all its times.
    pub requests_by_last_report: u64,
    /// How old its last word was when the loss was noticed, seconds.
    pub last_report_age_s: f64,
}

/// A rate over a part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatePoint {
    /// Its beginning, seconds from that of the run.
    pub from_s: f64,
    /// Its end, seconds from the beginning of the run.
    pub to_s: f64,
    /// Requests per second that the schedule asks for: its integral, divided by the time.
    pub offered_per_s: f64,
    /// Requests per second that were answered correctly in it.
    pub answered_per_s: f64,
}

/// How often an operation ran, and how often it was planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationCount {
    /// Name in the scenario.
    pub name: String,
    /// Planned share, 0 to 1.
    pub planned_share: f64,
    /// How often it was drawn; where what it requires was not there, another operation was sent in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<u64>,
    /// Redirects that were followed for its requests; their time is in that of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirects: Option<u64>,
    /// Requests of this operation.
    pub requests: u64,
    /// Of these, failed ones.
    pub errors: u64,
    /// What its requests took and how they ended; absent in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figures: Option<OperationFigures>,
}

impl OperationCount {
    /// An operation of which no request was sent yet.
    pub fn planned(name: &str, planned_share: f64) -> OperationCount {
        OperationCount {
            name: name.to_owned(),
            planned_share,
            selected: None,
            redirects: None,
            requests: 0,
            errors: 0,
            figures: None,
        }
    }
}

/// What the requests of an operation took, and how they ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationFigures {
    /// Requests answered correctly within the run, per second; absent for a run of no length.
    pub achieved_rate_per_s: Option<f64>,
    /// Response time from the intended start, of all requests; a failed one counts with the time until that was known.
    pub response_ms: LatencySummary,
    /// Failed requests by kind; kinds without any are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors_by_kind: Vec<ErrorCount>,
    /// Whole answers by status, upwards; none where the protocol has no status.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statuses: Vec<StatusCount>,
    /// Bytes of the bodies of all whole answers, without heads, as they came.
    pub body_bytes: u64,
    /// Server-sent events of its answers; absent where the scenario awaits none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<EventFigures>,
}

/// Server-sent events of the answers of an operation, up to the last that the scenario awaits of each: also those of streams that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventFigures {
    /// How many came.
    pub events: u64,
    /// From the intended start of a request to the first event of its answer.
    pub first_event_ms: LatencySummary,
    /// From an event to the next of the same answer; 0 between two that came together.
    pub event_gap_ms: LatencySummary,
}

closed! {
    /// Why a request failed.
    LoadErrorKind {
        /// No connection could be opened.
        Connect = "connect",
        /// No whole answer within the time limit.
        Timeout = "timeout",
        /// Too many requests were in flight already.
        OverBound = "over-bound",
        /// A status that the scenario does not expect.
        Status = "status",
        /// A check of the body failed.
        Content = "content",
        /// No answer of the protocol, or the connection closed within it.
        Broken = "broken",
    }
}

/// Failed requests of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// Why they failed.
    pub kind: LoadErrorKind,
    /// How many.
    pub requests: u64,
}

/// Answers with a status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusCount {
    /// The status code.
    pub status: u16,
    /// Its name, where it is one of gRPC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Answers that had it.
    pub answers: u64,
    /// Of these, those whose operation does not expect it.
    pub unexpected: u64,
}

/// Requests of an interval of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadInterval {
    /// Its beginning, seconds from that of the run.
    pub from_s: f64,
    /// Its end, seconds from the beginning of the run.
    pub to_s: f64,
    /// Requests whose intended start lies in it, failed ones included.
    pub requests: u64,
    /// Of these, failed ones.
    pub errors: u64,
    /// Requests per second that were answered correctly in it, whenever they were to start.
    pub answered_per_s: f64,
    /// Median response time of the requests that were to start in it, milliseconds, to 1 %; absent without any.
    pub response_ms_p50: Option<f64>,
    /// 99th percentile of the same.
    pub response_ms_p99: Option<f64>,
}

/// One of the slowest requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowestRequest {
    /// Name of its operation; absent when it was never decided.
    pub operation: Option<String>,
    /// Its intended start, seconds from the beginning of the run.
    pub at_s: f64,
    /// From the intended start to the end of the answer.
    pub response_ms: f64,
    /// From the send on; absent when it was never sent.
    pub service_ms: Option<f64>,
    /// Whether it failed.
    pub failed: bool,
}
