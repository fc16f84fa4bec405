//! The forms that GC logs are written in, and how they are told apart.

pub(crate) mod decimal;
mod j9;
mod jdk8;
mod unified;

use crate::contract::{At, Dialect, GcSink, Taken};
use j9::J9;
use jdk8::Jdk8;
use unified::Unified;

/// One of them.
#[derive(Debug)]
pub(crate) enum AnyDialect {
    Unified(Box<Unified>),
    Jdk8(Box<Jdk8>),
    J9(Box<J9>),
}

impl AnyDialect {
    fn inner(&mut self) -> &mut dyn Dialect {
        match self {
            AnyDialect::Unified(dialect) => dialect.as_mut(),
            AnyDialect::Jdk8(dialect) => dialect.as_mut(),
            AnyDialect::J9(dialect) => dialect.as_mut(),
        }
    }

    /// As [`assay_model::GcSource::dialect`] has it.
    pub fn name(&self) -> &'static str {
        match self {
            AnyDialect::Unified(_) => "unified",
            AnyDialect::Jdk8(_) => "jdk8",
            AnyDialect::J9(_) => "j9",
        }
    }

    pub fn take(&mut self, text: &str, at: At, sink: &mut dyn GcSink) -> Taken {
        match self {
            AnyDialect::Unified(dialect) => dialect.take(text, at, sink),
            AnyDialect::Jdk8(dialect) => dialect.take(text, at, sink),
            AnyDialect::J9(dialect) => dialect.take(text, at, sink),
        }
    }

    pub fn flush(&mut self, sink: &mut dyn GcSink) {
        self.inner().flush(sink);
    }

    pub fn tell_jvm(&mut self, sink: &mut dyn GcSink) {
        self.inner().tell_jvm(sink);
    }

    pub fn finish(&mut self, sink: &mut dyn GcSink) {
        self.inner().finish(sink);
    }

    pub fn take_messages_dropped(&mut self) -> u64 {
        self.inner().take_messages_dropped()
    }
}

/// Tells the dialects apart by their first lines: each line speaks for at most one of them.
#[derive(Debug, Default)]
pub(crate) struct Recogniser {
    unified: u32,
    jdk8: u32,
    j9: u32,
}

/// So many lines more than for any other make it sure.
const LEAD_LINES: u32 = 5;

impl Recogniser {
    /// Looks at the next line.
    pub fn look(&mut self, text: &str) {
        if j9::recognises(text) {
            self.j9 += 1;
        } else if jdk8::recognises(text) {
            self.jdk8 += 1;
        } else if unified::recognises(text) {
            self.unified += 1;
        }
    }

    /// Whether further lines need not be looked at.
    pub fn is_sure(&self) -> bool {
        let mut counts = [self.unified, self.jdk8, self.j9];
        counts.sort_unstable();
        LEAD_LINES <= counts[2] - counts[1]
    }

    /// The dialect of most lines; none where no line speaks for one.
    pub fn decide(&self) -> Option<AnyDialect> {
        match self.unified.max(self.jdk8).max(self.j9) {
            0 => None,
            most if most == self.j9 => Some(AnyDialect::J9(Box::default())),
            most if most == self.jdk8 => Some(AnyDialect::Jdk8(Box::default())),
            _ => Some(AnyDialect::Unified(Box::default())),
        }
    }
}
