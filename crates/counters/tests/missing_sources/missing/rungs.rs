//! Calls of `perf_event_open` that are refused or answer wrongly.

use super::super::fake_kernel::{ClockState, CounterState, UnitState};
use super::super::{Case, FAULTS, LINES, case};
use assay_model::HardwareEvent;
use rustix::io::Errno;

/// What the event `cpu-clock` may lack: the state, the setting `perf_event_paranoid`, why and what would give it.
pub const CLOCKS: [(&str, ClockState, &str, &str, &str); 15] = [
    (
        "perf_event_paranoid 3",
        ClockState::Refused(Errno::ACCESS),
        "3\n",
        "perf_event_paranoid is 3",
        "CAP_PERFMON",
    ),
    (
        "perf_event_paranoid 4, of Debian",
        ClockState::Refused(Errno::PERM),
        "4\n",
        "perf_event_paranoid is 4",
        "CAP_PERFMON",
    ),
    (
        "a filter of system calls",
        ClockState::Refused(Errno::PERM),
        "-1\n",
        "filter of system calls",
        "seccomp",
    ),
    ("no right, no setting", ClockState::Refused(Errno::ACCESS), "none", "may not", "CAP_PERFMON"),
    ("no such call", ClockState::Refused(Errno::NOSYS), "2\n", "no such call", "CONFIG_PERF_EVENTS"),
    ("no such event", ClockState::Refused(Errno::NOENT), "2\n", "no event cpu-clock", "CONFIG_PERF_EVENTS"),
    (
        "the event cannot sample",
        ClockState::Refused(Errno::OPNOTSUPP),
        "2\n",
        "no event cpu-clock",
        "CONFIG_PERF_EVENTS",
    ),
    ("too few files", ClockState::Refused(Errno::MFILE), "2\n", "too few files", "ulimit -n"),
    ("another error", ClockState::Refused(Errno::BUSY), "2\n", "refuses", "root"),
    (
        "for this thread alone",
        ClockState::RefusedForCpus(Errno::ACCESS),
        "1\n",
        "paranoid is 1",
        "paranoid=0",
    ),
    ("memory of the ring refused", ClockState::NoMemory(Errno::PERM), "0\n", "mmap", "perf_event_mlock_kb"),
    ("no memory for the ring", ClockState::NoMemory(Errno::NOMEM), "2\n", "mmap", "ulimit -l"),
    ("no samples of a busy loop", ClockState::Silent, "2\n", "gave 0 samples", "timers are right"),
    ("too many samples of it", ClockState::TooMany, "2\n", "instead of", "timers are right"),
    ("none in the kernel", ClockState::AlwaysUser, "2\n", "in the kernel only 0 say so", "timers are right"),
];

/// What counters of the processor may lack.
pub const COUNTERS: [(&str, CounterState, &str, &str); 13] = [
    (
        "a hypervisor without a PMU",
        CounterState::Refused(Errno::NOENT),
        "does not count instructions",
        "virtual PMU",
    ),
    (
        "a PMU that cannot count it",
        CounterState::Refused(Errno::OPNOTSUPP),
        "does not count instructions",
        "bare metal",
    ),
    ("perf_event_paranoid", CounterState::Refused(Errno::ACCESS), "perf_event_paranoid is 2", "CAP_PERFMON"),
    (
        "perf_event_paranoid of Debian",
        CounterState::Refused(Errno::PERM),
        "perf_event_paranoid is 2",
        "CAP_PERFMON",
    ),
    ("no such call", CounterState::Refused(Errno::NOSYS), "no such call", "CONFIG_PERF_EVENTS"),
    ("too few files", CounterState::Refused(Errno::MFILE), "too few files", "ulimit -n"),
    ("somebody else counts", CounterState::Refused(Errno::BUSY), "somebody else", "nmi_watchdog"),
    ("never on the processor", CounterState::NeverRuns, "never ran", "whose processor counts it"),
    ("counts nothing", CounterState::Zero, "counted nothing of a busy loop", "whose processor counts it"),
    (
        "the same for user and kernel",
        CounterState::Liar,
        "does not distinguish the modes",
        "whose processor counts it",
    ),
    (
        "user mode alone",
        CounterState::UserOnly,
        "of a loop in the kernel it counts 0 there",
        "whose processor counts it",
    ),
    ("reading fails", CounterState::Unreadable, "refuses", "CAP_PERFMON"),
    ("in a container", CounterState::Refused(Errno::NODEV), "does not count instructions", "bare metal"),
];

/// Counters that are there in part.
pub const SOME_COUNTERS: &[Case] = &[
    case(
        "one event missing",
        |k| k.count(CounterState::Lacks(HardwareEvent::BackendStalls)),
        &[("hardware counter backend-stall-cycles", "does not count", "virtual PMU")],
        |r| r.hardware.as_ref().is_some_and(|counters| counters.event_groups == 6),
    ),
    case(
        "counters multiplexed",
        |k| k.count(CounterState::Multiplexed),
        &[],
        |r| {
            r.hardware
                .as_ref()
                .is_some_and(|counters| counters.figures.iter().all(|figure| figure.is_multiplexed()))
        },
    ),
    case(
        "threads that cannot be counted",
        |k| k.count(CounterState::NoOther(Errno::MFILE)),
        &[],
        |r| r.hardware.as_ref().is_some_and(|c| (c.threads, c.threads_missed, c.figures.len()) == (0, 2, 0)),
    ),
];

/// Units that sample addresses of data.
pub const UNITS: &[Case] = &[
    case(
        "neither IBS nor PEBS",
        |k| k.sample_data(UnitState::Refused(Errno::NOENT), UnitState::Refused(Errno::NOENT)),
        &[(
            LINES,
            "does not count addresses of loads and stores (AMD's IBS, Intel's PEBS; Arm's SPE is not read)",
            "bare metal",
        )],
        |r| r.data_accesses.is_none() && r.fault_places.is_some(),
    ),
    case(
        "IBS without the right",
        |k| k.sample_data(UnitState::Refused(Errno::ACCESS), UnitState::Refused(Errno::NOENT)),
        &[(LINES, "paranoid is 2", "CAP_PERFMON")],
        |r| r.data_accesses.is_none(),
    ),
    case(
        "IBS that says nothing",
        |k| k.sample_data(UnitState::Silent, UnitState::Refused(Errno::NOENT)),
        &[(LINES, "of 0 samples", "whose processor")],
        |r| r.data_accesses.is_none(),
    ),
    case(
        "PEBS that knows no addresses",
        |k| k.sample_data(UnitState::Refused(Errno::NOENT), UnitState::NoAddresses),
        &[(LINES, "0 have an address in them", "whose processor")],
        |r| r.data_accesses.is_none(),
    ),
    case(
        "IBS missing, PEBS there",
        |k| k.sample_data(UnitState::Refused(Errno::NOENT), UnitState::Right),
        &[],
        |r| r.data_accesses.as_ref().is_some_and(|data| data.source == "cpu/mem-stores"),
    ),
    case(
        "no memory for samples of addresses",
        |k| {
            k.units.faults = UnitState::NoMemory(Errno::PERM);
            k.sample_data(UnitState::NoMemory(Errno::PERM), UnitState::Refused(Errno::NOENT));
        },
        &[(FAULTS, "mmap", "perf_event_mlock_kb"), (LINES, "mmap", "CAP_IPC_LOCK")],
        |r| r.fault_places.is_none(),
    ),
    case(
        "page faults not sampled",
        |k| k.units.faults = UnitState::RefusedForCpus(Errno::MFILE),
        &[(FAULTS, "too few files", "ulimit -n")],
        |r| r.fault_places.is_none() && r.samples.is_some(),
    ),
    case(
        "page faults without addresses",
        |k| k.units.faults = UnitState::NoAddresses,
        &[(FAULTS, "0 have an address in them", "whose processor")],
        |r| r.fault_places.is_none(),
    ),
];
