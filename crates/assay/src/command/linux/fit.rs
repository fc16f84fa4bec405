//! `assay fit`: the smallest container, or the smallest value of an option, that keeps a server's limits.

use super::inject::on_threads;
use super::pair::{USERS, absolute, command_of, question};
use super::plan::plan_text;
use crate::arguments::{FitArguments, FitOnly, Format};
use crate::failure::Failure;
use crate::forms::{show, write};
use crate::output_file::{can_be_written, write_file};
use crate::progress::Progress;
use crate::{output, seed, stop};
use assay_model::{FitLimits, FitOutcome, FitProbe, FitPurpose, FitResource, file};
use assay_study::{
    Fit, FitEvent, FitOption, FitOptions, FitServer, FitWorkload, Study, StudyError, fit_folder,
};
use assay_text::{duration::about, size};
use std::path;
use std::process::ExitCode;
use std::time::Duration;

/// No limit is proved.
const UNDECIDED: u8 = 3;
/// Length of a window: some thousand requests, of which one in a hundred is seen often enough.
const WINDOW: Duration = Duration::from_secs(20);

/// Fits a container, or says what would be run first. The exit code is 1 where nothing holds, and 3 where the time is over before anything is
/// proved.
pub fn fit(arguments: &FitArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let out = path::absolute(arguments.out.clone().unwrap_or_else(fit_folder))?;
    if out.exists() {
        let out = out.display();
        return Err(Failure::input(format!("{out} is there already: choose another folder with --out")));
    }
    let server = server(arguments)?;
    let fit = Fit::new(&server, options(arguments, out.clone())?)?;
    if arguments.plan {
        if arguments.format.is_json("--plan")? {
            output::print_json(fit.first().plan())?;
        } else {
            let lines = [
                ("a probe", format!("about {}", about(fit.probe_s()))),
                ("budget", about(arguments.budget.as_secs_f64())),
            ];
            output::print_text(&plan_text(fit.first(), &[], &lines, output::width().into()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let stop = stop::flag_on_signal()?;
    let mut progress: Option<Progress> = None;
    let ran = fit.run(&on_threads, &stop, &mut |event| match event {
        FitEvent::Begins(probe, plan) => {
            say!("probe {}: {}", probe.number, begins(probe));
            progress = Some(Progress::new(plan));
        }
        FitEvent::Waits => {
            say!("another run is changing settings of this machine: waiting until it has ended");
        }
        FitEvent::Run(event) => progress.iter().for_each(|progress| progress.show(event)),
        FitEvent::Ended(probe) => {
            progress = None;
            let left_out = if probe.counts { "" } else { "; left out, others used the machine" };
            say!("probe {}: {}{left_out} ({})", probe.number, probe.verdict, probe.detail);
        }
    });
    drop(progress);
    let report = ran?;
    fs_err::create_dir_all(&out)?;
    let kept = out.join(file::FIT);
    write_file(&kept, |out| write(&report, Format::Json, out))?;
    show(&report, arguments.format.form(), arguments.html.as_deref())?;
    match report.outcome {
        FitOutcome::Stopped => {
            Err(Failure::interrupted(format!("interrupted; what was found before is in {}", kept.display())))
        }
        FitOutcome::NothingHolds => Ok(ExitCode::from(1)),
        FitOutcome::Undecided | FitOutcome::Other => Ok(ExitCode::from(UNDECIDED)),
        FitOutcome::Found => Ok(ExitCode::SUCCESS),
    }
}

/// What a probe tries.
fn begins(probe: &FitProbe) -> String {
    let memory = probe.memory_bytes.map(|bytes| format!("memory {}", size::rounded(bytes)));
    let cpu = probe.cpu_millicores.map(|cpu| format!("CPU {cpu:.0} millicores"));
    let heap = probe.heap_bytes.map(|bytes| format!("-Xmx{}m", bytes >> 20));
    let all: Vec<String> = memory.into_iter().chain(cpu).chain(heap).collect();
    let all = if all.is_empty() { "without limits".to_owned() } else { all.join(", ") };
    match probe.purpose {
        FitPurpose::Prove => format!("{all}, again"),
        FitPurpose::Compare => "values side by side".to_owned(),
        _ => all,
    }
}

fn server(arguments: &FitArguments) -> Result<FitServer, Failure> {
    if let Some(study) = &arguments.study {
        if let Some(option) = arguments.typed() {
            return Err(Failure::input(format!(
                "the study defines how its server is loaded: leave {option} out, or write it in the study"
            )));
        }
        return Ok(FitServer::Study(Box::new(Study::read(study).map_err(StudyError::Diagnostics)?)));
    }
    let seed = arguments.seed.unwrap_or_else(seed::any);
    if let Some(name) = &arguments.workload {
        return Ok(FitServer::Workload(Box::new(FitWorkload {
            name: name.clone(),
            options: arguments.option.iter().cloned().collect(),
            jvm: arguments.java.clone(),
            rate_per_s: arguments.law.rate,
            users: arguments.law.users.unwrap_or(USERS),
            seed,
        })));
    }
    let command = arguments.command.as_deref().unwrap_or_default();
    let command = command_of("--command", command, arguments.dir.as_ref())?;
    let mut question = question([command.clone(), command], seed);
    question.url_path = arguments.url_path.clone().unwrap_or(question.url_path);
    question.users = arguments.law.users.unwrap_or(question.users);
    (question.rate_per_s, question.jvm) = (arguments.law.rate, arguments.java.clone());
    Ok(FitServer::Command(Box::new(question)))
}

fn options(arguments: &FitArguments, out: path::PathBuf) -> Result<FitOptions, Failure> {
    let option = arguments.size.clone().zip(arguments.between.clone()).map(|(option, between)| FitOption {
        option,
        between,
        metric: arguments.metric.clone(),
        within_percent: arguments.within,
    });
    let scenarios = arguments.scenario.iter().map(|path| absolute(path)).collect::<Result<_, _>>()?;
    let window = arguments.window.or_else(|| arguments.study.is_none().then_some(WINDOW));
    Ok(FitOptions {
        limits: FitLimits {
            latency: arguments.limit.clone(),
            errors_percent_max: arguments.errors,
            stalled_percent_max: arguments.stalled,
            throttled_percent_max: arguments.throttled,
        },
        scenarios,
        heap_bytes: arguments.heap.map(|heap| heap.bytes),
        only: arguments.only.map(|only| match only {
            FitOnly::Memory => FitResource::Memory,
            FitOnly::Cpu => FitResource::Cpu,
        }),
        option,
        window,
        budget: arguments.budget,
        out,
    })
}
