//! Runs test programs, stage by stage: see [`crate::rules::Stage`].

use crate::libtest::{Outcome, output_of, read};
use crate::program::Program;
use crate::rules::Rules;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a program may take: four times the longest of them on a machine with two slow processors. One that waits for ever would hold up
/// all that follows.
const TIME_MAX: Duration = Duration::from_secs(1_200);
/// As [`TIME_MAX`], for the long tests of a program.
const TIME_MAX_LONG: Duration = Duration::from_secs(3 * 3_600);
/// Exit codes of timeout(1): its time was over; it had to kill.
const OVER_TIME: [i32; 2] = [124, 137];

/// A test after at most two attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the last attempt ended.
    pub outcome: Outcome,
    /// The logs of the attempts, where the first failed.
    pub logs: Vec<PathBuf>,
}

/// All tests, by `PROGRAM::TEST`, and how long each program took.
#[derive(Debug, Default)]
pub struct Results {
    /// The tests.
    pub tests: BTreeMap<String, Ended>,
    /// Wall time of the programs.
    pub took: Vec<(String, Duration)>,
}

/// What holds for all programs of a run.
#[derive(Clone, Copy)]
struct Run<'a> {
    rules: &'a Rules,
    /// Whether long tests run, too.
    long: bool,
    /// Where logs of first attempts are kept.
    kept: &'a Path,
}

/// Runs all programs.
///
/// # Errors
/// A program cannot be started, or a log cannot be written.
pub fn run_all(programs: &[Program], rules: &Rules, long: bool, kept: &Path) -> Result<Results, String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", kept.display());
    if kept.exists() {
        fs::remove_dir_all(kept).map_err(cannot)?;
    }
    fs::create_dir_all(kept).map_err(cannot)?;
    let results = Mutex::new(Results::default());
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let timed = |program: &Program, options: &[&str]| -> Result<(), String> {
        let begun = Instant::now();
        let tests = run_one(program, options, &Run { rules, long, kept })?;
        let took = begun.elapsed();
        eprintln!("{:>7.1} s  {}", took.as_secs_f64(), program.name);
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        results.took.push((program.name.clone(), took));
        results.tests.extend(tests);
        Ok(())
    };
    let mut stages: [Vec<&Program>; 4] = Default::default();
    for program in programs {
        stages[rules.stage(&program.name) as usize].push(program);
    }
    for stage in &mut stages {
        stage.sort_by_key(|program| rules.turn(&program.name));
    }
    let [together, waiting, few, alone] = stages;
    let (asleep, awake): (Vec<_>, Vec<_>) =
        together.into_iter().partition(|program| rules.sleeps(&program.name));
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| side_by_side(&asleep, 1, |program| timed(program, &[])));
        // One more than processors: many wait for a JVM.
        side_by_side(&awake, processors + 1, |program| timed(program, &[]))?;
        beside.join().unwrap_or(Err("a thread died".to_owned()))
    })?;
    for group in waiting.chunk_by(|one, next| rules.group(&one.name) == rules.group(&next.name)) {
        // Their tests wait, too, whatever the number of processors.
        side_by_side(group, processors + 1, |program| timed(program, &["--test-threads=8"]))?;
    }
    side_by_side(&few, processors, |program| timed(program, &[]))?;
    side_by_side(&alone, 1, |program| timed(program, &[]))?;
    results.into_inner().map_err(|_| "a thread died".to_owned())
}

/// Runs programs, up to `workers` of them at a time, in their order.
fn side_by_side<F>(programs: &[&Program], workers: usize, run: F) -> Result<(), String>
where
    F: Fn(&Program) -> Result<(), String> + Sync,
{
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
            run(program)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or(Err("a thread died".to_owned())))
    })
}

/// Runs a program.
fn run_one(program: &Program, options: &[&str], of: &Run<'_>) -> Result<BTreeMap<String, Ended>, String> {
    let mut arguments = [&["--show-output"], options].concat();
    if !program.only.is_empty() {
        arguments.push("--exact");
        arguments.extend(program.only.iter().map(String::as_str));
    }
    let mut ended = attempts(program, &arguments, of, TIME_MAX)?;
    let is_long = |one: &&Ended| matches!(&one.outcome, Outcome::Ignored(why) if why.starts_with("long"));
    if of.long && ended.values().any(|one| is_long(&one)) {
        let names: Vec<_> =
            ended.iter().filter(|(_, one)| is_long(one)).map(|(name, _)| name.clone()).collect();
        let mut arguments = vec!["--show-output", "--include-ignored", "--exact"];
        arguments.extend(names.iter().map(String::as_str));
        ended.extend(attempts(program, &arguments, of, TIME_MAX_LONG)?);
    }
    Ok(ended.into_iter().map(|(test, one)| (program.test(&test), one)).collect())
}

/// Runs some tests of a program, and once more those that failed, and those that must run and were skipped. A program that died counts as a
/// failed test `died`; one that did not end is not tried again.
fn attempts(
    program: &Program,
    arguments: &[&str],
    of: &Run<'_>,
    time_max: Duration,
) -> Result<BTreeMap<String, Ended>, String> {
    let Run { rules, kept, .. } = *of;
    let is_wanting = |test: &str, outcome: &Outcome| {
        *outcome == Outcome::Failed || rules.is_missed(&program.test(test), outcome)
    };
    let said = run(program, arguments, time_max)?;
    let first = read(&said.text);
    if first.is_whole {
        let ended = first.tests.into_iter().map(|(test, outcome)| {
            let log = output_of(&said.text, &test).unwrap_or(&said.text);
            let one = match outcome {
                outcome if is_wanting(&test, &outcome) => again(program, &test, log, kept, time_max)?,
                outcome => Ended { outcome, logs: Vec::new() },
            };
            Ok((test, one))
        });
        return ended.collect();
    }
    let mut logs = vec![keep(kept, program, "died", "first", &said.text)?];
    let (mut last, mut is_whole) = (first, false);
    if !said.is_over_time {
        let said = run(program, arguments, time_max)?;
        last = read(&said.text);
        is_whole = last.is_whole && !last.tests.values().any(|outcome| *outcome == Outcome::Failed);
        logs.push(keep(kept, program, "died", "second", &said.text)?);
    }
    let tests = last.tests.into_iter().map(|(test, outcome)| (test, Ended { outcome, logs: Vec::new() }));
    let mut ended: BTreeMap<_, _> = tests.collect();
    let outcome = if is_whole { Outcome::Passed } else { Outcome::Failed };
    ended.insert("died".to_owned(), Ended { outcome, logs });
    Ok(ended)
}

/// The second attempt at a test, alone.
fn again(program: &Program, test: &str, log: &str, kept: &Path, time_max: Duration) -> Result<Ended, String> {
    let first = keep(kept, program, test, "first", log)?;
    let said = run(program, &["--show-output", "--include-ignored", "--exact", test], time_max)?;
    let outcome = read(&said.text).tests.remove(test).unwrap_or(Outcome::Failed);
    let logs = vec![first, keep(kept, program, test, "second", &said.text)?];
    Ok(Ended { outcome, logs })
}

/// What a program printed, to its end or for as long as it may take.
struct Said {
    text: String,
    is_over_time: bool,
}

/// Runs a program.
fn run(program: &Program, arguments: &[&str], time_max: Duration) -> Result<Said, String> {
    let cannot = |error: std::io::Error| format!("{} cannot be run: {error}", program.name);
    // Files: what a program leaves running would hold its pipes open.
    let (mut stdout, mut stderr) =
        (tempfile::tempfile().map_err(cannot)?, tempfile::tempfile().map_err(cannot)?);
    let mut command = program.command(arguments, time_max);
    command.stdout(stdout.try_clone().map_err(cannot)?).stderr(stderr.try_clone().map_err(cannot)?);
    let status = command.status().map_err(cannot)?;
    let is_over_time = status.code().is_some_and(|code| OVER_TIME.contains(&code));
    let mut text = text_of(&mut stdout).map_err(cannot)?;
    if is_over_time {
        let seconds = time_max.as_secs();
        text.push_str(&format!("\n{} did not end within {seconds} s and was ended\n", program.name));
    }
    // Behind it: a line of it within the harness's would not be understood.
    text.push_str(&text_of(&mut stderr).map_err(cannot)?);
    Ok(Said { text, is_over_time })
}

/// What was written to a file, from its start.
fn text_of(file: &mut fs::File) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn keep(kept: &Path, program: &Program, test: &str, attempt: &str, log: &str) -> Result<PathBuf, String> {
    let name = format!("{}.{attempt}.log", program.test(test)).replace(['/', ' '], "-").replace("::", ".");
    let path = kept.join(name);
    fs::write(&path, log).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A program whose tests fail at their first attempt, always, or never.
    fn fake(folder: &Path, script: &str) -> Program {
        let path = folder.join("program");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("our file");
        Program {
            name: "fake/lib".to_owned(),
            executable: Some(path),
            folder: folder.to_owned(),
            only: Vec::new(),
        }
    }

    /// A run without long tests.
    fn short<'a>(rules: &'a Rules, kept: &'a Path) -> Run<'a> {
        Run { rules, long: false, kept }
    }

    const FAILS_ONCE: &str = "
        if [ -e seen ]; then result=ok; else result=FAILED; fi
        touch seen
        case \"$*\" in *always*) once=; always='test always ... FAILED' ;; *once*) once=\"test once ... $result\"; always= ;;
        *) once=\"test once ... $result\"; always='test always ... FAILED'; echo 'test good ... ok';
           echo 'test slow ... ignored, long: a minute' ;; esac
        case \"$*\" in *slow*) echo 'test slow ... ok'; once=; always= ;; esac
        echo \"$once\"; echo \"$always\"
        echo 'failures:'; echo; echo '---- once stdout ----'; echo 'not yet'; echo; echo 'failures:'
        echo 'test result: done'";

    #[test]
    fn what_failed_is_tried_once_more_and_both_logs_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = fake(folder.path(), FAILS_ONCE);
        let rules = Rules::default();
        let of = Run { long: true, ..short(&rules, folder.path()) };
        let tests = run_one(&program, &[], &of).expect("it runs");
        let one = |name: &str| &tests[&format!("fake/lib::{name}")];
        assert_eq!(one("good"), &Ended { outcome: Outcome::Passed, logs: Vec::new() });
        assert_eq!((&one("once").outcome, one("once").logs.len()), (&Outcome::Passed, 2));
        assert_eq!((&one("always").outcome, one("always").logs.len()), (&Outcome::Failed, 2));
        assert_eq!(one("slow").outcome, Outcome::Passed, "with --long");
        assert_eq!(fs::read_to_string(&one("once").logs[0]).expect("a log").trim(), "not yet");
    }

    #[test]
    fn what_must_run_and_was_skipped_is_tried_once_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let busy = "---- busy stdout ----'; echo 'skipped: the machine is busy'; echo; echo 'successes:";
        let script = format!(
            "echo 'test busy ... ok'; [ -e seen ] || {{ echo '{busy}'; }}; touch seen; echo 'test result: done'"
        );
        let program = fake(folder.path(), &script);
        let rules = Rules { must_run: vec!["fake/lib::busy".to_owned()], ..Rules::default() };
        let run = |rules| run_one(&program, &[], &short(rules, folder.path())).expect("it runs");
        let tests = run(&rules);
        let busy = &tests["fake/lib::busy"];
        assert_eq!((&busy.outcome, busy.logs.len()), (&Outcome::Passed, 2));
        fs::remove_file(folder.path().join("seen")).expect("our file");
        let others = run(&Rules::default());
        assert!(matches!(&others["fake/lib::busy"].outcome, Outcome::Skipped(_)), "{others:?}");
    }

    #[test]
    fn a_program_that_dies_twice_is_a_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = fake(folder.path(), "echo 'test good ... ok'; kill -9 $$");
        let tests = run_one(&program, &[], &short(&Rules::default(), folder.path())).expect("it runs");
        assert_eq!(tests["fake/lib::died"].outcome, Outcome::Failed);
    }

    #[test]
    fn a_program_that_does_not_end_is_ended_and_not_tried_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = fake(folder.path(), "echo 'test good ... ok'; exec sleep 60");
        let rules = Rules::default();
        let of = short(&rules, folder.path());
        let tests = attempts(&program, &[], &of, Duration::from_secs(1)).expect("it runs");
        assert_eq!((&tests["good"].outcome, &tests["died"].outcome), (&Outcome::Passed, &Outcome::Failed));
        let logs = &tests["died"].logs;
        assert!(
            logs.len() == 1
                && fs::read_to_string(&logs[0]).expect("a log").contains("did not end within 1 s")
        );
    }
}
