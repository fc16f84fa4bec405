//! The guest of a trial: how its server is started in it, the files that it has, and its work.

use super::launched::{Begun, TrialId};
use super::specs::variant_spec;
use super::state::Run;
use crate::check::combinations::BUILD;
use crate::file::program::ServerTable;
use crate::plan::names::fixed_placeholders;
use crate::plan::prepare::Prepared;
use crate::plan::variant_launch::VariantLaunch;
use assay_emulate::{
    Amount, Command, Emulator, GUEST_COMMAND, Geometry, GuestCommand, GuestImage, GuestWork, IMAGE_FILE,
    NeededFiles, ServerInGuest, needed_files, runtime_of, stripped,
};
use assay_gclog::xlog_option;
use assay_launch::{Launch, Placeholders, ProcessSpec, ReadyWhen};
use assay_model::{EmulatedProcessor, PlannedEmulation};
use std::path::{Path, PathBuf};

/// The server's port in the guest, in which nothing else listens.
const PORT: &str = "8080";
/// The server's own log in the guest, which proves its reference mode.
const LOG: &str = "/tmp/assay-gc.log";
/// Folders in the guest: the Java runtime of a variant whose command names none, and the server's files.
const JVM_HOME: &str = "/jvm";
const SERVER_DIR: &str = "/tmp/server";
/// This program in the guest, and its work.
const PROGRAM: &str = "/assay";
const WORK: &str = "/work.json";
/// Seconds of the guest's clock for the server to be ready.
const READY_TIMEOUT_S: f64 = 120.0;

/// A variant's server as a guest starts it.
struct InGuest {
    launch: Launch,
    needed: NeededFiles,
    names: Placeholders,
}

/// A guest that is built.
pub(super) struct BuiltGuest {
    /// How its emulator is started.
    pub command: Command,
    /// What the server's command names and the guest does not have.
    pub left_out: Vec<String>,
}

/// Builds the guest in the trial's folder.
///
/// # Errors
/// What the guest lacks, with what to do.
pub(super) fn build(
    run: &Run<'_>,
    begun: &Begun<'_>,
    planned: &PlannedEmulation,
    emulator_seed: u64,
) -> Result<BuiltGuest, String> {
    let variant = &begun.launch.variant;
    let workload = &run.prepared.workload;
    let emulator = emulator(run.prepared, planned.processor)?;
    let server = workload.program.server().ok_or("the study has no server")?;
    let guest = in_guest(run.prepared, begun.launch, begun.id.seed, &emulator)?;
    let mut image = image(run.prepared, begun.launch, planned, (&emulator, &guest))?;
    let heap_bytes = variant.max_heap_bytes.or(guest.needed.heap_max_bytes).unwrap_or(0);
    let left_out = guest.needed.left_out.clone();
    let work = work(begun.launch, begun.id, planned, (server, guest))?;
    image.add_bytes(WORK, serde_json::to_vec(&work).map_err(|e| e.to_string())?, false);
    let file = fs_err::File::create(begun.folder.join(IMAGE_FILE)).map_err(|e| e.to_string())?;
    let mut file = std::io::BufWriter::new(file);
    let image_bytes = image.write(&mut file).map_err(|e| e.to_string())?;
    std::io::Write::flush(&mut file).map_err(|e| e.to_string())?;
    // The files lie in memory twice until they are unpacked.
    let memory_mib = planned.memory_mib + (heap_bytes.saturating_add(2 * image_bytes) >> 20);
    let command = emulator.command(&Geometry::of(planned.processor), memory_mib, emulator_seed);
    Ok(BuiltGuest { command, left_out })
}

/// Whether this machine has an emulator and the files that the guests of a plan need. No guest is built.
///
/// # Errors
/// What the guest of a variant lacks, with what to do.
pub(crate) fn check(prepared: &Prepared) -> Result<(), String> {
    let processor = prepared.plan.procedure.emulation().map(|planned| planned.processor);
    let emulator = emulator(prepared, processor.unwrap_or_default())?;
    for launch in &prepared.launches {
        in_guest(prepared, launch, prepared.plan.seed, &emulator)
            .map_err(|why| format!("{}: {why}", launch.variant.name))?;
    }
    Ok(())
}

/// The emulator, by a path that leads to it from the folder of a trial, too.
fn emulator(prepared: &Prepared, processor: EmulatedProcessor) -> Result<Emulator, String> {
    let cache = std::path::absolute(&prepared.workload.cache).map_err(|e| e.to_string())?;
    Emulator::find(&cache, processor)
}

/// The server's command with the guest's own names, and the files that it needs.
fn in_guest(
    prepared: &Prepared,
    launch: &VariantLaunch,
    seed: u64,
    emulator: &Emulator,
) -> Result<InGuest, String> {
    let workload = &prepared.workload;
    let mut names = fixed_placeholders(workload, &launch.variant.workload_options);
    names.set("seed", seed.to_string());
    names.set("port", PORT);
    names.set("server_dir", SERVER_DIR);
    if let Some(build) = &launch.build {
        names.set_path(BUILD, &build.workdir);
    }
    let has_jvm = launch.variant.jvm.is_some();
    let logs = launch.variant.jvm.iter().map(|_| xlog_option(LOG)).collect();
    let spec = ProcessSpec {
        jvm_home: has_jvm.then(|| JVM_HOME.to_owned()),
        ..variant_spec(prepared, launch, ReadyWhen::Started, logs)
    };
    let base = study_dir(prepared)?;
    let mut launch = Launch::build(&spec, &spec.command, &base, &names);
    let needed = needed_files(GuestCommand {
        argv: &launch.argv,
        env: &launch.env,
        cwd: &launch.cwd,
        runtime: has_jvm.then_some(Path::new(JVM_HOME)),
    })?;
    if let (Some(program), Some(place)) = (&needed.program, emulator.place()) {
        return Err(format!(
            "{} is a program of this machine, and the guest is {}: let the study choose the JVM (java, or {{java}})",
            program.display(),
            place.title()
        ));
    }
    if let (Some(word), Some(program)) = (launch.argv.first_mut(), &needed.program) {
        *word = program.to_string_lossy().into_owned();
    }
    Ok(InGuest { launch, needed, names })
}

/// Behind all links, so that `..` leads in the guest to where it leads here.
fn study_dir(prepared: &Prepared) -> Result<PathBuf, String> {
    let folder = Some(prepared.study_dir.as_path()).filter(|path| !path.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))
}

/// The files of the guest.
fn image(
    prepared: &Prepared,
    launch: &VariantLaunch,
    planned: &PlannedEmulation,
    (emulator, guest): (&Emulator, &InGuest),
) -> Result<GuestImage, String> {
    let kept = prepared.workload.cache.join("emulation");
    let mut image = emulator.image(&[PROGRAM, GUEST_COMMAND, WORK]).map_err(|e| e.to_string())?;
    let own = match emulator.place() {
        Some(place) => place.program()?,
        None => stripped(&std::env::current_exe().map_err(|e| e.to_string())?, &kept)?,
    };
    let own = (PathBuf::from(PROGRAM), own);
    let of_variant = launch.variant.jvm.as_ref().map(|jvm| (Path::new(&jvm.home), Path::new(JVM_HOME)));
    let of_command = guest.needed.runtime.as_deref().map(|home| (home, home));
    for (home, place) in of_variant.into_iter().chain(of_command) {
        match emulator.place() {
            // It is among what was fetched with the machine.
            Some(machine) => image.add_link(place, &machine.jvm_home_in_guest(home)),
            None => image.add_runtime(&runtime_of(home, &kept)?, place).map_err(|e| e.to_string())?,
        }
    }
    let base = study_dir(prepared)?;
    let further = planned.files.iter().map(|path| base.join(guest.names.fill(path)));
    let named = guest.needed.files.clone().into_iter().chain(further.map(|path| (path.clone(), path)));
    for (place, host) in named.chain([own]) {
        image.add(&host, &place).map_err(|e| e.to_string())?;
    }
    if emulator.place().is_none() {
        image.add_libraries();
    }
    image.add_folder(&guest.launch.cwd);
    Ok(image)
}

fn work(
    launch: &VariantLaunch,
    id: TrialId,
    planned: &PlannedEmulation,
    (server, guest): (&ServerTable, InGuest),
) -> Result<GuestWork, String> {
    let InGuest { launch: in_guest, names, .. } = guest;
    let ready_url = names.fill(&server.ready_url);
    let generator =
        super::procedure::loaded_by(launch, &ready_url, server, id.seed).map_err(|e| e.to_string())?;
    let amount = |requests: Option<u64>, seconds: f64| match requests {
        Some(requests) => Amount::Requests { requests, longest_s: seconds },
        None => Amount::Time { length_s: seconds },
    };
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
        warm_up: amount(planned.warm_up_requests, planned.warm_up_s),
        window: amount(planned.window_requests, planned.window_s),
    })
}
