//! CPU time of a process: what it is called, and one account of it in full.

mod finding;
mod report;
mod role;
mod sampled;

pub use finding::{TimeFinding, TimeRule};
pub use report::{
    CgroupTime, ExitRecordsTime, JvmsOfMachine, LeftOutFigure, MachineTime, ProcessTime, RoleTime,
    ThreadTime, TimeFigure, TimeGroup, TimeJvm, TimeReport, TimeSums,
};
pub use role::{ThreadRole, TimeRung};
pub use sampled::{
    CodePlace, FrameKind, KernelActivity, SampledFrame, SampledPart, SampledRole, SampledStack, TimeSamples,
};
