//! A cluster and its pods, as the user names them.

use crate::error::PlaceError;

/// A cluster of the user's kubeconfig.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cluster {
    /// The context of the kubeconfig, or the current one.
    pub context: Option<String>,
    /// The namespace, or the context's own.
    pub namespace: Option<String>,
    /// Properties of the pods.
    pub pods: Pods,
    /// Whether nodes offer [`HOST_RESOURCE`].
    pub(in crate::engine) has_host_resource: bool,
}

/// The extended resource of which each node has 1, if the cluster's administrator wants to share its nodes with other programs that ask
/// for it.
pub(super) const HOST_RESOURCE: &str = "assay.local/host";

/// What the user decides about the pods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pods {
    /// The image with Assay and everything that the study needs; by default the one of this release, without JVMs.
    pub image: Option<String>,
    /// Labels of the nodes, key and value.
    pub node_selector: Vec<(String, String)>,
    /// Resources of a pod: both its requests and its limits.
    pub resources: Vec<(String, String)>,
}

impl Cluster {
    /// Reads `CONTEXT`, `CONTEXT/NAMESPACE` or `/NAMESPACE`. The last slash is the separator, since names of contexts may have some.
    ///
    /// # Errors
    /// An empty name, or one that Kubernetes does not admit.
    pub(crate) fn named(text: &str) -> Result<Cluster, PlaceError> {
        let (context, namespace) = text.rsplit_once('/').unwrap_or((text, ""));
        let is_context = !context.starts_with('-') && !context.chars().any(char::is_control);
        if (context.is_empty() && namespace.is_empty()) || !is_context {
            return Err(PlaceError::Input(format!(
                "{text:?} does not name a context or a namespace: kubernetes:CONTEXT/NAMESPACE"
            )));
        }
        if !namespace.is_empty() && !is_label(namespace) {
            return Err(PlaceError::Input(format!(
                "{namespace:?} is not the name of a namespace: kubernetes:CONTEXT/NAMESPACE, with a slash at the end if the \
                 context's name has one"
            )));
        }
        let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Ok(Cluster { context: some(context), namespace: some(namespace), ..Cluster::default() })
    }
}

/// A label as of RFC 1123.
fn is_label(name: &str) -> bool {
    const CHARS_MAX: usize = 63;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.len() <= CHARS_MAX && name.chars().all(is_plain) && !name.starts_with('-') && !name.ends_with('-')
}
