//! How a kernel of a test's own answers to whoever wants to load programs into it.

use assay_counters::kernel::{Loading, ProgramRefusal, ProgramRequest, Programs};
use rustix::io::Errno;

/// What it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramsState {
    /// The registers of its processor lie elsewhere.
    OtherArchitecture,
    /// Assay has no capability for it.
    NoRight,
    /// Assay has it, and the call gives an error all the same.
    Refused(Errno),
    /// The verifier does not take a program.
    NotVerified,
    NoTracepoint,
    /// The programs do not count what they should.
    Wrong,
}

impl Loading for ProgramsState {
    fn may_load(&self) -> Option<bool> {
        Some(*self != ProgramsState::NoRight)
    }

    fn load(&self, _: &ProgramRequest) -> Result<Programs, ProgramRefusal> {
        let call = |error: Errno| ProgramRefusal::Kernel { what: "its maps and types", error: error.into() };
        Err(match self {
            ProgramsState::OtherArchitecture => ProgramRefusal::Architecture,
            ProgramsState::NoRight => call(Errno::PERM),
            ProgramsState::Refused(error) => call(*error),
            ProgramsState::NotVerified => ProgramRefusal::Program {
                name: "sys_enter",
                error: Errno::INVAL.into(),
                log: "R1 type=scalar expected=ptr_\nprocessed 7 insns\n\n".to_owned(),
            },
            ProgramsState::NoTracepoint => ProgramRefusal::NoTracepoint("sys_enter"),
            ProgramsState::Wrong => ProgramRefusal::Wrong("5 calls instead of 1000".to_owned()),
        })
    }
}
