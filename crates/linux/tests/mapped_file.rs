//! Files of a process that may be hostile: only the very file that was mapped is opened, and nothing but a file.

use crate::target::Target;
use assay_linux::{LiveProcess, Mapping, MemorySource, ProcRoot};
use assay_testkit::skip;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::geteuid;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// A child that maps a file with this content.
fn mapped(content: &str) -> (tempfile::TempDir, PathBuf, Target) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("a folder").join("data \n file");
    fs::write(&path, content).expect("a file");
    let target = Target::start_with("file", path.to_str().expect("a path"));
    (folder, path, target)
}

fn look(target: &Target) -> (LiveProcess, Mapping) {
    let live = LiveProcess::open(&ProcRoot::default(), target.pid()).expect("our child");
    let at = target.told["file"];
    let mapping = live.mappings().iter().find(|m| m.addresses.contains(&at)).expect("mapped").clone();
    (live, mapping)
}

/// The same mapping at an address at which `map_files` has nothing: what a reader without root's rights sees.
fn without_map_files(mapping: &Mapping) -> Mapping {
    Mapping { addresses: 0x1000..0x2000, ..mapping.clone() }
}

fn content(live: &LiveProcess, mapping: &Mapping) -> Result<String, ErrorKind> {
    let mut text = String::new();
    live.open_mapped_file(mapping).map_err(|e| e.kind())?.read_to_string(&mut text).expect("a file");
    Ok(text)
}

#[test]
fn a_mapped_file_is_opened_by_both_ways() {
    let (_folder, _, target) = mapped("as mapped");
    let (live, mapping) = look(&target);
    assert_eq!(content(&live, &mapping).as_deref(), Ok("as mapped"));
    assert_eq!(content(&live, &without_map_files(&mapping)).as_deref(), Ok("as mapped"));
    let anonymous = live.mappings().iter().find(|m| !m.is_file()).expect("a stack");
    assert_eq!(content(&live, anonymous), Err(ErrorKind::NotFound));
}

#[test]
fn a_device_number_that_stat_shows_otherwise_is_found_by_mapping_a_page() {
    let (_folder, path, target) = mapped("as mapped");
    let (live, mapping) = look(&target);
    // What `stat` says differs on btrfs and overlayfs; what the kernel shows for a mapping is the same everywhere.
    let other = Mapping { device: "ff:ff".to_owned(), ..without_map_files(&mapping) };
    assert_eq!(content(&live, &other), Err(ErrorKind::NotFound));
    fs::write(path, "longer than before").expect("a file");
    assert_eq!(content(&live, &without_map_files(&mapping)).as_deref(), Ok("longer than before"));
}

#[test]
fn a_mapped_file_is_opened_though_its_path_is_gone() {
    let (_folder, path, target) = mapped("as mapped");
    fs::remove_file(&path).expect("our file");
    let (live, mapping) = look(&target);
    assert!(mapping.name.ends_with(" (deleted)"), "{mapping:?}");
    assert_eq!(content(&live, &without_map_files(&mapping)), Err(ErrorKind::NotFound));
    if !geteuid().is_root() {
        skip!("only root may open it still");
    }
    assert_eq!(content(&live, &mapping).as_deref(), Ok("as mapped"));
}

#[test]
fn a_replaced_file_is_refused() {
    let (_folder, path, target) = mapped("as mapped");
    let (live, mapping) = look(&target);
    fs::rename(&path, path.with_extension("old")).expect("our file");
    fs::write(&path, "another file").expect("a file");
    let error = live.open_mapped_file(&without_map_files(&mapping)).expect_err("another file");
    assert!(error.to_string().contains("was replaced since it was mapped"), "{error}");
    if geteuid().is_root() {
        assert_eq!(content(&live, &mapping).as_deref(), Ok("as mapped"));
    }
}

#[test]
fn pipes_devices_and_folders_are_refused_without_being_opened() {
    let (_folder, path, target) = mapped("as mapped");
    let (live, mapping) = look(&target);
    let mapping = without_map_files(&mapping);
    fs::remove_file(&path).expect("our file");
    // Opening a pipe would wait for its writer, for ever.
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR, 0).expect("a pipe");
    assert_eq!(content(&live, &mapping), Err(ErrorKind::InvalidInput));
    fs::remove_file(&path).expect("our pipe");
    std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
    assert_eq!(content(&live, &mapping), Err(ErrorKind::InvalidInput));
    fs::remove_file(&path).expect("our link");
    fs::create_dir(&path).expect("a folder");
    assert_eq!(content(&live, &mapping), Err(ErrorKind::InvalidInput));
    fs::remove_dir(&path).expect("our folder");
    // A link through which `/proc` would lead somewhere else, and one that leads nowhere.
    for to in ["/proc/self/exe", "/nowhere", path.to_str().expect("a path")] {
        std::os::unix::fs::symlink(to, &path).expect("a link");
        assert!(content(&live, &mapping).is_err(), "{to}");
        fs::remove_file(&path).expect("our link");
    }
}

#[test]
fn libraries_of_this_process_are_opened_with_their_own_content() {
    let live = LiveProcess::open(&ProcRoot::default(), std::process::id()).expect("this process");
    let mut opened = 0;
    for mapping in live.mappings().iter().filter(|m| m.is_executable() && m.is_file()) {
        let mut file = live.open_mapped_file(mapping).expect("a library");
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        file.read_to_end(&mut ours).expect("a file");
        fs::File::open(Path::new(&mapping.name))
            .and_then(|mut f| f.read_to_end(&mut theirs))
            .expect("a file");
        assert!(ours == theirs, "{}", mapping.name);
        opened += 1;
    }
    assert!(2 <= opened, "{opened}");
}
