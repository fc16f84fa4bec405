//! One side of a duet: what of this program runs on its half of the processors.

use assay_linux::{ProcRoot, Processors, own_thread_number};

/// A half of the processors, with the threads of this program that run there. The other side's are no business of this half.
#[derive(Debug)]
pub(super) struct Half {
    processors: Processors,
    /// The watch's own thread, once it runs there.
    watch: Option<u32>,
    /// That of the load generator, in a window.
    generator: Option<u32>,
}

impl Half {
    pub fn new(processors: Processors) -> Half {
        Half { processors, watch: None, generator: None }
    }

    /// Called on the watch's thread: moves it, the first time.
    pub fn watch_is_here(&mut self) {
        // Where it may not, it runs where it ran, and its few microseconds look like another's.
        if self.watch.is_none() && self.processors.run_here().is_ok() {
            self.watch = Some(own_thread_number());
        }
    }

    /// Called on the generator's thread, which runs there already.
    pub fn generator_is_here(&mut self) {
        self.generator = Some(own_thread_number());
    }

    /// What these threads have used; absent where that is not known, or there is no generator yet.
    pub fn own_cpu_ns(&self, proc: &ProcRoot) -> Option<u64> {
        let used_ns =
            |thread: u32| Some(proc.read_thread_schedstat(std::process::id(), thread).ok().flatten()?.run_ns);
        let of_watch_ns = self.watch.and_then(used_ns).unwrap_or(0);
        Some(used_ns(self.generator?)?.saturating_add(of_watch_ns))
    }
}
