//! JVMs that misuse processors in a known way: who ran, and what was found.

use assay_counters::TimeGauge;
use assay_linux::{ExitListener, SysRoot};
use assay_model::{ThreadRole, TimeGroup, TimeReport};
use assay_testkit::{Running, each_java, find_tool, skip, start_java};

/// Has the program do something in each JDK, and gives the account of it.
fn each_account(what: &str, mut check: impl FnMut(TimeReport)) -> usize {
    if find_tool("javac").is_none() {
        return 0;
    }
    let javas = each_java(64);
    for java in javas.values() {
        let mut jvm: Running = start_java(java, &["-Xmx128m", "-XX:+UseSerialGC"], &[], "Planted");
        let mut gauge = TimeGauge::start(jvm.pid()).expect("our child");
        assert_eq!(jvm.ask(what).trim(), "done");
        assert!(gauge.look().expect("our child"), "it lives");
        check(gauge.report(None));
    }
    javas.len()
}

fn group<'a>(report: &'a TimeReport, name: &str) -> &'a TimeGroup {
    report.groups.iter().find(|group| group.name == name).unwrap_or_else(|| panic!("no {name}: {report:?}"))
}

#[test]
fn java_threads_that_nobody_saw_have_the_role_of_those_with_their_name_and_it_is_inferred() {
    if let Err(denial) = ExitListener::start(&SysRoot::default()) {
        skip!("{denial}");
    }
    let cases = each_account("fleeting 200", |report| {
        let of_name: Vec<_> = report.groups.iter().filter(|group| group.name == "fleeting-*").collect();
        let [gone, stays] = of_name[..] else { panic!("{of_name:?}") };
        assert_eq!((gone.role, gone.is_role_inferred), (ThreadRole::Application, true), "{gone:?}");
        assert_eq!((stays.role, stays.is_role_inferred), (ThreadRole::Application, false), "{stays:?}");
        assert!(200 == gone.sums.threads && 500_000_000 < gone.sums.cpu_ns, "{gone:?}");
        let role = report.roles.iter().find(|role| role.role == ThreadRole::Application).expect("a role");
        assert!(gone.sums.cpu_ns <= role.inferred_ns && role.inferred_ns < role.sums.cpu_ns, "{role:?}");
        let missing = report.difference_ns.unsigned_abs().saturating_sub(report.difference_reading_ns);
        assert!(100 * missing <= report.process.cpu_ns, "{report:?}");
    });
    if cases == 0 {
        skip!("no JDK");
    }
}

#[test]
fn java_threads_with_a_name_that_the_jvm_never_listed_have_no_role() {
    if let Err(denial) = ExitListener::start(&SysRoot::default()) {
        skip!("{denial}");
    }
    let cases = each_account("loner 50", |report| {
        let loners = group(&report, "loner");
        assert_eq!((loners.role, loners.is_role_inferred), (ThreadRole::Unknown, false), "{loners:?}");
        assert_eq!(loners.sums.threads, 50, "{loners:?}");
    });
    if cases == 0 {
        skip!("no JDK");
    }
}
