//! The forms that GC logs are written in, and how they are recognized.

mod j9;
mod jdk8;
mod server;
mod turns;
mod unified;

use crate::contract::Dialect;
use j9::J9;
pub use j9::{J9Mode, read_j9};
use jdk8::Jdk8;
use server::Server;
use unified::Unified;
pub use unified::mode_before_xlog;

/// Recognizes the dialect by the first lines: each line speaks for at most one of them.
#[derive(Debug, Default)]
pub(crate) struct Recogniser {
    unified: u32,
    jdk8: u32,
    j9: u32,
    server: u32,
    /// A collector's own line was read.
    has_collector: bool,
}

/// Whether a line is a collector's, or what a JVM says of its collector at its start: other programs write no such line. A line that only
/// may be of a log, such as one with a time and a level, is none.
pub(crate) fn is_of_collector(text: &str) -> bool {
    is_of_jvm(text) || server::recognises(text)
}

fn is_of_jvm(text: &str) -> bool {
    unified::is_of_collector(text) || jdk8::is_of_collector(text) || j9::is_of_collector(text)
}

/// So many lines more than for any other make it sure.
const LEAD_LINES: u32 = 5;

impl Recogniser {
    /// Looks at the next line.
    pub fn look(&mut self, text: &str) {
        // Its lines have a time and a level in brackets, too.
        if server::recognises(text) {
            self.server += 1;
        } else if j9::recognises(text) {
            self.j9 += 1;
        } else if jdk8::recognises(text) {
            self.jdk8 += 1;
        } else if unified::recognises(text) {
            self.unified += 1;
        } else {
            return;
        }
        self.has_collector |= is_of_jvm(text);
    }

    /// Whether further lines need not be looked at.
    pub fn is_sure(&self) -> bool {
        let mut counts = [self.unified, self.jdk8, self.j9, self.server];
        counts.sort_unstable();
        LEAD_LINES <= counts[3] - counts[2]
    }

    /// The dialect of most lines; none where no line speaks for one.
    pub fn decide(&self) -> Option<Box<dyn Dialect>> {
        match self.unified.max(self.jdk8).max(self.j9) {
            // Most of a server's log is of other things, and some of that looks like lines of a JVM.
            _ if self.server > 0 && !self.has_collector => Some(Box::<Server>::default()),
            0 => None,
            most if most == self.j9 => Some(Box::<J9>::default()),
            most if most == self.jdk8 => Some(Box::<Jdk8>::default()),
            _ => Some(Box::<Unified>::default()),
        }
    }
}
