//! Which libraries a program needs, by its own word.

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64, PT_INTERP};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders in which libraries lie, as the dynamic loader of Debian and its kin looks.
const FOLDERS: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];
/// Files of one image whose needs are looked into, at most.
const FILES_MAX: usize = 4000;

/// How a 64-bit ELF file begins.
const MAGIC: &[u8; 5] = b"\x7fELF\x02";

/// Bytes of a file if it is a 64-bit ELF file. Of others, which may be large, only the first bytes are read.
fn elf_bytes(path: &Path) -> Option<Vec<u8>> {
    let mut start = [0; MAGIC.len()];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).ok()?;
    (start == *MAGIC).then(|| std::fs::read(path).ok()).flatten()
}

/// Names of the libraries that an ELF file needs, and its dynamic loader. None of what is not ELF, or broken.
fn needs(bytes: &[u8]) -> (Vec<String>, Option<PathBuf>) {
    read_needs(bytes).unwrap_or_default()
}

fn read_needs(bytes: &[u8]) -> Option<(Vec<String>, Option<PathBuf>)> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let text = |raw: &[u8]| String::from_utf8(raw.to_vec()).ok();
    let mut loader = None;
    for segment in header.program_headers(endian, bytes).ok()? {
        if segment.p_type(endian) == PT_INTERP {
            let raw = segment.data(endian, bytes).ok()?;
            loader = text(raw.split(|byte| *byte == 0).next()?).map(PathBuf::from);
        }
    }
    let sections = header.sections(endian, bytes).ok()?;
    let mut names = Vec::new();
    if let Some((entries, link)) = sections.dynamic(endian, bytes).ok()? {
        let strings = sections.strings(endian, bytes, link).ok()?;
        for entry in entries.iter().filter(|entry| entry.tag(endian) == DT_NEEDED) {
            names.extend(entry.string(endian, strings).ok().and_then(text));
        }
    }
    Some((names, loader))
}

/// Every library that these files need, directly or through others, with its path. Of what lies beside who needs it, or is among the
/// files, no copy is made. A library that is not found is left out: the program says so when it starts.
pub(crate) fn libraries(files: &[PathBuf]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let own: Vec<&std::ffi::OsStr> = files.iter().filter_map(|file| file.file_name()).collect();
    let mut left: Vec<Vec<u8>> = files.iter().filter_map(|file| elf_bytes(file)).collect();
    let mut looked_into = 0;
    while let Some(bytes) = left.pop() {
        looked_into += 1;
        if FILES_MAX < looked_into {
            break;
        }
        let (names, loader) = needs(&bytes);
        let of_names = names
            .iter()
            .filter(|name| !own.contains(&std::ffi::OsStr::new(name.as_str())))
            .filter_map(|name| find(name));
        for path in of_names.chain(loader) {
            if !found.contains_key(&path)
                && let Ok(content) = fs_err::read(&path)
            {
                found.insert(path, content.clone());
                left.push(content);
            }
        }
    }
    found
}

fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_libc_and_a_loader_and_libc_needs_the_loader() {
        let own = std::env::current_exe().unwrap();
        let found = libraries(&[own]);
        let has = |part: &str| found.keys().any(|path| path.to_string_lossy().contains(part));
        assert!(has("libc.so.6") && has("ld-linux"), "{:?}", found.keys());
    }

    #[test]
    fn what_is_no_elf_file_or_a_broken_one_needs_nothing() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for bytes in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &own[..64], &own[..own.len() / 2]] {
            assert_eq!(needs(bytes), (Vec::new(), needs(bytes).1));
        }
        assert_eq!(needs(b"\x7fELF"), (Vec::new(), None));
    }
}
