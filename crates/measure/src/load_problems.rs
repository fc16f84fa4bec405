//! What went wrong in the windows of a search, each problem once.

use assay_model::Problem;

/// Different problems that are kept.
const KEPT_MAX: usize = 20;

/// What went wrong in the windows of a search: each problem once, with the number of windows that had it, because a server
/// beyond its maximum has the same ones in every window.
#[derive(Default)]
pub struct LoadProblems {
    told: Vec<ReportedProblem>,
}

struct ReportedProblem {
    problem: Problem,
    windows: u32,
    lowest_rate_per_s: f64,
}

impl LoadProblems {
    /// Adds the problems of a window's load; it may report the same one several times.
    pub fn enter(&mut self, problems: &[Problem], offered_rate_per_s: f64) {
        for (at, problem) in problems.iter().enumerate() {
            if problems[..at].contains(problem) {
                continue;
            }
            if let Some(told) = self.told.iter_mut().find(|told| told.problem == *problem) {
                told.windows += 1;
                told.lowest_rate_per_s = told.lowest_rate_per_s.min(offered_rate_per_s);
            } else if self.told.len() < KEPT_MAX {
                self.told.push(ReportedProblem {
                    problem: problem.clone(),
                    windows: 1,
                    lowest_rate_per_s: offered_rate_per_s,
                });
            }
        }
    }

    /// In the order in which they came first.
    pub fn finish(self) -> impl Iterator<Item = Problem> {
        self.told.into_iter().map(|ReportedProblem { problem, windows, lowest_rate_per_s }| {
            let told = &problem.text;
            let text = match windows {
                1 => format!("{told}; at {lowest_rate_per_s:.0}/s"),
                _ => format!("{told}; in {windows} windows, at {lowest_rate_per_s:.0}/s or more"),
            };
            Problem { text, ..problem }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_told_once_with_its_windows() {
        let over_bound = Problem::new("http://h", "over-bound: too many");
        let status = Problem::new("http://h", "status: GET /");
        let mut problems = LoadProblems::default();
        problems.enter(&[over_bound.clone(), over_bound.clone()], 9_000.0);
        problems.enter(&[], 100.0);
        problems.enter(&[status, over_bound], 8_000.4);
        let told: Vec<Problem> = problems.finish().collect();
        assert_eq!(
            told,
            [
                Problem::new("http://h", "over-bound: too many; in 2 windows, at 8000/s or more"),
                Problem::new("http://h", "status: GET /; at 8000/s"),
            ]
        );
    }

    #[test]
    fn a_different_problem_in_every_request_takes_no_memory_without_end() {
        let mut problems = LoadProblems::default();
        for request in 0..1_000 {
            problems.enter(&[Problem::new("http://h", format!("body: {request}"))], 1.0);
        }
        assert_eq!(problems.finish().count(), KEPT_MAX);
    }
}
