//! `assay run` of a study whose trials run in emulated machines.

use super::outcome::finish;
use crate::arguments::RunArguments;
use crate::command::gate;
use crate::command::report;
use crate::failure::Failure;
use crate::output_file::can_be_written;
use crate::{output, stop};
use assay_study::{Checked, GuestEvent, RunOptions};
use std::process::ExitCode;

/// Runs it, or says where it would run.
pub(super) fn run(checked: Checked, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let study = checked.in_guests(arguments.quick, &arguments.fail_if)?;
    let study = study.ok_or_else(|| Failure::input("the study is not for guests"))?;
    let refused = |option: &str| {
        let what = "makes each block in a guest of its own, from the first to the last";
        Err(Failure::input(format!("{option}: {} {what}: leave it away", study.name())))
    };
    if arguments.blocks.is_some() {
        return refused("--blocks");
    }
    if arguments.budget.budget.is_some() {
        return refused("--budget");
    }
    if arguments.plan {
        if arguments.format.is_json("--plan")? {
            return Err(Failure::input(
                "--json: the plan of a study in guests is made in the guest, by its JVMs",
            ));
        }
        output::print_text(&format!("{}: {}\n", study.name(), study.describe()))?;
        return Ok(ExitCode::SUCCESS);
    }
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let stop = stop::flag_on_signal()?;
    let options = RunOptions {
        out: arguments.out.clone(),
        resume: arguments.resume,
        allow_host_changes: arguments.allow_host_changes,
    };
    say!("{}: {}", study.name(), study.describe());
    let dir = study.run(&options, &stop, &mut show)?;
    let run = assay_results::load_run(&dir)?;
    let page = report::write_page(&run, &dir)?;
    finish(&run, &page, arguments)
}

fn show(event: &GuestEvent) {
    match event {
        GuestEvent::Started { block, blocks, kernel, machine } => {
            say!("block {block} of {blocks}: a {machine} guest starts, kernel {kernel}");
        }
        GuestEvent::LeftOut(what) => say!("note: not in the guest: {what}"),
        GuestEvent::Up(s) => say!("  its kernel is up after {s:.0} s"),
        GuestEvent::Ended(s) => say!("  its block is done after {s:.0} s"),
    }
}
