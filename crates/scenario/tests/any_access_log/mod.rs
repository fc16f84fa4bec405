//! What holds of any bytes as an access log.

use assay_scenario::Scenario;
use assay_scenario::generate::{AccessLog, from_access_log};

/// It is an error, or a scenario that can be read again; which of them.
pub fn check(bytes: &[u8]) -> Result<bool, String> {
    let Ok(made) = from_access_log(bytes, &AccessLog { named: "any.log", trace: None }) else {
        return Ok(false);
    };
    Scenario::look(&made.text, "made.toml").map_err(|wrong| format!("{wrong}\n{}", made.text))?;
    Ok(true)
}
