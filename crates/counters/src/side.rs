//! Figures beside the account of CPU time that have sources of their own: page faults by place, calls in which carriers wait, counters of
//! the processor, lines of the caches that threads share.

use crate::addresses::{AddressEvents, AddressGauge, Kernel};
use crate::carriers::CarrierGauge;
use crate::findings::findings;
use crate::hardware::{Counting, HardwareGauge, Processor};
use crate::jvm::read_jvm;
use assay_linux::{ProcRoot, monotonic_ns, thread_cpu_ns};
use assay_model::{LeftOutFigure, ThreadRole, TimeReport};

/// From one reading of the JVM's list of threads to the next, for new carriers.
const LIST_EVERY_NS: u64 = 5_000_000_000;

/// Which of them are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sides {
    /// Page faults by place, and carriers.
    pub samples: bool,
    /// Counters of the processor, and lines of the caches.
    pub counters: bool,
}

/// They all, of one process.
#[derive(Debug)]
pub struct SideGauges {
    proc: ProcRoot,
    pid: u32,
    faults: Option<Result<AddressGauge, LeftOutFigure>>,
    data: Option<Result<AddressGauge, LeftOutFigure>>,
    hardware: Option<HardwareGauge>,
    carriers: Option<CarrierGauge>,
    listed: Vec<u32>,
    listed_at_ns: Option<u64>,
    /// CPU time that reading took in Assay.
    readings_cpu_ns: u64,
}

impl SideGauges {
    /// Starts those that are wanted and can be had; of the others the report says why.
    pub fn start(pid: u32, asked: Sides) -> SideGauges {
        SideGauges::start_with(&Kernel, Box::new(Processor), ProcRoot::default(), pid, asked)
    }

    /// The same with other calls of the kernel, below another root.
    pub fn start_with(
        addresses: &dyn AddressEvents,
        counting: Box<dyn Counting>,
        proc: ProcRoot,
        pid: u32,
        asked: Sides,
    ) -> SideGauges {
        SideGauges {
            faults: asked.samples.then(|| AddressGauge::of_faults(addresses, &proc, pid)),
            data: asked.counters.then(|| AddressGauge::of_data(addresses, &proc, pid)),
            hardware: asked.counters.then(|| HardwareGauge::start(counting, proc.clone(), pid)),
            carriers: asked.samples.then(CarrierGauge::default),
            listed: Vec::new(),
            listed_at_ns: None,
            readings_cpu_ns: 0,
            proc,
            pid,
        }
    }

    /// Looks once, and makes room for more samples.
    pub fn read(&mut self) {
        let began_ns = thread_cpu_ns();
        self.read_each();
        let took_ns = thread_cpu_ns().saturating_sub(began_ns);
        self.readings_cpu_ns = self.readings_cpu_ns.saturating_add(took_ns);
    }

    fn read_each(&mut self) {
        for gauge in [&mut self.faults, &mut self.data].into_iter().flatten().flatten() {
            gauge.read();
        }
        if let Some(hardware) = &mut self.hardware {
            hardware.read();
        }
        if let Some(carriers) = &mut self.carriers {
            let now = monotonic_ns();
            if self.listed_at_ns.is_none_or(|at| at + LIST_EVERY_NS <= now) {
                self.listed = carriers_of(&self.proc, self.pid);
                self.listed_at_ns = Some(now);
            }
            carriers.read(&self.proc, self.pid, &self.listed);
        }
    }

    /// Adds what they saw to an account, what it cost, and what follows from it.
    pub fn add_to(&self, report: &mut TimeReport) {
        report.readings_cpu_ns = report.readings_cpu_ns.saturating_add(self.readings_cpu_ns);
        let mut problems = Vec::new();
        match &self.faults {
            Some(Ok(gauge)) => report.fault_places = Some(gauge.faults(&mut problems)),
            Some(Err(left_out)) => report.left_out.push(left_out.clone()),
            None => report.left_out.push(not_asked(
                "page faults by place, and calls in which carriers wait",
                "leave out --no-samples and --watch",
            )),
        }
        match &self.data {
            Some(Ok(gauge)) => report.data_accesses = Some(gauge.data(&mut problems)),
            Some(Err(left_out)) => report.left_out.push(left_out.clone()),
            None => report.left_out.push(not_asked(
                "counters of the processor, and lines of the caches that threads share",
                "--counters, on a processor that has them",
            )),
        }
        if let Some(hardware) = &self.hardware {
            report.hardware = hardware.counters();
            report.left_out.extend(hardware.left_out().iter().cloned());
        }
        report.carrier_waits = self.carriers.as_ref().and_then(CarrierGauge::waits);
        for problem in problems {
            if !report.problems.contains(&problem) {
                report.problems.push(problem);
            }
        }
        report.findings = findings(report);
    }
}

fn not_asked(figure: &str, enable: &str) -> LeftOutFigure {
    let [figure, why, enable] = [figure, "they were not requested", enable].map(str::to_owned);
    LeftOutFigure { figure, why, enable }
}

/// Carriers of a JVM; none where it cannot be read, which the account itself says.
fn carriers_of(proc: &ProcRoot, pid: u32) -> Vec<u32> {
    let Ok(Some(jvm)) = read_jvm(proc, pid) else { return Vec::new() };
    let is_carrier = |role: ThreadRole| role == ThreadRole::Carrier;
    let mut carriers: Vec<u32> =
        jvm.labels.iter().filter(|(_, label)| is_carrier(label.role)).map(|(tid, _)| *tid).collect();
    carriers.sort_unstable();
    carriers
}
