//! The load generator: arrivals that are pure and seeded, sessions of simulated users, an HTTP/1.1 client, and a
//! recorder whose response times count from the intended start.
//!
//! Why the intended start: a generator that waits for a slow answer before it sends the next request asks less just
//! when the server is slow, and so hides the slowness (coordinated omission). Here a request that waits for a
//! connection waits in its response time, and one that would exceed the bound on requests in flight fails visibly.
//!
//! ```no_run
//! use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Load};
//! use std::{sync::atomic::AtomicBool, time::Duration};
//!
//! let (base_url, scenario) = assay_load::for_url("http://127.0.0.1:8080/health")?;
//! let mut generator = Generator::new(GeneratorConfig::new(base_url, scenario, 10))?;
//! let load = Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: 200.0 };
//! let measured = generator.run(&load, Duration::from_secs(30), &AtomicBool::new(false), None, &mut |_| ())?;
//! println!("{:?}", measured.result().response_ms.p99);
//! # Ok::<(), assay_load::LoadError>(())
//! ```

pub mod arrivals;
mod awaited;
mod breakdown;
mod checked;
mod clock;
mod coding;
mod condition;
mod connection;
mod cookies;
mod delivery_tracker;
mod details;
mod drive;
mod endpoint;
mod error;
mod error_kind;
mod failure_samples;
mod generator;
mod grpc;
mod idle;
mod interval_log;
mod law;
mod measured;
mod opening;
pub mod operations;
mod plain;
mod planned;
mod poll;
mod priority;
mod protocol;
mod protocol_counters;
mod quote;
pub mod recorder;
mod redirect;
mod reflection;
mod remarks;
mod request;
mod run;
pub mod schedule;
mod session;
mod session_starts;
mod setup;
mod source;
mod stamp;
mod tally;
#[cfg(test)]
mod testing;
mod timeline;
mod tls;
mod url;
mod user_count;
mod window;

pub use arrivals::ArrivalLaw;
pub use assay_scenario::{Part, RateSchedule, Scenario, ScenarioError, Shared, scenario_schema};
pub use breakdown::Breakdown;
pub use clock::{calendar_time, monotonic_ns};
pub use condition::Condition;
pub use delivery_tracker::Deliveries;
pub use endpoint::Http;
pub use error::LoadError;
pub use error_kind::ErrorKind;
pub use generator::{Generator, GeneratorConfig, Opened, Start};
pub use interval_log::IntervalLogs;
pub use law::{Load, Progress, SessionProgress};
pub use measured::{
    ERROR_SHARE_MAX, GENERATOR_CPU_SHARE_MAX, Measured, REACHED_SHARE_MIN, SEND_LAG_P99_MAX,
    SEND_LAG_SHARE_OF_P99_MAX, is_of_generator,
};
pub use plain::{PlainRequest, for_request, for_url, scenario_text_of};
pub use planned::planned_mix;
pub use priority::Priority;
pub use protocol_counters::ProtocolCounters;
pub use recorder::summary_ms;
pub use session_starts::SessionStarts;
pub use source::{LoadSource, LoadWindow};
pub use timeline::CompletionTimeline;
pub use tls::{ClientCertificate, Handshakes, Pem, TlsOptions};
pub use window::{
    CONNECTION_WAIT_MIN, Limited, LimitedTimes, SLOW_REQUESTS_MAX, SlowRequest, WindowDetail, WindowRecorder,
};
