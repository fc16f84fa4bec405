//! Lists the files of `releases/`, so that a release is added by adding its file.

use std::{env, fs, path::Path};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("releases");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut releases: Vec<u32> = fs::read_dir(&folder)
        .expect("releases/ beside build.rs")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".toml")?.parse().ok())
        .collect();
    releases.sort_unstable();
    let entry = |release| {
        let path = folder.join(format!("{release}.toml"));
        format!("({release}, include_str!({path:?})),")
    };
    let list = format!("[{}]", releases.iter().map(entry).collect::<String>());
    let out = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("releases.rs");
    fs::write(out, format!("&{list}")).expect("a writable OUT_DIR");
}
