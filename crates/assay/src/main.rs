//! The program: arguments in, one of the other rooms does the work, results and exit code out.
//!
//! Only this crate writes to the terminal or exits. Data goes to standard output, diagnostics to standard error.

#[macro_use]
mod output;
mod arguments;
mod command;
mod completion;
mod failure;
mod forms;
mod live;
mod output_file;
mod progress;
mod screen;
mod seed;
mod slips;
mod stop;
mod version;

use arguments::{Arguments, Command};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    completion::answer();
    let arguments = match slips::parse(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    arguments.color.write_global();
    match run(arguments) {
        Ok(code) => code,
        Err(failure) => {
            say!("error: {}", failure.message);
            failure.exit_code()
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        Command::Demo(demo) => command::run::demo(&demo),
        Command::Run(run) => command::run::run(&run),
        Command::Studies(studies) => command::studies::studies(&studies),
        Command::Setup(setup) => command::setup::setup(&setup),
        Command::Report(report) => command::report::report(&report),
        Command::Compare(compare) => command::compare::compare(&compare),
        Command::Merge(merge) => command::merge::merge(&merge),
        Command::Ab(ab) => command::ab::ab(&ab),
        Command::Fit(fit) => command::fit::fit(&fit),
        Command::Judge(judge) => command::judge::judge(&judge),
        Command::Bisect(bisect) => command::bisect::bisect(&bisect),
        Command::Load(load) => command::load::load(&load),
        Command::Inject(inject) => command::inject::inject(&inject),
        Command::Capacity(capacity) => command::capacity::capacity(&capacity),
        Command::Why(why) => command::why::why(&why),
        Command::Memory(memory) => command::memory::memory(memory),
        Command::Time(time) => command::time::time(&time),
        Command::Gc(gc) => command::gc::gc(&gc),
        Command::Heap(heap) => command::heap::heap(&heap),
        Command::Host(host) => command::host::host(&host),
        Command::Flags(flags) => command::flags::flags(&flags),
        Command::Completions(completions) => command::reference::completions(&completions),
        Command::Reference(reference) => command::reference::reference(&reference),
        Command::BlockWorker => command::run::block_worker(),
        Command::EmulatedGuest(guest) => {
            assay_emulate::work(&guest.work).map(|()| ExitCode::SUCCESS).map_err(Failure::internal)
        }
    }
}
