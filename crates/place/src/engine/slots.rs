//! The one ability that an engine needs: to start a worker on a host of its own.

use crate::error::Fault;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// The command of Assay that is a worker.
pub(super) const WORKER: &str = "block-worker";

/// How long a slot is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reuse {
    /// It is always the same host: one that fails again and again is left out.
    Host,
    /// Each block is a new request, which may get any host.
    Request,
    /// It ends with its block.
    Once,
}

/// Places for workers that run at the same time, each on a host of its own. Dropped, everything that the engine has for them is removed.
pub(crate) trait Slots: Sync {
    /// Their names, for people.
    fn names(&self) -> &[String];

    /// How long each is used.
    fn reuse(&self) -> Reuse;

    /// The program that the engine needs here, and how to get it.
    fn needs(&self) -> (&'static str, &'static str);

    /// The command that starts the worker of a slot, whose input and output are the conversation. Waits until the engine has a host for
    /// it, and reports the reason for waiting.
    ///
    /// # Errors
    /// The engine has no host for it; Ctrl-C.
    fn worker(
        &self,
        slot: usize,
        stop: &AtomicBool,
        on_wait: &mut dyn FnMut(String),
    ) -> Result<Command, Fault>;
}
