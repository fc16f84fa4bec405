//! The programs in the kernel: loaded, attached, and gone when this process is, however it ends, since all of them belong to its open files.

use super::calls::rows;
use super::record::{WORDS, Words};
use super::records::{Record, RecordNumber, Records};
use super::refused::Refusal;
use aya::maps::{Array, HashMap, Map, MapData, MapError, PerCpuArray, Stack};
use aya::programs::{BtfTracePoint, FExit, ProgramError};
use aya::{Btf, BtfError, Ebpf, EbpfError, EbpfLoader, Pod};
use rustix::thread::{CapabilitySet, capabilities};
use std::error::Error;
use std::os::fd::AsFd;

static OBJECT: &[u8] = aya::include_bytes_aligned!("../../bpf/threads.bpf.o");

/// The programs, in the order in which they are attached: exits are traced before entries.
const NEEDED: [&str; 3] = ["sched_switch", "sys_exit", "sys_enter"];
/// Pairs of end and begin; a kernel may lack some, and then their time is that of what they interrupt.
const INTERRUPTS: [&str; 6] =
    ["irq_handler", "local_timer", "reschedule", "call_function", "call_function_single", "irq_work"];

/// What could not be attached, without which the rest still holds.
#[derive(Debug)]
pub(crate) struct Missing {
    pub(crate) what: &'static str,
    pub(crate) why: Refusal,
}

/// The programs to load, and for which process.
#[derive(Debug)]
pub struct ProgramRequest {
    /// The kernel's types.
    pub(crate) btf: Btf,
    /// The process.
    pub(crate) target: u32,
    /// The thread of Assay on which the programs are tried.
    pub(crate) tester: u32,
    /// Threads for which there is room.
    pub(crate) threads_max: u32,
}

/// Takes programs into a kernel; a test has a kernel of its own.
pub trait Loading: std::fmt::Debug {
    /// Whether Assay has the capabilities that it takes; `None` where that could not be read.
    fn may_load(&self) -> Option<bool>;

    /// Loads and attaches them.
    ///
    /// # Errors
    /// Why the kernel does not take them.
    fn load(&self, wanted: &ProgramRequest) -> Result<Programs, Refusal>;
}

/// The kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel;

impl Loading for Kernel {
    fn may_load(&self) -> Option<bool> {
        let sets = capabilities(None).ok()?;
        let both = CapabilitySet::BPF | CapabilitySet::PERFMON;
        Some(sets.effective.contains(both) || sets.effective.contains(CapabilitySet::SYS_ADMIN))
    }

    fn load(&self, wanted: &ProgramRequest) -> Result<Programs, Refusal> {
        Programs::start(wanted)
    }
}

/// The programs, attached.
#[derive(Debug)]
pub struct Programs {
    ebpf: Ebpf,
    records: Records,
    pub(crate) missing: Vec<Missing>,
    /// Whether the kernel says when the work of a page fault is done.
    pub(crate) times_faults: bool,
}

impl Programs {
    /// Loads and attaches them for the threads of a process, and for one thread of this one.
    fn start(wanted: &ProgramRequest) -> Result<Programs, Refusal> {
        match Programs::load(wanted, true)? {
            programs if programs.times_faults => Ok(programs),
            // Without an end no fault may begin.
            _ => Programs::load(wanted, false),
        }
    }

    fn load(wanted: &ProgramRequest, times: bool) -> Result<Programs, Refusal> {
        let ProgramRequest { btf, target, tester, threads_max } = wanted;
        let rows = rows();
        let times_faults = u8::from(times);
        let mut loader = EbpfLoader::new();
        loader
            .btf(Some(btf))
            .override_global("target", target, true)
            .override_global("tester", tester, true)
            .override_global("kind_of", rows.as_slice(), true)
            .override_global("times_faults", &times_faults, true)
            .map_max_entries("threads", *threads_max)
            .map_max_entries("free_places", *threads_max)
            .map_max_entries("places", *threads_max);
        let ebpf = loader.load(OBJECT).map_err(|error| refusal_of_load(&error))?;
        let records = records_in(&ebpf, *threads_max)?;
        let mut programs = Programs { ebpf, records, missing: Vec::new(), times_faults: false };
        // The first place is taken first.
        let places = (1..*threads_max).rev();
        programs.free(places).map_err(|error| Refusal::Loader(error.to_string()))?;
        for name in NEEDED {
            programs.attach(name, btf)?;
        }
        if times {
            programs.times_faults = programs.attach_end_of_faults(btf);
            if !programs.times_faults {
                return Ok(programs);
            }
        }
        for name in ["page_fault_user", "page_fault_kernel"] {
            programs.try_attach("page faults", name, btf);
        }
        for name in INTERRUPTS {
            programs.try_pair("interrupts", name, btf);
        }
        programs.try_pair("softirq", "softirq", btf);
        Ok(programs)
    }

    fn attach_end_of_faults(&mut self, btf: &Btf) -> bool {
        let attached = self.attach_exit("on_fault_handled", "handle_mm_fault", btf);
        attached.is_ok() || self.attach("rss_stat", btf).is_ok()
    }

    fn try_pair(&mut self, what: &'static str, name: &'static str, btf: &Btf) {
        let exit = self.attach_as(&format!("on_{name}_exit"), &format!("{name}_exit"), name, btf);
        let pair = exit
            .and_then(|()| self.attach_as(&format!("on_{name}_entry"), &format!("{name}_entry"), name, btf));
        self.note(what, pair);
    }

    fn try_attach(&mut self, what: &'static str, name: &'static str, btf: &Btf) {
        let attached = self.attach(name, btf);
        self.note(what, attached);
    }

    fn note(&mut self, what: &'static str, attached: Result<(), Refusal>) {
        if let Err(why) = attached {
            self.missing.push(Missing { what, why });
        }
    }

    fn attach(&mut self, name: &'static str, btf: &Btf) -> Result<(), Refusal> {
        self.attach_as(&format!("on_{name}"), name, name, btf)
    }

    fn attach_as(
        &mut self,
        program: &str,
        tracepoint: &str,
        name: &'static str,
        btf: &Btf,
    ) -> Result<(), Refusal> {
        let refused = |error: &ProgramError| refusal_of_program(name, error);
        let program = self.ebpf.program_mut(program).ok_or(Refusal::NoTracepoint(name))?;
        let program: &mut BtfTracePoint = program.try_into().map_err(|e| refused(&e))?;
        program.load(tracepoint, btf).map_err(|e| refused(&e))?;
        program.attach().map_err(|e| refused(&e)).map(drop)
    }

    fn attach_exit(&mut self, program: &str, function: &'static str, btf: &Btf) -> Result<(), Refusal> {
        let refused = |error: &ProgramError| refusal_of_program(function, error);
        let program = self.ebpf.program_mut(program).ok_or(Refusal::NoTracepoint(function))?;
        let program: &mut FExit = program.try_into().map_err(|e| refused(&e))?;
        program.load(function, btf).map_err(|e| refused(&e))?;
        program.attach().map_err(|e| refused(&e)).map(drop)
    }

    /// The record of a thread.
    pub(crate) fn record_of(&self, tid: u32) -> Result<Option<Words>, MapError> {
        let places: HashMap<_, u32, RecordNumber> =
            HashMap::try_from(self.ebpf.map("places").ok_or(MapError::KeyNotFound)?)?;
        match places.get(&tid, 0) {
            Ok(place) => Ok(self.records.at(place).map(|record| record.words)),
            Err(MapError::KeyNotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The records of all threads.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.records.all()
    }

    /// Takes out the records of threads that have ended, so that there is room for others.
    pub(crate) fn forget(&mut self, ended: &[Record]) -> Result<(), MapError> {
        let map = self.ebpf.map_mut("places").ok_or(MapError::KeyNotFound)?;
        let mut places = HashMap::<_, u32, RecordNumber>::try_from(map)?;
        for Record { place, tid, .. } in ended {
            // A new thread may have the number by now, and a record elsewhere.
            if places.get(tid, 0).is_ok_and(|known| known == *place) {
                // One that is gone already leaves nothing to do.
                let _ = places.remove(tid);
            }
        }
        let map = self.ebpf.map_mut("threads").ok_or(MapError::KeyNotFound)?;
        let mut threads = Array::<_, Words>::try_from(map)?;
        for record in ended {
            threads.set(record.place, [0; WORDS], 0)?;
        }
        self.free(ended.iter().map(|record| record.place))
    }

    /// Says that there are no records at these places.
    fn free(&mut self, places: impl Iterator<Item = RecordNumber>) -> Result<(), MapError> {
        let map = self.ebpf.map_mut("free_places").ok_or(MapError::KeyNotFound)?;
        let mut free = Stack::<_, RecordNumber>::try_from(map)?;
        for place in places {
            free.push(place, 0)?;
        }
        Ok(())
    }

    /// Rows of words that each processor counts for itself, added up.
    pub(crate) fn rows<const N: usize>(&self, map: &str) -> Result<Vec<[u64; N]>, MapError>
    where
        [u64; N]: Pod,
    {
        let map = self.ebpf.map(map).ok_or(MapError::KeyNotFound)?;
        let map = PerCpuArray::<_, [u64; N]>::try_from(map)?;
        let row = |number: u32| -> Result<[u64; N], MapError> {
            let mut sum = [0u64; N];
            for one in map.get(&number, 0)?.iter() {
                sum.iter_mut().zip(one).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
            }
            Ok(sum)
        };
        (0..map.len()).map(row).collect()
    }

    /// The operations of the file that the testing thread read last become those of kind `number` (1: eventfd, 2: timerfd,
    /// 3: socket).
    pub(crate) fn learn_operations(&mut self, number: u32) -> Result<(), MapError> {
        let map = self.ebpf.map_mut("operations").ok_or(MapError::KeyNotFound)?;
        let mut operations = Array::<_, u64>::try_from(map)?;
        let last = operations.get(&0, 0)?;
        operations.set(number, last, 0)
    }
}

/// The records of threads as the kernel has them for the programs.
fn records_in(ebpf: &Ebpf, places: RecordNumber) -> Result<Records, Refusal> {
    let Some(Map::Array(map)) = ebpf.map("threads") else {
        return Err(Refusal::Loader("the programs have no records of threads".to_owned()));
    };
    let map: &MapData = map;
    Records::of(&map.fd().as_fd(), places).map_err(|error| Refusal::Kernel { what: "its records", error })
}

fn refusal_of_load(error: &EbpfError) -> Refusal {
    match io_error_of(error) {
        Some(error) => Refusal::Kernel { what: "its maps and types", error },
        None => Refusal::Loader(error.to_string()),
    }
}

fn refusal_of_program(name: &'static str, error: &ProgramError) -> Refusal {
    match error {
        ProgramError::Btf(BtfError::UnknownBtfTypeName { .. } | BtfError::UnknownBtfType { .. }) => {
            Refusal::NoTracepoint(name)
        }
        ProgramError::LoadError { io_error, verifier_log } => {
            let error = io_error
                .raw_os_error()
                .map_or_else(|| io_error.kind().into(), std::io::Error::from_raw_os_error);
            Refusal::Program { name, error, log: verifier_log.to_string() }
        }
        other => match io_error_of(other) {
            Some(error) => Refusal::Kernel { what: name, error },
            None => Refusal::Loader(format!("{name}: {other}")),
        },
    }
}

/// What the kernel answered, somewhere below an error of the loader.
fn io_error_of(error: &(dyn Error + 'static)) -> Option<std::io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(number) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error) {
            return Some(std::io::Error::from_raw_os_error(number));
        }
        next = error.source();
    }
    None
}
