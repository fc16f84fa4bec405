//! When requests completed: counts in short buckets of the monotonic clock, so that requests can be counted between
//! two instants that become known only later, such as two collections of the JVM.

use serde::{Deserialize, Serialize, Serializer};

/// Width of a bucket as long as the run fits, nanoseconds.
const BUCKET_NS: u64 = 1_000_000;
/// Most buckets that are kept: 16 MiB, 70 minutes of milliseconds. Longer runs get wider buckets.
const BUCKETS_MAX: u64 = 1 << 22;

/// Correctly completed requests by completion time, within one load run. Its memory depends on the length of
/// the run only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletionTimeline {
    start_ns: u64,
    bucket_ns: u64,
    #[serde(serialize_with = "up_to_the_last")]
    counts: Vec<u32>,
}

/// Writes the counts up to the last completion. An hour has 3.6 million, 7 MB of JSON: an injector whose window was ended in its first
/// second was silent for as long as it took to write them, and taken for lost.
fn up_to_the_last<S: Serializer>(counts: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    let end = counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
    counts[..end].serialize(serializer)
}

impl CompletionTimeline {
    /// An empty timeline of the run from `start_ns` on the monotonic clock.
    pub fn new(start_ns: u64, length_ns: u64) -> Self {
        let mut bucket_ns = BUCKET_NS;
        while length_ns / bucket_ns >= BUCKETS_MAX {
            bucket_ns *= 2;
        }
        let buckets = length_ns.div_ceil(bucket_ns) as usize;
        CompletionTimeline { start_ns, bucket_ns, counts: vec![0; buckets] }
    }

    /// Counts one completion; one outside the run is left out.
    pub fn record(&mut self, monotonic_ns: u64) {
        let Some(offset) = monotonic_ns.checked_sub(self.start_ns) else { return };
        if let Some(count) = self.counts.get_mut((offset / self.bucket_ns) as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// The same counts, for a run that begins at `start_ns` on another clock; absent where they cannot be those of so long a
    /// run. A timeline that was read from JSON ends with its last completion, and is filled up to the end.
    pub fn moved(self, start_ns: u64, length_ns: u64) -> Option<Self> {
        let mut moved = CompletionTimeline::new(start_ns, length_ns);
        if self.bucket_ns != moved.bucket_ns {
            return None;
        }
        moved.counts.get_mut(..self.counts.len())?.copy_from_slice(&self.counts);
        Some(moved)
    }

    /// Adds the completions of another timeline of the same run.
    pub fn add(&mut self, other: &CompletionTimeline) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum = sum.saturating_add(*count);
        }
    }

    /// All completions in the timeline.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// Requests that completed correctly in `[from, to)` of the monotonic clock. A bucket that lies only partly inside counts
    /// in proportion, so the error at each end is below the count of one bucket. Time outside the run was
    /// not observed and adds nothing.
    pub fn completed_between(&self, from_monotonic_ns: u64, to_monotonic_ns: u64) -> f64 {
        let end_ns = self.counts.len() as u64 * self.bucket_ns;
        let from = from_monotonic_ns.saturating_sub(self.start_ns).min(end_ns);
        let to = to_monotonic_ns.saturating_sub(self.start_ns).min(end_ns);
        if to <= from {
            return 0.0;
        }
        let (first, last) = (from / self.bucket_ns, (to - 1) / self.bucket_ns);
        (first..=last)
            .map(|bucket| {
                let begin = (bucket * self.bucket_ns).max(from);
                let end = ((bucket + 1) * self.bucket_ns).min(to);
                f64::from(self.counts[bucket as usize]) * ((end - begin) as f64 / self.bucket_ns as f64)
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn timeline() -> CompletionTimeline {
        let mut timeline = CompletionTimeline::new(100 * MS, 10 * MS);
        for at_ms in [100, 100, 103, 109, 110, 99] {
            timeline.record(at_ms * MS);
        }
        timeline
    }

    #[test]
    fn completions_outside_the_stretch_are_left_out() {
        assert_eq!(timeline().total(), 4);
    }

    #[test]
    fn a_bucket_partly_inside_counts_in_proportion() {
        let timeline = timeline();
        assert_eq!(timeline.completed_between(100 * MS, 110 * MS), 4.0);
        assert_eq!(timeline.completed_between(100 * MS + MS / 4, 104 * MS), 2.5);
        assert_eq!(timeline.completed_between(0, u64::MAX), 4.0);
        assert_eq!(timeline.completed_between(105 * MS, 105 * MS), 0.0);
        assert_eq!(timeline.completed_between(106 * MS, 105 * MS), 0.0);
    }

    #[test]
    fn memory_stays_bounded_for_a_stretch_of_days() {
        let timeline = CompletionTimeline::new(0, 30 * 86_400 * 1_000 * MS);
        assert!(timeline.counts.len() as u64 <= BUCKETS_MAX);
        assert!(timeline.bucket_ns > BUCKET_NS);
    }

    #[test]
    fn what_is_written_ends_with_the_last_completion() {
        let hour = |start_ns| CompletionTimeline::new(start_ns, 3_600_000 * MS);
        let (mut here, mut there) = (hour(100 * MS), hour(5 * MS));
        for at_ms in [0, 0, 700] {
            here.record((100 + at_ms) * MS);
            there.record((5 + at_ms) * MS);
        }
        let text = serde_json::to_string(&here).expect("JSON");
        assert!(text.len() < 2_000, "{} bytes", text.len());
        let read = || serde_json::from_str::<CompletionTimeline>(&text).expect("the same");
        assert_eq!(read().moved(5 * MS, 3_600_000 * MS), Some(there));
        assert_eq!(read().moved(5 * MS, 700 * MS), None, "a completion behind the end");
        assert_eq!(read().moved(5 * MS, u64::MAX), None, "other buckets");
        assert_eq!(serde_json::to_value(hour(0)).expect("JSON")["counts"], serde_json::json!([]));
    }

    proptest! {
        #[test]
        fn parts_add_up_to_the_whole(at in proptest::collection::vec(0..50 * MS, 0..200), cut in 0..60 * MS) {
            let mut timeline = CompletionTimeline::new(0, 50 * MS);
            for ns in &at {
                timeline.record(*ns);
            }
            let parts = timeline.completed_between(0, cut) + timeline.completed_between(cut, 60 * MS);
            prop_assert!((parts - at.len() as f64).abs() < 1e-6);
        }
    }
}
