//! One trial in a guest under full-system emulation: the guest is built, started, and left to itself until it ends. Its counts are the
//! trial's window.

use super::launched::{Begun, Launched, Starting, TrialId};
use super::self_ending::{conclude, measure};
use super::specs::variant_spec;
use super::state::{Failure, Run};
use crate::check::combinations::BUILD;
use crate::error::StudyError;
use crate::file::program::ServerTable;
use crate::plan::names::fixed_placeholders;
use crate::plan::variant_launch::VariantLaunch;
use assay_emulate::{
    Emulator, GUEST_COMMAND, Geometry, GuestReport, GuestWork, IMAGE_FILE, REPORT_FILE, ServerInGuest,
};
use assay_gclog::xlog_option;
use assay_jdk::modes;
use assay_launch::{Launch, Placeholders, ProcessSpec, ReadyWhen};
use assay_measure::Emulated;
use assay_model::{PlannedEmulation, Problem, Trial, Window, file};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an emulator may take to stop when it is asked to.
const STOP: Duration = Duration::from_secs(30);
/// Wall time after which a guest is stopped: many times what it should take, and never less than the seconds here. A full machine
/// makes it slow, and changes nothing of what is counted.
const TIMEOUT_FACTOR: f64 = 20.0;
const TIMEOUT_S_MIN: f64 = 1800.0;
/// The server's port in the guest, in which nothing else listens.
const PORT: &str = "8080";
/// The server's own log in the guest, which proves its reference mode.
const LOG: &str = "/tmp/assay-gc.log";
/// Folders in the guest: the Java runtime, the one in which a server starts, and the server's files.
const JVM_HOME: &str = "/jvm";
const HOME: &str = "/root";
const SERVER_DIR: &str = "/tmp/server";
/// This program in the guest, and its work.
const PROGRAM: &str = "/assay";
const WORK: &str = "/work.json";
/// Seconds of the guest's clock for the server to be ready.
const READY_TIMEOUT_S: f64 = 120.0;

/// One guest, and whether its variant cannot work at all.
pub(super) fn one(run: &mut Run<'_>, launch: &VariantLaunch, id: TrialId) -> Result<(Trial, bool), Failure> {
    let planned = run.prepared.plan.procedure.emulation().cloned();
    let planned = planned.ok_or_else(|| internal("the study emulates nothing"))?;
    let begun = Begun::begin(run, launch, id)?;
    let starting = starting(run, &begun, &planned);
    let mut launched = begun.start(run, starting)?;
    let mut procedure = Emulated { folder: launched.folder.clone(), bounds: run.prepared.bounds };
    let timeout_s = (TIMEOUT_FACTOR * crate::check::emulation::trial_s(&planned)).max(TIMEOUT_S_MIN);
    let timeout = Duration::from_secs_f64(timeout_s);
    let ended = measure(run, &mut launched, id, &mut procedure, timeout);
    let ended = ended.and_then(|measurement| {
        launched.trial.audit = measurement.audit;
        complete(&mut launched, measurement.window)
    });
    // It is large, and made again from what is stored.
    let _ = fs_err::remove_file(launched.folder.join(IMAGE_FILE));
    conclude(run, launched, ended)
}

fn internal(what: &str) -> Failure {
    Failure::Run(StudyError::Internal(what.to_owned()))
}

/// The emulator, with a guest that is built in the trial's folder.
fn starting(
    run: &Run<'_>,
    begun: &Begun<'_>,
    planned: &PlannedEmulation,
) -> Result<Starting<'static>, String> {
    // Every trial has a seed of its own: the effects of layout and random numbers are then part of the interval.
    let emulator_seed = begun.id.seed.wrapping_add(u64::from(begun.number));
    let command = build(run, begun, planned, emulator_seed)?;
    let emulator = ProcessSpec {
        is_server: true,
        environment: command.env,
        directory: Some(begun.folder.to_string_lossy().into_owned()),
        stop_timeout: STOP,
        ..ProcessSpec::new(file::SERVER, command.argv, ReadyWhen::Started)
    };
    Ok(Starting { program: Some(emulator), names: Placeholders::default(), options_of_each: &|_| Vec::new() })
}

/// Builds the guest in the trial's folder, and says how the emulator is started there.
fn build(
    run: &Run<'_>,
    begun: &Begun<'_>,
    planned: &PlannedEmulation,
    emulator_seed: u64,
) -> Result<assay_emulate::Command, String> {
    let (launch, id) = (begun.launch, begun.id);
    let workload = &run.prepared.workload;
    let emulation = workload.cache.join("emulation");
    let emulator = Emulator::find(&workload.cache)?;
    let server = workload.program.server().ok_or("the study has no server")?;
    let mut names = fixed_placeholders(workload, &launch.variant.workload_options);
    names.set("seed", id.seed.to_string());
    names.set("port", PORT);
    names.set("server_dir", SERVER_DIR);
    if let Some(build) = &launch.build {
        names.set_path(BUILD, &build.workdir);
    }
    let logs = launch.variant.jvm.iter().map(|_| xlog_option(LOG)).collect();
    let has_jvm = launch.variant.jvm.is_some();
    let spec = ProcessSpec {
        jvm_home: has_jvm.then(|| JVM_HOME.to_owned()),
        ..variant_spec(run, launch, ReadyWhen::Started, logs)
    };
    let in_guest = Launch::build(&spec, &spec.command, Path::new(HOME), &names);
    // The named jars list the modules that they need; a folder of jars gets all of Java SE.
    let named = assay_emulate::named_files(&in_guest.argv, in_guest.env.values());

    let mut image = emulator.image(&[PROGRAM, GUEST_COMMAND, WORK]).map_err(|e| e.to_string())?;
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let own = assay_emulate::stripped(&own, &emulation)?;
    let mut files = vec![(own, PathBuf::from(PROGRAM))];
    if let Some(jvm) = &launch.variant.jvm {
        let jars: Vec<PathBuf> =
            named.iter().filter(|path| path.extension().is_some_and(|e| e == "jar")).cloned().collect();
        files.push((
            assay_emulate::runtime_of(Path::new(&jvm.home), &jars, &emulation)?,
            PathBuf::from(JVM_HOME),
        ));
    }
    let further = planned.files.iter().map(|path| run.prepared.study_dir.join(names.fill(path)));
    files.extend(named.into_iter().chain(further).map(|path| (path.clone(), path)));
    for (host, guest) in &files {
        image.add(host, guest).map_err(|e| e.to_string())?;
    }
    image.add_libraries();
    image.add_folder(&in_guest.cwd);
    let work = work(launch, id, planned, (server, &names, in_guest))?;
    image.add_bytes(WORK, serde_json::to_vec(&work).map_err(|e| e.to_string())?, false);
    let file = fs_err::File::create(begun.folder.join(IMAGE_FILE)).map_err(|e| e.to_string())?;
    let mut file = std::io::BufWriter::new(file);
    let image_bytes = image.write(&mut file).map_err(|e| e.to_string())?;
    std::io::Write::flush(&mut file).map_err(|e| e.to_string())?;
    let heap_bytes = launch.variant.max_heap_bytes.unwrap_or(0);
    // The files lie in memory twice until they are unpacked.
    let memory_mib = planned.memory_mib + ((heap_bytes + 2 * image_bytes) >> 20);
    Ok(emulator.command(&Geometry::of(planned.processor), memory_mib, emulator_seed))
}

fn work(
    launch: &VariantLaunch,
    id: TrialId,
    planned: &PlannedEmulation,
    (server, names, in_guest): (&ServerTable, &Placeholders, Launch),
) -> Result<GuestWork, String> {
    let ready_url = names.fill(&server.ready_url);
    let generator =
        super::procedure::loaded_by(launch, &ready_url, server, id.seed).map_err(|e| e.to_string())?;
    Ok(GuestWork {
        server: ServerInGuest {
            argv: in_guest.argv,
            env: in_guest.env,
            cwd: in_guest.cwd,
            ready_timeout_s: server.ready_timeout_s.unwrap_or(READY_TIMEOUT_S),
            audit_url: server.audit_url.as_ref().map(|url| names.fill(url)),
            log: launch.variant.jvm.is_some().then(|| PathBuf::from(LOG)),
            ready_url,
        },
        generator,
        load: launch.load.load(),
        warm_up_s: planned.warm_up_s,
        window_s: planned.window_s,
    })
}

/// Takes the reference mode from the log that the guest handed out, and keeps the log.
fn complete(launched: &mut Launched<'_>, window: Window) -> Result<(), Failure> {
    let report = GuestReport::read(&launched.folder.join(REPORT_FILE)).map_err(Failure::Trial)?;
    let trial = &mut launched.trial;
    trial.windows.push(window);
    let Some(log) = report.log else { return Ok(()) };
    fs_err::write(launched.folder.join(file::GC_LOG), &log)?;
    let read = assay_gclog::read_jvm(log.as_bytes());
    trial.collector = read.collector;
    trial.mode = read.mode;
    let variant = &launched.launch.variant;
    match (&trial.mode, variant.reference_mode) {
        (Some(read), Some(wanted)) => {
            modes::check(wanted, variant.compact_headers, read).map_err(Failure::Variant)
        }
        (None, Some(_)) => {
            let what =
                "the log does not show which reference mode the JVM chose, so it could not be verified";
            trial.problems.push(Problem::new(file::GC_LOG, what));
            Ok(())
        }
        _ => Ok(()),
    }
}
