//! What a load will send, before it sends anything.

use crate::generator::GeneratorConfig;
use crate::law::Load;
use assay_model::{PlannedOperation, PlannedRequests};
use assay_scenario::Scenario;
use std::time::Duration;

impl GeneratorConfig {
    /// Users, requests and operations of a load of this length; it has no variants.
    pub fn planned_requests(&self, load: &Load, length: Duration) -> PlannedRequests {
        match *load {
            Load::Closed { users, .. } => planned_mix(&self.scenario, Some((users, true)), None),
            Load::Open { rate_per_s, .. } => {
                let users = (self.users_at(rate_per_s), self.users.is_some());
                planned_mix(&self.scenario, Some(users), Some(rate_per_s * length.as_secs_f64()))
            }
        }
    }
}

/// The mix of a scenario: of so many users, and whether there are never more, and of so many requests, where these are known.
pub fn planned_mix(
    scenario: &Scenario,
    users: Option<(u32, bool)>,
    requests: Option<f64>,
) -> PlannedRequests {
    let operations =
        scenario.operation_names().zip(scenario.asked_shares()).filter(|(_, share)| 0.0 < *share);
    let operation = |(name, share): (&str, f64)| PlannedOperation {
        name: name.to_owned(),
        share,
        in_window: requests.map(|requests| requests * share),
    };
    let start_operations: Vec<String> = scenario.start_operations().into_iter().map(str::to_owned).collect();
    PlannedRequests {
        variants: Vec::new(),
        users: users.map(|(users, _)| users),
        users_fixed: users.is_some_and(|(_, is_fixed)| is_fixed),
        requests_of_start: start_operations.len() as u32,
        start_s: users
            .filter(|_| !start_operations.is_empty())
            .map(|(users, _)| f64::from(users) / scenario.session.starts_per_s),
        start_operations,
        in_window: requests,
        operations: operations.map(operation).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::ArrivalLaw;

    const SHOP: &str = r#"schema = "assay.scenario/1"
name = "shop"
[session]
start = ["form", "login"]
starts_per_s = 50
[[operation]]
name = "form"
weight = 0
path = "/form"
[[operation]]
name = "login"
weight = 0
path = "/login"
[[operation]]
name = "browse"
weight = 80
path = "/"
[[operation]]
name = "checkout"
weight = 20
path = "/checkout"
"#;

    #[test]
    fn a_load_says_its_requests_by_operation_its_users_and_what_begins_their_sessions() {
        let scenario = Scenario::parse(SHOP, "shop.toml").expect("a scenario");
        let config = GeneratorConfig::new("http://127.0.0.1:9", scenario, 64);
        let open = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 100.0 };
        let length = Duration::from_secs(30);
        let planned = config.planned_requests(&open, length);
        let mix: Vec<_> = planned.operations.iter().map(|of| (of.name.as_str(), of.in_window)).collect();
        assert_eq!(mix, [("browse", Some(2_400.0)), ("checkout", Some(600.0))]);
        assert_eq!((planned.in_window, planned.users, planned.users_fixed), (Some(3_000.0), Some(20), false));
        assert_eq!(
            (planned.start_operations.as_slice(), planned.start_s),
            (&["form".to_owned(), "login".to_owned()][..], Some(0.4))
        );
        let fixed = GeneratorConfig { users: Some(10_000), ..config.clone() };
        let planned = fixed.planned_requests(&open, length);
        assert_eq!((planned.users, planned.users_fixed, planned.start_s), (Some(10_000), true, Some(200.0)));
        let closed = config.planned_requests(&Load::Closed { users: 5, think: None }, length);
        assert_eq!((closed.in_window, closed.users, closed.operations[0].in_window), (None, Some(5), None));
    }
}
