//! What releases know of control groups, held against the libraries of the JVMs that are here.

use assay_jdk::containers::ContainerRules;
use assay_jdk::{jvm_at, release_and_update};
use assay_testkit::{each_release, skip};
use std::path::{Path, PathBuf};

fn libjvm_below(folder: &Path) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            if let Some(found) = libjvm_below(&path) {
                return Some(found);
            }
        } else if path.ends_with("server/libjvm.so") {
            return Some(path);
        }
    }
    None
}

#[test]
fn what_each_release_knows_of_control_groups_is_in_its_library() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let jvm = jvm_at(&java).expect("its home");
        let home = PathBuf::from(&jvm.home);
        let bytes = std::fs::read(libjvm_below(&home).expect("its library")).expect("readable");
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        let (of, update) = release_and_update(&jvm.version).expect("a version");
        let known = ContainerRules::needs_no_list(of, update);
        let reads_file = has("cgroup.controllers");
        println!("JDK {}: {known:?}, in its library {reads_file}", jvm.version);
        assert_eq!(of, feature);
        assert!(known.is_none_or(|known| known == reads_file), "JDK {}: {known:?}", jvm.version);
        assert!(has("UseContainerSupport"), "JDK {}", jvm.version);
    }
}

#[test]
fn versions_have_a_feature_release_and_an_update_in_every_form() {
    for (text, expected) in [
        ("17.0.15+6-Debian-1deb12u1", Some((17, 15))),
        ("25", Some((25, 0))),
        ("25+36", Some((25, 0))),
        ("1.8.0_504-8u504-ga-1-b01", Some((8, 504))),
        ("8u504 (HotSpot 25.504-b01)", Some((8, 504))),
        ("1.8.0", None),
        ("next", None),
    ] {
        assert_eq!(release_and_update(text), expected, "{text}");
    }
}
