//! The integration tests of this crate, linked as one program; each file is a module.

mod ab;
mod benchmark;
mod capacity;
mod capacity_page;
mod capacity_sample;
mod capacity_study;
mod cells;
mod compare;
mod duet;
mod flames;
mod folders;
mod forms;
mod gc;
mod gc_sample;
mod golden;
mod heap;
mod hosts;
mod judge;
mod kafka;
mod memory;
mod one_server;
mod process;
mod processes;
mod rendered;
mod report;
mod sample;
