//! The files of a machine as a folder that looks like its root, read as those of a real one.

use crate::check::rules;
use crate::snapshot::read_files;
use assay_model::{FileRead, HostSnapshot};

/// The snapshot with its files as they are read from the folder.
pub(super) fn read_back(snapshot: &HostSnapshot) -> HostSnapshot {
    let root = tempfile::tempdir().expect("a folder");
    for (path, read) in &snapshot.files {
        let path = root.path().join(path.trim_start_matches('/'));
        match read {
            FileRead::Absent => {}
            FileRead::Text(text) => {
                fs_err::create_dir_all(path.parent().expect("its folder")).expect("made");
                fs_err::write(path, text).expect("written");
            }
            // Root may read whatever it is not allowed to; a folder cannot be read as a file by anybody.
            FileRead::Unreadable(_) => fs_err::create_dir_all(path).expect("made"),
        }
    }
    let pids: Vec<u32> = snapshot.jvms.iter().map(|jvm| jvm.pid).collect();
    let files = read_files(root.path(), rules().iter().flat_map(|rule| &rule.reads), &pids);
    HostSnapshot { files, ..snapshot.clone() }
}
