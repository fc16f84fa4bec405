//! Commands that start processes, load servers or look into a machine: on Linux alone.

pub mod ab;
pub mod bisect;
mod budget;
pub mod capacity;
mod counting;
pub mod fit;
pub mod host;
pub mod inject;
pub mod judge;
pub mod load;
pub mod memory;
pub mod merge;
mod pair;
mod plan;
pub mod reference;
pub mod run;
pub mod setup;
pub mod studies;
pub mod time;
pub mod why;

use crate::arguments::LinuxCommand;
use crate::failure::Failure;
use std::process::ExitCode;

/// Does what was asked for.
pub fn run(command: LinuxCommand) -> Result<ExitCode, Failure> {
    match command {
        LinuxCommand::Demo(demo) => run::demo(&demo),
        LinuxCommand::Run(run) => run::run(&run),
        LinuxCommand::Studies(studies) => studies::studies(&studies),
        LinuxCommand::Setup(setup) => setup::setup(&setup),
        LinuxCommand::Merge(merge) => merge::merge(&merge),
        LinuxCommand::Ab(ab) => ab::ab(&ab),
        LinuxCommand::Fit(fit) => fit::fit(&fit),
        LinuxCommand::Judge(judge) => judge::judge(&judge),
        LinuxCommand::Bisect(bisect) => bisect::bisect(&bisect),
        LinuxCommand::Load(load) => load::load(&load),
        LinuxCommand::Inject(inject) => inject::inject(&inject),
        LinuxCommand::Capacity(capacity) => capacity::capacity(&capacity),
        LinuxCommand::Why(why) => why::why(&why),
        LinuxCommand::Memory(memory) => memory::memory(memory),
        LinuxCommand::Time(time) => time::time(&time),
        LinuxCommand::Host(host) => host::host(&host),
        LinuxCommand::Reference(reference) => reference::reference(&reference),
        LinuxCommand::BlockWorker(arguments) => run::block_worker(&arguments),
        LinuxCommand::EmulatedGuest(guest) => {
            assay_emulate::work(&guest.work).map(|()| ExitCode::SUCCESS).map_err(Failure::internal)
        }
    }
}
