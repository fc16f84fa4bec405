//! Whether what a study needs is here: programs, files that a set-up makes, a server that runs already.

use crate::check::combinations::VariantSpec;
use crate::check::layout::Layout;
use crate::file::checkout::setup_command;
use crate::file::document::Document;
use crate::file::program::{CommandLine, ProcessTable, ServerTable};
use crate::file::workload::Workload;
use crate::plan::candidate::Candidate;
use crate::plan::names::{fixed_placeholders, workload_options};
use assay_launch::{Placeholders, find_program};
use assay_linux::ProcRoot;
use assay_model::Design;
use std::path::Path;

/// Reports what is missing for the variants that can run here.
pub(super) fn check(
    workload: &Workload,
    uses_jvm: bool,
    design: Design,
    candidates: &[Candidate],
    document: &mut Document,
) {
    let present = candidates.iter().filter(|candidate| candidate.is_present());
    let specs: Vec<&VariantSpec> = present.map(|candidate| &candidate.spec).collect();
    // Where none can run, what all of them lack is said at once.
    let all = candidates.iter().map(|candidate| &candidate.spec).filter(|_| specs.is_empty());
    for spec in specs.iter().copied().chain(all) {
        check_command(spec, workload, uses_jvm, document);
    }
    let urls_have_port = workload.program.server().is_none_or(|s| s.ready_url.contains("{port}"));
    let together = match design {
        Design::Fresh => None,
        Design::Resident => Some("the resident design runs all servers at once"),
        Design::Duet => Some("a duet runs both servers at once"),
    };
    if let Some(together) = together.filter(|_| specs.len() > 1 && !urls_have_port) {
        let what = format!("{together}, so each needs a port of its own: use {{port}}");
        document.add("server.ready_url", what);
    }
    for process in &workload.processes {
        let mut options = specs.iter().map(|spec| workload_options(spec, workload));
        if let Some(options) = options.find(|options| process.is_wanted(options))
            && let Some(why) = missing_program(process, &fixed_placeholders(workload, &options))
        {
            document.add_missing("workload_options", why);
        }
    }
    check_files(workload, &specs, document);
}

/// The program itself.
fn check_command(spec: &VariantSpec, workload: &Workload, uses_jvm: bool, document: &mut Document) {
    let command = spec.words(workload).unwrap_or_default();
    let program = command.first().map_or("", String::as_str);
    let directory = spec.directory(workload).filter(|d| !d.contains('{'));
    let folder = crate::file::workload::folder_of(&document.file).join(directory.map_or("", String::as_str));
    // The files that a build makes are not there yet.
    let is_made_later = spec.has_copy() && program.contains('/');
    let is_filled_in = program.contains('{') || (uses_jvm && program == "java");
    if !is_filled_in && !is_made_later && !is_program(program, &folder) {
        document.add_missing(
            "server.command",
            format!("there is no program `{program}`; is it installed, and on the path?"),
        );
    }
}

/// The files that the workload requires and its set-up makes.
fn check_files(workload: &Workload, specs: &[&VariantSpec], document: &mut Document) {
    let mut missing = Vec::new();
    for spec in specs {
        let names = fixed_placeholders(workload, &workload_options(spec, workload));
        let template = workload.program.server().and_then(|s| s.template.as_ref());
        let needed = workload.requires.iter().chain(template).map(|p| names.fill(p));
        missing.extend(needed.filter(|p| !p.contains('{') && !Path::new(p).exists()));
    }
    missing.sort();
    missing.dedup();
    let makes_it =
        setup_command(&workload.dir).map_or_else(String::new, |setup| format!(": {setup} makes it"));
    for path in missing {
        let what = format!("`{path}` is missing, which the workload `{}` needs{makes_it}", workload.name);
        document.add_missing("workload", what);
    }
}

/// Which of its programs is not here, and what adds it.
fn missing_program(process: &ProcessTable, names: &Placeholders) -> Option<String> {
    let first = |line: &CommandLine| line.words().ok()?.into_iter().next();
    let programs: Vec<String> = process.programs.iter().map(|folder| names.fill(folder)).collect();
    let is_missing =
        |name: &String| !name.contains('{') && name != "java" && find_program(name, &programs).is_none();
    let name = process.commands().filter_map(|(_, line)| first(line)).find(is_missing)?;
    let folders: String = programs.iter().map(|folder| format!("{folder}, ")).collect();
    let install = process.install.as_ref().map_or_else(String::new, |how| format!("; {how} adds it"));
    Some(format!("there is no program `{name}` of {} (looked in {folders}the path){install}", process.name))
}

/// Whether there is such a program, by its path from this folder or on the path.
fn is_program(name: &str, folder: &Path) -> bool {
    if name.contains('/') {
        return folder.join(name).is_file();
    }
    find_program(name, &[]).is_some()
}

/// The certificates that a load needs can be read.
pub(super) fn check_tls(server: &ServerTable, document: &mut Document) {
    let folder = crate::file::workload::folder_of(&document.file);
    if let Some(Err(e)) = server.tls.as_ref().map(|tls| tls.options(&folder)) {
        document.add("server.tls", e.to_string());
    }
}

/// A server that runs already: its process and its files are here, and the design does not start it again.
pub(super) fn check_attached(server: &ServerTable, layout: Layout, document: &mut Document) {
    let folder = crate::file::workload::folder_of(&document.file);
    if let Some(Err(e)) = server.pid.map(|pid| ProcRoot::default().identity_of(pid)) {
        let pid = server.pid.unwrap_or_default();
        let what = format!("there is no process with PID {pid}; to list the running JVMs: assay memory");
        document.add("server.pid", if e.is_absent() { what } else { e.to_string() });
    }
    if let Some(Err(e)) = server.gc_log.as_ref().map(|log| fs_err::File::open(folder.join(log))) {
        document.add("server.gc_log", format!("{e}; gc_log (--gc-log) is the file that the server writes"));
    }
    if layout.kind == Design::Fresh && (layout.blocks, layout.repeats_max) != (1, 0) {
        let what = "a running server cannot be restarted for each trial: use blocks = 1 and repeats_max = 0, \
            or kind = \"resident\" for several windows";
        document.add("design", what);
    }
}
