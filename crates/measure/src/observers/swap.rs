//! Observes what a shortage of memory does over time: pages that go to swap and come back, memory of the trial's processes there,
//! time that tasks wait for memory, and pages for which collections wait.
//!
//! The kernel counts pages in and out for the whole machine.

use super::contract::{Observer, Target};
use assay_counters::is_collector_s;
use assay_linux::{ProcRoot, Resource, SwapTraffic, ThreadCounters, monotonic_ns};
use assay_load::Measured;
use assay_model::{Problem, SwapSample, Window, metric};
use std::collections::HashMap;

const INTERVAL_NS: u64 = 1_000_000_000;
/// The kernel's figure leaves out shared memory in swap. A JVM's performance counters are less than this. More may be ZGC's heap, and the figure
/// would be far too small.
const SHARED_BYTES_MAX: u64 = 1 << 20;
/// The thread that collects where the collector is Serial.
const VM_THREAD: &str = "VM Thread";

/// Counts since the machine's or the processes' start, at one instant.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    monotonic_ns: u64,
    traffic: SwapTraffic,
    swapped_bytes: Option<u64>,
    stalled_us: Option<u64>,
    /// Absent where no thread is a collector's by its name.
    collector_faults: Option<u64>,
}

#[derive(Default)]
pub(crate) struct SwapObserver {
    proc: ProcRoot,
    pids: Vec<u32>,
    next_ns: u64,
    counts: Vec<Counts>,
    /// A process had more shared memory than that; it may lie in swap since.
    has_shared_memory: bool,
    /// Counters of the threads of each process at the last look: what has not run since is not read again.
    threads: HashMap<u32, HashMap<u32, ThreadCounters>>,
}

impl SwapObserver {
    fn find(&mut self, target: &Target) {
        let all = target.processes.iter().map(|(_, pid)| *pid);
        self.pids =
            if target.processes.is_empty() { target.pid.into_iter().collect() } else { all.collect() };
        self.threads.clear();
        self.has_shared_memory = false;
    }

    fn read(&mut self) -> Result<Counts, String> {
        let traffic = self.proc.read_swap_traffic().map_err(|e| e.to_string())?;
        let swapped_bytes = self.swapped_bytes();
        let pressure = self.proc.read_pressure(Resource::Memory).ok().flatten();
        Ok(Counts {
            monotonic_ns: monotonic_ns(),
            traffic: traffic.ok_or("this kernel has no swap")?,
            swapped_bytes,
            stalled_us: pressure.map(|of| of.some.total_us),
            collector_faults: self.collector_faults(),
        })
    }

    /// Memory of all processes in swap; absent where one does not say it, or has shared memory.
    fn swapped_bytes(&mut self) -> Option<u64> {
        let statuses: Vec<_> =
            self.pids.iter().map(|pid| self.proc.read_memory_status(*pid).ok()).collect::<Option<_>>()?;
        self.has_shared_memory |=
            statuses.iter().any(|of| of.shmem_bytes.is_none_or(|bytes| SHARED_BYTES_MAX < bytes));
        let sum = statuses.iter().map(|of| of.swap_bytes).sum::<Option<u64>>();
        sum.filter(|_| !self.has_shared_memory)
    }

    fn collector_faults(&mut self) -> Option<u64> {
        let mut sum = None;
        for pid in &self.pids {
            let before = self.threads.entry(*pid).or_default();
            // A process that has ended meanwhile has no threads.
            let Ok(now) = self.proc.read_thread_counters(*pid, before) else { continue };
            *before = now.threads;
            let of = |is: fn(&str) -> bool| {
                let threads = before.values().filter(|thread| is(&thread.name));
                threads.map(|thread| thread.major_faults).reduce(u64::saturating_add)
            };
            // Serial has no threads of its own.
            let of_process = of(is_collector_s).or_else(|| of(|name| name == VM_THREAD));
            sum = of_process.into_iter().chain(sum).reduce(u64::saturating_add);
        }
        sum
    }
}

/// The metrics, and the samples for pictures, from the first to the last counts within the window.
fn add(counts: &[Counts], window: &mut Window) {
    let inside = window.start_monotonic_ns..=window.end_monotonic_ns;
    let counts: Vec<&Counts> = counts.iter().filter(|of| inside.contains(&of.monotonic_ns)).collect();
    let [first, .., last] = &counts[..] else {
        let what = "the window is too short to count twice";
        return window.problems.push(Problem::new(metric::SWAPPED_IN_PAGES_PER_S, what));
    };
    let whole = sample(first, last);
    window.metrics.insert(metric::SWAPPED_IN_PAGES_PER_S.to_owned(), whole.in_pages_per_s);
    window.metrics.insert(metric::SWAPPED_OUT_PAGES_PER_S.to_owned(), whole.out_pages_per_s);
    let faults = last.collector_faults.zip(first.collector_faults);
    let seconds = seconds_between(first, last);
    let of_each = [
        (
            metric::SWAPPED_BYTES,
            last.swapped_bytes.map(|bytes| bytes as f64),
            "not known of each process: the kernel's figure leaves out shared memory, such as ZGC's heap",
        ),
        (
            metric::COLLECTOR_SWAP_FAULTS_PER_S,
            faults.map(|(last, first)| last.saturating_sub(first) as f64 / seconds),
            "no thread is a collector's or the VM's by its name",
        ),
    ];
    for (id, value, why) in of_each {
        match value {
            Some(value) => drop(window.metrics.insert(id.to_owned(), value)),
            None => window.problems.push(Problem::new(id, why)),
        }
    }
    window.swap = counts.windows(2).map(|pair| sample(pair[0], pair[1])).collect();
}

fn seconds_between(from: &Counts, to: &Counts) -> f64 {
    (to.monotonic_ns.saturating_sub(from.monotonic_ns) as f64 / 1e9).max(1e-9)
}

fn sample(from: &Counts, to: &Counts) -> SwapSample {
    let seconds = seconds_between(from, to);
    let rate = |of: fn(&Counts) -> u64| of(to).saturating_sub(of(from)) as f64 / seconds;
    let stalled = to.stalled_us.zip(from.stalled_us);
    SwapSample {
        monotonic_ns: to.monotonic_ns,
        swapped_bytes: to.swapped_bytes,
        in_pages_per_s: rate(|of| of.traffic.in_pages),
        out_pages_per_s: rate(|of| of.traffic.out_pages),
        stalled_percent: stalled
            .map(|(to, from)| (to.saturating_sub(from) as f64 / seconds / 1e4).min(100.0)),
    }
}

impl Observer for SwapObserver {
    fn name(&self) -> &'static str {
        "swap"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        self.find(target);
        self.read().map(drop)
    }

    fn replaced(&mut self, target: &Target, _role: &str, _pid: u32) -> Result<(), String> {
        self.find(target);
        Ok(())
    }

    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        let now_ns = monotonic_ns();
        if self.next_ns <= now_ns {
            self.next_ns = now_ns + INTERVAL_NS;
            let counts = self.read()?;
            self.counts.push(counts);
        }
        Ok(())
    }

    fn end_window(
        &mut self,
        _target: &Target,
        _measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        // Of a window that is shorter than the interval, too.
        let counts = self.read()?;
        self.counts.push(Counts { monotonic_ns: counts.monotonic_ns.min(window.end_monotonic_ns), ..counts });
        self.next_ns = 0;
        add(&std::mem::take(&mut self.counts), window);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(at_s: u64, in_pages: u64, swapped_bytes: Option<u64>, collector_faults: Option<u64>) -> Counts {
        Counts {
            monotonic_ns: at_s * 1_000_000_000,
            traffic: SwapTraffic { in_pages, out_pages: 2 * in_pages },
            swapped_bytes,
            stalled_us: Some(at_s * 250_000),
            collector_faults,
        }
    }

    fn window() -> Window {
        Window { start_monotonic_ns: 2_000_000_000, end_monotonic_ns: 12_000_000_000, ..Window::default() }
    }

    #[test]
    fn rates_are_of_the_time_between_the_first_and_the_last_counts_and_samples_of_that_between_two() {
        let all = [
            counts(1, 5000, Some(9), Some(90)),
            counts(2, 10_000, Some(10), Some(100)),
            counts(4, 10_200, Some(20), Some(110)),
            counts(12, 10_200, Some(4096), Some(150)),
            counts(13, 99_999, Some(1), Some(999)),
        ];
        let mut of = window();
        add(&all, &mut of);
        assert_eq!(of.metrics[metric::SWAPPED_IN_PAGES_PER_S], 20.0);
        assert_eq!(of.metrics[metric::SWAPPED_OUT_PAGES_PER_S], 40.0);
        assert_eq!(of.metrics[metric::SWAPPED_BYTES], 4096.0);
        assert_eq!(of.metrics[metric::COLLECTOR_SWAP_FAULTS_PER_S], 5.0);
        let rates: Vec<f64> = of.swap.iter().map(|sample| sample.in_pages_per_s).collect();
        assert_eq!(rates, [100.0, 0.0]);
        assert_eq!(of.swap[0].stalled_percent, Some(25.0));
        assert_eq!(of.problems, []);
    }

    #[test]
    fn what_the_kernel_does_not_say_is_absent_with_a_problem() {
        let mut of = window();
        add(&[counts(3, 0, None, None), counts(9, 0, None, None)], &mut of);
        assert!(!of.metrics.contains_key(metric::SWAPPED_BYTES));
        assert_eq!((of.metrics[metric::SWAPPED_IN_PAGES_PER_S], of.problems.len()), (0.0, 2));
        let mut short = window();
        add(&[counts(3, 1, None, None)], &mut short);
        assert!(short.metrics.is_empty() && short.problems.len() == 1);
    }

    #[test]
    fn memory_in_swap_is_unknown_once_a_process_had_shared_memory() {
        let proc = tempfile::tempdir().expect("a folder");
        let mut observer =
            SwapObserver { proc: ProcRoot::at(proc.path()), pids: vec![1, 2], ..SwapObserver::default() };
        let mut swapped = |shared_kib: [u32; 2]| {
            for (pid, kib) in [1, 2].into_iter().zip(shared_kib) {
                let folder = proc.path().join(pid.to_string());
                std::fs::create_dir_all(&folder).expect("a folder");
                let text = format!("RssShmem:\t{kib} kB\nVmSwap:\t100 kB\n");
                std::fs::write(folder.join("status"), text).expect("a file");
            }
            observer.swapped_bytes()
        };
        assert_eq!(swapped([0, 32]), Some(200 << 10), "performance counters of a JVM");
        assert_eq!(swapped([0, 4096]), None);
        assert_eq!(swapped([0, 0]), None, "all of it may lie in swap");
    }
}
