//! A ratio as part of a sentence, with the verb that goes with its metric: `allocates 58 % more per request than 32-bit (95 % CI 42-75 %)`.
//!
//! Below a factor of 2 a change is said in per cent, above it in words or times.

use assay_kit::number::{significant, tick};
use assay_model::{Estimate, Metric, PER_PROCESS, metric};

const COMPARED: &str = "compared with";
/// Factors that are near enough to 2 or 3 to be called that.
const NEAR: f64 = 0.05;

/// How a metric is spoken of.
pub struct MetricWording {
    /// Its name within a sentence: `CPU time per request`.
    pub noun: String,
    does: Option<Does>,
}

/// What a variant does more or less of; metrics without such a verb are raised or lowered.
struct Does {
    verb: &'static str,
    what: String,
    is_counted: bool,
}

/// Metrics with a verb of their own: identifier, verb, of what, whether that is counted, noun.
const VERBS: [(&str, &str, &str, bool, &str); 10] = [
    (metric::ALLOCATED_KIB_PER_REQUEST, "allocates", "per request", false, "allocation per request"),
    (metric::GARBAGE_KIB_PER_REQUEST, "allocates", "per request", false, "allocation per request"),
    (metric::CPU_MS_PER_REQUEST, "uses", "CPU time per request", false, "CPU time per request"),
    (
        metric::CPU_WITHOUT_JIT_MS_PER_REQUEST,
        "uses",
        "CPU time per request outside JIT compilers",
        false,
        "CPU time per request outside JIT compilers",
    ),
    (metric::THROUGHPUT_PER_S, "completes", "requests per second", true, "throughput"),
    (metric::MAX_RATE_PER_S, "sustains", "requests per second", true, "the highest sustained rate"),
    (metric::GC_PAUSE_MS_PER_S, "spends", "time in GC pauses", false, "time in GC pauses"),
    (metric::RSS_BYTES, "uses", "resident memory", false, "resident memory"),
    (
        metric::NATIVE_BYTES,
        "uses",
        "resident memory outside the Java heap",
        false,
        "resident memory outside the Java heap",
    ),
    (metric::START_TO_READY_MS, "takes", "time to start", false, "start-up time"),
];

/// Metrics whose title does not fit into a sentence.
const NOUNS: [(&str, &str); 2] =
    [(metric::RESPONSE_P50_MS, "median response time"), (metric::RESPONSE_P99_MS, "p99 response time")];

impl MetricWording {
    /// Of a metric.
    pub fn of(metric: &Metric) -> MetricWording {
        if let Some((_, verb, what, is_counted, noun)) = VERBS.iter().find(|(id, ..)| *id == metric.id) {
            let does = Some(Does { verb, what: (*what).to_owned(), is_counted: *is_counted });
            return MetricWording { noun: (*noun).to_owned(), does };
        }
        if let Some((_, noun)) = NOUNS.iter().find(|(id, _)| *id == metric.id) {
            return MetricWording { noun: (*noun).to_owned(), does: None };
        }
        let noun = in_a_sentence(metric);
        let does = |verb, what: String, is_counted| Some(Does { verb, what, is_counted });
        let kind = metric.id.split('/').next().unwrap_or_default();
        let does = match kind {
            metric::NS_PER_OP => does("takes", noun.clone(), false),
            metric::CPU_NS_PER_OP => does("uses", noun.clone(), false),
            metric::ALLOCATED_BYTES_PER_OP => {
                does("allocates", noun.trim_start_matches("allocated ").to_owned(), false)
            }
            _ if metric.is_of_capacity() && metric.id != metric::CRITICAL_RATE_PER_S => {
                does("sustains", noun.replacen("rate", "requests per second", 1), true)
            }
            _ => None,
        };
        MetricWording { noun, does }
    }

    /// The predicate of a sentence: `allocates 58 % more per request than 32-bit`, `doubles p99 response time compared with 32-bit`.
    /// Where the sentence has named the other side already, `than` is absent.
    pub fn clause(&self, amount: &Amount, than: Option<&str>) -> String {
        let noun = &self.noun;
        let (said, joint) = match (&self.does, &amount.size) {
            (_, Size::Word(verb, _)) => (format!("{verb} {noun}"), COMPARED),
            (Some(does), Size::Percent(percent)) => {
                (format!("{} {percent} {} {}", does.verb, does.direction(amount), does.what), "than")
            }
            (Some(does), Size::Times(times)) => {
                (format!("{} {times} times as {} {}", does.verb, does.much(), does.what), "as")
            }
            (None, Size::Percent(percent)) => (format!("{} {noun} by {percent}", amount.verb()), COMPARED),
            (None, Size::Times(times)) => (format!("{} {noun} {times}-fold", amount.verb()), COMPARED),
        };
        than.map_or_else(|| said.clone(), |than| format!("{said} {joint} {than}"))
    }

    /// Another amount of the same metric, after a clause: `13-15 % less`, `twice as much`, `lowers it by 13 %`.
    pub fn also(&self, amount: &Amount) -> String {
        match (&self.does, &amount.size) {
            (Some(does), Size::Percent(percent)) => format!("{percent} {}", does.direction(amount)),
            (Some(does), Size::Word(_, word)) => format!("{word} as {}", does.much()),
            (Some(does), Size::Times(times)) => format!("{times} times as {}", does.much()),
            (None, Size::Percent(percent)) => format!("{} it by {percent}", amount.verb()),
            (None, Size::Word(verb, _)) => format!("{verb} it"),
            (None, Size::Times(times)) => format!("{} it {times}-fold", amount.verb()),
        }
    }
}

impl Does {
    fn direction(&self, amount: &Amount) -> &'static str {
        match (amount.is_more, self.is_counted) {
            (true, _) => "more",
            (false, true) => "fewer",
            (false, false) => "less",
        }
    }

    fn much(&self) -> &'static str {
        if self.is_counted { "many" } else { "much" }
    }
}

/// A title as it stands in a sentence; what belongs to a process says so.
fn in_a_sentence(metric: &Metric) -> String {
    let of_process = metric
        .id
        .split_once('/')
        .and_then(|(kind, role)| Some((PER_PROCESS.iter().find(|m| m.id == kind)?, role)));
    if let Some((kind, role)) = of_process {
        return format!("{} of {role}", lower(&kind.title));
    }
    // Titles of metrics of a guest begin with what they are: `Emulated: user loads per request`.
    lower(&metric.title).replacen(": ", " ", usize::from(metric.is_emulated()))
}

/// A title in the middle of a sentence; abbreviations stay as they are.
pub fn lower(title: &str) -> String {
    let mut chars = title.chars();
    match chars.next() {
        Some(first) if !chars.clone().next().is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => title.to_owned(),
    }
}

/// How much more or less, in words.
pub struct Amount {
    size: Size,
    is_more: bool,
}

enum Size {
    /// `58 %`, `13-15 %`.
    Percent(String),
    /// A verb, and what stands before `as much`.
    Word(&'static str, &'static str),
    /// `4.2`, `2.1-2.4`.
    Times(String),
}

impl Amount {
    /// Of one ratio, or of several from the smallest to the largest, which lie on the same side of 1.
    pub fn of((low, high): (f64, f64)) -> Amount {
        let is_more = 1.0 <= high;
        let near = |factor: f64| low == high && (high - factor).abs() < NEAR;
        let size = match () {
            () if near(2.0) => Size::Word("doubles", "twice"),
            () if near(3.0) => Size::Word("triples", "three times"),
            () if is_large(high) => Size::Times(range([low, high].map(factor))),
            () => Size::Percent(percents((low, high))),
        };
        Amount { size, is_more }
    }

    fn verb(&self) -> &'static str {
        if self.is_more { "raises" } else { "lowers" }
    }

    /// After the title of any metric: `58 % higher`, `twice as high`.
    pub fn of_a_value(&self) -> String {
        match &self.size {
            Size::Percent(percent) => format!("{percent} {}", if self.is_more { "higher" } else { "lower" }),
            Size::Word(_, word) => format!("{word} as high"),
            Size::Times(times) => format!("{times} times as high"),
        }
    }

    /// The ends of the interval of a ratio, in the form of its amount: `(95 % CI 42-75 %)`.
    pub fn interval(&self, ends: Option<(f64, f64)>) -> String {
        let Some(ends) = ends else { return NO_INTERVAL.to_owned() };
        format!("({} CI {})", confidence(), self.ends(ends))
    }

    /// The same of several ratios, whose intervals all lie between these ends.
    pub fn intervals(&self, hull: Option<(f64, f64)>) -> String {
        let Some(ends) = hull else { return NO_INTERVAL.to_owned() };
        format!("({} CIs within {})", confidence(), self.ends(ends))
    }

    fn ends(&self, (low, high): (f64, f64)) -> String {
        match self.size {
            Size::Percent(_) => percents((low, high)),
            _ => format!("{} times", range([low, high].map(factor))),
        }
    }
}

const NO_INTERVAL: &str = "(no interval: too few blocks)";

/// A name as the subject of a sentence; one of several words stands in quotation marks.
pub fn named(name: &str) -> String {
    let begins_word = |pair: &[char]| pair[0] == ' ' && pair[1].is_alphabetic();
    let chars: Vec<char> = name.chars().collect();
    if chars.windows(2).any(begins_word) { format!("\"{name}\"") } else { name.to_owned() }
}

/// How sure intervals are.
pub fn confidence() -> String {
    format!("{} %", Estimate::CONFIDENCE_PERCENT)
}

/// An interval that includes 1: `-0.4 to +1 %`; in times where an end is far from 1.
pub fn around_one((low, high): (f64, f64)) -> String {
    if is_large(high) {
        return format!("{} to {} times", factor(low), factor(high));
    }
    let signed = |ratio: f64| {
        let sign = match ratio {
            r if r < 1.0 => "-",
            r if 1.0 < r => "+",
            _ => "",
        };
        format!("{sign}{}", percent(ratio))
    };
    format!("{} to {} %", signed(low), signed(high))
}

fn is_large(ratio: f64) -> bool {
    2.0 <= ratio
}

/// The distances of two ratios from 1, the nearer one first: `42-75 %`.
fn percents((low, high): (f64, f64)) -> String {
    let (near, far) = if high <= 1.0 { (high, low) } else { (low, high) };
    format!("{} %", range([near, far].map(percent)))
}

fn range([first, last]: [String; 2]) -> String {
    if first == last { first } else { format!("{first}-{last}") }
}

/// How far a ratio is from 1, per cent, in two digits; of nearly nothing left so many that it is not called nothing.
fn percent(ratio: f64) -> String {
    let percent = (ratio - 1.0).abs() * 100.0;
    if !percent.is_finite() {
        return significant(percent);
    }
    let left = if ratio < 1.0 { 100.0 - percent } else { 100.0 };
    if 0.0 < left && left < 1.0 {
        let decimals = (-left.log10().floor()).min(9.0) as usize;
        return format!("{percent:.decimals$}");
    }
    if percent < 9.95 { two_digits(percent) } else { tick(percent.round()) }
}

fn factor(ratio: f64) -> String {
    two_digits(ratio)
}

fn two_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return significant(value);
    }
    let step = 10f64.powf(value.abs().log10().floor() - 1.0);
    tick((value / step).round() * step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::PER_BENCHMARK;

    fn clause(id: &str, ratio: f64) -> String {
        let metric = Metric::by_id(id).expect("a metric");
        MetricWording::of(&metric).clause(&Amount::of((ratio, ratio)), Some("32-bit"))
    }

    #[test]
    fn a_metric_has_its_verb_and_a_change_its_words() {
        for (id, ratio, wanted) in [
            ("garbage_kib_per_request", 1.58, "allocates 58 % more per request than 32-bit"),
            ("garbage_kib_per_request", 4.23, "allocates 4.2 times as much per request as 32-bit"),
            ("cpu_ms_per_request", 3.02, "triples CPU time per request compared with 32-bit"),
            ("cpu_ms_per_request", 0.87, "uses 13 % less CPU time per request than 32-bit"),
            ("throughput_per_s", 0.942, "completes 5.8 % fewer requests per second than 32-bit"),
            ("throughput_per_s", 2.5, "completes 2.5 times as many requests per second as 32-bit"),
            ("rate_at_10_ms_per_s", 1.12, "sustains 12 % more requests per second within 10 ms than 32-bit"),
            ("response_p99_ms", 1.5, "raises p99 response time by 50 % compared with 32-bit"),
            ("response_p50_ms", 32.9, "raises median response time 33-fold compared with 32-bit"),
            ("jit_code_bytes", 0.5, "lowers resident JIT-compiled code by 50 % compared with 32-bit"),
            ("ns_per_op/Chase(n=8)", 2.01, "doubles time per operation in Chase(n=8) compared with 32-bit"),
            ("allocated_bytes_per_op/Chase", 1.1, "allocates 10 % more per operation in Chase than 32-bit"),
            (
                "process_cpu_ms_per_request/gateway",
                1.1,
                "raises CPU time per request of gateway by 10 % compared with 32-bit",
            ),
            ("cpu_ms_per_request", 0.0004, "uses 99.96 % less CPU time per request than 32-bit"),
        ] {
            assert_eq!(clause(id, ratio), wanted);
        }
    }

    #[test]
    fn every_metric_can_be_spoken_of() {
        for metric in Metric::of_servers() {
            for ratio in [0.5, 1.0, 1.5, 2.0, 7.0] {
                let said = clause(&metric.id, ratio);
                assert!(said.ends_with(" 32-bit") && !said.contains(": "), "{said}");
            }
        }
        for kind in PER_BENCHMARK {
            assert!(clause(&format!("{}/B", kind.id), 1.5).contains(" in B "), "{}", kind.id);
        }
    }

    #[test]
    fn intervals_are_in_the_unit_of_their_amount() {
        let of = |ratio: f64, ends| Amount::of((ratio, ratio)).interval(Some(ends));
        assert_eq!(of(1.58, (1.42, 1.75)), "(95 % CI 42-75 %)");
        assert_eq!(of(0.87, (0.8, 0.9)), "(95 % CI 10-20 %)");
        assert_eq!(of(4.0, (1.9, 6.14)), "(95 % CI 1.9-6.1 times)");
        assert_eq!(Amount::of((1.2, 1.25)).intervals(Some((1.1, 1.3))), "(95 % CIs within 10-30 %)");
        assert_eq!(Amount::of((1.2, 1.2)).interval(None), "(no interval: too few blocks)");
        assert_eq!(around_one((0.996, 1.01)), "-0.4 to +1 %");
        assert_eq!(around_one((0.5, 3.0)), "0.5 to 3 times");
    }

    #[test]
    fn names_of_several_words_are_quoted() {
        let shown = ["64-bit", "compact (JDK 25)", "as the JVM chooses"].map(named);
        assert_eq!(shown, ["64-bit", "compact (JDK 25)", "\"as the JVM chooses\""]);
    }
}
