//! Why there are no samples, and what would give them.

use super::trial::Refusal;
use assay_linux::LinuxError;
use rustix::io::Errno;

/// Why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) why: String,
    pub(crate) enable: String,
}

const RIGHTS: &str = "run assay as root or with CAP_PERFMON, or sysctl -w kernel.perf_event_paranoid=0";
const SECCOMP: &str = "allow perf_event_open in the container's seccomp profile, or run assay outside of it";

impl Refused {
    fn new(why: impl Into<String>, enable: &str) -> Refused {
        Refused { why: why.into(), enable: enable.to_owned() }
    }

    pub(crate) fn not_asked() -> Refused {
        Refused::new("the processors were not sampled", "leave out --no-samples")
    }

    pub(crate) fn not_live() -> Refused {
        Refused::new("the files are not those of a live process", "measure a live process")
    }

    pub(crate) fn unreadable(error: &LinuxError) -> Refused {
        Refused::new(error.to_string(), "run where /proc is that of the machine")
    }

    fn no_processors() -> Refused {
        Refused::new("/proc/stat names no processor", "run where /proc is that of the machine")
    }

    /// Why there are no samples. `paranoid`: the setting, where the kernel has it.
    pub(crate) fn because(refusal: &Refusal, paranoid: Option<i64>) -> Refused {
        let error = match refusal {
            Refusal::Wrong(what) => {
                return Refused::new(
                    format!("the kernel's event cpu-clock is not to be trusted here: {what}"),
                    "a kernel or hypervisor whose timers are right; perf record -e cpu-clock shows the same",
                );
            }
            Refusal::Memory(error) => return Refused::no_memory(error),
            Refusal::NoProcessors => return Refused::no_processors(),
            Refusal::Kernel(error) => error,
        };
        Refused::by_kernel(error, paranoid)
    }

    /// Why a counter of the processor is not used.
    pub(crate) fn of_counter(event: &str, refusal: &Refusal, paranoid: Option<i64>) -> Refused {
        let error = match refusal {
            Refusal::Wrong(what) => {
                return Refused::new(
                    format!("the event {event} is not to be trusted here: {what}"),
                    "a machine, or a virtual machine, whose processor counts it",
                );
            }
            Refusal::Memory(error) => return Refused::no_memory(error),
            Refusal::NoProcessors => return Refused::no_processors(),
            Refusal::Kernel(error) => error,
        };
        let failed = |what: &str| format!("perf_event_open: {what} ({error})");
        match Errno::from_io_error(error) {
            Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::NODEV | Errno::INVAL) => Refused::new(
                failed(&format!("this processor, or the hypervisor, does not count {event}")),
                "bare metal, or a virtual machine with a virtual PMU",
            ),
            Some(Errno::BUSY) => Refused::new(
                failed("somebody else has the counters to himself"),
                "end other profilers; sysctl -w kernel.nmi_watchdog=0 frees one counter",
            ),
            Some(Errno::MFILE | Errno::NFILE) => Refused::new(
                failed("too few files may be open"),
                "raise ulimit -n: four to six files for each thread",
            ),
            _ => Refused::by_kernel(error, paranoid),
        }
    }

    /// The event is there, and its ring is not: others of the same user have locked what one may lock.
    fn no_memory(error: &std::io::Error) -> Refused {
        Refused::new(
            format!("mmap: the kernel does not lock the memory for the samples ({error})"),
            "raise ulimit -l or kernel.perf_event_mlock_kb: up to 516 KiB for each processor and event; or CAP_IPC_LOCK",
        )
    }

    fn by_kernel(error: &std::io::Error, paranoid: Option<i64>) -> Refused {
        let failed = |what: &str| format!("perf_event_open: {what} ({error})");
        match Errno::from_io_error(error) {
            Some(Errno::ACCESS | Errno::PERM) => match paranoid {
                Some(level) if 0 < level => {
                    let why = format!("kernel.perf_event_paranoid is {level}, and assay has no CAP_PERFMON");
                    Refused::new(failed(&why), RIGHTS)
                }
                Some(_) => Refused::new(failed("a filter of system calls forbids it"), SECCOMP),
                None => Refused::new(failed("assay may not"), RIGHTS),
            },
            Some(Errno::NOSYS) => Refused::new(
                failed("the kernel has no such call, or a filter hides it"),
                "a kernel with CONFIG_PERF_EVENTS=y; in a container a seccomp profile that allows perf_event_open",
            ),
            Some(Errno::NOENT | Errno::OPNOTSUPP | Errno::INVAL | Errno::NODEV) => Refused::new(
                failed("the kernel has no event cpu-clock"),
                "a kernel with CONFIG_PERF_EVENTS=y",
            ),
            Some(Errno::MFILE | Errno::NFILE) => Refused::new(
                failed("too few files may be open"),
                "raise ulimit -n: a file for each processor",
            ),
            Some(Errno::NOMEM) => Refused::new(
                failed("no memory for the samples"),
                "raise ulimit -l or kernel.perf_event_mlock_kb: 516 KiB for each processor",
            ),
            _ => Refused::new(failed("the kernel refuses"), RIGHTS),
        }
    }
}
