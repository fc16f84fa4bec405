//! Studies that end, stop and limit their processes: what is recorded, what counts, and that nothing is left of it.

use crate::support::{Fixture, example};
use assay_model::{
    Check, Disturbance, FaultAction, FaultRecord, RunEventKind, Trial, TrialOutcome, Window, file,
};
use assay_study::{RunOptions, Study, StudyError, run};
use assay_testkit::{skip, turn};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const DESIGN: &str = r#"
scenario = "scenario.toml"
observe = ["processes", "host"]
design = { blocks = 1, window = "1500ms", warm_up = { cap = "0s" }, repeats_max = 0 }
"#;

/// Two more fake servers beside the first one, and faults.
fn beside(faults: &str) -> String {
    let program = example("fake_server").display().to_string();
    format!(
        r#"
[[process]]
name = "helper"
count = 2
command = "{program} --port {{port}}"
ready_url = "http://127.0.0.1:{{port}}/ready"
prepare = ["sh", "-c", "echo prepared"]
{faults}
"#
    )
}

fn trial_of(fixture: &Fixture) -> Trial {
    fixture.run(false, |_, _| ()).0.expect("a result");
    let stored = fixture.load();
    assert_eq!(fixture.left_over(), Vec::<String>::new());
    stored.trials.last().expect("a trial").trial.clone()
}

fn window_of(trial: &Trial) -> &Window {
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    let [window] = trial.windows.as_slice() else { panic!("{:?}", trial.windows) };
    window
}

/// Why the window does not count, but for a generator that got too little CPU time: a busy machine may do that at any time, faults
/// or none.
fn left_out(window: &Window) -> Vec<&Disturbance> {
    window.disturbances.iter().filter(|disturbance| disturbance.kind != Check::GeneratorLag).collect()
}

fn second_s(window: &Window, at_ns: Option<u64>) -> f64 {
    (at_ns.expect("it was done") as f64 - window.start_monotonic_ns as f64) / 1e9
}

/// Between what was asked for and what a loaded machine may add.
#[track_caller]
fn is_near(value_s: f64, wanted_s: f64) {
    assert!((wanted_s - 0.1..wanted_s + 1.0).contains(&value_s), "{value_s} s, wanted {wanted_s} s");
}

#[test]
fn a_process_that_is_killed_is_started_again_and_its_window_counts() {
    let kill =
        "[[fault]]\nrole = \"helper\"\ninstance = 2\nat = \"300ms\"\nsignal = \"KILL\"\nrestart = true\n";
    let fixture = Fixture::new(DESIGN, &beside(kill));
    let trial = trial_of(&fixture);
    let window = window_of(&trial);
    assert!(left_out(window).is_empty() && window.errors == 0, "{:?}", window.disturbances);
    assert!(trial.audit.as_ref().is_some_and(|audit| audit.passed));
    let [FaultRecord { role, pid, action, ended, ready_after_s, new_pid, failed, .. }] =
        window.faults.as_slice()
    else {
        panic!("{:?}", window.faults)
    };
    assert_eq!((role.as_str(), action, failed), ("helper-2", &FaultAction::Kill, &None));
    assert_eq!(*ended, ["was ended by signal 9"]);
    assert!(pid.is_some() && new_pid.is_some() && pid != new_pid);
    assert!(ready_after_s.is_some_and(|s| 0.0 < s && s < 60.0));
    is_near(second_s(window, window.faults[0].done_monotonic_ns), 0.3);
    let check = window.checks.iter().find(|check| check.check == Check::Fault).expect("a check of the fault");
    assert!(check.passed == Some(true) && check.evidence.contains("helper-2"), "{check:?}");
    let log = fixture.out().join("trials/01-default/helper-2.log");
    let log = std::fs::read_to_string(log).expect("its log");
    assert_eq!(
        (log.matches("prepared").count(), log.matches("fake server on port").count()),
        (1, 2),
        "{log}"
    );
    // Both starts of the role are counted, and memory of what there is at the end.
    for id in ["process_cpu_ms_per_request/helper", "process_pss_bytes/helper", "all_pss_bytes"] {
        assert!(window.metrics.contains_key(id), "{id}: {:?}", window.problems);
    }
}

#[test]
fn a_server_that_is_killed_fails_requests_which_mark_the_window_and_leave_nothing_out() {
    let kill = "[[fault]]\nrole = \"server\"\nat = \"300ms\"\nsignal = \"KILL\"\nrestart = true\n";
    let design =
        DESIGN.replace("[\"processes\", \"host\"]", "[\"memory\", \"time\", \"processes\", \"host\"]");
    let fixture = Fixture::new(&design, kill);
    let trial = trial_of(&fixture);
    let window = window_of(&trial);
    assert!(0 < window.errors && 0 < window.completed, "{} {}", window.errors, window.completed);
    assert_eq!(left_out(window), Vec::<&Disturbance>::new());
    let marks: Vec<Check> = window.marks().map(|mark| mark.check).collect();
    assert!(marks.contains(&Check::Restart), "{marks:?}");
    assert!(
        trial.audit.as_ref().is_some_and(|audit| audit.passed),
        "it is asked when the server is ready again"
    );
    assert!(window.metrics.contains_key("rss_bytes"), "that of the new process");
    assert!(window.metrics.contains_key("cpu_ms_per_request"), "{:?}", window.problems);
    let excluded: Vec<&str> = trial.excluded_observers.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(excluded, ["time"], "threads of two processes are not one account");
}

#[test]
fn one_that_stands_still_goes_on_and_answers_late() {
    let stop = "[[fault]]\nrole = \"server\"\nat = \"200ms\"\nsignal = \"STOP\"\nfor = \"600ms\"\n";
    let fixture = Fixture::new(DESIGN, stop);
    let trial = trial_of(&fixture);
    let window = window_of(&trial);
    let fault = &window.faults[0];
    assert_eq!((fault.action.clone(), &fault.failed), (FaultAction::Stop { for_s: 0.6 }, &None));
    let (done_ns, over_ns) = (fault.done_monotonic_ns.expect("done"), fault.over_monotonic_ns.expect("over"));
    is_near((over_ns - done_ns) as f64 / 1e9, 0.6);
    let max_ms = window.response_ms.max.expect("requests");
    assert!(500.0 < max_ms, "a request waited for {max_ms} ms");
    assert!(left_out(window).is_empty() && 0 < window.completed, "{:?}", window.disturbances);
}

#[test]
fn one_that_is_asked_to_end_and_not_started_again_is_missing_and_no_mistake() {
    let term = "[[fault]]\nrole = \"helper\"\nat = \"random\"\nsignal = \"TERM\"\n";
    let fixture = Fixture::new(DESIGN, &beside(term));
    let trial = trial_of(&fixture);
    let window = window_of(&trial);
    let fault = &window.faults[0];
    assert_eq!((fault.ready_after_s, fault.new_pid, fault.failed.clone()), (None, None, None));
    assert_eq!(fault.ended, ["was ended by signal 15"]);
    assert!(fault.role.starts_with("helper-") && (0.0..1.5).contains(&fault.planned_s), "{fault:?}");
    assert_eq!(left_out(window), Vec::<&Disturbance>::new());
    assert!(trial.problems.is_empty(), "{:?}", trial.problems);
}

#[test]
fn in_the_resident_design_each_window_has_its_faults_which_the_seed_draws() {
    let design = r#"
scenario = "scenario.toml"
observe = ["host"]
design = { kind = "resident", blocks = 3, window = "800ms", warm_up = { cap = "0s" }, repeats_max = 0 }
[[factor]]
name = "n"
level = [{ name = "a" }, { name = "b" }]
"#;
    let kill = "[[fault]]\nrole = \"helper\"\nsignal = \"KILL\"\nrestart = true\n";
    let fixture = Fixture::new(design, &beside(kill));
    trial_of(&fixture);
    let drawn = |name: &str| -> Vec<(String, f64)> {
        let stored = fixture.load();
        let trial = stored.trials.iter().find(|t| t.trial.variant == name).expect("a trial");
        let faults = trial.trial.windows.iter().flat_map(|window| &window.faults);
        faults.inspect(|f| assert_eq!(f.failed, None)).map(|f| (f.role.clone(), f.planned_s)).collect()
    };
    assert_eq!(drawn("a").len(), 3);
    assert_eq!(drawn("a"), drawn("b"), "the same for all variants");
    assert!(drawn("a").windows(2).any(|pair| pair[0].1 != pair[1].1));
}

#[test]
fn a_flag_of_a_program_that_is_not_a_jvm_is_a_fault_that_failed() {
    let flags = "[[fault]]\nrole = \"server\"\nat = \"100ms\"\nflags = { SoftMaxHeapSize = \"67108864\" }\n";
    let fixture = Fixture::new(DESIGN, flags);
    let trial = trial_of(&fixture);
    let window = window_of(&trial);
    let why = window.faults[0].failed.as_deref().unwrap_or_default();
    assert!(why.contains("is not a HotSpot JVM"), "{:?}", window.faults);
    assert!(!window.counts());
}

#[test]
fn a_fault_that_cannot_be_done_leaves_its_window_out() {
    let twice = "[[fault]]\nrole = \"helper\"\ninstance = 1\nat = \"200ms\"\nsignal = \"TERM\"\n";
    let fixture = Fixture::new(DESIGN, &beside(&format!("{twice}{}", twice.replace("200ms", "900ms"))));
    let trial = trial_of(&fixture);
    let window = window_of(&trial);
    // A busy machine may have disturbed it as well.
    let is_told = window.disturbances.iter().any(|disturbance| disturbance.kind == Check::Fault);
    assert!(!window.counts() && is_told, "{:?}", window.disturbances);
    assert!(
        window.faults[1].failed.as_ref().is_some_and(|why| why.contains("helper-1 was ended by signal 15"))
    );
}

/// The process that a told fault is of.
fn pid_in(detail: &str) -> u32 {
    let rest = detail.split_once("(PID ").expect("its PID").1;
    rest.split(')').next().and_then(|pid| pid.parse().ok()).expect("a number")
}

fn stands_still(pid: u32) -> bool {
    assay_linux::ProcRoot::default().read_process_stat(pid).is_ok_and(|stat| stat.state == 'T')
}

#[test]
fn ctrl_c_while_one_stands_still_leaves_nothing_of_it() {
    let stop = "[[fault]]\nrole = \"helper\"\ninstance = 1\nat = \"0s\"\nsignal = \"STOP\"\nfor = \"60s\"\n";
    let fixture = Fixture::new(&DESIGN.replace("1500ms", "60s"), &beside(stop));
    let held = std::cell::Cell::new(None);
    let begun = Instant::now();
    let (result, _) = fixture.run(false, |kind, stop| {
        if let RunEventKind::FaultBegan { detail, .. } = kind {
            let pid = pid_in(detail);
            // The signal is sent; it takes effect when the process is scheduled.
            while !stands_still(pid) {
                assert!(begun.elapsed() < Duration::from_secs(60), "{detail}");
                std::thread::sleep(Duration::from_millis(2));
            }
            held.set(Some(pid));
            stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(result, Err(StudyError::Interrupted { .. })), "{result:?}");
    assert!(begun.elapsed() < Duration::from_secs(50), "nobody waits for the end of the fault");
    let held = held.get().expect("one stood still");
    assert!(!Path::new(&format!("/proc/{held}")).exists(), "{held}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

/// Groups that runs of this process, or of another one, made and left.
pub fn groups_of(pid: u32) -> Vec<PathBuf> {
    let beginning = format!("assay-{pid}-");
    let below = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let deep = below("/sys/fs/cgroup".into()).flat_map(|at| std::iter::once(at.clone()).chain(below(at)));
    let deep = deep.flat_map(|at| std::iter::once(at.clone()).chain(below(at)));
    let is_own =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&beginning));
    let mut found: Vec<PathBuf> = deep.filter(is_own).collect();
    found.sort();
    found.dedup();
    found
}

/// What a group says of its CPU limit, in either version.
fn cpu_limit(group: &Path) -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok().map(|text| text.trim().to_owned());
    read("cpu.cfs_quota_us").or_else(|| read("cpu.max"))
}

fn cpu_limits(pid: u32) -> Vec<String> {
    groups_of(pid).iter().filter_map(|group| cpu_limit(group)).collect()
}

const LIMIT: &str = "[[fault]]\nrole = \"server\"\nat = \"200ms\"\nfor = \"500ms\"\nlimit = { cpus = 0.05, memory = \"512m\" }\n";

/// Whether this machine lets one be limited.
pub fn may_limit() -> bool {
    rustix::process::geteuid().is_root()
        && Fixture::new(DESIGN, LIMIT).prepare().is_ok_and(|p| p.plan().skipped.is_empty())
}

#[test]
fn a_limit_holds_for_its_time_and_is_taken_back() {
    if !may_limit() {
        skip!("control groups are made by root, where the kernel has them");
    }
    let work = "environment = { FAKE_WORK_US = \"2000\" }\n";
    let fixture = Fixture::new(DESIGN, &format!("{work}{LIMIT}"));
    let refused = fixture.run(false, |_, _| ()).0.expect_err("without leave").to_string();
    assert!(
        refused.contains("control group of server") && refused.contains("--allow-host-changes"),
        "{refused}"
    );

    let (own, mut seen) = (std::process::id(), Vec::new());
    let trial = run_limited(&fixture, |event| match event {
        RunEventKind::WindowStarted { .. }
        | RunEventKind::FaultBegan { .. }
        | RunEventKind::FaultEnded { .. } => {
            seen.push(cpu_limits(own));
        }
        _ => {}
    });
    let is_limited = |limits: &Vec<String>| limits.iter().any(|of| of == "5000" || of == "5000 100000");
    assert!(seen.iter().all(|limits| !limits.is_empty()), "the group is there from the start: {seen:?}");
    assert_eq!(seen.iter().map(is_limited).collect::<Vec<_>>(), [false, true, false], "{seen:?}");
    let window = window_of(&trial);
    let fault = &window.faults[0];
    assert_eq!((fault.role.as_str(), fault.pid, &fault.failed), (file::SERVER, None, &None));
    is_near((fault.over_monotonic_ns.unwrap() - fault.done_monotonic_ns.unwrap()) as f64 / 1e9, 0.5);
    assert_eq!(left_out(window), Vec::<&Disturbance>::new());
    assert!(trial.treatments.iter().all(|of| of.undone), "{:?}", trial.treatments);
}

/// Runs a study that may change the machine, and tells what happens. One at a time, as for users.
fn run_limited(fixture: &Fixture, mut on_event: impl FnMut(&RunEventKind)) -> Trial {
    let _machine = turn("settings-of-the-machine");
    let options = RunOptions { allow_host_changes: true, ..fixture.options() };
    let prepared = fixture.prepare().expect("a plan");
    run(&prepared, &options, &AtomicBool::new(false), &mut |event| on_event(&event.kind)).expect("a result");
    assert_eq!(groups_of(std::process::id()), Vec::<PathBuf>::new());
    fixture.load().trials[0].trial.clone()
}

/// A shell that needs 64 MiB and more, once `wait` is over; it is ready when `{folder}/ready` is there.
fn greedy(wait: &str, ready_first: &str, ready_last: &str, limit: &str) -> String {
    format!(
        r#"
[[process]]
name = "greedy"
command = ["sh", "-c", "{ready_first} {wait} x=x; i=0; while [ $i -lt 26 ]; do x=$x$x; i=$((i+1)); done; {ready_last} while :; do sleep 1; done"]
ready_command = ["test", "-e", "{{folder}}/ready"]
[[fault]]
role = "greedy"
at = "200ms"
for = "3s"
limit = {{ memory = "{limit}" }}
"#
    )
}

#[test]
fn a_process_that_comes_to_need_more_memory_than_its_limit_is_said_to_be_ended_by_the_oom_killer() {
    if !may_limit() {
        skip!("control groups are made by root, where the kernel has them");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let begun = folder.path().join("begun");
    let wait = format!("while [ ! -e {} ]; do sleep 0.02; done;", begun.display());
    let process = greedy(&wait, ": > {folder}/ready;", "", "32m");
    let fixture = Fixture::new(&DESIGN.replace("1500ms", "4s"), &process);
    let trial = run_limited(&fixture, |event| {
        if matches!(event, RunEventKind::FaultBegan { .. }) {
            std::fs::write(&begun, "").expect("written");
        }
    });
    let window = window_of(&trial);
    let fault = &window.faults[0];
    assert_eq!((fault.oom_kills, &fault.failed), (Some(1), &None), "{fault:?}");
    assert_eq!(fault.ended, ["greedy was ended by signal 9"]);
    assert_eq!(left_out(window), Vec::<&Disturbance>::new());
    let check = window.checks.iter().find(|check| check.check == Check::Fault).expect("a check of the fault");
    let told = "greedy was ended by signal 9; the kernel's OOM killer ended 1 process at the limit of memory";
    assert!(check.evidence.contains(told), "{}", check.evidence);
    let asked: Vec<&str> = trial.treatments.iter().map(|of| of.requested.as_str()).collect();
    assert_eq!(asked, ["limit of 32 MiB of memory for 3 s"]);
}

#[test]
fn a_limit_below_what_is_held_ends_processes_or_cannot_be_set_and_both_are_told() {
    if !may_limit() {
        skip!("control groups are made by root, where the kernel has them");
    }
    let process = greedy("", "", ": > {folder}/ready;", "8m");
    let fixture = Fixture::new(&DESIGN.replace("1500ms", "4s"), &process);
    let trial = run_limited(&fixture, |_| ());
    let window = window_of(&trial);
    let fault = &window.faults[0];
    match &fault.failed {
        // Version 1.
        Some(why) => {
            assert!(why.contains("memory.limit_in_bytes") && why.contains("hold more memory"), "{why}");
            assert!(!window.counts() && fault.ended.is_empty(), "{fault:?}");
        }
        None => assert!(fault.oom_kills.is_some_and(|kills| 0 < kills), "{fault:?}"),
    }
}

/// The runner in a process of its own.
fn start(fixture: &Fixture, out: &str, runtime: &Path) -> Child {
    let mut command = Command::new(example("run_study"));
    command.arg(&fixture.study).arg(fixture.folder.path().join(out)).arg("--allow-host-changes");
    command.env("XDG_RUNTIME_DIR", runtime).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the runner starts")
}

#[test]
fn ctrl_c_and_kill_9_while_a_limit_holds_leave_no_limit_and_no_group() {
    if !may_limit() {
        skip!("control groups are made by root, where the kernel has them");
    }
    let _machine = turn("settings-of-the-machine");
    let long = LIMIT.replace("500ms", "50s");
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let fixture = Fixture::new(&DESIGN.replace("1500ms", "60s"), &long);
        let runtime = tempfile::tempdir().expect("a folder");
        let mut child = start(&fixture, "out", runtime.path());
        let (pid, begun) = (child.id(), Instant::now());
        while !cpu_limits(pid).iter().any(|of| of.starts_with("5000")) {
            let ended = child.try_wait().expect("a child");
            let is_waiting = ended.is_none() && begun.elapsed() < Duration::from_secs(120);
            assert!(is_waiting, "nothing was limited; ended: {ended:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let number = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).expect("a process");
        rustix::process::kill_process(number, signal).expect("it runs");
        child.wait().expect("it ends");
        if signal == rustix::process::Signal::KILL {
            assert!(!groups_of(pid).is_empty(), "its group is still there");
            // Any start takes back what a killed one has left.
            let next = Fixture::new(&DESIGN.replace("1500ms", "300ms"), "");
            assert!(start(&next, "out", runtime.path()).wait().expect("it ends").success());
        }
        assert_eq!(groups_of(pid), Vec::<PathBuf>::new(), "{signal:?}");
        assert_eq!(fixture.left_over(), Vec::<String>::new(), "{signal:?}");
    }
}

/// One wrong fault each, and what is said of it.
const MISTAKES: [(&str, &str); 17] = [
    ("role = \"halper\"\nsignal = \"KILL\"", "there is no role `halper`; did you mean `helper`?"),
    ("role = \"cache\"\nsignal = \"KILL\"", "there is no role `cache`; known: helper, server"),
    ("role = \"helper\"\nsignal = \"KIL\"", "`fault.signal`: unknown word `KIL`; did you mean `KILL`?"),
    ("role = \"helper\"\nsignal = \"HUP\"", "`fault.signal`: unknown word `HUP`; known: "),
    ("role = \"helper\"", "a fault needs a `signal` (\"KILL\", \"TERM\", \"STOP\"), a `limit` or `flags`"),
    ("role = \"helper\"\nsignal = \"STOP\"", "`for` says how long it is stopped or limited"),
    ("role = \"helper\"\nsignal = \"STOP\"\nfor = \"0s\"", "`for` says how long it is stopped or limited"),
    ("role = \"helper\"\nsignal = \"KILL\"\nfor = \"1s\"", "leave `for` out"),
    ("role = \"helper\"\nsignal = \"STOP\"\nfor = \"1s\"\nrestart = true", "leave `restart` out"),
    ("role = \"helper\"\nsignal = \"KILL\"\nlimit = { cpus = 0.1 }", "a `signal` or a `limit`, not both"),
    ("role = \"helper\"\nfor = \"1s\"\nlimit = {}", "a limit is of `cpus` or `memory`, or both"),
    ("role = \"helper\"\ninstance = 3\nsignal = \"KILL\"", "there is no `helper` 3: its `count` is 2"),
    (
        "role = \"server\"\ninstance = 1\nsignal = \"KILL\"\nrestart = true",
        "there is one `server`: leave `instance` out",
    ),
    (
        "role = \"helper\"\nat = \"1500ms\"\nsignal = \"KILL\"",
        "a fault at 1.5 s does not lie within the window, which has 1.5 s",
    ),
    (
        "role = \"helper\"\nat = \"1s\"\nsignal = \"STOP\"\nfor = \"900ms\"",
        "a fault at 1 s for 0.9 s does not end within the window",
    ),
    ("role = \"helper\"\nat = \"soon\"\nsignal = \"KILL\"", "or \"random\""),
    ("role = \"server\"\nsignal = \"KILL\"", "audit of the server is read after the window: restart = true"),
];

fn said_of(head: &str, tail: &str) -> String {
    let fixture = Fixture::new(head, tail);
    match Study::read(&fixture.study) {
        Ok(_) => "no mistake".to_owned(),
        Err(found) => found.iter().map(|of| format!("{of}\n")).collect(),
    }
}

#[test]
fn mistakes_in_a_fault_are_told_with_its_line_and_what_would_be_right() {
    for (fault, want) in MISTAKES {
        let said = said_of(DESIGN, &beside(&format!("[[fault]]\n{fault}\n")));
        assert!(said.contains(want) && said.lines().count() == 1, "{fault}: {said}");
        assert!(said.contains("study.toml:"), "{said}");
    }
    let short = format!("{DESIGN}quick = {{ design = {{ window = \"500ms\" }} }}\n");
    let said = said_of(&short, &beside("[[fault]]\nrole = \"helper\"\nat = \"1s\"\nsignal = \"KILL\"\n"));
    assert!(said.contains("within the window of the short form, which has 0.5 s"), "{said}");
    let resident = DESIGN.replace("blocks = 1", "kind = \"resident\", blocks = 3");
    let said = said_of(&resident, &beside("[[fault]]\nrole = \"helper\"\nsignal = \"TERM\"\n"));
    assert!(said.contains("further windows follow, which need the process: restart = true"), "{said}");
    let capacity = format!("{DESIGN}capacity = {{ budget = \"1m\" }}\n");
    let said = said_of(
        &capacity.replace("observe = [\"processes\", \"host\"]", ""),
        &beside("[[fault]]\nrole = \"helper\"\nsignal = \"KILL\"\n"),
    );
    assert!(said.contains("faults happen in windows of one load"), "{said}");
    let two = "[[fault]]\nrole = \"helper\"\nfor = \"1s\"\nlimit = { cpus = 0.1 }\n";
    let said = said_of(DESIGN, &beside(&format!("{two}{two}")));
    assert!(said.contains("`helper` has another fault with a limit"), "{said}");
    let level =
        "[[factor]]\nname = \"n\"\nlevel = [{ name = \"a\" }, { name = \"b\", limits = { cpus = 1.0 } }]\n";
    let said = said_of(&format!("{DESIGN}{level}"), &LIMIT.replace("500ms", "1s"));
    assert!(said.contains("levels with `limits` for the server must limit what the fault limits"), "{said}");
}
