//! One request of a server's own URL, for ready, audit, reset and statistics. The load has its own client.

use rustls::crypto::ring;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::TlsConfig;

/// Bytes of an answer that are read; an audit's list of faults may be long.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Its text, up to a limit; what is not UTF-8 is replaced.
    pub body: String,
}

impl Answer {
    /// 2xx; a redirect says that something else is asked for.
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Gets a URL of the form `http://HOST:PORT/PATH` or `https://`; `timeout` holds for the whole of it.
///
/// # Errors
/// When there is no whole answer in time.
pub fn get(url: &str, timeout: Duration) -> io::Result<Answer> {
    answer(agent(timeout).get(url).call())
}

/// Posts nothing to such a URL.
///
/// # Errors
/// As [`get`].
pub fn post(url: &str, timeout: Duration) -> io::Result<Answer> {
    answer(agent(timeout).post(url).send_empty())
}

/// No proxy: the server is on this machine, whatever the environment says of proxies. For the same reason its certificate is not checked:
/// the load does that.
fn agent(timeout: Duration) -> ureq::Agent {
    let tls = TlsConfig::builder()
        .disable_verification(true)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()));
    ureq::Agent::config_builder()
        .tls_config(tls.build())
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .build()
        .into()
}

fn answer(of: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> io::Result<Answer> {
    let mut response = of.map_err(ureq::Error::into_io)?;
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX).lossy_utf8(true);
    let body = body.read_to_string().map_err(ureq::Error::into_io)?;
    Ok(Answer { status: response.status().as_u16(), body })
}
