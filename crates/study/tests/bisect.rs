//! Bisections over repositories that the tests make.

use crate::support::{SCENARIO, example};
use assay_model::BisectVerdict;
use assay_study::{BisectOptions, Study, StudyError, generator};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// A history in which the server takes so many microseconds of processor time for each request, commit by commit; without one it does not
/// build.
fn history(folder: &Path, work_us: &[Option<u32>]) -> PathBuf {
    fs::create_dir_all(folder.join("workloads")).expect("a folder that counts as a checkout");
    let shop = folder.join("shop");
    fs::create_dir(&shop).expect("a folder");
    let git = |words: &[&str]| {
        let usual =
            ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.com", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").current_dir(&shop).args(usual).args(words).status().expect("git");
        assert!(done.success(), "{words:?}");
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    for (number, work_us) in work_us.iter().enumerate() {
        let work_us = work_us.map_or_else(|| "broken".to_owned(), |work_us| work_us.to_string());
        let server =
            format!("# {number}\nFAKE_WORK_US={work_us} exec {} \"$@\"\n", example("fake_server").display());
        fs::write(shop.join("server.sh"), server).expect("written");
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message", &format!("Change {number}")]);
        git(&["tag", &format!("c{number}")]);
    }
    fs::write(folder.join("scenario.toml"), SCENARIO).expect("written");
    let study = r#"
schema = "assay.study/1"
name = "shop"
scenario = "scenario.toml"
directory = "shop"
observe = ["host"]
load = { kind = "closed", users = 1 }
limits = { foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }
design = { window = "1s", warm_up = { cap = "0s" }, repeats_max = 0 }
[server]
command = "sh server.sh --port {port}"
ready_url = "http://127.0.0.1:{port}/ready"
stop_timeout_s = 0.5
"#;
    let path = folder.join("study.toml");
    fs::write(&path, study).expect("written");
    path
}

fn options(folder: &Path, good: &str, bad: &str) -> BisectOptions {
    let build = ["sh", "-ec", "! grep -q broken server.sh"].map(str::to_owned);
    BisectOptions {
        good: good.to_owned(),
        bad: bad.to_owned(),
        build: Some(assay_study::CommandLine::Words(build.into())),
        quick: false,
        pairs: 3,
        least_percent: 5.0,
        budget: None,
        out: folder.join("runs"),
    }
}

#[test]
#[ignore = "long: about 20 comparisons of 20 seconds, which judge processor time"]
fn the_planted_commit_of_sixteen_is_found_and_one_that_does_not_build_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("a folder");
    let mut work_us: Vec<Option<u32>> =
        (0..=16).map(|number| Some(if number < 11 { 400 } else { 480 })).collect();
    work_us[8] = None;
    let study = Study::read(&history(&folder, &work_us)).expect("a study");
    let bisect = study.bisect(options(&folder, "c0", "main")).expect("both commits are there");
    let report = bisect.run(&generator, &AtomicBool::new(false), &mut |_| ()).expect("an answer");
    assert_eq!(report.verdict, BisectVerdict::Commit, "{report:#?}");
    let first = &report.commits[report.first.expect("a commit") as usize];
    assert_eq!(first.subject, "Change 11", "{report:#?}");
    assert!(report.commits[7].left_out.iter().all(|why| why.contains("could not be built")), "{report:#?}");
}

#[test]
fn what_cannot_be_bisected_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("a folder");
    let study = history(&folder, &[Some(1), Some(1)]);
    let refused = |options: BisectOptions| {
        let checked = Study::read(&study).expect("a study");
        checked.bisect(options).expect_err("a mistake").to_string()
    };
    let wrong = refused(options(&folder, "c7", "main"));
    assert!(wrong.starts_with("there is no commit `c7` in "), "{wrong}");
    let wrong = refused(options(&folder, "main", "c0"));
    assert!(wrong.contains("does not come after"), "{wrong}");
    let wrong = refused(BisectOptions { least_percent: 200.0, ..options(&folder, "c0", "main") });
    assert_eq!(wrong, "200 % is not between 0 and 100 %");
    assert!(!folder.join(".assay").exists() && !folder.join("runs").exists());
}

#[test]
fn a_good_commit_that_does_not_build_ends_a_bisection() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("a folder");
    let study = Study::read(&history(&folder, &[None, Some(1)])).expect("a study");
    let bisect = study.bisect(options(&folder, "c0", "main")).expect("both commits are there");
    let error =
        bisect.run(&generator, &AtomicBool::new(false), &mut |_| ()).expect_err("nothing to compare with");
    assert!(matches!(&error, StudyError::Environment(why) if why.starts_with("the good commit ")), "{error}");
    assert!(error.to_string().contains("could not be built"), "{error}");
}
