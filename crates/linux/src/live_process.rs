//! A live process as a source of memory.

use crate::page_scan::{Method, Pages, read_pages, read_present};
use crate::root::optional;
use crate::threads::read_threads;
use crate::variables::{EarlierBytes, read_variables};
use crate::{
    LinuxError, Mapping, MemorySource, PageMap, ProcRoot, ProcessIdentity, ReadError, ThreadFacts,
    mapped_file, process_vm,
};
use assay_model::Problem;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// From this size on, `process_vm_readv` is cheaper than the file.
const CALL_BYTES_MIN: usize = 64 << 10;

/// A process of this machine.
///
/// Opening it reads the variables of the program and its libraries, then looks at the mappings, at the page map and at the
/// threads; see [`MemorySource`] for what is read later.
#[derive(Debug)]
pub struct LiveProcess {
    proc: ProcRoot,
    identity: ProcessIdentity,
    memory: File,
    /// Whether `process_vm_readv` may be used; a filter of system calls may forbid it.
    has_call: AtomicBool,
    mappings: Vec<Mapping>,
    pages: PageMap,
    /// Resident pages and those of hugetlbfs; absent where there are none of these.
    readable: Option<PageMap>,
    threads: Vec<ThreadFacts>,
    earlier_variables: Vec<EarlierBytes>,
    word_bytes: u64,
    problems: Vec<Problem>,
}

impl LiveProcess {
    /// Looks at mappings, pages and threads, and opens the memory.
    ///
    /// # Errors
    /// When the process is gone or belongs to somebody else; the text names the missing permission and how to get it.
    pub fn open(proc: &ProcRoot, pid: u32) -> Result<Self, LinuxError> {
        LiveProcess::open_by(proc, pid, Method::Any)
    }

    /// The same for a process that is stopped: its variables are no older than its pages, and are not read apart; and mappings and pages
    /// are read at the same time.
    ///
    /// # Errors
    /// As of [`LiveProcess::open`].
    pub fn open_stopped(proc: &ProcRoot, pid: u32) -> Result<Self, LinuxError> {
        LiveProcess::open_with(proc, pid, |_| {
            let (mappings, present) = std::thread::scope(|scope| {
                let present = scope.spawn(|| read_present(proc, pid));
                (read_mappings(proc, pid), present.join())
            });
            let mappings = mappings?;
            let pages = match present {
                Ok(Ok(Some(present))) => present.of(&mappings),
                // Without the call, and where it failed: the usual way, which says why.
                _ => read_pages(proc, pid, &mappings, Method::Any)?,
            };
            Ok(AddressSpace { variables: Ok(Vec::new()), mappings, pages })
        })
    }

    pub(crate) fn open_by(proc: &ProcRoot, pid: u32, method: Method) -> Result<Self, LinuxError> {
        LiveProcess::open_with(proc, pid, |memory| {
            let variables = read_variables(proc, pid, memory, method);
            let mappings = read_mappings(proc, pid)?;
            let pages = read_pages(proc, pid, &mappings, method)?;
            Ok(AddressSpace { variables, mappings, pages })
        })
    }

    fn open_with(
        proc: &ProcRoot,
        pid: u32,
        read: impl FnOnce(&File) -> Result<AddressSpace, LinuxError>,
    ) -> Result<Self, LinuxError> {
        let identity = proc.identity_of(pid).map_err(|e| e.explained(proc, pid))?;
        let path = proc.file_of(pid, "mem");
        let memory = File::open(&path).map_err(|e| match e.raw_os_error() {
            // It is there, but has ended and waits for its parent, or never had memory.
            Some(libc::ESRCH) => LinuxError::NoMemory { pid },
            _ => LinuxError::read_of(proc, pid, &path, e),
        })?;
        let AddressSpace { variables, mappings, pages } = read(&memory)?;
        let Pages { resident: pages, hugetlb, mut problems } = pages;
        let readable = (!hugetlb.runs().is_empty()).then(|| pages.with(&hugetlb));
        let (threads, thread_problems) = read_threads(proc, pid)?;
        problems.extend(thread_problems);
        let earlier_variables = variables.unwrap_or_else(|e| {
            problems.push(Problem::from(&e));
            Vec::new()
        });
        let word_bytes = read_word_bytes(proc, pid).unwrap_or_else(|e| {
            problems.push(Problem::from(&e));
            word_bytes_of(&mappings)
        });
        Ok(LiveProcess {
            proc: proc.clone(),
            identity,
            memory,
            has_call: AtomicBool::new(process_vm::knows_processes_of(proc)),
            mappings,
            pages,
            readable,
            threads,
            earlier_variables,
            word_bytes,
            problems,
        })
    }

    /// The process, in a way that a later one of the same number cannot be mistaken for it.
    pub fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// What could not be read when it was opened.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The kernel's RSS when it was opened: Σ of `Rss` over the mappings.
    pub fn rss_bytes(&self) -> u64 {
        self.mappings.iter().fold(0, |sum, m| sum.saturating_add(m.rss_bytes))
    }

    /// The mappings as they are now. The sum of their `Rss` less [`LiveProcess::rss_bytes`] is what the process changed
    /// since it was opened.
    ///
    /// # Errors
    /// When the process has ended, or has become another program since.
    pub fn mappings_now(&self) -> Result<Vec<Mapping>, LinuxError> {
        let pid = self.identity.pid;
        let mappings = read_mappings(&self.proc, pid)?;
        if !self.still_exists()? {
            return Err(LinuxError::NoMemory { pid });
        }
        Ok(mappings)
    }

    /// Whether the process runs on in the address space that was opened.
    ///
    /// # Errors
    /// When the kernel refuses access.
    pub fn still_exists(&self) -> Result<bool, LinuxError> {
        let is_same = optional(self.proc.identity_of(self.identity.pid))? == Some(self.identity);
        Ok(is_same && self.has_its_memory())
    }

    /// Whether the address space that was opened still exists: after `exec` or the end, its file gives no bytes.
    fn has_its_memory(&self) -> bool {
        let mut pages = self.pages.runs().iter().map(|run| run.addresses.start);
        pages.next().is_none_or(|at| !matches!(self.memory.read_at(&mut [0], at), Ok(0)))
    }

    /// Fills the buffer with runs of resident pages, up to 1024, one behind the other. False where one of them cannot be read,
    /// or they cannot be asked for together.
    pub(crate) fn read_runs(&self, runs: &[Range<u64>], buffer: &mut [u8]) -> bool {
        self.has_call.load(Ordering::Relaxed)
            && process_vm::read_runs(self.identity.pid, runs, buffer).is_ok_and(|read| read == buffer.len())
    }

    fn is_readable(&self, addresses: Range<u64>) -> bool {
        self.readable_pages().is_resident(addresses)
    }
}

/// Data of an address space that is read when it is opened.
struct AddressSpace {
    /// Variables of the program and its libraries, from before the rest.
    variables: Result<Vec<EarlierBytes>, LinuxError>,
    mappings: Vec<Mapping>,
    pages: Pages,
}

/// The mappings of a process, of which there is at least one.
fn read_mappings(proc: &ProcRoot, pid: u32) -> Result<Vec<Mapping>, LinuxError> {
    let read = proc.open_smaps(pid).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut mappings: Vec<Mapping> = read.map_err(|e| e.explained(proc, pid))?;
    // The kernel lets go of the address space between two reads of `smaps`, and a mapping that grows downward (a
    // stack) or is merged with its neighbour meanwhile may show up twice: the first one counts.
    let mut end = 0;
    mappings.retain(|mapping| {
        let is_new = end <= mapping.addresses.start;
        end = if is_new { mapping.addresses.end } else { end };
        is_new
    });
    if mappings.is_empty() {
        return Err(LinuxError::NoMemory { pid });
    }
    Ok(mappings)
}

/// The ELF class of the program: 4 for 32 bits, 8 for 64.
fn read_word_bytes(proc: &ProcRoot, pid: u32) -> Result<u64, LinuxError> {
    let path = proc.file_of(pid, "exe");
    let failed = |e| LinuxError::read_of(proc, pid, &path, e);
    let mut identification = [0; 5];
    File::open(&path).and_then(|mut exe| exe.read_exact(&mut identification)).map_err(failed)?;
    match identification {
        [0x7f, b'E', b'L', b'F', 1] => Ok(4),
        [0x7f, b'E', b'L', b'F', 2] => Ok(8),
        _ => Err(failed(io::Error::new(io::ErrorKind::InvalidData, "not an ELF program of 32 or 64 bits"))),
    }
}

/// Word size by the addresses in use, where the program cannot be opened.
fn word_bytes_of(mappings: &[Mapping]) -> u64 {
    let end = mappings.iter().filter(|m| !m.name.starts_with("[vsyscall")).map(|m| m.addresses.end).max();
    if end.is_some_and(|end| end <= 1 << 32) { 4 } else { 8 }
}

impl MemorySource for LiveProcess {
    fn pid(&self) -> u32 {
        self.identity.pid
    }

    fn word_bytes(&self) -> u64 {
        self.word_bytes
    }

    fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    fn pages(&self) -> &PageMap {
        &self.pages
    }

    fn readable_pages(&self) -> &PageMap {
        self.readable.as_ref().unwrap_or(&self.pages)
    }

    fn threads(&self) -> &[ThreadFacts] {
        &self.threads
    }

    fn earlier_variables(&self) -> &[EarlierBytes] {
        &self.earlier_variables
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let end = address.checked_add(buffer.len() as u64).ok_or(ReadError::Unmapped)?;
        if !self.is_readable(address..end) {
            return Err(ReadError::Absent);
        }
        if CALL_BYTES_MIN <= buffer.len() && self.has_call.load(Ordering::Relaxed) {
            match process_vm::read(self.identity.pid, address, buffer) {
                Ok(read) if read == buffer.len() => return Ok(()),
                Err(e) if matches!(e.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
                    self.has_call.store(false, Ordering::Relaxed);
                }
                // Unmapped, or without access: the file shows which.
                Ok(_) | Err(_) => {}
            }
        }
        self.memory.read_exact_at(buffer, address).map_err(|_| ReadError::Unmapped)
    }

    fn open_mapped_file(&self, mapping: &Mapping) -> io::Result<File> {
        mapped_file::open_mapped(&self.proc, self.identity.pid, mapping)
    }
}
