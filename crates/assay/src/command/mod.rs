//! One file for each command. On Linux there are all; elsewhere those that read files: logs, dumps, options, stored results.

pub mod compare;
pub mod flags;
pub mod gate;
pub mod gc;
pub mod heap;
#[cfg(target_os = "linux")]
pub mod linux;
#[cfg_attr(not(target_os = "linux"), path = "process_elsewhere.rs")]
pub mod process;
pub mod report;
pub mod what_file;

use crate::failure::Failure;
use assay_model::schema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::Path;

/// Longest stored form that is read. A memory snapshot has some hundred KB, and so has the sweep of a hundred levels.
const STORED_BYTES_MAX: u64 = 256 << 20;

/// What every stored form says of itself.
#[derive(Deserialize)]
struct Named {
    schema: String,
}

/// Reads a stored form of this schema; `what` it is stands in the message.
pub fn read_stored<T: DeserializeOwned>(path: &Path, schema: &str, what: &str) -> Result<T, Failure> {
    let wrong = |why: String| Failure::input(format!("{} is not {what}: {why}", path.display()));
    let file = fs_err::File::open(path).map_err(|e| Failure::input(e.to_string()))?;
    let mut text = Vec::new();
    file.take(STORED_BYTES_MAX + 1).read_to_end(&mut text).map_err(|e| wrong(e.to_string()))?;
    if STORED_BYTES_MAX < text.len() as u64 {
        return Err(wrong(format!("it is larger than {} MiB", STORED_BYTES_MAX >> 20)));
    }
    let named: Named = serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))?;
    if !schema::is_of(&named.schema, schema) {
        return Err(wrong(format!("its schema is {}, this program reads {schema}", named.schema)));
    }
    schema::check(&named.schema, schema)
        .map_err(|why| Failure::input(format!("cannot read {}: {why}", path.display())))?;
    serde_json::from_slice(&text).map_err(|e| wrong(e.to_string()))
}
