//! What is checked before anything starts.

use super::cluster::{Cluster, HOST_RESOURCE};
use super::kubectl::{Kubectl, KubectlError};
use super::objects::{AccessReview, List, Named, Node};
use crate::error::PlaceError;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;

/// What a run does in its namespace: API group, resource, subresource and verb.
const RIGHTS: [(&str, &str, &str, &str); 8] = [
    ("batch", "jobs", "", "create"),
    ("batch", "jobs", "", "get"),
    ("batch", "jobs", "", "patch"),
    ("batch", "jobs", "", "delete"),
    // `kubectl exec` reads the pod first.
    ("", "pods", "", "get"),
    ("", "pods", "", "list"),
    ("", "pods", "", "delete"),
    ("", "pods", "exec", "create"),
];
/// The label by which a namespace enforces a Pod Security Standard, and those that admit no privileged pods.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce";
const UNPRIVILEGED: [&str; 2] = ["baseline", "restricted"];
const ARCHITECTURE: &str = "kubernetes.io/arch";
/// The namespace of a pod in which this program may run.
const OWN_NAMESPACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Checks configuration, namespace, rights and nodes. Returns whether nodes offer [`HOST_RESOURCE`].
pub(super) fn check(cluster: &Cluster, allow_host_changes: bool) -> Result<bool, PlaceError> {
    let kubectl = Kubectl::of(cluster);
    let namespace = namespace(&kubectl, cluster)?;
    let kubectl = kubectl.in_namespace(&namespace);
    check_namespace(&kubectl, &namespace, allow_host_changes)?;
    check_rights(&kubectl, &namespace)?;
    check_nodes(&kubectl, cluster)
}

/// The namespace that `kubectl` uses. Finds out whether there is a `kubectl`, a kubeconfig and the context.
fn namespace(kubectl: &Kubectl, cluster: &Cluster) -> Result<String, PlaceError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Config {
        contexts: Vec<NamedContext>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct NamedContext {
        context: Context,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Context {
        namespace: String,
    }
    let of_context = match kubectl.json::<Config>(&["config", "view", "--minify"], None) {
        Ok(configs) => configs.into_iter().flat_map(|config| config.contexts).next(),
        Err(error @ KubectlError::Missing(_)) => return Err(PlaceError::Hosts(error.to_string())),
        Err(KubectlError::Refused(_)) if cluster.context.is_none() && fs::exists(OWN_NAMESPACE)? => None,
        Err(KubectlError::Refused(why)) => {
            return Err(PlaceError::Hosts(format!(
                "kubectl has no such cluster: {why}\n  list the contexts: kubectl config get-contexts; a kubeconfig is named by KUBECONFIG"
            )));
        }
    };
    let of_pod = || fs::read_to_string(OWN_NAMESPACE).ok().map(|name| name.trim().to_owned());
    let of_context = of_context.map(|named| named.context.namespace).or_else(of_pod);
    let of_context = of_context.filter(|name| !name.is_empty()).unwrap_or_else(|| "default".to_owned());
    Ok(cluster.namespace.clone().unwrap_or(of_context))
}

/// Whether it exists and admits the pods, as far as this user may know.
fn check_namespace(kubectl: &Kubectl, name: &str, allow_host_changes: bool) -> Result<(), PlaceError> {
    let Ok(found) = kubectl.json::<Named>(&["get", "namespace", name, "--ignore-not-found"], None) else {
        // Without this right a Job is refused later. A cluster that does not answer is reported with the rights.
        return Ok(());
    };
    let Some(namespace) = found.into_iter().next() else {
        let create = kubectl.typed(&format!("create namespace {name}"));
        return Err(PlaceError::Hosts(format!("the cluster has no namespace {name}: {create}")));
    };
    let enforced = namespace.metadata.labels.get(ENFORCED).map_or("", String::as_str);
    if allow_host_changes && UNPRIVILEGED.contains(&enforced) {
        let label = kubectl.typed(&format!("label namespace {name} {ENFORCED}=privileged --overwrite"));
        return Err(PlaceError::Input(format!(
            "the namespace {name} enforces the Pod Security Standard {enforced}, and --allow-host-changes needs privileged pods: choose \
             another namespace, or {label}"
        )));
    }
    Ok(())
}

fn check_rights(kubectl: &Kubectl, namespace: &str) -> Result<(), PlaceError> {
    let review = |(group, resource, subresource, verb): (&str, &str, &str, &str)| {
        json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": { "resourceAttributes": {
                "namespace": namespace, "group": group, "resource": resource, "subresource": subresource, "verb": verb,
            } },
        })
    };
    let reviews = json!({ "apiVersion": "v1", "kind": "List", "items": RIGHTS.map(review) });
    let answers: Vec<AccessReview> =
        kubectl.json(&["create", "--filename=-", "--validate=false"], Some(&reviews)).map_err(|e| {
            let same = kubectl.typed("auth can-i --list");
            PlaceError::Hosts(format!(
                "the cluster does not answer this user: {e}\n  the same request: {same}"
            ))
        })?;
    if answers.len() != RIGHTS.len() {
        return Err(PlaceError::Hosts("the cluster did not answer for each right of the user".to_owned()));
    }
    let missing = answers.iter().filter(|answer| !answer.status.allowed).map(|answer| {
        let asked = &answer.spec.resource_attributes;
        let slash = if asked.subresource.is_empty() { "" } else { "/" };
        format!("{} {}{slash}{}", asked.verb, asked.resource, asked.subresource)
    });
    let missing: Vec<String> = missing.collect();
    if missing.is_empty() {
        return Ok(());
    }
    let bind = kubectl.typed("create rolebinding assay-run --role=assay-run --user=NAME");
    Err(PlaceError::Hosts(format!(
        "the user may not {} in the namespace {namespace}. An administrator applies deploy/assay-run-rbac.yaml there, then: {bind}",
        missing.join(", ")
    )))
}

/// Nodes of one architecture only, as far as this user may see nodes.
fn check_nodes(kubectl: &Kubectl, cluster: &Cluster) -> Result<bool, PlaceError> {
    let selector = cluster.pods.node_selector.iter().map(|(key, value)| format!("{key}={value}"));
    let selector = format!("--selector={}", selector.collect::<Vec<_>>().join(","));
    let Ok(lists) = kubectl.json::<List<Node>>(&["get", "nodes", &selector], None) else { return Ok(false) };
    let nodes: Vec<Node> = lists.into_iter().flat_map(|list| list.items).filter(Node::is_open).collect();
    let mut architectures = BTreeMap::<&str, usize>::new();
    for architecture in nodes.iter().filter_map(|node| node.metadata.labels.get(ARCHITECTURE)) {
        *architectures.entry(architecture).or_default() += 1;
    }
    if 1 < architectures.len() {
        let counts = architectures.iter().map(|(name, nodes)| format!("{name} ({nodes})"));
        let one = architectures.keys().next().copied().unwrap_or_default();
        return Err(PlaceError::Input(format!(
            "the nodes are of several architectures, {}: choose one with --node-selector {ARCHITECTURE}={one}",
            counts.collect::<Vec<_>>().join(", ")
        )));
    }
    let offers = |node: &Node| node.status.allocatable.get(HOST_RESOURCE).is_some_and(|count| count != "0");
    Ok(nodes.iter().any(offers))
}
