//! The conditions of a run, what was left out of it, and how to repeat it.

use super::duet;
use super::grid::Grid;
use super::late;
use super::users;
use assay_kit::number::{count, mib, significant};
use assay_kit::text;
use assay_kit::{Cell, Table};
use assay_model::{
    Audit, Design, Disturbance, Feels, JvmFacts, ModeRead, PlannedProcedure, PlannedScenario, Problem,
    StoredTrial, Trial, TrialOutcome, WarmUpEnd,
};

/// Rows of the problem and trial tables that are shown; the rest is counted.
const ROWS_MAX: usize = 200;

/// What holds for the whole run, as term and value.
pub fn facts(grid: &Grid) -> Vec<(&'static str, String)> {
    let (plan, host) = (&grid.run.plan, &grid.run.host);
    let who = &host.provenance;
    let or_absent = |value: Option<String>, why: &str| {
        value.map_or_else(|| format!("not available: {why}"), |v| text::clean(&v))
    };
    let limit = |value: Option<String>| value.unwrap_or_else(|| "none found".to_owned());
    let design = match plan.design {
        Design::Fresh => "fresh: a new process for each trial, in interleaved blocks",
        Design::Duet => {
            "duet: pairs of new processes at the same time, each with its load generator on half of the processors"
        }
        Design::Resident => {
            "resident: all variants up and warmed, measured in alternating windows, the others suspended"
        }
    };
    // A benchmark program's options say how long it measures.
    let windows = match plan.procedure {
        PlannedProcedure::Windows => format!("; windows of {} s", significant(plan.window_s)),
        // A search chooses the length of its windows itself.
        PlannedProcedure::Capacity(_) | PlannedProcedure::Benchmark => String::new(),
        PlannedProcedure::Emulated(ref planned) => match planned.window_requests {
            Some(requests) => format!("; {requests} requests are counted"),
            None => format!("; {} s of the guest's clock are counted", significant(plan.window_s)),
        },
    };
    let blocks = match &plan.budget {
        Some(budget) => format!(
            "blocks until everything asked was decided, within {} min",
            significant(budget.time_s / 60.0)
        ),
        None if plan.part.is_empty() => format!("{} blocks", plan.blocks),
        None => format!("{} of {} blocks", plan.part.len(), plan.blocks),
    };
    let rate =
        if plan.load_sets_rate { "; it sets the throughput, which is not compared therefore" } else { "" };
    let mut facts = vec![
        ("Study", format!("{}{}", text::clean(&plan.study), if plan.quick { " (short form)" } else { "" })),
        ("Workload", text::clean(&plan.workload)),
        ("Load", format!("{}{rate}", text::clean(&plan.load))),
        ("Design", format!("{design}; {blocks}{windows}")),
    ];
    facts.extend(plan.guest.iter().map(|guest| ("Place", guest.describe())));
    facts.extend(duet::facts(grid.run));
    facts.extend([
        ("Warm-up rule", text::clean(&plan.warm_up)),
        ("Repeats of disturbed windows", format!("at most {}", plan.repeats_max)),
        ("Seed", plan.seed.to_string()),
        ("Processor", or_absent(who.cpu_model.clone(), "/proc/cpuinfo names none")),
        ("Processors usable", or_absent(who.cpus.map(|n| n.to_string()), "affinity could not be read")),
        (
            "Machine memory",
            or_absent(who.memory_bytes.map(|b| mib(b as f64)), "/proc/meminfo could not be read"),
        ),
        ("Architecture", text::clean(&who.architecture)),
        ("Kernel", or_absent(who.kernel.clone(), "the kernel did not say")),
        ("Operating system", or_absent(who.os.clone(), "no os-release")),
        ("Hypervisor", limit(host.hypervisor.as_deref().map(text::clean))),
        (
            "CPU limit of the control group",
            limit(host.cgroup_cpu_limit.map(|c| format!("{} processors", significant(c)))),
        ),
        ("Memory limit of the control group", limit(host.cgroup_memory_limit_bytes.map(|b| mib(b as f64)))),
        ("Swap", or_absent(host.swap_bytes.map(|b| mib(b as f64)), "/proc/meminfo could not be read")),
        (
            "Transparent huge pages",
            or_absent(host.transparent_huge_pages.clone(), "the kernel does not offer them"),
        ),
        ("Frequency governor", or_absent(host.cpu_governor.clone(), "the kernel does not show one")),
        (
            "Waiting for a processor before the run",
            or_absent(
                host.cpu_pressure_some_percent.map(|p| format!("{} % of the time", significant(p))),
                "the kernel keeps no pressure figures",
            ),
        ),
    ]);
    for jvm in &host.jvms {
        let vendor = jvm.vendor.as_deref().map(|v| format!(", {}", text::clean(v))).unwrap_or_default();
        facts.push((
            "JVM",
            format!("{} ({} bit{vendor}) in {}", text::clean(&jvm.version), jvm.bits, text::clean(&jvm.home)),
        ));
    }
    facts.push(("Made by", format!("Assay {}", text::clean(&who.assay_version))));
    facts
}

/// Each variant: JVM, options, mode asked and read with its evidence, warm-up.
pub fn variants(grid: &Grid) -> Table {
    let variants = grid.cells().filter_map(|(_, cell)| {
        let trial = grid.shown_trial(cell.name).or_else(|| grid.trials(cell.name).last());
        Some((cell, cell.variant?, trial))
    });
    Table::of("Variants: the requested mode and the JVM's choice", variants)
        .words("Variant", |(cell, ..)| text::clean(cell.name))
        .words("JVM and options", |(_, variant, trial)| {
            let jvm = variant.jvm.as_ref().or_else(|| trial.and_then(|t| t.trial.jvm.as_ref()));
            jvm_and_options(jvm, &variant.jvm_options)
        })
        .words("Requested mode", |(_, variant, _)| match variant.reference_mode {
            Some(mode) => format!("{}{}", mode.name(), if variant.compact_headers { "+compact" } else { "" }),
            None => "left to the JVM".to_owned(),
        })
        .words("Mode read", |(cell, _, trial)| {
            let mode = || trial.and_then(|t| t.trial.mode.as_ref()).map(mode_name);
            let read = cell.summary.and_then(|s| s.mode_read.clone()).or_else(mode);
            let none = "no log line was read, or launches differ";
            read.map_or_else(|| Cell::absent(none), |read| text::clean(&read).into())
        })
        .words("Evidence in the JVM's log", |(.., trial)| {
            let mode = trial.and_then(|t| t.trial.mode.as_ref());
            mode.map_or_else(|| Cell::absent("no mode was read"), |m| text::clean(&m.evidence).into())
        })
        .words("Warm-up", |(.., trial)| trial.map_or_else(|| Cell::absent("no trial"), |t| warm_up(grid, t)))
        .words("Windows counted / left out", |(cell, ..)| {
            cell.summary.map_or_else(|| "none".to_owned(), |s| format!("{} / {}", s.windows, s.left_out))
        })
        .table()
}

/// One option a line, so that none is broken at its hyphens.
fn jvm_and_options(jvm: Option<&JvmFacts>, options: &[String]) -> String {
    let jvm = jvm
        .map_or_else(|| "not a JVM that we know".to_owned(), |j| format!("{} ({} bit)", j.version, j.bits));
    let lines: Vec<String> = std::iter::once(&jvm).chain(options).map(|line| text::clean(line)).collect();
    lines.join("\n")
}

/// Name of a mode with what goes beside it.
pub fn mode_name(mode: &ModeRead) -> String {
    let compact = if mode.compact_headers == Some(true) { "+compact" } else { "" };
    format!("{}{compact}", mode.mode.name())
}

fn warm_up(grid: &Grid, stored: &StoredTrial) -> Cell {
    if grid.is_benchmark() {
        return text::clean(&grid.run.plan.warm_up).into();
    }
    let Some(warm_up) = &stored.trial.warm_up else {
        return Cell::absent("the trial did not get so far");
    };
    let end = match warm_up.ended_by {
        WarmUpEnd::Steady => "steady",
        WarmUpEnd::Cap => "ended by its time limit",
    };
    format!("{end} after {} s, {} requests", significant(warm_up.duration_s), count(warm_up.requests)).into()
}

/// Every launch, with its seed and how it ended.
pub fn trials(grid: &Grid) -> Table {
    let why_no_server = |why: &str| Cell::absent(if grid.is_benchmark() { "" } else { why });
    let audit = |audit: &Audit| {
        text::clean(&format!("{}: {}", if audit.passed { "passed" } else { "failed" }, audit.detail)).into()
    };
    let table = Table::of("Trials in the order of the run", grid.run.trials.iter().take(ROWS_MAX))
        .words("Trial", |t| t.trial.number.to_string())
        .words("Variant", |t| text::clean(&t.trial.variant))
        .words("Block", |t| t.trial.block.to_string())
        .words("Attempt", |t| t.trial.attempt.to_string())
        .words("Seed", |t| t.trial.seed.to_string())
        .words("Started", |t| text::clean(&t.trial.started_at))
        .words("Ready after", |t| match t.trial.start_to_ready_ms {
            Some(ms) => format!("{} s", significant(ms / 1000.0)).into(),
            None => why_no_server("never ready"),
        })
        .words("Warm-up", |t| warm_up(grid, t))
        .words("Outcome", |t| text::clean(&outcome(&t.trial)))
        .words("Audit", |t| match &t.trial.audit {
            Some(done) => audit(done),
            None => why_no_server("the workload has none, or it was not reached"),
        });
    let is_known = grid.run.trials.iter().any(|t| t.trial.users.is_some());
    let table = if is_known {
        table.words("Users, and sessions begun", |t| users_of(t)).table()
    } else {
        table.table()
    };
    cut_note(table, grid.run.trials.len())
}

/// How many users a trial had, and how they began their sessions outside of the figures.
fn users_of(stored: &StoredTrial) -> Cell {
    let Trial { users, session_starts, .. } = &stored.trial;
    users::words(*users, session_starts.as_ref()).map_or_else(|| Cell::absent("not known"), Cell::from)
}

fn outcome(trial: &Trial) -> String {
    match &trial.outcome {
        TrialOutcome::Completed => "completed".to_owned(),
        TrialOutcome::Failed { reason } => format!("failed: {reason}"),
        TrialOutcome::Interrupted => "interrupted by the user".to_owned(),
    }
}

/// Trials whose windows are not used, with the reason; absent when there are none.
pub fn failed(grid: &Grid) -> Option<Table> {
    let failed = || grid.run.trials.iter().map(|t| &t.trial).filter(|t| !t.counts());
    let why = |trial: &Trial| match &trial.audit {
        Some(audit) if trial.outcome == TrialOutcome::Completed => format!("audit failed: {}", audit.detail),
        _ => outcome(trial),
    };
    let table = Table::of("Trials whose windows are not used", failed().take(ROWS_MAX))
        .words("Variant", |trial| text::clean(&trial.variant))
        .words("Trial", |trial| trial.number.to_string())
        .words("Attempt", |trial| trial.attempt.to_string())
        .words("Why", |trial| text::clean(&why(trial)))
        .table();
    cut_note(table, failed().count()).unless_empty()
}

/// Windows that are left out, with the evidence; absent when there are none.
pub fn disturbed(grid: &Grid) -> Option<Table> {
    let windows = || grid.run.trials.iter().flat_map(|t| t.trial.windows.iter().map(|w| (&t.trial, w)));
    let all = || windows().flat_map(|(trial, w)| w.disturbances.iter().map(move |d| (trial, w, d)));
    let table = Table::of("Disturbed windows", all().take(ROWS_MAX))
        .words("Variant", |(trial, ..)| text::clean(&trial.variant))
        .words("Trial", |(trial, ..)| trial.number.to_string())
        .words("Block", |(_, window, _)| window.block.to_string())
        .words("Attempt", |(_, window, _)| window.attempt.to_string())
        .words("Left out of", |(.., disturbance)| spoiled_by(disturbance).to_owned())
        .words("Why", |(.., disturbance)| text::clean(&disturbance.kind.to_string()))
        .words("Evidence", |(.., disturbance)| text::clean(&disturbance.evidence))
        .table();
    cut_note(table, all().count()).unless_empty()
}

/// Windows that count although a check failed, by variant and check; absent when there are none.
pub fn marked(grid: &Grid) -> Option<Table> {
    Table::of("Windows that count, but", late::marks(grid).into_iter().take(ROWS_MAX))
        .words("Variant", |[variant, ..]| variant.clone())
        .words("Check that failed", |[_, check, ..]| check.clone())
        .words("In", |[_, _, windows, _]| windows.clone())
        .words("What was found, in the last of them", |[.., evidence]| evidence.clone())
        .table()
        .unless_empty()
}

/// The figures that a disturbed window is left out of.
pub fn spoiled_by(disturbance: &Disturbance) -> &'static str {
    match (disturbance.leaves_usable(Feels::Nothing), disturbance.leaves_usable(Feels::CpuTime)) {
        (false, _) => "everything",
        (true, false) => "times, rates and CPU time",
        (true, true) => "times and rates",
    }
}

/// What could not be read, observers that could not work included; absent when there is nothing.
pub fn problems(grid: &Grid) -> Option<Table> {
    let mut all: Vec<[String; 3]> = Vec::new();
    all.extend(grid.run.summary.iter().flat_map(|s| &s.problems).map(|p| told("result", p)));
    all.extend(grid.run.host.problems.iter().map(|p| told("host", p)));
    for stored in &grid.run.trials {
        let trial = &stored.trial;
        let place = format!("trial {}, {}", trial.number, trial.variant);
        let observers = trial.excluded_observers.iter();
        all.extend(observers.map(|o| [place.clone(), format!("observer {}", o.name), o.reason.clone()]));
        all.extend(trial.problems.iter().map(|p| told(&place, p)));
        all.extend(by_blocks(trial, &place));
    }
    let table = Table::of("Problems: what could not be read or done", all.iter().take(ROWS_MAX))
        .words("Where", |[place, ..]| text::clean(place))
        .words("Read from", |[_, about, _]| text::clean(about))
        .words("What", |[.., what]| text::clean(what))
        .table();
    cut_note(table, all.len()).unless_empty()
}

/// Problems of a trial's windows; the same one in several blocks is one row.
fn by_blocks(trial: &Trial, place: &str) -> Vec<[String; 3]> {
    let mut found: Vec<(&Problem, Vec<String>)> = Vec::new();
    for window in &trial.windows {
        for problem in &window.problems {
            match found.iter_mut().find(|(p, _)| *p == problem) {
                Some((_, blocks)) => blocks.push(window.block.to_string()),
                None => found.push((problem, vec![window.block.to_string()])),
            }
        }
    }
    found.iter().map(|(p, blocks)| told(&format!("{place}, block {}", blocks.join(", ")), p)).collect()
}

fn told(place: &str, problem: &Problem) -> [String; 3] {
    let line = problem.line.map(|l| format!(", line {l}")).unwrap_or_default();
    [place.to_owned(), format!("{}{line}", problem.about), problem.text.clone()]
}

/// The command that repeats the run from the study file's text.
pub fn repeat_command(grid: &Grid) -> String {
    let plan = &grid.run.plan;
    let budget = plan.budget.as_ref().map(|budget| format!(" --budget {}s", budget.time_s.ceil()));
    let quick = if plan.quick { " --quick" } else { "" };
    format!("assay run study.toml{quick}{}", budget.unwrap_or_default())
}

/// The scenarios of the run, each with what it is the scenario of.
pub fn scenarios(grid: &Grid) -> Vec<(String, String)> {
    let plan = &grid.run.plan;
    let whose = |scenario: &PlannedScenario| match scenario.variants.len() == plan.variants.len() {
        true => "The scenario of the load".to_owned(),
        false => format!("The scenario of the load of {}", text::clean(&scenario.variants.join(", "))),
    };
    plan.scenarios.iter().map(|one| (whose(one), text::clean_lines(&one.text))).collect()
}

fn cut_note(mut table: Table, total: usize) -> Table {
    if total > table.rows.len() {
        table.caption += &format!(" (the first {} of {total})", table.rows.len());
    }
    table
}
