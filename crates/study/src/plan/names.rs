//! The names that texts of a study are filled in with, and the address that is loaded.

use crate::check::combinations::VariantSpec;
use crate::file::program::ProcessTable;
use crate::file::workload::Workload;
use assay_launch::Placeholders;
use std::collections::BTreeMap;
use std::path::Path;

/// The chosen word of every option; the first one offered is the default.
pub(crate) fn workload_options(spec: &VariantSpec, workload: &Workload) -> BTreeMap<String, String> {
    let defaults =
        workload.options.iter().filter_map(|(name, words)| Some((name.clone(), words.first()?.clone())));
    defaults.chain(spec.workload_options.clone()).collect()
}

/// The names that are known before a launch.
pub(crate) fn fixed_placeholders(workload: &Workload, options: &BTreeMap<String, String>) -> Placeholders {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut names = Placeholders::default();
    names.set_path("workload_dir", &absolute(&workload.dir));
    names.set_path("cache", &absolute(&workload.cache));
    names.set_options(options);
    set_absent(workload, options, &mut names);
    names
}

/// Fills the names of processes that a variant does not have with nothing. Those that it has get their values when they are planned.
fn set_absent(workload: &Workload, options: &BTreeMap<String, String>, names: &mut Placeholders) {
    let is_varied = |p: &&ProcessTable| !p.is_wanted(options) || !p.count_when.is_empty();
    for name in workload.processes.iter().filter(is_varied).flat_map(ProcessTable::placeholders) {
        names.set(&name, "");
    }
}

/// The name that the processes of a table share; for the server its role.
pub(crate) fn table_name(workload: &Workload, role: &str) -> String {
    let table = workload.processes.iter().find(|p| p.roles().any(|r| r == role));
    table.map_or(role, |table| &table.name).to_owned()
}

/// A text of the server as each replica has it, with its role: it differs in the port.
pub(crate) fn of_replicas(
    workload: &Workload,
    options: &BTreeMap<String, String>,
    text: &str,
    names: &Placeholders,
) -> Vec<(String, String)> {
    let tables = workload.processes.iter().filter(|table| table.is_replica);
    let of_one = |role: String| {
        let mut own = names.clone();
        own.set("port", names.fill(&format!("{{{role}.port}}")));
        let filled = own.fill(text);
        (role, filled)
    };
    tables.flat_map(|table| table.roles_with(options)).map(of_one).collect()
}

/// Where a variant is loaded: the server's own URL, at the port of the process that takes its load, if it has one.
pub(crate) fn loaded_url(
    workload: &Workload,
    options: &BTreeMap<String, String>,
    ready_url: &str,
    names: &Placeholders,
) -> String {
    let Some(front) = workload.processes.iter().find(|p| p.takes_load && p.is_wanted(options)) else {
        return names.fill(ready_url);
    };
    let mut of_front = names.clone();
    of_front.set("port", names.fill(&format!("{{{}.port}}", front.name)));
    of_front.fill(ready_url)
}
