//! NGINX in front of Java servers.

use crate::check::view::{Judged, Judgement, View};
use std::collections::BTreeMap;

type Directives = BTreeMap<String, Vec<String>>;

const CONNECTIONS_DEFAULT: u64 = 512;
const CONNECTIONS_MIN: u64 = 4096;
/// Since NGINX 1.19.10; 100 before.
const REQUESTS_DEFAULT: u64 = 1000;
const REQUESTS_MIN: u64 = 10_000;

/// The first server for which the judge finds something bad, else the last.
fn each(view: &View<'_>, judge: impl Fn(&Directives) -> Judgement) -> Judgement {
    let mut last = Err(Judged::not_applicable("no NGINX runs here"));
    for proxy in &view.snapshot.proxies {
        let unreadable =
            || Judged::unknown(format!("the configuration of NGINX {} could not be read", proxy.pid));
        last = judge(proxy.directives.as_ref().ok_or_else(unreadable)?);
        if last.as_ref().is_ok_and(|judged| judged.verdict == assay_model::HostVerdict::Bad) {
            break;
        }
    }
    last
}

/// The smallest value of a directive; `None` where it is not given.
fn least(directives: &Directives, name: &str) -> Result<Option<u64>, Judged> {
    let values = directives.get(name).into_iter().flatten();
    let numbers = values
        .map(|value| value.parse().map_err(|_| Judged::unknown(format!("{name} {value:?} is not a number"))));
    Ok(numbers.collect::<Result<Vec<u64>, Judged>>()?.into_iter().min())
}

fn given_or_default(given: Option<u64>) -> &'static str {
    if given.is_some() { "as configured" } else { "NGINX's default" }
}

pub(super) fn connections(view: &View<'_>) -> Judgement {
    each(view, |directives| {
        let given = least(directives, "worker_connections")?;
        let value = given.unwrap_or(CONNECTIONS_DEFAULT);
        let why = format!("for each worker, {}; good: at least {CONNECTIONS_MIN}", given_or_default(given));
        Ok(Judged::bad_if(value < CONNECTIONS_MIN, value, why))
    })
}

pub(super) fn requests_per_connection(view: &View<'_>) -> Judgement {
    each(view, |directives| {
        let given = least(directives, "keepalive_requests")?;
        let value = given.unwrap_or(REQUESTS_DEFAULT);
        let why = format!("{}; good: at least {REQUESTS_MIN}", given_or_default(given));
        Ok(Judged::bad_if(value < REQUESTS_MIN, value, why))
    })
}

pub(super) fn upstream_keepalive(view: &View<'_>) -> Judgement {
    each(view, |directives| {
        if !directives.contains_key("proxy_pass") {
            return Err(Judged::not_applicable("this NGINX forwards nothing"));
        }
        let groups = directives.get("upstream").map_or(0, Vec::len);
        let kept = directives.get("keepalive").map_or(0, Vec::len);
        let why = format!("of {groups} upstream blocks keep connections");
        Ok(Judged::bad_if(kept == 0 || kept < groups, kept, why))
    })
}

pub(super) fn access_log(view: &View<'_>) -> Judgement {
    each(view, |directives| {
        let logs = directives.get("access_log").map_or(&[][..], Vec::as_slice);
        // Without the directive there is a log, unbuffered.
        let unbuffered = logs.iter().find(|log| *log != "off" && !log.contains("buffer="));
        let value = unbuffered.map_or("as by default", String::as_str);
        let is_bad = unbuffered.is_some() || logs.is_empty();
        Ok(Judged::bad_if(is_bad, if is_bad { value } else { "off or buffered" }, "access_log"))
    })
}

pub(super) fn open_files(view: &View<'_>) -> Judgement {
    each(view, |directives| {
        let connections = least(directives, "worker_connections")?.unwrap_or(CONNECTIONS_DEFAULT);
        let Some(files) = least(directives, "worker_rlimit_nofile")? else {
            return Err(Judged::unknown(
                "worker_rlimit_nofile is not set: the limit is inherited from the process that started it",
            ));
        };
        let why =
            format!("with {connections} connections for each worker, each perhaps with one to a server");
        Ok(Judged::bad_if(files < connections.saturating_mul(2), files, why))
    })
}
