//! Modes that a process or a log has.

use crate::arguments::ModesArguments;
use crate::command::process::identity_of;
use crate::command::process::pid_of;
use crate::failure::Failure;
use assay_heap::modes::mode_of_process;
use assay_linux::{LiveProcess, ProcRoot};
use assay_model::{HeapModes, ModeOfLog, Problem};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Reads all that were named.
pub fn read(arguments: &ModesArguments, report: &mut HeapModes) -> Result<(), Failure> {
    for process in &arguments.pid {
        let read = of_process(pid_of(process)?, &mut report.problems)?;
        report.read.push(read);
    }
    for path in &arguments.log {
        let read = of_log(path, &mut report.problems)?;
        report.read.push(read);
    }
    Ok(())
}

fn of_process(pid: u32, problems: &mut Vec<Problem>) -> Result<ModeOfLog, Failure> {
    identity_of(pid)?;
    let source = format!("process {pid}");
    let process = LiveProcess::open(&ProcRoot::default(), pid)?;
    let (mode, found) = mode_of_process(&process, &source);
    problems.extend(found);
    Ok(ModeOfLog { source, mode, j9_is_compressed: None })
}

fn of_log(path: &Path, problems: &mut Vec<Problem>) -> Result<ModeOfLog, Failure> {
    let source = path.display().to_string();
    if path.is_dir() {
        return Err(Failure::input(format!(
            "{source} is a folder, not a GC log\n  name its logs: {source}/gc.log"
        )));
    }
    let open = || match File::open(path) {
        Ok(file) => Ok(BufReader::new(file)),
        Err(error) => Err(Failure::input(format!("cannot read {source}: {error}"))),
    };
    if let Some(j9) = assay_gclog::read_j9(open()?) {
        return Ok(ModeOfLog { source, mode: j9.mode, j9_is_compressed: j9.is_compressed });
    }
    let log = assay_gclog::Records::read(source.clone(), open()?);
    if log.jvm.mode.is_none() {
        let what = "the log does not say the reference mode; with -Xlog:gc*=info,gc+heap+coops=debug it does";
        problems.push(Problem::new(&source, what));
    }
    problems.extend(log.problems);
    Ok(ModeOfLog { source, mode: log.jvm.mode, j9_is_compressed: None })
}
