//! Figures beside the account of CPU time that have sources of their own: page faults by place, calls in which carriers wait, what the JVM
//! holds, counters of the processor, lines of the caches that threads share.

use crate::addresses::{AddressEvents, AddressGauge, Kernel};
use crate::carriers::CarrierGauge;
use crate::findings::findings;
use crate::hardware::{Counting, HardwareGauge, Processor};
use crate::held::HeldGauge;
use crate::jvm::{Reads, read_jvm};
use assay_linux::{ProcRoot, monotonic_ns, thread_cpu_ns};
use assay_model::{LeftOutFigure, TimeReport};

/// Looking at the JVM takes at most this part of the time.
const LOOK_PART: u64 = 25;

/// Which of them are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sides {
    /// Page faults by place, carriers, and what the JVM holds.
    pub samples: bool,
    /// Counters of the processor, and lines of the caches.
    pub counters: bool,
}

/// Looks at a JVM.
#[derive(Debug, Default)]
struct JvmLooks {
    carriers: CarrierGauge,
    held: HeldGauge,
    /// No look before.
    next_at_ns: u64,
}

/// They all, of one process.
#[derive(Debug)]
pub struct SideGauges {
    proc: ProcRoot,
    pid: u32,
    faults: Option<Result<AddressGauge, LeftOutFigure>>,
    data: Option<Result<AddressGauge, LeftOutFigure>>,
    hardware: Option<HardwareGauge>,
    jvm: Option<JvmLooks>,
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
            jvm: asked.samples.then(JvmLooks::default),
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
        if let Some(jvm) = &mut self.jvm {
            jvm.look(&self.proc, self.pid);
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
        report.carrier_waits = self.jvm.as_ref().and_then(|jvm| jvm.carriers.waits());
        report.jvm_held = self.jvm.as_ref().and_then(|jvm| jvm.held.held());
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

impl JvmLooks {
    /// Looks at the JVM, unless that would take too much of the time; nothing where it cannot be read, which the account itself says.
    fn look(&mut self, proc: &ProcRoot, pid: u32) {
        let now_ns = monotonic_ns();
        if now_ns < self.next_at_ns {
            return;
        }
        let began_cpu_ns = thread_cpu_ns();
        let jvm = read_jvm(proc, pid, Reads::ThreadsAndMoment);
        if let Some(moment) = jvm.ok().flatten().and_then(|jvm| jvm.moment) {
            self.carriers.add(&moment.carriers);
            self.held.add(now_ns, moment.holds);
        }
        let took_ns = thread_cpu_ns().saturating_sub(began_cpu_ns);
        self.next_at_ns = now_ns.saturating_add(took_ns.saturating_mul(LOOK_PART));
    }
}
