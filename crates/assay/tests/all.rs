//! The integration tests of this crate, linked as one program; each file is a module.

mod ab;
mod capacity;
mod capacity_report;
mod capacity_workload;
mod ci;
mod color;
mod columns;
mod commands;
mod compare;
mod completion;
mod emulated;
mod english;
mod fit;
mod flags;
mod format;
mod gallery;
mod gc;
mod growth;
mod guests;
mod heap;
mod heap_live;
mod heap_modes;
mod held_by;
mod host;
#[expect(dead_code, reason = "the tests of dumps use the rest of it")]
#[path = "../../heap/tests/hprof_writer/mod.rs"]
mod hprof_writer;
mod inject;
mod judge;
#[expect(dead_code, reason = "the tests of the report use the rest of it")]
#[path = "../../report/tests/kafka/mod.rs"]
mod kafka;
mod kubernetes;
mod links;
mod load;
mod memory;
mod mistakes;
mod monitoring;
mod names;
mod on;
mod papers;
mod ready_made;
mod reference;
mod run;
mod samples;
mod setup;
mod support;
mod texts;
mod tidy;
mod time;
mod time_acceptance;
mod version;
