//! The compiled programs are those of their source.

use assay_testkit::skip;
use std::path::Path;
use std::process::Command;

#[test]
fn the_object_is_what_its_source_compiles_to() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("bpf");
    let place = tempfile::tempdir().expect("a folder");
    let out = place.path().join("threads.bpf.o");
    let built = Command::new(folder.join("build")).arg(&out).output().expect("a shell");
    if built.status.code() == Some(3) {
        skip!("{}", String::from_utf8_lossy(&built.stderr).trim());
    }
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let [kept, built] = [folder.join("threads.bpf.o"), out].map(|path| std::fs::read(path).expect("a file"));
    assert!(kept == built, "run crates/counters/bpf/build and commit the object");
}
