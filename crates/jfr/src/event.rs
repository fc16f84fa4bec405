//! The events that are read.

/// A kind of event that says where CPU time or memory went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    /// `jdk.ExecutionSample`: a thread that ran Java, by the recorder's own sampling thread.
    ExecutionSample,
    /// `jdk.NativeMethodSample`: a thread that was in a native method, running or waiting: the recorder does not distinguish them.
    NativeMethodSample,
    /// `jdk.CPUTimeSample` (JDK 25): a thread that has used so much CPU time, by a timer of its own.
    CpuTimeSample,
    /// `jdk.ObjectAllocationSample` (JDK 16): an allocation, with the bytes that it stands for.
    ObjectAllocationSample,
    /// `jdk.ObjectAllocationInNewTLAB`: an allocation that began a new buffer of its thread, which it stands for.
    AllocationInNewTlab,
    /// `jdk.ObjectAllocationOutsideTLAB`: an allocation outside of these buffers.
    AllocationOutsideTlab,
}

impl Event {
    /// All of them.
    pub const ALL: [Event; 6] = [
        Event::ExecutionSample,
        Event::NativeMethodSample,
        Event::CpuTimeSample,
        Event::ObjectAllocationSample,
        Event::AllocationInNewTlab,
        Event::AllocationOutsideTlab,
    ];

    /// The JDK's name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Event::ExecutionSample => "jdk.ExecutionSample",
            Event::NativeMethodSample => "jdk.NativeMethodSample",
            Event::CpuTimeSample => "jdk.CPUTimeSample",
            Event::ObjectAllocationSample => "jdk.ObjectAllocationSample",
            Event::AllocationInNewTlab => "jdk.ObjectAllocationInNewTLAB",
            Event::AllocationOutsideTlab => "jdk.ObjectAllocationOutsideTLAB",
        }
    }

    /// The event of a name.
    pub(crate) fn of_name(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }

    /// The field that names the thread.
    pub(crate) const fn thread_field(self) -> &'static str {
        match self {
            Event::ExecutionSample | Event::NativeMethodSample => "sampledThread",
            _ => "eventThread",
        }
    }

    /// The field with the bytes that one of them stands for; samples of time have none.
    pub(crate) const fn weight_field(self) -> Option<&'static str> {
        match self {
            Event::ObjectAllocationSample => Some("weight"),
            Event::AllocationInNewTlab => Some("tlabSize"),
            Event::AllocationOutsideTlab => Some("allocationSize"),
            Event::ExecutionSample | Event::NativeMethodSample | Event::CpuTimeSample => None,
        }
    }
}
