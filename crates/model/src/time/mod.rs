//! CPU time of a process: what it is called, and one account of it in full.

mod change;
mod hardware;
mod recording;
mod report;
mod role;
mod sampled;
mod traced;

pub use change::{
    ChangedPart, ChangedStack, ChangedStacks, StackSource, TimeChange, TimeSubject, WeightUnit,
};
pub use hardware::{
    CarrierCall, CarrierWaits, DataAccesses, DataPlace, FaultPlace, FaultPlaces, HardwareCounters,
    HardwareEvent, HardwareFigure, LineUser, SharedLine,
};
pub use recording::{RecordedStack, RecordedStacks, RecordingOrigin, StackUnit, TimeRecording};
pub use report::{
    CgroupTime, ExitRecordsTime, JvmHeld, JvmsOfMachine, LeftOutFigure, MachineTime, ProcessTime, RoleTime,
    ThreadTime, TimeFigure, TimeGroup, TimeJvm, TimeReport, TimeSums,
};
pub use role::{ThreadRole, TimeSource};
pub use sampled::{
    CodePlace, FrameKind, KernelActivity, SampledFrame, SampledPart, SampledRole, SampledStack, TimeSamples,
    WindowStacks,
};
pub use traced::{TimeTraced, TracedCall, TracedDelays, TracedPart, TracedRole, TracedSoftirq};
