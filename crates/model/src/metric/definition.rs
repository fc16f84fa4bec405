//! The type of metrics, and the macro that writes a list of them.

use std::borrow::Cow;

/// Which direction is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better.
    Lower,
    /// Larger values are better.
    Higher,
}

/// What of a metric changes when others use the machine meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feels {
    /// Nothing: bytes that a request allocates, system calls and page faults do not depend on who else uses the processors.
    Nothing,
    /// CPU time: waiting for a processor is not in it, but how many requests share a wake-up, and what others leave of the caches.
    CpuTime,
    /// Time that passes, and what comes of waiting: response times, rates, pauses, processors that are taken away.
    Time,
}

/// Description of one metric. The identifier is the key in `Window::metrics` and `VariantSummary::metrics`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// Key in stored files; ends with the unit.
    pub id: Cow<'static, str>,
    /// Title for people.
    pub title: Cow<'static, str>,
    /// Unit as shown beside a value.
    pub unit: &'static str,
    /// Direction of improvement.
    pub better: Better,
    /// How it is measured, in one sentence.
    pub source: &'static str,
    /// How much it feels others on the machine, which decides the windows that it is taken from ([`crate::Disturbance::spoils`]).
    pub feels: Feels,
    /// By how many percent a server that is started again may differ, where it is known and small. Times depend on what the JIT compilers make
    /// of this start's profile, and resident memory on when the collector let the heap grow. Allocation per request depends on the program
    /// alone, but for what escape analysis removes.
    pub start_percent_max: Option<u32>,
    /// Whether only studies that ask for it have it (`observe = ["areas"]`): elsewhere nobody misses it.
    pub on_request: bool,
}

/// Of allocation. Four times a server of the demo beside an equal one allocated 1, 1, -1.4 and -3 % more for each request; the intervals of the last
/// excluded 1. In CPU time they differed by 6, 9, -5 and -32 %.
const ALLOCATION_START_PERCENT_MAX: u32 = 5;

impl Metric {
    pub(super) const fn new(
        id: &'static str,
        title: &'static str,
        unit: &'static str,
        better: Better,
        source: &'static str,
    ) -> Metric {
        Metric {
            id: Cow::Borrowed(id),
            title: Cow::Borrowed(title),
            unit,
            better,
            source,
            feels: Feels::Nothing,
            start_percent_max: None,
            on_request: false,
        }
    }

    pub(super) const fn of_time(mut self) -> Metric {
        self.feels = Feels::Time;
        self
    }

    pub(super) const fn of_cpu(mut self) -> Metric {
        self.feels = Feels::CpuTime;
        self
    }

    pub(super) const fn of_program(mut self) -> Metric {
        self.start_percent_max = Some(ALLOCATION_START_PERCENT_MAX);
        self
    }

    pub(super) const fn when_asked(mut self) -> Metric {
        self.on_request = true;
        self
    }
}

/// A list of metrics, with a constant for each identifier. The marks in brackets are functions of [`Metric`].
macro_rules! metrics {
    ($(#[$about:meta])* $list:ident:
        $($name:ident = $id:literal, $title:literal, $unit:literal, $better:ident $([$($mark:ident),*])?, $source:literal;)*) => {
        $(#[$about])*
        pub const $list: &[Metric] =
            &[$(Metric::new($name, $title, $unit, Better::$better, $source)$($(.$mark())*)?),*];
        $(#[doc = $title] pub const $name: &str = $id;)*
    };
}
pub(super) use metrics;
