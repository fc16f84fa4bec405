//! A build is a level: commits and folders are copied, built once, and started in their copies. The repositories are made by the tests.

use crate::support::{SCENARIO, example, processes};
use assay_model::{RunEventKind, StudyRule};
use assay_results::load_run;
use assay_study::{Prepared, RunOptions, Study, StudyError, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A repository `shop` and a study beside it, in a folder that counts as a checkout, so that copies are kept in it.
struct Lab {
    folder: tempfile::TempDir,
}

/// A level that is built, and a command that only a built copy can be started by.
const BUILD: &str = "build = [\"sh\", \"-ec\", \"sh compile.sh; cat words\"]";

impl Lab {
    fn new() -> Lab {
        let lab = Lab { folder: tempfile::tempdir().expect("a folder") };
        fs::create_dir_all(lab.path("workloads")).expect("a folder");
        fs::create_dir_all(lab.path("shop")).expect("a folder");
        lab.git(&["init", "--quiet", "--initial-branch=main"]);
        lab.write("shop/.gitignore", "out\n");
        lab.write("shop/out/left-over", "of another build");
        lab.write("shop/compile.sh", "test ! -e out; mkdir out; cp server.sh out/server");
        lab.write("shop/server.sh", &format!("exec {} \"$@\"\n", example("fake_server").display()));
        lab
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    fn git(&self, words: &[&str]) -> String {
        let usual =
            ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com", "-c", "commit.gpgsign=false"];
        let output =
            Command::new("git").current_dir(self.path("shop")).args(usual).args(words).output().expect("git");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).expect("a text").trim().to_owned()
    }

    /// A commit with these words in a file; its short id.
    fn commit(&self, words: &str) -> String {
        self.write("shop/words", words);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", words]);
        self.git(&["rev-parse", "--short", "HEAD"])
    }

    fn study(&self, head: &str, levels: &str) -> PathBuf {
        let text = format!(
            r#"
schema = "assay.study/1"
name = "builds"
scenario = "scenario.toml"
directory = "shop"
observe = ["host"]
load = {{ kind = "closed", users = 2, think = "10ms" }}
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
design = {{ blocks = 1, window = "300ms", warm_up = {{ cap = "0s" }}, repeats_max = 0 }}
{head}
[server]
command = "sh out/server --port {{port}}"
ready_url = "http://127.0.0.1:{{port}}/ready"
ready_timeout_s = 300
stop_timeout_s = 0.5
{levels}
"#
        );
        self.write("scenario.toml", SCENARIO);
        self.write("study.toml", &text);
        self.path("study.toml")
    }

    fn prepare(&self, head: &str, levels: &str) -> Prepared {
        let checked = Study::read(&self.study(head, levels)).expect("a study without mistakes");
        checked.prepare(false).expect("what it needs is here")
    }

    /// Runs it to `out`; what became of the builds, and of the run.
    fn run(
        &self,
        prepared: &Prepared,
        out: &str,
        stop: &AtomicBool,
    ) -> (Vec<(bool, String)>, Result<(), StudyError>) {
        let options = RunOptions { out: Some(self.path(out)), ..RunOptions::default() };
        let mut builds = Vec::new();
        let ran = run(prepared, &options, stop, &mut |event| {
            if let RunEventKind::BuildEnded { ok, detail, .. } = &event.kind {
                builds.push((*ok, detail.clone()));
            }
        });
        (builds, ran.map(drop))
    }

    fn left_over(&self) -> Vec<String> {
        let folder = self.path("").to_string_lossy().into_owned();
        processes().filter(|(_, text)| text.contains(&folder)).map(|(_, text)| text).collect()
    }
}

fn names(prepared: &Prepared) -> Vec<String> {
    prepared.plan().variants.iter().map(|variant| variant.name.clone()).collect()
}

fn ids(prepared: &Prepared) -> Vec<String> {
    let builds = prepared.plan().variants.iter().map(|variant| variant.build.clone().expect("a build"));
    builds.map(|build| build.id).collect()
}

#[test]
fn each_commit_of_a_range_is_built_once_and_started_in_its_own_clean_copy() {
    let lab = Lab::new();
    let commits = [lab.commit("first"), lab.commit("second"), lab.commit("third")];
    lab.git(&["branch", "side", "HEAD~1"]);
    let factor = format!("[[factor]]\nname = \"commit\"\ncommits = \"{}..main\"", commits[0]);
    let prepared = lab.prepare(BUILD, &factor);
    assert_eq!(names(&prepared), commits);
    let plan = prepared.plan();
    assert!(plan.variants[1..].iter().all(|variant| variant.baseline.as_ref() == Some(&commits[0])));
    let build = plan.variants[1].build.clone().expect("a build");
    assert_eq!((build.subject.as_deref(), build.command.len()), (Some("second"), 3));
    assert!(prepared.builds().iter().all(|(_, _, is_made)| !is_made));
    assert!(!lab.path(".assay").exists(), "a plan makes nothing");

    let stop = AtomicBool::new(false);
    let (builds, ran) = lab.run(&prepared, "out", &stop);
    ran.expect("a run");
    assert_eq!(builds.len(), 3);
    assert!(builds.iter().all(|(ok, detail)| *ok && detail.starts_with("took ")), "{builds:?}");
    let stored = load_run(&lab.path("out")).expect("a run directory");
    assert_eq!(stored.trials.iter().filter(|trial| trial.trial.counts()).count(), 3);
    let log = fs::read_to_string(lab.path(&format!("out/builds/03-{}.log", commits[2]))).expect("a log");
    assert_eq!(log.trim(), "third");
    assert!(prepared.builds().iter().all(|(_, _, is_made)| *is_made));

    // Built before: by another name of the same commit, too.
    let levels = "[[factor]]\nname = \"build\"\nlevel = [{ name = \"old\", commit = \"side\" }, { name = \"new\", commit = \"main\" }]";
    let again = lab.prepare(BUILD, levels);
    let (builds, ran) = lab.run(&again, "again", &stop);
    ran.expect("a run");
    assert_eq!(builds, [(true, "it was built before".to_owned()), (true, "it was built before".to_owned())]);
    assert_eq!(lab.git(&["status", "--porcelain"]), "", "the work tree is as it was");
    assert_eq!(lab.left_over(), [""; 0]);
}

#[test]
fn a_variant_whose_build_fails_is_left_out_and_the_end_of_its_output_is_shown() {
    let lab = Lab::new();
    let first = lab.commit("first");
    lab.write("shop/compile.sh", "echo missing semicolon; exit 7");
    let broken = lab.commit("broken");
    let factor = format!("[[factor]]\nname = \"commit\"\ncommits = \"{first}..main\"");
    let stop = AtomicBool::new(false);
    let prepared = lab.prepare(BUILD, &factor);
    let (builds, ran) = lab.run(&prepared, "two", &stop);
    let error = ran.expect_err("nothing is left to compare").to_string();
    let log = lab.path(&format!("two/builds/02-{broken}.log"));
    for part in [
        "could not be built: its command ended with exit code 7",
        "missing semicolon",
        &log.display().to_string(),
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(builds.iter().map(|(ok, _)| *ok).collect::<Vec<_>>(), [true, false]);
    assert!(fs::read_dir(lab.path("two/trials")).expect("a folder").next().is_none(), "no trial began");

    lab.write("shop/compile.sh", "mkdir out; cp server.sh out/server");
    lab.commit("mended");
    let (builds, ran) = lab.run(&lab.prepare(BUILD, &factor), "three", &stop);
    ran.expect("two are left");
    assert_eq!(builds.iter().map(|(ok, _)| *ok).collect::<Vec<_>>(), [true, false, true]);
    let stored = load_run(&lab.path("three")).expect("a run directory");
    assert!(stored.trials.iter().all(|trial| trial.trial.variant != broken));
    assert_eq!(stored.trials.len(), 2);
}

#[test]
fn servers_of_the_resident_design_are_those_that_could_be_built() {
    let lab = Lab::new();
    let first = lab.commit("first");
    lab.write("shop/compile.sh", "exit 7");
    let broken = lab.commit("broken");
    lab.write("shop/compile.sh", "mkdir out; cp server.sh out/server");
    lab.commit("mended");
    let study = lab.study(BUILD, &format!("[[factor]]\nname = \"commit\"\ncommits = \"{first}..main\""));
    let text = fs::read_to_string(&study).expect("a study");
    fs::write(&study, text.replace("blocks = 1", "kind = \"resident\", blocks = 1")).expect("written");
    let prepared = Study::read(&study).expect("a study").prepare(false).expect("what it needs is here");
    let (_, ran) = lab.run(&prepared, "out", &AtomicBool::new(false));
    ran.expect("two are left");
    let trials = load_run(&lab.path("out")).expect("a run directory").trials;
    assert!(trials.len() == 2 && trials.iter().all(|trial| trial.trial.variant != broken), "{trials:#?}");
}

#[test]
fn a_build_that_hangs_is_stopped_with_all_that_it_started() {
    let lab = Lab::new();
    lab.commit("first");
    lab.write("shop/compile.sh", "echo waiting; setsid sleep 600 & sleep 600");
    let head = format!("{BUILD}\nbuild_timeout_s = 0.5");
    let (builds, ran) = lab.run(&lab.prepare(&head, ""), "out", &AtomicBool::new(false));
    let error = ran.expect_err("nothing was measured").to_string();
    assert!(error.contains("did not end within 0.5 s (build_timeout_s), and was stopped"), "{error}");
    assert!(!builds[0].0);
    assert_eq!(lab.left_over(), [""; 0]);
}

#[test]
fn who_stops_a_run_stops_its_build() {
    let lab = Lab::new();
    lab.commit("first");
    let started = lab.path("started");
    lab.write("shop/compile.sh", &format!("setsid sleep 600 & touch {}; sleep 600", started.display()));
    let prepared = lab.prepare(BUILD, "");
    let stop = AtomicBool::new(false);
    let (_, ran) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !started.exists() {
                std::thread::yield_now();
            }
            stop.store(true, Ordering::SeqCst);
        });
        lab.run(&prepared, "out", &stop)
    });
    assert!(matches!(ran, Err(StudyError::Interrupted { .. })), "{ran:?}");
    assert_eq!(lab.left_over(), [""; 0]);
    assert!(prepared.builds().iter().all(|(_, _, is_made)| !is_made));
}

#[test]
fn a_folder_is_copied_as_it_is_without_what_its_repository_ignores() {
    let lab = Lab::new();
    lab.commit("first");
    lab.write("shop/words", "not committed");
    let levels = "[[factor]]\nname = \"build\"\nlevel = [{ name = \"committed\", commit = \"main\" }, { name = \"now\" }]";
    let prepared = lab.prepare(BUILD, levels);
    let uncommitted = prepared.findings().iter().find(|finding| finding.rule == StudyRule::Uncommitted);
    assert!(uncommitted.expect("a note").claim.contains("uncommitted changes are not in it"));
    let (_, ran) = lab.run(&prepared, "shop/runs/one", &AtomicBool::new(false));
    ran.expect("a run");
    let log = |name: &str| {
        fs::read_to_string(lab.path(&format!("shop/runs/one/builds/{name}.log"))).expect("a log")
    };
    assert_eq!((log("01-committed").trim(), log("02-now").trim()), ("first", "not committed"));

    assert_eq!(ids(&lab.prepare(BUILD, levels)), ids(&prepared), "a run directory is no part of the folder");
    lab.write("shop/words", "changed");
    let changed = ids(&lab.prepare(BUILD, levels));
    assert_eq!(changed[0], ids(&prepared)[0]);
    assert_ne!(changed[1], ids(&prepared)[1]);
    assert_ne!(
        ids(&lab.prepare("build = \"sh compile.sh\"", levels)),
        changed,
        "the command is a part of it"
    );
}

#[test]
fn a_folder_without_a_repository_is_built_and_each_level_has_its_own_command() {
    let lab = Lab::new();
    lab.write("plain/nested/server.sh", &format!("exec {} \"$@\"\n", example("fake_server").display()));
    std::os::unix::fs::symlink("nested/server.sh", lab.path("plain/link")).expect("a link");
    let levels = r#"
[[factor]]
name = "build"
level = [
  { name = "a", directory = "plain", build = "cp link made", command = "sh {build}/made --port {port}" },
  { name = "b", directory = "plain/nested", command = "sh ./server.sh --port {port}" },
]
"#;
    let prepared = lab.prepare("", levels);
    let (builds, ran) = lab.run(&prepared, "out", &AtomicBool::new(false));
    ran.expect("a run");
    assert_eq!(builds.len(), 1);
    let trials = load_run(&lab.path("out")).expect("a run directory").trials;
    assert!(trials.len() == 2 && trials.iter().all(|trial| trial.trial.counts()), "{trials:#?}");
}

/// Mistakes with their lines; paths of the test and ids of commits left out.
#[track_caller]
fn check(lab: &Lab, head: &str, levels: &str, want: &[&str]) {
    let path = lab.study(head, levels);
    let found = match Study::read(&path).map(|checked| checked.prepare(false)) {
        Ok(Ok(_)) => Vec::new(),
        Ok(Err(StudyError::Diagnostics(found))) | Err(found) => found,
        Ok(Err(other)) => panic!("{other}"),
    };
    let folder = format!("{}/", lab.path("").display().to_string().trim_end_matches('/'));
    let found: Vec<String> = found.iter().map(|one| one.message.replace(&folder, "")).collect();
    assert_eq!(found, want);
}

#[test]
fn what_cannot_be_built_is_said_before_anything_runs() {
    let lab = Lab::new();
    let (first, second) = (lab.commit("first"), lab.commit("second"));
    let factor = |range: &str| format!("[[factor]]\nname = \"commit\"\ncommits = \"{range}\"");
    let unshallow = "a shallow clone lacks old ones: `git fetch --unshallow` adds them";
    check(&lab, BUILD, &factor("v9..main"), &[&format!("there is no commit `v9` in shop; {unshallow}")]);
    check(
        &lab,
        BUILD,
        &factor("--all..main"),
        &[&format!("there is no commit `--all` in shop; {unshallow}")],
    );
    let what = format!("{first} does not come after {second}: name the older one first");
    check(&lab, BUILD, &factor(&format!("main..{first}")), &[&what]);
    let what = format!("`{second}` is the first commit and the last one: name an older one first");
    check(&lab, BUILD, &factor("main..main"), &[&what]);
    let what = "`main` is not a range of commits: write the older and the newer one, \"v1.2..main\"";
    check(&lab, BUILD, &factor("main"), &[what]);
    let level = "[[factor]]\nname = \"commit\"\nlevel = [{ name = \"a\", commit = \"gone\" }]";
    check(&lab, BUILD, level, &[&format!("there is no commit `gone` in shop; {unshallow}")]);
    let level = "[[factor]]\nname = \"folder\"\nlevel = [{ name = \"a\", directory = \"nowhere\" }]";
    check(&lab, BUILD, level, &["there is no folder nowhere"]);
    check(&lab, "", "", &[]);
    let level = "[[factor]]\nname = \"x\"\nlevel = [{ name = \"a\", command = \"{build}/a {prot}\" }]";
    let port = "ready_url has {port}, and neither the command nor an environment variable gives the server that port";
    check(
        &lab,
        "",
        level,
        &[
            port,
            "unknown placeholder {prot}; did you mean `port`?",
            "{build} is the folder of a clean copy, and of variant `a` none is made: add `build` or `commit`",
        ],
    );
    check(&lab, "build = \"make {port}\"", "", &["unknown placeholder {port}; known: build"]);
    assert!(!lab.path(".assay").exists());
}

#[test]
fn a_workload_with_its_own_command_takes_no_other() {
    let found = Study::check(
        Path::new("x.toml"),
        "schema = \"assay.study/1\"\nname = \"x\"\nworkload = \"brokerage\"\ncommand = \"java -jar my.jar\"\nbuild = \"make\"\n",
    );
    let found: Vec<String> = found.expect_err("mistakes").iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("x.toml:4: `command` is for a server of your own"), "{found:?}");
    assert!(found[1].contains("write a [server] table in place of `workload`"), "{found:?}");
}
