//! Variables of a program and its libraries, as they were just before its pages were looked at.
//!
//! A running thread puts what it allocates at the front of its lists. By the time that the variables are read, a front may lie
//! in a page that was not resident yet when the pages were looked at, and all of the list is lost with it: its front of a
//! moment earlier leads to what was there.

use crate::page_scan::{Method, read_pages};
use crate::{LinuxError, Mapping, ProcRoot};
use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Variables that are kept; a JVM with all its libraries has 3 MiB.
const KEPT_BYTES_MAX: u64 = 64 << 20;

/// Bytes that lay at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierBytes {
    /// Where they lay.
    pub address: u64,
    /// What they were.
    pub bytes: Vec<u8>,
}

/// Reads the resident part of all private writable mappings of programs and libraries, which are files with code, and of the anonymous
/// memory directly behind each, where what begins as zeros lies. In the order of the addresses; variables that cannot be read are left out.
///
/// Folklore: a JVM's archive of class data is a private writable file, too, of 10 MiB and more. Held by:
/// `the_archive_of_a_jvm_s_classes_is_no_variable`.
pub(crate) fn read_variables(
    proc: &ProcRoot,
    pid: u32,
    memory: &File,
    method: Method,
) -> Result<Vec<EarlierBytes>, LinuxError> {
    let mappings = proc.read_maps(pid)?;
    let file = |mapping: &Mapping| (mapping.device.clone(), mapping.inode);
    let with_code: HashSet<(String, u64)> =
        mappings.iter().filter(|mapping| mapping.is_file() && mapping.is_executable()).map(file).collect();
    let mut wanted: Vec<Mapping> = Vec::new();
    let mut is_behind = None;
    for mut mapping in mappings {
        let is_of_program = mapping.is_file() && with_code.contains(&file(&mapping));
        let is_variables = &mapping.permissions == b"rw-p"
            && (is_of_program || (mapping.name.is_empty() && is_behind == Some(mapping.addresses.start)));
        // The first part of a segment of variables is protected once it is relocated.
        is_behind = (is_of_program && !mapping.is_executable()).then_some(mapping.addresses.end);
        if is_variables {
            // Any of it may be resident.
            mapping.rss_bytes = mapping.size_bytes();
            wanted.push(mapping);
        }
    }
    let mut kept = Vec::new();
    let mut left = KEPT_BYTES_MAX;
    for run in read_pages(proc, pid, &wanted, method)?.resident.runs() {
        let bytes = run.addresses.end - run.addresses.start;
        let mut buffer = vec![0; bytes.min(left) as usize];
        if !buffer.is_empty() && memory.read_exact_at(&mut buffer, run.addresses.start).is_ok() {
            left -= buffer.len() as u64;
            kept.push(EarlierBytes { address: run.addresses.start, bytes: buffer });
        }
    }
    Ok(kept)
}
