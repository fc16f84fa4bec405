//! Before the first trial: clean copies of commits and folders are made and built, unless they were before.

use super::state::{Failure, Run, reasons};
use crate::check::combinations::BUILD;
use crate::error::StudyError;
use crate::plan::builds::{Build, Origin};
use crate::plan::variant_launch::{VariantLaunch, builds_of};
use assay_launch::{Engine, Launch, POLL_INTERVAL, Placeholders, Signal, Start, StopSignal, try_lock_until};
use assay_model::RunEventKind;
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// File in the folder of a build: held while it is made, and as old as its last use.
const LOCK: &str = "lock";
/// How long what a build leaves running, such as the daemon of a build tool, may take to stop.
const STOP: Duration = Duration::from_secs(5);
/// Options for JVMs, which are kept from servers, and may hold the proxy of a build.
const OPTIONS_OF_JVMS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"];

/// A copy that no run has used for so long is removed by the next run with a build.
const UNUSED_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Makes the copies of all variants. Variants whose build fails are given up; the run ends where nothing is left to compare.
pub(super) fn make_all(run: &mut Run<'_>, launches: &[VariantLaunch]) -> Result<(), Failure> {
    for (number, (build, variants)) in (1..).zip(builds_of(launches)) {
        let (what, begun) = (build.describe(), Instant::now());
        let of: Vec<String> = variants.iter().map(|name| (*name).to_owned()).collect();
        run.emit(RunEventKind::BuildStarted { build: what.clone(), variants: of.clone() })?;
        let made = make(run, build);
        let kept = run.dir.keep_build_log(number, variants[0], &build.log())?;
        let (ok, detail) = match made {
            Ok(true) => (true, "it was built before".to_owned()),
            Ok(false) => (true, format!("took {:.1} s", begun.elapsed().as_secs_f64())),
            Err(Failure::Trial(why)) => {
                let log =
                    kept.map_or_else(String::new, |log| format!("\nall of its output: {}", log.display()));
                let why = format!("it could not be built: {why}{log}");
                of.into_iter().for_each(|variant| drop(run.given_up.insert(variant, why.clone())));
                (false, why)
            }
            Err(failure) => return Err(failure),
        };
        run.emit(RunEventKind::BuildEnded { build: what, ok, detail })?;
    }
    let all = builds_of(launches).first().and_then(|(build, _)| build.folder.parent()).map(Path::to_owned);
    all.iter().for_each(|all| remove_unused(all, SystemTime::now()));
    let left = launches.iter().filter(|launch| !run.given_up.contains_key(&launch.variant.name)).count();
    if left < 2.min(launches.len()) {
        let (dir, reason) = (run.dir.path().to_owned(), reasons(&run.given_up));
        return Err(Failure::Run(StudyError::NoTrial { dir, reason }));
    }
    Ok(())
}

/// Makes one, and says whether it was made before. Others that want the same one wait.
fn make(run: &Run<'_>, build: &Build) -> Result<bool, Failure> {
    let failed = |e: io::Error| Failure::Trial(e.to_string());
    let _lock = lock(run, build)?;
    if build.is_made() {
        return Ok(true);
    }
    clear(&build.folder).map_err(failed)?;
    let made = copy(run, build).and_then(|()| execute(run, build));
    if made.is_err() {
        // What it printed stays.
        let _ = std::fs::remove_dir_all(build.folder.join(Build::COPIES));
    }
    made?;
    let note = serde_json::to_string_pretty(&build.planned).map_err(|e| Failure::Trial(e.to_string()))?;
    let written =
        assay_text::file::write_whole(&build.note(), |out| io::Write::write_all(out, note.as_bytes()));
    written.map_err(failed)?;
    Ok(false)
}

fn lock(run: &Run<'_>, build: &Build) -> Result<File, Failure> {
    let path = build.folder.join(LOCK);
    let failed = |e: io::Error| Failure::Trial(format!("{}: {e}", path.display()));
    DirBuilder::new().recursive(true).mode(0o700).create(&build.folder).map_err(failed)?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let lock = lock.map_err(failed)?;
    while !try_lock_until(&lock, Instant::now() + POLL_INTERVAL) {
        run.check_stop()?;
    }
    // When it was used last.
    lock.set_modified(SystemTime::now()).map_err(failed)?;
    Ok(lock)
}

/// Removes what a build that was interrupted has left, or one that was made.
fn clear(folder: &Path) -> io::Result<()> {
    let absent = |e: io::Error| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) };
    std::fs::remove_file(folder.join(Build::NOTE)).or_else(absent)?;
    std::fs::remove_file(folder.join(Build::LOG)).or_else(absent)?;
    std::fs::remove_dir_all(folder.join(Build::COPIES)).or_else(absent)
}

/// Removes copies that were not used for long. Whoever waits for the lock of one makes it anew. What cannot be removed stays.
fn remove_unused(all: &Path, now: SystemTime) {
    for folder in std::fs::read_dir(all).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Ok(lock) = OpenOptions::new().write(true).open(folder.join(LOCK)) else { continue };
        let used = lock.metadata().and_then(|of| of.modified());
        let is_old = used.is_ok_and(|used| now.duration_since(used).is_ok_and(|since| UNUSED_MAX < since));
        if is_old && try_lock_until(&lock, Instant::now()) {
            let _ = clear(&folder);
        }
    }
}

fn copy(run: &Run<'_>, build: &Build) -> Result<(), Failure> {
    let failed = |e: io::Error| match e.kind() {
        io::ErrorKind::Interrupted => Failure::Interrupted,
        _ => Failure::Trial(format!("it cannot be copied: {e}")),
    };
    run.check_stop()?;
    DirBuilder::new().recursive(true).mode(0o700).create(&build.copy).map_err(failed)?;
    match &build.origin {
        Origin::Commit(repository, commit) => {
            repository.copy_to(&commit.id, &build.copy).map_err(Failure::Trial)?;
        }
        Origin::Files(files) => {
            files.copy_to(&build.copy, &|| run.is_stopped()).map_err(failed)?;
            if files.hash_of_copy(&build.copy).map_err(failed)? != build.content {
                let what = format!("files in {} changed while they were copied", build.planned.source);
                return Err(Failure::Trial(what));
            }
        }
    }
    if !build.workdir.is_dir() {
        let below = build.workdir.strip_prefix(&build.copy).unwrap_or(Path::new(""));
        return Err(Failure::Trial(format!("it has no folder {}", below.display())));
    }
    Ok(())
}

/// Runs the command in the copy until it ends, its time is over, or the user stops the run. Nothing of it is left running.
fn execute(run: &Run<'_>, build: &Build) -> Result<(), Failure> {
    if build.planned.command.is_empty() {
        return Ok(());
    }
    let mut names = Placeholders::default();
    names.set_path(BUILD, &build.workdir);
    let argv = build.planned.command.iter().map(|word| names.fill(word)).collect();
    let kept = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    let env: BTreeMap<String, String> = OPTIONS_OF_JVMS.iter().filter_map(kept).collect();
    let start = Start {
        launch: Launch { argv, env, cwd: build.workdir.clone() },
        log: build.log(),
        files: build.folder.clone(),
        run_as: None,
        groups: Vec::new(),
    };
    let (engine, begun) = (&run.engine, Instant::now());
    let mut process = engine.start(&start).map_err(|e| Failure::Trial(e.to_string()))?;
    let ended = loop {
        // Dropped, it ends with all that it started.
        run.check_stop()?;
        if let Some(ended) = engine.ended(&mut process) {
            break ended;
        }
        if build.timeout <= begun.elapsed() {
            let seconds = build.timeout.as_secs_f64();
            let words = engine.last_words(&mut process);
            let what =
                format!("its command did not end within {seconds} s (build_timeout_s), and was stopped");
            return Err(Failure::Trial(what + &words));
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    let words = engine.last_words(&mut process);
    engine.signal(&mut process, Signal::Stop(StopSignal::Term));
    engine.finish(&mut process, STOP);
    match ended.code {
        Some(0) => Ok(()),
        _ => Err(Failure::Trial(format!("its command {}{words}", ended.how))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_was_not_used_for_long_is_removed_unless_a_run_holds_it() {
        let all = tempfile::tempdir().expect("a folder");
        let files = |name: &str| {
            let folder = all.path().join(name);
            std::fs::create_dir_all(folder.join(Build::COPIES).join("shop")).expect("a folder");
            for file in [LOCK, Build::NOTE, Build::LOG] {
                std::fs::write(folder.join(file), "").expect("a file");
            }
            folder
        };
        let (unused, held) = (files("unused"), files("held"));
        let lock = File::open(held.join(LOCK)).expect("a file");
        assert!(try_lock_until(&lock, Instant::now()), "nobody else has it");
        let day = Duration::from_secs(24 * 60 * 60);
        let names = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
        remove_unused(all.path(), SystemTime::now() + 29 * day);
        assert_eq!([&unused, &held].map(|folder| names(folder)), [4, 4], "29 days");
        remove_unused(all.path(), SystemTime::now() + 31 * day);
        assert_eq!([&unused, &held].map(|folder| names(folder)), [1, 4], "its lock stays");
    }
}
