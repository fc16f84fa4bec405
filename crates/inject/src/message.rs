//! The messages of protocol `assay-inject/8`. Instants and lengths are nanoseconds; instants are those of the
//! injector's `CLOCK_MONOTONIC`.

use assay_load::{GeneratorConfig, LoadWindow, Measured, Part, Progress};
use serde::{Deserialize, Serialize};

/// Name and version of the protocol; raised when a message changes its meaning, or a histogram its buckets.
pub(crate) const PROTOCOL: &str = "assay-inject/8";

/// What the controller says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Order {
    /// A load that windows are then made of.
    Prepare(Box<GeneratorConfig>),
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

/// One window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arm {
    /// Users are those of this injector alone, the rate of an open load that of all together.
    pub window: LoadWindow,
    /// Which part of an open load is this injector's.
    pub part: Part,
    /// Of the arrivals.
    pub seed: u64,
}

/// What an injector says.
#[derive(Debug, Clone, Serialize, Deserialize)]
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
    /// How far a window is; all zero outside of one.
    Beat(Progress),
    Pong {
        number: u64,
        at_ns: u64,
    },
    Result(Box<Recorded>),
}

/// A window that is over and drained.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    /// From the instant that was ordered to the one at which the injector was there.
    pub start_late_ns: u64,
    pub measured: Measured,
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_load::{ArrivalLaw, Load};
    use proptest::prelude::*;
    use std::time::Duration;

    #[test]
    fn messages_are_plain_json() {
        let start = serde_json::to_string(&Order::Start { at_ns: 7 }).expect("JSON");
        assert_eq!(start, r#"{"start":{"at_ns":7}}"#);
        let beat = serde_json::to_string(&Report::Beat(Progress::default())).expect("JSON");
        assert_eq!(
            beat,
            r#"{"beat":{"elapsed":{"secs":0,"nanos":0},"requests":0,"completed":0,"errors":0,"in_flight":0}}"#
        );
        let load = Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: 0.1 + 0.2 };
        let (settle, length) = (Duration::ZERO, Duration::from_nanos(1));
        let window = LoadWindow { load, settle, length, slow_above: None };
        let arm = Arm { window, part: Part { number: 0, of: 3 }, seed: u64::MAX };
        let text = serde_json::to_string(&arm).expect("JSON");
        assert_eq!(serde_json::from_str::<Arm>(&text).expect("the same"), arm, "to the bit: {text}");
    }

    proptest! {
        #[test]
        fn any_text_is_a_message_or_an_error(text in "[{}\\[\\]\":,a-z0-9_.e-]{0,200}") {
            let _ = serde_json::from_str::<Order>(&text);
            let _ = serde_json::from_str::<Report>(&text);
        }
    }
}
