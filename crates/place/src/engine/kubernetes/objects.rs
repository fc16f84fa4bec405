//! The parts of Kubernetes' objects that matter here, and the state of a pod.
//! Formats: <https://kubernetes.io/docs/reference/kubernetes-api/>.

use super::manifest::CONTAINER;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The annotation with the index of a pod of an Indexed Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// Reasons for which a container waits and which time alone does not cure.
const STUCK: [&str; 6] = [
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct List<T> {
    pub items: Vec<T>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub deletion_timestamp: Option<String>,
}

/// A namespace, or any other object of which name and labels matter.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Named {
    pub metadata: Metadata,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod {
    pub metadata: Metadata,
    pub status: PodStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PodStatus {
    pub phase: String,
    pub reason: String,
    pub message: String,
    pub conditions: Vec<Condition>,
    pub container_statuses: Vec<ContainerStatus>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContainerStatus {
    pub name: String,
    pub state: ContainerState,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContainerState {
    pub waiting: Option<Because>,
    pub running: Option<serde_json::Value>,
    pub terminated: Option<Because>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Because {
    pub reason: String,
    pub message: String,
    pub exit_code: Option<i32>,
}

/// A Job.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct JobObject {
    pub status: JobStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct JobStatus {
    pub conditions: Vec<Condition>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    pub reason: String,
    pub message: String,
}

/// The answer about a right.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AccessReview {
    pub spec: AccessSpec,
    pub status: AccessStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AccessSpec {
    pub resource_attributes: ResourceAttributes,
}

/// An action in a namespace.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResourceAttributes {
    pub verb: String,
    pub resource: String,
    pub subresource: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AccessStatus {
    pub allowed: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub metadata: Metadata,
    pub spec: NodeSpec,
    pub status: NodeStatus,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeSpec {
    pub unschedulable: bool,
    pub taints: Vec<Taint>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Taint {
    pub effect: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeStatus {
    pub allocatable: BTreeMap<String, String>,
}

impl Node {
    /// Whether ordinary pods are scheduled on it.
    pub(super) fn is_open(&self) -> bool {
        let is_closed = |taint: &Taint| ["NoSchedule", "NoExecute"].contains(&&*taint.effect);
        !self.spec.unschedulable && !self.spec.taints.iter().any(is_closed)
    }
}

/// How far a pod is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PodState {
    /// Its worker can be talked to.
    Running,
    /// It waits, for this reason.
    Waiting(String),
    /// It cannot start, for this reason.
    Stuck(String),
    /// It has ended, for this reason.
    Ended(String),
    /// It is being deleted.
    Leaving,
}

impl Pod {
    /// Its index in the Job.
    pub(super) fn index(&self) -> Option<usize> {
        self.metadata.annotations.get(INDEX)?.parse().ok()
    }

    pub(super) fn state(&self) -> PodState {
        let PodStatus { phase, reason, message, conditions, container_statuses } = &self.status;
        if self.metadata.deletion_timestamp.is_some() {
            return PodState::Leaving;
        }
        // A cluster may add containers of its own.
        let container = container_statuses.iter().find(|status| status.name == CONTAINER);
        let container = container.map(|status| status.state.clone()).unwrap_or_default();
        match (phase.as_str(), container) {
            ("Succeeded", _) => PodState::Ended("it ended: nobody had talked to it for too long".to_owned()),
            ("Failed", ContainerState { terminated: Some(ended), .. }) => {
                let code = ended.exit_code.map(|code| format!(" with exit code {code}")).unwrap_or_default();
                let why = with_reason(&ended.reason, &ended.message);
                PodState::Ended(format!("it ended{code}: {why}"))
            }
            ("Failed", _) => PodState::Ended(format!("it failed: {}", with_reason(reason, message))),
            ("Running", ContainerState { running: Some(_), .. }) => PodState::Running,
            (_, ContainerState { waiting: Some(because), .. }) => {
                let why = with_reason(&because.reason, &because.message);
                if STUCK.contains(&&*because.reason) { PodState::Stuck(why) } else { PodState::Waiting(why) }
            }
            _ => {
                let is_unscheduled =
                    |condition: &&Condition| condition.kind == "PodScheduled" && condition.status == "False";
                let why = conditions.iter().find(is_unscheduled);
                PodState::Waiting(
                    why.map_or_else(|| "it starts".to_owned(), |why| with_reason(&why.reason, &why.message)),
                )
            }
        }
    }
}

/// A reason and its message, of which either may be missing.
pub(super) fn with_reason(reason: &str, message: &str) -> String {
    match (reason.trim(), message.trim()) {
        ("", "") => "for an unknown reason".to_owned(),
        (reason, "") => reason.to_owned(),
        ("", message) => message.to_owned(),
        (reason, message) => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn assert_state(status: &serde_json::Value, wanted: &PodState) {
        let pod = json!({ "metadata": { "annotations": { INDEX: "3" } }, "status": status });
        let pod: Pod = serde_json::from_value(pod).expect("a pod");
        assert_eq!(pod.index(), Some(3));
        assert_eq!(&pod.state(), wanted);
    }

    #[test]
    fn the_state_of_a_pod_comes_with_the_reason_that_the_cluster_gives() {
        let container =
            |state: serde_json::Value| json!([{ "name": "sidecar" }, { "name": CONTAINER, "state": state }]);
        assert_state(&json!({}), &PodState::Waiting("it starts".to_owned()));
        let running = container(json!({ "running": { "startedAt": "x" } }));
        assert_state(&json!({ "phase": "Running", "containerStatuses": running }), &PodState::Running);
        let unscheduled = json!([{ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes" }]);
        assert_state(
            &json!({ "phase": "Pending", "conditions": unscheduled }),
            &PodState::Waiting("Unschedulable: 0/2 nodes".to_owned()),
        );
        let creating = container(json!({ "waiting": { "reason": "ContainerCreating" } }));
        assert_state(
            &json!({ "phase": "Pending", "containerStatuses": creating }),
            &PodState::Waiting("ContainerCreating".to_owned()),
        );
        let pulling =
            container(json!({ "waiting": { "reason": "ImagePullBackOff", "message": "not found" } }));
        assert_state(
            &json!({ "phase": "Pending", "containerStatuses": pulling }),
            &PodState::Stuck("ImagePullBackOff: not found".to_owned()),
        );
        let killed = container(json!({ "terminated": { "reason": "OOMKilled", "exitCode": 137 } }));
        assert_state(
            &json!({ "phase": "Failed", "containerStatuses": killed }),
            &PodState::Ended("it ended with exit code 137: OOMKilled".to_owned()),
        );
        assert_state(
            &json!({ "phase": "Failed", "reason": "Evicted", "message": "disk" }),
            &PodState::Ended("it failed: Evicted: disk".to_owned()),
        );
    }

    #[test]
    fn a_node_with_a_taint_is_not_open() {
        let open = |node: serde_json::Value| serde_json::from_value::<Node>(node).expect("a node").is_open();
        assert!(open(json!({})));
        assert!(open(json!({ "spec": { "taints": [{ "effect": "PreferNoSchedule" }] } })));
        assert!(!open(json!({ "spec": { "taints": [{ "effect": "NoSchedule" }] } })));
        assert!(!open(json!({ "spec": { "unschedulable": true } })));
    }
}
