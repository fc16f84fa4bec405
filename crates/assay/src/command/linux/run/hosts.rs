//! `assay run --on`: the blocks of a study on several hosts, and the worker there.

use super::outcome::{check_conditions, finish};
use super::source::Source;
use crate::arguments::{BlockWorkerArguments, OnArguments, RunArguments};
use crate::command::gate;
use crate::command::linux::inject::on_threads;
use crate::command::report::write_page;
use crate::failure::{Failure, Kind};
use crate::output_file::can_be_written;
use crate::progress::Progress;
use crate::{stop, version};
use assay_model::{Design, Plan, RunEvent, RunEventKind, file};
use assay_place::{
    Happened, HostPlan, Place, PlaceError, Refusal, Task, Work, make_blocks, plans, read_paths,
};
use assay_results::{load_run, merge, plan_difference};
use assay_study::{RunOptions, Study, StudyError, default_run_folder};
use fs_err as fs;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Folder of the run directory for blocks that hosts have returned, until they are merged.
const PARTS: &str = "parts";
/// Name of the host in the environment of a worker.
const HOST: &str = "ASSAY_HOST";
/// Assay on a host, unless another path is given.
const PROGRAM: &str = "assay";

/// Runs the blocks of a study on hosts, merges them, and shows the run.
pub(super) fn run(place: &Place, source: Source, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let stop = stop::flag_on_signal()?;
    // A study of the program itself is sent as a file, too.
    let folder = tempfile::tempdir()?;
    let study = match source {
        Source::File(path) => path,
        Source::ReadyMade(study) => {
            let path = folder.path().join(format!("{}.toml", study.name));
            fs::write(&path, study.text)?;
            path
        }
    };
    let place = place.clone().with_pods(arguments.on.pods())?;
    let mut work = work(place, &study, arguments)?;
    let plan = common_plan(&mut work, &stop)?;
    check_conditions(&arguments.fail_if, &plan)?;
    let out = arguments.out.clone().unwrap_or_else(|| default_run_folder(&plan.study));
    let parts = out.join(PARTS);
    if parts.exists() && !arguments.resume {
        let out = out.display();
        return Err(Failure::input(format!(
            "{out} has blocks of an earlier start: add --resume to keep them, or choose another folder with --out"
        )));
    }
    let blocks: Vec<u32> = (1..=plan.blocks).collect();
    let folders =
        made(&work, &plan, (&blocks, &parts), &stop).map_err(|failure| unfinished(failure, &out))?;
    let dir = merge(&folders, &out, false)?;
    fs::remove_dir_all(&parts)?;
    let run = load_run(&dir)?;
    let page = write_page(&run, &dir)?;
    finish(&run, &page, arguments)
}

/// The study with everything that a host needs for it. Mistakes in the file are found here, before a host is asked.
fn work(place: Place, study: &Path, arguments: &RunArguments) -> Result<Work, Failure> {
    let checked = Study::read(study).map_err(StudyError::Diagnostics)?;
    if !checked.parts().is_empty() {
        say!("note: the study names other study files, which --on does not run");
    }
    let study = study.canonicalize()?;
    let (Some(folder), Some(name)) = (study.parent(), study.file_name()) else {
        return Err(Failure::input(format!("{} is not a study file", study.display())));
    };
    let OnArguments { send, program, .. } = &arguments.on;
    // Relative paths begin at the current folder, as the shell completes them.
    let sent = send.iter().map(|path| path.canonicalize().map_err(|e| of_path(path, &e)));
    let mut paths: Vec<PathBuf> = sent.collect::<Result<_, _>>()?;
    paths.push(PathBuf::from(name));
    paths.extend(checked.scenario_file().map(PathBuf::from));
    let files = read_paths(folder, &paths).map_err(|e| Failure::input(e.to_string()))?;
    let task = Task {
        version: version::long(),
        study: name.to_string_lossy().into_owned(),
        quick: arguments.quick,
        allow_host_changes: arguments.allow_host_changes,
        architecture: None,
        blocks: Vec::new(),
    };
    let program = program.clone().unwrap_or_else(|| PROGRAM.to_owned());
    Ok(Work { place, program, task, folder: folder.to_owned(), files })
}

fn of_path(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

/// The plan that all hosts have. A host without one is left out, and hosts with different ones are refused.
fn common_plan(work: &mut Work, stop: &AtomicBool) -> Result<Plan, Failure> {
    let mut common: Option<(String, Plan)> = None;
    let mut usable = BTreeSet::new();
    let mut on_wait = |happened| {
        if let Happened::Waits { slot, why } = happened {
            say!("{slot} waits: {why}");
        }
    };
    for HostPlan { slot, plan } in plans(work, stop, &mut on_wait)? {
        let plan = match plan {
            Ok(plan) => plan,
            Err(why) => {
                say!("{slot} is left out: {why}");
                continue;
            }
        };
        usable.insert(slot.clone());
        match &common {
            Some((first, of_first)) => {
                if let Some(difference) = differing(of_first, &plan) {
                    return Err(Failure::input(format!(
                        "the plans of {first} and {slot} differ: {difference}"
                    )));
                }
            }
            None => common = Some((slot, plan)),
        }
    }
    work.place.keep_hosts(|host| usable.contains(host));
    let Some((_, plan)) = common else {
        return Err(Failure::environment("no host can run the study; the reasons are above"));
    };
    match plan.design {
        Design::Resident => Err(Failure::input(
            "blocks of the resident design are windows of the same servers: set design.kind = \"fresh\" for --on",
        )),
        Design::Fresh | Design::Duet => {
            work.task.architecture = Some(plan.provenance.architecture.clone());
            Ok(plan)
        }
    }
}

/// The first difference between the plans of two hosts. Hosts of several architectures would measure different programs.
fn differing(one: &Plan, other: &Plan) -> Option<String> {
    let architectures = [&one.provenance.architecture, &other.provenance.architecture];
    let of_architecture = || {
        let [one, other] = architectures;
        (one != other).then(|| format!("the architecture is {one} and {other}"))
    };
    plan_difference(one, other).or_else(of_architecture)
}

/// Has hosts make the blocks, with progress.
fn made(
    work: &Work,
    plan: &Plan,
    (blocks, parts): (&[u32], &Path),
    stop: &AtomicBool,
) -> Result<Vec<PathBuf>, PlaceError> {
    let (progress, began) = (Progress::new(plan), Instant::now());
    make_blocks(work, blocks, parts, stop, &mut |happened| match happened {
        Happened::Waits { slot, why } => say!("{slot} waits: {why}"),
        Happened::Began { host, block } => say!("block {block} runs on {host}"),
        Happened::Event(event) => {
            if let Some(event) = of_whole(*event, began) {
                progress.show(&event);
            }
        }
        Happened::Ended { block } => say!("block {block} is complete"),
        Happened::Failed { slot, block, why, is_tried_again: true } => {
            say!("block {block} failed on {slot} and is tried again: {why}");
        }
        Happened::Failed { slot, block, why, .. } => say!("block {block} failed on {slot}: {why}"),
        Happened::LeftOut { slot } => say!("{slot} is left out: it failed repeatedly"),
    })
}

/// An event of a block as one of the whole run, whose time is this program's.
fn of_whole(event: RunEvent, began: Instant) -> Option<RunEvent> {
    match event.kind {
        RunEventKind::RunStarted { .. } | RunEventKind::RunResumed { .. } | RunEventKind::RunEnded { .. } => {
            None
        }
        _ => Some(RunEvent { elapsed_s: began.elapsed().as_secs_f64(), remaining_s: None, ..event }),
    }
}

/// How to go on after a failure that left complete blocks.
fn unfinished(error: PlaceError, out: &Path) -> Failure {
    let failure = Failure::from(error);
    let go_on = format!(
        "{}\n  complete blocks are kept: go on with --resume --out {}",
        failure.message,
        out.display()
    );
    match failure.kind {
        Kind::Interrupted | Kind::Environment => Failure { message: go_on, ..failure },
        Kind::Input | Kind::Internal => failure,
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Failure {
        let kind = match error {
            PlaceError::Input(_) => Kind::Input,
            PlaceError::Hosts(_) | PlaceError::File(_) => Kind::Environment,
            PlaceError::Stopped => Kind::Interrupted,
        };
        Failure { kind, message: error.to_string() }
    }
}

/// Runs blocks for a program on another host, which is connected to standard input and output, or calls within the pod.
pub fn block_worker(arguments: &BlockWorkerArguments) -> Result<ExitCode, Failure> {
    if arguments.connect {
        assay_place::connect(io::stdin(), &mut io::stdout().lock())?;
        return Ok(ExitCode::SUCCESS);
    }
    let stop = stop::flag_on_signal()?;
    if !arguments.listen {
        worked((io::stdin(), io::stdout().lock()), &stop)?;
        return Ok(ExitCode::SUCCESS);
    }
    // Success without a caller: nobody needs another pod in the place of this one.
    let Some(caller) = assay_place::caller(&stop)? else { return Ok(ExitCode::SUCCESS) };
    let is_done = worked((caller.try_clone()?, caller), &stop)?;
    assay_place::wait_for_end(&stop);
    if is_done { Ok(ExitCode::SUCCESS) } else { Err(Failure::environment("the task was not done")) }
}

/// Does the task that comes over the connection. Returns whether it was done.
fn worked(
    ends: (impl io::Read + Send + 'static, impl io::Write),
    stop: &Arc<AtomicBool>,
) -> io::Result<bool> {
    // In a pod the kernel's name is that of the pod, and the engine knows the node's.
    let host = std::env::var(HOST).or_else(|_| fs::read_to_string("/proc/sys/kernel/hostname"));
    let host = host.unwrap_or_default();
    assay_place::work(ends, (&version::long(), host.trim()), stop, |task, folder, on_event| {
        blocks_of(task, folder, stop, on_event)
    })
}

/// The plan of a task, and the run directory of its blocks.
fn blocks_of(
    task: &Task,
    folder: &Path,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&RunEvent),
) -> Result<(Plan, Option<PathBuf>), Refusal> {
    let of_task = |error: StudyError| Refusal { message: error.to_string(), is_of_task: true };
    // A path, a JVM or memory that is missing here may be there on another host.
    let of_host = |error: StudyError| {
        let message = match error {
            // The folder here is a temporary one, and nobody can go on in it.
            StudyError::Interrupted { done, trials, .. } => {
                format!("the block was interrupted: {done} of {trials} launches were complete")
            }
            error => error.to_string(),
        };
        Refusal { message, is_of_task: false }
    };
    let here = std::env::consts::ARCH;
    if let Some(wanted) = task.architecture.as_deref().filter(|wanted| *wanted != here) {
        let message = format!("this host is {here}, and the plan was made on {wanted}");
        return Err(Refusal { message, is_of_task: false });
    }
    let checked =
        Study::read(&folder.join(&task.study)).map_err(|found| of_task(StudyError::Diagnostics(found)))?;
    let mut study = checked.prepare(task.quick).map_err(of_host)?;
    if task.blocks.is_empty() {
        return Ok((study.plan().clone(), None));
    }
    study.take_blocks(&task.blocks.iter().copied().collect()).map_err(of_task)?;
    let out = folder.join(format!(".{}", file::TRIALS));
    let options =
        RunOptions { out: Some(out), allow_host_changes: task.allow_host_changes, ..RunOptions::default() };
    let result = assay_study::run_from(&study, &options, &on_threads, stop, on_event).map_err(of_host)?;
    Ok((study.plan().clone(), Some(result.dir)))
}
