//! A server in a guest under full-system emulation: the guest loads it itself, and what was counted between its marks is the window.

use crate::config::Bounds;
use crate::measurement::{Context, Measurement, MeasurementId, Procedure};
use assay_emulate::{COUNTS_FILE, Cycles, EmulatedCounts, Figures, GuestReport, REPORT_FILE};
use assay_load::{Load, LoadError, LoadWindow};
use assay_model::{Check, Disturbance, EmulatedProcessor, Problem, WarmUp, Window, metric};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Beyond this share of the server's instructions compilers decide what is compared.
const COMPILING_PERCENT: f64 = 2.0;

/// A guest that was started, and ends by itself when all is counted.
#[derive(Debug, Clone)]
pub struct Emulated {
    /// Where the emulator leaves what it counted and what the guest says.
    pub folder: PathBuf,
    /// Thresholds, of which only the share of failed requests applies: other load on this machine does not change counts.
    pub bounds: Bounds,
    /// What is emulated.
    pub processor: EmulatedProcessor,
}

impl Procedure for Emulated {
    /// Done in the guest.
    fn warm_up(&mut self, _: &mut Context<'_>) -> Result<Option<WarmUp>, LoadError> {
        Ok(None)
    }

    fn measure(
        &mut self,
        with: &mut Context<'_>,
        turn: MeasurementId,
    ) -> Result<Option<Measurement>, LoadError> {
        let whole = LoadWindow {
            load: Load::Closed { users: 0, think: None },
            settle: Duration::ZERO,
            length: Duration::ZERO,
            slow_above: None,
        };
        let launch = with.source.window(&whole, with.stop, &mut |_| ())?;
        if launch.stopped {
            return Ok(None);
        }
        let (report, counts) = self.read().map_err(|why| LoadError::System {
            what: "count in the emulated guest",
            cause: io::Error::other(why),
            fix: "the trial's server.log has what the guest printed",
        })?;
        let mut window = Window {
            block: turn.block,
            attempt: turn.attempt,
            start_monotonic_ns: launch.start_monotonic_ns,
            end_monotonic_ns: launch.end_monotonic_ns,
            requests: report.requests,
            completed: report.completed,
            errors: report.errors,
            metrics: self.metrics(&counts, &report),
            ..Window::default()
        };
        window.problems.extend(report.problems.iter().map(|text| Problem::new("guest", text.clone())));
        let server = counts.server.user.instructions + counts.server.kernel.instructions;
        window.problems.extend(compiling(report.compilers_ns, server));
        if report.compiler_stacks.is_none() {
            let why = "a compiler of the JVM worked at both marks, so its share is not known: warm the server up longer in [emulated]";
            window
                .problems
                .push(Problem::new(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST, why));
        }
        let share = report.errors as f64 / report.requests.max(1) as f64;
        if self.bounds.error_share < share {
            let evidence = format!("{} of {} requests failed in the guest", report.errors, report.requests);
            window.disturbances.push(Disturbance { kind: Check::Errors, evidence });
        }
        with.watcher.end_window(&launch, &mut window);
        Ok(Some(Measurement { window, capacity: None, audit: report.audit }))
    }
}

impl Emulated {
    fn metrics(&self, counts: &EmulatedCounts, report: &GuestReport) -> BTreeMap<String, f64> {
        let mut values = metrics(counts, report.completed, report.compiler_stacks.as_deref());
        values.extend(Cycles::of(self.processor).iter().flat_map(|cycles| modelled(counts, cycles)));
        if self.processor == EmulatedProcessor::NeoverseN1 {
            values.extend(exclusives(counts, report.completed));
        }
        values
    }

    /// What the guest left.
    fn read(&self) -> Result<(GuestReport, EmulatedCounts), String> {
        let report = GuestReport::read(&self.folder.join(REPORT_FILE))?;
        if let Some(why) = report.failed {
            return Err(why);
        }
        if report.completed == 0 {
            return Err(format!(
                "none of {} requests was answered rightly: the window is too short",
                report.requests
            ));
        }
        Ok((report, EmulatedCounts::read(&self.folder.join(COUNTS_FILE))?))
    }
}

/// Says where much of what was counted is the work of compilers. One nanosecond of the guest's clock is an instruction.
fn compiling(compilers_ns: Option<u64>, server_instructions: u64) -> Option<Problem> {
    let percent = compilers_ns? as f64 / server_instructions.max(1) as f64 * 100.0;
    let what = "of the count is the work of the JVM's compilers, not of requests: warm it up longer in \
        [emulated]";
    (COMPILING_PERCENT < percent).then(|| Problem::new("guest", format!("{percent:.0} % {what}")))
}

/// Values by metric. A ratio whose whole is zero has no value. `compilers` are addresses in the stacks of threads that compiled.
fn metrics(counts: &EmulatedCounts, requests: u64, compilers: Option<&[u64]>) -> BTreeMap<String, f64> {
    let server = &counts.server;
    let mut values = BTreeMap::new();
    let mut add = |id: &str, part: u64, whole: u64, factor: f64| {
        if whole > 0 {
            values.insert(id.to_owned(), part as f64 / whole as f64 * factor);
        }
    };
    for (mode, figures) in [&server.user, &server.kernel].into_iter().enumerate() {
        for (ids, figure) in PER_REQUEST {
            add(ids[mode], figure(figures), requests, 1.0);
        }
        for (ids, part, whole) in PERCENT {
            add(ids[mode], part(figures), whole(figures), 100.0);
        }
    }
    if let Some(stacks) = compilers {
        let without = counts.user_instructions_without(stacks);
        add(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST, without, requests, 1.0);
    }
    let sum = |figures: [&Figures; 2], of: fn(&Figures) -> u64| figures.into_iter().map(of).sum::<u64>();
    add(metric::EMULATED_SYSCALLS_PER_REQUEST, server.user.syscalls, requests, 1.0);
    add(metric::EMULATED_CONTEXT_SWITCHES_PER_REQUEST, server.kernel.context_switches, requests, 1.0);
    let client = counts.client.kernel.instructions;
    add(metric::EMULATED_CLIENT_KERNEL_INSTRUCTIONS_PER_REQUEST, client, requests, 1.0);
    let threads = sum([&counts.kernel_threads.user, &counts.kernel_threads.kernel], |f| f.instructions);
    add(metric::EMULATED_KERNEL_THREAD_INSTRUCTIONS_PER_REQUEST, threads, requests, 1.0);
    values
}

/// Exclusive loads and stores, by metric. Other processors have none, so there 0 would say nothing.
fn exclusives(counts: &EmulatedCounts, requests: u64) -> BTreeMap<String, f64> {
    let modes = [&counts.server.user, &counts.server.kernel].into_iter().enumerate();
    let of_mode = |(mode, figures): (usize, &Figures)| {
        EXCLUSIVES.map(|(ids, of)| (ids[mode].to_owned(), of(figures) as f64 / requests as f64))
    };
    modes.filter(|_| requests != 0).flat_map(of_mode).collect()
}

/// Modelled cycles, by metric.
fn modelled(counts: &EmulatedCounts, cycles: &Cycles) -> Vec<(String, f64)> {
    let of_mode = |mode: usize, figures: &Figures| {
        MODELLED.map(|(ids, of)| {
            let per_instruction = of(cycles, figures) / figures.instructions as f64;
            (ids[mode].to_owned(), per_instruction)
        })
    };
    let modes = [&counts.server.user, &counts.server.kernel].into_iter().enumerate();
    modes.filter(|(_, of)| of.instructions != 0).flat_map(|(mode, of)| of_mode(mode, of)).collect()
}

/// The metrics of user and of kernel mode that the model of cycles gives, for each instruction.
const MODELLED: [([&str; 2], OfCycles); 3] = [
    (
        [
            metric::EMULATED_USER_MODELLED_CYCLES_PER_INSTRUCTION,
            metric::EMULATED_KERNEL_MODELLED_CYCLES_PER_INSTRUCTION,
        ],
        Cycles::all,
    ),
    (
        [
            metric::EMULATED_USER_MODELLED_FETCH_STALLS_PER_INSTRUCTION,
            metric::EMULATED_KERNEL_MODELLED_FETCH_STALLS_PER_INSTRUCTION,
        ],
        Cycles::fetch_stalls,
    ),
    (
        [
            metric::EMULATED_USER_MODELLED_DATA_STALLS_PER_INSTRUCTION,
            metric::EMULATED_KERNEL_MODELLED_DATA_STALLS_PER_INSTRUCTION,
        ],
        Cycles::data_stalls,
    ),
];

type Of = fn(&Figures) -> u64;
type OfCycles = fn(&Cycles, &Figures) -> f64;

/// The metrics of user and of kernel mode that counts of exclusive instructions give.
const EXCLUSIVES: [([&str; 2], Of); 2] = [
    (
        [
            metric::EMULATED_USER_EXCLUSIVE_LOADS_PER_REQUEST,
            metric::EMULATED_KERNEL_EXCLUSIVE_LOADS_PER_REQUEST,
        ],
        |f| f.exclusive_loads,
    ),
    (
        [
            metric::EMULATED_USER_EXCLUSIVE_STORES_PER_REQUEST,
            metric::EMULATED_KERNEL_EXCLUSIVE_STORES_PER_REQUEST,
        ],
        |f| f.exclusive_stores,
    ),
];

/// The metrics of user and of kernel mode that a count gives.
const PER_REQUEST: [([&str; 2], Of); 13] = [
    (
        [metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST, metric::EMULATED_KERNEL_INSTRUCTIONS_PER_REQUEST],
        |f| f.instructions,
    ),
    ([metric::EMULATED_USER_LOADS_PER_REQUEST, metric::EMULATED_KERNEL_LOADS_PER_REQUEST], |f| f.loads),
    ([metric::EMULATED_USER_STORES_PER_REQUEST, metric::EMULATED_KERNEL_STORES_PER_REQUEST], |f| f.stores),
    ([metric::EMULATED_USER_BRANCHES_PER_REQUEST, metric::EMULATED_KERNEL_BRANCHES_PER_REQUEST], |f| {
        f.branches
    }),
    (
        [
            metric::EMULATED_USER_BRANCHES_TAKEN_PER_REQUEST,
            metric::EMULATED_KERNEL_BRANCHES_TAKEN_PER_REQUEST,
        ],
        |f| f.branches_taken,
    ),
    (
        [
            metric::EMULATED_USER_BRANCHES_MISPREDICTED_PER_REQUEST,
            metric::EMULATED_KERNEL_BRANCHES_MISPREDICTED_PER_REQUEST,
        ],
        |f| f.branches_mispredicted,
    ),
    ([metric::EMULATED_USER_BTB_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_BTB_MISSES_PER_REQUEST], |f| {
        f.btb_misses
    }),
    ([metric::EMULATED_USER_L1I_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_L1I_MISSES_PER_REQUEST], |f| {
        f.l1i_misses
    }),
    ([metric::EMULATED_USER_L1D_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_L1D_MISSES_PER_REQUEST], |f| {
        f.l1d_misses
    }),
    ([metric::EMULATED_USER_L2_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_L2_MISSES_PER_REQUEST], |f| {
        f.l2_misses
    }),
    ([metric::EMULATED_USER_ITLB_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_ITLB_MISSES_PER_REQUEST], |f| {
        f.itlb_misses
    }),
    ([metric::EMULATED_USER_DTLB_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_DTLB_MISSES_PER_REQUEST], |f| {
        f.dtlb_misses
    }),
    (
        [
            metric::EMULATED_USER_ATOMIC_INSTRUCTIONS_PER_REQUEST,
            metric::EMULATED_KERNEL_ATOMIC_INSTRUCTIONS_PER_REQUEST,
        ],
        |f| f.atomic_instructions,
    ),
];

/// The metrics of user and of kernel mode that a part and its whole give.
const PERCENT: [([&str; 2], Of, Of); 9] = [
    (
        [metric::EMULATED_USER_BRANCH_PERCENT, metric::EMULATED_KERNEL_BRANCH_PERCENT],
        |f| f.branches,
        |f| f.instructions,
    ),
    (
        [metric::EMULATED_USER_TAKEN_PERCENT, metric::EMULATED_KERNEL_TAKEN_PERCENT],
        |f| f.branches_taken,
        |f| f.branches,
    ),
    (
        [metric::EMULATED_USER_MISPREDICT_PERCENT, metric::EMULATED_KERNEL_MISPREDICT_PERCENT],
        |f| f.branches_mispredicted,
        |f| f.branches,
    ),
    (
        [metric::EMULATED_USER_BTB_MISS_PERCENT, metric::EMULATED_KERNEL_BTB_MISS_PERCENT],
        |f| f.btb_misses,
        |f| f.branches,
    ),
    (
        [metric::EMULATED_USER_L1I_MISS_PERCENT, metric::EMULATED_KERNEL_L1I_MISS_PERCENT],
        |f| f.l1i_misses,
        |f| f.l1i_uses,
    ),
    (
        [metric::EMULATED_USER_L1D_MISS_PERCENT, metric::EMULATED_KERNEL_L1D_MISS_PERCENT],
        |f| f.l1d_misses,
        |f| f.l1d_uses,
    ),
    (
        [metric::EMULATED_USER_L2_MISS_PERCENT, metric::EMULATED_KERNEL_L2_MISS_PERCENT],
        |f| f.l2_misses,
        |f| f.l2_uses,
    ),
    (
        [metric::EMULATED_USER_ITLB_MISS_PERCENT, metric::EMULATED_KERNEL_ITLB_MISS_PERCENT],
        |f| f.itlb_misses,
        |f| f.instructions,
    ),
    (
        [metric::EMULATED_USER_DTLB_MISS_PERCENT, metric::EMULATED_KERNEL_DTLB_MISS_PERCENT],
        |f| f.dtlb_misses,
        |f| f.loads + f.stores,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use assay_emulate::ThreadCount;

    #[test]
    fn a_window_in_which_the_jvm_compiles_says_so() {
        assert_eq!(compiling(Some(20), 1_000), None);
        assert_eq!(compiling(None, 0), None);
        let said = compiling(Some(850), 1_000).unwrap().text;
        assert!(said.starts_with("85 % of the count"), "{said}");
        assert!(compiling(Some(1), 0).is_some());
    }

    #[test]
    fn modelled_cycles_are_per_instruction_and_a_mode_without_any_has_none() {
        let cycles =
            Cycles { instruction: 0.5, l1_miss: 4.0, l2_miss: 65.0, tlb_miss: 32.0, misprediction: 17.0 };
        let user = Figures { instructions: 100, l1i_misses: 5, l1d_misses: 10, ..Figures::default() };
        let counts = EmulatedCounts {
            server: assay_emulate::TaskGroup { tasks: 1, user, ..Default::default() },
            ..EmulatedCounts::default()
        };
        let values: BTreeMap<String, f64> = modelled(&counts, &cycles).into_iter().collect();
        assert_eq!(values.len(), 3, "{values:?}");
        assert_eq!(values[metric::EMULATED_USER_MODELLED_CYCLES_PER_INSTRUCTION], 1.1);
        assert_eq!(values[metric::EMULATED_USER_MODELLED_FETCH_STALLS_PER_INSTRUCTION], 0.2);
        assert_eq!(values[metric::EMULATED_USER_MODELLED_DATA_STALLS_PER_INSTRUCTION], 0.4);
        assert!(values.keys().all(|id| assay_model::Metric::by_id(id).is_some()));
    }

    #[test]
    fn exclusives_are_counted_on_the_processor_that_has_them() {
        let user = Figures { exclusive_loads: 30, exclusive_stores: 20, ..Figures::default() };
        let counts = EmulatedCounts {
            server: assay_emulate::TaskGroup { tasks: 1, user, ..Default::default() },
            ..EmulatedCounts::default()
        };
        let report = GuestReport { completed: 10, ..GuestReport::default() };
        let of = |processor| {
            let bounds = Bounds::default();
            Emulated { folder: PathBuf::new(), bounds, processor }.metrics(&counts, &report)
        };
        let values = of(EmulatedProcessor::NeoverseN1);
        assert_eq!(values[metric::EMULATED_USER_EXCLUSIVE_LOADS_PER_REQUEST], 3.0);
        assert_eq!(values[metric::EMULATED_USER_EXCLUSIVE_STORES_PER_REQUEST], 2.0);
        assert_eq!(values[metric::EMULATED_KERNEL_EXCLUSIVE_LOADS_PER_REQUEST], 0.0);
        assert_eq!(values[metric::EMULATED_USER_ATOMIC_INSTRUCTIONS_PER_REQUEST], 0.0);
        let values = of(EmulatedProcessor::Current);
        assert_eq!(values.get(metric::EMULATED_USER_EXCLUSIVE_LOADS_PER_REQUEST), None);
        assert!(values.contains_key(metric::EMULATED_USER_ATOMIC_INSTRUCTIONS_PER_REQUEST));
    }

    #[test]
    fn counts_become_values_per_request_and_a_ratio_of_nothing_is_absent() {
        let user = Figures {
            instructions: 4_000,
            loads: 900,
            stores: 100,
            dtlb_misses: 10,
            syscalls: 6,
            ..Figures::default()
        };
        let kernel = Figures { instructions: 8_000, context_switches: 4, ..Figures::default() };
        let counts = EmulatedCounts {
            server: assay_emulate::TaskGroup { tasks: 3, user, kernel },
            client: assay_emulate::TaskGroup {
                kernel: Figures { instructions: 200, ..Figures::default() },
                ..Default::default()
            },
            threads: vec![ThreadCount { stack: 0x10_0000, user_instructions: 3_000 }],
            ..EmulatedCounts::default()
        };
        let values = metrics(&counts, 2, Some(&[0x10_0100]));
        let value = |id: &str| values.get(id).copied();
        assert_eq!(value(metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST), Some(2_000.0));
        assert_eq!(value(metric::EMULATED_KERNEL_INSTRUCTIONS_PER_REQUEST), Some(4_000.0));
        assert_eq!(value(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST), Some(500.0));
        assert_eq!(value(metric::EMULATED_SYSCALLS_PER_REQUEST), Some(3.0));
        assert_eq!(value(metric::EMULATED_CONTEXT_SWITCHES_PER_REQUEST), Some(2.0));
        assert_eq!(value(metric::EMULATED_USER_DTLB_MISS_PERCENT), Some(1.0));
        assert_eq!(value(metric::EMULATED_CLIENT_KERNEL_INSTRUCTIONS_PER_REQUEST), Some(100.0));
        assert_eq!(value(metric::EMULATED_USER_L2_MISS_PERCENT), None, "nothing asked for the L2 cache");
        let unknown = metrics(&counts, 2, None);
        assert!(!unknown.contains_key(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST));
        assert!(values.keys().all(|id| assay_model::Metric::by_id(id).is_some()));
    }
}
