//! The Job of a run, as a value.

use super::cluster::{Cluster, HOST_RESOURCE};
use crate::engine::slots::WORKER;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The container with Assay.
pub(super) const CONTAINER: &str = "assay";
/// How long the Job lives without an extension of its deadline.
pub(super) const LEASE: Duration = Duration::from_secs(240);
/// How long a Job that has ended stays.
const KEPT_S: u32 = 60;
/// Pods of one index after the first.
pub(super) const RETRIES: u32 = 2;
/// A node that does not answer loses its pods after this time. By default it would be five minutes.
const UNREACHABLE_S: u32 = 20;
/// Time for a worker to stop its servers.
const GRACE_S: u32 = 60;
/// The image of this release, as `podman load` names it.
const IMAGE: &str = concat!("assay:", env!("CARGO_PKG_VERSION"));
/// An ordinary user without rights.
const USER: u32 = 65_532;

/// The Job for so many tasks. Its server gives it its name. Pods are privileged for changes to the host, and satisfy the Pod Security
/// Standard `restricted` without them.
pub(super) fn job(cluster: &Cluster, tasks: usize, program: &str, is_privileged: bool) -> Value {
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "generateName": "assay-", "labels": labels() },
        "spec": {
            "completionMode": "Indexed",
            "completions": tasks,
            // Pods for which no node is free wait.
            "parallelism": tasks,
            "backoffLimitPerIndex": RETRIES,
            "activeDeadlineSeconds": LEASE.as_secs(),
            "ttlSecondsAfterFinished": KEPT_S,
            "template": { "metadata": { "labels": labels() }, "spec": pod(cluster, program, is_privileged) },
        },
    })
}

/// The extension of the deadline to [`LEASE`] from now.
pub(super) fn extension(since_creation: Duration) -> Value {
    json!({ "spec": { "activeDeadlineSeconds": (since_creation + LEASE).as_secs() } })
}

fn labels() -> Value {
    json!({ "app.kubernetes.io/name": "assay", "app.kubernetes.io/component": WORKER })
}

fn pod(cluster: &Cluster, program: &str, is_privileged: bool) -> Value {
    let (of_pod, of_container) = security(is_privileged);
    let gone = |key: &str| json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": UNREACHABLE_S });
    json!({
        "restartPolicy": "Never",
        // The conversation needs no rights in the cluster.
        "automountServiceAccountToken": false,
        "enableServiceLinks": false,
        // The first process of the pod then takes over orphans of servers. Assay does not.
        "shareProcessNamespace": true,
        "terminationGracePeriodSeconds": GRACE_S,
        "nodeSelector": pairs(&cluster.pods.node_selector),
        "tolerations": [gone("node.kubernetes.io/not-ready"), gone("node.kubernetes.io/unreachable")],
        // Pods of other runs and namespaces included.
        "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": { "matchLabels": labels() },
            "namespaceSelector": {},
            "topologyKey": "kubernetes.io/hostname",
        }] } },
        "securityContext": of_pod,
        "containers": [{
            "name": CONTAINER,
            "image": cluster.pods.image.as_deref().unwrap_or(IMAGE),
            "command": [program, WORKER, "--listen"],
            "env": [
                { "name": "ASSAY_HOST", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
                // The user has no other home.
                { "name": "HOME", "value": "/tmp" },
            ],
            "resources": resources(cluster),
            "securityContext": of_container,
            // The reason of an end is then among the pod's own data, without the right to read logs.
            "terminationMessagePolicy": "FallbackToLogsOnError",
        }],
        // No volume: the folder of an emptyDir is writable for all without a sticky bit, and Assay trusts nothing below such a folder.
    })
}

/// The same requests and limits: the pod is then of the class Guaranteed, if CPU and memory are among them.
fn resources(cluster: &Cluster) -> Value {
    let mut both = pairs(&cluster.pods.resources);
    if cluster.has_host_resource {
        both.insert(HOST_RESOURCE.to_owned(), json!("1"));
    }
    json!({ "requests": both, "limits": both })
}

fn pairs(pairs: &[(String, String)]) -> Map<String, Value> {
    pairs.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
}

/// The security contexts of pod and container.
fn security(is_privileged: bool) -> (Value, Value) {
    if is_privileged {
        return (json!({ "runAsUser": 0 }), json!({ "privileged": true }));
    }
    let of_pod = json!({
        "runAsNonRoot": true,
        "runAsUser": USER,
        "runAsGroup": USER,
        "seccompProfile": { "type": "RuntimeDefault" },
    });
    (of_pod, json!({ "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::kubernetes::Pods;

    fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
        value.pointer(path).unwrap_or_else(|| panic!("{path} is not in {value}"))
    }

    #[test]
    fn a_job_has_an_index_for_each_block_and_a_node_for_each_pod() {
        let job = job(&Cluster::default(), 7, "/opt/assay", false);
        assert_eq!(at(&job, "/spec/completions"), 7);
        assert_eq!(at(&job, "/spec/parallelism"), 7);
        assert_eq!(at(&job, "/spec/completionMode"), "Indexed");
        let pod = at(&job, "/spec/template/spec");
        assert_eq!(at(pod, "/containers/0/command"), &json!(["/opt/assay", "block-worker", "--listen"]));
        assert_eq!(at(pod, "/containers/0/image"), &json!(format!("assay:{}", env!("CARGO_PKG_VERSION"))));
        let apart = at(pod, "/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/0");
        assert_eq!(at(apart, "/labelSelector/matchLabels"), at(&job, "/spec/template/metadata/labels"));
        assert_eq!(at(apart, "/topologyKey"), "kubernetes.io/hostname");
        assert_eq!(at(pod, "/containers/0/resources"), &json!({ "requests": {}, "limits": {} }));
    }

    #[test]
    fn a_job_without_this_program_ends_and_is_removed() {
        let job = job(&Cluster::default(), 1, "assay", false);
        assert_eq!(at(&job, "/spec/activeDeadlineSeconds"), LEASE.as_secs());
        assert!(at(&job, "/spec/ttlSecondsAfterFinished").as_u64() < Some(120));
        let extended = extension(Duration::from_secs(100));
        assert_eq!(at(&extended, "/spec/activeDeadlineSeconds"), 100 + LEASE.as_secs());
    }

    #[test]
    fn pods_satisfy_the_standard_restricted_unless_they_change_the_host() {
        let pod = |is_privileged| job(&Cluster::default(), 1, "assay", is_privileged);
        let restricted = pod(false);
        let of_pod = at(&restricted, "/spec/template/spec/securityContext");
        assert_eq!(at(of_pod, "/runAsNonRoot"), true);
        assert_eq!(at(of_pod, "/seccompProfile/type"), "RuntimeDefault");
        let of_container = at(&restricted, "/spec/template/spec/containers/0/securityContext");
        assert_eq!(at(of_container, "/allowPrivilegeEscalation"), false);
        assert_eq!(at(of_container, "/capabilities/drop"), &json!(["ALL"]));
        assert_eq!(at(&restricted, "/spec/template/spec/automountServiceAccountToken"), false);
        let privileged = pod(true);
        assert_eq!(at(&privileged, "/spec/template/spec/containers/0/securityContext/privileged"), true);
    }

    #[test]
    fn what_the_user_decides_is_in_the_pods() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let pods = Pods {
            image: Some("registry.example/shop:1".to_owned()),
            node_selector: vec![pair("kubernetes.io/arch", "amd64")],
            resources: vec![pair("cpu", "4")],
        };
        let cluster = Cluster { pods, has_host_resource: true, ..Cluster::default() };
        let job = job(&cluster, 1, "assay", false);
        let pod = at(&job, "/spec/template/spec");
        assert_eq!(at(pod, "/nodeSelector"), &json!({ "kubernetes.io/arch": "amd64" }));
        assert_eq!(at(pod, "/containers/0/image"), "registry.example/shop:1");
        assert_eq!(at(pod, "/containers/0/resources/limits"), &json!({ "cpu": "4", HOST_RESOURCE: "1" }));
        assert_eq!(at(pod, "/containers/0/resources/limits"), at(pod, "/containers/0/resources/requests"));
    }
}
