//! A study of a server that runs already: keys that mean nothing then.

use crate::file::document::Document;
use crate::file::program::ServerTable;
use crate::file::study::Study;
use assay_load::for_url;
use serde::Serialize;

/// Keys of `[server]` that apply to a server that runs already.
const OF_SERVER: [&str; 9] =
    ["url", "tls", "http2_streams", "pid", "companions", "gc_log", "audit_url", "reset_url", "stats_url"];
/// Settings that apply to it.
const OF_SETTINGS: [&str; 1] = ["load"];

/// Reports keys that would set or vary something of the server.
pub(crate) fn check(server: &ServerTable, study: &Study, document: &mut Document) {
    for (key, url) in server.urls() {
        if let Err(e) = for_url(url) {
            document.add(&format!("server.{key}"), e.to_string());
        }
        if key != "url" && !url.starts_with("http://") {
            let what = "only the load speaks TLS; give an address of the server that begins with http://";
            document.add(&format!("server.{key}"), what);
        }
    }
    let of_server = keys_but(server, &OF_SERVER).into_iter().map(|key| format!("server.{key}"));
    let mut foreign: Vec<String> = of_server.chain(keys_but(&study.settings, &OF_SETTINGS)).collect();
    let counted =
        [("factor", study.factor.len()), ("process", study.process.len()), ("fault", study.fault.len())];
    foreign.extend(counted.into_iter().filter(|(_, count)| *count > 0).map(|(key, _)| key.to_owned()));
    for key in foreign {
        document.add(&key, format!("`{key}` means nothing for a server that runs already"));
    }
}

/// The keys that a table sets, without those given.
fn keys_but(table: &impl Serialize, meaningful: &[&str]) -> Vec<String> {
    let keys = toml::Table::try_from(table).unwrap_or_default().into_iter().map(|(key, _)| key);
    keys.filter(|key| !meaningful.contains(&key.as_str())).collect()
}
