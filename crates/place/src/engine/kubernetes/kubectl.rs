//! `kubectl` as a program.

use super::cluster::Cluster;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use thiserror::Error;

/// The program, and how to get it.
pub(super) const NEEDED: (&str, &str) = ("kubectl", "apt-get install kubernetes-client");
/// The end of what it printed, for a message.
const ERROR_CHARS_MAX: usize = 1_500;

/// Why a request failed.
#[derive(Debug, Error)]
pub(super) enum KubectlError {
    /// `kubectl` is not installed, or cannot be started.
    #[error("{program} cannot be started: {0}\n  where it is missing: {install}", program = NEEDED.0, install = NEEDED.1)]
    Missing(io::Error),
    /// The cluster refused, or does not answer: the words of `kubectl`.
    #[error("{0}")]
    Refused(String),
}

/// Requests to one cluster.
#[derive(Debug, Clone)]
pub(super) struct Kubectl {
    options: Vec<String>,
}

impl Kubectl {
    pub(super) fn of(cluster: &Cluster) -> Kubectl {
        let option = |name: &str, value: &Option<String>| Some(format!("--{name}={}", value.as_ref()?));
        let options = [option("context", &cluster.context), option("namespace", &cluster.namespace)];
        Kubectl { options: options.into_iter().flatten().collect() }
    }

    /// The same for requests that name this namespace.
    pub(super) fn in_namespace(&self, namespace: &str) -> Kubectl {
        let is_other = |option: &&String| !option.starts_with("--namespace=");
        let mut options: Vec<String> = self.options.iter().filter(is_other).cloned().collect();
        options.push(format!("--namespace={namespace}"));
        Kubectl { options }
    }

    /// A command as the user would type it, for a message.
    pub(super) fn typed(&self, rest: &str) -> String {
        let typed = |option: &String| {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            format!("{name} {} ", shell_words::quote(value))
        };
        format!("kubectl {}{rest}", self.options.iter().map(typed).collect::<String>())
    }

    /// The command. Ctrl-C does not reach it: this program ends it in order.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(NEEDED.0);
        command.args(&self.options).args(arguments).process_group(0);
        command
    }

    /// Runs it with this input.
    pub(super) fn run(&self, arguments: &[&str], input: Option<&Value>) -> Result<Vec<u8>, KubectlError> {
        let mut command = self.command(arguments);
        command.arg("--request-timeout=20s");
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(KubectlError::Missing)?;
        if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
            // An input that it does not read is an error that it reports.
            let _ = pipe.write_all(input.to_string().as_bytes());
        }
        let Output { status, stdout, stderr } =
            child.wait_with_output().map_err(|e| KubectlError::Refused(e.to_string()))?;
        if status.success() {
            return Ok(stdout);
        }
        let said = String::from_utf8_lossy(&stderr);
        // It repeats itself for each object.
        let mut lines: Vec<&str> = said.trim().lines().collect();
        lines.dedup();
        let said = lines.join("\n  ");
        let begin = said.char_indices().rev().nth(ERROR_CHARS_MAX).map_or(0, |(at, _)| at);
        let said =
            if said.is_empty() { format!("kubectl ended with {status}") } else { said[begin..].to_owned() };
        Err(KubectlError::Refused(said))
    }

    /// Runs it and reads the JSON values that it prints. `--ignore-not-found` may leave none.
    pub(super) fn json<T: DeserializeOwned>(
        &self,
        arguments: &[&str],
        input: Option<&Value>,
    ) -> Result<Vec<T>, KubectlError> {
        let output = self.run(&[arguments, &["--output=json"]].concat(), input)?;
        let values = serde_json::Deserializer::from_slice(&output).into_iter();
        values.collect::<Result<_, _>>().map_err(|e| {
            let asked = arguments.join(" ");
            KubectlError::Refused(format!("the output of kubectl {asked} is not the expected JSON: {e}"))
        })
    }
}
