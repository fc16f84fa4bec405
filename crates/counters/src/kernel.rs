//! Calls to the kernel beside its files: each call is behind a trait, so that a test can be a kernel that lacks one, refuses it or
//! answers wrongly.

pub use crate::addresses::{AddressEvents, AddressRecord, AddressTarget, Addresses, Unit};
pub use crate::bpf::{Loading, ProgramRequest, Programs, Refusal as ProgramRefusal};
pub use crate::hardware::{Counted, CounterEvent, Counting, GroupCounts, Mode};
pub use crate::sampling::{Events, NotOpened, Record, Sample, SampleTarget, Samples};
