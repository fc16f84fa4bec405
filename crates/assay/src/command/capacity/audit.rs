//! Asks a server for its own account of its data, and to set it back.

use assay_measure::ServerData;
use assay_model::Audit;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(60);
/// Of an answer that may list many faults.
const DETAIL_CHARS_MAX: usize = 500;
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Addresses where a server is asked.
#[derive(Debug)]
pub struct DataUrls<'a> {
    /// GET; 2xx says that every invariant holds.
    pub audit: Option<&'a str>,
    /// POST; 2xx says that the data is that of the beginning again.
    pub reset: Option<&'a str>,
}

impl ServerData for DataUrls<'_> {
    /// No answer is no proof.
    fn audit(&mut self) -> Option<Audit> {
        let url = self.audit?;
        Some(match answer(agent().get(url).call()) {
            Ok((passed, detail)) => Audit { passed, detail },
            Err(e) => Audit { passed: false, detail: format!("{url} gave no answer: {e}") },
        })
    }

    fn reset(&mut self) -> Result<(), String> {
        let Some(url) = self.reset else { return Ok(()) };
        match answer(agent().post(url).send_empty()) {
            Ok((true, _)) => Ok(()),
            Ok((false, detail)) => Err(format!("{url} {detail}")),
            Err(e) => Err(format!("{url} gave no answer: {e}")),
        }
    }
}

/// No proxy: the server is the one that was loaded, whatever the environment says of proxies.
fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .build()
        .into()
}

/// Whether it is 2xx, and what it says, shortened.
fn answer(of: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<(bool, String), ureq::Error> {
    let mut response = of?;
    let status = response.status();
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).lossy_utf8(true).read_to_string();
    let body: String = body.unwrap_or_default().chars().take(DETAIL_CHARS_MAX).collect();
    Ok((status.is_success(), format!("answered {}: {}", status.as_u16(), body.trim())))
}
