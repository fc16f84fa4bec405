//! A guest under full-system emulation, in which a server and its load run and every instruction is counted; and a guest as a place in
//! which a study runs on another machine.
//!
//! - [`Emulator`] is what was fetched (QEMU, a kernel, busybox) and the plug-in that counts, compiled from `plugin/`;
//! - [`GuestImage`] is the guest's file system: a runtime, what a command names, the libraries that they need;
//! - [`GuestWork`] is what happens in it, done by [`work()`], which runs in the guest;
//! - [`EmulatedCounts`] is what the plug-in wrote, [`GuestReport`] what the guest says of its work;
//! - [`Cycles`] is a model of what the counts would take, for processors with published penalties;
//! - [`Place`] is another machine: its kernel, its processors and nodes, and the command that runs in it.
//!
//! Starting the emulator, and ending it, is not done here: [`Emulator::command`] is only its command line. The method,
//! and what it cannot see, is in `docs/emulation.md`.

mod compilers;
mod counts;
mod cycles;
mod elf;
mod emulator;
mod files;
mod geometry;
mod image;
mod mark;
mod place;
mod runtime;
mod start;
mod walk;
mod work;

pub use counts::{EmulatedCounts, Figures, TaskGroup, ThreadCount};
pub use cycles::Cycles;
pub use emulator::{COUNTS_FILE, Emulator, REPORT_FILE, guest_of};
pub use files::{GuestCommand, NeededFiles, needed_files, stripped};
pub use geometry::Geometry;
pub use image::GuestImage;
pub use place::{GuestStatus, PLACE_PROGRAM, Place, RESULTS, RESULTS_FILE, UP, is_inside};
pub use runtime::runtime_of;
pub use start::{Command, IMAGE_FILE};
pub use work::{Amount, GUEST_COMMAND, GuestReport, GuestWork, ServerInGuest, work};
