//! The scenario of a plain URL.

use crate::LoadError;
use crate::url::BaseUrl;
use assay_model::schema;
use assay_scenario::Scenario;

/// The scenario of a plain URL: one GET. Returns the base URL with it.
///
/// # Errors
/// The URL is not one that the generator can load.
pub fn for_url(url: &str) -> Result<(String, Scenario), LoadError> {
    of_url(url, "")
}

/// The same, following redirects.
///
/// # Errors
/// As of `for_url`.
pub fn for_url_and_redirects(url: &str) -> Result<(String, Scenario), LoadError> {
    of_url(url, "follow_redirects = true\n")
}

fn of_url(url: &str, more: &str) -> Result<(String, Scenario), LoadError> {
    let (base, path) = BaseUrl::split(url)?;
    if BaseUrl::parse(&base)?.scheme.is_chat() {
        let text = format!("schema = \"{}\"\nname = \"chat\"\n\n[chat]\n", schema::SCENARIO_FILE);
        return Ok((base, Scenario::parse(&text, url)?));
    }
    // A brace may not stand in a URL, and would begin the name of a value here.
    let path = path.replace('{', "%7B").replace('}', "%7D");
    let [name, operation] = [path.clone(), format!("GET {path}")].map(toml::Value::String);
    let text = format!(
        "schema = \"{}\"\nname = {name}\n\n[[operation]]\nname = {operation}\npath = {name}\n{more}",
        schema::SCENARIO_FILE
    );
    Ok((base, Scenario::parse(&text, url)?))
}
