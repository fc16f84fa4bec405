//! The addresses at which a server audits and resets its data.

use assay_launch::http;
use assay_measure::ServerData;
use assay_model::Audit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An audit reads all data of the server, of which hours of load make much: this only ends one that hangs.
pub(super) const AUDIT_TIMEOUT: Duration = Duration::from_secs(120);
/// The user waits for the end of an interrupted run.
pub(super) const AUDIT_TIMEOUT_INTERRUPTED: Duration = Duration::from_secs(5);
/// Longest part of an answer that is kept: it may list many mistakes.
const DETAIL_CHARS_MAX: usize = 500;

/// Addresses of a server.
pub(super) struct DataUrls<'a> {
    /// GET; 2xx means that every invariant holds.
    pub audit: Option<String>,
    /// POST; 2xx means that the data is reset.
    pub reset: Option<String>,
    pub stop: &'a AtomicBool,
}

impl ServerData for DataUrls<'_> {
    fn audit(&mut self) -> Option<Audit> {
        let url = self.audit.as_deref()?;
        Some(match self.stop.load(Ordering::Relaxed) {
            false => ask_audit(url, AUDIT_TIMEOUT),
            true => Audit { passed: false, detail: "not read: the run was stopped".to_owned() },
        })
    }

    fn reset(&mut self) -> Result<(), String> {
        let Some(url) = self.reset.as_deref() else { return Ok(()) };
        match http::post(url, AUDIT_TIMEOUT) {
            Ok(answer) if answer.is_good() => Ok(()),
            Ok(answer) => Err(format!("{url} {}", description(&answer))),
            Err(e) => Err(format!("{url} gave no answer: {e}")),
        }
    }
}

/// The server's own proof that its data is right; without an answer it is not proven.
pub(super) fn ask_audit(url: &str, timeout: Duration) -> Audit {
    match http::get(url, timeout) {
        Ok(answer) => Audit { passed: answer.is_good(), detail: description(&answer) },
        Err(e) => Audit { passed: false, detail: format!("{url} gave no answer: {e}") },
    }
}

fn description(answer: &http::Answer) -> String {
    let (text, most) = (answer.body.trim(), DETAIL_CHARS_MAX);
    let dots = if text.chars().nth(most).is_some() { "..." } else { "" };
    format!("answered {}: {}{dots}", answer.status, text.chars().take(most).collect::<String>())
}
