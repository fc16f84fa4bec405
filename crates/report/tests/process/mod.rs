//! CPU time, load, host and flags: pages, texts, CSV and Markdown.

mod detailed_load;
mod flags;
mod host;
mod load;
mod recorded;
mod time;

use crate::golden::{self, page};
use assay_model::*;
use assay_report::*;
use serde::de::DeserializeOwned;

fn view(width: u16) -> TerminalView {
    TerminalView { width, color: false, extent: Extent::Biggest(24) }
}

fn stored<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a kept result")
}

fn csv(data: &Data) -> Vec<String> {
    let mut out = Vec::new();
    data.write_csv(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8").lines().map(str::to_owned).collect()
}
