//! Two runs side by side: which figures differ beyond noise, and how the setups differ. Pure.

use crate::measured::ByBlock;
use crate::summary::values_by_block;
use assay_model::{
    Circumstance, CircumstanceOf, ComparedRun, JvmFacts, Metric, Plan, PlannedBuild, Problem, Provenance,
    RunChange, RunComparison, StoredRun, Variant, VariantSummary, schema,
};
use assay_stats::compare_unpaired;

/// Compares two runs, each with the name of its folder. Variants are paired by name.
pub fn compare_runs(
    (before_folder, before): (&str, &StoredRun),
    (after_folder, after): (&str, &StoredRun),
) -> RunComparison {
    let mut problems = Vec::new();
    let names =
        |run: &StoredRun| -> Vec<String> { run.plan.variants.iter().map(|v| v.name.clone()).collect() };
    let (before_names, after_names) = (names(before), names(after));
    let without = |of: &[String], other: &[String]| -> Vec<String> {
        of.iter().filter(|name| !other.contains(name)).cloned().collect()
    };
    let both = before_names.iter().filter(|name| after_names.contains(name));
    let changes = both.flat_map(|name| changes_of(name, before, after, &mut problems)).collect();
    RunComparison {
        schema: schema::RUN_COMPARISON.to_owned(),
        before: compared(before_folder, before),
        after: compared(after_folder, after),
        changes,
        circumstances: circumstances(before, after),
        only_before: without(&before_names, &after_names),
        only_after: without(&after_names, &before_names),
        problems,
    }
}

fn compared(folder: &str, run: &StoredRun) -> ComparedRun {
    ComparedRun {
        folder: folder.to_owned(),
        study: run.plan.study.clone(),
        primary_metric: run.plan.primary_metric.clone(),
        started_at: run.trials.first().map(|stored| stored.trial.started_at.clone()),
        provenance: run.host.provenance.clone(),
    }
}

fn changes_of(
    name: &str,
    before: &StoredRun,
    after: &StoredRun,
    problems: &mut Vec<Problem>,
) -> Vec<RunChange> {
    let (Some(before_summary), Some(after_summary)) = (summary_of(before, name), summary_of(after, name))
    else {
        problems.push(Problem::new(name, "not compared: one of the runs has no result for it"));
        return Vec::new();
    };
    let metrics = Metric::all_with(before_summary.metrics.keys().map(String::as_str));
    let values_of = |run: &StoredRun| {
        values_by_block(run.plan.design, name, run.trials.iter().map(|stored| &stored.trial), &metrics)
    };
    let (before_values, after_values) = (values_of(before), values_of(after));
    let values = |by_block: &ByBlock| -> Vec<f64> { by_block.values().copied().collect() };
    let free = metrics.iter().filter(|m| ![before, after].iter().any(|run| run.plan.is_set_by_load(&m.id)));
    let change = |metric: &Metric| {
        let id = &*metric.id;
        let (old, new) = (before_values.get(id)?, after_values.get(id)?);
        match compare_unpaired(&values(new), &values(old)) {
            Ok(found) => Some(RunChange {
                variant: name.to_owned(),
                metric: id.to_owned(),
                before: *before_summary.metrics.get(id)?,
                after: *after_summary.metrics.get(id)?,
                ratio: found.ratio,
                verdict: [before, after]
                    .into_iter()
                    .fold(found.verdict, |verdict, run| run.plan.verdict(metric, &found.ratio, verdict)),
            }),
            // As in a study: 0 has no ratio, and dropping such blocks would drop the small values.
            Err(_) => {
                problems.push(Problem::new(
                    id,
                    format!("not compared for {name}: 0 in one of the blocks has no ratio"),
                ));
                None
            }
        }
    };
    free.filter_map(change).collect()
}

fn summary_of<'r>(run: &'r StoredRun, name: &str) -> Option<&'r VariantSummary> {
    run.summary.as_ref()?.variants.iter().find(|variant| variant.name == name)
}

/// Differences in setup, machine first.
fn circumstances(before: &StoredRun, after: &StoredRun) -> Vec<Circumstance> {
    let mut found = Vec::new();
    let mut differ = |about, what: &str, before: Option<String>, after: Option<String>| {
        if before != after {
            found.push(Circumstance { about, what: what.to_owned(), before, after });
        }
    };
    for ((what, before), (_, after)) in of_host(before).into_iter().zip(of_host(after)) {
        differ(CircumstanceOf::Host, what, before, after);
    }
    for variant in &before.plan.variants {
        let Some(other) = after.plan.variants.iter().find(|other| other.name == variant.name) else {
            continue;
        };
        let jvm = |variant: &Variant| variant.jvm.as_ref().map(jvm_words);
        differ(CircumstanceOf::Jvm, &format!("JVM of {}", variant.name), jvm(variant), jvm(other));
        for ((what, before), (_, after)) in of_variant(variant).into_iter().zip(of_variant(other)) {
            differ(CircumstanceOf::Study, &format!("{what} of {}", variant.name), before, after);
        }
    }
    for ((what, before), (_, after)) in of_plan(&before.plan).into_iter().zip(of_plan(&after.plan)) {
        differ(CircumstanceOf::Study, what, Some(before), Some(after));
    }
    found
}

fn of_host(run: &StoredRun) -> Vec<(&'static str, Option<String>)> {
    let host = &run.host;
    let Provenance { assay_version, kernel, os, architecture, cpu_model, cpus, memory_bytes } =
        &host.provenance;
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    vec![
        ("Assay", Some(assay_version.clone())),
        ("kernel", kernel.clone()),
        ("operating system", os.clone()),
        ("architecture", Some(architecture.clone())),
        ("processor", cpu_model.clone()),
        ("processors", cpus.map(|cpus| cpus.to_string())),
        ("memory, bytes", number(*memory_bytes)),
        ("transparent huge pages", host.transparent_huge_pages.clone()),
        ("frequency governor", host.cpu_governor.clone()),
        ("hypervisor", host.hypervisor.clone()),
        ("CPU limit of the control group", host.cgroup_cpu_limit.map(|limit| limit.to_string())),
        ("memory limit of the control group, bytes", number(host.cgroup_memory_limit_bytes)),
        ("swap, bytes", number(host.swap_bytes)),
    ]
}

fn jvm_words(jvm: &JvmFacts) -> String {
    let vendor = jvm.vendor.as_ref().map_or_else(String::new, |vendor| format!(" {vendor}"));
    format!("{}{vendor}, {} bits", jvm.version, jvm.bits)
}

fn of_variant(variant: &Variant) -> Vec<(&'static str, Option<String>)> {
    let options: Vec<String> =
        variant.workload_options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let treatments: Vec<String> =
        variant.treatments.iter().map(|t| format!("{}={}", t.setting, t.value)).collect();
    let listed = |words: Vec<String>| (!words.is_empty()).then(|| words.join(" "));
    vec![
        ("JVM options", listed(variant.jvm_options.clone())),
        ("heap, bytes,", variant.max_heap_bytes.map(|bytes| bytes.to_string())),
        ("workload options", listed(options)),
        ("settings of the machine", listed(treatments)),
        ("build", variant.build.as_ref().map(build_words)),
    ]
}

/// A commit, or files as they were, by what names the copy that was made of them; and what built it.
fn build_words(build: &PlannedBuild) -> String {
    let short = |id: &str| id.chars().take(12).collect::<String>();
    let what = match (&build.commit, &build.subject) {
        (Some(commit), Some(subject)) => format!("{} ({subject})", short(commit)),
        (Some(commit), None) => short(commit),
        (None, _) => format!("{} as it was ({})", build.source, short(&build.id)),
    };
    if build.command.is_empty() { what } else { format!("{what} by `{}`", build.command.join(" ")) }
}

fn of_plan(plan: &Plan) -> Vec<(&'static str, String)> {
    vec![
        ("study", plan.study.clone()),
        ("workload", plan.workload.clone()),
        ("load", plan.load.clone()),
        ("warm-up", plan.warm_up.clone()),
        ("window, s", plan.window_s.to_string()),
        ("blocks", plan.blocks.to_string()),
        ("short form", plan.quick.to_string()),
        ("seed", plan.seed.to_string()),
    ]
}

#[cfg(test)]
mod tests;
