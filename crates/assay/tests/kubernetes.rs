//! `assay run --on kubernetes`, with a `kubectl` whose pods are processes of this machine. Pods of other names and troubles behave
//! as `kubernetes/kubectl` describes.

use super::on::{assert_whole, study};
use assay_testkit::skip;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const KUBECTL: &str = include_str!("kubernetes/kubectl");

/// A study and a cluster.
fn laid_out() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    study(folder.path());
    let kubectl = folder.path().join("bin/kubectl");
    fs::write(&kubectl, KUBECTL).expect("a script");
    fs::set_permissions(&kubectl, fs::Permissions::from_mode(0o755)).expect("a mode");
    folder
}

/// The run in the cluster with this trouble.
fn command(folder: &Path, trouble: &str) -> Command {
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(ASSAY);
    command.args(["run", "study.toml", "--out", "run", "--on", "kubernetes:dev/bench"]);
    command.current_dir(folder).env("PATH", path).env("CLUSTER", folder);
    command.env("PROGRAM", ASSAY).env("TROUBLE", trouble);
    command
}

fn ran(folder: &Path, trouble: &str, more: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command(folder, trouble).args(more).output().expect("assay starts");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

/// Everything that `kubectl` was asked.
fn asked(folder: &Path) -> String {
    fs::read_to_string(folder.join("asked")).unwrap_or_default()
}

/// Waits until the last Job's pods have ended. A test that waits for ever is ended by its runner.
fn wait_for_pods(folder: &Path) {
    for pod in fs::read_dir(folder.join("p")).expect("pods") {
        let code = pod.expect("a pod").path().join("code");
        while !code.exists() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn each_block_runs_in_a_pod_and_the_job_is_deleted() {
    let folder = laid_out();
    let (code, said) = ran(folder.path(), "", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches(" is complete").count(), 3, "{said}");
    assert!(said.contains("runs on node-"), "{said}");
    assert_whole(folder.path());
    let asked = asked(folder.path());
    assert!(asked.lines().all(|line| line.starts_with("--context=dev --namespace=bench ")), "{asked}");
    assert_eq!(asked.matches("create --filename=- --output=json").count(), 2, "plan and run: {asked}");
    assert_eq!(asked.matches("delete job assay-fake").count(), 2, "{asked}");
    wait_for_pods(folder.path());
}

#[test]
fn a_pod_that_dies_is_replaced_and_its_block_made_again() {
    let folder = laid_out();
    let (code, said) = ran(folder.path(), "dies", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(" is tried again: ") && said.contains("exit code 137"), "{said}");
    assert_whole(folder.path());
    assert!(asked(folder.path()).contains("delete pod pod-2 --ignore-not-found"));
}

#[test]
fn whatever_is_missing_in_the_cluster_is_named_before_anything_runs() {
    let folder = laid_out();
    let refused = |trouble: &str, more: &[&str], code: i32, words: &[&str]| {
        let (ended, said) = ran(folder.path(), trouble, more);
        assert_eq!(ended, Some(code), "{trouble}: {said}");
        words.iter().for_each(|words| assert!(said.contains(words), "{trouble}: {words} is not in {said}"));
        assert!(!folder.path().join("run").exists(), "{trouble}");
    };
    refused("context", &[], 3, &["cannot locate context dev", "kubectl config get-contexts"]);
    refused(
        "expired",
        &[],
        3,
        &["does not answer this user", "Unauthorized", "--context dev --namespace bench auth can-i"],
    );
    refused("rights", &[], 3, &["may not create pods/exec", "bench", "deploy/assay-run-rbac.yaml"]);
    refused("namespace", &[], 3, &["no namespace bench", "create namespace bench"]);
    refused("restricted", &["--allow-host-changes"], 2, &["Pod Security Standard restricted", "privileged"]);
    refused("nodes", &[], 2, &["amd64 (1), arm64 (1)", "--node-selector kubernetes.io/arch=amd64"]);
    refused("quota", &[], 3, &["exceeded quota: small", "no host can run the study"]);
    refused("image", &[], 3, &["ImagePullBackOff: shop:1 not found", "no host can run the study"]);
    refused("old", &[], 2, &["node-1 has Assay 0.0.1", "install the same there"]);
    let (code, said) = ran(folder.path(), "", &["--node-selector", "amd64"]);
    assert!(code == Some(2) && said.contains("`amd64` is not KEY=VALUE"), "{said}");
    fs::remove_file(folder.path().join("bin/kubectl")).expect("it was there");
    let mut without = command(folder.path(), "");
    let Output { status, stderr, .. } =
        without.env("PATH", folder.path().join("bin")).output().expect("assay starts");
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("kubectl cannot be started") && said.contains("kubernetes-client"), "{said}");
}

#[test]
fn a_pod_that_waits_for_long_waits_with_the_cluster_s_last_warning_about_it() {
    let folder = laid_out();
    let said = "ContainerCreating: FailedCreatePodSandBox: no network for the pod";
    let (mut child, mut lines) = started(&mut command(folder.path(), "sandbox"), said);
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{rest}");
    wait_for_pods(folder.path());
}

/// Starts a run, and waits until it says something.
fn started(command: &mut Command, said: &str) -> (Child, impl BufRead + use<>) {
    let mut child = command.stderr(Stdio::piped()).spawn().expect("assay starts");
    let mut lines = BufReader::new(child.stderr.take().expect("its output"));
    let mut line = String::new();
    while !line.contains(said) {
        line.clear();
        assert_ne!(lines.read_line(&mut line).expect("a line"), 0, "it ended");
    }
    (child, lines)
}

#[test]
fn an_interrupted_run_deletes_its_job_and_goes_on() {
    let folder = laid_out();
    let (mut child, mut lines) = started(&mut command(folder.path(), ""), " is complete");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let mut said = String::new();
    lines.read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    assert!(said.contains("--resume --out run"), "{said}");
    assert_eq!(asked(folder.path()).matches("delete job assay-fake").count(), 2);
    wait_for_pods(folder.path());
    let (code, said) = ran(folder.path(), "", &["--resume"]);
    assert_eq!(code, Some(0), "{said}");
    assert_whole(folder.path());
}

#[test]
fn pods_end_by_themselves_after_the_run_was_killed() {
    let folder = laid_out();
    let (mut child, _) = started(&mut command(folder.path(), ""), " is complete");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    wait_for_pods(folder.path());
    assert_eq!(asked(folder.path()).matches("delete job assay-fake").count(), 1, "of the plan alone");
}

/// Two nodes in network namespaces. Dropped, nothing is left of them.
struct Nodes {
    folder: PathBuf,
}

impl Nodes {
    /// `None` if Kubernetes was not built here.
    fn up(image: &Path) -> Option<Nodes> {
        let folder = root().join(".assay/kubernetes-v1.34.4");
        if !folder.join("bin/kubectl").exists() || !rustix::process::geteuid().is_root() {
            return None;
        }
        let server = std::env::current_exe().expect("a path");
        let program = format!("{ASSAY}=/usr/bin/assay");
        script(&["image".as_ref(), image.as_os_str(), program.as_ref(), server.as_os_str()]);
        let nodes = Nodes { folder };
        script(&["up".as_ref(), nodes.folder.as_os_str(), image.as_os_str()]);
        nodes.kubectl(&["apply", "--filename", &root().join("deploy/assay-run-rbac.yaml").to_string_lossy()]);
        nodes.kubectl(&["create", "rolebinding", "assay-run", "--role=assay-run", "--user=user"]);
        nodes.kubectl(&["label", "namespace", "default", "pod-security.kubernetes.io/enforce=restricted"]);
        Some(nodes)
    }

    fn kubectl(&self, arguments: &[&str]) -> String {
        let mut command = inside(&self.folder.join("bin/kubectl"));
        command.env("KUBECONFIG", self.folder.join("run/admin.conf")).args(arguments);
        let Output { status, stdout, stderr } = command.output().expect("kubectl starts");
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8_lossy(&stdout).into_owned()
    }

    /// A run by a user who has the role and nothing else.
    fn run(&self, folder: &Path, out: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = inside(Path::new(ASSAY));
        command.args([
            "run",
            "study.toml",
            "--on",
            "kubernetes:test/default",
            "--image",
            "assay-test:1",
            "--out",
            out,
        ]);
        command.current_dir(folder).env("KUBECONFIG", self.folder.join("run/user.conf"));
        command.env("PATH", format!("{}:{path}", self.folder.join("bin").display()));
        command
    }

    /// Waits until the cluster has removed everything of all runs.
    fn wait_until_empty(&self) {
        while !self.kubectl(&["get", "jobs,pods", "--output=name"]).is_empty() {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        script(&["down".as_ref(), self.folder.as_os_str()]);
    }
}

/// A program in the network of the control plane.
fn inside(program: &Path) -> Command {
    let mut command = Command::new("nsenter");
    command.arg("--net=/run/netns/assay-lab").arg(program);
    command
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the tree")
}

fn script(arguments: &[&OsStr]) {
    let status = Command::new(root().join("deploy/test-cluster")).args(arguments).status();
    assert!(status.expect("it starts").success(), "test-cluster {arguments:?}");
}

/// Names of the pods of which a worker is talked to.
fn running(nodes: &Nodes) -> Vec<String> {
    let names = nodes.kubectl(&["get", "pods", "--field-selector=status.phase=Running", "--output=name"]);
    names.lines().map(str::to_owned).collect()
}

#[test]
#[ignore = "long: it starts a Kubernetes cluster of two nodes, and needs deploy/test-cluster build"]
fn a_real_cluster_makes_every_block_once_and_keeps_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    study(folder.path());
    let Some(nodes) = Nodes::up(&folder.path().join("image.tar")) else {
        skip!("no Kubernetes: deploy/test-cluster build .assay/kubernetes-v1.34.4, as root")
    };
    let mut whole = nodes.run(folder.path(), "run");
    let Output { status, stderr, .. } = whole.output().expect("assay starts");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    assert_whole(folder.path());
    nodes.wait_until_empty();

    // A pod is killed, and its block is made again.
    fs::remove_dir_all(folder.path().join("run")).expect("it was there");
    let (child, mut lines) = started(&mut nodes.run(folder.path(), "run"), " is complete");
    for pod in running(&nodes) {
        nodes.kubectl(&["delete", &pod, "--grace-period=0", "--force"]);
    }
    let mut said = String::new();
    lines.read_to_string(&mut said).expect("text");
    assert!(child.wait_with_output().expect("it ends").status.success(), "{said}");
    assert_whole(folder.path());
    nodes.wait_until_empty();

    // Ctrl-C deletes the Job. After kill -9 the pods and then the Job end by themselves.
    for signal in [Signal::INT, Signal::KILL] {
        let out = format!("{signal:?}");
        let (mut child, _) = started(&mut nodes.run(folder.path(), &out), " is complete");
        kill_process(Pid::from_child(&child), signal).expect("it runs");
        child.wait().expect("it ends");
        nodes.wait_until_empty();
    }
}
