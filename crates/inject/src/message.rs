//! The messages of protocol `assay-inject/2`. Instants and lengths are nanoseconds; instants are those of the
//! injector's `CLOCK_MONOTONIC`.

use crate::recorded_form::RecordedForm;
use serde::{Deserialize, Serialize};

/// Name and version of the protocol; raised when a message changes its meaning, or a histogram its buckets.
pub(crate) const PROTOCOL: &str = "assay-inject/2";

/// What the controller says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Order {
    Prepare(Prepare),
    Arm(Arm),
    /// The window that was armed begins at this instant.
    Start {
        at_ns: u64,
    },
    /// The window ends early.
    Stop,
    Ping {
        number: u64,
    },
}

/// A load that windows are then made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Prepare {
    pub base_url: String,
    pub scenario: ScenarioForm,
    pub connections: u32,
    pub in_flight_max: u32,
    pub sessions: u32,
    pub seed: u64,
    pub limited: Vec<String>,
}

/// What users do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum ScenarioForm {
    /// One GET of the path of this URL.
    Url(String),
    /// A scenario file, and its name in messages.
    File { text: String, name: String },
}

/// One window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arm {
    pub load: LoadForm,
    /// Of the arrivals.
    pub seed: u64,
    pub settle_ns: u64,
    pub length_ns: u64,
    pub slow_above_ns: Option<u64>,
}

/// The law of a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum LoadForm {
    /// `rate_per_s` is that of all injectors together; this one is number `part` of `of`.
    Open { poisson: bool, rate_per_s: f64, part: u32, of: u32 },
    /// Users of this injector alone.
    Closed { users: u32, think_ns: u64 },
}

/// What an injector says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Report {
    /// After the greeting: it serves this controller.
    Ready,
    /// It does not, or cannot do what was ordered.
    Refused {
        why: String,
    },
    Prepared,
    Armed,
    Beat(Beat),
    Pong {
        number: u64,
        at_ns: u64,
    },
    Result(Box<WindowForm>),
}

/// How far a window is; all zero outside of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beat {
    pub elapsed_ns: u64,
    pub requests: u64,
    pub completed: u64,
    pub errors: u64,
    pub in_flight: u32,
}

/// A window that is over and drained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WindowForm {
    /// From the instant that was ordered to the one at which the injector was there.
    pub start_late_ns: u64,
    pub recorded: RecordedForm,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_are_plain_json() {
        let start = serde_json::to_string(&Order::Start { at_ns: 7 }).expect("JSON");
        assert_eq!(start, r#"{"start":{"at_ns":7}}"#);
        let beat = serde_json::to_string(&Report::Beat(Beat::default())).expect("JSON");
        assert_eq!(beat, r#"{"beat":{"elapsed_ns":0,"requests":0,"completed":0,"errors":0,"in_flight":0}}"#);
        let load = LoadForm::Open { poisson: true, rate_per_s: 0.1 + 0.2, part: 0, of: 3 };
        let arm = Order::Arm(Arm { load, seed: u64::MAX, settle_ns: 0, length_ns: 1, slow_above_ns: None });
        let text = serde_json::to_string(&arm).expect("JSON");
        assert_eq!(serde_json::from_str::<Order>(&text).expect("the same"), arm, "to the bit: {text}");
    }

    proptest! {
        #[test]
        fn any_text_is_a_message_or_an_error(text in "[{}\\[\\]\":,a-z0-9_.e-]{0,200}") {
            let _ = serde_json::from_str::<Order>(&text);
            let _ = serde_json::from_str::<Report>(&text);
        }
    }
}
