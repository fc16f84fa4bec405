//! A native image of GraalVM is recognized as one: here by a program that has its section and nothing else of it.

use assay_memory::{ReadOptions, read};
use assay_testkit::{Running, skip, testdata};
use std::process::Command;

#[test]
fn a_native_image_is_said_to_be_one_and_other_programs_are_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("image");
    let mut compiler = Command::new("cc");
    let made = compiler.arg("-o").arg(&program).arg(testdata("linux/native_image.c")).status();
    if !made.is_ok_and(|status| status.success()) {
        skip!("no C compiler");
    }
    let about = |program: &mut Command| {
        let running = Running::start(program, "ready");
        let report = read(running.pid(), &ReadOptions::default()).expect("our child");
        assert!(report.jvm.is_none());
        report
            .problems
            .into_iter()
            .find(|problem| problem.about == "native image")
            .map(|problem| problem.text)
    };
    let text = about(&mut Command::new(&program)).expect("it is recognized");
    assert!(text.contains("GraalVM") && text.contains(&program.display().to_string()), "{text}");
    assert_eq!(about(Command::new("sh").args(["-c", "echo ready; read line"])), None);
}
