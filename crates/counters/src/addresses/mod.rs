//! Where page faults are, and which lines of the caches threads share: samples with the address of the data.
//!
//! Page faults are a software event, which is here wherever sampling is. Loads and stores only some processors sample (AMD's IBS, Intel's
//! PEBS), and hypervisors hide them; Arm's SPE writes packets of a form of its own, which are not read. Where this was written there was
//! neither: they are held by tests of the kernel's interface and have not been verified on a processor.

mod event;
// The library behind it knows the interface of these architectures; elsewhere nothing can be opened.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod kernel;
mod place;
mod sharing;

use crate::sampling::{NotOpened, Refusal, Refused};
use crate::split::share_of;
use assay_linux::ProcRoot;
use assay_model::{DataAccesses, DataPlace, FaultPlace, FaultPlaces, LeftOutFigure, Problem};
pub(crate) use event::Kernel;
pub use event::{AddressEvents, AddressRecord, AddressTarget, Addresses, Unit};
use place::Places;
use sharing::{Access, shared_lines};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Samples that are kept.
const SAMPLES_MAX: usize = 2_000_000;
/// Records that are read in one go.
const RECORDS_MAX: usize = 1_000_000;

/// Samples of one unit, of all processors.
#[derive(Debug)]
pub(crate) struct AddressGauge {
    proc: ProcRoot,
    pid: u32,
    unit: Unit,
    rings: Vec<Box<dyn Addresses>>,
    accesses: Vec<Access>,
    lost: u64,
}

impl AddressGauge {
    /// Begins to sample page faults.
    pub(crate) fn of_faults(
        events: &dyn AddressEvents,
        proc: &ProcRoot,
        pid: u32,
    ) -> Result<AddressGauge, LeftOutFigure> {
        AddressGauge::start(events, Unit::PageFaults, proc, pid).map_err(|refusal| {
            let refused = match &refusal {
                Refusal::Wrong(_) => {
                    Refused::of_counter(Unit::PageFaults.name(), &refusal, paranoid_of(proc))
                }
                Refusal::Kernel(_) | Refusal::Memory(_) | Refusal::NoProcessors => {
                    Refused::because(&refusal, paranoid_of(proc))
                }
            };
            LeftOutFigure {
                figure: "page faults by place".to_owned(),
                why: refused.why,
                enable: refused.enable,
            }
        })
    }

    /// Begins to sample loads and stores, with whichever unit there is.
    pub(crate) fn of_data(
        events: &dyn AddressEvents,
        proc: &ProcRoot,
        pid: u32,
    ) -> Result<AddressGauge, LeftOutFigure> {
        let start = |unit| AddressGauge::start(events, unit, proc, pid);
        let either = start(Unit::Ibs).or_else(|of_ibs| {
            // A unit that is there and cannot be used has the reason that helps.
            start(Unit::PebsStores).map_err(|of_pebs| if of_ibs.is_absent() { of_pebs } else { of_ibs })
        });
        either.map_err(|refusal| {
            let event = "addresses of loads and stores (AMD's IBS, Intel's PEBS; Arm's SPE is not read)";
            let Refused { why, enable } = Refused::of_counter(event, &refusal, paranoid_of(proc));
            LeftOutFigure { figure: "lines of the caches that threads share".to_owned(), why, enable }
        })
    }

    fn start(
        events: &dyn AddressEvents,
        unit: Unit,
        proc: &ProcRoot,
        pid: u32,
    ) -> Result<AddressGauge, Refusal> {
        try_unit(events, unit)?;
        let cpus = proc.read_online_cpus().map_err(|error| Refusal::Kernel(std::io::Error::other(error)))?;
        if cpus.is_empty() {
            return Err(Refusal::NoProcessors);
        }
        let rings =
            cpus.iter().map(|cpu| events.open(unit, &AddressTarget::Cpu(*cpu))).collect::<Result<_, _>>();
        let rings = rings.map_err(|error: NotOpened| Refusal::from(error))?;
        Ok(AddressGauge { proc: proc.clone(), pid, unit, rings, accesses: Vec::new(), lost: 0 })
    }

    /// Reads what the kernel has written.
    pub(crate) fn read(&mut self) {
        for ring in &mut self.rings {
            for _ in 0..RECORDS_MAX {
                match ring.next() {
                    None => break,
                    Some(AddressRecord::Access { pid, tid, address, is_store }) if pid == self.pid => {
                        if self.accesses.len() < SAMPLES_MAX {
                            self.accesses.push(Access { tid, address, is_store });
                        } else {
                            self.lost = self.lost.saturating_add(1);
                        }
                    }
                    Some(AddressRecord::Lost(number)) => self.lost = self.lost.saturating_add(number),
                    Some(AddressRecord::Access { .. } | AddressRecord::Nothing) => {}
                }
            }
        }
    }

    fn places(&self, problems: &mut Vec<Problem>) -> Places {
        Places::read(&self.proc, self.pid).unwrap_or_else(|error| {
            problems.push(Problem::from(&error));
            Places::default()
        })
    }

    /// Page faults by place, the most first.
    pub(crate) fn faults(&self, problems: &mut Vec<Problem>) -> FaultPlaces {
        let places = self.places(problems);
        let mut by_place: BTreeMap<DataPlace, u64> = BTreeMap::new();
        for access in &self.accesses {
            *by_place.entry(places.of(access.address)).or_default() += 1;
        }
        let all = self.accesses.len() as u64;
        let part = |(place, samples): (DataPlace, u64)| {
            Some(FaultPlace { place, samples, share: share_of(samples, all)? })
        };
        let mut parts: Vec<FaultPlace> = by_place.into_iter().filter_map(part).collect();
        parts.sort_by_key(|part| Reverse(part.samples));
        FaultPlaces { one_in: event::FAULTS_PERIOD, samples: all, lost: self.lost, places: parts }
    }

    /// The lines that threads share.
    pub(crate) fn data(&self, problems: &mut Vec<Problem>) -> DataAccesses {
        let places = self.places(problems);
        DataAccesses {
            source: self.unit.name().to_owned(),
            samples: self.accesses.len() as u64,
            lost: self.lost,
            lines: shared_lines(&self.accesses, &|address| places.of(address)),
        }
    }
}

fn paranoid_of(proc: &ProcRoot) -> Option<i64> {
    proc.read_perf_settings().unwrap_or_default().paranoid
}

/// Tries a unit on this thread: pages and lines of our own, whose addresses are known.
fn try_unit(events: &dyn AddressEvents, unit: Unit) -> Result<(), Refusal> {
    const BYTES: usize = 32 << 20;
    let mut own = vec![0u8; BYTES];
    let first = own.as_ptr() as u64;
    let addresses = first..first + BYTES as u64;
    let mut ring = events.open(unit, &AddressTarget::Own(addresses.clone()))?;
    // Enough operations for some samples of the processor; new pages for some of the kernel.
    let rounds = if unit == Unit::PageFaults { 1 } else { 200 };
    for round in 0..rounds {
        for byte in own.iter_mut().step_by(4096) {
            *byte = std::hint::black_box(round as u8 + 1);
        }
    }
    std::hint::black_box(&own);
    let (mut all, mut within) = (0u64, 0u64);
    while let Some(record) = ring.next() {
        if let AddressRecord::Access { address, .. } = record {
            all += 1;
            within += u64::from(addresses.contains(&address));
        }
    }
    if all == 0 || 2 * within < all {
        let what =
            format!("of {all} samples while pages of our own were used {within} have an address in them");
        return Err(Refusal::Wrong(what));
    }
    Ok(())
}
