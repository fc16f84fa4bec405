//! Bisections whose comparisons are made up: what is asked next, and what comes out.

use super::*;

fn bisect(commits: usize) -> Bisect {
    let commit = |number: usize| Commit {
        id: format!("{number:040}"),
        short: number.to_string(),
        subject: format!("Change {number}"),
    };
    Bisect {
        study: Study::named("shop"),
        file: "shop.toml".into(),
        options: BisectOptions {
            good: "0".to_owned(),
            bad: commits.to_string(),
            build: None,
            quick: false,
            pairs: 3,
            least_percent: 3.0,
            budget: None,
            out: "runs".into(),
        },
        commits: (0..=commits).map(commit).collect(),
        repository: "shop".into(),
    }
}

/// What a comparison of the commit of this index gives: log ratios, or why it cannot be measured.
fn found(
    bisect: &Bisect,
    of: &dyn Fn(usize) -> Result<Vec<f64>, &'static str>,
) -> (Result<BisectReport, StudyError>, Vec<usize>) {
    let metric = Metric::by_id("cpu_ms_per_request").expect("a metric");
    let mut asked = Vec::new();
    let report = bisect.search(&metric, &mut |_| (), &mut |(index, commit), _, _| {
        asked.push(index);
        assert_eq!(commit.short, (index + 1).to_string());
        let logs = match of(index) {
            Ok(logs) => logs,
            Err(why) => return Ok(Outcome::CannotBe(why.to_owned())),
        };
        let ratios = logs.iter().map(|log| log.exp()).collect();
        let comparison = BisectComparison { commit: index as u32, ratios, run: "run".to_owned() };
        Ok(Outcome::Pairs(comparison, logs))
    });
    (report, asked)
}

/// Three pairs around this log ratio.
fn around(log: f64) -> Result<Vec<f64>, &'static str> {
    Ok(vec![log - 0.01, log, log + 0.01])
}

#[test]
fn the_first_slow_commit_is_found_with_its_change() {
    let (report, asked) = found(&bisect(16), &|index| around(if 5 <= index { 0.1 } else { 0.0 }));
    let report = report.expect("an answer");
    assert_eq!((report.verdict, report.first, report.last), (BisectVerdict::Commit, Some(5), Some(5)));
    assert!((report.change_percent.expect("a change") - 10.5).abs() < 0.1, "{report:?}");
    assert_eq!(asked[0], 15, "the bad one first");
    assert!(asked.len() < 16 && report.comparisons.len() == asked.len(), "{asked:?}");
    let sum: f64 = report.commits.iter().map(|commit| commit.probability).sum();
    assert!((sum + report.no_change_probability - 1.0).abs() < 1e-9);
}

#[test]
fn where_nothing_differs_there_is_no_change() {
    let (report, _) = found(&bisect(4), &|_| around(0.0));
    let report = report.expect("an answer");
    assert_eq!((report.verdict, report.first, report.change_percent), (BisectVerdict::NoChange, None, None));
}

#[test]
fn a_commit_that_cannot_be_measured_is_left_out_and_the_answer_is_a_range() {
    let of = |index| match index {
        2 | 3 => Err("it could not be built"),
        index => around(if 3 <= index { 0.1 } else { 0.0 }),
    };
    let (report, asked) = found(&bisect(6), &of);
    let report = report.expect("an answer");
    assert_eq!((report.verdict, report.first, report.last), (BisectVerdict::Range, Some(2), Some(4)));
    assert!(asked.iter().filter(|index| **index == 2).count() <= 1, "asked once: {asked:?}");
    let left_out = report.commits.iter().filter(|commit| commit.left_out.is_some()).count();
    assert!(0 < left_out && report.problems.len() == left_out, "{report:?}");
}

#[test]
fn without_a_bad_commit_or_without_any_pair_that_counts_it_ends_with_the_reason() {
    let (error, asked) = found(&bisect(4), &|_| Err("it could not be built"));
    let error = error.expect_err("nothing can be compared").to_string();
    assert_eq!(
        (error.as_str(), asked.len()),
        ("the bad commit 4 cannot be measured: it could not be built", 1)
    );
    let (error, asked) = found(&bisect(4), &|_| Ok(Vec::new()));
    let error = error.expect_err("nothing counts").to_string();
    assert!(error.starts_with("no pair of trials counts in three comparisons"), "{error}");
    assert_eq!(asked.len(), 3);
}

#[test]
fn when_the_time_is_over_it_is_undecided() {
    let mut bisect = bisect(4);
    bisect.options.budget = Some(Duration::ZERO);
    let (report, asked) = found(&bisect, &|_| around(0.1));
    assert_eq!((report.expect("a report").verdict, asked), (BisectVerdict::Undecided, vec![]));
}

#[test]
fn the_spread_is_that_around_the_mean_of_each_comparison() {
    let (deviation, freedom) = pooled(&[vec![1.0, 3.0], vec![], vec![10.0, 10.0, 10.0]]);
    assert!((deviation - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    assert!((freedom - 3.0).abs() < 1e-12);
}
