//! The method under compilation, of a JVM that compiles one again and again.

use assay_memory::{ReadOptions, SnapshotDepth, read};
use assay_testkit::{each_release, skip, start_java};

/// Looks at a JVM until a compiler is at work: a method is called often before it is compiled at all.
const LOOKS_MAX: usize = 1_000;

#[test]
fn the_method_that_is_compiled_without_end_is_named() {
    // Before, builds for users have no such option.
    let releases: Vec<_> = each_release(64).into_iter().filter(|(feature, _)| 17 <= *feature).collect();
    if releases.is_empty() {
        skip!("no 64-bit JDK 17 or later");
    }
    for (feature, java) in releases {
        let options = [
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:RepeatCompilation=1000000000",
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=compileonly,Burning::*",
        ];
        let jvm = start_java(&java, &options, &[], "Burning");
        let look = || {
            let report =
                read(jvm.pid(), &ReadOptions::of_depth(SnapshotDepth::Structures)).expect("our child");
            report.jvm.expect("a JVM").compiling
        };
        let found = (0..LOOKS_MAX).map(|_| look()).find(|found| !found.is_empty());
        let found = found.unwrap_or_else(|| panic!("JDK {feature}: no compiler was ever at work"));
        println!("JDK {feature}: {found:?}");
        assert!(found.iter().all(|method| method.starts_with("Burning::")), "JDK {feature}: {found:?}");
    }
}
