//! The names that a command may use before anything of it is started.

use crate::check::combinations::VariantSpec;
use crate::file::process::set_absent;
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
