//! Asks a server for its own proof that its data is right.

use assay_model::Audit;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Of an answer that may list many faults.
const DETAIL_CHARS_MAX: usize = 500;
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// One GET; 2xx says that every invariant holds. No answer is no proof.
pub fn ask(url: &str) -> Audit {
    // No proxy: the server is the one that was loaded, whatever the environment says of proxies.
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .build()
        .into();
    match agent.get(url).call() {
        Ok(mut response) => {
            let status = response.status();
            let body =
                response.body_mut().with_config().limit(ANSWER_BYTES_MAX).lossy_utf8(true).read_to_string();
            let body: String = body.unwrap_or_default().chars().take(DETAIL_CHARS_MAX).collect();
            Audit {
                passed: status.is_success(),
                detail: format!("answered {}: {}", status.as_u16(), body.trim()),
            }
        }
        Err(e) => Audit { passed: false, detail: format!("{url} gave no answer: {e}") },
    }
}
