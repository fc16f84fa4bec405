//! How an emulator that was unpacked into a folder is started.

use std::collections::BTreeMap;
use std::path::Path;

/// The guest's file system, in the folder in which the emulator is started.
pub const IMAGE_FILE: &str = "emulated-image.cpio";

/// How the emulator is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables.
    pub env: BTreeMap<String, String>,
}

/// The variable by which the emulator finds its libraries.
pub(crate) fn libraries(folder: &Path) -> BTreeMap<String, String> {
    let all = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"]
        .map(|path| folder.join(path).to_string_lossy().into_owned());
    BTreeMap::from([("LD_LIBRARY_PATH".to_owned(), all.join(":"))])
}
